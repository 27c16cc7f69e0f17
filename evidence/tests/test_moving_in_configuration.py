"""What is configured there comes over row by row: what stands here is kept, and what cannot come is told, with what to do."""

from pathlib import Path
from typing import Any

import pytest
from auditlog.models import LogEntry

from collections_app.models import Collection, DecisionModel, Endpoint, LanguageModel, Limits, Shape
from collections_app.selectors import members_of
from evidence.models import Call
from evidence.tests.predecessor import (
    BENCH,
    CALLS,
    OFFLOADS,
    PLACE,
    a_panel,
    a_seat,
    all_rows,
    an_offload,
    counts,
    run,
    told,
    write,
)
from keys.models import GatewayKey

pytestmark = pytest.mark.django_db
ENDPOINTS, MODELS, COLLECTIONS = "config/endpoints.json", "config/extra-openai-models.yaml", "config/collections.json"
ROLES, KEYS, DECIDING = "config/model-roles.json", "config/gateway-keys.json", "config/decision-models.json"
SECRET = "sk-proj-0123456789abcdefghijklmnop"
DIGEST = "ab" * 32


def moved(path: Path, **files: Any) -> dict[str, dict[str, Any]]:
    """Move in from the plain bench with these files besides or instead, named by their stems."""
    names = {
        "endpoints": ENDPOINTS,
        "models": MODELS,
        "collections": COLLECTIONS,
        "roles": ROLES,
        "keys": KEYS,
        "deciding": DECIDING,
        "options": "config/model-options.json",
        "retired": "config/retired.json",
        "gateway": "config/gateway.json",
        "history": "config/alias-history.json",
    }
    return run(write(path, {**BENCH, **{names[name]: content for name, content in files.items()}}))


def test_rows_come_in_and_the_change_log_says_by_what(tmp_path: Path) -> None:
    report = moved(tmp_path)
    assert (counts(report[ENDPOINTS]), counts(report[MODELS])) == ((1, 1, 0, 0, 0), (2, 2, 0, 0, 0))
    entry = LogEntry.objects.get_for_object(LanguageModel.objects.get(alias="fast")).get()
    assert entry.additional_data == {"by": "import_benchwarmers"}


def test_a_key_in_the_file_is_never_taken_over(tmp_path: Path) -> None:
    report = moved(tmp_path, endpoints={"place": {**PLACE, "key": SECRET, "headers": {"Authorization": f"Bearer {SECRET}"}}})
    endpoint = Endpoint.objects.get()
    assert (endpoint.api_key_env, endpoint.typed_key_sealed) == ("", "")
    assert "looks like a key itself" in told(report)[0]
    assert "its headers are not sent" in told(report)[1]
    changes = repr(list(LogEntry.objects.values_list("changes", flat=True)))
    assert SECRET not in repr(report) + repr(Endpoint.objects.values().get()) + changes


@pytest.mark.parametrize("key", ["d41d8cd98f00b204e9800998ecf8427e", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1x", "zai-0123456789abcdef"])
def test_a_key_that_begins_like_no_other_is_one_all_the_same(key: str, tmp_path: Path) -> None:
    report = moved(tmp_path, endpoints={"place": {**PLACE, "key": key}})
    assert Endpoint.objects.get().api_key_env == ""
    assert key.upper() not in repr(report).upper()


@pytest.mark.parametrize(
    ("key", "variable"),
    [("openrouter-2", "OPENROUTER_2_API_KEY"), ("302.ai", "KEY_302_AI_API_KEY"), ("bench-x", "KEY_BENCH_X_API_KEY"), ("", "")],
)
def test_a_key_is_named_by_a_variable(key: str, variable: str, tmp_path: Path) -> None:
    moved(tmp_path, endpoints={"place": {**PLACE, "key": key}})
    assert Endpoint.objects.get().api_key_env == variable


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"base": "http://public.example/v1"}, "over https://"),
        ({"base": f"https://user:{SECRET}@place.example/v1"}, "No user name"),
        ({"base": f"https://place.example:{SECRET}/v1"}, "Not a URL."),
        ({"base": ["https://place.example"]}, "base is no text"),
        ({}, "no base"),
        ({"base": "https://place.example", "api": "telepathy"}, "api is none of"),
        ("https://place.example", "no object"),
    ],
)
def test_an_endpoint_that_cannot_be_called_costs_no_other(entry: Any, why: str, tmp_path: Path) -> None:
    report = moved(tmp_path, endpoints={"odd": entry, "place": PLACE})
    assert list(Endpoint.objects.values_list("name", flat=True)) == ["place"]
    assert counts(report[ENDPOINTS]) == (2, 1, 0, 0, 1)
    assert why in told(report)[0]
    assert SECRET not in repr(report)


