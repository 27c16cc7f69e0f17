"""A sealed key opens for its own host under its own secret, whole; anything else is refused in words."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from collections_app.sealing import OtherHostError, UnsealError, reseal, seal, unseal
from collections_app.secret_file import draw_secret

OLD, NEW, FOREIGN = draw_secret(), draw_secret(), draw_secret()
HOST = "https://api.example.com"
SEALED = seal("sk-very-secret", host=HOST, secrets=[OLD])

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(key=any_text, host=any_text)
def test_what_was_sealed_for_a_host_opens_for_it(key: str, host: str) -> None:
    assert unseal(seal(key, host=host, secrets=[OLD]), host=host, secrets=[OLD]) == key


@given(host=any_text, other=any_text)
@example(host=HOST, other="http://api.example.com")
@example(host=HOST, other="https://api.example.com:8443")
def test_for_any_other_host_it_does_not_open(host: str, other: str) -> None:
    assume(host != other)
    with pytest.raises(OtherHostError, match="sent nowhere else") as refused:
        unseal(seal("sk-very-secret", host=host, secrets=[OLD]), host=other, secrets=[OLD])
    assert "sk-very" not in str(refused.value)


@given(at=st.integers(0, len(SEALED) - 1), instead=st.characters())
@example(at=len(SEALED) - 1, instead="")
@example(at=0, instead="\ud800")
def test_altered_by_one_character_it_does_not_open(at: int, instead: str) -> None:
    altered = SEALED[:at] + instead + SEALED[at + 1 :]
    assume(altered != SEALED)
    with pytest.raises(UnsealError, match="altered"):
        unseal(altered, host=HOST, secrets=[OLD])


@given(altered=any_text | st.integers(0, len(SEALED)).map(lambda at: f"{SEALED[:at]}\n!{SEALED[at:]}"))
@example(altered="")
@example(altered=SEALED + "=")
@example(altered=SEALED[:-8])
def test_no_other_text_opens(altered: str) -> None:
    with pytest.raises(UnsealError, match="altered"):
        unseal(altered, host=HOST, secrets=[OLD])


def test_it_opens_under_any_secret_that_is_still_kept() -> None:
    assert unseal(SEALED, host=HOST, secrets=[NEW, OLD]) == "sk-very-secret"
    with pytest.raises(UnsealError, match="another secret"):
        unseal(SEALED, host=HOST, secrets=[NEW, FOREIGN])


def test_sealed_anew_it_needs_the_new_secret_alone() -> None:
    anew = reseal(SEALED, secrets=[NEW, OLD])
    assert unseal(anew, host=HOST, secrets=[NEW]) == "sk-very-secret"
    with pytest.raises(OtherHostError):
        unseal(anew, host="https://elsewhere.example", secrets=[NEW])
    with pytest.raises(UnsealError):
        reseal(SEALED, secrets=[NEW, FOREIGN])


def test_the_same_key_never_looks_the_same() -> None:
    assert seal("sk-very-secret", host=HOST, secrets=[OLD]) != SEALED
