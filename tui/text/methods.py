"""The methods and their options, as `methods` lists them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sampling.features.metric_names import NCU_COMMAND
from sampling.methods.options import about_options
from sampling.methods.registry import DEFAULT_METHOD, method_named, method_names, method_options
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.printable import Column, names

_RECORDING = "to record the metrics of Nsight Compute that they need:"


def method_rows() -> list[dict[str, Any]]:
    """Return each method as the contract's `methods` lists it."""
    return [_row(name) for name in method_names()]


def _row(name: str) -> dict[str, Any]:
    method = method_named(name)
    return {
        "name": name,
        "source": method.source,
        "needs": list(method.needs),
        "options": asdict(method_options(name)),
        "about_options": [asdict(about) for about in about_options(method.options_type)],
        "published_group_by": method.published_grouping.value,
        "default": name == DEFAULT_METHOD,
    }


def methods_text(rows: list[dict[str, Any]], canvas: Canvas) -> str:
    """Return each method with its source, and below it what it needs and its options."""
    marked = [row["name"] + ("*" if row["default"] else "") for row in rows]
    indent = max(map(len, marked)) + 2
    lines = []
    for name, row in zip(marked, rows, strict=True):
        lines += textwrap.wrap(
            row["source"],
            canvas.width,
            initial_indent=f"{name:<{indent}}",
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
        )
        asked = ", ".join(row["needs"])
        needs = f"needs {asked}" if asked else ""
        for text in filter(None, (needs, *_settings(row))):
            lines += textwrap.wrap(
                text,
                canvas.width,
                initial_indent=" " * indent,
                subsequent_indent=" " * (indent + 2),
                break_on_hyphens=False,
            )
    # One line, however long, so that it can be copied.
    recording = ["", _RECORDING, NCU_COMMAND + " ./program"]
    return "\n".join([*lines, "", "* the default; options are set by --set METHOD.NAME=VALUE", *recording])


def methods_blocks(rows: list[dict[str, Any]]) -> list[Block]:
    """Return the methods and their options as tables."""
    options = [(f"{row['name']}.{option['name']}", option) for row in rows for option in row["about_options"]]
    return [
        [
            names("method", [row["name"] for row in rows]),
            Column("source", [row["source"] for row in rows], to_right=False),
            Column("needs", [", ".join(row["needs"]) for row in rows], to_right=False),
        ],
        f"{DEFAULT_METHOD} is the default; options are set by `--set METHOD.NAME=VALUE`:",
        [
            names("option", [name for name, _ in options]),
            Column("default", [_default(option) for _, option in options]),
            Column("values", [option["values"] for _, option in options], to_right=False),
            Column("meaning", [option["meaning"] for _, option in options], to_right=False),
        ],
        f"{_RECORDING} `{NCU_COMMAND} ./program`",
    ]


def _settings(row: dict[str, Any]) -> Iterator[str]:
    """Yield each option with its default, in brackets what it may be, and what it means."""
    for option in row["about_options"]:
        yield f"{row['name']}.{option['name']}={_default(option)} [{option['values']}] {option['meaning']}"


def _default(option: dict[str, Any]) -> str:
    value = option["default"]
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