def test_what_stands_here_is_kept_and_told(tmp_path: Path) -> None:
    moved(tmp_path, collections={"core": {"members": ["fast", "slow"], "tags": ["a"]}}, gateway={"max_calls": 4})
    LanguageModel.objects.filter(alias="fast").update(role="code", status="ad_hoc")
    Collection.objects.update(description="Mine")
    Limits.objects.update(max_calls=7)
    before = all_rows()
    report = run(tmp_path)
    assert all_rows() == before
    assert told(report)[1:] == [
        f"{MODELS}: fast: kept as it stands here: its role, status differ here",
        "config/gateway.json: max_calls: kept as it stands here: 7, and 4 there",
        f"{COLLECTIONS}: core: kept as it stands here: its description differs here",
    ]


def test_another_place_of_the_same_name_gets_none_of_its_models(tmp_path: Path) -> None:
    Endpoint.objects.create(name="place", base_url="https://elsewhere.example/v1")
    report = moved(tmp_path)
    assert not LanguageModel.objects.exists()
    assert counts(report[MODELS]) == (2, 0, 0, 0, 2)
    assert any("another place has this name here" in line for line in told(report))


def test_another_model_of_the_same_alias_gets_none_of_its_evidence(tmp_path: Path) -> None:
    endpoint = Endpoint.objects.create(name="place", base_url=PLACE["base"], api_key_env="PLACE_API_KEY")
    LanguageModel.objects.create(alias="fast", endpoint=endpoint, served_id="another")
    write(tmp_path, {CALLS: [a_panel()]})
    moved(tmp_path)
    call = Call.objects.get(seat_name="member1")
    assert (call.alias, call.served_id, call.language_model) == ("fast", "fast", None)


def test_aliases_are_written_small_wherever_they_stand(tmp_path: Path) -> None:
    registry = str(BENCH[MODELS]).replace("model_id: fast", "model_id: Big-Model@V3.1")
    panel = a_panel(seats=[a_seat(a_panel()["panel"], "member1", "Big-Model@V3.1")])
    write(tmp_path, {CALLS: [panel]})
    report = moved(tmp_path, models=registry, collections={"core": {"members": ["Big-Model@V3.1", "slow"]}})
    big = LanguageModel.objects.get(alias="big-model-v3.1")
    assert f"{MODELS}: Big-Model@V3.1: is called big-model-v3.1 here" in told(report)
    assert members_of(Collection.objects.get())[0] == Call.objects.get().language_model == big


def test_roles_options_and_shapes(tmp_path: Path) -> None:
    roles = {
        "models": {"fast": "light", "slow": "image", "decider": "decision"},
        "ad_hoc": ["fast"],
        "shapes": {"triage": ["light", "image"], "image": ["image"], "odd": "light", "review": ["general"]},
    }
    report = moved(tmp_path, roles=roles, options={"fast": {"temperature": 0.2, "max_tokens": 9}, "slow": "no"})
    fast = LanguageModel.objects.get()
    assert (fast.role, fast.status, fast.options) == ("light", "ad_hoc", {"temperature": 0.2, "max_tokens": 9})
    assert Shape.objects.get(name="triage").roles == ["light"]
    assert Shape.objects.get(name="review").roles == ["general", "code"]
    assert f"{MODELS}: slow: left out: it makes images, and sits on no panel" in told(report)
    assert any("shapes.review: kept" in line for line in told(report))
    assert any("shapes.odd: left out" in line for line in told(report))


