"""Which launches results are of is said wherever results are, where filters leave some out."""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from tests import small_recordings

Kernelpoint = Callable[..., Any]
Check = Callable[[Sequence[object]], None]

LEAST = ("--min-duration", "5000")
OF_A_PROFILE = {
    "summary": ("--method", "root"),
    "info": (),
    "groups": (),
    "ranges": (),
    "histogram": (),
    "tree": (),
    "sample": ("--judge", "5"),
    "trade-off": ("--epsilons", "0.05"),
    "compare": ("--methods", "root", "--repeats", "3"),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small recording, of which many plans are made quickly."""
    return small_recordings.nsys_sqlite(tmp_path_factory.mktemp("small"), "2023.4")


@pytest.fixture(scope="module")
def short(small: Path) -> tuple[int, int]:
    """How many of its launches are short, and how many are not."""
    with closing(sqlite3.connect(small)) as connection:
        query = "SELECT SUM(end - start < 5000), SUM(end - start >= 5000) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        found: tuple[int, int] = connection.execute(query).fetchone()
    assert min(found) > 0
    return found


@pytest.fixture(scope="module")
def short_free(
    kernelpoint: Kernelpoint, small: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Sequence[object]]:
    """Every command line of a plan without short launches."""
    folder = tmp_path_factory.mktemp("short-free")
    plan = folder / "plan.json"
    assert kernelpoint("sample", small, *LEAST, "-o", plan).code == 0
    launches = [each for stratum in json.loads(plan.read_text())["strata"] for each in stratum["launches"]]
    results = folder / "cycles.csv"
    rows = "".join(f"{each['id']},{each['duration_ns'] * 2}\n" for each in launches)
    results.write_text(f"id,cycles\n{rows}")
    return {
        "judge": ("judge", plan, small, "--repeats", "5"),
        "estimate": ("estimate", plan, results),
        "export": ("export", plan, "--to", "csv", "-o", folder / "export", "--force"),
    }


@pytest.fixture
def check(
    kernelpoint: Kernelpoint, schemas: ModuleType, short: tuple[int, int]
) -> Callable[[Sequence[object]], None]:
    """Check what is said of the selection in words and in JSON."""
    return lambda words: _check(kernelpoint, schemas, short, words)


def _check(
    kernelpoint: Kernelpoint, schemas: ModuleType, short: tuple[int, int], words: Sequence[object]
) -> None:
    left, kept = short
    table = kernelpoint(*words)
    assert table.code == 0, table.err
    head, _, rest = table.out.partition("\n\n")
    said = " ".join(head.split())
    said_of_short = f"by --min-duration 5000 (leaves out {left} launches, "
    assert said.startswith(f"Selection: {kept} of {left + kept} launches, {said_of_short}")
    assert rest
    assert max(map(len, head.splitlines())) <= 80
    answer = kernelpoint(*words, "--format", "json").json
    jsonschema.validate(answer, schemas.envelope(str(words[0])))
    selection = answer["selection"]
    assert selection["filters"] == {"min_duration_ns": 5000}
    assert (selection["launches"], selection["of_launches"]) == (kept, left + kept)
    left_out = selection["left_out"]
    assert left_out["launches"] == left
    whole_ns = left_out["total_duration_ns"] + selection["total_duration_ns"]
    assert left_out["share"] == left_out["total_duration_ns"] / whole_ns


@pytest.mark.parametrize("command", OF_A_PROFILE)
def test_of_a_profile(check: Check, small: Path, command: str) -> None:
    check((command, small, *LEAST, *OF_A_PROFILE[command]))


@pytest.mark.parametrize("command", ["judge", "estimate", "export"])
def test_of_a_plan(check: Check, short_free: dict[str, Sequence[object]], command: str) -> None:
    check(short_free[command])


def test_of_a_product(check: Check, small: Path, tmp_path: Path) -> None:
    check(("convert", small, *LEAST, "-o", tmp_path / "x.parquet"))


def test_of_both_sides_of_a_difference(
    kernelpoint: Kernelpoint, schemas: ModuleType, small: Path, short: tuple[int, int]
) -> None:
    words = ("difference", f"{small}@:100", small, *LEAST)
    heads = kernelpoint(*words).out.splitlines()[:4]
    assert heads[0].startswith("Selection of before: ")
    assert heads[2].startswith("Selection of after: ")
    answer = kernelpoint(*words, "--format", "json").json
    jsonschema.validate(answer, schemas.envelope("difference"))
    before, after = answer["selection"]["before"], answer["selection"]["after"]
    assert before["filters"] == {"launches": ":100", "min_duration_ns": 5000}
    assert before["launches"] == answer["results"]["launches_before"]
    assert after["left_out"]["launches"] == short[0]


def test_of_each_profile_of_a_comparison(
    kernelpoint: Kernelpoint, schemas: ModuleType, small: Path, resnet: Path
) -> None:
    words = ("compare", small, resnet, *LEAST, "--methods", "root", "--repeats", "2", "--format", "json")
    answer = kernelpoint(*words).json
    jsonschema.validate(answer, schemas.envelope("compare"))
    assert list(answer["selection"]) == [str(small), str(resnet)]


@pytest.mark.parametrize("command", OF_A_PROFILE)
def test_nothing_is_said_without_a_filter(kernelpoint: Kernelpoint, small: Path, command: str) -> None:
    words = (command, small, *OF_A_PROFILE[command])
    assert "Selection" not in kernelpoint(*words).out
    assert "selection" not in kernelpoint(*words, "--format", "json").json


def test_every_filter_is_named_as_it_is_typed(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    filters = {
        "--device": "0",
        "--process": "0",
        "--include": "gemm|elementwise",
        "--exclude": "communication",
        "--launches": "100:900",
        "--time": "0:90000000000",
        "--range": "ProfilerStep#3",
        "--min-duration": "2000",
    }
    words = [word for pair in filters.items() for word in pair]
    run = kernelpoint("groups", gpt2, *words)
    assert run.code == 0, run.err
    head = " ".join(run.out.partition("\n\n")[0].split())
    typed = shlex.split(head.partition(", by ")[2].partition(" (leaves out")[0])
    assert dict(zip(typed[::2], typed[1::2], strict=True)) == filters
    again = kernelpoint("groups", gpt2, *typed, "--format", "json")
    assert again.json == kernelpoint("groups", gpt2, *words, "--format", "json").json
    assert set(again.json["selection"]["filters"]) == {
        *("device", "process", "include", "exclude", "launches", "time", "range", "min_duration_ns")
    }


EMPTYING = {
    "--device": "7",
    "--process": "987654321",
    "--include": "no such kernel",
    "--exclude": ".",
    "--launches": "99999999:",
    "--time": "9999999999999:",
    "--range": "no such range",
    "--min-duration": "9999999999",
}


@pytest.mark.parametrize("flag", EMPTYING)
@pytest.mark.parametrize("command", ["info", "ranges", "convert", "difference"])
def test_the_filter_that_leaves_nothing_is_named(
    kernelpoint: Kernelpoint, small: Path, tmp_path: Path, command: str, flag: str
) -> None:
    more = {"convert": ("-o", tmp_path / "x.parquet"), "difference": (small,)}
    said = kernelpoint(command, small, *more.get(command, ()), flag, EMPTYING[flag]).failed(4)
    assert f"{flag} " in said
    assert "leaves no launch" in said


def test_a_plan_is_judged_on_the_long_launches_alone(
    kernelpoint: Kernelpoint, small: Path, short: tuple[int, int], tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    shown = kernelpoint("sample", small, *LEAST, "-o", path, "--format", "json").results
    plan = json.loads(path.read_text())
    assert plan["options"]["min_duration"] == 5000
    assert plan["profile"]["left_out"]["launches"] == short[0]
    assert plan["profile"]["launches"] == shown["launches"] == short[1]
    assert min(stratum["low_ns"] for stratum in plan["strata"]) >= 5000
    judged = kernelpoint("judge", path, small, "--repeats", "5", "--format", "json").results
    assert judged["total_duration_ns"] == shown["total_duration_ns"]
    assert judged["error"] == pytest.approx(shown["error"])


@pytest.mark.parametrize(
    "change",
    [{"min_duration": 0}, {"min_duration": "long"}, {"min_duration": 1.5}],
)
def test_a_plan_with_a_garbled_least_duration_is_3(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    plan = json.loads(plan_file.read_text())
    plan["options"] |= change
    path = tmp_path / "garbled.json"
    path.write_text(json.dumps(plan))
    assert "options.min_duration" in kernelpoint("judge", path, resnet).failed(3)


@pytest.mark.parametrize("value", ["0", "-5"])
def test_a_least_duration_below_one_nanosecond_is_2(
    kernelpoint: Kernelpoint, resnet: Path, value: str
) -> None:
    assert "--min-duration is 1 or more" in kernelpoint("info", resnet, f"--min-duration={value}").failed(2)


def test_the_copied_command_has_it(kernelpoint: Kernelpoint, small: Path) -> None:
    for line in kernelpoint("summary", small, *LEAST, "--method", "root", "--format", "json").results["next"]:
        words = shlex.split(line)
        assert words[words.index("--min-duration") + 1] == "5000"
