"""What a person asks from the dashboard: the form as a panel's request, and a panel's request as the form.

The panel opens as any caller's does, under a name that no gateway key can have; what a key may ask is no matter here.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast, get_args

from django.http import QueryDict

from evidence.models import Panel
from gateway.chat import BenchOptions, ChatRequest, ImagePart, Message, ReplyMode, TextPart
from gateway.errors import BadRequest
from gateway.panel.request import Request
from gateway.panel.run import open_panel
from gateway.panel.running import PanelRun
from keys.services import Caller

FORMAT = "playground"
# A person's choices; a caller's body may name more, and gets the same refusal.
MOST_NOMINATED = 5
LONGEST_NAME = 100
_LONGEST_CALLER = 64
# As the call log keeps an image, on a line of its own after the prompt.
_IMAGE_AT_END = re.compile(r"\n\[image: data URL, \d+ KB\]\Z")
_BETWEEN = "\n\nuser: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The form, as a person fills it in. `reply` is empty where the collection's own way is wanted."""

    collection: str = ""
    prompt: str = ""
    system: str = ""
    nominated: tuple[str, ...] = ()
    reply: str = ""
    blind: bool = False

    @property
    def name(self) -> str:
        """The collection's name, without `bench/`."""
        return self.collection.removeprefix("bench/").partition(":")[0]


def wanted_in(posted: QueryDict) -> Wanted:
    """Read the form. What it may hold is judged when it is asked."""
    reply = posted.get("reply", "")
    nominated = (alias.strip()[:LONGEST_NAME] for alias in posted.getlist("nominate")[:MOST_NOMINATED])
    return Wanted(
        collection=posted.get("collection", "")[:LONGEST_NAME],
        prompt=_lines(posted.get("prompt", "")),
        system=_lines(posted.get("system", "")),
        nominated=tuple(dict.fromkeys(filter(None, nominated))),
        reply=reply if reply in get_args(ReplyMode) else "",
        blind="blind" in posted,
    )


def wanted_again(panel: Panel, *, blind: bool) -> tuple[Wanted, bool]:
    """Return what a panel of this page was asked, as far as the call log keeps it, and whether with an image."""
    request = _IMAGE_AT_END.sub("", panel.request)
    head, _, rest = request.partition(": ")
    system, _, prompt = rest.partition(_BETWEEN) if head == "system" else ("", "", rest)
    own = panel.collection.reply if panel.collection else ""
    seated = [call.alias for call in panel.calls.all() if call.nominated]
    # Of explorers, only those that somebody named are told to have been passed over.
    passed_over = [str(seat["alias"]) for seat in panel.skipped if seat["seat"] == "explorer"]
    wanted = Wanted(
        collection=panel.collection_name,
        prompt=prompt,
        system=system,
        nominated=(*seated, *passed_over),
        reply="" if panel.reply == own else panel.reply,
        blind=blind,
    )
    return wanted, request != panel.request


def messages_of(wanted: Wanted, images: Iterable[ImagePart] = ()) -> tuple[Message, ...]:
    system = (Message("system", (TextPart(wanted.system),)),) if wanted.system.strip() else ()
    return (*system, Message("user", (TextPart(wanted.prompt), *images)))


async def ask(wanted: Wanted, image: ImagePart | None, *, user: str, base_url: str) -> str:
    """Open the panel and return its id, while its seats think. Raises a Refusal when it cannot be.

    The same question from the same user while it runs is the same panel: a button pressed twice asks once.
    """
    if not wanted.prompt.strip():
        raise BadRequest("Write a prompt first.", param="prompt")
    chat = ChatRequest(
        format=FORMAT,
        model=wanted.collection,
        messages=messages_of(wanted, [image] if image else []),
        bench=BenchOptions(nominated=wanted.nominated, reply=cast(ReplyMode | None, wanted.reply or None)),
    )
    run = await open_panel(Request(chat, caller_of(user), base_url, is_retry=True))
    # Read back from the log is only what was asked under an idempotency key.
    assert isinstance(run, PanelRun)
    return run.panel.id


def caller_of(user: str) -> Caller:
    """A user of the dashboard as a caller: no key's name has a colon."""
    return Caller(f"dashboard:{user}"[:_LONGEST_CALLER])


def _lines(text: str) -> str:
    """A browser sends a form's lines ended by two characters."""
    return text.replace("\r\n", "\n")
