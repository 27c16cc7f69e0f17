"""Reading a caller's JSON: every field is untrusted, and each refusal names the field and says what to send.

Knows JSON types and the bench's own settings; what a format's fields mean is the format's business.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any, get_args
from urllib.parse import quote

from gateway.chat import BenchOptions, ImagePart, ReplyMode
from gateway.errors import BadRequest

_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "true or false", int: "a number", float: "a number"}
_IMAGE_DATA_URL = re.compile(r"data:image/[\w.+-]{1,40}(?:;[\w=.+-]{1,60})*;base64,", re.IGNORECASE | re.ASCII)
# Also as it is written for URLs, and as a URL escapes it.
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=%"
# Where words end a URL: escaped in an image's, nothing of it is left behind when it is told from the words around it.
_SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))
_ESCAPED = str.maketrans({mark: quote(mark, safe="") for mark in f"{_SPACES}'\"<>\\"})
MOST_ITEMS = 10_000
_MOST_IGNORED = 40
MOST_NOMINATED = 20

TOOLS_REFUSED = (
    "A panel cannot run tools: several models answer at once, and no caller could serve each one's calls. "
    "Leave the tools out and put what they would return into the prompt. A route mode for agents is coming."
)


def kind_of(value: Any) -> str:
    """Name a JSON value's type for people."""
    return "null" if value is None else _KINDS.get(type(value), "a value")


class Fields:
    """A JSON object whose fields are read by type. A field that is null counts as absent.

    Every reader raises BadRequest when a field has another type.
    """

    def __init__(self, value: Any, at: str = "") -> None:
        if not isinstance(value, dict):
            what = at or "The body"
            raise BadRequest(f"{what} must be an object, not {kind_of(value)}.", param=at or None)
        self._value: dict[str, Any] = value
        self._at = at

    def path(self, name: str) -> str:
        return f"{self._at}.{name}" if self._at else name

    def get(self, name: str) -> Any:
        return self._value.get(name)

    def names(self) -> Iterator[str]:
        """The fields that say something."""
        return (name for name, value in self._value.items() if value is not None)

    def text(self, name: str, default: str = "") -> str:
        return str(self._read(name, str, default))

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self._read(name, bool, default))

    def items(self, name: str) -> list[Any]:
        """A list of at most MOST_ITEMS: a body of the allowed size could hold a million, each to be read and passed on."""
        items = list(self._read(name, list, []))
        if len(items) > MOST_ITEMS:
            where = self.path(name)
            raise BadRequest(f"{where} has {len(items):,} items; {MOST_ITEMS:,} is the most.", param=where)
        return items

    def object(self, name: str) -> "Fields":
        return type(self)(self._read(name, dict, {}), self.path(name))

    def objects(self, name: str) -> Iterator["Fields"]:
        return (type(self)(item, f"{self.path(name)}[{index}]") for index, item in enumerate(self.items(name)))

    def texts(self, name: str) -> tuple[str, ...]:
        items = self.items(name)
        for index, item in enumerate(items):
            if not isinstance(item, str):
                where = f"{self.path(name)}[{index}]"
                raise BadRequest(f"{where} must be a string, not {kind_of(item)}.", param=where)
        return tuple(items)

    def _read(self, name: str, kind: type, default: Any) -> Any:
        value = self._value.get(name)
        if value is None:
            return default
        if type(value) is not kind:
            raise BadRequest(f"{self.path(name)} must be {_KINDS[kind]}, not {kind_of(value)}.", param=self.path(name))
        return value


def required_text(fields: Fields, name: str) -> str:
    """Return a string that has to be there, if only empty. Raises BadRequest."""
    if fields.get(name) is None:
        raise BadRequest(f"{fields.path(name)} must be a string, not null.", param=fields.path(name))
    return fields.text(name)


def read_bench(body: Fields) -> BenchOptions:
    """Read what the body says of the panel itself: `bench` and `with`."""
    bench = body.object("bench")
    unknown = sorted(set(bench.names()) - {"with", "reply", "merger", "field"})
    if unknown:
        where = f"bench.{unknown[0][:60]}"
        raise BadRequest(f"{where} is no setting of a panel: send with, reply, merger or field.", param=where)
    nominated = _nominated(body) + _nominated(bench)
    reply = bench.text("reply")
    if reply and reply not in get_args(ReplyMode):
        raise BadRequest(f'bench.reply must be "all" or "merged", not "{reply[:40]}".', param="bench.reply")
    return BenchOptions(
        nominated=nominated,
        reply=reply or None,  # type: ignore[arg-type]
        merger=bench.text("merger"),
        field=bench.flag("field", default=True),
    )


def _nominated(fields: Fields) -> tuple[str, ...]:
    names = fields.texts("with")
    if len(names) > MOST_NOMINATED:
        where = fields.path("with")
        raise BadRequest(f"{where} names {len(names)} models; {MOST_NOMINATED} is the most.", param=where)
    return names


def refuse_tools(body: Fields) -> None:
    """Refuse a body that offers tools; an empty list is none."""
    for name in ("tools", "functions"):
        if body.items(name):
            raise BadRequest(TOOLS_REFUSED, param=name)


def ignored_names(body: Fields, understood: Collection[str]) -> tuple[str, ...]:
    """Name the settings that a panel does not pass on: each model keeps its own call options."""
    return tuple(name[:60] for name in body.names() if name not in understood)[:_MOST_IGNORED]


def image(url: str, at: str) -> ImagePart:
    """Return the image behind a URL that a model can be sent. Raises BadRequest for any other scheme, and for no base64."""
    head = _IMAGE_DATA_URL.match(url)
    if head:
        return ImagePart(head[0] + _unbroken(url[head.end() :], at))
    if url[:8].lower().startswith(("http://", "https://")):
        return ImagePart(url.translate(_ESCAPED))
    raise BadRequest(
        f"{at} is no image that a panel can pass on: send an http(s):// URL or data:image/png;base64,… .", param=at
    )


def _unbroken(encoded: str, at: str) -> str:
    """An image's base64 without white space: where an upstream repeats it broken up, it could not be told from words."""
    data = "".join(encoded.split())
    if not data or data.encode("ascii", "replace").translate(None, _BASE64):
        raise BadRequest(f"{at} holds no base64: send the image's bytes in base64, or its http(s):// URL.", param=at)
    return data
