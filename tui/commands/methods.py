"""`methods`: the methods and their options."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sampling.methods import DEFAULT_METHOD, method_named, method_names, method_options
from tui.options import OutputOptions
from tui.output import Answer, emit
from tui.tables import Column, table


def run(options: OutputOptions) -> None:
    """List them."""
    rows = [_row(name) for name in method_names()]
    emit(Answer("methods", rows, lambda _: _text(rows)), options)


def _row(name: str) -> dict[str, Any]:
    method = method_named(name)
    return {
        "name": name,
        "source": method.SOURCE,
        "needs": list(method.NEEDS),
        "options": asdict(method_options(name)),
        "published_group_by": method.PUBLISHED_GROUPING.value,
        "default": name == DEFAULT_METHOD,
    }


def _text(rows: list[dict[str, Any]]) -> str:
    return table(
        [
            Column("method", [row["name"] + ("*" if row["default"] else "") for row in rows], to_right=False),
            Column("source", [row["source"] for row in rows], to_right=False),
            Column("needs", [", ".join(row["needs"]) for row in rows], to_right=False),
            Column("options", [_settings(row) for row in rows], to_right=False),
        ]
    )


def _settings(row: dict[str, Any]) -> str:
    return " ".join(f"{row['name']}.{name}={_value(value)}" for name, value in row["options"].items())


def _value(value: Any) -> str:
    return "none" if value is None else str(value)
