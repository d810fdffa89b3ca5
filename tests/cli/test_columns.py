"""`--columns`: tables that no profiler wrote, in every command that reads a profile; folders and reports."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Kernelpoint = Callable[..., Any]

COLUMNS = "name=Kernel, in full,duration_ns=Dur:us"
QUOTED = 'name="Kernel, in full",duration_ns="Dur:us",grid=Grid'


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose columns have our own names."""
    path = tmp_path_factory.mktemp("tables") / "own.csv"
    rows = [(f"kernel_{row % 3}", 1000 + 37 * (row % 11), f"{8 + row % 2}x1x1") for row in range(60)]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("name", "duration_ns", "grid"), *rows])
    return path


@pytest.fixture(scope="module")
def theirs(own: Path) -> Path:
    """The same table under other names, one of which has a comma and one a colon and a unit."""
    path = own.with_name("theirs.csv")
    rows = own.read_text().partition("\n")[2]
    path.write_text(f'"Kernel, in full",Dur:us,Grid\n{rows}')
    return path


@pytest.mark.parametrize(
    "command",
    [
        *(("info",), ("groups",), ("histogram",), ("tree",)),
        *(("sample", "--judge", "5"), ("compare", "--repeats", "2", "--methods", "joint,root")),
    ],
    ids=lambda words: words[0],
)
def test_it_is_read_as_our_own_names_are(
    kernelpoint: Kernelpoint, own: Path, theirs: Path, command: tuple[str, ...]
) -> None:
    name, *words = command
    expected = kernelpoint(name, own, *words, "--format", "jsonl")
    found = kernelpoint(name, theirs, *words, "--columns", QUOTED, "--format", "jsonl")
    assert (expected.code, found.code) == (0, 0), expected.err + found.err
    timed = {"seconds", "profile", "files", "next"}
    assert [{key: row[key] for key in row.keys() - timed} for row in found.jsonl] == [
        {key: row[key] for key in row.keys() - timed} for row in expected.jsonl
    ]


def test_a_table_on_standard_input(kernelpoint: Kernelpoint, own: Path, theirs: Path) -> None:
    words = ("groups", "-", "--format", "csv")
    found = kernelpoint(*words, "--columns", QUOTED, stdin=theirs.read_bytes())
    assert found.out == kernelpoint(*words, stdin=own.read_bytes()).out


def test_what_the_refusal_shows_can_be_typed(kernelpoint: Kernelpoint, theirs: Path) -> None:
    said = kernelpoint("info", theirs).failed(3)
    assert "'Kernel, in full', 'Dur:us', 'Grid'" in said
    words = shlex.split(said[said.index("--columns") :])
    assert words == ["--columns", 'name="Kernel, in full",duration_ns="Dur:us":us']
    assert kernelpoint("info", theirs, *words).code == 0


@pytest.mark.parametrize(
    ("columns", "code", "message"),
    [
        (COLUMNS, 2, "--columns name=Kernel, in full,duration_ns=Dur:us: "),
        ("nam=a", 2, "did you mean 'name'?"),
        ('name="Kernel, in ful",duration_ns="Dur:us"', 3, "did you mean 'Kernel, in full'?"),
        ('name="Kernel, in full",duration_ns=Grid', 3, "row 2, column Grid: '8x1x1' is not a number"),
    ],
)
@pytest.mark.parametrize("command", ["info", "convert", "compare"])
def test_what_is_wrong_is_one_line(
    kernelpoint: Kernelpoint,
    theirs: Path,
    tmp_path: Path,
    command: str,
    columns: str,
    code: int,
    message: str,
) -> None:
    output = ("-o", tmp_path / "o.parquet") if command == "convert" else ()
    assert message in kernelpoint(command, theirs, "--columns", columns, *output).failed(code)


class TestOtherFormats:
    def test_need_no_columns(self, kernelpoint: Kernelpoint, resnet: Path, plan_file: Path) -> None:
        message = (
            f"--columns is for CSV and Parquet tables, and here is none: {resnet} (nsys-sqlite); leave it"
        )
        for words in (
            ("info", resnet),
            ("ranges", resnet),
            ("difference", resnet, resnet),
            ("judge", plan_file, resnet),
            ("compare", resnet, resnet, "--methods", "root", "--repeats", "1"),
        ):
            assert message in kernelpoint(*words, "--columns", "name=a").failed(2)

    def test_may_stand_beside_a_table(self, kernelpoint: Kernelpoint, resnet: Path, theirs: Path) -> None:
        columns = ("--columns", QUOTED, "--format", "json")
        assert len(kernelpoint("info", theirs, resnet, *columns).results["files"]) == 2
        assert kernelpoint("difference", theirs, resnet, *columns).code == 0


