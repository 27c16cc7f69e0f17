import re
import time
from html.parser import HTMLParser

import pytest

from evidence.markdown_view import LONGEST_SHOWN, MOST_LINES, leads_elsewhere, show_markdown

INLINE = {"a", "br", "code", "em", "s", "span", "strong"}
BLOCKS = {"p", "h4", "h5", "h6", "pre", "ul", "ol", "li", "blockquote", "hr", "div"}
TAGS = INLINE | BLOCKS | {"table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"href", "rel", "target", "class", "tabindex", "start", "style"}
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><style>*{display:none}</style></svg>",
    "</div></section><form action=https://evil.example><button>Save</button></form>",
    "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](java\nscript:alert(1)) [d](&#106;avascript:alert(1))",
    "[a](data:text/html,<script>alert(1)</script>) [b](vbscript:x) [c](file:///etc/passwd) [d](blob:x)",
    "[a](/admin/logout/) [b](//evil.example) [c](?x=1) [d](#top) [e](https:evil) [f](http://[::1) [g](http://me:pw@evil.example)",
    '<javascript:alert(1)> <https://fine.example/"onmouseover=alert(1)>',
    "![x](https://fine.example/pixel.gif) ![x][y]\n\n[y]: javascript:alert(1)",
    '[a](https://fine.example "x\\" onmouseover=\\"alert(1)")',
    '```"><script>alert(1)</script>\n</code></pre><script>alert(1)</script>\n```',
    "```x onmouseover=alert(1)\ncode\n```",
    "`</code><script>alert(1)</script>`",
    "|a|<script>|\n|--|--|\n|<img src=x onerror=alert(1)>|b|",
    "# <script>alert(1)</script>\n\n<!-- <a href=javascript:alert(1)> -->\n\n<![CDATA[<script>]]>",
    "{{ 7 * 7 }} {% load x %} <div x-data x-init='alert(1)' @click='alert(1)'>",
    "\u202egnp.exe &#x202e;gnp.exe &#8238; [\u2066a](https://fine.example/\u202e) \x1b[31m\x00\u200b",
    "*a **b `c ~~d [e](f [g][h] > - 1. | ``` ~~~",
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp;lt;script&amp;gt;",
]


class Page(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.open = set(), [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_of(text):
    page = Page(show_markdown(text).html)
    assert page.open == []
    return page


def test_an_answer_is_read_as_it_was_meant():
    html = show_markdown(
        "# Race\n\nThe **lock** is `held`, ~~never~~ *twice*:\n\n1. first\n2. second\n\n```python\nif a < b:\n    pass\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n> said\n\nSee [the docs](https://docs.example/x?a=1&b=2)."
    ).html
    for part in (
        "<h4>Race</h4>",
        "The <strong>lock</strong> is <code>held</code>, <s>never</s> <em>twice</em>:",
        "<ol>\n<li>first</li>\n<li>second</li>\n</ol>",
        '<pre tabindex="0"><code>if a &lt; b:\n    pass\n</code></pre>',
        "<th>a</th>",
        "<td>2</td>",
        "<blockquote>\n<p>said</p>\n</blockquote>",
        '<a href="https://docs.example/x?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">the docs</a>'
        '<span class="md-host"> (docs.example)</span>',
    ):
        assert part in html


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_tag_and_no_link_of_its_own(text):
    page = page_of(text)
    assert page.tags <= TAGS
    for name, value in page.attributes:
        assert name in ATTRIBUTES
        assert name != "href" or value.startswith("https://fine.example")
        assert name != "style" or re.fullmatch(r"text-align:(left|right|center)", value)
        assert name != "class" or value in ("md-host", "md-table")


def test_what_would_reorder_or_hide_is_spelt_out_however_it_came():
    html = show_markdown("\u202egnp.exe &#x202e;b `\u2066c` [\u202ed](https://a.example)").html
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", html)
    assert html.count("[U+202E]") == 3 and "[U+2066]" in html


@pytest.mark.parametrize("url", ["https://a.example", "http://127.0.0.1:8000/x", "HTTPS://A.example/?q=1#f"])
def test_links_to_other_sites_are_links(url):
    assert leads_elsewhere(url)


def test_a_link_says_where_it_leads_and_an_address_needs_not():
    html = show_markdown("[https://bank.example](https://evil.example/bank) <https://plain.example/>").html
    assert html.count("md-host") == 1
    assert "(evil.example)" in html


def test_headings_stand_below_the_pages_own():
    assert page_of("# a\n\n## b\n\n##### c\n\n###### d").tags == {"h4", "h5", "h6"}


@pytest.mark.parametrize("text", ["word " * 1_000_000, "x" * 5_000_000, "line\n" * 1_000_000])
def test_five_megabytes_are_cut_and_said_to_be(text):
    shown = show_markdown(text)
    assert shown.is_cut
    assert 100 < len(shown.html) < 2 * LONGEST_SHOWN


def test_ten_thousand_items_are_two_thousand():
    shown = show_markdown("- item\n" * 10_000)
    assert shown.is_cut
    assert shown.html.count("<li>") == MOST_LINES


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_a_text_within_bounds_is_shown_whole(end):
    assert not show_markdown("a" + end).is_cut
    assert not show_markdown("\n".join(["a"] * MOST_LINES) + end).is_cut


def test_no_line_is_cut_in_two_where_one_ends_before():
    assert show_markdown("one\n\ntwo three", longest=12).html == "<p>one</p>\n"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        "![" * 30_000,
        "[a" * 30_000 + "]" * 30_000,
        "*a **a " * 9_000,
        "a**b" * 15_000,
        ">" * 20 + "a\n" + "a\n" * 29_000,
        "> - " * 10 + "a\n" + "a\n" * 29_000,
        "- a\n" * 15_000,
        "|a" * 300 + "|\n" + "|-" * 300 + "|\n" + "|a\n" * 15_000,
        "".join("`" * length for length in range(340)),
        "&lt;" * 15_000,
        "<http://a.b>" * 5_000,
    ],
)
def test_the_worst_of_that_length_takes_little_time_and_room(text):
    began = time.process_time()
    html = show_markdown(text).html
    # About a second on a slow machine; without the bounds minutes.
    assert time.process_time() - began < 8
    assert len(html) < 2_000_000
