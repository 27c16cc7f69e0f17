"""What a model name asks for: a collection in a mode, exactly, and nothing by guessing."""

import pytest

from gateway.panel.naming import AskedName, read_model_name


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ("bench/core", AskedName("core", None)),
        ("core", AskedName("core", None)),
        ("bench/core:merged", AskedName("core", "merged")),
        ("core:all", AskedName("core", "all")),
        ("bench/core:latest", AskedName("core", None)),
    ],
)
def test_a_name_is_a_collection_and_a_mode(model, asked):
    assert read_model_name(model) == asked


@pytest.mark.parametrize(
    "model", ["bench/core:", "bench/core:banana", "bench/core:merged:all", "bench/core:MERGED", ":", ":all:"]
)
def test_an_unknown_suffix_names_nothing(model):
    assert read_model_name(model) is None
