"""Verdicts owed: what would change the most comes first, and leads to the answer."""

import html

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from collections_app.models import LanguageModel
from evidence.selectors.owed import RULE, owed, owed_altogether, waiting
from evidence.tests.rows import end, make_model, make_panel
from evidence.tests.standing import body_of, judged
from evidence.tests.test_panel_pages import text_of

pytestmark = pytest.mark.django_db
PAGE = "/admin/evidence/tally/owed/"


@pytest.fixture
def reader(client):
    user = get_user_model().objects.create_user("reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_tally"))
    client.force_login(user)
    return client


def order(shape: str = "") -> list[tuple[str, int]]:
    names = dict(LanguageModel.objects.values_list("pk", "alias"))
    return [(names[one.model], one.places) for one in owed(shape)]


@pytest.fixture
def ranked() -> None:
    """A verdict on `new` decides whether it stands above or below `low` and `middle`; one on `sure` moves nobody."""
    judged("low", 2, 8, 0)
    judged("middle", 4, 6, 0)
    judged("sure", 60, 0, 1)
    judged("new", 1, 0, 2)


def test_the_verdict_that_would_move_a_model_furthest_comes_first(ranked: None) -> None:
    # Of one of two the lower bound is 9 %, of two of two 34 %; 2 of 10 has 6 %, 4 of 10 has 17 %.
    assert order() == [("new", 1), ("sure", 0)]
    assert owed_altogether() == 3


def test_places_are_counted_between_the_two_ranks_and_never_with_oneself() -> None:
    judged("one", 0, 0, 1)
    assert order() == [("one", 0)]
    judged("two", 1, 9)
    judged("three", 1, 19)
    # None of one has 0 %, one of one 21 %; the two others have 2 and 1 %.
    assert order() == [("one", 2)]


def test_at_the_same_number_of_places_the_least_known_comes_first_then_the_most_asked() -> None:
    judged("known", 5, 5, 1)
    judged("unknown", 0, 0, 1)
    judged("alone", 0, 0, 3, shape="code")
    assert [alias for alias, _ in order()] == ["alone", "unknown", "known"]


def test_shapes_and_merging_are_ranked_apart() -> None:
    judged("fast", 0, 0, 1, shape="code")
    judged("fast", 0, 0, 1, seat="merger")
    judged("slow", 1, 9)
    assert sorted((one.shape, one.merging, one.places) for one in owed()) == [("code", False, 0), ("general", True, 0)]
    assert [one.shape for one in owed("code")] == ["code"]


def test_models_that_can_sit_no_more_are_left_out() -> None:
    judged("fast", 0, 0, 1)
    judged("slow", 0, 0, 1)
    LanguageModel.objects.filter(alias="slow").update(status="retired")
    make_model("gone")
    judged("gone", 0, 0, 1)
    make_model("gone").delete()
    assert order() == [("fast", 0)]
    # They are owed all the same.
    assert owed_altogether() == 3


def test_each_leads_to_its_newest_answer_without_a_verdict(reader) -> None:
    judged("fast", 0, 0, 1, minutes_ago=9)
    newest = judged("fast", 0, 0, 1, minutes_ago=5)[0]
    judged("fast", 1, 0, minutes_ago=1)
    end(make_panel(("member1", "fast")), status="error", answer="")
    (one,) = owed()
    assert waiting([one])[one.tally].panel_id == newest.panel_id
    response = reader.get(PAGE)
    shown = response.content.decode()
    assert f"/admin/evidence/panel/{newest.pk}/change/#member1" in shown
    assert RULE in html.unescape(text_of(shown))
    assert "2 answers without a verdict" in text_of(shown)
    assert body_of(reader.get(PAGE, {"format": "csv"})).splitlines()[1].startswith("fast,general,False,2,1,1,")


def test_a_merge_leads_to_the_merge(reader) -> None:
    panel = make_panel(("member1", "fast"), ("merger", "fast"))
    end(panel, "member1")
    end(panel, "merger")
    shown = reader.get(PAGE).content.decode()
    for seat in ("member1", "merger"):
        assert f"/change/#{seat}" in shown


def test_nothing_owed_says_so(reader) -> None:
    judged("fast", 1)
    assert "Every answer in the log has its verdict." in text_of(reader.get(PAGE).content.decode())
