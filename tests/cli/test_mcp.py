"""`mcp`: an agent is served what the commands print, by the protocol's own client; nothing writes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from sampling.errors import OptionError
from tests.cli.conftest import JSON, PROJECT, Kernelpoint, cycles_of
from tui.commands import mcp
from tui.options.plan import McpOptions

Asked = tuple[str, dict[str, Any]]


def served(*asked: Asked) -> tuple[list[Any], list[Any]]:
    """The tools that the server has, and what it answers to calls of them, one after the other."""

    async def session() -> tuple[list[Any], list[Any]]:
        server = StdioServerParameters(command=sys.executable, args=["-P", "-m", "tui", "mcp"], cwd=PROJECT)
        async with stdio_client(server) as streams, ClientSession(*streams) as client:
            await client.initialize()
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in asked]

    return asyncio.run(session())


def test_tools_return_what_commands_print(
    kernelpoint: Kernelpoint, resnet_csv: Path, plan_file: Path, tmp_path: Path
) -> None:
    profile, table = str(resnet_csv), str(cycles_of(plan_file, tmp_path / "cycles.csv"))
    calls: list[tuple[Asked, list[object]]] = [
        (("summary", {"profiles": [profile]}), ["summary", profile]),
        (
            ("groups", {"profiles": [profile], "top": 3, "sort": "mean"}),
            ["groups", profile, "--top", 3, "--sort", "mean"],
        ),
        (
            ("sample", {"profiles": [profile], "epsilon": 0.02, "method": "root", "pool": False}),
            ["sample", profile, "--epsilon", 0.02, "--method", "root", "--no-pool"],
        ),
        (
            ("difference", {"before": profile, "after": profile, "fail_above": 0.5}),
            ["difference", profile, profile],
        ),
        (("estimate", {"plan": str(plan_file), "results": [table]}), ["estimate", plan_file, table]),
        (
            ("speedup", {"plan": str(plan_file), "results": [f"a={table}", f"b={table}"]}),
            ["speedup", plan_file, f"a={table}", f"b={table}"],
        ),
    ]
    tools, answers = served(*(asked for asked, _ in calls))
    schemas = {tool.name: tool for tool in tools}
    assert {name for (name, _), _ in calls} == schemas.keys(), "all of them are asked"
    for ((name, arguments), words), answer in zip(calls, answers, strict=True):
        jsonschema.validate(arguments, schemas[name].input_schema)
        assert not answer.is_error, answer.content
        printed = kernelpoint(*words, *JSON).json
        # How long it took differs from call to call.
        assert answer.structured_content["results"] == printed["results"]


WRONG: list[tuple[Asked, str]] = [
    (("summary", {"profiles": ["/nosuch"]}), "/nosuch: no such file or folder; check the path"),
    (("sample", {"profiles": ["p"], "output": "plan.json"}), "sample has no argument output"),
    (("estimate", {"plan": "p", "results": ["r"], "top_up": "more.json"}), "no argument top_up"),
    (("sample", {}), "sample wants profiles; Profile files"),
    (("sample", {"profiles": ["p"], "epsilon": "wide"}), "epsilon: Expected `float`, got `str`"),
    (
        ("sample", {"profiles": ["p"], "epsilon": 5.0}),
        "a fraction between 0 and 1, not 5; did you mean 0.05?",
    ),
    (("export", {"plan": "p"}), "there is no tool export; one of summary, groups"),
]


def test_without_its_package_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    monkeypatch.setattr(mcp, "_is_spoken_to", lambda: True)
    with pytest.raises(OptionError, match=r"mcp is not installed; .*pip install 'kernelpoint\[mcp\]'"):
        mcp.run_mcp(McpOptions())


def test_what_cannot_be_done_is_said_in_the_answer() -> None:
    _, answers = served(*(asked for asked, _ in WRONG))
    for answer, (asked, message) in zip(answers, WRONG, strict=True):
        assert answer.is_error, asked
        assert message in answer.content[0].text
