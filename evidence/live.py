"""Telling open pages that a panel has changed: its id, and nothing of what is in it. Pages then read it as anybody would."""

from channels.layers import get_channel_layer

GROUP = "panels"


async def announce(panel_id: str) -> None:
    """Tell every page that listens. Whoever does not keep up misses some: the next one tells them."""
    layer = get_channel_layer()
    if layer is not None:
        await layer.group_send(GROUP, {"type": "panel.changed", "panel": panel_id})
