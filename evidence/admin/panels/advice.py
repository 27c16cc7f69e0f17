"""What to do about a seat that failed or stayed empty, by the kind of its error."""

from evidence.models import Call

BY_KIND = {
    "rate_limited": "Nothing: it is over its limit, and sits again when the wait is over. Limits left shows until when.",
    "context_too_long": "The prompt is too long for it: shorten it, or leave this model out of collections for long ones.",
    "output_limit": "It was asked for more than it may write: lower the output limit in its call options.",
    "unauthorized": "Its provider refuses the key: check it on the endpoint's page or in the environment.",
    "payment_required": "Its provider asks for money or credit: add some there, or retire the model here.",
    "not_found": "Its provider does not know it for this account: check the served id, or retire it.",
    "maybe_gone": "It seems not to be served any more: try it again later, or retire it.",
    "no_access": "This account may not call it: accept its terms at the provider, or retire it.",
    "retired": "Its provider has retired it: retire it here, and add its successor.",
    "wrong_endpoint": "It speaks another protocol: give it an endpoint of the same provider with that protocol.",
    "overloaded": "Nothing: its provider is overloaded. It will be asked again in its turn.",
    "timeout": "It took too long: raise its time limit if it is worth the wait. What had come is kept below.",
    "refused": "Its provider refused this request: see what it says; another model may take it.",
    "bad_reply": "What came was no answer: check the base URL and the protocol of its endpoint.",
    "unavailable": "Nobody answered there: check the base URL, and whether the server runs.",
    "interrupted": "The bench stopped before it had answered: ask again. What had come is kept below.",
}
BY_FINISH = {
    "length": "It used up its output limit before it wrote: raise the limit in its call options, or ask it to think less.",
    "content_filter": "Its provider filtered the answer: ask in other words, or ask another model.",
}
OTHERWISE = "See what it says; if it stays so, try it on its model's page."


def what_to_do(call: Call) -> str:
    """Return one sentence or two, or nothing where a seat answered or still may."""
    if call.status == Call.Status.EMPTY:
        return BY_FINISH.get(call.finish_reason.lower(), OTHERWISE)
    return BY_KIND.get(call.error_kind, OTHERWISE) if call.status == Call.Status.ERROR else ""
