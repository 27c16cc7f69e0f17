"""Whatever bench there is, its dump loads as the same bench, in both formats, from nothing and over another."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from collections_app.models import Collection, Endpoint, LanguageModel, Limits, Shape
from collections_app.models.options import OF_THE_BENCH
from collections_app.services.bench_dump import dump_bench
from collections_app.services.bench_file import parse_bench, write_bench
from collections_app.services.bench_load import load_bench

names = st.from_regex(r"\A[a-z0-9][a-z0-9-]{1,31}\Z")
aliases = st.from_regex(r"\A[a-z0-9][a-z0-9._:/-]{0,63}\Z")
any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
one_line = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)
scalars = st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-(2**53), 2**53) | any_text
options = st.dictionaries(
    any_text.filter(lambda key: key not in OF_THE_BENCH),
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3), max_leaves=4
    ),
    max_size=3,
)
timeouts = {name: st.floats(0.1, 86_400) for name in ("connect_timeout", "first_token_timeout", "seat_timeout")}
windows = st.integers(1, 2**53)


def maybe(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keys)


@st.composite
def benches(draw: st.DrawFn) -> dict[str, Any]:
    endpoint = st.builds(
        lambda must, may: must | may,
        st.fixed_dictionaries({"base_url": st.sampled_from(["https://a.example/v1", "https://b.example:8080"])}),
        maybe(api_key_env=st.sampled_from(["", "A_KEY", "_KEY2"]), **timeouts),
    )
    endpoints = draw(st.dictionaries(names, endpoint, min_size=1, max_size=2))
    model = st.builds(
        lambda must, may: must | may,
        st.fixed_dictionaries({"endpoint": st.sampled_from(sorted(endpoints)), "model": one_line.filter(bool)}),
        maybe(
            role=st.sampled_from(LanguageModel.Role.values),
            status=st.sampled_from(LanguageModel.Status.values),
            family=st.lists(st.sampled_from(["llama", "gpt-oss", "qwen3.5"]), unique=True),
            context_window=windows,
            output_limit=windows,
            vision=st.booleans(),
            tools=st.booleans(),
            options=options,
            **timeouts,
        ),
    )
    models = draw(st.dictionaries(aliases, model, min_size=1, max_size=4))
    shape = st.fixed_dictionaries(
        {
            "description": one_line.filter(bool),
            "roles": st.lists(st.sampled_from(LanguageModel.Role.values), min_size=1, unique=True),
        }
    )
    shapes = draw(st.dictionaries(names, shape, max_size=2))
    seats = st.lists(st.sampled_from(sorted(models)), min_size=1, unique=True)
    collection = st.builds(
        lambda must, may: must | may,
        st.fixed_dictionaries({"members": seats}),
        maybe(
            description=one_line,
            tags=st.lists(st.sampled_from(["general", "hard", "a-b"]), unique=True),
            shape=st.sampled_from(["", *sorted(shapes)]),
            reply=st.sampled_from(["all", "merged"]),
            merger=st.sampled_from(["", *sorted(models)]),
        ),
    )
    collections = draw(st.dictionaries(names, collection, max_size=2))
    limits = draw(maybe(max_calls=st.integers(1, 20), max_explorers=st.integers(0, 10)))
    tables = {"endpoints": endpoints, "models": models, "shapes": shapes, "collections": collections, "limits": limits}
    return {name: rows for name, rows in tables.items() if rows}


def empty_the_bench() -> None:
    for rows in (Collection, LanguageModel, Endpoint, Shape):
        rows.objects.all().delete()
    Limits.objects.update(max_calls=5, max_explorers=2)


class RoundTrip(TestCase):
    def setUp(self) -> None:
        empty_the_bench()

    @given(bench=benches(), other=benches(), as_format=st.sampled_from(["toml", "json"]))
    @settings(max_examples=40, deadline=None)
    def test_a_dump_loads_as_the_same_bench(self, bench: dict[str, Any], other: dict[str, Any], as_format: Any) -> None:
        load_bench(bench)
        assert load_bench(bench) == []
        dumped = dump_bench()
        text = write_bench(dumped, as_format)
        assert parse_bench(text, as_format) == dumped
        assert load_bench(parse_bench(text, as_format)) == []

        empty_the_bench()
        load_bench(parse_bench(text, as_format))
        assert dump_bench() == dumped

        empty_the_bench()
        load_bench(other)
        before = dump_bench()
        load_bench(parse_bench(text, as_format), dry_run=True)
        assert dump_bench() == before
        load_bench(parse_bench(text, as_format))
        after = dump_bench()
        for table in ("endpoints", "models", "collections", "shapes"):
            assert after[table] == before[table] | dumped[table]
        assert after["limits"] == dumped["limits"]
