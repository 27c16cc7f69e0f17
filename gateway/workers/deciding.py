"""Decision models, asked and probed: a row as a target, in threads of their own and within a few seconds.

Never in the ledger's thread, which every other panel waits for, and never in the event loop. Judges no decision.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial

from collections_app.models import DecisionModel, Fact
from collections_app.models.health import covers
from collections_app.models.health.quota import account_quotas
from collections_app.roster import Roster
from collections_app.services.decision_models import Probed, note_pick
from collections_app.services.findings import is_news
from collections_app.services.quotas import Claim, Refused, reserve
from gateway.upstream.contract import ErrorKind, UpstreamError
from gateway.upstream.decisions import decide
from gateway.upstream.decisions.contract import Decision, DecisionTarget
from gateway.upstream.decisions.probe import probe, probe_chat
from gateway.workers.ended import finding
from gateway.workers.key_ring import KeyRing, Read
from gateway.workers.ledger import ledger
from gateway.workers.target import decision_target

logger = logging.getLogger(__name__)

# For a pick and for each question of a probe; a typical answer takes a tenth of one.
BUDGET_SECONDS = 5.0
# Picks under way at once; more wait, and what has waited for the whole budget is not asked any more.
AT_ONCE = 32


async def pick(model: DecisionModel, text: Callable[[], str], options: Mapping[str, str]) -> Decision:
    """Ask which of `options` (descriptions by name) the text is; `text` is called in the thread. Raises UpstreamError."""
    picked: Future[Decision] = _threads().submit(_pick, decision_target(model, BUDGET_SECONDS), text, options)
    try:
        return await asyncio.wait_for(asyncio.wrap_future(picked), BUDGET_SECONDS)
    except TimeoutError:
        # A name's look-up is the one step that the call's own clock does not bound.
        kind: ErrorKind = "interrupted" if picked.cancelled() else "timeout"
        raise UpstreamError(f"no decision within {BUDGET_SECONDS:g} s", kind=kind) from None


def _pick(target: DecisionTarget, text: Callable[[], str], options: Mapping[str, str]) -> Decision:
    try:
        return decide(target, text(), options, typed_key=partial(_keys().key_for, target.endpoint))
    except UpstreamError:
        raise
    except Exception:
        # The pick's last boundary: whatever is wrong in here, the panel goes on without it. No prompt in the log.
        logger.exception("Asking for a decision failed inside the gateway")
        raise UpstreamError("the gateway failed while asking; its log says why", kind="bad_reply") from None


def in_the_way(model: DecisionModel, account: Iterable[Fact], tokens: int) -> str:
    """Count one pick for the account's limits, if it has any; or say which limit is used up. In the ledger's thread."""
    shared = (quota for quota in account_quotas(model.endpoint, account) if covers(quota.pattern, model.served_id))
    quotas = tuple(shared)
    if not quotas:
        return ""
    counted = reserve(Claim(endpoint_id=model.endpoint_id, quotas=quotas, tokens=tokens))
    return counted.why if isinstance(counted, Refused) else ""


def follow_pick(model: DecisionModel, failure: UpstreamError | None, roster: Roster) -> None:
    """Have whatever follows from how a pick went: a cool-down, an alert, the end of either. In the ledger's thread."""
    told = finding(model.endpoint_id, model.served_id, failure)
    if failure or is_news(told, roster):
        note_pick(model, told)


def probe_model(model: DecisionModel) -> Probed:
    """Find out where and how a model answers. Asks for seconds: for a page or a command, never for a panel."""
    target = decision_target(model, BUDGET_SECONDS).endpoint
    if target.protocol == "llm_cli" and model.dialect != DecisionModel.Dialect.CHAT:
        return Probed(dialect=model.dialect, error="The llm command answers no typed questions: choose the chat dialect.")
    ask = probe_chat if model.dialect == DecisionModel.Dialect.CHAT else probe
    # The key is read in this thread: a command has no ledger's.
    probed = ask(target, typed_key=partial(KeyRing(_read_here).key_for, target))
    return Probed(dialect=probed.dialect, url=probed.url, types=probed.types, error=probed.error)


def _read_here(read: Read) -> str:
    return read()


def _read_in_the_ledger(read: Read) -> str:
    return ledger().run(read).result()


@cache
def _keys() -> KeyRing:
    return KeyRing(_read_in_the_ledger)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="decision")
