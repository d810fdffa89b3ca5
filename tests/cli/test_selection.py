"""Which launches count: the filters, the plans they make, and what is said of what they leave out."""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import small_recordings
from tests.cli import contract_schemas as schemas
from tests.cli.conftest import JSON, Kernelpoint, cycles_of, drawn_of, results

LEAST = ("--min-duration", "5000")
#: Every command that reads a profile, with what makes it quick or writes.
OF_A_PROFILE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("info", "groups", "ranges", "histogram", "timeline", "tree"), ()),
    **dict.fromkeys(("open", "summary"), ("--method", "root")),
    "sample": ("--judge", "5"),
    "trade-off": ("--epsilons", "0.05"),
    "compare": ("--methods", "root", "--repeats", "3"),
    "convert": ("-o", "x.parquet"),
    "report": ("-o", "x.html", "--method", "random", "--force"),
}
#: Their table says nothing of the selection: a chart alone, a page, or another command's name.
UNSAID = {"open", "timeline", "report"}


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


@pytest.fixture
def check(kernelpoint: Kernelpoint, short: tuple[int, int]) -> Callable[[Sequence[object]], None]:
    """Check what is said in words and in JSON of the short launches being left out."""
    left, kept = short

    def check(words: Sequence[object]) -> None:
        head, _, rest = kernelpoint(*words).out.partition("\n\n")
        said = f"Selection: {kept} of {left + kept} launches, by --min-duration 5000 (leaves out {left} "
        assert " ".join(head.split()).startswith(said)
        assert rest
        assert max(map(len, head.splitlines())) <= 80
        answer = kernelpoint(*words, *JSON).json
        jsonschema.validate(answer, schemas.envelope(str(words[0])))
        selection, left_out = answer["selection"], answer["selection"]["left_out"]
        assert selection["filters"] == {"min_duration_ns": 5000}
        assert (selection["launches"], selection["of_launches"]) == (kept, left + kept)
        assert left_out["launches"] == left
        whole_ns = left_out["total_duration_ns"] + selection["total_duration_ns"]
        assert left_out["share"] == left_out["total_duration_ns"] / whole_ns

    return check


@pytest.mark.parametrize("command", sorted(OF_A_PROFILE.keys() - UNSAID))
def test_what_is_left_out_of_a_profile_is_said(
    check: Callable[..., None], kernelpoint: Kernelpoint, small: Path, here: Path, command: str
) -> None:
    check((command, small, *LEAST, *OF_A_PROFILE[command]))
    words = (command, small, *OF_A_PROFILE[command])
    assert "Selection" not in kernelpoint(*words).out
    assert "selection" not in kernelpoint(*words, *JSON).json


def test_what_is_left_out_of_a_plan_is_said(
    check: Callable[..., None], kernelpoint: Kernelpoint, small: Path, here: Path
) -> None:
    plan = here / "plan.json"
    assert kernelpoint("sample", small, *LEAST, "-o", plan).code == 0
    check(("judge", plan, small, "--repeats", "5"))
    check(("estimate", plan, cycles_of(plan, here / "cycles.csv")))
    check(("export", plan, "--to", "csv", "-o", here / "export", "--force"))


def test_it_is_said_of_each_of_several_profiles(
    kernelpoint: Kernelpoint, small: Path, resnet: Path, short: tuple[int, int]
) -> None:
    words = ("difference", f"{small}@:100", small, *LEAST)
    heads = kernelpoint(*words).out.splitlines()[:4]
    assert heads[0].startswith("Selection of before: ")
    assert heads[2].startswith("Selection of after: ")
    answer = kernelpoint(*words, *JSON).json
    jsonschema.validate(answer, schemas.envelope("difference"))
    before, after = answer["selection"]["before"], answer["selection"]["after"]
    assert before["filters"] == {"launches": ":100", "min_duration_ns": 5000}
    assert before["launches"] == answer["results"]["launches_before"]
    assert after["left_out"]["launches"] == short[0]
    compared = kernelpoint("compare", small, resnet, *LEAST, *OF_A_PROFILE["compare"], *JSON).json
    jsonschema.validate(compared, schemas.envelope("compare"))
    assert list(compared["selection"]) == [str(small), str(resnet)]


FILTERS = {
    "--device": "0",
    "--process": "0",
    "--include": "gemm|elementwise",
    "--exclude": "communication",
    "--launches": "100:900",
    "--time": "0:90000000000",
    "--range": "ProfilerStep#3",
    "--min-duration": "2000",
}


