"""Alerts about how things stand after a refresh, whatever changed: what is to retire, which source is stale, what is over.

Reads rows, asks nobody. An announced date makes a model retiring once; what the operator makes of it then stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from auditlog.context import set_extra_data
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from collections_app.catalog.refreshing.served import Served, by_key, serves_here
from collections_app.models import Alert, CatalogEntry, CatalogSource, Endpoint, Fact, LanguageModel
from collections_app.models.catalog import SOURCES
from collections_app.services.alerts import raise_alert, resolve_alert, told_before
from collections_app.services.status import set_status

STALE_AFTER = timedelta(days=3)
MADE_BY = {"additional_data": {"by": "catalog refresh"}}
ABOUT_MODELS = (Alert.Kind.WENT_PAID, Alert.Kind.RETIRING, Alert.Kind.GONE)
RETIRED = LanguageModel.Status.RETIRED

# Of open alerts: kind, endpoint, what it is about.
Open = frozenset[tuple[str, int | None, str]]


def raise_and_resolve() -> None:
    """Raise what holds now and resolve what holds no more. Where nothing changed, nothing is written."""
    served = serves_here()
    open_now: Open = frozenset(Alert.objects.filter(resolved_at=None).values_list("kind", "endpoint", "about"))
    _resolve_unasked(served, open_now)
    _tell_retiring(served, open_now)
    _tell_stale(served, open_now)


def _resolve_unasked(served: Iterable[Served], open_now: Open) -> None:
    """Resolve alerts about models that nobody asks any more: deleted, or retired by a person."""
    asked, called = set(), set()
    for each in served:
        where = each.endpoint.pk, each.served_id
        if each.called:
            called |= {where, (each.endpoint.pk, "")}
        if any(model.status != RETIRED or model.retired_why for model in each.models):
            asked |= {where, (each.endpoint.pk, "")}
    for kind, endpoint, about in open_now:
        # What the bench itself retired is gone, which somebody should see; the rest is settled by it.
        over = (endpoint, about) not in (asked if kind == Alert.Kind.GONE else called)
        if kind in ABOUT_MODELS and endpoint and over:
            Alert.objects.filter(kind=kind, endpoint=endpoint, about=about, resolved_at=None).update(resolved_at=timezone.now())


def _tell_retiring(served: Iterable[Served], open_now: Open) -> None:
    called = [each for each in served if each.called]
    stated = _statements(called)
    for each in called:
        where = each.endpoint.pk, each.served_id
        is_open = (Alert.Kind.RETIRING, *where) in open_now
        listed = [entry for entry in stated.get(where, ()) if not entry.gone_at]
        if listed:
            _tell(each, listed[0], is_open=is_open)
        elif is_open and (not stated.get(where) or (Alert.Kind.GONE, *where) in open_now):
            # While it is gone by one reading alone, what was announced still stands.
            resolve_alert(Alert.Kind.RETIRING, each.endpoint, each.served_id)


def _statements(served: Sequence[Served]) -> Mapping[tuple[int, str], list[CatalogEntry]]:
    """The rows that announce an end of what is served, by (endpoint, served id), the most believed first."""
    index = by_key(served)
    found: dict[tuple[int, str], list[CatalogEntry]] = {}
    for entry in CatalogEntry.objects.filter(Q(deprecated=True) | Q(retires__gt="")):
        for each in index.get((entry.source, entry.provider, entry.served_id), ()):
            found.setdefault((each.endpoint.pk, each.served_id), []).append(entry)
    for entries in found.values():
        entries.sort(key=lambda entry: SOURCES.index(entry.source.partition(":")[0]))
    return found


def _tell(served: Served, entry: CatalogEntry, *, is_open: bool) -> None:
    message = _retirement(served, entry)
    where = Alert.Kind.RETIRING, served.endpoint, served.served_id
    if not is_open and told_before(*where, message=message):
        return
    first = not Alert.objects.filter(kind=where[0], endpoint=where[1], about=where[2]).exists()
    or_successor = f", or set its model id to {entry.successor}" if entry.successor else ""
    to_do = f"Add another model in place of {served.names}, and retire it when it stops answering{or_successor}."
    if raise_alert(*where, message=message, to_do=to_do) and first and entry.retires:
        with transaction.atomic(), set_extra_data(dict(MADE_BY)):
            # As they are now: what a person has retired since they were read stays so.
            now = LanguageModel.objects.select_for_update().filter(pk__in=[model.pk for model in served.models])
            set_status(now.filter(status=LanguageModel.Status.ACTIVE), LanguageModel.Status.RETIRING)


def _retirement(served: Served, entry: CatalogEntry) -> str:
    who = Fact.SOURCE_NAMES[entry.source.partition(":")[0]]
    if not entry.retires:
        return f"{served.served_id} is deprecated, says {who}."
    if f"{entry.retires}-31"[:10] <= timezone.now().date().isoformat():
        return f"{served.served_id} was to be served until {entry.retires}, says {who}: that day has come."
    return f"{served.served_id} will be served until {entry.retires}, says {who}."


def _tell_stale(served: Iterable[Served], open_now: Open) -> None:
    called = {each.endpoint.pk for each in served if each.called}
    endpoints = {f"endpoint:{endpoint.name}": endpoint for endpoint in Endpoint.objects.all()}
    stale: set[str] = set()
    for source in CatalogSource.objects.exclude(failing_since=None):
        endpoint = endpoints.get(source.name)
        # By when it was asked: a bench that was off for a week has not been refused for one.
        failing = source.checked_at - source.failing_since if source.checked_at and source.failing_since else timedelta()
        if failing >= STALE_AFTER and (endpoint is None or endpoint.pk in called):
            stale.add(source.name)
            _tell_silent(source, endpoint, open_now)
    for kind, endpoint_id, about in open_now:
        if kind == Alert.Kind.STALE_SOURCE and about not in stale:
            resolve_alert(kind, next((each for each in endpoints.values() if each.pk == endpoint_id), None), about)


def _tell_silent(source: CatalogSource, endpoint: Endpoint | None, open_now: Open) -> None:
    where = Alert.Kind.STALE_SOURCE, endpoint, source.name
    since = f"{source.good_at:%Y-%m-%d}" if source.good_at else "it was first asked"
    message = f"{source.name} was not read since {since}: {source.error}"
    if (where[0], endpoint and endpoint.pk, source.name) in open_now or not told_before(*where, message=message):
        raise_alert(*where, message=message, to_do=f"See what it says to: python manage.py refresh_catalog {source.name}")
