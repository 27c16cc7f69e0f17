"""deploy/grafana: the dashboard asks for what is exported and nothing else, and is of the form that Grafana reads."""

import json
import re
from itertools import combinations

import pytest
from django.conf import settings
from prometheus_client.parser import text_string_to_metric_families

from benchsite.tests.scraping import scrape

PATH = settings.BASE_DIR / "deploy/grafana/benchsite.json"
# As a histogram and a counter are written, beside their family's name.
ENDINGS = ("", "_total", "_bucket", "_count", "_sum", "_info")
METRIC = re.compile(r"\b(?:bench|process|python)_[a-z_]+\b")
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


@pytest.fixture(scope="module")
def dashboard():
    return json.loads(PATH.read_text())


@pytest.fixture(scope="module")
def shown(dashboard):
    """Its panels that show something, rows apart."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


@pytest.fixture
def exported(loud_server):
    families = list(text_string_to_metric_families(scrape(loud_server).body.decode()))
    assert len(families) > 20
    return {family.name + ending for family in families for ending in ENDINGS}


def queries(dashboard, shown):
    yield from (target["expr"] for panel in shown for target in panel["targets"])
    yield from (one["query"]["query"] for one in dashboard["templating"]["list"] if one["type"] == "query")


def test_every_metric_that_it_names_is_exported(dashboard, shown, exported):
    named = {name for query in queries(dashboard, shown) for name in METRIC.findall(query)}
    assert named - exported == set()
    assert len(named) > 15


def test_whatever_the_bench_counts_is_on_it(dashboard, shown, exported):
    named = {name for query in queries(dashboard, shown) for name in METRIC.findall(query)}
    counted = {name for name in exported if name.startswith("bench_")}
    families = {re.sub(r"_(total|bucket|count|sum|info)$", "", name) for name in counted}
    assert {family for family in families if not any(family + ending in named for ending in ENDINGS)} == set()


def test_every_query_is_of_the_processes_chosen_and_closes_what_it_opens(shown):
    for panel in shown:
        for target in panel["targets"]:
            query = target["expr"]
            assert METRIC.search(query), query
            assert len(re.findall(r'\{job=~"\$job", instance=~"\$instance"', query)) == len(METRIC.findall(query)), query
            for opening, closing in ("()", "{}", "[]"):
                assert query.count(opening) == query.count(closing), query
            assert target["datasource"] == panel["datasource"] == SOURCE
            assert target["refId"]


def test_its_panels_have_ids_and_places_of_their_own(dashboard):
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 and place["h"] > 0 for place in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or above, (one, other)


def test_it_is_imported_as_it_is(dashboard):
    """No id of another Grafana's, and the data source is chosen where it is imported."""
    assert dashboard.get("id") is None
    assert dashboard["uid"] == "benchsite" and dashboard["title"] and dashboard["schemaVersion"] >= 36
    variables = {one["name"]: one for one in dashboard["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource" and variables["datasource"]["query"] == "prometheus"
    used = set(re.findall(r"\$\{?(\w+)", PATH.read_text())) - {"__rate_interval", "__range", "__all"}
    assert used == set(variables)


def test_every_panel_has_a_title_a_unit_and_a_kind(shown):
    assert {panel["type"] for panel in shown} == {"stat", "timeseries"}
    for panel in shown:
        assert panel["title"] and panel["fieldConfig"]["defaults"]["unit"]
    titles = [panel["title"] for panel in shown]
    assert len(set(titles)) == len(titles)
