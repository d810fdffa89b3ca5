"""Where profiles come from: names, standard input, gzip, tables, folders, reports; and their features."""

from __future__ import annotations

import csv
import gzip
import json
import shlex
import shutil
from pathlib import Path

import pytest

from sampling.profile.launch_table import LaunchTableBuilder
from sampling.readers import cache
from tests.cli.conftest import JSON, Kernelpoint, cycles_of, drawn_of, results
from tui.engine import made_up_simulator


def test_a_first_word_that_is_no_command_is_a_profile(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    short, demo = kernelpoint(resnet), kernelpoint("demo")
    assert short.code == 0
    assert short.out == kernelpoint("open", resnet).out == kernelpoint("summary", resnet).out
    assert kernelpoint("summary", gpt2).out == demo.out
    assert "ssh -t" in short.err
    assert "ssh -t" in demo.err
    after = results(kernelpoint, resnet, "--epsilon", "0.01")
    assert after["plan"]["epsilon"] == 0.01
    assert results(kernelpoint, "--epsilon", "0.01", resnet) == after


def test_a_file_named_as_a_command_is_given_with_its_folder(
    kernelpoint: Kernelpoint, resnet: Path, here: Path
) -> None:
    for name in ("info", "group"):
        shutil.copy(resnet, here / name)
    assert kernelpoint("./info", *JSON).json["command"] == "summary"
    assert kernelpoint("info", "./info", *JSON).json["command"] == "info"
    assert "PROFILE" in kernelpoint("info").failed(2)
    assert kernelpoint("group").code == 0, "it is named nearly as a command"
    for word, meant in (("summry", "summary"), ("grops", "groups"), ("Sample", "sample")):
        said = kernelpoint(word, "profile.sqlite").failed(3)
        assert word in said
        assert f"kernelpoint {meant}" in said


def test_standard_input_and_gzip_are_read_as_they_are_whatever_the_name(
    kernelpoint: Kernelpoint, resnet: Path, resnet_csv: Path, gpt2: Path, tmp_path: Path
) -> None:
    for path in (resnet, resnet_csv, gpt2):
        plain, content = results(kernelpoint, "groups", path), path.read_bytes()
        packed = content if path == gpt2 else gzip.compress(content, mtime=0)
        (odd := tmp_path / f"{path.stem}.zip").write_bytes(packed)
        assert results(kernelpoint, "groups", odd) == plain
        for stdin in (content, packed):
            assert kernelpoint("groups", "-", *JSON, stdin=stdin).results == plain
    piped = kernelpoint("sample", "-", "-o", "-", stdin=resnet.read_bytes()).json
    plan = kernelpoint("sample", resnet, "-o", "-").json
    assert piped["strata"] == plan["strata"]
    assert piped["profile"]["files"][0]["sha256"] == plan["profile"]["files"][0]["sha256"]


def test_several_files_are_one_workload_kept_apart(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    first, second, both = (
        results(kernelpoint, "info", *files) for files in ([resnet], [gpt2], [resnet, gpt2])
    )
    for name in ("launches", "total_duration_ns", "kernel_groups", "streams"):
        assert both[name] == first[name] + second[name]
    assert both["processes"] == 2
    twice = results(kernelpoint, "info", resnet, resnet)
    assert twice["kernel_groups"] == first["kernel_groups"]
    apart = results(kernelpoint, "info", resnet, resnet, "--each-rank")
    assert apart["kernel_groups"] == 2 * first["kernel_groups"]
    # Ids run through the files in the order given.
    words = ("sample", "--format", "jsonl", "--judge", "0")
    alone = kernelpoint(*words, gpt2).jsonl
    behind = kernelpoint(*words, resnet, gpt2, "--launches", "5600:").jsonl
    assert [row["id"] - 5600 for row in behind] == [row["id"] for row in alone]
    assert [row["ordinal"] for row in behind] == [row["ordinal"] for row in alone]


def test_what_next_names_the_files_given_ready_for_a_shell(
    kernelpoint: Kernelpoint, resnet: Path, here: Path
) -> None:
    path = here / "it's a profile.sqlite"
    shutil.copy(resnet, path)
    for line in results(kernelpoint, "summary", path)["next"]:
        words = shlex.split(line)
        assert words[0] == "kernelpoint"
        assert str(path) in words
        assert kernelpoint(*words[1:]).code == 0


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
    path.write_text(f'"Kernel, in full",Dur:us,Grid\n{own.read_text().partition(chr(10))[2]}')
    return path


@pytest.mark.parametrize(
    "line", ["groups", "sample --judge 5", "compare --repeats 2 --methods joint,root", "info"]
)
def test_a_table_of_other_names_is_read_as_our_own_is(
    kernelpoint: Kernelpoint, own: Path, theirs: Path, line: str
) -> None:
    expected = kernelpoint(*line.split(), own, "--format", "jsonl").jsonl
    found = kernelpoint(*line.split(), theirs, "--columns", QUOTED, "--format", "jsonl").jsonl
    piped = kernelpoint(
        *line.split(), "-", "--columns", QUOTED, "--format", "jsonl", stdin=theirs.read_bytes()
    ).jsonl
    for row in (*expected, *found, *piped):
        for name in ("seconds", "profile", "files"):
            row.pop(name, None)
    assert found == piped == expected


def test_other_formats_need_no_columns_and_may_stand_beside_a_table(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path, theirs: Path
) -> None:
    message = f"--columns is for CSV and Parquet tables, and here is none: {resnet} (nsys-sqlite); leave it"
    for words in (("info",), ("difference", resnet), ("judge", plan_file), ("compare", resnet)):
        assert message in kernelpoint(*words, resnet, "--columns", "name=a").failed(2)
    assert len(results(kernelpoint, "info", theirs, resnet, "--columns", QUOTED)["files"]) == 2
    assert kernelpoint("difference", theirs, resnet, "--columns", QUOTED).code == 0


def test_a_plan_records_the_columns_and_is_judged_and_topped_up_by_them(
    kernelpoint: Kernelpoint, own: Path, theirs: Path, plan_file: Path, tmp_path: Path
) -> None:
    """On other recordings: by the plan's columns if they are there, by our own names, or by those given."""
    plan, other, named, more = (tmp_path / name for name in ("plan.json", "o.csv", "n.csv", "more.json"))
    words = ("sample", theirs, "--columns", QUOTED, "-e", "0.2", "--judge", "0", "-o", plan)
    assert kernelpoint(*words).code == 0
    assert json.loads(plan.read_text())["options"]["columns"] == QUOTED
    assert json.loads(plan_file.read_text())["options"]["columns"] is None
    assert results(kernelpoint, "judge", plan, theirs)["same_files"] is True
    other.write_text(theirs.read_text() + "\n")
    named.write_text("K,D,G\n" + own.read_text().partition("\n")[2])
    given = ((other,), (own,), (named, "--columns", "name=K,duration_ns=D,grid=G"))
    assert len({results(kernelpoint, "judge", plan, *each)["error"] for each in given}) == 1
    table = cycles_of(plan, tmp_path / "cycles.csv", spread=20)
    assert kernelpoint("estimate", plan, table, "--target", "0.01", "--top-up", more).code == 4
    assert json.loads(more.read_text())["options"]["columns"] == QUOTED
    assert len(drawn_of(plan)) < len(drawn_of(more))


@pytest.fixture(scope="module")
def overlong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 60 launches in one stream, the third of which outlasts the next ten."""
    path = tmp_path_factory.mktemp("tables") / "overlong.csv"
    rows = [(f"k{row % 2}", 10_100 if row == 2 else 100 + row, 1_000 * row, 7) for row in range(60)]
    lines = ["name,duration_ns,start_ns,stream", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("words", "third_ns"), [((), 1_000), (("--keep-overlong", "--partial"), 10_100)])
def test_how_a_profile_was_read_is_in_its_plan_and_it_is_read_so_again(
    kernelpoint: Kernelpoint, overlong: Path, tmp_path: Path, words: tuple[str, ...], third_ns: int
) -> None:
    total_ns = sum(100 + row for row in range(60)) - 102 + third_ns
    plan, more = tmp_path / "plan.json", tmp_path / "more.json"
    assert kernelpoint("sample", overlong, *words, "-e", "0.2", "--judge", "0", "-o", plan).code == 0
    document = json.loads(plan.read_text())
    asked = {name: document["options"].get(name) for name in ("keep_overlong", "partial")}
    assert asked == dict.fromkeys(("keep_overlong", "partial"), bool(words))
    assert [each["severity"] for each in document["findings"] if each["code"] == "overlong"] == ["error"]
    assert document["profile"]["total_duration_ns"] == total_ns
    for command in (("judge", plan, overlong), ("open", plan), ("summary", overlong, *words)):
        assert results(kernelpoint, *command)["total_duration_ns"] == total_ns
    table = cycles_of(plan, tmp_path / "cycles.csv", spread=20)
    assert kernelpoint("estimate", plan, table, "--target", "0.001", "--top-up", more).code == 4
    topped_up = json.loads(more.read_text())
    assert (topped_up["options"], topped_up["profile"]) == (document["options"], document["profile"])
    refused = kernelpoint("open", plan, "--keep-overlong").failed(2)
    assert "--keep-overlong is said by the plan" in refused


@pytest.mark.parametrize("profile", ["resnet", "resnet_csv", "gpt2", "theirs"])
def test_convert_keeps_what_was_read(
    kernelpoint: Kernelpoint, request: pytest.FixtureRequest, profile: str, tmp_path: Path
) -> None:
    original, converted, plan = (
        request.getfixturevalue(profile),
        tmp_path / "x.parquet",
        tmp_path / "plan.json",
    )
    columns = ("--columns", QUOTED) if profile == "theirs" else ()
    assert kernelpoint("convert", original, *columns, "-o", converted).code == 0
    for line in (
        "groups --group-by short-name",
        "tree --kernel #2",
        "sample --launches 9:3000 --exclude sgemm",
    ):
        expected = kernelpoint(*line.split(), original, *columns, *JSON).results
        assert kernelpoint(*line.split(), converted, *JSON).results == expected
    infos = [
        results(kernelpoint, "info", path, *more) for path, more in ((original, columns), (converted, ()))
    ]
    for name in (
        "launches",
        "names",
        "kernel_groups",
        "total_duration_ns",
        "processes",
        "streams",
        "span_ns",
    ):
        assert infos[0][name] == infos[1][name]
    shown = results(kernelpoint, "sample", original, *columns, "-o", plan)
    assert results(kernelpoint, "judge", plan, converted)["error"] == pytest.approx(shown["error"])


def test_a_folder_is_one_workload_and_in_plans_file_by_file(
    kernelpoint: Kernelpoint, own: Path, tmp_path: Path
) -> None:
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    files = [ranks / "rank2.csv", ranks / "rank10.csv"]
    for file in files:
        shutil.copy(own, file)
    (ranks / "job.log").write_text("it ran\n")
    run = kernelpoint("info", ranks, *JSON)
    assert [file["path"] for file in run.results["files"]] == list(map(str, files))
    assert run.results["processes"] == 2
    assert f"kernelpoint: {ranks}: 2 profiles are read as one workload; left out: job.log" in run.err
    assert kernelpoint("info", ranks, "--quiet").err == ""
    found = results(kernelpoint, "info", f"{tmp_path}/**/rank*.csv")["files"]
    assert [file["path"] for file in found] == list(map(str, files)), "as a pattern finds them"
    plans = [tmp_path / name for name in ("folder.json", "files.json")]
    for given, plan in zip(([ranks], files), plans, strict=True):
        assert kernelpoint("sample", *given, "--judge", "0", "-o", plan).code == 0
    assert plans[0].read_text() == plans[1].read_text()
    assert results(kernelpoint, "judge", plans[0], ranks)["same_files"] is True
    found = results(kernelpoint, "difference", ranks, own)
    assert found["total_before_ns"] == 2 * found["total_after_ns"]


def test_large_files_are_kept_for_the_next_time_unless_told_otherwise(
    kernelpoint: Kernelpoint, sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "LEAST_BYTES", 0)
    kept, place = tmp_path / "kernelpoint", {"XDG_CACHE_HOME": str(tmp_path)}
    words = ("groups", sample_data / "resnet50-like.sqlite", *JSON)
    first = kernelpoint(*words, "--no-cache", **place)
    assert not kept.exists()
    assert kernelpoint(*words, **place).results == first.results
    (found,) = kept.iterdir()
    monkeypatch.setattr(LaunchTableBuilder, "finish", None)
    assert kernelpoint(*words, "--quiet", **place).results == first.results
    assert [*kept.iterdir()] == [found]


def test_help_says_what_an_option_is_to_the_command(kernelpoint: Kernelpoint) -> None:
    helps = {
        command: " ".join(kernelpoint(command, "--help").out.replace("│", " ").split())
        for command in ("tree", "sample")
    }
    texts = ("Whose rule grows the tree", "How to choose the launches")
    assert [[text in helps[command] for text in texts] for command in helps] == [[True, False], [False, True]]


def test_the_loop_of_demo_ends_with_a_total_that_holds_what_all_launches_take(
    kernelpoint: Kernelpoint, gpt2: Path
) -> None:
    run = kernelpoint("demo", "--run", *JSON)
    assert run.code == 0, run.err
    trace = json.loads(gzip.decompress(gpt2.read_bytes()))
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    kernels.sort(key=lambda event: event["args"]["correlation"])
    cycles = sum(
        made_up_simulator.cycles_of(event["name"], launch_id, round(1000 * event["dur"]))
        for launch_id, event in enumerate(kernels)
    )
    total = run.results["metrics"][0]
    assert total["low"] <= cycles <= total["high"]
    assert abs(total["total"] / cycles - 1) < 0.05
    off = f"{100 * abs(total['total'] / cycles - 1):.2g} %"
    assert (
        f"all 13,920 launches take {cycles:,} cycles by it: the estimate is off by {off}, 5 % was asked for\n"
        in run.err
    )
    assert "20 of 13,920 launches of gpt2-like.json.gz go to a made-up simulator" in run.err
    # It has no caches, of which nothing is said.
    assert run.results["caches"]["state"] == "whole"
