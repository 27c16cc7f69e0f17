"""A refresh: every source asked by itself, what it lists taken in or told why not, then what follows for this bench.

One source that fails stops no other, and loses nothing that was known. Nothing is asked with a transaction open.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from django.db import transaction
from django.utils import timezone

from collections_app.catalog.entry import Listing, SourceError
from collections_app.catalog.merge import FactChange, merge_all
from collections_app.catalog.refreshing.alerting import raise_and_resolve
from collections_app.catalog.refreshing.asking import Reading
from collections_app.catalog.refreshing.own_listing import NoKeyError, OwnListing, lists
from collections_app.catalog.refreshing.places import PLACES
from collections_app.catalog.refreshing.rows import Difference, write_entries
from collections_app.catalog.refreshing.served import own_source, serves_here
from collections_app.catalog.transitions import take_in
from collections_app.models import Alert, CatalogEntry, CatalogSource, Endpoint
from collections_app.models.health import is_pattern

logger = logging.getLogger(__name__)

LONGEST_ERROR = 500
MOST_REPORTED = 100
# Called before each source with its name, how many are done, and of how many; once more at the end, with no name.
Progress = Callable[[str, int, int], None]


class UnknownSourceError(Exception):
    """There is no such source: in words for a person, naming those that there are."""


class Source(Protocol):
    """A place to be asked. `local` says that it is a server of one's own."""

    @property
    def name(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def local(self) -> bool: ...
    def ask(self, held: CatalogSource) -> Reading: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one source went. Counts are of models; `error` says why nothing was taken, `skipped` why it was not asked."""

    source: str
    seconds: float = 0.0
    entries: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    left_out: Sequence[str] = ()
    error: str = ""
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """What a refresh found: each source's outcome, what sources now say otherwise of models of this bench, and new alerts."""

    outcomes: Sequence[Outcome] = ()
    changes: Sequence[FactChange] = ()
    alerts: Sequence[Alert] = ()

    @property
    def failed(self) -> bool:
        """Whether nothing that was asked could be taken."""
        asked = [outcome for outcome in self.outcomes if not outcome.skipped]
        return bool(asked) and all(outcome.error for outcome in asked)


def refresh(names: Iterable[str] = (), *, progress: Progress | None = None, accept_shrunken: bool = False) -> Summary:
    """Ask the sources of these names, or all. An endpoint's name means its own listing. Raises UnknownSourceError.

    `accept_shrunken` takes a listing that has less than half of the models it had.
    """
    started = timezone.now()
    sources = _chosen(list(names))
    _forget_removed()
    outcomes = []
    for done, source in enumerate(sources):
        if progress:
            progress(source.name, done, len(sources))
        outcomes.append(_refreshed(source, accept_shrunken=accept_shrunken))
    changes = merge_all()
    raise_and_resolve()
    if progress:
        progress("", len(sources), len(sources))
    return Summary(outcomes, changes, tuple(Alert.objects.filter(opened_at__gte=started).order_by("pk")))


def _sources() -> list[Source]:
    """Every source there is to ask: the public catalogs, then the endpoints' own listings."""
    here: dict[int, set[str]] = {}
    for served in serves_here():
        here.setdefault(served.endpoint.pk, set()).add(served.served_id)
    endpoints = [endpoint for endpoint in Endpoint.objects.all() if lists(endpoint)]
    return [*PLACES, *(OwnListing(endpoint, frozenset(here.get(endpoint.pk, ()))) for endpoint in endpoints)]


def _chosen(names: Sequence[str]) -> list[Source]:
    sources = {source.name: source for source in _sources()}
    wanted = [name if name in sources else f"endpoint:{name}" for name in names]
    if unknown := [name for name, full in zip(names, wanted, strict=True) if full not in sources]:
        raise UnknownSourceError(f"there is no source {', '.join(unknown)}. There are: {', '.join(sources)}")
    return [sources[name] for name in dict.fromkeys(wanted)] if names else list(sources.values())


def _refreshed(source: Source, *, accept_shrunken: bool) -> Outcome:
    held = CatalogSource.objects.filter(name=source.name).first() or CatalogSource(name=source.name)
    started = monotonic()
    try:
        reading = source.ask(held)
        _refuse_shrunken(source, held, reading.listing, accept_shrunken=accept_shrunken)
        return _taken(source, held, reading, started)
    except NoKeyError as error:
        return Outcome(source.name, error=str(error), skipped=True)
    except SourceError as error:
        return _failed(source, held, str(error), started)
    except Exception:
        # A source's last boundary: what strangers' bytes break in here must not keep the others from being read.
        logger.exception("Refreshing %s failed inside the bench", source.name)
        return _failed(source, held, "reading it failed inside the bench; its log says why", started)


def _refuse_shrunken(source: Source, held: CatalogSource, listing: Listing | None, *, accept_shrunken: bool) -> None:
    """Raise SourceError for half a listing, which is more often a fault of its source than news."""
    if listing is None or source.local or accept_shrunken or held.url != source.url:
        return
    models = _models_in(listing)
    if 2 * models < held.entries:
        raise SourceError(
            f"it lists {models:,} models where it listed {held.entries:,}: what was known is kept. If that is right, take it "
            f"with refresh_catalog {source.name} --accept-shrunken"
        )


def _models_in(listing: Listing) -> int:
    return sum(not is_pattern(entry.served_id) for entry in listing.entries)


def _taken(source: Source, held: CatalogSource, reading: Reading, started: float) -> Outcome:
    now, listing = timezone.now(), reading.listing
    with transaction.atomic():
        # As it is now: another process may have read the same source meanwhile.
        held = CatalogSource.objects.select_for_update().filter(pk=held.pk).first() or held
        difference = write_entries(source.name, listing.entries, now=now) if listing else Difference()
        held.suspected = take_in(source.name, difference, held.suspected)
        held.checked_at = held.good_at = now
        held.failing_since, held.error, held.url = None, "", source.url
        held.etag, held.last_modified, held.digest = reading.etag, reading.last_modified, reading.digest
        if listing:
            held.version, held.entries = listing.version[:60], _models_in(listing)
            held.report = list(listing.left_out[:MOST_REPORTED])
        if difference:
            held.changed_at = now
        held.seconds = round(monotonic() - started, 3)
        held.save()
    return Outcome(
        source.name,
        held.seconds,
        held.entries,
        new=len(difference.new) + len(difference.back),
        changed=len(difference.changed),
        gone=len(difference.gone),
        left_out=tuple(held.report),
    )


def _failed(source: Source, held: CatalogSource, error: str, started: float) -> Outcome:
    now, seconds = timezone.now(), round(monotonic() - started, 3)
    told = {"checked_at": now, "failing_since": held.failing_since or now, "error": error[:LONGEST_ERROR], "seconds": seconds}
    # Its other columns are about what was taken in last, and stay.
    CatalogSource.objects.update_or_create(told, {**told, "url": source.url}, name=source.name)
    return Outcome(source.name, seconds, held.entries, error=error[:LONGEST_ERROR])


def _forget_removed() -> None:
    """Forget the listings of endpoints that are no more, or are called otherwise now."""
    there = {own_source(endpoint) for endpoint in Endpoint.objects.all()}
    gone = [name for name in CatalogSource.objects.values_list("name", flat=True) if ":" in name and name not in there]
    if gone:
        with transaction.atomic():
            CatalogEntry.objects.filter(source__in=gone).delete()
            CatalogSource.objects.filter(name__in=gone).delete()
