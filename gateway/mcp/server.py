"""The MCP server: the tools with their schemas, rules and hints. How it is reached is http.py's, and the command's."""

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from mcp_types import ToolAnnotations
from pydantic import ConfigDict, create_model

from gateway.conf import conf
from gateway.mcp import rules
from gateway.mcp.tools import BenchFor, Tools

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
# A panel asks models elsewhere, and each time anew.
_ASKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
_JUDGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class _Arguments(ArgModelBase):
    """A tool's arguments, those alone that it has: one that is misspelt is refused, not dropped."""

    model_config = ConfigDict(extra="forbid")

    def model_dump_one_level(self) -> dict[str, Any]:
        """The arguments by their names in Python: `with` is a word that no parameter can have there."""
        return {name: getattr(self, name) for name in type(self).model_fields}


def build_server(bench_for: BenchFor) -> MCPServer[Any]:
    """Return the server, whose tools use the bench that `bench_for` gives them for each call. Holds no session."""
    tools = Tools(bench_for)
    return MCPServer(
        name="benchsite",
        title="Benchsite",
        instructions=rules.INSTRUCTIONS,
        version=conf.version,
        log_level="WARNING",
        subscriptions=False,
        tools=[
            _tool(tools.list_collections, "List collections", rules.LIST_COLLECTIONS, _READS),
            _tool(tools.ask, "Ask a panel", rules.ASK, _ASKS),
            _tool(tools.get_panel, "Read a panel", rules.GET_PANEL, _READS),
            _tool(tools.verdict, "Record a verdict", rules.VERDICT, _JUDGES),
            _tool(tools.pending_verdicts, "List verdicts owed", rules.PENDING_VERDICTS, _READS),
        ],
    )


def _tool(function: Any, title: str, description: str, annotations: ToolAnnotations) -> Tool:
    tool = Tool.from_function(function, title=title, description=description, annotations=annotations)
    exact = create_model(f"{tool.name}_arguments", __base__=(_Arguments, tool.fn_metadata.arg_model))
    metadata = tool.fn_metadata.model_copy(update={"arg_model": exact})
    return tool.model_copy(update={"fn_metadata": metadata, "parameters": exact.model_json_schema(by_alias=True)})
