"""The form beside an answer: from the verdict that counts or from what was sent, and back to a verdict's fields.

Texts and claims are text areas, a claim a line. What a verdict may hold is evidence/serializers.py's to say.
"""

from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict

from evidence.models import Verdict

USEFUL = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictForm:
    useful: bool | None = None
    note: str = ""
    real: str = ""
    false: str = ""
    score: str = ""
    correction: str = ""
    error: str = ""

    @classmethod
    def of(cls, verdict: Verdict | None) -> "VerdictForm":
        """The form as it stands: empty, or what the verdict that counts says."""
        if verdict is None:
            return cls()
        return cls(
            useful=verdict.useful,
            note=verdict.note,
            real=_a_line_each(verdict.real),
            false=_a_line_each(verdict.false),
            score="" if verdict.score is None else f"{verdict.score:g}",
            correction=verdict.correction,
        )

    @classmethod
    def sent(cls, data: QueryDict) -> "VerdictForm":
        texts = {name: _text(data.get(name, "")) for name in ("note", "real", "false", "score", "correction")}
        return cls(useful=USEFUL.get(data.get("useful", "")), **texts)

    def refused(self, error: str) -> "VerdictForm":
        return replace(self, error=error)

    def payload(self, call_id: str) -> dict[str, Any]:
        """The verdict as a caller would send it; a score that is no number stays text, and is refused as such."""
        return {
            "call": call_id,
            "useful": self.useful,
            "note": self.note,
            "real": _claims(self.real),
            "false": _claims(self.false),
            "score": _number(self.score),
            "correction": self.correction,
        }


def _text(sent: str) -> str:
    """Browsers send a text area's line ends as CRLF."""
    return sent.replace("\r\n", "\n").replace("\r", "\n").strip()


def _claims(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _a_line_each(claims: list[str]) -> str:
    return "\n".join(" ".join(str(claim).split()) for claim in claims)


def _number(text: str) -> float | str | None:
    if not text:
        return None
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text
