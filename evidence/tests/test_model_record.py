"""A model's record: what it came to by shape, how it went of late, its answers, and what it was wrong about."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collections_app.models import LanguageModel
from evidence.models import Call
from evidence.pruning import prune_panels
from evidence.services import record_verdict
from evidence.tests.rows import end, make_model, make_panel

pytestmark = pytest.mark.django_db


def record_page(client, alias="fast"):
    reply = client.get(f"/admin/evidence/tally/model/{make_model(alias).pk}/")
    assert reply.status_code == 200
    return reply.context, reply.content.decode()


def answered(*, shape="general", useful=None, minutes_ago=0, seat="member1", **ending):
    """One panel of fast alone that has ended, and its verdict."""
    panel = make_panel((seat, "fast"), shape=shape, minutes_ago=minutes_ago)
    call = end(panel, seat, **ending)
    if useful is not None:
        record_verdict(call_id=call, given_by="local", useful=useful, false=[] if useful else [f"wrong on {shape}"])
    return panel


def test_a_record_says_how_often_it_was_useful_on_each_shape_and_how_sure_that_is(client):
    for useful in (True, True, False):
        answered(shape="review", useful=useful)
    answered(shape="prose", useful=True)
    context, page = record_page(client)
    assert [(one.shape, one.useful, one.judged) for one in context["records"]] == [("review", 2, 3), ("prose", 1, 1)]
    assert "2 of 3, 21 to 94" in page
    assert "1 of 1, 21 to 100" in page
    assert "wrong on review" in page
    assert 'href="/admin/evidence/panel/' in page


def test_it_says_how_its_latest_calls_went(client):
    for seconds in (1, 2, 3, 40):
        answered(seconds=seconds, first_token_seconds=0.5, output_tokens=100)
    for kind in ("timeout", "timeout", "rate_limited"):
        answered(status="error", error_kind=kind, error="told so", answer="")
    answered(status="empty", answer="")
    context, page = record_page(client)
    lately = context["lately"]
    assert (lately.calls, lately.answers, lately.median, lately.p95, lately.first) == (8, 4, 2, 40, 0.5)
    assert [(one.kind, one.share.hits, one.share.of) for one in lately.failures] == [
        ("timeout", 2, 8),
        ("came back empty", 1, 8),
        ("rate limited", 1, 8),
    ]
    assert "told so" in page


def test_merging_is_a_record_of_its_own(client):
    answered(useful=True)
    answered(seat="merger", useful=False, seconds=90)
    context, page = record_page(client)
    assert [(one.useful, one.judged) for one in context["records"]] == [(1, 1)]
    assert [(one.useful, one.judged) for one in context["merges"]] == [(0, 1)]
    assert context["lately"].calls == 1
    assert "merging" in page


def test_what_the_log_has_forgotten_counts_and_another_models_past_does_not(client):
    answered(useful=True, minutes_ago=3000)
    prune_panels(timezone.now() - timedelta(days=1))
    assert not Call.objects.exists()
    context, _ = record_page(client)
    assert [(one.asked, one.useful) for one in context["records"]] == [(1, 1)]
    LanguageModel.objects.filter(alias="fast").update(alias="renamed")
    assert record_page(client, "fast")[0]["records"] == []
    assert record_page(client, "renamed")[0]["records"][0].useful == 1


def test_one_that_was_never_asked_says_what_to_do(client):
    context, page = record_page(client)
    assert "It was never asked. It explores when its turn comes" in page
    assert context["lately"].calls == 0
    LanguageModel.objects.update(status="retired")
    assert "It is retired." in record_page(client)[1]


def test_hostile_answers_and_claims_are_shown_harmless(client):
    panel = answered(answer="<script>alert(1)</script>\u202e", useful=None)
    call = f"{panel.panel_id}.member1"
    record_verdict(call_id=call, given_by="local", useful=False, false=["<img src=x onerror=alert(2)>\u2066"])
    page = record_page(client)[1]
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "[U+202E]" in page
    assert "[U+2066]" in page


def test_only_who_may_see_evidence_sees_it(client, settings):
    settings.BENCHWARMERS_ADMIN_TOKEN = "a-token-of-24-characters"
    path = f"/admin/evidence/tally/model/{make_model('fast').pk}/"
    user = User.objects.create_user("reader", is_staff=True)
    assert client.get(path).status_code == 302
    client.force_login(user)
    assert client.get(path).status_code == 403
    user.user_permissions.add(*Permission.objects.filter(codename__in=["view_tally", "view_panel"]))
    assert client.get(path).status_code == 200
    assert client.get("/admin/evidence/tally/model/999999/").status_code == 404


def test_it_costs_as_many_queries_for_a_long_record_as_for_a_short_one(client):
    answered(useful=False)
    record_page(client)
    with CaptureQueriesContext(connection) as short:
        record_page(client)
    for number in range(15):
        answered(shape=f"shape-{number}", useful=False)
    with CaptureQueriesContext(connection) as long:
        record_page(client)
    assert len(long) == len(short) <= 25


def test_the_models_own_page_leads_to_it(client):
    pk = make_model("fast").pk
    page = client.get(f"/admin/collections_app/languagemodel/{pk}/change/").content.decode()
    assert f'href="/admin/evidence/tally/model/{pk}/"' in page
