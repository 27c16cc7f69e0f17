"""The leaderboard, trends and what stands out, as they are shown and as CSV."""

import csv
import json
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.utils import timezone

from collections_app.models import Collection, LanguageModel, Membership
from evidence.models import Call
from evidence.pruning import prune_panels
from evidence.selectors.findings import promotions
from evidence.selectors.standing import LATEST, Wanted, records, timed
from evidence.tests.rows import end, make_model, make_panel
from evidence.tests.standing import body_of, judge, judged
from evidence.tests.test_panel_pages import HOSTILE, Tags, text_of

pytestmark = pytest.mark.django_db
ROOT = "/admin/evidence/tally/"
PAGES = ("", "trends/", "owed/", "wrong/", "finds/", "promotions/")
DAY = 24 * 60


@pytest.fixture
def reader(client):
    """Somebody who may see what is known, and nothing else."""
    user = get_user_model().objects.create_user("reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_tally"))
    client.force_login(user)
    return client


def page(reader, path: str = "", **query: str) -> str:
    response = reader.get(ROOT + path, query)
    assert response.status_code == 200
    return response.content.decode()


def rows(reader, path: str = "", **query: str) -> list[dict[str, str]]:
    response = reader.get(ROOT + path, {**query, "format": "csv"})
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert re.fullmatch(r'attachment; filename="benchsite-\w+\.csv"', response.headers["Content-Disposition"])
    return list(csv.DictReader(StringIO(body_of(response))))


def aliases(wanted: Wanted) -> list[str]:
    return [record.alias for record in records(wanted)]


def test_models_are_ranked_by_the_lower_bound_and_never_by_a_bare_percentage(reader) -> None:
    judged("once", 1)
    judged("often", 18, 2)
    judged("bad", 1, 9)
    judged("unknown", 0, 0, 1)
    shown = text_of(page(reader))
    places = [shown.index(f" {alias} ") for alias in ("often", "once", "bad", "unknown")]
    assert places == sorted(places)
    assert "18 of 20, 70 to 97 %" in shown
    assert "1 of 1, 21 to 100 %" in shown
    assert "none judged" in shown
    assert all("%" not in part or " to " in part for part in re.findall(r"\d+ of \d+[^<]{0,20}", shown))
    assert [row["alias"] for row in rows(reader)] == ["often", "once", "bad", "unknown"]


def test_a_record_counts_every_ending_and_every_claim(reader) -> None:
    panel = make_panel(("member1", "fast"), ("member2", "slow"))
    end(panel, "member1", seconds=2.0)
    end(panel, "member2")
    judge(panel, "member1", real=["a", "b"], false=["c"])
    judge(panel, "member2")
    for status in ("error", "empty"):
        end(make_panel(("member1", "fast")), status=status, answer="")
    (fast,) = (row for row in rows(reader) if row["alias"] == "fast")
    assert [fast[name] for name in ("asked", "answered", "empty", "failed")] == ["3", "1", "1", "1"]
    assert [fast[name] for name in ("judged", "useful", "claims_real", "claims_false", "unique_finds")] == [
        "1",
        "1",
        "2",
        "1",
        "2",
    ]
    assert (fast["median_seconds"], fast["p95_seconds"], fast["timed"]) == ("2.0", "2.0", "1")


def test_filters_leave_out_what_is_not_asked_for() -> None:
    judged("fast", 1)
    judged("coder", 1, shape="code", collection_name="bench/other")
    judged("old", 1, minutes_ago=10 * DAY)
    judged("seldom", 1, seat="explorer1")
    judged("editor", 1, seat="merger")
    LanguageModel.objects.filter(alias="coder").update(role="code")
    assert aliases(Wanted()) == ["coder", "fast", "old", "seldom"]
    assert aliases(Wanted(shape="code")) == ["coder"]
    assert aliases(Wanted(collection="bench/other")) == ["coder"]
    assert aliases(Wanted(days=7)) == ["coder", "fast", "seldom"]
    assert aliases(Wanted(role="code")) == ["coder"]
    assert aliases(Wanted(seat="explorer")) == ["seldom"]
    assert aliases(Wanted(seat="member")) == ["coder", "fast", "old"]
    assert aliases(Wanted(seat="merger")) == ["editor"]
    assert aliases(Wanted(shape="nothing")) == []


