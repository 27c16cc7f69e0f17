"""An answer to a prompt that a server cut without saying so, told by the server's own counts.

Only what cannot be otherwise counts: a guess would make a failure of an answer.
"""

from collections.abc import Sequence

from gateway.chat import ImagePart, Message
from gateway.reply import CUT
from gateway.upstream.contract import Completion, UpstreamError

FULL = "model_context_window_exceeded"
# Servers cut a prompt to a window of whole 1,024s, or to half of one and the few tokens that Ollama keeps.
WINDOWS, KEPT = 1024, (0, 2)


def refuse_no_room(*, finish_reason: str, input_tokens: int | None, output_tokens: int | None, reasoning: bool) -> None:
    """Raise UpstreamError for an empty answer when the prompt left no room for one: it filled the window.

    Xiaomi's MiMo ends at the length without having written a token; Z.ai and Anthropic name the reason.
    """
    ended = finish_reason.lower()
    nothing_written = ended in CUT and output_tokens == 0 and bool(input_tokens)
    if not reasoning and (ended == FULL or nothing_written):
        words = "the prompt filled the model's context window and left no room for an answer"
        told = f"{input_tokens:,} tokens of prompt, " if input_tokens else ""
        raise UpstreamError(f"{words} ({told}finish reason {finish_reason})", kind="context_too_long")


def refuse_unread(completion: Completion, messages: Sequence[Message]) -> None:
    """Raise UpstreamError when the server read fewer tokens than the prompt has words, and as many as a window holds.

    No tokenizer makes one token of two words. Servers that leave a cached beginning out of their count do read fewer, but
    not a window's number of them.
    """
    read = completion.input_tokens
    if not read or read % WINDOWS not in KEPT:
        return
    words = sum(len(part.text.split()) for message in messages for part in message.parts if not isinstance(part, ImagePart))
    if words > read:
        raise UpstreamError(
            f"the server cut the prompt of {words:,} words to {read:,} tokens without saying so, and answered what was left: "
            "give the model a larger context window there, or send less",
            kind="context_too_long",
        )
