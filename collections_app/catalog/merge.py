"""From what catalogs list to facts about what this bench asks for: by field and source, each with since when.

Reads rows that were taken in, asks nobody; whom of several to believe is Known's to say. A fact goes when its source lists
it no more, which only a good reading can tell; what was learned from calls is not touched.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from collections_app.catalog.refreshing.served import OPENROUTER, Key, Served, by_key, serve, serves_here
from collections_app.catalog.same import same
from collections_app.models import CatalogEntry, Endpoint, Fact, LanguageModel
from collections_app.models.catalog import FIELDS, LEARNED
from collections_app.models.health import WHOLE_ACCOUNT, is_pattern
from collections_app.roster import renew_roster

AT_ONCE = 500
# What holds for a model wherever it is served.
OF_THE_MODEL = ("vision", "tools")

# (endpoint, served id, field, source)
FactKey = tuple[int, str, str, str]


@dataclass(frozen=True, slots=True)
class FactChange:
    """A source says something else of what an endpoint serves; None where it said or says nothing."""

    endpoint: str
    served_id: str
    field: str
    source: str
    before: Any
    after: Any
    names: str = ""


def merge_facts(models: Iterable[LanguageModel]) -> list[FactChange]:
    """Write what catalogs know of `models`, read with their endpoints, and of their accounts; returns what changed."""
    served = serve(models)
    asked = {(each.endpoint.pk, each.served_id) for each in served}
    facts = _held(Q(endpoint__in={each.endpoint for each in served}))
    return _write(served, [fact for fact in facts if (fact.endpoint_id, fact.served_id) in asked or _of_account(fact)])


def merge_all() -> list[FactChange]:
    """Write what catalogs know of all models of this bench and of their accounts; returns what changed. Others' facts go."""
    return _write(serves_here(), _held(Q()))


def _held(which: Q) -> Iterable[Fact]:
    return Fact.objects.filter(which).exclude(source=LEARNED)


def _of_account(fact: Fact) -> bool:
    return is_pattern(fact.served_id)


def _write(served: Sequence[Served], held: Iterable[Fact]) -> list[FactChange]:
    """Make what catalogs know the facts of `served`, where `held` are those that there are."""
    wanted = dict(_facts(served))
    known = {(fact.endpoint_id, fact.served_id, fact.field, fact.source): fact for fact in held}
    told = {key: value for key, value in wanted.items() if key not in known or (known[key].value, known[key].note) != value}
    gone = {key: fact for key, fact in known.items() if key not in wanted}
    if not told and not gone:
        return []
    with transaction.atomic():
        _upsert(told, known)
        Fact.objects.filter(pk__in=[fact.pk for fact in gone.values()]).delete()
        renew_roster()
    return list(_changes(served, told, gone, known))


def _facts(served: Sequence[Served]) -> Iterator[tuple[FactKey, tuple[Any, str]]]:
    """Yield every fact as (value, note)."""
    yield from _of_same_models(served)
    index = by_key(served)
    for entry in _entries(index):
        for each in index.get((entry.source, entry.provider, entry.served_id), ()):
            for name, value in _known_by(entry):
                yield (each.endpoint.pk, each.served_id, name, _source(entry.source)), (value, "")
    yield from _of_accounts({each.endpoint: each.provider for each in served})


def _of_same_models(served: Sequence[Served]) -> Iterator[tuple[FactKey, tuple[Any, str]]]:
    """What OpenRouter says of a model that is served elsewhere: whether it takes images and tools, where its rows agree."""
    elsewhere = {same(each.served_id) for each in served if each.provider != OPENROUTER}
    rows: dict[str, list[CatalogEntry]] = {}
    for entry in _in_parts("same", elsewhere, Q(source="openrouter", gone_at=None, kind=CatalogEntry.Kind.CHAT)):
        rows.setdefault(entry.same, []).append(entry)
    for each in served:
        entries = rows.get(same(each.served_id), []) if each.provider != OPENROUTER else []
        for name in OF_THE_MODEL:
            said = {value for entry in entries if (value := getattr(entry, name)) is not None}
            if len(said) == 1:
                note = f"of the same model there, {entries[0].served_id}"[:200]
                yield (each.endpoint.pk, each.served_id, name, "openrouter"), (said.pop(), note)


def _of_accounts(providers: Mapping[Endpoint, str]) -> Iterator[tuple[FactKey, tuple[Any, str]]]:
    """Limits that a provider counts for an account, by pattern."""
    known = set(providers.values()) - {""}
    for entry in CatalogEntry.objects.filter(provider__in=known, served_id__startswith=WHOLE_ACCOUNT, gone_at=None):
        for endpoint in (endpoint for endpoint, provider in providers.items() if provider == entry.provider):
            for name, value in _known_by(entry):
                yield (endpoint.pk, entry.served_id, name, _source(entry.source)), (value, entry.name)


def _entries(keys: Mapping[Key, Any]) -> Iterator[CatalogEntry]:
    providers, served_ids = {key[1] for key in keys}, {key[2] for key in keys}
    yield from _in_parts("served_id", served_ids, Q(provider__in=providers, gone_at=None))


def _in_parts(column: str, values: Iterable[str], also: Q) -> Iterator[CatalogEntry]:
    """The rows whose `column` is one of `values`, in queries of a size that every database takes."""
    ordered = sorted(values)
    for start in range(0, len(ordered), AT_ONCE):
        yield from CatalogEntry.objects.filter(also, **{f"{column}__in": ordered[start : start + AT_ONCE]}).order_by("pk")


def _known_by(entry: CatalogEntry) -> Iterator[tuple[str, Any]]:
    for name in FIELDS:
        value = getattr(entry, name)
        if value is not None and value != "":
            yield name, value


def _source(name: str) -> str:
    """A fact's word for a source: every endpoint's own listing is the endpoint's."""
    return name.partition(":")[0]


def _upsert(told: Mapping[FactKey, tuple[Any, str]], known: Mapping[FactKey, Fact]) -> None:
    now = timezone.now()
    facts = [
        Fact(
            endpoint_id=endpoint,
            served_id=served_id,
            field=name,
            source=source,
            value=value,
            note=note,
            known_since=known[key].known_since if key in known and known[key].value == value else now,
        )
        for key, (value, note) in told.items()
        for endpoint, served_id, name, source in [key]
    ]
    Fact.objects.bulk_create(
        facts,
        batch_size=AT_ONCE,
        update_conflicts=True,
        unique_fields=["endpoint", "served_id", "field", "source"],
        update_fields=["value", "note", "known_since"],
    )


def _changes(
    served: Iterable[Served],
    told: Mapping[FactKey, tuple[Any, str]],
    gone: Mapping[FactKey, Fact],
    known: Mapping[FactKey, Fact],
) -> Iterator[FactChange]:
    names = {(each.endpoint.pk, each.served_id): (each.endpoint.name, each.names) for each in served}
    for key in sorted({*told, *gone}):
        endpoint, served_id, name, source = key
        where, aliases = names.get((endpoint, served_id), ("", ""))
        before = known[key].value if key in known else None
        after = told[key][0] if key in told else None
        if where and before != after:
            yield FactChange(where, served_id, name, source, before, after, aliases)
