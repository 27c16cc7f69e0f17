"""What must be so after a fault, looked for in the call log, in what callers were given and in what the provider wrote down.

Each proof returns what is wrong, nothing where it holds.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.faults.benches import Alone, FaultyCluster
from benchmarks.faults.load import Told
from benchmarks.faults.roster import MARK, answer_of

CALLS = (
    "SELECT p.panel_id, c.seat_name, c.alias, c.status, c.error_kind, c.answer, c.partial, p.request "
    "FROM evidence_call c JOIN evidence_panel p ON c.panel_id = p.id WHERE p.request LIKE %s"
)


@dataclass(frozen=True, slots=True)
class LoggedCall:
    panel: str
    seat: str
    alias: str
    status: str
    error_kind: str
    answer: str
    partial: str
    mark: str

    @property
    def id(self) -> str:
        return f"{self.panel}.{self.seat}"

    @property
    def is_whole(self) -> bool:
        return self.status == "ok" and self.answer == answer_of(self.alias, self.mark)

    @property
    def holds_it(self) -> bool:
        """Whether the whole answer is there, if only as what came too late."""
        return answer_of(self.alias, self.mark) in (self.answer, self.partial)


def logged_calls(bench: FaultyCluster | Alone, tag: str) -> list[LoggedCall]:
    calls = []
    for *fields, request in bench.rows(CALLS, f"%q-{tag}-%"):
        found = MARK.search(request)
        calls.append(LoggedCall(*fields, found[0] if found else ""))
    return calls


class Evidence:
    """All that is known of one fault's questions."""

    def __init__(self, told: Iterable[Told], calls: Iterable[LoggedCall], events: Iterable[dict[str, Any]]) -> None:
        self._told = list(told)
        self._calls = list(calls)
        self._asked = {(call.mark, call.alias): call for call in self._calls}
        events = list(events)
        self._received = Counter((event["mark"], event["model"]) for event in events if event["event"] == "asked")
        self._answered = [(event["mark"], event["model"]) for event in events if event["event"] == "answered"]

    @property
    def answers(self) -> int:
        """How many a provider gave to their end."""
        return len(self._answered)

    @property
    def calls(self) -> int:
        """How many a provider received."""
        return self._received.total()

    def answers_lost(self, *, may_lose: bool) -> list[str]:
        """Answers that a caller was given, or a provider has given, and that the log does not have whole."""
        wrong = [f"{mark} was given {model}'s answer: {self._stands(mark, model)}" for mark, model in self._given()]
        for mark, model in self._answered:
            call = self._asked.get((mark, model))
            broken_off = may_lose and call is not None and call.error_kind in ("interrupted", "timeout")
            if not broken_off and not (call and call.holds_it):
                wrong.append(f"{model} answered {mark} in full: {self._stands(mark, model)}")
        return wrong

    def ids_unknown(self) -> list[str]:
        """Ids that left the bench and that no row has."""
        known = {call.id for call in self._calls} | {call.panel for call in self._calls}
        return [f"{told.mark} was given {one}" for told in self._told for one in sorted(told.ids - known)]

    def asked_twice(self) -> list[str]:
        """Calls that a provider received more than once."""
        return [f"{model} was asked {count} times for {mark}" for (mark, model), count in self._received.items() if count > 1]

    def panels_twice(self) -> list[str]:
        """Questions that ran more than one panel, however often they were sent."""
        panels = defaultdict[str, set[str]](set)
        for call in self._calls:
            panels[call.mark].add(call.panel)
        return [f"{mark} ran {' and '.join(sorted(ran))}" for mark, ran in panels.items() if len(ran) > 1]

    def badly_told(self) -> list[str]:
        """Callers with a key who were not told in the end, and replies that nobody should have got."""
        wrong = [f"{told.mark} ({told.kind.name}) was refused: {told.replies}" for told in self._told if _is_refused(told)]
        untold = (told for told in self._told if told.kind.keyed and not told.is_told)
        return wrong + [f"{told.mark} ({told.kind.name}) was not told: {told.replies}" for told in untold]

    def _given(self) -> Iterator[tuple[str, str]]:
        for told in self._told:
            for model in told.given | told.answered:
                call = self._asked.get((told.mark, model))
                if call is None or not call.is_whole:
                    yield told.mark, model

    def _stands(self, mark: str, model: str) -> str:
        call = self._asked.get((mark, model))
        return f"{call.id} is {call.status} {call.error_kind}".rstrip() if call else "there is no row"


def _is_refused(told: Told) -> bool:
    return any(reply.isdigit() and reply not in ("200", "502", "503", "504") for reply in told.replies)
