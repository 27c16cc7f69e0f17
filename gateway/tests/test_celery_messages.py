"""What travels between a process that asks and its workers: documents that come back the same, and open for nobody else."""

import json
from dataclasses import replace

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from collections_app.models.health import Quota
from gateway.chat import ImagePart, Message, TextPart
from gateway.reply import SeatAnswer
from gateway.upstream.contract import Target
from gateway.workers.celery.message import (
    Errand,
    UnknownMessageError,
    answer_as_dict,
    answer_from,
    as_message,
    errand_as_bytes,
    errand_from,
    job_from,
)
from gateway.workers.celery.sealed import SealError, seal, unseal
from gateway.workers.job import SeatJob

# Lone halves of a surrogate pair too: JSON can say them, so a caller can.
TEXT = st.text(st.characters(exclude_categories=()), max_size=50)
NAME = st.text(min_size=1, max_size=20)
SECONDS = st.floats(0.1, 86_400)
LIMIT = st.none() | st.integers(1, 10**12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
PARTS = st.builds(TextPart, TEXT) | st.builds(ImagePart, st.one_of(TEXT, st.just("data:image/png;base64,iVBORw0KGgo=")))
MESSAGES = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.lists(PARTS, max_size=3).map(tuple)), max_size=3
).map(tuple)
TARGETS = st.builds(
    Target,
    protocol=NAME,
    base_url=TEXT,
    model=TEXT,
    api_key_env=TEXT,
    typed_key_id=TEXT,
    options=st.dictionaries(TEXT, JSON, max_size=3),
    connect_timeout=SECONDS,
    first_token_timeout=SECONDS,
    seat_timeout=SECONDS,
)
QUOTAS = st.builds(
    Quota,
    pattern=NAME,
    requests_per_minute=LIMIT,
    requests_per_day=LIMIT,
    tokens_per_minute=LIMIT,
    tokens_per_day=LIMIT,
    zone=st.sampled_from(["UTC", "America/Los_Angeles"]),
)
JOBS = st.builds(
    SeatJob,
    call=NAME,
    alias=TEXT,
    target=TARGETS,
    messages=MESSAGES,
    nominated=st.booleans(),
    endpoint_id=st.integers(0, 2**63),
    tokens=st.integers(0, 10**9),
    quotas=st.lists(QUOTAS, max_size=3).map(tuple),
)
ANSWERS = st.builds(
    SeatAnswer,
    call=NAME,
    alias=TEXT,
    status=st.sampled_from(["ok", "empty", "error"]),
    nominated=st.booleans(),
    answer=TEXT,
    error=TEXT,
    reasoning=TEXT,
    partial=TEXT,
    seconds=st.floats(0, 1000),
    first_token_seconds=st.none() | st.floats(0, 1000),
    input_tokens=LIMIT,
    output_tokens=LIMIT,
    upstream_status=st.none() | st.integers(100, 599),
    retry_after=st.none() | st.floats(0, 1000),
)


@given(JOBS)
def test_a_job_comes_back_from_json_as_it_was(job):
    assert job_from(json.loads(json.dumps(as_message(job)))) == job


@given(JOBS, TEXT, st.booleans())
def test_an_errand_comes_back_as_it_was(job, home, wants_text):
    errand = Errand(job=job, home=home, wants_text=wants_text)
    assert errand_from(errand_as_bytes(errand)) == errand


@given(JOBS, TEXT)
def test_messages_in_a_parcel_are_not_in_the_errand_too(job, home):
    errand = Errand(job=job, home=home, parcel="key")
    assert errand_from(errand_as_bytes(errand)) == replace(errand, job=replace(job, messages=()))


@given(ANSWERS)
def test_an_answer_comes_home_as_it_was(answer):
    told = json.loads(json.dumps(answer_as_dict(replace(answer, image_urls=("https://images.example/cat?signature=1",)))))
    assert "signature" not in json.dumps(told)
    assert answer_from(told, ()) == answer


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"version": 0},
        {"version": 1},
        {"version": 1, "home": "h", "wants_text": False, "parcel": "", "job": {"call": "p.member1"}},
        {"version": 1, "home": "h", "wants_text": False, "parcel": "", "job": []},
        {"version": 1, "home": "h", "wants_text": False, "parcel": "", "job": None},
    ],
)
def test_another_document_is_refused(document):
    with pytest.raises(UnknownMessageError):
        errand_from(json.dumps(document).encode())


def test_a_job_with_more_or_less_in_it_is_refused():
    target = Target(
        protocol="openai_chat", base_url="http://x", model="m", connect_timeout=1, first_token_timeout=1, seat_timeout=1
    )
    document = as_message(SeatJob(call="p.member1", alias="a", target=target, messages=()))
    assert job_from(document).alias == "a"
    for spoilt in (
        document | {"target": {**document["target"], "headers": {}}},
        document | {"target": {"protocol": "openai_chat"}},
        document | {"messages": [{"parts": []}]},
        document | {"messages": [{"role": "user", "parts": ["text"]}]},
        document | {"quotas": [{"pattern": "*", "per_week": 1}]},
    ):
        with pytest.raises(UnknownMessageError):
            job_from(spoilt)


@given(st.binary(max_size=200), st.integers(0))
def test_what_is_sealed_opens_once_it_is_whole_for_its_use_and_under_its_secret(content, place):
    sealed = seal(content, "errand")
    assert unseal(sealed, "errand") == content
    assert len(content) < 4 or content not in sealed
    place %= len(sealed)
    altered = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
    for other, use in ((altered, "errand"), (sealed, "parcel"), (sealed[:place], "errand"), (b"", "errand")):
        with pytest.raises(SealError):
            unseal(other, use)
    with override_settings(SECRET_KEY="another"), pytest.raises(SealError):
        unseal(sealed, "errand")
