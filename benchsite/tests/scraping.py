"""/metrics as Prometheus reads it: samples by name and labels."""

from prometheus_client.parser import text_string_to_metric_families

from gateway.tests.running_server import Answer, RunningServer

TOKEN = "a-metrics-token-of-this-test"


def scrape(server: RunningServer, **headers: str) -> Answer:
    return server.request("GET", "/metrics", headers={"Accept": "text/plain"} | headers)


def samples(text: bytes) -> dict[tuple, float]:
    """Every sample; a key is its name and its labels' values in the order of their names."""
    families = text_string_to_metric_families(text.decode())
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def of_the_bench(text: bytes) -> dict[tuple, float]:
    return {key: value for key, value in samples(text).items() if key[0].startswith("bench_")}
