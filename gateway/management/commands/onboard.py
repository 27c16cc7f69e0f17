"""python manage.py onboard: from a key in the environment, or a server of this machine, to models that answer."""

import json
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from typing import Any

from auditlog.context import set_extra_data
from django.core.management.base import CommandError, CommandParser

from collections_app.catalog.onboarding.adding import CannotAddError, endpoint_at, endpoint_for, missing_fields
from collections_app.catalog.onboarding.first_run import take_in_shipped
from collections_app.catalog.onboarding.offers import Offer, fields_found, key_found, keys_found, offers, providers
from collections_app.catalog.onboarding.probe_local import PORTS, LocalServer, probe
from collections_app.catalog.providers import Provider
from collections_app.management.base import BenchCommand
from collections_app.models import Endpoint
from collections_app.secret_file import SecretFileError
from collections_app.selectors import nearest
from collections_app.services.provider_keys import NO_KEY, is_key, store_key
from gateway.management.at_endpoint import Wish, onboard_models
from gateway.management.terminal import Terminal, printable, somebody_is_there

USUAL = ", ".join(f"{port} ({name})" for port, name in PORTS.items())
HELP = f"""\
Add a provider's endpoint and models of it, and try each with one short call.

Without a PROVIDER: tells which providers' keys are in the environment or in .env, by name; what they hold is shown nowhere.
With one: adds its endpoint, lists its models with what is known of them, adds those chosen, tries them, and tells who answered.
--local looks for model servers on this machine, at the ports given or else at
{USUAL}.

With --json nothing is asked.
"""
EXAMPLE = """
python manage.py onboard
python manage.py onboard groq --all-free
python manage.py onboard openrouter --add qwen/qwen3-coder:free openai/gpt-oss-120b:free
python manage.py onboard cloudflare-workers-ai --set CLOUDFLARE_ACCOUNT_ID=0123abcd --all-free
python manage.py onboard --local 8080 11434
"""


