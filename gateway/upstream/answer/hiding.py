"""An answer's pieces, passed on as they come in whole characters and without the key, also where it lies across several.

For whoever watches; the whole answer is cleaned as a whole.
"""

from collections.abc import Callable
from urllib.parse import quote

from gateway.redact import hide_secrets
from gateway.upstream.contract import Delta
from gateway.upstream.payload import short, whole_characters


def without_key(on_delta: Callable[[Delta], None], key: str) -> Callable[[Delta], None]:
    """Return what passes deltas on to `on_delta`.

    What may be the key's beginning, or half of a character, is held back until more has come. An empty key hides nothing.
    """
    text, reasoning = _Pieces(key), _Pieces(key)

    def take(delta: Delta) -> None:
        on_delta(
            delta._replace(
                text=text.after(delta.text),
                reasoning=reasoning.after(delta.reasoning),
                refusal=whole_characters(delta.refusal),
                finish_reason=short(delta.finish_reason),
                model=short(delta.model),
            )
        )

    return take


class _Pieces:
    def __init__(self, key: str) -> None:
        self._key = key
        self._forms = {key, quote(key, safe="")} if key else set()
        self._held = ""

    def after(self, piece: str) -> str:
        """What can be passed on now that this piece has come."""
        come = self._held + piece
        half = come[-1:] if "\ud800" <= come[-1:] <= "\udbff" else ""
        come = hide_secrets(whole_characters(come.removesuffix(half)), [self._key]) + half
        held = max([len(half), *(self._begun(come, form) for form in self._forms)])
        self._held = come[len(come) - held :]
        return come[: len(come) - held]

    def _begun(self, come: str, form: str) -> int:
        """How much of `form` the text ends with."""
        return next((size for size in range(len(form) - 1, 0, -1) if come.endswith(form[:size])), 0)
