"""Gateway keys by their hashes: whoever holds one goes on using it."""

from collections_app.models import Collection
from evidence.moving_in.reading.values import OldKey
from evidence.moving_in.report import FileReport
from evidence.moving_in.writing.settle import listed, problem_with
from keys.models import GatewayKey
from keys.services import set_collections


def settle_key(old: OldKey, report: FileReport) -> None:
    present = GatewayKey.objects.filter(name__iexact=old.name).first()
    if present is not None:
        _compare(old, present, report)
        return
    if GatewayKey.objects.filter(digest=old.digest).exists():
        report.keep(old.name, "the same key has another name here")
        return
    row = GatewayKey(name=old.name, digest=old.digest, last_four=old.last_four, rpm=old.rpm, last_used_at=old.last_used_at)
    if why := problem_with(row):
        report.leave_out(old.name, why)
        return
    row.save()
    if old.created_at:
        # Set by the database's clock when the row is made; it is older than this row.
        GatewayKey.objects.filter(pk=row.pk).update(created_at=old.created_at)
    _limit(row, old, report)
    report.new += 1
    for what in old.told:
        report.tell(old.name, what)


def _limit(row: GatewayKey, old: OldKey, report: FileReport) -> None:
    """Let it ask what it might ask there and is here; a key that was limited stays so, if nothing of that came over."""
    if old.collections is None:
        return
    here = list(Collection.objects.filter(name__in=old.collections))
    set_collections(row, here)
    if not here:
        row.limited = True
        row.save(update_fields=["limited"])
    if missing := len(old.collections) - len(here):
        report.tell(old.name, f"{missing} of the collections that it may ask {'is' if missing == 1 else 'are'} not here")


def _compare(old: OldKey, present: GatewayKey, report: FileReport) -> None:
    if present.digest != old.digest:
        report.keep(old.name, "another key has this name here: make its holder a new one")
        return
    names = set(present.collections.values_list("name", flat=True))
    differing = []
    if present.rpm != old.rpm:
        differing.append("requests a minute")
    if present.limited != (old.collections is not None) or not names <= set(old.collections or ()):
        differing.append("collections")
    if present.revoked_at:
        differing.append("revocation")
    if differing:
        report.keep(old.name, f"its {listed(differing)} here")
    else:
        report.unchanged += 1
