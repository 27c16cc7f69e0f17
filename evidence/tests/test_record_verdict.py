import pytest
from django.db.models.signals import pre_save

from evidence.errors import NotYours, StillRunning, UnknownCall
from evidence.models import Verdict
from evidence.services import record_verdict
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db


def test_a_verdict_is_written_once():
    call_id = end(make_panel())
    judgement = {
        "useful": True,
        "note": "checked",
        "real": ["line 3"],
        "false": ["line 9"],
        "score": 0.75,
        "correction": "Fix it.",
    }
    verdict, written = record_verdict(call_id=call_id, given_by="local", **judgement)
    again, written_again = record_verdict(call_id=call_id, given_by="local", **judgement)
    assert (written, written_again) == (True, False)
    assert again == verdict
    stored = Verdict.objects.get()
    assert {name: getattr(stored, name) for name in judgement} == judgement
    assert (stored.call.call_id, stored.given_by, stored.replaced_at) == (call_id, "local", None)


@pytest.mark.parametrize(
    "changed",
    [{"useful": False}, {"note": "n"}, {"real": ["x"]}, {"false": ["x"]}, {"score": 0.5}, {"correction": "c"}],
    ids=lambda changed: next(iter(changed)),
)
def test_a_different_verdict_replaces_and_the_earlier_one_is_history(changed):
    call_id = end(make_panel())
    first, _ = record_verdict(call_id=call_id, given_by="local", useful=True)
    second, written = record_verdict(call_id=call_id, given_by="local", **{"useful": True, **changed})
    assert written
    first.refresh_from_db()
    assert first.replaced_at == second.given_at
    assert list(Verdict.objects.filter(replaced_at=None)) == [second]


def test_a_mind_changed_back_is_a_third_verdict():
    call_id = end(make_panel())
    for useful in (True, False, True):
        assert record_verdict(call_id=call_id, given_by="local", useful=useful)[1]
    assert [verdict.useful for verdict in Verdict.objects.all()] == [True, False, True]
    assert Verdict.objects.get(replaced_at=None).useful


@pytest.mark.parametrize("call_id", ["", "x", "p20260102-150405-zzzz.member1", ".member1", "a\x00b.member1", "\ud800.member1"])
def test_an_unknown_call(call_id):
    with pytest.raises(UnknownCall) as refused:
        record_verdict(call_id=call_id, given_by="local", useful=True)
    assert refused.value.status_code == 404


def test_a_seat_that_the_panel_does_not_have_is_unknown():
    panel = make_panel()
    end(panel)
    with pytest.raises(UnknownCall):
        record_verdict(call_id=f"{panel.panel_id}.member7", given_by="local", useful=True)


def test_a_key_judges_its_own_calls_and_this_machines_user_every_call():
    call_id = end(make_panel(asked_by="app"))
    with pytest.raises(NotYours) as refused:
        record_verdict(call_id=call_id, given_by="stranger", useful=True)
    assert refused.value.status_code == 403
    assert not Verdict.objects.exists()
    assert record_verdict(call_id=call_id, given_by="app", useful=True)[1]
    assert record_verdict(call_id=call_id, given_by="local", useful=False)[1]


def test_a_key_does_not_judge_what_this_machines_user_asked():
    with pytest.raises(NotYours):
        record_verdict(call_id=end(make_panel(asked_by="local")), given_by="app", useful=True)


def test_a_running_call_has_nothing_to_judge_yet():
    panel = make_panel()
    with pytest.raises(StillRunning) as refused:
        record_verdict(call_id=f"{panel.panel_id}.member1", given_by="local", useful=True)
    assert refused.value.status_code == 400
    assert record_verdict(call_id=end(panel), given_by="local", useful=True)[1]


@pytest.mark.parametrize("status", ["empty", "error"])
def test_a_failure_can_be_judged_too(status):
    call_id = end(make_panel(), status=status, answer="", error="timed out")
    assert record_verdict(call_id=call_id, given_by="local", useful=False)[1]


def test_a_merger_can_be_judged():
    call_id = end(make_panel(("member1", "fast"), ("merger", "slow")), "merger")
    assert record_verdict(call_id=call_id, given_by="local", useful=True)[1]


def test_a_verdict_that_comes_in_between_is_replaced_in_its_turn():
    """Where writers do not queue, a rival's row can appear between the look and the write; here a signal makes it."""
    call_id = end(make_panel())
    rivals = [{"useful": False, "note": "rival"}]

    def rival_writes(instance, **kwargs):
        if rivals:
            Verdict.objects.bulk_create([Verdict(call=instance.call, given_by="r", given_at=instance.given_at, **rivals.pop())])

    pre_save.connect(rival_writes, sender=Verdict)
    try:
        verdict, written = record_verdict(call_id=call_id, given_by="local", useful=True)
    finally:
        pre_save.disconnect(rival_writes, sender=Verdict)
    assert not rivals
    assert written
    assert Verdict.objects.get(replaced_at=None) == verdict
