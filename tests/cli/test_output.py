"""The writer itself, for values that the sample data does not hold."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from sampling.json_text import json_text
from tui.options.choices import OutputFormat
from tui.options.shared import OutputOptions
from tui.output.writer import Answer, emit

ODD = {
    "nan": math.nan,
    "infinite": [math.inf, {"deep": -math.inf}],
    "nothing": None,
    "grid": [8, 1, 1],
    "pair": [8, 1],
    "yes": True,
    "third": 1 / 3,
    "name": 'k<a|b>, "x"\\',
    "letters": "größe",
}


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Write the odd row in a format."""

    def write(form: str) -> str:
        answer = Answer("groups", [ODD, ODD], lambda _: "")
        emit(answer, OutputOptions(format=OutputFormat(form)))
        return capsys.readouterr().out

    return write


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is no JSON")


def test_what_is_not_finite_is_null_in_json() -> None:
    read = json.loads(json_text(ODD), parse_constant=_refuse)
    assert read == ODD | {"nan": None, "infinite": [None, {"deep": None}]}


def test_jsonl_is_an_object_a_line(written: Callable[[str], str]) -> None:
    lines = written("jsonl").splitlines()
    assert [json.loads(line, parse_constant=_refuse) for line in lines] == 2 * [json.loads(json_text(ODD))]


def test_csv_cells(written: Callable[[str], str]) -> None:
    import csv

    header, *rows = csv.reader(written("csv").splitlines())
    assert header == list(ODD)
    assert rows[0] == rows[1]
    assert dict(zip(header, rows[0], strict=True)) == {
        "nan": "",
        "infinite": '[null, {"deep": null}]',
        "nothing": "",
        "grid": "8x1x1",
        "pair": "[8, 1]",
        "yes": "true",
        "third": repr(1 / 3),
        "name": 'k<a|b>, "x"\\',
        "letters": "größe",
    }


def test_no_rows_are_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("csv", "jsonl"):
        emit(Answer("groups", [], lambda _: ""), OutputOptions(format=OutputFormat(form)))
        assert capsys.readouterr().out == ""
