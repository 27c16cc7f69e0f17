"""Whether there are traces: as OpenTelemetry's own variables say, and as far as what sends them is installed.

Read while settings are: knows no app.
"""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

# The only form of OTLP that is installed.
PROTOCOL = "http/protobuf"
_WHERE = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_HOW = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


def wanted(environment: Mapping[str, str]) -> bool:
    """Whether an operator has said where spans go, and has not turned them off."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporters = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if exporters:
        return "otlp" in exporters.split(",")
    return any(environment.get(name, "").strip() for name in _WHERE)


def can_be_sent() -> bool:
    return find_spec("opentelemetry.sdk") is not None


def in_the_way(environment: Mapping[str, str]) -> Iterator[str]:
    """Why spans that are wanted do not arrive as set up."""
    if not wanted(environment):
        return
    if not can_be_sent():
        yield "requirements-telemetry.txt is not installed, so there are none"
    protocol = next((said for name in _HOW if (said := environment.get(name, "").strip())), PROTOCOL)
    if protocol != PROTOCOL:
        yield f"{protocol[:40]} is not spoken here, so they are sent as {PROTOCOL}, to port 4318 of most collectors"