class Command(BenchCommand):
    help = HELP
    example = EXAMPLE
    reports = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("provider", nargs="?", help="its id in models.dev, such as groq, or the name of an endpoint here")
        parser.add_argument("--local", nargs="*", type=_port, metavar="PORT", help="look for model servers on this machine")
        parser.add_argument("--add", nargs="+", default=[], metavar="ID", help="add these models, by the ids that it serves")
        parser.add_argument("--all-free", action="store_true", help="add every model of it that is free and not here yet")
        parser.add_argument(
            "--set", nargs="+", default=[], type=_pair, metavar="NAME=VALUE", help="what the provider's URL needs"
        )
        parser.add_argument("--yes", action="store_true", help="ask nothing: of a provider add the free models")

    def handle(self, *args: Any, provider: str | None, **options: Any) -> None:
        self._options = options
        asks = somebody_is_there() and not options["yes"] and not options["json"]
        self._terminal = Terminal(self.stdout, self.stderr, asks=asks, quiet=options["json"])
        if provider and options["local"] is not None:
            raise CommandError("Name a provider or --local, not both.")
        if options["add"] and not provider and options["local"] is None:
            raise CommandError("--add goes with a provider or with --local.")
        try:
            with set_extra_data({"additional_data": {"by": "onboard"}}):
                take_in_shipped()
                self._onboard(provider)
        except (CannotAddError, SecretFileError) as error:
            raise CommandError(str(error)) from error
        finally:
            self._terminal.under_way("")

    def _onboard(self, provider: str | None) -> None:
        endpoints = self._of_this_machine() if self._options["local"] is not None else self._of_providers(provider)
        done = [onboard_models(endpoint, self._wish(), self._terminal) for endpoint in endpoints]
        if self._options["json"]:
            found = [_offer_as_json(offer) for offer in key_found(offers())]
            self.stdout.write(json.dumps({"keys": found, "endpoints": [each.as_json() for each in done]}, indent=2))
        tried = [one for each in done for one in each.tried]
        if tried and not any(one.outcome == "answered" for one in tried):
            raise CommandError("no model answered; why, and what to do, stands above. They are on the bench all the same.")

    def _wish(self) -> Wish:
        local = self._options["local"] is not None
        free = self._options["all_free"] or (self._options["yes"] and not local)
        # Who looks on this machine has named what to add: what runs there.
        return Wish(self._options["add"], all_free=free, everything=local)

    def _of_this_machine(self) -> list[Endpoint]:
        self._terminal.under_way("Looking for model servers on this machine…")
        servers = list(probe(self._options["local"]))
        if not servers:
            ports = self._options["local"] or PORTS
            raise CommandError(f"no model server answered on 127.0.0.1 at {', '.join(map(str, ports))}")
        for server in servers:
            locked = ", asks for a key: type it in on its endpoint's page" if server.asks_for_key else ""
            self._terminal.say(f"{server.kind} at {server.base_url}{locked}")
        return [endpoint_at(server) for server in servers if self._wants(server)]

    def _wants(self, server: LocalServer) -> bool:
        return self._terminal.confirm(f"Add {server.kind} at port {server.port}?")

    def _of_providers(self, name: str | None) -> Iterator[Endpoint]:
        """The endpoint that was asked for; without a name those of every key found that are wanted."""
        if name:
            yield self._named(name)
            return
        found = key_found(offers())
        self._tell_found(found)
        goes_on = self._terminal.asks or self._options["yes"] or self._options["all_free"]
        for offer in found if goes_on else ():
            if self._terminal.confirm(f"Onboard {offer.provider.name}?"):
                yield self._of(offer.provider)

    def _tell_found(self, found: Sequence[Offer]) -> None:
        if not found:
            self._terminal.say("No provider's key is in the environment or in .env. Set one and run this again, or name a")
            self._terminal.say("provider whose key you type in, or look on this machine: python manage.py onboard --local")
            return
        self._terminal.say("Keys found:")
        rows = [
            [
                offer.provider.id,
                ", ".join(offer.reach.keys),
                f"{offer.free} free" if offer.free else "none known to be free",
                "endpoint " + ", ".join(endpoint.name for endpoint in offer.reach.endpoints)
                if offer.reach.endpoints
                else "new",
            ]
            for offer in found
        ]
        self._terminal.table(["provider", "key", "models", "here"], rows)
        self._terminal.say(f"Go on with one of them: python manage.py onboard {found[0].provider.id} --all-free")

    def _named(self, name: str) -> Endpoint:
        if endpoint := Endpoint.objects.filter(name=name).first():
            return endpoint
        known = providers()
        if name not in known:
            alike = nearest(name, list(known))
            meant = f": did you mean {', '.join(alike)}?" if alike else ""
            raise CommandError(f"there is no provider {printable(name)!r}{meant}")
        return self._of(known[name])

    def _of(self, provider: Provider) -> Endpoint:
        """The provider's endpoint; what its URL needs and its key are asked for where they are not at hand."""
        fields = dict(self._options["set"])
        if self._terminal.asks:
            for name in missing_fields(provider, {**fields_found(provider), **fields}):
                fields[name] = self._terminal.ask(f"{name}, a part of the URL {provider.base_url}: ")
        endpoint = endpoint_for(provider, fields)
        if not keys_found(provider) and not endpoint.typed_key_id and provider.key_env:
            self._ask_for_key(provider, endpoint)
        return endpoint

    def _ask_for_key(self, provider: Provider, endpoint: Endpoint) -> None:
        names = " or ".join(provider.key_env)
        if self._terminal.asks:
            key = self._terminal.ask_secret(f"{provider.name}'s key (not shown, kept encrypted; nothing: go on without): ")
            if key and is_key(key):
                store_key(endpoint, key)
                return
            if key:
                self._terminal.say(NO_KEY)
        self._terminal.say(f"{names} is not set: set it in .env, or type the key in on the endpoint's page of the dashboard.")


def _offer_as_json(offer: Offer) -> dict[str, Any]:
    return {
        "provider": offer.provider.id,
        "variables": list(offer.reach.keys),
        "free": offer.free,
        "endpoints": [endpoint.name for endpoint in offer.reach.endpoints],
    }


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:6]) < 65536):
        raise ArgumentTypeError("a port is a number from 1 to 65535")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name and value):
        raise ArgumentTypeError("what the URL needs is given as NAME=VALUE")
    return name, value
