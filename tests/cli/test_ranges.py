"""`ranges`: the tree in every form, what is not listed, and what selects a listed range."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import small_recordings

Kernelpoint = Callable[..., Any]


@pytest.fixture(scope="module")
def unlike(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three launches that nothing repeats, in a format without ranges."""
    path = tmp_path_factory.mktemp("unlike") / "x.parquet"
    pq.write_table(pa.table({"name": list("abc"), "duration_ns": [5, 6, 7]}), path)
    return path


def test_steps_hold_the_launches_that_selecting_them_keeps(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    rows = kernelpoint("ranges", gpt2, "--format", "json").results
    named = [row for row in rows if row["source"] == "named"]
    assert [row["path"] for row in named] == [f"ProfilerStep#{step}" for step in range(87)]
    for row in (named[0], named[50]):
        chosen = kernelpoint("info", gpt2, "--range", row["path"], "--format", "json").results
        assert (chosen["launches"], chosen["total_duration_ns"]) == (row["launches"], row["duration_ns"])
    assert sum(row["share"] for row in named) <= 1
    assert all(after["first"] > before["last"] for before, after in pairwise(named))


def test_iterations_are_selected_by_their_ids(kernelpoint: Kernelpoint, resnet: Path) -> None:
    rows = kernelpoint("ranges", resnet, "--format", "json").results
    assert {row["source"] for row in rows} == {"found"}
    assert (rows[0]["path"], rows[0]["depth"], rows[0]["times"]) == ("iterations", 0, 100)
    row = rows[8]
    window = f"{row['first']}:{row['last'] + 1}"
    assert f"7: --launches {window}" in kernelpoint("ranges", resnet, "--top", "101").out
    chosen = kernelpoint("info", resnet, "--launches", window, "--format", "json").results
    assert (chosen["launches"], chosen["total_duration_ns"]) == (row["launches"], row["duration_ns"])


@pytest.mark.parametrize("ascii_only", [False, True])
def test_the_tree_is_drawn_in_eighty_columns(
    kernelpoint: Kernelpoint, tmp_path: Path, ascii_only: bool
) -> None:
    path = small_recordings.kineto(tmp_path, "2.4")
    run = kernelpoint("ranges", path, *(["--ascii"] if ascii_only else []))
    lines = run.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["launches", "time", "share", "times", "ids", "range"]
    assert run.out.isascii() or not ascii_only


def test_what_is_not_listed_is_said(kernelpoint: Kernelpoint, resnet: Path) -> None:
    assert "and 98 ranges of no more time: --top N" in kernelpoint("ranges", resnet, "--top", "3").out
    assert "and 100 deeper ranges: --depth N" in kernelpoint("ranges", resnet, "--depth", "0").out
    rows = kernelpoint("ranges", resnet, "--top", "3", "--format", "jsonl").jsonl
    assert len(rows) == 3
    assert rows[0]["depth"] == 0


def test_by_time_the_longest_is_first(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    rows = kernelpoint("ranges", gpt2, "--sort", "time", "--format", "json").results
    steps = [row["duration_ns"] for row in rows if row["source"] == "named"]
    assert steps == sorted(steps, reverse=True)


def test_filters_come_before(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    run = kernelpoint("ranges", gpt2, "--launches", "100:200", "--format", "json")
    named = [row for row in run.results if row["source"] == "named"]
    assert [(row["path"], row["first"], row["last"]) for row in named] == [
        ("ProfilerStep#0", 100, 159),
        ("ProfilerStep#1", 160, 199),
    ]
    assert sum(row["share"] for row in named) == pytest.approx(1)
    assert run.json["selection"]["filters"] == {"launches": "100:200"}


def test_none_at_all_is_an_empty_list_and_a_note(kernelpoint: Kernelpoint, unlike: Path) -> None:
    run = kernelpoint("ranges", unlike, "--format", "json")
    assert (run.code, run.results) == (0, [])
    assert run.err == (
        "kernelpoint: there are no named ranges with launches, and no sequence of kernels that most launches "
        "repeat\n"
    )
    assert kernelpoint("ranges", unlike).out.startswith("there are no named ranges")
    assert kernelpoint("ranges", unlike, "--quiet", "--format", "csv").stderr == b""


def test_a_filter_that_leaves_no_launch_is_4(kernelpoint: Kernelpoint, unlike: Path, resnet: Path) -> None:
    assert "--include" in kernelpoint("ranges", unlike, "--include", "nothing").failed(4)
    assert "--min-duration 8" in kernelpoint("ranges", unlike, "--min-duration", "8").failed(4)
    assert "--range" in kernelpoint("ranges", resnet, "--range", "x").failed(4)
    assert "--depth is 0 or more" in kernelpoint("ranges", unlike, "--depth", "-1").failed(2)
