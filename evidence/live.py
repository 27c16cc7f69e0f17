"""Telling open pages that a panel has changed: its id, and nothing of what is in it. Pages then read it as anybody would."""

from collections.abc import AsyncIterator

from channels.layers import InMemoryChannelLayer, get_channel_layer

# Of the channel layers the one that never waits for Redis, nor fails without it (settings.CHANNEL_LAYERS).
LAYER = "pages"
GROUP = "panels"


async def announce(panel_id: str) -> None:
    """Tell every page that listens, in every process. Whoever does not keep up misses some: the next one tells them."""
    layer = get_channel_layer(LAYER)
    # One process's own layer knows whether anybody listens, as at most times nobody does. One that is made from it, and
    # reaches other processes, does not.
    if type(layer) is InMemoryChannelLayer and GROUP not in layer.groups:
        return
    if layer is not None:
        await layer.group_send(GROUP, {"type": "panel.changed", "panel": panel_id})


async def changes() -> AsyncIterator[str]:
    """Yield the id of each panel that changes, in any process that can be heard of, for as long as it is listened to."""
    layer = get_channel_layer(LAYER)
    if layer is None:
        return
    channel = await layer.new_channel()
    await layer.group_add(GROUP, channel)
    try:
        while True:
            yield (await layer.receive(channel))["panel"]
    finally:
        await layer.group_discard(GROUP, channel)