def test_what_was_pruned_still_counts() -> None:
    judged("fast", 3, 1, minutes_ago=100 * DAY)
    before = records(Wanted())
    prune_panels(timezone.now() - timedelta(days=90))
    assert not Call.objects.exists()
    (after,) = records(Wanted())
    assert (after.useful, after.judged, after.asked, after.share) == (3, 4, 4, before[0].share)
    assert (after.owed, timed([after], Wanted())[0].median) == (0, None)


def test_the_page_begins_with_the_shape_that_most_is_known_of(reader) -> None:
    judged("fast", 1, shape="general")
    judged("coder", 2, shape="code")
    assert 'value="code" selected' in page(reader)
    assert [row["shape"] for row in rows(reader)] == ["code"]
    assert {row["alias"] for row in rows(reader, shape="every")} == {"coder", "fast"}
    assert [row["alias"] for row in rows(reader, shape="general")] == ["fast"]


def test_seconds_are_of_the_latest_calls_alone() -> None:
    for number in range(LATEST + 10):
        panel = make_panel(("member1", "fast"), minutes_ago=LATEST + 10 - number)
        end(panel, seconds=100.0 if number < 10 else 1.0)
    (fast,) = timed(records(Wanted(shape="general")), Wanted(shape="general"))
    assert (fast.median, fast.p95, fast.timed) == (1.0, 1.0, LATEST)


def test_a_table_of_many_models_has_pages_and_its_csv_has_all(reader, django_assert_max_num_queries) -> None:
    for number in range(60):
        end(make_panel(("member1", f"m{number:02}")))
    first, second = page(reader), page(reader, page="2")
    assert (first.count('<th scope="row">'), second.count('<th scope="row">')) == (50, 10)
    assert "60 models" in first
    assert len(rows(reader)) == 60
    for path in PAGES:
        with django_assert_max_num_queries(20):
            page(reader, path)


@pytest.mark.parametrize(
    "query", ["shape=%00", "days=x", "days=-1", "role='--", "page=-9", "page=99999999999", "seat=a&seat=b", "step=1"]
)
@pytest.mark.parametrize("path", PAGES)
def test_a_query_that_cannot_be_read_is_as_if_it_were_not_there(reader, path: str, query: str) -> None:
    judged("fast", 1)
    assert reader.get(f"{ROOT}{path}?{query}").status_code == 200
    assert reader.get(f"{ROOT}{path}?{query}&format=csv").status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_only_who_may_see_tallies_sees_a_page(client, path: str) -> None:
    client.force_login(get_user_model().objects.create_user("other", is_staff=True))
    assert client.get(ROOT + path).status_code == 403
    assert client.get(f"{ROOT}{path}?format=csv").status_code == 403


@pytest.mark.parametrize("path", PAGES)
def test_hostile_names_and_claims_are_shown_harmless(reader, path: str) -> None:
    panel = make_panel(("member1", "fast"), ("explorer1", "=cmd|calc"), shape="general")
    for seat in ("member1", "explorer1"):
        end(panel, seat)
        judge(panel, seat, False, real=[HOSTILE + seat], false=[HOSTILE, HOSTILE])
    judged("=cmd|calc", 9, seat="explorer1")
    found = page(reader, path)
    assert Tags(found).bad == []
    assert "\u202e" not in found
    for row in body_of(reader.get(f"{ROOT}{path}?format=csv")).splitlines():
        assert not row.startswith("=")


def test_trends_are_by_day_or_week_of_a_model_or_a_collection(reader) -> None:
    monday = timezone.now().replace(hour=12) - timedelta(days=timezone.now().weekday() + 14)
    for days in (0, 1, 8):
        end(make_panel(("member1", "fast"), at=monday + timedelta(days=days)), seconds=2.0 + days)
    end(make_panel(("member1", "slow"), at=monday, collection_name="bench/other"), status="error", answer="")
    by_day = rows(reader, "trends/")
    assert [row["start"] for row in by_day] == [f"{monday + timedelta(days=days):%Y-%m-%d}" for days in range(9)]
    assert [row["asked"] for row in by_day] == ["2", "1", "0", "0", "0", "0", "0", "0", "1"]
    assert (by_day[0]["failed"], by_day[0]["mean_seconds"], by_day[2]["mean_seconds"]) == ("1", "2.0", "")
    by_week = rows(reader, "trends/", step="week", model="fast")
    assert [(row["asked"], row["mean_seconds"]) for row in by_week] == [("2", "2.5"), ("1", "10.0")]
    assert [row["start"] for row in by_week] == [f"{monday + timedelta(days=days):%Y-%m-%d}" for days in (0, 7)]
    Collection.objects.create(name="other")
    assert [row["failed"] for row in rows(reader, "trends/", collection="bench/other")] == ["1"]
    chart = json.loads(re.search(r'<script id="trend" type="application/json">(.*?)</script>', page(reader, "trends/"))[1])
    assert (chart["answered"], chart["failures_of"]) == ([1, 1, 0, 0, 0, 0, 0, 0, 1], [2, 1, 0, 0, 0, 0, 0, 0, 1])
    assert "Did you mean <a" in page(reader, "trends/", model="fas")


