"""`mcp`: what only reads, as tools of an agent, over stdin and stdout (Model Context Protocol).

A tool is a command with `--format json`: its arguments are the command's options, what it returns is what the
command prints. Each call is a process of its own, for stdout is the protocol's here. Where nobody speaks the
protocol on stdin the tools are listed, and how an agent is told of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_type_hints

from msgspec import ValidationError, convert
from msgspec.json import schema_components

from sampling.errors import OptionError
from sampling.plan import request
from tui import __version__
from tui.commands.schema import ServedTool, output_schema
from tui.options.choices import OutputFormat
from tui.options.command_line import command_line
from tui.options.plan import McpOptions
from tui.output.blocks import Block, CommandLine, Preformatted
from tui.output.writer import Canvas, CommandResult, emit
from tui.registry import COMMANDS
from tui.terminal.diagnostics import PROGRAM, ExitCode
from tui.terminal.printable import Column, table

if TYPE_CHECKING:
    import mcp_types as types

_TOOLS = ("summary", "groups", "sample", "difference", "speedup", "estimate")
# What is about a terminal or the form of the results.
_NOT_OFFERED = {"format", "force", "quiet", "ascii", "color", "width", "height"}


def run_mcp(options: McpOptions) -> None:
    """Answer requests until stdin ends, or list the tools where it is no pipe."""
    if _is_spoken_to():
        _serve()
        return
    tools = [ServedTool(name, COMMANDS[name].help, list(_values(name))) for name in _TOOLS]
    emit(CommandResult("mcp", tools, lambda canvas: _tool_blocks(tools, canvas)), options)


def _is_spoken_to() -> bool:
    """Return whether stdin is a pipe or a socket, as an agent starts a server."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _tool_blocks(tools: Sequence[ServedTool], canvas: Canvas) -> Iterator[Block]:
    """Yield what an agent can ask, and how it is told of this server."""
    yield "An agent that is told of this server can ask, and nothing is written:"
    names, helps = [tool.name for tool in tools], [tool.help for tool in tools]
    columns = [Column("tool", names, to_right=False), Column("what", helps, to_right=False)]
    yield columns if canvas.is_page else Preformatted(table(columns))
    yield CommandLine(f"{PROGRAM} mcp", "Its settings name the command that starts it: ")


def _serve() -> None:
    """Answer requests until stdin ends; OptionError where the package `mcp` is not installed."""
    try:
        from mcp.server.lowlevel import Server
        from mcp.server.stdio import stdio_server
    except ImportError as error:
        remedy = "install it beside kernelpoint: pip install 'kernelpoint[mcp]'"
        raise OptionError("the package mcp is not installed", remedy=remedy) from error
    import mcp_types as types

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name) for name in _TOOLS])

    async def call_tool(_: Any, called: types.CallToolRequestParams) -> types.CallToolResult:
        return await _call(called.name, called.arguments or {})

    async def serve() -> None:
        server = Server("kernelpoint", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (requests, answers):
            await server.run(requests, answers, server.create_initialization_options())

    asyncio.run(serve())


def _values(name: str) -> dict[str, tuple[Any, str]]:
    """Return what can be asked of a command: the type of each value, and what it means."""
    kind = COMMANDS[name].options
    hints = get_type_hints(kind)
    values = {
        option.name: (hints[option.name], option.metadata["help"])
        for option in fields(kind)
        if option.name not in _NOT_OFFERED
        and option.metadata.get("help")
        # What it writes somewhere is nobody's to ask.
        and not option.metadata.get("product")
    }
    asked = {asked: (request.value_type(asked), request.option(asked).help) for asked in kind.request_names}
    return values | asked


def _tool(name: str) -> types.Tool:
    """Return a command as a tool."""
    import mcp_types as types

    values = _values(name)
    schemas, components = schema_components(
        [kind for kind, _ in values.values()], ref_template="#/$defs/{name}"
    )
    kind = COMMANDS[name].options
    required = [option.name for option in fields(kind) if option.metadata.get("required")]
    properties = {
        value: schema | {"description": text}
        for (value, (_, text)), schema in zip(values.items(), schemas, strict=True)
    }
    return types.Tool(
        name=name,
        description=COMMANDS[name].help,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
            "$defs": components,
        },
        output_schema=output_schema(name),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _words(name: str, arguments: Mapping[str, Any]) -> list[str]:
    """Return the command line of a call.

    Raises OptionError: the command has no such option, or it is none that only reads, or of another type.
    """
    values, kind = _values(name), COMMANDS[name].options
    if stray := arguments.keys() - values.keys():
        raise OptionError(f"{name} has no argument {min(stray)}", remedy=f"one of {', '.join(values)}")
    typed: dict[str, Any] = {}
    for argument, value in arguments.items():
        try:
            typed[argument] = convert(value, values[argument][0])
        except ValidationError as error:
            raise OptionError(f"{argument}: {error}") from error
    requested = {argument: typed.pop(argument) for argument in kind.request_names if argument in typed}
    if missing := [
        option.name for option in fields(kind) if option.metadata.get("required") and option.name not in typed
    ]:
        raise OptionError(f"{name} wants {missing[0]}", remedy=values[missing[0]][1])
    options = kind(**typed, format=OutputFormat.JSON, quiet=True).with_request(**requested)
    return shlex.split(command_line(name, options))[1:]


async def _call(name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """Run a command; of a failed one return what it says."""
    import mcp_types as types

    try:
        if name not in _TOOLS:
            raise OptionError(f"there is no tool {name}", remedy=f"one of {', '.join(_TOOLS)}")
        words = _words(name, arguments)
    except OptionError as error:
        return types.CallToolResult(content=[types.TextContent(text=error.text)], is_error=True)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "tui", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, said = await process.communicate()
    if not printed or process.returncode not in {ExitCode.OK, ExitCode.EMPTY_OR_CHECK}:
        return types.CallToolResult(content=[types.TextContent(text=said.decode())], is_error=True)
    # A gate that failed leaves results; what it says stands beside them.
    texts = [types.TextContent(text=text.decode()) for text in (printed, said) if text]
    return types.CallToolResult(content=list(texts), structured_content=json.loads(printed))
