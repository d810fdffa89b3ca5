"""Every command in every format: data alone on stdout, and the same data in each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from tests.rendered_markdown import rendered_tables

Run = Any
Kernelpoint = Callable[..., Run]
CommandLines = dict[str, Sequence[object]]

COMMANDS = (
    *("open", "summary", "info", "groups", "ranges", "histogram", "timeline", "tree", "sample"),
    *("trade-off", "compare", "judge", "difference", "align", "estimate", "report", "methods", "export"),
    "run",
    *("project", "convert", "demo"),
    *("scale open", "scale predict", "scale validate", "scale derive", "scale mrc"),
)
FORMATS = ("table", "csv", "json", "jsonl", "markdown")
# Their csv and jsonl are rows of the product, of bins, or of a table that JSON nests.
ROWS_OF_THEIR_OWN = {
    "sample",
    "histogram",
    "timeline",
    "align",
    "difference",
    "estimate",
    "run",
    "scale open",
    "scale predict",
    "scale validate",
    "scale mrc",
}
# Their table form is sentences.
SAID_IN_WORDS = {"estimate", "run", "sample", "judge", "report", "export", "convert"}
DRAWN = ("histogram", "timeline", "tree", "trade-off", "scale predict", "scale validate")
TIMED = "seconds"


def rows_of(answer: Any) -> list[dict[str, Any]]:
    return answer if isinstance(answer, list) else [answer]


def as_cell(value: Any) -> str:
    """The contract of a csv cell: nothing for null, 8x1x1 for dimensions, JSON for what is nested."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and len(value) == 3 and all(isinstance(item, int) for item in value):
        return "x".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def test_the_list_of_commands_here_is_whole() -> None:
    from tui.registry import COMMANDS as REGISTERED

    assert set(COMMANDS) == set(REGISTERED)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", COMMANDS)
def test_succeeds(kernelpoint: Kernelpoint, command_lines: CommandLines, command: str, form: str) -> None:
    run = kernelpoint(*command_lines[command], "--format", form)
    assert run.code == 0, run.err
    assert run.out.endswith("\n")
    assert not run.out.endswith("\n\n")
    assert "kernelpoint: " not in run.out
    assert "\x1b" not in run.out + run.err


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_the_contract(
    kernelpoint: Kernelpoint, command_lines: CommandLines, schemas: ModuleType, command: str
) -> None:
    answer = kernelpoint(*command_lines[command], "--format", "json").json
    jsonschema.validate(answer, schemas.envelope(command))


@pytest.mark.parametrize("profile", ["resnet", "resnet_csv", "gpt2"])
@pytest.mark.parametrize("command", ["summary", "info", "groups", "histogram", "tree", "sample"])
def test_json_is_the_contract_for_every_format_of_profile(
    kernelpoint: Kernelpoint,
    request: pytest.FixtureRequest,
    schemas: ModuleType,
    command: str,
    profile: str,
) -> None:
    run = kernelpoint(command, request.getfixturevalue(profile), "--format", "json")
    jsonschema.validate(run.json, schemas.envelope(command))