def test_a_renamed_model_keeps_its_past(reader) -> None:
    end(make_panel(("member1", "fast")))
    LanguageModel.objects.filter(alias="fast").update(alias="faster")
    for alias in ("fast", "faster"):
        assert [row["asked"] for row in rows(reader, "trends/", model=alias)] == ["1"]


def test_confidently_wrong_are_those_wrong_more_than_right(reader) -> None:
    judged("right", 3, 1)
    judged("wrong", 1, 9)
    judged("even", 2, 2)
    (panel,) = judged("liar", 0, 0, 1)
    judge(panel, "member1", True, real=["a"], false=["the cache is cold", "c"])
    assert [row["alias"] for row in rows(reader, "wrong/")] == ["wrong", "liar"]
    shown = text_of(page(reader, "wrong/"))
    assert "9 of 10, 60 to 98 %" in shown
    assert "2 of 3, 21 to 94 %" in shown
    assert "the cache is cold" in shown


def test_unique_finds_lead_to_the_answer_that_made_them(reader) -> None:
    panel = make_panel(("member1", "fast"), ("explorer1", "slow"))
    for seat in ("member1", "explorer1"):
        end(panel, seat)
    judge(panel, "member1", real=["both saw this"])
    judge(panel, "explorer1", real=["Both  saw this", "one saw this"])
    assert [(row["alias"], row["unique_finds"]) for row in rows(reader, "finds/")] == [("slow", "1")]
    shown = page(reader, "finds/")
    assert f"/admin/evidence/panel/{panel.pk}/change/#explorer1" in shown
    assert "one saw this" in shown
    assert "saw this" not in shown.replace("one saw this", "")


@pytest.fixture
def core() -> Collection:
    """bench/core has `weak`, which was useful 2 times of 10."""
    made = Collection.objects.create(name="core")
    Membership.objects.create(collection=made, language_model=make_model("weak"))
    judged("weak", 2, 8)
    return made


def test_an_explorer_above_a_member_is_worth_promoting_and_says_why(reader, core: Collection) -> None:
    judged("good", 9, seat="explorer1")
    judged("fair", 4, 3, seat="explorer1")
    judged("few", 4, seat="explorer1")
    judged("elsewhere", 9, seat="explorer1", collection_name="bench/other")
    judged("other-shape", 9, seat="explorer1", shape="code")
    judged("retired", 9, seat="explorer1")
    LanguageModel.objects.filter(alias="retired").update(status="retired")
    found = promotions()
    assert [(one.explorer.alias, one.member.alias, one.sure) for one in found] == [
        ("good", "weak", True),
        ("fair", "weak", False),
    ]
    shown = page(reader, "promotions/")
    assert f"/admin/collections_app/collection/{core.pk}/change/" in shown
    assert "9 of 9, 70 to 100 %" in text_of(shown)
    assert "2 of 10, 6 to 51 %" in text_of(shown)
    assert [row["explorer"] for row in rows(reader, "promotions/")] == ["good", "fair"]


def test_a_member_is_no_explorer_to_promote(core: Collection) -> None:
    judged("good", 9, seat="explorer1")
    Membership.objects.create(collection=core, language_model=make_model("good"))
    assert promotions() == []


def test_a_member_that_is_hardly_judged_is_beaten_by_nobody(core: Collection) -> None:
    Membership.objects.all().delete()
    Membership.objects.create(collection=core, language_model=make_model("new"))
    judged("new", 0, 1)
    judged("good", 9, seat="explorer1")
    assert promotions() == []
