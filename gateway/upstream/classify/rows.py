"""What replies mean, as rows: a provider's text or code is a row here, never a branch elsewhere.

The first row that fits decides; where none does, the status. Texts have many variants: a row holds what they share.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gateway.upstream.classify.bodies import Said
from gateway.upstream.contract import ErrorKind

TOO_LARGE = (400, 413, 422)
REFUSED = (400, 402, 403, 404, 422, 429)


@dataclass(frozen=True, slots=True)
class Row:
    """`text` is looked for in the words, `code` must be one of the codes whole; `only` names the statuses it holds for."""

    kind: ErrorKind
    text: re.Pattern[str] | None
    code: re.Pattern[str] | None
    only: tuple[int, ...]

    def fits(self, said: Said, status: int | None) -> bool:
        """Whether the row holds for a reply of this status; None, for an error inside a 200 that names none, is any."""
        return (not self.only or status is None or status in self.only) and said.has(self.text, self.code)


def row(kind: ErrorKind, text: str = "", *, code: str = "", only: tuple[int, ...] = ()) -> Row:
    return Row(
        kind,
        text=re.compile(text, re.IGNORECASE) if text else None,
        code=re.compile(code, re.IGNORECASE) if code else None,
        only=only,
    )


ROWS = (
    # Bedrock's and DashScope's throttling speaks of tokens too.
    row("rate_limited", code=r"throttling\w*(?:\.\w+)?", only=(400, 403, 429)),
    # An output limit is not a window.
    row(
        "output_limit",
        r"at most [\d,]+ (?:completion|output) tokens|maximum allowed number of output tokens"
        r"|max_tokens`? must be less than or equal|range of max_tokens",
        only=TOO_LARGE,
    ),
    # A request above what a minute allows can never be sent; waiting helps it no more than it would a window.
    row("context_too_long", r"\brequest too large\b", only=(413, 429)),
    row("context_too_long", code="exceed_context_size_error", only=(*TOO_LARGE, 500)),
    row(
        "context_too_long",
        r"maximum context length|prompt (?:is )?too long|prompt is longer than|prompt is too large"
        r"|exceeds? (?:the |your )?(?:model's )?(?:available |configured )?context"
        r"|context window exceeds|context (?:length|window) (?:limit|of only)|than the context length|context size is"
        r"|maximum number of tokens allowed|too large for model|too many (?:input )?tokens"
        r"|longer than the (?:maximum model length|model's context)|maximum allowed input length"
        r"|maximum prompt length|prompt exceeds max|input is too long|max context length|model token limit"
        r"|prompt token count|range of input length|must have less than [\d,]+ tokens|max_new_tokens` must be"
        r"|request body too large|reduce the length of the (?:messages|prompt|input)",
        code=r"context_length_exceeded|model_context_window_exceeded|model_max_prompt_tokens_exceeded|tokens_limit_reached"
        r"|string_above_max_length|request_too_large",
        only=TOO_LARGE,
    ),
    row("retired", code="model_decommissioned|model_deprecated|free_variant_ended|model_unavailable_upstream"),
    # Words alone are no proof: an advisory of another model's end may stand in any error.
    row("retired", r"reached its end of life|has been (?:decommissioned|retired|sunset)", only=(400, 404, 410)),
    # ModelScope says this of models that it no longer serves; where money is meant the status is 402 or 500.
    row("maybe_gone", r"insufficient balance \(1008\)", only=(429,)),
    # OpenRouter's "Add 10 credits to unlock 1000 free requests" and Gemini's "exceeded your current quota" are rates.
    row(
        "payment_required",
        r"insufficient (?:account )?(?:balance|credits|funds)|credit balance is too low"
        r"|requires? (?:a subscription|more credits)|limit: 0, model|included credits|no resource package"
        r"|free quota has been|n[o']t have enough credits|out of credits",
        code="insufficient_quota|insufficient_(?:balance|credits)(?:_error)?|billing_error|billing_hard_limit_reached|1113"
        r"|credit_balance_exhausted|allocationquota\.freetieronly",
        only=REFUSED,
    ),
    row("payment_required", r"insufficient balance", only=(500,)),
    row(
        "unauthorized",
        r"api.key (?:not valid|is invalid|has expired)|(?:invalid|incorrect|missing|expired) api.key|no auth credentials",
        code="invalid_api_key|api_key_invalid|authentication_error",
        only=(400, 401, 403),
    ),
    row(
        "refused",
        r"content management policy|content (?:filter|policy)|flagged|moderation|safety system",
        code="content_filter|content_policy_violation|responsibleaipolicyviolation",
        only=(400, 403, 422, 451),
    ),
    row("refused", r"image input is not supported|support image input"),
    row(
        "wrong_endpoint",
        r"cannot be used with the|not a chat model|only supported in v1/|not supported (?:in the v1/|for chat completions)"
        r"|does not support chat completions",
        code="wrong_endpoint",
        only=(400, 404, 422),
    ),
    row(
        "no_access",
        r"\bdo(?:es)?(?: not|n't) have access to|not found for account|access to this model is restricted"
        r"|no access to (?:this )?model|not (?:allowed|authorized|permitted) to (?:access|use) (?:this |the )?model"
        r"|by any provider you have enabled",
        only=(400, 401, 403, 404),
    ),
    # Which providers may serve it is a setting of the account's.
    row("not_found", r"no endpoints found", only=(404,)),
    row("unavailable", r"no models? (?:is |are )?(?:currently )?loaded", only=(400, 404)),
    row(
        "maybe_gone",
        r"no longer (?:available|supported|offered)|has been (?:removed|discontinued|deprecated)|\bmodel is deprecated"
        r"|\bmodels?\b.{0,200}? (?:is )?(?:not found|(?:does not|doesn't) exist)|\bmodel not exist|^model: \S"
        r"|not a valid model id|\b(?:no such|unknown|invalid) model\b|no model found",
        code="model_not_found|invalid_model|model_not_exist",
        only=(400, 404),
    ),
    row("rate_limited", r"rate.?limit|too many requests", code="rate_limit_exceeded", only=(403,)),
    # Cloudflare: out of capacity, whatever the status says.
    row("overloaded", code="3040", only=(429,)),
    # A model's health, whatever the status says.
    row(
        "overloaded",
        r"overloaded|at capacity|degraded function|(?:model is loading|loading model)|temporarily unavailable",
        code="overloaded_error",
        only=(400, 404, 500, 502, 503, 504, 529),
    ),
)

BY_STATUS: Mapping[int, ErrorKind] = {
    401: "unauthorized",
    402: "payment_required",
    403: "unauthorized",
    404: "not_found",
    405: "not_found",
    408: "timeout",
    410: "retired",
    413: "context_too_long",
    429: "rate_limited",
    504: "timeout",
    **dict.fromkeys((502, 503, 520, 521, 522, 523, 524, 529, 530), "overloaded"),
}

# What a failure inside a 200 calls itself, as the status that it would have had.
STATUS_NAMED: Mapping[str, int] = {
    "invalid_request_error": 400,
    "bad_request": 400,
    "badrequesterror": 400,
    "invalid_argument": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "unauthenticated": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "payment_required": 402,
    "permission_error": 403,
    "permission_denied": 403,
    "not_found_error": 404,
    "not_found": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "internal": 500,
    "internal_server_error": 500,
    "timeout_error": 504,
    "deadline_exceeded": 504,
    "unavailable": 503,
    "overloaded_error": 529,
}


def kind_of(said: Said, status: int) -> ErrorKind:
    """What kind of failure a reply of this HTTP status is."""
    if said.page:
        return _kind_of_page(status)
    meant = status if status >= 400 else status_meant(said)
    for candidate in ROWS:
        if candidate.fits(said, meant):
            return candidate.kind
    return _kind_of_status(meant)


def status_meant(said: Said) -> int | None:
    """The status that an error inside a 200 gives itself, as a number or by name."""
    for code in said.codes:
        if code.isdigit() and 400 <= int(code) <= 599:
            return int(code)
    return next((STATUS_NAMED[code] for code in said.codes if code in STATUS_NAMED), None)


def _kind_of_status(status: int | None) -> ErrorKind:
    if status is None or status < 400:
        return "bad_reply"
    return BY_STATUS.get(status, "refused" if status < 500 else "unavailable")


def _kind_of_page(status: int) -> ErrorKind:
    # A wall before the API (Cloudflare's, a portal's) says nothing of the key.
    return "unavailable" if status in (401, 403) else _kind_of_status(status)
