"""A panel read back from the call log: it is done when its last call has ended, a merger's among them."""

import pytest

from evidence.models import Panel
from evidence.processes.interrupting import interrupt_running
from evidence.services import record_note, record_seat
from evidence.tests.rows import end, make_model, make_panel
from gateway.panel.record import planned
from gateway.panel.recorded import recorded_panel
from gateway.panel.seating import Seat
from keys.services import LOCAL

pytestmark = pytest.mark.django_db


def status(panel: Panel) -> str:
    return str(recorded_panel(LOCAL, panel.panel_id, "http://bench")["status"])


def merging() -> Panel:
    """A panel whose seats have answered and whose merger writes."""
    panel = make_panel(("member1", "fast"), ("member2", "slow"), reply="merged")
    end(panel, "member1")
    end(panel, "member2")
    record_seat(planned(Seat("merger", make_model("scribe"))), panel_id=panel.panel_id, asked_at=panel.asked_at)
    return panel


def test_a_panel_runs_until_every_seat_has_ended() -> None:
    panel = make_panel()
    assert status(panel) == "running"
    end(panel, "member1")
    assert status(panel) == "running"
    end(panel, "explorer1")
    assert status(panel) == "done"


def test_a_merged_panel_runs_until_its_merger_has_ended() -> None:
    panel = make_panel(("member1", "fast"), reply="merged")
    end(panel)
    assert status(panel) == "running"
    panel = merging()
    assert status(panel) == "running"
    end(panel, "merger")
    assert status(panel) == "done"


def test_a_merged_panel_that_nobody_was_asked_to_merge_is_done() -> None:
    panel = make_panel(("member1", "fast"), reply="merged")
    end(panel)
    record_note(panel.panel_id, "Fewer than two seats answered.")
    assert status(panel) == "done"


def test_a_merger_that_was_interrupted_leaves_its_panel_interrupted() -> None:
    panel = merging()
    interrupt_running("the server stopped")
    assert status(panel) == "interrupted"
