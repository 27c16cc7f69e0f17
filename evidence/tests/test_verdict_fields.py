import pytest

from evidence.errors import MalformedVerdict
from evidence.serializers import LONGEST_TEXT, read_verdict

CALL = "p20260102-150405-7f3a.member1"


def refusal(payload) -> str:
    with pytest.raises(MalformedVerdict) as refused:
        read_verdict(payload)
    assert refused.value.status_code == 400
    return str(refused.value.detail)


def test_a_whole_verdict_is_read_as_it_was_sent():
    verdict = {
        "call": CALL,
        "useful": False,
        "note": "  as sent\n",
        "real": ["line 3"],
        "false": [],
        "score": 0,
        "correction": "Lock first.",
    }
    assert read_verdict(verdict) == verdict


def test_call_and_useful_are_enough():
    assert read_verdict({"call": CALL, "useful": True}) == {"call": CALL, "useful": True}


@pytest.mark.parametrize(
    "field,value",
    [
        ("call", 5),
        ("call", True),
        ("call", None),
        ("call", ""),
        ("call", [CALL]),
        ("call", "x" * 65),
        ("useful", "yes"),
        ("useful", "true"),
        ("useful", 1),
        ("useful", 0),
        ("useful", None),
        ("note", 5),
        ("note", None),
        ("note", "a\x00b"),
        ("note", "a\ud800b"),
        ("note", "x" * 1_000_000),
        ("correction", {}),
        ("correction", "x" * 1_000_000),
        ("real", "a claim"),
        ("real", {"0": "a claim"}),
        ("real", None),
        ("real", ["a"] * 101),
        ("false", 5),
        ("score", "0.5"),
        ("score", True),
        ("score", -0.01),
        ("score", 1.01),
        ("score", float("nan")),
        ("score", float("inf")),
        ("score", 10**400),
        ("score", []),
    ],
)
def test_a_wrong_value_is_refused_by_its_fields_name(field, value):
    assert refusal({"call": CALL, "useful": True, field: value}).startswith(f"{field}: ")


@pytest.mark.parametrize("claim", [5, None, "", " \n\u3000", ["a"], {"a": 1}, "a\x00", "x" * 2001])
def test_a_wrong_claim_is_refused_by_its_place(claim):
    assert refusal({"call": CALL, "useful": True, "real": ["good", claim]}).startswith("real[1]: ")


def test_every_wrong_field_is_named():
    assert refusal({}) == "call: This field is required. useful: This field is required."


def test_a_limit_is_told():
    assert refusal({"call": CALL, "useful": True, "note": "x" * (LONGEST_TEXT + 1)}) == "note: at most 10000 characters."
    assert read_verdict({"call": CALL, "useful": True, "note": "x" * LONGEST_TEXT})


def test_a_misspelt_field_is_not_dropped():
    assert refusal({"call": CALL, "useful": True, "notes": "n"}) == "notes: no such field; did you mean note?"
    assert "a verdict has call, useful, note" in refusal({"call": CALL, "useful": True, "stars": 5})
    assert len(refusal({"call": CALL, "useful": True, **{f"x{number}" * 1000: 1 for number in range(1000)}})) < 2000


@pytest.mark.parametrize("payload", [None, [], "verdict", 5, True, [{"call": CALL, "useful": True}]])
def test_anything_but_an_object_is_refused(payload):
    assert "JSON object" in refusal(payload)


def test_no_score_may_be_said_in_so_many_words():
    assert read_verdict({"call": CALL, "useful": True, "score": None})["score"] is None


@pytest.mark.parametrize("field", ["real", "false"])
def test_how_many_claims_there_are_is_judged_before_what_they_say(field):
    """A million wrong ones would be a million errors, and gigabytes of them."""
    assert refusal({"call": CALL, "useful": True, field: [""] * 101}) == (
        f"{field}: Ensure this field has no more than 100 elements."
    )
