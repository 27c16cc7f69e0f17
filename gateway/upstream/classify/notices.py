"""Money and rate notices that come as a success: an answer that is none of the model's.

Only a short text that opens with the notice itself and then addresses an account counts; an answer about rate limits does not,
nor does one that the request asked for word by word.
"""

import re
import time

from gateway.redact import redact
from gateway.upstream.classify.bodies import Said
from gateway.upstream.classify.echoes import is_echo
from gateway.upstream.classify.scopes import scope_of
from gateway.upstream.classify.waits import wait_for
from gateway.upstream.contract import ErrorKind, UpstreamError

LONGEST_NOTICE = 400
OPENING = r"^[\W_]*(?:(?:error|warning|notice|important|sorry|oops|unfortunately|http|code|\d{3})\b[\W_]*){0,4}"
# What follows a notice at once: its end, or words to the holder of an account.
ADDRESS = (
    r"[.!]*\s*(?:$|\(?(?:please|you|your|try again|retry|wait|upgrade|top up|recharge|add (?:more )?(?:credits|funds)|https?:))"
)
ALLOWANCE = r"(?:free |daily |hourly |weekly |monthly |api |usage |message |request |rate )+(?:limit|quota)"

NOTICES: tuple[tuple[ErrorKind, str], ...] = (
    ("payment_required", rf"(?:insufficient (?:account )?(?:credits?|balance|funds|quota)|payment required){ADDRESS}"),
    ("payment_required", r"the account behind this api key (?:does ?n[o']t|has no|has run out)"),
    (
        "payment_required",
        r"(?:you|your account) (?:do(?:es)? ?n[o']t|do(?:es)? not) have (?:enough|sufficient) (?:credits|balance|funds)",
    ),
    (
        "payment_required",
        r"(?:you(?:'ve| have)|your account has) (?:run out of|used (?:up )?all (?:of )?your) (?:free )?(?:credits|quota)",
    ),
    ("payment_required", r"you(?:'ve| have)? exceeded your (?:current|monthly|included)(?: included)? (?:quota|credits)"),
    ("payment_required", r"your (?:credit|account) balance is (?:too low|insufficient|negative)"),
    (
        "payment_required",
        rf"(?:your |the )?free (?:quota|credits|tier|trial) (?:has|have) (?:been exhausted|expired|ended|run out){ADDRESS}",
    ),
    ("rate_limited", rf"(?:rate limit (?:exceeded|reached)|too many requests){ADDRESS}"),
    ("rate_limited", rf"you(?:'ve| have)? (?:reached|exceeded|hit) (?:your|the) {ALLOWANCE}"),
    ("rate_limited", rf"(?:your |the )?{ALLOWANCE} (?:has been )?(?:reached|exceeded){ADDRESS}"),
)
_NOTICES = tuple((kind, re.compile(OPENING + text, re.IGNORECASE)) for kind, text in NOTICES)


def notice_in(text: str) -> UpstreamError | None:
    """The failure that a whole answer's text really is, or None for an answer."""
    if len(text) > LONGEST_NOTICE:
        return None
    kind = next((kind for kind, pattern in _NOTICES if pattern.search(text)), None)
    if kind is None or is_echo(text.strip()):
        return None
    said = Said(message=" ".join(redact(text).split()))
    # Whether it is a whole account's, an answer is too little to go by.
    scope = scope_of(said)
    wait = wait_for({}, said, scope, time.time())
    return UpstreamError(f"a notice came as the answer: {said.message}", kind=kind, retry_after=wait, span=scope.span)