@pytest.mark.parametrize("command", COMMANDS)
def test_csv_and_jsonl_agree_row_by_row(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    table = kernelpoint(*command_lines[command], "--format", "csv").csv
    lines = kernelpoint(*command_lines[command], "--format", "jsonl").jsonl
    assert len(table) == len(lines) > 0
    for cells, row in zip(table, lines, strict=True):
        assert list(cells) == list(row)
        row.pop(TIMED, None)
        cells.pop(TIMED, None)
        assert cells == {name: as_cell(value) for name, value in row.items()}


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ROWS_OF_THEIR_OWN])
def test_jsonl_rows_are_the_results_of_json(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    results = rows_of(kernelpoint(*command_lines[command], "--format", "json").results)
    lines = kernelpoint(*command_lines[command], "--format", "jsonl").jsonl
    for row in (*results, *lines):
        row.pop(TIMED, None)
    assert lines == results


def test_histogram_rows_are_its_bins(kernelpoint: Kernelpoint, command_lines: CommandLines) -> None:
    answer = kernelpoint(*command_lines["histogram"], "--format", "json").results
    rows = kernelpoint(*command_lines["histogram"], "--format", "jsonl").jsonl
    assert [row["count"] for row in rows] == answer["counts"]
    assert [row["low_ns"] for row in rows] == answer["edges_ns"][:-1]
    assert [row["high_ns"] for row in rows] == answer["edges_ns"][1:]
    for number, cluster in enumerate(answer["clusters"]):
        assert [row[f"cluster_{number}"] for row in rows] == cluster["counts"]


def test_sample_rows_are_the_drawn_launches(
    kernelpoint: Kernelpoint, command_lines: CommandLines, plan_file: Path, schemas: ModuleType
) -> None:
    rows = kernelpoint(*command_lines["sample"], "--format", "jsonl").jsonl
    jsonschema.validate(rows, {"type": "array", "items": schemas.LAUNCH})
    plan = json.loads(plan_file.read_text())
    drawn = [launch for stratum in plan["strata"] for launch in stratum["launches"]]
    assert sorted(rows, key=lambda row: row["id"]) == sorted(drawn, key=lambda row: row["id"])


@pytest.mark.parametrize("command", COMMANDS)
def test_markdown_is_for_people(kernelpoint: Kernelpoint, command_lines: CommandLines, command: str) -> None:
    text = kernelpoint(*command_lines[command], "--format", "markdown").out
    tables = rendered_tables(text)
    assert len(tables) >= (command not in SAID_IN_WORDS)
    assert not re.search(r"\d\.\d{5}|[\[{]\"|\w_ns\b|\b(None|null|true|false|nan)\b", text)
    assert [len(set(map(len, cells))) for cells in tables] == [1] * len(tables)


@pytest.mark.parametrize("command", ["groups", "difference"])
def test_markdown_shows_whole_names(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    words = (*command_lines[command], "--top", "99", "--format")
    (heading, *rows) = rendered_tables(kernelpoint(*words, "markdown").out)[-1]
    known = kernelpoint(*words, "jsonl").jsonl
    assert heading[-1].startswith("kernel")
    assert [row[-1] for row in rows] == [row["key"] for row in known]
    assert sum("<float" in row[-1] for row in rows) > 5


@pytest.mark.parametrize(
    ("command", "words"),
    [("sample", ["--list", "strata"]), ("sample", ["--list", "launches"]), ("estimate", ["--groups"])],
)
def test_markdown_has_the_figures_of_the_table(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str, words: list[str]
) -> None:
    lines = kernelpoint(*command_lines[command], *words).out.splitlines()
    drawn = [re.split(r"\s{2,}", line.strip()) for line in lines]
    rows = rendered_tables(kernelpoint(*command_lines[command], *words, "--format", "markdown").out)[-1]
    assert len(rows) > 10
    # But for the names, which have more room.
    assert [row[:-1] for row in rows] == [row[:-1] for row in drawn if len(row) == len(rows[0])]


@pytest.mark.parametrize("command", COMMANDS)
def test_ascii_has_no_glyph_beyond_it(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    assert kernelpoint(*command_lines[command], "--ascii").stdout.isascii()


@pytest.mark.parametrize("command", DRAWN)
def test_charts_use_glyphs_where_they_can(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    assert not kernelpoint(*command_lines[command]).stdout.isascii()
    assert kernelpoint(*command_lines[command], LC_ALL="C").stdout.isascii()


@pytest.mark.parametrize("command", DRAWN)
def test_color_is_as_asked(kernelpoint: Kernelpoint, command_lines: CommandLines, command: str) -> None:
    plain = kernelpoint(*command_lines[command], "--color", "never", FORCE_COLOR="1").out
    assert "\x1b" not in plain
    assert "\x1b[" in kernelpoint(*command_lines[command], "--color", "always", NO_COLOR="1").out
    assert kernelpoint(*command_lines[command], NO_COLOR="1", FORCE_COLOR="1").out == plain


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "markdown"])
@pytest.mark.parametrize("command", DRAWN)
def test_data_is_never_colored(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str, form: str
) -> None:
    run = kernelpoint(*command_lines[command], "--color", "always", "--format", form)
    assert "\x1b" not in run.out


@pytest.mark.parametrize("columns", [60, 80, 132])
@pytest.mark.parametrize("command", ["summary", "histogram", "tree"])
def test_one_screen_forms_keep_to_the_width(
    kernelpoint: Kernelpoint, resnet: Path, command: str, columns: int
) -> None:
    lines = kernelpoint(command, resnet, COLUMNS=str(columns)).out.splitlines()
    # File names and commands to copy stay whole, however long.
    drawn = [line for line in lines if str(resnet) not in line]
    assert max(map(len, drawn)) <= columns


@pytest.mark.parametrize(
    "command",
    ["sample", "judge", "difference", "scale predict", "scale validate", "scale derive", "scale mrc"],
)
def test_figures_fit_an_80_column_terminal(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    lines = kernelpoint(*command_lines[command], COLUMNS="80").out.splitlines()
    # Commands to copy and names of files stay whole, however long.
    assert max(len(line) for line in lines if not line.startswith(("Next: ", "before: ", "after: "))) <= 80
