"""Asking one model: what providers speak, one module a protocol, behind one function.

Knows no panel, no row and no format of callers. A new protocol is one module, and one line here.
"""

from collections.abc import Callable, Mapping, Sequence

from gateway.chat import Message
from gateway.conf import conf
from gateway.upstream import anthropic_messages, gemini, llm_cli, ollama, openai_chat, openai_responses
from gateway.upstream.asking import Asking
from gateway.upstream.contract import CommandProtocol, Completion, Delta, Target, TypedKey, UpstreamError, UpstreamProtocol
from gateway.upstream.sockets.connections import adapter

PROTOCOLS: Mapping[str, UpstreamProtocol] = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic_messages": anthropic_messages,
    "gemini": gemini,
    "ollama": ollama,
}
COMMANDS: Mapping[str, CommandProtocol] = {"llm_cli": llm_cli}


def get_ready() -> None:
    """Load certificates and make the pools of connections. The first calls, which come all at once, would each do it."""
    adapter()


def complete(
    target: Target,
    messages: Sequence[Message],
    *,
    typed_key: TypedKey | None = None,
    on_delta: Callable[[Delta], None] | None = None,
) -> Completion:
    """Ask one model. Raises UpstreamError and nothing else.

    `typed_key` is called when no environment variable holds the key, and never for a command: where that sends a key
    is not known here.
    `on_delta` is called in this thread with each piece as it comes; what it raises ends the call. Pieces may hold reasoning
    that the completion tells apart, and of what they hold back at the end the completion has the rest: it is the answer.
    """
    asking = Asking(target, typed_key=typed_key, on_delta=on_delta)
    try:
        command = _command(target, messages)
        if command:
            return asking.run(command, messages)
        if target.protocol not in PROTOCOLS:
            raise UpstreamError(f"no protocol is called {target.protocol!r}", kind="unavailable")
        return asking.ask(PROTOCOLS[target.protocol], messages)
    except UpstreamError as error:
        # The libraries' errors under it hold addresses and queries: no traceback may show them.
        raise asking.told(error) from None


def _command(target: Target, messages: Sequence[Message]) -> CommandProtocol | None:
    """What answers in place of HTTP: the endpoint's own command, or the site's choice for all that is text alone."""
    if conf.asks_through_llm and not any(message.images for message in messages):
        return llm_cli
    return COMMANDS.get(target.protocol)