def test_retired_models_come_in_retired_and_keep_their_evidence(tmp_path: Path) -> None:
    retired = {
        "gone": {"served": "gone-1", "role": "code", "endpoint": "place", "by": "auto", "why": "no such model", "ad_hoc": True},
        "stray": {"served": "stray-1", "endpoint": "removed", "by": "ui"},
        "decided": {"served": "d", "role": "decision", "endpoint": "place", "decision": {}},
        "odd": [],
    }
    panel = a_panel(seats=[a_seat(a_panel()["panel"], f"member{n}", alias) for n, alias in enumerate(retired, 1)])
    write(tmp_path, {CALLS: [panel]})
    report = moved(tmp_path, retired=retired)
    gone = LanguageModel.objects.get(alias="gone")
    assert (gone.status, gone.retired_why, gone.role) == ("retired", "no such model", "code")
    assert counts(report["config/retired.json"]) == (4, 1, 0, 0, 3)
    assert list(Call.objects.values_list("alias", "language_model", "endpoint_name", "served_id")) == [
        ("gone", gone.pk, "place", "gone-1"),
        ("stray", None, "removed", "stray-1"),
        ("decided", None, "", ""),
        ("odd", None, "", ""),
    ]


def test_decision_models(tmp_path: Path) -> None:
    deciding = {
        "picks": {"served": "d-1", "endpoint": "hub", "via": "place", "path": "systemone", "question_types": ["choice"]},
        "nowhere": {"served": "d-2", "endpoint": "removed", "question_types": ["noul"]},
        "sits": {"served": "fast", "endpoint": "place", "question_types": ["choice"]},
    }
    place = {**PLACE, "decisions": "http://127.0.0.1:9/v1/{path}"}
    report = moved(tmp_path, endpoints={"place": place}, deciding=deciding, roles={"ad_hoc": ["picks"]})
    picks = DecisionModel.objects.get()
    assert (picks.url, picks.question_types, picks.status) == ("http://127.0.0.1:9/v1/systemone", ["choice"], "ad_hoc")
    assert counts(report[DECIDING]) == (3, 1, 0, 0, 2)


def test_collections_come_with_what_is_here_of_them(tmp_path: Path) -> None:
    collections = {
        "core": {
            "members": ["slow", "gone", "fast", "slow"],
            "shape": "unknown",
            "reply": "route",
            "merger": "gone",
            "note": "x",
        },
        "empty": {"members": ["gone"]},
        "Bad Name": {"members": ["fast"]},
        "odd": {"members": "fast"},
    }
    report = moved(tmp_path, collections=collections)
    core = Collection.objects.get()
    assert [model.alias for model in members_of(core)] == ["slow", "fast"]
    assert (core.description, core.reply, core.shape, core.merger) == ("x", "all", None, None)
    assert counts(report[COLLECTIONS]) == (4, 1, 0, 0, 3)
    assert [line for line in told(report) if ": core:" in line] == [
        f"{COLLECTIONS}: core: 1 of its 3 members is no model here",
        f"{COLLECTIONS}: core: its shape is not here: it is automatic",
        f"{COLLECTIONS}: core: one member's reply, with tools, is not served here: it gives every answer",
        f"{COLLECTIONS}: core: its merger is no model here: it is chosen by evidence",
    ]


def test_gateway_keys(tmp_path: Path) -> None:
    GatewayKey.objects.create(name="taken", digest="cd" * 32, last_four="cdcd")
    keys = {
        "app": {"sha256": DIGEST, "hint": "abcd", "created": "2026-01-02T03:04:05+00:00", "collections": ["core", "gone"]},
        "closed": {"sha256": "11" * 32, "collections": "core", "rpm": "5"},
        "open": {"sha256": "22" * 32, "rpm": 60},
        "taken": {"sha256": "33" * 32},
        "local": {"sha256": "44" * 32},
        "plain": {"key": "bwk_not-a-hash"},
        "shouted": {"sha256": "AB" * 32},
    }
    report = moved(tmp_path, collections={"core": {"members": ["fast"]}}, keys=keys)
    found = {key.name: key for key in GatewayKey.objects.all()}
    assert found.keys() == {"app", "closed", "open", "taken"}
    assert (found["app"].digest, found["app"].last_four, f"{found['app'].created_at:%Y-%m-%d}") == (
        DIGEST,
        "abcd",
        "2026-01-02",
    )
    assert [collection.name for collection in found["app"].collections.all()] == ["core"]
    # What cannot be read of its scope closes it, here as there.
    assert (found["closed"].limited, found["closed"].collections.count(), found["closed"].rpm) == (True, 0, None)
    assert (found["open"].limited, found["open"].rpm) == (False, 60)
    assert counts(report[KEYS]) == (7, 3, 0, 1, 3)
    assert found["taken"].digest == "cd" * 32
    before = all_rows()
    assert counts(run(tmp_path)[KEYS]) == (7, 0, 3, 1, 3)
    assert all_rows() == before
    assert "bwk_not" not in repr(report)


