"""Every command in every format: data alone on stdout, the same data in each, as the schemas have it."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sampling.readers.registry import read_profile
from tests import rendered_latex
from tests.cli.conftest import Kernelpoint
from tests.rendered_markdown import rendered_tables
from tui.commands.schema import RESULTS, WRITTEN_AS, output_schema
from tui.options.choices import OutputFormat
from tui.options.shared import OutputOptions
from tui.output.writer import CommandResult, emit
from tui.registry import COMMANDS

CommandLines = dict[str, Sequence[object]]

FORMATS = ("table", "csv", "json", "jsonl", "markdown", "latex")
# Their csv and jsonl are rows of the product, of bins, or of a table that JSON nests.
ROWS_OF_THEIR_OWN = {
    *(
        "sample",
        "histogram",
        "timeline",
        "layers",
        "roofline",
        "align",
        "difference",
        "estimate",
        "run",
        "schema",
        "speedup",
    ),
    *("scale open", "scale predict", "scale validate", "scale mrc"),
}
# Their table form is sentences.
SAID_IN_WORDS = {
    *("estimate", "speedup", "study new", "run", "sample", "judge", "methods", "report", "export", "convert"),
    "baseline save",
}
DRAWN = ("roofline", "histogram", "timeline", "tree", "trade-off", "scale predict", "scale validate")
TIMED = "seconds"

every_command = pytest.mark.parametrize("command", COMMANDS)


def as_cell(value: Any) -> str:
    """The contract of a csv cell: nothing for null, 8x1x1 for dimensions, JSON for what is nested."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and len(value) == 3 and all(isinstance(item, int) for item in value):
        return "x".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


#: The keys that scripts rely on, as paths into the results; `[]` is every item of a list.
_GROUP = (
    "rank key name grid block process device launches total_duration_ns share mean_ns std_ns cov min_ns "
    "max_ns"
)
_RANGE = "path depth launches duration_ns share first last source"
_COMPARED = (
    "profile method applicable reason strata samples speedup bound group_bound error_mean error_p95 "
    "error_max within_epsilon"
)
_SIDE = "launches total_ns mean_ns share"
_CHANGE = "before after ratio low high"
_BINDING = "option from to speedup"
_FINDING = "code severity message remedy"
_HOURS = "machine_hours longest_launch_hours"
_METRIC = "metric total low high confidence degrees_of_freedom method incomplete missing share_missing"
_ESTIMATE = {
    "": "promise_met caches groups hardware bounds",
    "metrics[]": _METRIC,
    "seen": "variance_ratio degrees_of_freedom share declared_share exceeds",
    "ratios[]": "name ratio low high",
    "next[]": "id",
}
CONTRACT: dict[str, dict[str, str]] = {
    "summary": {
        "": f"device launches total_duration_ns next promise bounds {_HOURS}",
        "pooled": "groups share",
        "plan": "method strata samples speedup bound group_bound",
        "findings[]": _FINDING,
        "groups[]": _GROUP,
        "binding[]": _BINDING,
    },
    "info": {
        "": "format launches names kernel_groups total_duration_ns devices processes streams span_ns",
        "findings[]": _FINDING,
    },
    "groups": {"[]": f"{_GROUP} clusters samples"},
    "histogram": {"": "edges_ns counts", "clusters[]": "low_ns high_ns launches counts"},
    "tree": {
        "[]": "index depth path launches mean_ns std_ns threshold_ns samples_old tau_old_ns samples_new "
        "tau_new_ns verdict reason left right"
    },
    "sample": {
        "": "method launches strata samples total_duration_ns sampled_duration_ns speedup bound group_bound "
        f"bound_with_noise estimate_ns error floor_ns promise {_HOURS}",
        "pooled": "groups share",
        "judged": "repeats error_mean error_p95 within_epsilon",
        "binding[]": _BINDING,
    },
    "compare": {"[]": f"{_COMPARED} seconds bound_with_noise"},
    "judge": {"": _COMPARED},
    "methods": {"[]": "name source needs options"},
    "export": {"": "files launches"},
    "run": _ESTIMATE,
    "estimate": _ESTIMATE,
    "roofline": {
        "": "peak_operations peak_bytes bounds",
        "run": "share",
        "run.intensity": "value low high",
        "run.performance": "value low high",
        "kernels[]": "key share",
    },
    "speedup": {
        "": "means confidence simultaneous next",
        "configurations[]": "name options_changed",
        "programs[]": "name",
        "programs[].cells[]": "configuration cycles speedup low high verdict",
    },
    "ranks": {"[]": "rank launches waiting_ns"},
    "align": {"": "matched missing_in_trace missing_in_profile first_difference"},
    "timeline": {
        "bins[]": "first last start_ns launches mean_ns min_ns max_ns drawn",
        "ranges[]": _RANGE,
        "iterations[]": _RANGE,
    },
    "ranges": {"[]": _RANGE},
    "layers": {"": "source iterations families launches_outside all_launches share_outside"},
    "difference": {
        "": "basis total_before_ns total_after_ns ratio low high",
        "per_iteration.kernel_ns": _CHANGE,
        "per_iteration.elapsed_ns": _CHANGE,
        "per_iteration.busy": _CHANGE,
        "per_iteration.copies_ns": _CHANGE,
        "per_iteration.iterations": "before after",
        "kernels[]": "key ratio low high status",
        "kernels[].before": _SIDE,
        "kernels[].after": _SIDE,
    },
    "baseline save": {"": "launches bytes"},
    "project": {"[]": "kernel stopped cycle projected_cycles speedup reason"},
    "convert": {"": "launches bytes"},
    "scale predict": {"": "cliff", "predictions[]": "target method ipc low high region note"},
    "scale mrc": {"": "capacity_bytes mpki low high"},
    "scale validate": {"additive.32": "mean max worst n within_interval"},
}
PLAN = {
    "": "schema kind options",
    "profile": "launches total_duration_ns",
    "overrides[]": "key path decision",
    "profile.files[]": "path sha256 launches",
    "strata[]": "key size mean_ns std_ns",
    "strata[].launches[]": "id process device ordinal name grid block occurrence weight duration_ns",
}


