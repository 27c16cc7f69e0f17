"""Contracts as they are read: every module has its contract's names, in the contract's order, and a job is plain values."""

import ast
import inspect
import json
import pickle
from dataclasses import asdict
from importlib import import_module
from types import ModuleType
from typing import Any, cast

import pytest

from gateway.chat import ImagePart, Message, TextPart
from gateway.schema.contract import FormatSchema
from gateway.upstream import COMMANDS, PROTOCOLS
from gateway.upstream.contract import CommandProtocol, Target, UpstreamProtocol
from gateway.wire import FORMATS
from gateway.wire.contract import WireFormat
from gateway.workers.job import SeatJob

MODULES = [
    *((WireFormat, one) for one in FORMATS.values()),
    *((UpstreamProtocol, one) for one in PROTOCOLS.values()),
    *((CommandProtocol, one) for one in COMMANDS.values()),
    *((FormatSchema, import_module(f"gateway.schema.formats.{name}")) for name in FORMATS),
]
each = pytest.mark.parametrize(("contract", "module"), MODULES, ids=lambda value: value.__name__)


def defined(body: list[ast.stmt]) -> list[str]:
    """The names that statements define, in their order; what they import is another module's."""
    names: list[str] = []
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names.append(statement.name)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
    return names


def names_of(contract: type) -> list[str]:
    tree = ast.parse(inspect.getsource(contract)).body[0]
    return defined(cast(ast.ClassDef, tree).body)


def test_each_contract_asks_for_something() -> None:
    assert names_of(WireFormat)[:4] == ["NAME", "PREFIXES", "ROUTES", "parse_request"]
    assert {contract for contract, _ in MODULES} == {WireFormat, UpstreamProtocol, CommandProtocol, FormatSchema}


@each
def test_a_module_has_every_name_of_its_contract_in_the_contracts_order(contract: type, module: ModuleType) -> None:
    asked = names_of(contract)
    assert [name for name in asked if not hasattr(module, name)] == []
    own = [name for name in defined(ast.parse(inspect.getsource(module)).body) if name in asked]
    assert own == [name for name in asked if name in own]


@each
def test_a_modules_functions_take_what_the_contract_gives(contract: type, module: ModuleType) -> None:
    for name in names_of(contract):
        promised = getattr(contract, name, None)
        if inspect.isfunction(promised):
            asked = list(inspect.signature(promised).parameters.values())[1:]
            given = inspect.signature(getattr(module, name)).parameters.values()
            assert [(one.name, one.kind) for one in given] == [(one.name, one.kind) for one in asked], name


def test_a_job_is_plain_values_that_another_machine_could_be_sent() -> None:
    target = Target(
        protocol="openai_chat",
        base_url="http://127.0.0.1:9/v1",
        model="served",
        api_key_env="PROVIDER_KEY",
        options={"temperature": 0.2, "stop": ["x"]},
        connect_timeout=1.0,
        first_token_timeout=2.0,
        seat_timeout=3.0,
    )
    parts = (TextPart("What is it?"), ImagePart("https://photos.example/a.png"))
    job = SeatJob(call="p1.member1", alias="fast", target=target, messages=(Message("user", parts),), nominated=True)
    assert pickle.loads(pickle.dumps(job)) == job
    written: dict[str, Any] = json.loads(json.dumps(asdict(job)))
    assert written["messages"][0]["parts"] == [{"text": "What is it?"}, {"url": "https://photos.example/a.png"}]
    assert Target(**written["target"]) == target
