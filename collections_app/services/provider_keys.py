"""Providers' keys that are typed in: stored for one host, cleared, dropped when the host changes, kept under another secret.

The change log hears that a key was stored or is gone, never which.
"""

from uuid import uuid4

from auditlog.models import LogEntry
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from collections_app.models import Endpoint, RosterVersion
from collections_app.models.base_url import origin_of
from collections_app.sealing import UnsealError, reseal, seal
from collections_app.secret_file import draw_secret, secrets_in, secrets_made_in, write_secrets

NO_KEY = "A key is ASCII letters, digits and signs, without spaces."
COLUMNS = ("typed_key_id", "typed_key_host", "typed_key_sealed", "typed_key_at")


def is_key(text: str) -> bool:
    """Whether a text can be a provider's key; NO_KEY says what one is."""
    return text.isascii() and text.isprintable() and " " not in text


def store_key(endpoint: Endpoint, key: str) -> None:
    """Keep `key` for this endpoint's host, in place of any other. Raises SecretFileError; then nothing has changed."""
    with transaction.atomic():
        _wait_for_a_change_of_secret()
        before, host = endpoint.typed_key_told, origin_of(endpoint.base_url)
        endpoint.typed_key_sealed = seal(key, host=host, secrets=secrets_made_in(settings.BENCH_DATA_DIR))
        endpoint.typed_key_id, endpoint.typed_key_host, endpoint.typed_key_at = uuid4(), host, timezone.now()
        endpoint.save(update_fields=COLUMNS)
        _log(endpoint, before, endpoint.typed_key_told)


def clear_key(endpoint: Endpoint) -> None:
    """Forget the key typed in for this endpoint, if there is one."""
    before = endpoint.typed_key_told
    if not before:
        return
    with transaction.atomic():
        endpoint.typed_key_id = endpoint.typed_key_at = None
        endpoint.typed_key_host = endpoint.typed_key_sealed = ""
        endpoint.save(update_fields=COLUMNS)
        _log(endpoint, before, "")


def drop_key_of_another_host(endpoint: Endpoint) -> str:
    """Forget a key that was typed for another host than the endpoint now has; returns which host that was, else nothing."""
    host = endpoint.typed_key_host
    if not host or host == origin_of(endpoint.base_url):
        return ""
    clear_key(endpoint)
    return host


def rotate_secret() -> int:
    """Keep every key under a new secret; returns how many there are. All or nothing, whenever it is cut short.

    Raises SecretFileError, and UnsealError naming the endpoints whose keys the present secret does not open.
    """
    folder = settings.BENCH_DATA_DIR
    with transaction.atomic(durable=True):
        _wait_for_a_change_of_secret()
        endpoints = list(Endpoint.objects.exclude(typed_key_sealed="").order_by("name"))
        secrets = [draw_secret(), *(secrets_in(folder) if endpoints else ())]
        sealed = _resealed(endpoints, secrets)
        # Both, until no row needs the old one: from here a crash leaves rows that one of the two opens.
        write_secrets(folder, secrets)
        for endpoint in endpoints:
            # Not save(): the key is the same, and neither the roster nor the log has news.
            Endpoint.objects.filter(pk=endpoint.pk).update(typed_key_sealed=sealed[endpoint.pk])
    with transaction.atomic(durable=True):
        _wait_for_a_change_of_secret()
        # Unless another change has begun since, which still needs this one's secret.
        if secrets_in(folder) == secrets:
            write_secrets(folder, secrets[:1])
    return len(endpoints)


def _resealed(endpoints: list[Endpoint], secrets: list[str]) -> dict[int, str]:
    sealed, unreadable = {}, []
    for endpoint in endpoints:
        try:
            sealed[endpoint.pk] = reseal(endpoint.typed_key_sealed, secrets=secrets)
        except UnsealError:
            unreadable.append(endpoint.name)
    if unreadable:
        raise UnsealError(f"the present secret does not open the keys of {', '.join(unreadable)}")
    return sealed


def _wait_for_a_change_of_secret() -> None:
    """Let whoever changes the secret, or stores a key, finish first: a key must not be kept under a secret on its way out."""
    # SQLite's transactions that write wait for each other anyway; other databases do for this row.
    RosterVersion.objects.select_for_update().first()


def _log(endpoint: Endpoint, before: str, after: str) -> None:
    LogEntry.objects.log_create(endpoint, action=LogEntry.Action.UPDATE, changes={"key": [before, after]})
