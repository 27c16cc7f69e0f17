"""Where an admitted request goes: streams to Channels, everything else to DRF."""

from channels.routing import ProtocolTypeRouter

from gateway.consumers import StreamConsumer
from gateway.handler import GatewayHandler

json_app = GatewayHandler()
stream_app = ProtocolTypeRouter({"http": StreamConsumer.as_asgi()})