@pytest.mark.parametrize("content", ["{broken", "[]", "\xff".encode("latin-1"), "9" * 5_000, "[" * 100_000])
@pytest.mark.parametrize("name", [ENDPOINTS, ROLES, COLLECTIONS, KEYS, DECIDING, "config/retired.json", "config/gateway.json"])
def test_a_file_that_cannot_be_read_costs_no_other(name: str, content: Any, tmp_path: Path) -> None:
    report = run(write(tmp_path, {**BENCH, OFFLOADS: [an_offload()], name: content}))
    assert counts(report[name]) == (1, 0, 0, 0, 1)
    assert report[name]["told"][0].startswith(f"{name}: left out: ")
    assert Call.objects.count() == 1


def test_limits_of_the_wrong_type_and_settings_that_are_not_here(tmp_path: Path) -> None:
    report = moved(
        tmp_path, gateway={"_why": "a comment", "max_calls": "five", "max_explorers": 1, "default_collection": "core"}
    )
    assert (Limits.objects.get().max_calls, Limits.objects.get().max_explorers) == (5, 1)
    assert counts(report["config/gateway.json"]) == (3, 1, 0, 0, 2)
    report = moved(tmp_path, gateway={"max_calls": 99, "max_explorers": 1})
    assert (Limits.objects.get().max_calls, Limits.objects.get().max_explorers) == (5, 1)
    assert counts(report["config/gateway.json"]) == (2, 0, 1, 0, 1)


def test_names_that_lead_round_in_a_circle_stay_as_they_are(tmp_path: Path) -> None:
    write(tmp_path, {OFFLOADS: [an_offload(model="a"), an_offload(model="old")]})
    moved(tmp_path, history={"a": "b", "b": "a", "old": "older", "older": "fast", "odd": 5})
    assert list(Call.objects.order_by("pk").values_list("alias", flat=True)) == ["a", "fast"]


HALF = b"\\ud800\\u0000"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (ENDPOINTS, b'{"place": {"base": "http://127.0.0.1:9/v1"}, "a%s": {"base": "http://127.0.0.1:9/%s"}}'),
        (COLLECTIONS, b'{"core": {"members": ["fast"], "shape": "%s", "description": "%s"}, "co%s": {"members": ["fast"]}}'),
        (KEYS, b'{"k%s": {"sha256": "' + b"a" * 64 + b'", "hint": "%s", "collections": ["%s"]}}'),
        (ROLES, b'{"shapes": {"s%s": ["general"]}, "models": {"fast": "%s"}, "ad_hoc": ["%s"]}'),
        (
            "config/retired.json",
            b'{"old": {"endpoint": "place", "served": "old", "by": "auto", "at": "2026-01-01", "why": "%s"}}',
        ),
        (DECIDING, b'{"d%s": {"endpoint": "place", "served": "%s", "question_types": ["%s"]}}'),
        ("config/model-options.json", b'{"fast": {"stop": "%s"}, "%s": {}}'),
        ("config/alias-history.json", b'{"x%s": "%s"}'),
    ],
)
def test_what_no_database_holds_costs_no_other_entry(name: str, content: bytes, tmp_path: Path) -> None:
    folder = write(tmp_path, {**BENCH, OFFLOADS: [an_offload()], name: content.replace(b"%s", HALF)})
    run(folder)
    assert (LanguageModel.objects.filter(alias="fast").count(), Call.objects.count()) == (1, 1)
    before = all_rows()
    run(folder)
    assert all_rows() == before


def test_a_bad_tag_costs_no_collection(tmp_path: Path) -> None:
    report = moved(tmp_path, collections={"core": {"members": ["fast"], "tags": ["c++", "Code", "long context"]}})
    assert Collection.objects.get().tags == ["code"]
    assert "tags were cut to what fits" in report[COLLECTIONS]["told"][0]


def test_a_number_of_any_size_in_the_options_costs_no_other_model(tmp_path: Path) -> None:
    report = moved(tmp_path, options=b'{"fast": {"seed": ' + b"9" * 4_000 + b'}, "slow": {"temperature": 0.5}}')
    assert LanguageModel.objects.get().options == {"temperature": 0.5}
    assert "fast: left out: options: 9999" in report[MODELS]["told"][0]