def lacking(value: Any, contract: dict[str, str]) -> list[str]:
    """Return the keys of a contract that a value does not have."""
    paths = (f"{head}.{key}".lstrip(".") for head, keys in contract.items() for key in keys.split())
    return [path for path in paths if not has_key(value, path)]


def has_key(value: Any, path: str) -> bool:
    """Whether a path of keys is there, in every item of a list; what is null has nothing below it."""
    if value is None or not path:
        return True
    if path.startswith("[]"):
        return all(has_key(item, path[2:].lstrip(".")) for item in value)
    name = re.split(r"\.|\[", path)[0]
    return name in value and has_key(value[name], path[len(name) :].lstrip("."))


def test_every_command_has_a_schema_and_a_line_here(command_lines: CommandLines) -> None:
    assert set(COMMANDS) == set(command_lines) == RESULTS.keys() | WRITTEN_AS.keys()
    assert set(COMMANDS) == CONTRACT.keys() | WRITTEN_AS.keys() | {
        "report",
        "trade-off",
        "scale derive",
        "schema",
        "mcp",
        "study new",
    }


@pytest.mark.parametrize("command", CONTRACT)
def test_the_keys_of_the_contract_are_there(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    found = kernelpoint(*command_lines[command], "--format", "json").results
    assert lacking(found, CONTRACT[command]) == []


def test_the_keys_of_a_plan_file_are_there(plan_file: Path) -> None:
    assert lacking(json.loads(plan_file.read_text()), PLAN) == []


def test_a_key_that_is_not_there_is_seen() -> None:
    rows = [{"a": {"b": 1}, "c": None}, {"a": {"d": 1}, "c": None}]
    assert lacking(rows, {"[]": "a.b c.e", "[].a": "d"}) == ["[].a.b", "[].a.d"]


@pytest.mark.parametrize("change", [{"busy_share": None, "more": 1}, {"launches": 0}, {"kernel_ns": "1"}])
def test_a_schema_is_of_all_keys_and_no_others(
    kernelpoint: Kernelpoint, command_lines: CommandLines, change: dict[str, Any]
) -> None:
    schema = kernelpoint("schema", "ranks", "--format", "json").results
    assert kernelpoint("schema", "ranks").out == json.dumps(schema, indent=1) + "\n"
    document = kernelpoint(*command_lines["ranks"], "--format", "json").json
    jsonschema.validate(document, schema)
    for row in ({**document["results"][0], **change}, {"process": 0}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document | {"results": [row]}, schema)


@every_command
def test_a_schema_leaves_no_keys_open(command: str) -> None:
    schema = output_schema(command)
    records = [part for part in (schema, *schema["$defs"].values()) if "properties" in part]
    assert [part["title"] for part in records if part["additionalProperties"] is not False] == []
    results = schema["properties"]["results"]
    assert (results == {"type": "object"}) == (command == "schema")


def test_a_schema_of_no_command_is_refused(kernelpoint: Kernelpoint) -> None:
    assert "'scale predic' is no command; did you mean 'scale predict'?" in kernelpoint(
        "schema", "scale", "predic"
    ).failed(2)
    assert kernelpoint("schema", "diff").out == kernelpoint("schema", "difference").out


@pytest.mark.parametrize("form", FORMATS)
@every_command
def test_succeeds(kernelpoint: Kernelpoint, command_lines: CommandLines, command: str, form: str) -> None:
    run = kernelpoint(*command_lines[command], "--format", form)
    assert run.code == 0, run.err
    assert run.out.endswith("\n")
    assert not run.out.endswith("\n\n")
    assert "kernelpoint: " not in run.out
    assert "\x1b" not in run.out + run.err
    if form == "json":
        jsonschema.validate(run.json, output_schema(command))


@every_command
def test_csv_jsonl_and_json_have_the_same_rows(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    table = kernelpoint(*command_lines[command], "--format", "csv").csv
    lines = kernelpoint(*command_lines[command], "--format", "jsonl").jsonl
    results = kernelpoint(*command_lines[command], "--format", "json").results
    rows = results if isinstance(results, list) else [results]
    assert len(table) == len(lines) > 0
    assert [list(cells) for cells in table] == [list(row) for row in lines]
    for row in (*lines, *table, *rows):
        row.pop(TIMED, None)
    assert table == [{name: as_cell(value) for name, value in row.items()} for row in lines]
    assert command in ROWS_OF_THEIR_OWN or lines == rows


@every_command
def test_markdown_is_for_people(kernelpoint: Kernelpoint, command_lines: CommandLines, command: str) -> None:
    text = kernelpoint(*command_lines[command], "--format", "markdown").out
    tables = rendered_tables(text)
    assert len(tables) >= (command not in SAID_IN_WORDS)
    if command == "schema":
        # It is about keys.
        assert "`selection.left_out.share`" in text
        return
    assert not re.search(r"\d\.\d{5}|[\[{]\"|\w_ns\b|\b(None|null|true|false|nan)\b", text)
    assert [len(set(map(len, cells))) for cells in tables] == [1] * len(tables)


@every_command
def test_latex_has_the_tables_of_markdown(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    words = (*command_lines[command], "--format")
    tables, of_markdown = (
        read(kernelpoint(*words, form).out)
        for read, form in ((rendered_latex.rendered_tables, "latex"), (rendered_tables, "markdown"))
    )
    # Minus signs and the dashes of ranges are signs of their own; bars, which no ASCII has, are left out.
    signs = str.maketrans("\u2212\u2013", "--")
    for rows, wanted in zip(tables, of_markdown, strict=True):
        columns = [cells for cells in zip(*wanted, strict=True) if "".join(cells).isascii()]
        shown = [row for row in zip(*columns, strict=True) if row != ("", "value")]
        assert [tuple(cell.translate(signs) for cell in row) for row in rows] == shown


@pytest.mark.parametrize("command", ["groups", "difference"])
def test_markdown_shows_whole_names(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    words = (*command_lines[command], "--top", "99", "--format")
    heading, *rows = rendered_tables(kernelpoint(*words, "markdown").out)[-1]
    assert heading[-1].startswith("kernel")
    assert [row[-1] for row in rows] == [row["key"] for row in kernelpoint(*words, "jsonl").jsonl]
    assert sum("<float" in row[-1] for row in rows) > 5


@every_command
def test_glyphs_and_colours_are_as_asked(
    kernelpoint: Kernelpoint, command_lines: CommandLines, command: str
) -> None:
    words = command_lines[command]
    assert kernelpoint(*words, "--ascii").stdout.isascii()
    if command not in DRAWN:
        return
    plain = kernelpoint(*words, "--color", "never", FORCE_COLOR="1")
    assert not plain.stdout.isascii()
    assert "\x1b" not in plain.out
    assert kernelpoint(*words, NO_COLOR="1", FORCE_COLOR="1").out == plain.out
    assert kernelpoint(*words, LC_ALL="C").stdout.isascii()
    assert "\x1b[" in kernelpoint(*words, "--color", "always", NO_COLOR="1").out
    for form in FORMATS[1:]:
        assert "\x1b" not in kernelpoint(*words, "--color", "always", "--format", form).out


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        *((command, columns) for command in ("summary", "histogram", "tree") for columns in (60, 80, 132)),
        *((command, 80) for command in ("sample", "judge", "difference")),
        *((f"scale {command}", 80) for command in ("predict", "validate", "derive", "mrc")),
    ],
)
def test_what_is_drawn_keeps_to_the_width(
    kernelpoint: Kernelpoint, command_lines: CommandLines, resnet: Path, command: str, columns: int
) -> None:
    lines = kernelpoint(*command_lines[command], COLUMNS=str(columns)).out.splitlines()
    # Commands to copy and names of files stay whole, however long.
    drawn = [line for line in lines if str(resnet) not in line and not line.startswith("Next: ")]
    assert max(map(len, drawn)) <= columns


ODD = {
    "nan": (math.nan, ""),
    "infinite": ([math.inf, {"deep": -math.inf}], '[null, {"deep": null}]'),
    "nothing": (None, ""),
    "grid": ([8, 1, 1], "8x1x1"),
    "pair": ([8, 1], "[8, 1]"),
    "yes": (True, "true"),
    "third": (1 / 3, repr(1 / 3)),
    "name": ('k<a|b>, "x"\\', 'k<a|b>, "x"\\'),
    "letters": ("größe", "größe"),
}


FORMULAS = {
    **{
        text: f"'{text}"
        for text in ("=1+1", "+cmd|' /C calc'!A0", "-a", "@SUM(1)", "\tx", "\r=1", "'=1", "=")
    },
    **{text: text for text in ("a=b", "'a'", "-1.5", "+2e-3", "a\rb", "a\nb")},
}


def test_in_a_file_no_cell_is_a_formula(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"name": text, "bound": -0.5, "grid": [8, 1, 1], "low": -3} for text in FORMULAS]
    result = CommandResult("groups", rows, lambda _: "")
    path = tmp_path / "rows.csv"
    for output in (None, str(path)):
        emit(result, OutputOptions(format=OutputFormat.CSV, output=output))
    with path.open(newline="") as file:
        in_file = list(csv.DictReader(file))
    assert [row["name"] for row in in_file] == list(FORMULAS.values())
    assert {(row["bound"], row["grid"], row["low"]) for row in in_file} == {("-0.5", "8x1x1", "-3")}
    to_read_on = list(csv.DictReader(io.StringIO(capsys.readouterr().out, newline="")))
    assert [row["name"] for row in to_read_on] == list(FORMULAS), "a script gets what the profile says"


def test_a_table_of_such_cells_is_read_as_it_was(tmp_path: Path) -> None:
    names = [name for name in FORMULAS if name.strip() == name and "\n" not in name]
    rows = [{"name": name, "duration_ns": 5} for name in names]
    path = tmp_path / "launches.csv"
    result = CommandResult("groups", rows, lambda _: "")
    emit(result, OutputOptions(format=OutputFormat.CSV, output=str(path)))
    profile = read_profile([str(path)])
    read = [profile.kernels.names.full(code) for code in range(len(names))]
    assert read == names


def test_values_that_the_samples_do_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    def written(form: str, rows: int) -> str:
        result = CommandResult(
            "groups", [{name: value for name, (value, _) in ODD.items()}] * rows, lambda _: ""
        )
        emit(result, OutputOptions(format=OutputFormat(form)))
        return capsys.readouterr().out

    assert [written(form, 0) for form in ("csv", "jsonl")] == ["", ""]
    expected = {name: cell for name, (_, cell) in ODD.items()}
    assert list(csv.DictReader(written("csv", 2).splitlines())) == [expected] * 2
    finite = {name: value for name, (value, _) in ODD.items()} | {
        "nan": None,
        "infinite": [None, {"deep": None}],
    }
    assert [json.loads(line) for line in written("jsonl", 2).splitlines()] == [finite] * 2
