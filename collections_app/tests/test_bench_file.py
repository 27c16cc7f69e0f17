"""The bench as a file: loaded all or nothing, the same twice changes nothing, and what is dumped loads as it was."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collections_app.models import Collection, Endpoint, LanguageModel, Limits, Shape
from collections_app.selectors import members_of, primary_model
from collections_app.services.bench_dump import dump_bench
from collections_app.tests.rosters import make_collection, make_model

pytestmark = pytest.mark.django_db

BENCH = """
[endpoints.openrouter]
protocol = "openai_chat"
base_url = "https://openrouter.ai/api/v1"
api_key_env = "OPENROUTER_API_KEY"
[models.gpt-oss]
endpoint = "openrouter"
model = "openai/gpt-oss-120b:free"
role = "general"
status = "active"
family = ["gpt-oss"]
context_window = 131072
options = { temperature = 0.2 }
[models.qwen-coder]
endpoint = "openrouter"
model = "qwen/qwen3-coder:free"
role = "code"
seat_timeout = 90
vision = false
[collections.core]
members = ["qwen-coder", "gpt-oss"]
description = "Second opinions on hard questions"
tags = ["general"]
shape = "review"
reply = "merged"
merger = "gpt-oss"
[limits]
max_calls = 6
max_explorers = 1
"""


def load(folder: Path, text: str, name: str = "bench.toml", **options: Any) -> list[str]:
    file = folder / name
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    said = io.StringIO()
    call_command("load_bench", str(file), stdout=said, **options)
    return said.getvalue().splitlines()


def dump(as_format: str = "toml") -> str:
    said = io.StringIO()
    call_command("dump_bench", format=as_format, stdout=said)
    return said.getvalue()


def refused(folder: Path, text: str, name: str = "bench.toml") -> list[str]:
    """Load what must be refused; returns the reasons, having seen that nothing changed."""
    before = dump()
    with pytest.raises(CommandError) as error:
        load(folder, text, name)
    assert dump() == before
    return str(error.value).splitlines()[1:]


def test_it_loads(tmp_path: Path) -> None:
    assert load(tmp_path, BENCH) == [
        "created endpoint openrouter",
        "created model gpt-oss",
        "created model qwen-coder",
        "created collection core",
        "changed limits: max_calls 5 -> 6, max_explorers 2 -> 1",
    ]
    core = Collection.objects.get()
    assert [model.alias for model in members_of(core)] == ["qwen-coder", "gpt-oss"]
    assert (core.shape and core.shape.name, core.reply, str(core.merger), core.tags) == (
        "review",
        "merged",
        "gpt-oss",
        ["general"],
    )
    gpt_oss = LanguageModel.objects.get(alias="gpt-oss")
    assert (gpt_oss.context_window, gpt_oss.options, gpt_oss.vision) == (131072, {"temperature": 0.2}, None)
    assert LanguageModel.objects.get(alias="qwen-coder").seat_timeout == 90


def test_the_same_twice_changes_nothing(tmp_path: Path) -> None:
    load(tmp_path, BENCH)
    ids = list(LanguageModel.objects.values_list("id", flat=True))
    assert load(tmp_path, BENCH) == ["Nothing changed."]
    assert list(LanguageModel.objects.values_list("id", flat=True)) == ids


def test_what_changed_is_told(tmp_path: Path) -> None:
    load(tmp_path, BENCH)
    edited = BENCH.replace('role = "general"', 'role = "light"').replace("context_window = 131072\n", "")
    edited = edited.replace('["qwen-coder", "gpt-oss"]', '["gpt-oss", "qwen-coder"]')
    assert load(tmp_path, edited) == [
        'changed model gpt-oss: role "general" -> "light", context_window 131072 -> unset',
        'changed collection core: members ["qwen-coder", "gpt-oss"] -> ["gpt-oss", "qwen-coder"]',
    ]
    assert [model.alias for model in members_of(Collection.objects.get())] == ["gpt-oss", "qwen-coder"]


def test_rows_that_the_file_does_not_name_stay(tmp_path: Path) -> None:
    make_collection("kept", make_model("kept-model"))
    load(tmp_path, BENCH)
    assert Collection.objects.filter(name="kept").exists()
    assert LanguageModel.objects.filter(alias="kept-model").exists()


def test_a_file_may_name_rows_that_are_there_already(tmp_path: Path) -> None:
    make_model("there")
    assert load(
        tmp_path, '[models.new]\nendpoint = "upstream"\nmodel = "new-1"\n[collections.both]\nmembers = ["there", "new"]\n'
    ) == [
        "created model new",
        "created collection both",
    ]


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    before = dump()
    assert load(tmp_path, BENCH, dry_run=True)[-2:] == [
        "changed limits: max_calls 5 -> 6, max_explorers 2 -> 1",
        "Dry run: nothing was written.",
    ]
    assert dump() == before
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("as_format", ["toml", "json"])
def test_what_is_dumped_loads_as_it_was(tmp_path: Path, as_format: str) -> None:
    load(tmp_path, BENCH)
    dumped = dump(as_format)
    assert load(tmp_path, dumped, f"again.{as_format}") == ["Nothing changed."]
    Collection.objects.all().delete()
    LanguageModel.objects.all().delete()
    Endpoint.objects.all().delete()
    Shape.objects.all().delete()
    Limits.objects.update(max_calls=9)
    load(tmp_path, dumped, f"again.{as_format}")
    assert dump(as_format) == dumped


def test_the_format_is_seen_from_the_text_too(tmp_path: Path) -> None:
    load(tmp_path, BENCH)
    assert load(tmp_path, dump("json"), "bench") == ["Nothing changed."]
    assert load(tmp_path, "\ufeff" + dump("toml"), "bench.conf") == ["Nothing changed."]


def test_a_dump_goes_into_a_file_in_its_format(tmp_path: Path) -> None:
    load(tmp_path, BENCH)
    call_command("dump_bench", str(tmp_path / "out.json"))
    assert json.loads((tmp_path / "out.json").read_text())["limits"] == {"max_calls": 6, "max_explorers": 1, "primary": ""}
    with pytest.raises(CommandError, match="cannot write"):
        call_command("dump_bench", str(tmp_path / "no-such-folder" / "out.json"))


def test_a_dump_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-very-secret")
    load(tmp_path, BENCH)
    assert "sk-very-secret" not in dump() + dump("json")


def test_mistakes_are_named_with_what_was_meant(tmp_path: Path) -> None:
    wrong = (
        BENCH.replace('endpoint = "openrouter"\nmodel = "openai', 'endpoint = "openruter"\nmodel = "openai')
        .replace("context_window", "context_windw")
        .replace('status = "active"', 'status = "actve"')
        .replace('shape = "review"', 'shape = "reviews"')
        .replace('["qwen-coder", "gpt-oss"]', '["qwen-codr", "gpt-oss", "gpt-oss"]')
        .replace("[limits]", "[limit]")
        .replace("https://", "ftp://")
    )
    assert sorted(refused(tmp_path, wrong)) == sorted(
        [
            'limit: unknown table; did you mean "limits"?',
            'models.gpt-oss.context_windw: unknown key; did you mean "context_window"?',
            "endpoints.openrouter.base_url: An http:// or https:// URL, such as https://openrouter.ai/api/v1.",
            'models.gpt-oss.endpoint: no endpoint "openruter"; did you mean "openrouter"?',
            'models.gpt-oss.status: no status "actve"; did you mean "active"?',
            'collections.core.members: no model "qwen-codr"; did you mean "qwen-coder"?',
            'collections.core.members: "gpt-oss" is named 2 times; a member sits once',
            'collections.core.shape: no shape "reviews"; did you mean "review"?',
        ]
    )


UP = '[endpoints.up]\nbase_url="https://a.example"\n'
X = '[models.x]\nendpoint="upstream"\nmodel="x"\n'
CORE = '[collections.core]\nmembers=["fast"]\n'


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('[endpoints.UPPER]\nbase_url="https://a.example"', "endpoints.UPPER: 2 to 32 lower-case letters"),
        ('[endpoints.up]\nprotocol="openai_chat"', 'endpoints.up: "base_url" is missing'),
        (UP + 'api_key="sk-secret-1"', 'endpoints.up.api_key: unknown key; did you mean "api_key_env"?'),
        (UP + 'api_key_env="sk-secret-1"', "endpoints.up.api_key_env: The name of an environment variable."),
        ('[endpoints.up]\nbase_url="http://ada:sk-secret-1@a.example"', "endpoints.up.base_url: No user name or password"),
        (UP + "seat_timeout=nan", "endpoints.up.seat_timeout: a number is needed"),
        (UP + "seat_timeout=-1", "endpoints.up.seat_timeout: Seconds, from 0.1 to 86400."),
        (UP + "seat_timeout=1" + "0" * 400, "endpoints.up.seat_timeout: a number is needed"),
        ('[endpoints]\nup="https://a.example"', "endpoints.up: a table of keys"),
        ('endpoints=["up"]', "endpoints: a table of rows"),
        ("limits=5", "limits: a table of keys"),
        ("[limits]\nmax_calls=true", "limits.max_calls: a whole number is needed"),
        ("[limits]\nmax_calls=-1", "limits.max_calls: "),
        ("[limits]\nmax_calls=1" + "0" * 1000, "limits.max_calls: "),
        ("[limits]\nmax_explorers=2.5", "limits.max_explorers: a whole number is needed"),
        ("[collections.core]\nmembers=[]", "collections.core.members: at least one"),
        ('[collections.core]\ndescription="nobody"', 'collections.core: "members" is missing'),
        ("[collections.core]\nmembers=[1]", "collections.core.members: a list of texts is needed"),
        (CORE + 'tags=["Loud"]', "collections.core.tags: 'Loud' is no tag"),
        (CORE + 'merger="fats"', 'collections.core.merger: no model "fats"; did you mean "fast"?'),
        (CORE + f'description="{"x" * 301}"', "collections.core.description: Ensure this value has at most 300"),
        (CORE + 'description="a\\u0000b"', "collections.core.description: One line of text"),
        ('[shapes.haiku]\ndescription="5-7-5"\nroles=["poet"]', "shapes.haiku.roles: One or more of these"),
        (X + "options={a={b={c={d={e={f={g={h={}}}}}}}}}", "models.x.options: Nested more than 8 deep."),
        (X + "options={when=2026-01-01}", "models.x.options: datetime.date"),
        (X + "options={t=inf}", "models.x.options: inf is no number"),
        (X + "options={messages=[]}", "models.x.options: The bench itself sets messages."),
        (X + 'family=["Llama"]', "models.x.family: 'Llama' is no family line"),
        (X + "context_window=0", "models.x.context_window: "),
        ('[models."-x"]\nendpoint="upstream"\nmodel="x"', "models.-x: Up to 64 lower-case letters"),
        ('[models."a\\nb"]\nendpoint="upstream"\nmodel="x"', 'models."a\\nb": Up to 64 lower-case letters'),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, table: str, problem: str) -> None:
    make_model("fast")
    (reason,) = refused(tmp_path, table)
    assert reason.startswith(problem)
    assert "sk-secret-1" not in reason


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("bench.toml", "[models", "not TOML: "),
        ("bench.toml", "a = " + "[" * 100_000, "not a bench: TOML nested too deep"),
        ("bench.toml", "limits = { max_calls = 1" + "0" * 5000 + " }", "not TOML: "),
        ("bench.json", "{", "not JSON: "),
        ("bench.json", "[" * 100_000, "not a bench: JSON nested too deep"),
        ("bench.json", "null", "not a bench: an object of tables"),
        ("bench.json", '{"limits": {"max_calls": NaN}}', "limits.max_calls: a whole number is needed"),
        ("bench.json", '{"models": {"x": {}, "x": {}}}', "not JSON: the key "),
        ("bench.json", '{"limits": {"max_calls": 1' + "0" * 5000 + "}}", "not JSON: "),
        ("bench.json", '{"\\ud800": {}}', '"\\ud800": unknown table'),
        ("bench.json", '{"endpoints": {"\\ud800": {"base_url": "https://a.example"}}}', 'endpoints."\\ud800": 2 to 32'),
        (
            "bench.json",
            '{"endpoints": {"up": {"base_url": "http://\\ud800.example"}}}',
            "endpoints.up.base_url: One line of text",
        ),
        ("bench.json", '{"endpoints": {"up": {"base_url": "http://[::1"}}}', "endpoints.up.base_url: Not a URL"),
        ("bench.toml", "# \ud800", "not UTF-8 text: "),
        ("bench.toml", "\x00", "not TOML: "),
        ("bench.toml", "#" * 20_000_000, "a bench file may hold 2 MB"),
    ],
    ids=lambda value: value[:20],
)
def test_a_file_that_is_no_bench_is_refused(tmp_path: Path, name: str, text: str, reason: str) -> None:
    (said,) = refused(tmp_path, text, name)
    assert said.startswith(reason)


def test_a_huge_nest_of_options_is_refused(tmp_path: Path) -> None:
    make_model("fast")
    deep = '{"models": {"fast": {"endpoint": "upstream", "model": "x", "options": ' + '{"a":' * 900 + "1" + "}" * 903
    assert refused(tmp_path, deep, "bench.json")[0].startswith(("models.fast.options: Nested", "not a bench"))


def test_null_in_json_is_as_good_as_left_out(tmp_path: Path) -> None:
    make_model("fast", context_window=8192)
    row = {"endpoint": "upstream", "model": "fast-1", "context_window": None}
    load(tmp_path, json.dumps({"models": {"fast": row}}), "bench.json")
    assert LanguageModel.objects.get().context_window is None


def test_a_thousand_mistakes_are_told_in_part_and_soon(tmp_path: Path) -> None:
    rows = {f"model-{number}": {"endpoint": f"endpoint-{number}", "model": "x"} for number in range(5000)}
    reasons = refused(tmp_path, json.dumps({"models": rows}), "bench.json")
    assert len(reasons) == 101
    assert reasons[-1] == "... and perhaps more"


@pytest.mark.parametrize("name", ["no-such-file.toml", ".", "nul\0byte"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandError, match="cannot read"):
        call_command("load_bench", str(tmp_path / name) if "\0" not in name else name)


@pytest.mark.skipif(os.name != "posix", reason="a file name that is no UTF-8")
def test_a_file_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(CommandError, match=r"cannot read '\\udcff.toml'"):
        call_command("load_bench", "\udcff.toml")


def test_the_primary_model_may_be_one_of_the_same_file(tmp_path: Path) -> None:
    bench = {
        "endpoints": {"here": {"base_url": "http://127.0.0.1:9/v1"}},
        "models": {"first": {"endpoint": "here", "model": "one"}},
        "limits": {"primary": "first"},
    }
    (tmp_path / "bench.json").write_text(json.dumps(bench))
    call_command("load_bench", str(tmp_path / "bench.json"))
    assert primary_model().alias == "first"
    assert dump_bench()["limits"]["primary"] == "first"
    bench["limits"]["primary"] = "frist"
    (tmp_path / "bench.json").write_text(json.dumps(bench))
    with pytest.raises(CommandError, match=r'limits.primary: no model "frist"; did you mean "first"'):
        call_command("load_bench", str(tmp_path / "bench.json"))