@pytest.fixture(scope="module")
def plan(kernelpoint: Kernelpoint, theirs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "plan.json"
    run = kernelpoint("sample", theirs, "--columns", QUOTED, "-e", "0.2", "--judge", "0", "-o", path)
    assert run.code == 0, run.err
    return path


class TestPlans:
    def test_record_it(self, plan: Path) -> None:
        assert json.loads(plan.read_text())["options"]["columns"] == QUOTED

    def test_without_it_record_nothing(self, plan_file: Path) -> None:
        assert "columns" not in json.loads(plan_file.read_text())["options"]

    def test_are_judged_on_their_own_table_without_it(
        self, kernelpoint: Kernelpoint, plan: Path, theirs: Path
    ) -> None:
        results = kernelpoint("judge", plan, theirs, "--format", "json").results
        assert results["same_files"] is True

    def test_are_judged_on_other_recordings(
        self, kernelpoint: Kernelpoint, plan: Path, own: Path, theirs: Path, tmp_path: Path
    ) -> None:
        """By the plan's columns where they are there, by our own names, or by those given."""
        other = tmp_path / "other.csv"
        other.write_text(theirs.read_text() + "\n")
        named = tmp_path / "named.csv"
        named.write_text("K,D,G\n" + own.read_text().partition("\n")[2])
        errors = [
            kernelpoint("judge", plan, *words, "--format", "json").results["error"]
            for words in ((other,), (own,), (named, "--columns", "name=K,duration_ns=D,grid=G"))
        ]
        assert errors[0] == errors[1] == errors[2]

    def test_are_topped_up_from_their_own_table(
        self, kernelpoint: Kernelpoint, plan: Path, tmp_path: Path
    ) -> None:
        launches = [each for row in json.loads(plan.read_text())["strata"] for each in row["launches"]]
        cycles = tmp_path / "cycles.csv"
        cycles.write_text(
            "id,cycles\n"
            + "".join(f"{each['id']},{each['duration_ns'] * (3 + each['id'] % 5)}\n" for each in launches)
        )
        more = tmp_path / "more.json"
        run = kernelpoint("estimate", plan, cycles, "--target", "0.01", "--top-up", more)
        assert run.code == 4, run.err
        assert json.loads(more.read_text())["options"]["columns"] == QUOTED
        assert len(launches) < sum(len(row["launches"]) for row in json.loads(more.read_text())["strata"])

    def test_with_garbled_ones_are_refused(self, kernelpoint: Kernelpoint, plan: Path, theirs: Path) -> None:
        bad = plan.with_name("bad.json")
        bad.write_text(plan.read_text().replace("duration_ns=", "duration=", 1))
        assert "a plan with bad options (--columns" in kernelpoint("judge", bad, theirs).failed(3)


def test_convert_keeps_what_was_read(
    kernelpoint: Kernelpoint, own: Path, theirs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "converted.parquet"
    assert kernelpoint("convert", theirs, "--columns", QUOTED, "-o", path).code == 0
    words = ("--format", "csv")
    assert kernelpoint("groups", path, *words).out == kernelpoint("groups", own, *words).out


class TestAFolder:
    @pytest.fixture
    def ranks(self, own: Path, tmp_path: Path) -> Path:
        folder = tmp_path / "ranks"
        folder.mkdir()
        for rank in (2, 10):
            shutil.copy(own, folder / f"rank{rank}.csv")
        (folder / "job.log").write_text("it ran\n")
        return folder

    def test_is_one_workload(self, kernelpoint: Kernelpoint, ranks: Path) -> None:
        run = kernelpoint("info", ranks, "--format", "json")
        assert [Path(file["path"]).name for file in run.results["files"]] == ["rank2.csv", "rank10.csv"]
        assert run.results["processes"] == 2
        assert f"kernelpoint: {ranks}: 2 profiles are read as one workload; left out: job.log" in run.err
        assert kernelpoint("info", ranks, "--quiet").err == ""

    def test_is_in_plans_file_by_file(self, kernelpoint: Kernelpoint, ranks: Path, tmp_path: Path) -> None:
        plans = [tmp_path / name for name in ("folder.json", "files.json")]
        files = [ranks / "rank2.csv", ranks / "rank10.csv"]
        assert kernelpoint("sample", ranks, "--judge", "0", "-o", plans[0]).code == 0
        assert kernelpoint("sample", *files, "--judge", "0", "-o", plans[1]).code == 0
        assert plans[0].read_text() == plans[1].read_text()
        assert kernelpoint("judge", plans[0], ranks, "--format", "json").results["same_files"] is True

    def test_is_a_side_of_a_difference(self, kernelpoint: Kernelpoint, ranks: Path, own: Path) -> None:
        results = kernelpoint("difference", ranks, own, "--format", "json").results
        assert results["total_before_ns"] == 2 * results["total_after_ns"]


def test_a_report_where_nsys_is(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path) -> None:
    nsys = tmp_path / "nsys"
    nsys.write_text(f'#!/bin/sh\ncp {shlex.quote(str(resnet))} "$5"\n')
    nsys.chmod(0o755)
    report, plan = tmp_path / "run.nsys-rep", tmp_path / "plan.json"
    report.write_bytes(b"NVIDIA Tegra Profiler Report 1.\n\x0b\n")
    found = {"PATH": f"{tmp_path}:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert kernelpoint("sample", report, "--judge", "0", "-o", plan, **found).code == 0
    (file,) = json.loads(plan.read_text())["profile"]["files"]
    assert file["path"] == str(report)
    # The export is found again, without the program.
    found["PATH"] = "/usr/bin:/bin"
    judged = kernelpoint("judge", plan, report, "--repeats", "1", "--format", "json", **found)
    assert judged.results["same_files"] is True
    report.write_bytes(report.read_bytes() + b"another run")
    assert "was not exported" in kernelpoint("info", report, **found).failed(3)
