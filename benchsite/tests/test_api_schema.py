"""/api-schema: every route is in it, it is valid, the same each time, and tells nothing of this bench."""

import json
import re

import jsonschema
import pytest
import yaml
from django.urls import URLResolver, get_resolver
from drf_spectacular.validation import validate_schema

from benchsite.api.document import document
from collections_app.models import Collection
from gateway.schema.document import template

# What the site serves to people; all else is for programs.
PAGES = {"", "favicon.ico", "api-docs", "verdict/<str:token>/"}


def paths(patterns, prefix=""):
    """The site's paths that are no pages."""
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from paths(pattern.url_patterns, path) if not path.startswith("admin/") else ()
        elif path not in PAGES and not path.startswith("admin/"):
            yield path


@pytest.fixture
def schema(client):
    return client.get("/api-schema").json()


def operations(schema):
    return {(method.upper(), path) for path, methods in schema["paths"].items() for method in methods}


def routes(patterns, prefix=""):
    """Every method of every route, as the resolver has them."""
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        else:
            view = pattern.callback.view_class
            yield from (
                (name.upper(), template(path)) for name in ("get", "post", "put", "patch", "delete") if hasattr(view, name)
            )


def test_it_is_openapi_with_every_route_of_the_gateway_and_the_site(schema):
    validate_schema(schema)
    assert schema["openapi"].startswith("3.1.")
    of_the_site = {("GET", template(path)) for path in paths(get_resolver("benchsite.urls").url_patterns)}
    assert operations(schema) == set(routes(get_resolver("gateway.urls").url_patterns)) | of_the_site
    assert ("GET", "/healthz") in of_the_site
    assert len(operations(schema)) > 50


def test_a_route_that_nobody_has_declared_is_an_error(monkeypatch):
    monkeypatch.setattr("gateway.schema.spectacular.operations", dict)
    with pytest.raises(LookupError, match="POST /api/chat is not declared"):
        document()


def test_every_reference_leads_somewhere_and_every_component_is_used(schema):
    used = set(re.findall(r'"\$ref": "#/components/([^"]+)"', json.dumps(schema)))
    there = {f"{kind}/{name}" for kind in ("schemas", "responses") for name in schema["components"][kind]}
    assert used == there


def test_every_example_is_what_its_schema_allows(schema):
    """By the schema itself: what /api-docs shows can be sent."""
    checked = 0
    for methods in schema["paths"].values():
        for operation in methods.values():
            for media in operation.get("requestBody", {}).get("content", {}).values():
                if "example" in media:
                    jsonschema.validate(media["example"], {**media["schema"], "components": schema["components"]})
                    checked += 1
    assert checked > 15


def test_every_operation_says_how_a_key_is_sent_and_how_it_is_refused(schema):
    for methods in schema["paths"].values():
        for operation in methods.values():
            named = {name for way in operation["security"] for name in way}
            if operation["tags"] == ["Server"]:
                assert not named
                continue
            assert {"bearer", "x-api-key", "x-goog-api-key"} <= named
            assert ("key" in named) == ("Gemini" in operation["tags"])
            assert operation["responses"]["401"]["$ref"].endswith("401")


def test_no_key_is_needed_where_none_is_asked_for(client, settings):
    ways = client.get("/api-schema").json()["paths"]["/v1/chat/completions"]["post"]["security"]
    assert {} in ways
    settings.BENCHWARMERS_REQUIRE_KEYS = True
    asked = client.get("/api-schema").json()["paths"]["/v1/chat/completions"]["post"]["security"]
    assert asked == [way for way in ways if way]


def test_it_comes_as_json_or_yaml(client):
    as_json = client.get("/api-schema")
    assert as_json.headers["Content-Type"] == "application/json"
    for asked in (
        client.get("/api-schema?format=yaml"),
        client.get("/api-schema", headers={"Accept": "application/yaml"}),
        client.get("/api-schema", headers={"Accept": "application/vnd.oai.openapi"}),
    ):
        assert asked.headers["Content-Type"] == "application/yaml"
        assert yaml.safe_load(asked.content) == as_json.json()
    for accept in ("*/*", "text/html", "application/json", "text/html,*/*;q=0.8"):
        assert client.get("/api-schema", headers={"Accept": accept}).content == as_json.content
    for wrong in ("xml", "", "JSON"):
        assert client.get(f"/api-schema?format={wrong}").status_code == 400


def test_it_is_only_read(client):
    assert client.post("/api-schema").status_code == 405


def test_it_is_the_same_each_time():
    assert json.dumps(document()) == json.dumps(document())


@pytest.mark.django_db
def test_it_tells_nothing_of_this_bench(client, django_assert_num_queries):
    Collection.objects.create(name="hush-hush", description="Nobody is to hear of it")
    with django_assert_num_queries(0):
        told = client.get("/api-schema").content.decode() + json.dumps(document())
    assert "hush" not in told
    assert "127.0.0.1" not in told
