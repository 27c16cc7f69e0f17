"""What follows from each kind of ending, in one place; how, is in the modules that this one calls."""

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError

from collections_app.models import Alert, CatalogEntry, Doubt, Endpoint, LanguageModel
from collections_app.models.health.quota import day_in, zone_of
from collections_app.plain_text import tidy
from collections_app.roster import Roster
from collections_app.selectors import know
from collections_app.services.alerts import raise_alert, resolve_alert
from collections_app.services.cooling import A_MINUTES, LONGEST, UNSTATED, cool_down, forget_refusals
from collections_app.services.findings.finding import Finding
from collections_app.services.findings.learning import learn_limits, learn_lower
from collections_app.services.quotas import correct
from collections_app.services.quotas.counting import counter_of
from collections_app.services.retirement import doubt, retire

logger = logging.getLogger(__name__)

LONGEST_SAID = 200


def is_news(finding: Finding, roster: Roster) -> bool:
    """Whether anything can follow from a finding, by what the roster knows: no query."""
    if finding.kind:
        return finding.kind in FOLLOWS or bool(finding.limits)
    return bool(finding.limits) or roster.is_watched(finding.endpoint_id, finding.served_id)


def apply_findings(findings: Iterable[Finding]) -> None:
    """Act on what calls told, each in a transaction of its own. Raises OperationalError when the database is away."""
    for finding in findings:
        try:
            # What follows from one endpoint's calls takes turns with what they reserve: each writes rows that the other reads.
            with counter_of(finding.endpoint_id):
                _apply(finding)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            # One finding's boundary: what a provider said in a way that nobody foresaw must not cost what others said.
            logger.exception("What a call of %s told could not be acted on", finding.served_id)


def _apply(finding: Finding) -> None:
    told = [(limit.pattern(finding.served_id, finding.pattern), limit) for limit in finding.limits]
    if told:
        learn_limits(finding.endpoint_id, told, finding.at)
        correct(finding.endpoint_id, told, finding.at)
    follow = FOLLOWS.get(finding.kind)
    if follow:
        follow(finding)


def _answered(finding: Finding) -> None:
    """A good answer: the model is there, the key is good, and the next refusal is the first again."""
    for row in Doubt.objects.filter(endpoint_id=finding.endpoint_id, served_id=finding.served_id):
        row.delete()
    forget_refusals(finding.endpoint_id, finding.served_id, finding.at)
    resolve_alert(Alert.Kind.KEY_REJECTED, Endpoint(pk=finding.endpoint_id), "")


def _rate_limited(finding: Finding) -> None:
    if _never_fits(finding):
        return
    first = A_MINUTES if finding.span == "minute" else UNSTATED
    pattern = finding.pattern or finding.served_id
    cool_down(finding.endpoint_id, pattern, at=finding.at, until=_stated(finding), why=finding.said, first=first)


def _never_fits(finding: Finding) -> bool:
    """Whether it asked for more tokens than a whole minute or day has: waiting changes nothing, and a smaller one may go."""
    limits = [limit.limit for limit in finding.limits if limit.field.startswith("tokens") and limit.limit is not None]
    return finding.retry_after is None and any(finding.tokens > limit for limit in limits)


def _stated(finding: Finding) -> datetime | None:
    """Until when a refusal asks to be left alone, or its limit is used up; None where nobody knows."""
    if finding.retry_after is not None:
        return finding.at + timedelta(seconds=finding.retry_after)
    if finding.span == "day":
        return day_in(zone_of(Endpoint.objects.get(pk=finding.endpoint_id)), finding.at)[1]
    return finding.at + LONGEST if finding.span == "month" else None


def _payment_required(finding: Finding) -> None:
    ends = finding.at + max(LONGEST, timedelta(seconds=finding.retry_after or 0))
    pattern = finding.pattern or finding.served_id
    cool_down(finding.endpoint_id, pattern, at=finding.at, until=ends, why=finding.said)
    endpoint = Endpoint.objects.get(pk=finding.endpoint_id)
    if _believed_free(finding):
        raise_alert(
            Alert.Kind.WENT_PAID,
            endpoint,
            finding.served_id,
            message=f"{finding.served_id} at {endpoint} was believed free and asks for money: {_said(finding)}",
            to_do="Look at its price and your balance at the provider; retire it here if it is not to be paid for.",
        )


def _believed_free(finding: Finding) -> bool:
    if finding.served_id.endswith(":free"):
        return True
    models = list(LanguageModel.objects.filter(endpoint_id=finding.endpoint_id, served_id=finding.served_id))
    know(models)
    return any(
        model.known.get("free") or (model.known.get("price_in") == model.known.get("price_out") == 0)
        for model in models
        # Its subscribers pay for all of it: an allowance that is used up says nothing of its price.
        if model.known.get("free") != CatalogEntry.Free.PLAN
    )


def _unauthorized(finding: Finding) -> None:
    endpoint = Endpoint.objects.get(pk=finding.endpoint_id)
    where = f"in {endpoint.api_key_env}, or " if endpoint.api_key_env else ""
    raise_alert(
        Alert.Kind.KEY_REJECTED,
        endpoint,
        "",
        message=f"{endpoint} does not take its key for {finding.served_id}: {_said(finding)}",
        to_do=f"Set a key that holds {where}on the endpoint's page. This ends with the next good answer.",
    )


def _retired(finding: Finding) -> None:
    retire(finding.endpoint_id, finding.served_id, why=f"Its provider said so: {_said(finding)}")


def _maybe_gone(finding: Finding) -> None:
    doubt(finding.endpoint_id, finding.served_id, request=finding.request, at=finding.at, said=_said(finding))


def _too_long(finding: Finding) -> None:
    learn_lower(finding, "context_window", finding.window)


def _output_limit(finding: Finding) -> None:
    learn_lower(finding, "output_limit", finding.output_limit)


def _said(finding: Finding) -> str:
    return tidy(finding.said, LONGEST_SAID)


FOLLOWS: Mapping[str, Callable[[Finding], None]] = {
    "": _answered,
    "rate_limited": _rate_limited,
    "payment_required": _payment_required,
    "unauthorized": _unauthorized,
    "retired": _retired,
    "maybe_gone": _maybe_gone,
    "context_too_long": _too_long,
    "output_limit": _output_limit,
}
