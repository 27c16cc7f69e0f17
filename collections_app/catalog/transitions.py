"""What a reading changes for this bench: a free model that costs money now, an id or a provider that is gone.

Raises and resolves alerts; whether a model is called any more is for services to say, by what its endpoint answers. What a
stranger's list tells must be told twice, and never alarms where the endpoint's own listing says otherwise.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from collections_app.catalog.entry import Entry
from collections_app.catalog.refreshing.rows import Difference
from collections_app.catalog.refreshing.served import Key, Served, by_key, own_source, serves_here
from collections_app.models import Alert, CatalogEntry, CatalogSource, Fact
from collections_app.services.alerts import raise_alert, resolve_alert

# What may be suspected: it was free and costs; its free variant has ended; it is gone; it was free and its price is missing.
PAID, ENDED, GONE, UNPRICED = "paid", "ended", "gone", "unpriced"
FREE_VARIANT = ":free"
# USD per million tokens: below it, a price is what a conversion left of 0. The cheapest real ones are at 0.002.
NOISE = 0.001

Rows = Mapping[tuple[str, str], CatalogEntry]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What one reading told of an id that this bench asks for."""

    what: str
    provider: str
    served_id: str

    @property
    def bare_id(self) -> str:
        return self.served_id.removesuffix(FREE_VARIANT)


