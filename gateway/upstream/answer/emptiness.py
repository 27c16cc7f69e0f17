"""Why an answer is empty, in words for people. Judges only answers that have no text."""

from gateway.redact import beginning, redact
from gateway.reply import CUT

LENGTH = CUT | {"model_context_window_exceeded"}
FILTERED = frozenset(
    {"content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "refusal", "sensitive", "language"}
    | {"image_safety", "image_prohibited_content", "image_recitation"}
)
TOOLS = frozenset(
    {"tool_calls", "tool_use", "function_call", "malformed_function_call", "unexpected_tool_call", "too_many_tool_calls"}
)
LONGEST_REFUSAL = 200
# Of a longer refusal no more is redacted than could be shown.
LONGEST_READ = 8_000


def why_empty(*, finish_reason: str, reasoning: bool, refusal: str, calls_tool: bool, blank: bool) -> str:
    """Say why no text came. `reasoning`: some came; `blank`: white space came."""
    ended = finish_reason.lower()
    if refusal.strip():
        return f"the model refused: {' '.join(redact(beginning(refusal, LONGEST_READ)).split())[:LONGEST_REFUSAL]}"
    if ended in FILTERED:
        return f"the provider's filter stopped it (finish reason {finish_reason})"
    if ended in LENGTH and reasoning:
        return f"it spent its whole budget thinking (finish reason {finish_reason}): raise its max_tokens"
    if ended in LENGTH:
        return f"it reached its output limit before any text (finish reason {finish_reason})"
    if calls_tool or ended in TOOLS:
        return "it called a tool instead of answering"
    if reasoning:
        return "it thought, and then gave no answer"
    return "only white space came" if blank else "nothing came"
