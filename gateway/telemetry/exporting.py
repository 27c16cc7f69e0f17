"""Where spans go: to a collector, over OTLP, in batches and in a thread of their own. Loaded only where traces are wanted.

The provider is this product's alone and not the process's: whatever else in here knows OpenTelemetry, such as the SDK that
agents' tools are made with, is not asked what it would tell. Everything is set by OpenTelemetry's own variables.
"""

from functools import cache

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from gateway.conf import conf

# How long the end of a process waits for a collector that does not answer.
LAST_MILLISECONDS = 2_000


class Batches(BatchSpanProcessor):
    """While the collector is away spans wait in a queue of bounded length, and the oldest are dropped."""

    def shutdown(self) -> None:
        # The SDK would wait for half a minute, and takes a time only in here.
        self._batch_processor.shutdown(LAST_MILLISECONDS)


@cache
def tracer_provider() -> TracerProvider:
    """The process's own. At the end of the process it sends what is left."""
    provider = TracerProvider(resource=_resource())
    provider.add_span_processor(Batches(OTLPSpanExporter()))
    return provider


def _resource() -> Resource:
    resource = Resource.create({SERVICE_VERSION: conf.version})
    named = not str(resource.attributes[SERVICE_NAME]).startswith("unknown_service")
    return resource if named else resource.merge(Resource({SERVICE_NAME: "benchsite"}))