def take_in(source: str, difference: Difference, suspected: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Alarm about what this reading tells again of `suspected`, and return what it tells for the first time, for the next.

    Called once the reading's rows are written, in their transaction.
    """
    earlier = [Suspicion(**told) for told in suspected]
    if not difference and not earlier:
        return []
    index = by_key(serves_here())
    _resolve_what_is_over(source, difference, index)
    new = list(_suspicions(source, difference, index))
    rows = _rows(source, [*earlier, *new])
    sure, kept = _sorted(source, earlier, new, rows)
    for suspicion in sure:
        for served in index.get((source, suspicion.provider, suspicion.served_id), ()):
            if served.called:
                _alarm(source, suspicion, rows, served)
    return [asdict(suspicion) for suspicion in dict.fromkeys(kept)]


def is_free(entry: Entry | CatalogEntry) -> bool:
    """Whether its price is nothing; an unknown price is not."""
    return entry.price_in == 0 and entry.price_out == 0


def is_priced(entry: Entry | CatalogEntry | None) -> bool:
    """Whether it is listed at a price above what rounding leaves of nothing."""
    if entry is None or getattr(entry, "gone_at", None):
        return False
    return max(entry.price_in or 0, entry.price_out or 0) >= NOISE


def _suspicions(source: str, difference: Difference, index: Mapping[Key, Any]) -> Iterator[Suspicion]:
    for before, after in (*difference.changed, *difference.back):
        if (source, after.provider, after.served_id) in index and is_free(before):
            if is_priced(after):
                yield Suspicion(PAID, after.provider, after.served_id)
            elif after.price_in is None or after.price_out is None:
                yield Suspicion(UNPRICED, after.provider, after.served_id)
    # A list of free routes drops what is no longer free, or no longer worth listing: that is no model gone.
    for entry in difference.gone if source != "freellmapi" else ():
        if (source, entry.provider, entry.served_id) in index:
            yield Suspicion(GONE, entry.provider, entry.served_id)


def _sorted(
    source: str, earlier: Iterable[Suspicion], new: Iterable[Suspicion], rows: Rows
) -> tuple[list[Suspicion], list[Suspicion]]:
    """What is sure by now, and what another reading must tell again. What the rows no longer bear out is neither."""
    sure, kept = [], []
    for suspicion in earlier:
        now = _as_it_is_now(suspicion, rows)
        if now and now.what == suspicion.what and now.what != UNPRICED:
            sure.append(now)
        elif now:
            kept.append(now)
    for suspicion in new:
        now = _as_it_is_now(suspicion, rows)
        # What an endpoint itself says of a price needs no second word.
        if now and now.what in (PAID, ENDED) and source.startswith("endpoint:"):
            sure.append(now)
        elif now:
            kept.append(now)
    return sure, kept


def _as_it_is_now(suspicion: Suspicion, rows: Rows) -> Suspicion | None:
    """What the rows now say of a suspected id; None when there is nothing to suspect any more."""
    entry = rows.get((suspicion.provider, suspicion.served_id))
    if entry is None or entry.gone_at:
        what = ENDED if suspicion.bare_id != suspicion.served_id and is_priced(_bare(suspicion, rows)) else GONE
        return Suspicion(what, suspicion.provider, suspicion.served_id)
    if suspicion.what not in (PAID, UNPRICED):
        return None
    if is_priced(entry):
        return Suspicion(PAID, suspicion.provider, suspicion.served_id)
    unknown = entry.price_in is None or entry.price_out is None
    return Suspicion(UNPRICED, suspicion.provider, suspicion.served_id) if unknown else None


def _bare(suspicion: Suspicion, rows: Rows) -> CatalogEntry | None:
    return rows.get((suspicion.provider, suspicion.bare_id))


def _rows(source: str, suspicions: Sequence[Suspicion]) -> Rows:
    ids = {name for suspicion in suspicions for name in (suspicion.served_id, suspicion.bare_id)}
    providers = {suspicion.provider for suspicion in suspicions}
    found = CatalogEntry.objects.filter(source=source, provider__in=providers, served_id__in=ids)
    return {(entry.provider, entry.served_id): entry for entry in found}


def _alarm(source: str, suspicion: Suspicion, rows: Rows, served: Served) -> None:
    own = _own_word(source, served)
    if own and not own.gone_at and (suspicion.what != PAID or is_free(own)):
        return
    who, id_ = Fact.SOURCE_NAMES[source.partition(":")[0]], served.served_id
    match suspicion:
        case Suspicion(what="paid"):
            price = _price(rows[suspicion.provider, suspicion.served_id])
            told = Alert.Kind.WENT_PAID, id_, f"{id_} was free and now costs {price}, says {who}."
            to_do = f"Retire {served.names}, or keep it and pay."
        case Suspicion(what="ended"):
            price = _price(rows[suspicion.provider, suspicion.bare_id])
            told = Alert.Kind.WENT_PAID, id_, f"{id_} is listed no more, and {suspicion.bare_id} costs {price}, says {who}."
            to_do = f"Retire {served.names}, or set its model id to {suspicion.bare_id} and pay."
        case _ if source == "models_dev" and _provider_is_gone(source, suspicion.provider):
            told = Alert.Kind.GONE, "", f"The provider {suspicion.provider} and all of its models are gone, says {who}."
            to_do = f"Look whether {served.endpoint.base_url} still answers; else retire its models."
        case _:
            told = Alert.Kind.GONE, id_, f"{id_} is listed no more, says {who}."
            to_do = f"Try {served.names}: if it no longer answers, retire it{_or_successor(rows, suspicion)}."
    kind, about, message = told
    raise_alert(kind, served.endpoint, about, message=message, to_do=to_do)


def _own_word(source: str, served: Served) -> CatalogEntry | None:
    """What the endpoint's own listing has of it, where that is not the source itself and its last reading was good."""
    own = own_source(served.endpoint)
    if own == source or not CatalogSource.objects.filter(name=own, error="").exclude(good_at=None).exists():
        return None
    return CatalogEntry.objects.filter(source=own, provider=served.endpoint.name, served_id=next(iter(served.keys))[2]).first()


def _provider_is_gone(source: str, provider: str) -> bool:
    return not CatalogEntry.objects.filter(source=source, provider=provider, gone_at=None).exists()


def _price(entry: CatalogEntry) -> str:
    shown = [f"${price:g} {way}" for price, way in ((entry.price_in, "in"), (entry.price_out, "out")) if price is not None]
    return f"{' and '.join(shown)} per million tokens"


def _or_successor(rows: Rows, suspicion: Suspicion) -> str:
    entry = rows.get((suspicion.provider, suspicion.served_id))
    return f", or set its model id to its successor, {entry.successor}" if entry and entry.successor else ""


def _resolve_what_is_over(source: str, difference: Difference, index: Mapping[Key, Sequence[Served]]) -> None:
    for before, after in (*difference.changed, *difference.back):
        # Whatever came between a price and none: a reading that told no price, or not of the model.
        if is_free(after) and not is_free(before):
            for served in index.get((source, after.provider, after.served_id), ()):
                resolve_alert(Alert.Kind.WENT_PAID, served.endpoint, served.served_id)
    for _, after in difference.back:
        for served in index.get((source, after.provider, after.served_id), ()):
            _resolve_gone(source, served, after)


def _resolve_gone(source: str, served: Served, listed: Entry) -> None:
    own = _own_word(source, served)
    if own and own.gone_at:
        return
    # What the bench itself has retired is gone until a person restores it, whoever lists it.
    if served.called:
        resolve_alert(Alert.Kind.GONE, served.endpoint, served.served_id)
    resolve_alert(Alert.Kind.GONE, served.endpoint, "")
    if listed.served_id.endswith(FREE_VARIANT):
        resolve_alert(Alert.Kind.WENT_PAID, served.endpoint, served.served_id)
