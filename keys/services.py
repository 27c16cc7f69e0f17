"""Who is asking. As installed every caller is `local`; where keys are asked for, each is judged here, and made and revoked.

Knows headers and names, no panel and no format; how often a key may ask is throttling.py's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from auditlog.models import LogEntry
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from collections_app.models import Collection
from keys.errors import KeyExpired, KeyMalformed, KeyMissing, KeyRevoked, KeyUnknown
from keys.key_text import digest_of, draw_key, is_well_formed
from keys.models import GatewayKey

# How old "last used" may be: one write a minute and key, not one a request.
USE_IS_NOTED_EVERY = timedelta(minutes=1)
_JUDGED_BY = ("pk", "name", "limited", "collections__name", "rpm", "bench_field", "last_used_at", "expires_at", "revoked_at")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request, by the name that the call log keeps.

    `collections` are names without `bench/`, None for every one; `rpm` is None where nothing limits it.
    """

    name: str
    key_id: int | None = None
    collections: frozenset[str] | None = None
    rpm: int | None = None
    bench_field: bool = True

    def may_ask(self, collection_name: str) -> bool:
        """Whether it may ask a collection, named without `bench/`, or learn that there is one."""
        return self.collections is None or collection_name in self.collections


LOCAL = Caller("local")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made: its row, and its text, which exists nowhere else."""

    row: GatewayKey
    text: str = field(repr=False)


def sent_key(headers: Mapping[str, str], query_key: str | None = None) -> str | None:
    """Return the key that a request carries, whatever it is worth: the first that was sent. Headers by lower-case name.

    `query_key` is the ?key= of routes that take one, and None on all others.
    """
    scheme, _, bearer = headers.get("authorization", "").strip().partition(" ")
    sent = (
        bearer if scheme.lower() == "bearer" else "",
        headers.get("x-api-key", ""),
        headers.get("x-goog-api-key", ""),
        query_key or "",
    )
    return next((key for key in map(str.strip, sent) if key), None)


def keys_are_required() -> bool:
    """Whether callers have to send a key; without, whatever they send is ignored."""
    return bool(settings.BENCHWARMERS_REQUIRE_KEYS or settings.BENCHWARMERS_ADMIN_TOKEN)


def admit(sent: str | None) -> Caller:
    """Return whose key was sent, `local` where none is asked for. Raises a KeyRefused that says why not.

    One query, and once a minute a write.
    """
    if not keys_are_required():
        return LOCAL
    if not sent:
        raise KeyMissing
    if not is_well_formed(sent):
        raise KeyMalformed
    # Looked up by a hash that the caller cannot choose: how long it takes tells nothing about any key that there is.
    rows = GatewayKey.objects.filter(digest=digest_of(sent)).values(*_JUDGED_BY)
    if not rows:
        raise KeyUnknown
    now = timezone.now()
    _refuse_ended(rows[0], now)
    note_use(rows[0]["pk"], rows[0]["last_used_at"], now)
    return _caller(list(rows))


def _refuse_ended(key: Mapping[str, Any], now: datetime) -> None:
    if key["revoked_at"]:
        raise KeyRevoked(key["name"], key["revoked_at"])
    if key["expires_at"] and now >= key["expires_at"]:
        raise KeyExpired(key["name"], key["expires_at"])


def _caller(rows: list[dict[str, Any]]) -> Caller:
    """One row for each collection of a key, or a single one without."""
    key = rows[0]
    names = frozenset(row["collections__name"] for row in rows if row["collections__name"])
    return Caller(
        name=key["name"],
        key_id=key["pk"],
        collections=names if names or key["limited"] else None,
        rpm=key["rpm"],
        bench_field=key["bench_field"],
    )


def note_use(key_id: int, last_used_at: datetime | None, now: datetime) -> bool:
    """Note when a key was last used, at most once a minute; returns whether this call did."""
    if last_used_at and now - last_used_at < USE_IS_NOTED_EVERY:
        return False
    not_yet = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_IS_NOTED_EVERY)
    # Of many requests at once, one finds it not noted yet.
    return GatewayKey.objects.filter(not_yet, pk=key_id).update(last_used_at=now) == 1


def create_key(name: str, *, collections: Iterable[Collection] = (), **fields: Any) -> NewKey:
    """Make a key for all collections, or for some. `fields`: rpm, expires_at, bench_field.

    Raises Django's ValidationError, which names what is wrong.
    """
    key = GatewayKey(name=name, **fields)
    text = give_text(key)
    try:
        with transaction.atomic():
            key.full_clean()
            key.save()
            set_collections(key, collections)
    except IntegrityError as error:
        # Another of that name came in between, where the database lets two transactions write at once.
        raise ValidationError({"name": "A key of this name exists."}) from error
    return NewKey(key, text)


def give_text(key: GatewayKey) -> str:
    """Draw a key's text, which is returned and not kept; the row, to be saved, has its hash and its last four characters."""
    text = draw_key()
    key.digest, key.last_four = digest_of(text), text[-4:]
    return text


def set_collections(key: GatewayKey, collections: Iterable[Collection]) -> None:
    """Let a key ask these collections and no others; none: every one, and those still to come. Logged by name."""
    wanted = sorted(set(collections), key=lambda collection: collection.name)
    with transaction.atomic():
        before = _named(key.collections.all())
        key.collections.set(wanted)
        if key.limited != bool(wanted):
            key.limited = bool(wanted)
            key.save(update_fields=["limited"])
        if before != _named(wanted):
            changes = {"collections": [before, _named(wanted)]}
            LogEntry.objects.log_create(key, action=LogEntry.Action.UPDATE, changes=changes)


def revoke(keys: Iterable[GatewayKey]) -> int:
    """Refuse these keys from now on; returns how many were not refused before."""
    return _set_revoked([key for key in keys if not key.revoked_at], timezone.now())


def restore(keys: Iterable[GatewayKey]) -> int:
    """Take back that these keys were revoked; returns how many were."""
    return _set_revoked([key for key in keys if key.revoked_at], None)


def _set_revoked(keys: list[GatewayKey], when: datetime | None) -> int:
    with transaction.atomic():
        for key in keys:
            # One by one: the change log sees saves, not updates of a query.
            key.revoked_at = when
            key.save(update_fields=["revoked_at"])
    return len(keys)


def _named(collections: Iterable[Collection]) -> str:
    return ", ".join(collection.asked_as for collection in collections)
