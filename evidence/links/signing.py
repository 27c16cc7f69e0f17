"""What a link in a reply stands for, signed, so that whoever holds it may give that one verdict and no other.

Nothing is kept of a link: whether it has been used is what the verdicts say (evidence/services.py).
"""

import time
from dataclasses import dataclass

from django.core.signing import BadSignature, Signer
from rest_framework.exceptions import APIException

LINK_DAYS = 7
# Characters that a URL and Markdown leave alone, and that no call id has.
_BETWEEN = "~"
_WORDS = {"useful": True, "not-useful": False}


class LinkRefused(APIException):
    """A link that gives no verdict, and why, in words for who followed it."""

    status_code = 404


class LinkExpired(LinkRefused):
    status_code = 410


class LinkUsed(LinkRefused):
    status_code = 410


@dataclass(frozen=True, slots=True)
class VerdictLink:
    call_id: str
    useful: bool

    @property
    def word(self) -> str:
        return "useful" if self.useful else "not useful"


def link_path(call_id: str, *, useful: bool, asked_at: float) -> str:
    """Return the path of a link, the same each time. `asked_at` in Unix time: the link ends LINK_DAYS after it."""
    word = next(word for word, value in _WORDS.items() if value is useful)
    ends = int(asked_at) + LINK_DAYS * 86_400
    return f"/verdict/{_signer().sign(_BETWEEN.join((call_id, word, str(ends))))}/"


def read_link(token: str) -> VerdictLink:
    """Return what a link stands for. Raises LinkRefused for one that this server has not made, LinkExpired."""
    try:
        call_id, word, ends = _signer().unsign(token).split(_BETWEEN)
    except BadSignature:
        raise LinkRefused("This is no link of this server's, or not all of it. Follow it from the answer again.") from None
    if time.time() > int(ends):
        raise LinkExpired(f"This link has expired: it was good for {LINK_DAYS} days.")
    return VerdictLink(call_id, _WORDS[word])


def _signer() -> Signer:
    return Signer(sep=_BETWEEN, salt="evidence.verdict_link")
