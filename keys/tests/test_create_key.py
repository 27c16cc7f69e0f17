"""Making a key: shown once, kept as a hash, named so that no name can hide or deceive; by a command and by services."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from io import StringIO
from threading import Barrier

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from collections_app.models import Change, Collection
from keys.key_text import digest_of, draw_key
from keys.models import GatewayKey
from keys.services import NewKey, create_key, revoke, set_collections
from keys.tests.making import make_key

KEY = re.compile(r"bwk_[A-Za-z0-9_-]{32,}")


def run(*arguments):
    """Run the command; returns what it said on stdout and on stderr."""
    out, err = StringIO(), StringIO()
    call_command("create_key", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(*arguments):
    with pytest.raises(CommandError) as refusal:
        run(*arguments)
    assert GatewayKey.objects.count() == 0
    return str(refusal.value)


@pytest.mark.django_db
def test_it_prints_the_key_alone_and_keeps_its_hash():
    for name in ("core", "review"):
        Collection.objects.create(name=name)
    out, err = run(
        "My app", "--collections", "core, bench/review", "--rpm", "60", "--expires", "2199-01-31", "--no-bench-field"
    )
    key = out.removesuffix("\n")
    assert KEY.fullmatch(key)
    assert 'Gateway key "My app" may ask bench/core, bench/review, 60 times a minute.' in err
    assert "expires on 2199-01-31 at 00:00 UTC" in err
    assert key not in err
    row = GatewayKey.objects.get()
    assert (row.name, row.digest, row.last_four, row.rpm, row.bench_field) == ("My app", digest_of(key), key[-4:], 60, False)
    assert (row.expires_at, row.limited) == (datetime(2199, 1, 31, tzinfo=UTC), True)
    assert [collection.name for collection in row.collections.all()] == ["core", "review"]
    assert key not in str(GatewayKey.objects.values()) + str(Change.objects.values())


@pytest.mark.django_db
def test_a_key_with_nothing_said_asks_everything_for_ever():
    _, err = run("app")
    assert 'Gateway key "app" may ask every collection, as often as it likes.' in err
    assert "expire" not in err
    row = GatewayKey.objects.get()
    assert (row.rpm, row.expires_at, row.limited, row.bench_field, row.collections.count()) == (None, None, False, True, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("required", [True, False])
def test_it_says_when_no_key_is_asked_for_yet(settings, required):
    settings.BENCHWARMERS_REQUIRE_KEYS = required
    assert ("asks for no key yet" in run("app")[1]) is not required


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2199-06-30T18:00", datetime(2199, 6, 30, 18, tzinfo=UTC)),
        ("2199-06-30 18:00:30Z", datetime(2199, 6, 30, 18, 0, 30, tzinfo=UTC)),
        ("2199-06-30T18:00+02:00", datetime(2199, 6, 30, 16, tzinfo=UTC)),
    ],
)
def test_a_moment_is_in_utc_unless_it_says_otherwise(typed, meant):
    run("app", "--expires", typed)
    assert GatewayKey.objects.get().expires_at == meant


@pytest.mark.django_db
def test_a_moment_that_is_past_is_taken_and_said():
    assert "has expired already: on 2020-01-01 at 00:00 UTC" in run("app", "--expires", "2020-01-01")[1]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["app", "--collections", "core,nope"], "there is no collection 'nope'; there are: core"),
        (["app", "--collections", ""], "there is no collection ''"),
        (["app", "--collections", "core,"], "there is no collection ''"),
        (["app", "--rpm", "0"], "rpm: Ensure this value is greater than or equal to 1."),
        (["app", "--rpm", "-5"], "rpm: "),
        (["app", "--rpm", "9" * 30], "rpm: Ensure this value is less than or equal to 100000."),
        (["app", "--expires", "soon"], "--expires: a date such as 2027-06-30"),
        (["app", "--expires", "2027-02-30"], "there is no such moment"),
        (["app", "--expires", "9999-12-31T23:59-12:00"], "there is no such moment"),
        (["app", "--expires", ""], "--expires: a date"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_made(arguments, words):
    Collection.objects.create(name="core")
    assert words in refused(*arguments)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "local",
        "LOCAL",
        "Local",
        " local",
        "local ",
        "two  spaces",
        "<script>alert(1)</script>",
        'app"onmouseover="alert(1)',
        "app\nGET /v1/models 200 other",
        "app\r",
        "nul\x00",
        "\x1b[31mred",
        "gro\u202etini",
        "\u05d0\u05d1",
        "ap\u0440",
        "app\u200b",
        "half \ud800",
        "a/b",
        "{{ 7*7 }}",
        "x" * 65,
        "x" * 1_000_000,
    ],
)
def test_hostile_names_are_refused_without_repeating_them(name):
    words = refused(name)
    assert words.startswith("no key was made: name: ")
    assert len(words) < 500
    assert "\x1b" not in words


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["a", "App 2.1", "anna@work_laptop", "x" * 64, "9lives", "locals"])
def test_names_that_people_type_are_taken(name):
    assert create_key(name).row.name == name


@pytest.mark.django_db
@pytest.mark.parametrize("again", ["App", "app", "APP"])
def test_a_name_is_one_key_whatever_its_case(again):
    make_key("App")
    with pytest.raises(ValidationError, match="A key of this name exists"):
        create_key(again)
    # And when something writes past the form.
    with pytest.raises(IntegrityError), transaction.atomic():
        GatewayKey.objects.create(name=again, digest="d")
    with pytest.raises(IntegrityError), transaction.atomic():
        GatewayKey.objects.create(name="loCal", digest="e")


@pytest.mark.django_db(transaction=True)
def test_of_twenty_who_make_one_name_at_once_one_does():
    start = Barrier(20)

    def make(_):
        start.wait(10)
        try:
            return create_key("app")
        except ValidationError as refused:
            return refused.messages
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        ended = list(pool.map(make, range(20)))
    assert sum(isinstance(one, NewKey) for one in ended) == 1
    assert ended.count(["A key of this name exists."]) == 19
    assert GatewayKey.objects.count() == 1


def test_keys_are_random_and_fit_for_a_shell_and_a_url():
    drawn = {draw_key() for _ in range(1000)}
    assert len(drawn) == 1000
    assert all(KEY.fullmatch(key) and len(key) == 47 for key in drawn)
    assert len({key[4:12] for key in drawn}) == 1000


@pytest.mark.django_db
def test_a_new_key_shows_its_text_to_nobody_who_prints_it():
    made = create_key("app")
    assert made.text not in repr(made)
    assert made.text not in str(vars(made.row))


@pytest.mark.django_db
def test_changes_are_logged_by_name_without_the_hash():
    Collection.objects.create(name="core")
    key, _ = run("app", "--collections", "core", "--rpm", "5")
    row = GatewayKey.objects.get()
    revoke([row])
    set_collections(row, [])
    made, scoped, revoked, widened = Change.objects.filter(content_type__model="gatewaykey").order_by("id")
    assert {change.made_by for change in (made, scoped)} == {"create_key"}
    assert [name for name, _, _ in made.differences] == ["bench_field", "last_four", "name", "rpm"]
    assert scoped.differences == [("collections", "", "bench/core")]
    assert [name for name, _, _ in revoked.differences] == ["revoked_at"]
    assert widened.differences == [("collections", "bench/core", "")]
    everything = str(list(Change.objects.values()))
    assert row.digest not in everything
    assert key.strip() not in everything


@pytest.mark.django_db
def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("create_key", "--help")
    assert ended.value.code == 0
    assert (
        "python manage.py create_key editor --collections core,review --rpm 60 --expires 2027-06-30" in capsys.readouterr().out
    )
