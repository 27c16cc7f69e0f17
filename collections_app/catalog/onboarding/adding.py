"""Making rows of what was chosen: an endpoint for a provider or a local server, and models with proposed aliases and roles.

Writes the roster's rows; asks nobody. Who a change is by is for the caller to set.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from collections_app.catalog.merge import merge_facts
from collections_app.catalog.onboarding.candidates import Candidate
from collections_app.catalog.onboarding.first_run import take_in_shipped
from collections_app.catalog.onboarding.offers import fields_found, keys_found
from collections_app.catalog.onboarding.probe_local import LocalServer
from collections_app.catalog.onboarding.propose import propose_alias, propose_role
from collections_app.catalog.providers import Provider
from collections_app.catalog.refreshing.served import listed_id
from collections_app.catalog.sources.feed_url import VARIABLE
from collections_app.models import Endpoint, LanguageModel
from collections_app.selectors import know

LONGEST_NAME = 32
NOT_OF_A_NAME = re.compile(r"[^a-z0-9]+")
# What may stand for a variable in a URL: an account's id, a host, a whole https URL.
VALUE = re.compile(r"(?:https://)?[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}")


class CannotAddError(Exception):
    """Something cannot be added as it stands; in words for people, with what to do."""


@dataclass(frozen=True, slots=True)
class Added:
    """Models that are new, and with those that were here already in the order in which they were chosen.

    `refused` has a line for each that could not be added, naming it and why.
    """

    models: tuple[LanguageModel, ...]
    with_here: tuple[LanguageModel, ...] = ()
    refused: tuple[str, ...] = ()


def endpoint_for(
    provider: Provider, fields: Mapping[str, str] | None = None, environ: Mapping[str, str] = os.environ
) -> Endpoint:
    """The endpoint of this provider at this URL: the one that is here, else a new one. Raises CannotAddError.

    `fields` are the values of the variables in the provider's URL; those that the environment has need not be given.
    """
    base_url = _filled(provider, {**fields_found(provider, environ), **(fields or {})})
    keys = keys_found(provider, environ) or tuple(name for name in provider.key_env if name.isidentifier())
    return _endpoint(provider.id, base_url, provider.protocol, provider=provider.id, api_key_env=next(iter(keys), ""))


def endpoint_at(server: LocalServer) -> Endpoint:
    """The endpoint of a server of this machine: the one that is here, else a new one. Raises CannotAddError."""
    return _endpoint(f"{server.slug}-{server.port}", server.base_url, server.protocol)


def add_models(endpoint: Endpoint, chosen: Iterable[Candidate]) -> Added:
    """Put `chosen` on the bench at `endpoint`, with what is known of them. One that is here already is left as it is."""
    take_in_shipped()
    here = {listed_id(endpoint, model.served_id): model for model in endpoint.language_models.all()}
    aliases = set(LanguageModel.objects.values_list("alias", flat=True))
    every: list[LanguageModel] = []
    refused: list[str] = []
    with transaction.atomic():
        for one in {one.served_id: one for one in chosen}.values():
            try:
                model = here.get(listed_id(endpoint, one.served_id)) or _model(endpoint, one, aliases)
                _refuse_retired(model)
            except (CannotAddError, ValidationError, IntegrityError) as error:
                refused.append(f"{one.served_id[:100]!r}: {_words(error)}")
                continue
            every.append(model)
        old = set(here.values())
        made = [model for model in every if model not in old]
        merge_facts(made)
    know(made)
    return Added(tuple(made), tuple(every), tuple(refused))


def _refuse_retired(model: LanguageModel) -> None:
    """Raise CannotAddError for one that is never to be called, not even once."""
    if model.status == LanguageModel.Status.RETIRED:
        raise CannotAddError(f"it is on the bench as {model.alias}, and retired: restore it first")


def _model(endpoint: Endpoint, one: Candidate, aliases: set[str]) -> LanguageModel:
    model = LanguageModel(
        alias=propose_alias(one.served_id, aliases, endpoint.name),
        endpoint=endpoint,
        served_id=one.served_id,
        role=propose_role(one.served_id, vision=one.vision),
    )
    model.full_clean(validate_unique=False, validate_constraints=False)
    # Its own, since somebody may have taken the alias a moment ago: then the others are added all the same.
    with transaction.atomic():
        model.save()
    aliases.add(model.alias)
    return model


def _endpoint(name: str, base_url: str, protocol: str, **fields: str) -> Endpoint:
    for endpoint in Endpoint.objects.order_by("name"):
        if endpoint.base_url.rstrip("/") == base_url.rstrip("/"):
            return endpoint
    names = set(Endpoint.objects.values_list("name", flat=True))
    endpoint = Endpoint(name=_free_name(name, names), base_url=base_url, protocol=protocol, **fields)
    try:
        endpoint.full_clean()
    except ValidationError as error:
        raise CannotAddError(f"{name} cannot be added: {_words(error)}") from error
    endpoint.save()
    return endpoint


def _free_name(wanted: str, taken: Iterable[str]) -> str:
    base = NOT_OF_A_NAME.sub("-", wanted.lower()).strip("-")[:LONGEST_NAME].strip("-")
    base = base if len(base) > 1 else f"{base or 'endpoint'}-1"
    name, number = base, 2
    while name in taken:
        name, number = f"{base[: LONGEST_NAME - 4]}-{number}", number + 1
    return name


def _filled(provider: Provider, fields: Mapping[str, str]) -> str:
    missing = missing_fields(provider, fields)
    if missing:
        raise CannotAddError(f"{provider.name} needs {', '.join(missing)}: part of its URL {provider.base_url}")
    for name in provider.url_env:
        if not VALUE.fullmatch(fields[name]):
            raise CannotAddError(f"{name} cannot be part of a URL: letters, digits and . _ : / - are, up to 200 of them")
    return VARIABLE.sub(lambda found: fields[found.group(1)].rstrip("/"), provider.base_url)


def missing_fields(provider: Provider, fields: Mapping[str, str]) -> Sequence[str]:
    """The variables in the provider's URL that `fields` has no value for."""
    return [name for name in provider.url_env if not fields.get(name)]


def _words(error: Exception) -> str:
    if isinstance(error, IntegrityError):
        return "somebody took its alias a moment ago: add it again"
    if not isinstance(error, ValidationError):
        return str(error)
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return " ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
