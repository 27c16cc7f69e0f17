"""Untrusted Markdown as HTML for the dashboard's pages: the one place that turns what a model wrote into tags.

No HTML of its own passes, no image, no link but http(s) to a named host; size, lines and nesting are bounded. What it
leaves out is to be had raw: whoever shows this shows where.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from evidence.templatetags.untrusted import visible

# What one text is shown of, at most: the parser takes a second for the worst of that length, a tenth for prose.
LONGEST_SHOWN = 60_000
# Lines cost more than characters: 10,000 items of a list, or a quotation that goes on in each of them.
MOST_LINES = 2_000
DEEPEST = 20
# The page's own headings come before an answer's: the page, its parts, a seat.
_HEADINGS_BELOW = 3
_LOWEST_HEADING = 6


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a text, safe to put into a page, and whether that is not all of it."""

    html: SafeString
    is_cut: bool


def show_markdown(text: str, *, longest: int = LONGEST_SHOWN) -> Shown:
    """Return `text` as HTML, up to `longest` characters of it. Whatever it holds, nothing in it runs, loads or reorders."""
    head = beginning(text, longest=longest)
    html = visible(_parser().render(head))
    return Shown(mark_safe(html), is_cut=len(head) < len(text))  # noqa: S308 (made of escaped text and tags of ours)


def beginning(text: str, *, longest: int = LONGEST_SHOWN) -> str:
    """Return what is shown of a text: its first characters and lines, up to the last whole line where there is one."""
    head = text[: min(longest, LONGEST_SHOWN)]
    end = _end_of_line(head, MOST_LINES)
    if end is not None:
        return head[:end]
    if len(head) < len(text):
        return head[: head.rfind("\n") + 1] or head
    return head


def _end_of_line(text: str, number: int) -> int | None:
    """Where the line of that number ends, when others follow."""
    found = next((one for count, one in enumerate(re.finditer(r"\r\n?|\n", text), 1) if count == number), None)
    return found.end() if found and found.end() < len(text) else None


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"]).disable(["image"])
    parser.validateLink = leads_elsewhere  # type: ignore[method-assign]
    return parser


def leads_elsewhere(url: str) -> bool:
    """Whether a link is let through: to another site by http(s). A relative one would lead around the dashboard."""
    try:
        parts = urlsplit(url.strip())
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        return False


class _Renderer(RendererHTML):
    """The parser's own, but for what an answer could make of a page."""

    def heading_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f"<{_heading(tokens[at])}>"

    def heading_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f"</{_heading(tokens[at])}>\n"

    def fence(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        # Without the class that the language would become.
        return self.code_block(tokens, at, options, env)

    def code_block(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        # What scrolls can be reached by keyboard.
        return f'<pre tabindex="0"><code>{escape(tokens[at].content)}</code></pre>\n'

    def table_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return '<div class="md-table" tabindex="0"><table>\n'

    def table_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "</table></div>\n"

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        href = escape(str(tokens[at].attrs.get("href", "")))
        return f'<a href="{href}" rel="noopener noreferrer nofollow" target="_blank">'

    def link_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        """Say where it leads, unless its text is its address: a text can name another."""
        opened = next(token for token in reversed(tokens[:at]) if token.type == "link_open")
        if opened.markup == "autolink":
            return "</a>"
        return f'</a><span class="md-host"> ({escape(_host(opened.attrs))})</span>'


def _heading(token: Token) -> str:
    return f"h{min(_LOWEST_HEADING, int(token.tag[1]) + _HEADINGS_BELOW)}"


def _host(attributes: Mapping[str, Any]) -> str:
    return urlsplit(str(attributes.get("href", ""))).hostname or ""