def test_every_filter_is_named_as_it_is_typed(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    words = [word for pair in FILTERS.items() for word in pair]
    head = " ".join(kernelpoint("groups", gpt2, *words).out.partition("\n\n")[0].split())
    typed = shlex.split(head.partition(", by ")[2].partition(" (leaves out")[0])
    assert dict(zip(typed[::2], typed[1::2], strict=True)) == FILTERS
    again = kernelpoint("groups", gpt2, *typed, *JSON).json
    assert set(again["selection"]["filters"]) == {
        *("device", "process", "include", "exclude", "launches", "time", "range", "min_duration_ns")
    }
    # So do the commands to go on with.
    words += ["--method", "root", "--seed", "7", "--epsilon", "0.1"]
    for line in results(kernelpoint, "summary", gpt2, *words, "--quiet", "--ascii")["next"]:
        copied = shlex.split(line)
        assert {*FILTERS, "--seed", "--epsilon"} <= set(copied)
        assert copied[copied.index("--range") + 1] == "ProfilerStep#3"
        assert not {"--quiet", "--ascii", "--format"} & set(copied)


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
@pytest.mark.parametrize("command", ["info", "sample", "convert", "difference"])
def test_the_filter_that_leaves_nothing_is_named(
    kernelpoint: Kernelpoint, small: Path, here: Path, command: str, flag: str
) -> None:
    more = {"convert": ("-o", "x.parquet"), "difference": (small,)}
    said = kernelpoint(command, small, *more.get(command, ()), flag, EMPTYING[flag]).failed(4)
    assert f"{flag} " in said
    assert "leaves no launch" in said
    assert not any(here.iterdir())


def test_every_file_has_ranges_and_a_first_launch_of_its_own(
    kernelpoint: Kernelpoint, gpt2: Path, resnet: Path
) -> None:
    for words in (("--range", "ProfilerStep#40"), ("--time", ":5000000")):
        found = {}
        for files in ((gpt2,), (resnet,), (gpt2, resnet)):
            run = kernelpoint("info", *files, *words, *JSON)
            found[files] = run.results["launches"] if run.code == 0 else 0
        assert found[gpt2, resnet] == found[(gpt2,)] + found[(resnet,)] > 0


@pytest.mark.parametrize("words", [("--range", "ProfilerStep#7"), ("--time", "9000000:30000000")])
@pytest.mark.parametrize("command", OF_A_PROFILE)
def test_every_command_that_reads_a_profile_takes_them(
    kernelpoint: Kernelpoint, gpt2: Path, here: Path, command: str, words: tuple[str, str]
) -> None:
    run = kernelpoint(command, gpt2, *words, *OF_A_PROFILE[command], *JSON)
    assert run.code == 0, run.err
    kept = results(kernelpoint, "info", gpt2, *words)["launches"]
    if command in {"summary", "open", "convert", "sample"}:
        assert run.results["launches"] == kept
    if command == "groups":
        assert sum(row["launches"] for row in run.results) == kept


@pytest.mark.parametrize(
    "words",
    [
        ("--range", "ProfilerStep#7"),
        ("--range", "ProfilerStep#1", "--time", "900000:", "--exclude", "gemm"),
        ("--time", "9000000:30000000", "--launches", "1500:", "--min-duration", "4000"),
    ],
)
def test_a_plan_is_judged_on_the_launches_it_was_made_of(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = tmp_path / "plan.json"
    shown = results(kernelpoint, "sample", gpt2, *words, "-o", path)
    plan = json.loads(path.read_text())
    for flag, value in zip(words[::2], words[1::2], strict=True):
        assert plan["options"][flag[2:].replace("-", "_")] in (value, [value], 4000)
    assert plan["profile"]["launches"] == shown["launches"] < plan["profile"]["files"][0]["launches"]
    assert min(each["duration_ns"] for each in drawn_of(path)) >= 4000 * ("--min-duration" in words)
    judged = results(kernelpoint, "judge", path, gpt2, "--repeats", "20")
    assert judged["total_duration_ns"] == shown["total_duration_ns"]
    assert judged["error"] == pytest.approx(shown["error"])


def test_a_range_of_a_profile_from_standard_input(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    path = tmp_path / "annotated.sqlite"
    path.write_bytes(resnet.read_bytes())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid)")
        connection.execute(
            "INSERT INTO NVTX_EVENTS SELECT MIN(start), (MIN(start) + MAX(start)) / 2, 59, 'half', globalTid "
            "FROM CUPTI_ACTIVITY_KIND_RUNTIME"
        )
        (expected,) = connection.execute(
            "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call "
            "USING (correlationId) WHERE call.start < (SELECT end FROM NVTX_EVENTS)"
        ).fetchone()
    piped = kernelpoint("sample", "-", "--range", "half", *JSON, stdin=path.read_bytes())
    assert piped.code == 0, piped.err
    assert 0 < piped.results["launches"] == expected < 5600


def test_a_range_that_is_not_there_is_4_with_those_that_are(
    kernelpoint: Kernelpoint, gpt2: Path, resnet: Path
) -> None:
    said = kernelpoint("summary", gpt2, "--range", "backward").failed(4)
    assert "--range 'backward'" in said
    assert "'ProfilerStep#0', 'ProfilerStep#1'" in said
    assert "no range in this profile" in kernelpoint("summary", resnet, "--range", "x").failed(4)


def test_what_the_profile_does_not_record_is_1_and_says_what_does(
    kernelpoint: Kernelpoint, resnet_csv: Path, gpt2: Path, tmp_path: Path
) -> None:
    said = kernelpoint("summary", resnet_csv, "--range", "x").failed(1)
    assert all(name in said for name in ("nsys-csv", "Kineto", "nsys SQLite"))
    assert "--range" in kernelpoint("summary", gpt2, resnet_csv, "--range", "Step").failed(1)
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"name": ["k"], "duration_ns": [5]}), path)
    assert "start_ns" in kernelpoint("summary", path, "--time", "0:5").failed(1)
