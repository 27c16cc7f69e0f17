"""The first page: what happened since yesterday, what needs somebody, and the steps to a first verdict."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.utils import timezone

from benchsite.dashboard.overview import days, failing, limits, steps
from benchsite.models import JobRun
from collections_app.models import Alert, Collection, CoolDown, Endpoint, Membership
from collections_app.models.health.quota import account_quotas
from collections_app.services.quotas import Claim, reserve
from evidence.services import record_verdict
from evidence.storable import clean_text
from evidence.tests.rows import end, make_model, make_panel
from evidence.tests.test_panel_pages import HOSTILE, Tags, text_of

pytestmark = pytest.mark.django_db
DAY = 24 * 60


@pytest.fixture
def staff(client):
    client.force_login(get_user_model().objects.create_superuser("boss"))
    return client


def first_page(client) -> str:
    response = client.get("/admin/")
    assert response.status_code == 200
    return response.content.decode()


def test_the_steps_to_a_first_verdict_are_shown_until_it_is_given(staff) -> None:
    shown = first_page(staff)
    for link in (
        "/admin/collections_app/catalogentry/onboarding/",
        "/admin/collections_app/collection/add/",
        "/admin/playground/",
    ):
        assert f'class="overview-step overview-next" href="{link}"' in shown
    assert [step.done for step in steps(timezone.now())] == [False] * 4
    model = make_model("fast")
    assert [step.done for step in steps(timezone.now())] == [True, False, False, False]
    Membership.objects.create(collection=Collection.objects.create(name="core"), language_model=model)
    panel = make_panel(("member1", "fast"))
    call = end(panel)
    assert [step.done for step in steps(timezone.now())] == [True, True, True, False]
    assert f'href="/admin/evidence/panel/{panel.pk}/change/"' in first_page(staff)
    record_verdict(call_id=call, given_by="local", useful=True)
    assert steps(timezone.now()) == []
    assert "First steps" not in first_page(staff)


def test_panels_of_today_and_yesterday_are_counted() -> None:
    noon = timezone.now().replace(hour=12, minute=0)
    for back, status in ((0, "ok"), (0, "error"), (1, "ok"), (2, "ok")):
        end(make_panel(("member1", "fast"), at=noon - timedelta(days=back)), status=status)
    make_panel(("member1", "fast"), at=noon)
    today, yesterday = days(noon)
    assert (today.panels, today.asked, today.answered) == (3, 2, 1)
    assert (yesterday.panels, yesterday.asked, yesterday.answered) == (1, 1, 1)
    # A day is UTC's, and its first moment is its own.
    end(make_panel(("member1", "fast"), at=noon.replace(hour=0, second=0, microsecond=0)))
    assert [(day.panels, day.asked) for day in days(noon)] == [(4, 3), (1, 1)]


def test_failures_are_told_by_endpoint_with_their_kinds() -> None:
    noon = timezone.now().replace(hour=12)
    for kind in ("timeout", "timeout", "rate_limited"):
        end(make_panel(("member1", "fast"), at=noon), status="error", error_kind=kind)
    end(make_panel(("member1", "fast"), at=noon), status="empty")
    end(make_panel(("member1", "fast"), at=noon))
    end(make_panel(("member1", "fast"), at=noon - timedelta(days=3)), status="error", error_kind="old")
    (mock,) = failing(noon)
    assert (mock.endpoint, mock.failed, mock.empty, mock.asked) == ("mock", 3, 1, 5)
    assert mock.kinds == (("timeout", 2), ("rate_limited", 1))
    assert failing(noon + timedelta(days=5)) == []


def test_limits_that_are_nearly_used_up_and_who_rests(staff) -> None:
    make_model("fast")
    Endpoint.objects.update(requests_per_day=4, requests_per_minute=100)
    mock = Endpoint.objects.get()
    now = timezone.now()
    for served_id, hours in (("fast", 1), ("over", -1)):
        CoolDown.objects.create(endpoint=mock, served_id=served_id, until=now + timedelta(hours=hours), since=now, why="429")
    for used, low in ((3, []), (1, [("mock", "requests_per_day", 0)])):
        for _ in range(used):
            reserve(Claim(endpoint_id=mock.pk, quotas=account_quotas(mock, ()), tokens=0))
        found = limits(timezone.now())
        assert [(name, one.field, one.left) for name, one in found["low"]] == low
    assert found["resting"] == len(found["rests"]) > 0
    said = text_of(first_page(staff))
    assert "0 of 4 left" in said
    assert "over" not in [rest.served_id for rest in found["rests"]]


def test_alerts_jobs_and_verdicts_owed_are_shown_with_their_links(staff) -> None:
    panel = make_panel(("member1", "fast"))
    end(panel)
    Alert.objects.create(
        kind="gone", endpoint=Endpoint.objects.get(), about="fast", message="m", to_do="Retire it.", opened_at=timezone.now()
    )
    JobRun.objects.create(name="prune_log", due_at=timezone.now(), started_at=timezone.now(), outcome="failed", said="No room.")
    shown = first_page(staff)
    assert f'href="/admin/evidence/panel/{panel.pk}/change/#member1"' in shown
    said = text_of(shown)
    for words in ("1 open", "Retire it.", "prune_log", "No room.", "failed", "refresh_catalog not run yet"):
        assert words in said, words


def test_each_part_is_for_who_may_see_its_pages(client) -> None:
    user = get_user_model().objects.create_user("reader", is_staff=True)
    client.force_login(user)
    assert "Limits left</a>" not in first_page(client)
    user.user_permissions.add(Permission.objects.get(codename="view_alert"))
    shown = first_page(client)
    assert 'id="alerts"' in shown
    for part in ("panels", "owed", "limits", "jobs", "steps"):
        assert f'id="{part}"' not in shown


def test_hostile_words_are_shown_harmless(staff) -> None:
    worst = clean_text(HOSTILE)
    end(make_panel(("member1", "fast")), status="error", error_kind=worst[:30])
    Alert.objects.create(kind="gone", about=worst[:150], message=worst, to_do=worst, opened_at=timezone.now())
    JobRun.objects.create(name="prune_log", due_at=timezone.now(), started_at=timezone.now(), outcome="done", said=worst)
    shown = first_page(staff)
    assert Tags(shown).bad == []
    assert "\u202e" not in shown


def test_it_costs_the_same_however_much_there_is(staff, django_assert_max_num_queries) -> None:
    core = Collection.objects.create(name="core")
    for number in range(30):
        end(make_panel(("member1", f"m{number}"), minutes_ago=number), status="ok" if number % 2 else "error")
        Membership.objects.create(collection=core, language_model=make_model(f"m{number}"))
    with django_assert_max_num_queries(35):
        first_page(staff)
