"""Reading the roster: collections as callers ask for them, who sits in them, who may explore.

Chooses nobody and writes nothing.
"""

import difflib
from collections.abc import Collection as Sized
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet

from collections_app.models import Collection, Endpoint, Fact, LanguageModel, Limits
from collections_app.models.base_url import origin_of
from collections_app.models.health import WHOLE_ACCOUNT, Quota, quotas_of
from collections_app.sealing import OtherHostError, UnsealError, unseal
from collections_app.secret_file import SecretFileError, secrets_in

FEW, MANY = 2, 4
ONE_FAMILY = "one family"
MORE_LOOKS = 3
# Beyond so many models, reading every fact of their endpoints costs less than naming each.
NAMED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Advice:
    """What to know about a collection before asking it: in a word for a list, and as a sentence."""

    word: str
    why: str


@dataclass(frozen=True, slots=True)
class Together:
    """What every member of a collection can take."""

    context_window: int | None
    capabilities: tuple[str, ...]


def all_collections() -> list[Collection]:
    """Return every collection by name, its members read along: two queries, however many there are."""
    return list(_collections().prefetch_related("memberships"))


def members_of(collection: Collection) -> list[LanguageModel]:
    """Return a collection's models in their order, with endpoints: one query, none after all_collections."""
    return [membership.language_model for membership in collection.memberships.all()]


def active_models() -> list[LanguageModel]:
    """Return every active model that may explore, with its endpoint. A router is none: it may answer with a seated model."""
    models = LanguageModel.objects.filter(status=LanguageModel.Status.ACTIVE).select_related("endpoint")
    return [model for model in models if model.families]


def know(models: Iterable[LanguageModel]) -> None:
    """Have `models` know what the catalog knows of them: one query, however many they are."""
    rows = list(models)
    facts: dict[tuple[int, str], list[Fact]] = {}
    known = Fact.objects.filter(endpoint__in={model.endpoint_id for model in rows})
    if len(rows) <= NAMED_AT_ONCE:
        known = known.filter(served_id__in={model.served_id for model in rows})
    for fact in known:
        facts.setdefault((fact.endpoint_id, fact.served_id), []).append(fact)
    for model in rows:
        model.known = model.known_with(facts.get((model.endpoint_id, model.served_id), ()))


def quotas_by_model(models: Iterable[LanguageModel]) -> dict[int, tuple[Quota, ...]]:
    """The limits that each of `models` draws on, by primary key, and have them know what is known: two queries."""
    rows = list(models)
    know(rows)
    account = account_facts({model.endpoint_id for model in rows})
    return {model.pk: quotas_of(model, account) for model in rows}


def account_facts(endpoints: Iterable[int]) -> list[Fact]:
    """Facts about limits that models of these endpoints share."""
    return list(Fact.objects.filter(endpoint__in=endpoints, served_id__startswith=WHOLE_ACCOUNT))


def together(members: Iterable[LanguageModel]) -> Together:
    """What `members` can take as one: the smallest window known among them, and what each of them has."""
    seats = list(members)
    windows = [window for model in seats if (window := model.known.get("context_window"))]
    able = [name for name in ("vision", "tools") if seats and all(model.known.get(name) for model in seats)]
    return Together(min(windows, default=None), tuple(able))


def current_limits() -> Limits:
    """Return the bench's limits; the shipped ones when the row was never made."""
    return Limits.objects.first() or Limits()


def primary_model() -> LanguageModel | None:
    """Return the bench's primary model with its endpoint, when one is marked."""
    limits = Limits.objects.select_related("primary__endpoint").first()
    return limits.primary if limits else None


def nearest_aliases(alias: str, most: int = 3) -> list[str]:
    """Return the aliases on the bench that look most like `alias`, nearest first."""
    aliases = LanguageModel.objects.order_by("alias").values_list("alias", flat=True)
    return nearest(alias, list(aliases), most)


def nearest(word: str, known: Sized[str], most: int = 3) -> list[str]:
    """Return the words of `known` that look most like `word`, nearest first."""
    # Longer than any name of ours: difflib's cost grows with both lengths.
    typed = word[:100].lower()
    holding = sorted((name for name in known if len(typed) > 2 and typed in name), key=len)
    alike = difflib.get_close_matches(typed, known, n=most, cutoff=0.6)
    return list(dict.fromkeys([*alike, *holding]))[:most]


def typed_key(key_id: str, base_url: str) -> str:
    """Return the key typed in under this id, for the host of `base_url` alone. Raises UnsealError: why not, and what to do."""
    for _ in range(MORE_LOOKS):
        # While the secret is being changed, what was read of row and file need not fit.
        with suppress(UnsealError):
            return _unsealed(_sealed(key_id), base_url)
    return _unsealed(_sealed(key_id), base_url)


def typed_key_problem(endpoint: Endpoint) -> str:
    """Why the key typed in for this endpoint cannot be sent there; nothing when it can, or when there is none."""
    try:
        if endpoint.typed_key_id:
            _unsealed(endpoint.typed_key_sealed, endpoint.base_url)
    except UnsealError as error:
        return str(error)
    return ""


def seat_arithmetic(members: int, limits: Limits) -> str:
    """The sum for people: 3 members + 2 explorers = 5 seats."""
    explorers = limits.explorers_beside(members)
    return f"{_count(members, 'member')} + {_count(explorers, 'explorer')} = {_count(members + explorers, 'seat')}"


def membership_advice(members: Iterable[LanguageModel]) -> list[Advice]:
    """What to know about a collection of these members; empty when there is nothing. Retired ones do not count."""
    sitting = [model for model in members if model.status != LanguageModel.Status.RETIRED]
    advice = []
    if len(sitting) < FEW:
        advice.append(Advice("few members", f"{FEW} to {MANY} members are recommended: fewer bring no second opinion."))
    if len(sitting) > MANY:
        advice.append(Advice("many members", f"{FEW} to {MANY} members are recommended: more leave explorers no seat."))
    if len(sitting) > 1 and (shared := frozenset.intersection(*(model.families for model in sitting))):
        lines = ", ".join(sorted(shared))
        advice.append(Advice(ONE_FAMILY, f"All members are of one family ({lines}): they tend to fail together."))
    return advice


def _sealed(key_id: str) -> str:
    sealed = Endpoint.objects.filter(typed_key_id=key_id).values_list("typed_key_sealed", flat=True).first()
    if sealed is None:
        raise UnsealError("the key typed in for this endpoint was replaced or cleared a moment ago: ask again")
    return sealed


def _unsealed(sealed: str, base_url: str) -> str:
    told = "the key typed in for this endpoint cannot be read"
    try:
        return unseal(sealed, host=origin_of(base_url), secrets=secrets_in(settings.BENCH_DATA_DIR))
    except OtherHostError as error:
        raise UnsealError(f"the key typed in for this endpoint {error}: type this host's key on the endpoint's page") from None
    except (SecretFileError, UnsealError) as error:
        raise UnsealError(f"{told}: {error}. Put that file back, or type the key again on the endpoint's page") from None


def _collections() -> QuerySet[Collection]:
    return Collection.objects.select_related("shape", "merger__endpoint")


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
