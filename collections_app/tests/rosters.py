"""Small rosters for tests: an endpoint, models on it, collections of those."""

from typing import Any

from collections_app.models import Collection, Endpoint, LanguageModel, Membership


def make_endpoint(name: str = "upstream", **fields: Any) -> Endpoint:
    return Endpoint.objects.get_or_create(name=name, defaults={"base_url": f"https://{name}.example/v1", **fields})[0]


def make_model(alias: str, **fields: Any) -> LanguageModel:
    """A model on `upstream`, of a family of its own unless a served id says otherwise."""
    fields.setdefault("served_id", f"{alias}-{alias[::-1]}")
    if "endpoint" not in fields:
        fields["endpoint"] = make_endpoint()
    return LanguageModel.objects.create(alias=alias, **fields)


def make_collection(name: str, *members: LanguageModel, **fields: Any) -> Collection:
    collection = Collection.objects.create(name=name, **fields)
    for position, model in enumerate(members):
        Membership.objects.create(collection=collection, language_model=model, position=position)
    return collection
