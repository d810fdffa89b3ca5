"""`export`: the folder of every target, its options, and what is refused."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import IO

import pytest

from sampling.errors import ProfileError
from sampling.simulators.registry import exporter_names
from tests.cli.conftest import Kernelpoint
from tui.output.files import write_folder


def drawn_in(plan: Path) -> int:
    return sum(len(stratum["launches"]) for stratum in json.loads(plan.read_text())["strata"])


@pytest.mark.parametrize("target", exporter_names())
def test_every_target_has_a_folder_and_says_how_ids_count(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, target: str
) -> None:
    folder = tmp_path / "made"
    run = kernelpoint("export", plan_file, "--to", target, "-o", folder, "--format", "json")
    assert run.code == 0, run.err
    there = {str(path) for path in folder.rglob("*") if path.is_file()}
    assert (run.results["launches"], run.results["beside"]) == (drawn_in(plan_file), 0)
    assert set(run.results["files"]) == there
    assert "count" in run.err
    scripts = [path for path in there if path.endswith(".sh")]
    assert all(os.access(path, os.X_OK) for path in scripts)
    assert bool(scripts) == (target != "csv")


@pytest.mark.parametrize("given", ["file", "pipe"])
def test_the_folder_has_the_plan_and_is_enough_for_an_estimate(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, given: str
) -> None:
    folder, text = tmp_path / "made", plan_file.read_text()
    plan, stdin = (plan_file, b"") if given == "file" else ("-", text.encode())
    assert kernelpoint("export", plan, "--to", "accel-sim", "-o", folder, stdin=stdin).code == 0
    assert (folder / "plan.json").read_text() == text
    assert (folder / "README.txt").read_text().endswith("\n    kernelpoint estimate . run*/run.log\n")
    ids = [each["id"] for stratum in json.loads(text)["strata"] for each in stratum["launches"]]
    table = tmp_path / "cycles.csv"
    table.write_text("id,cycles\n" + "".join(f"{each},{1000 + each}\n" for each in ids))
    answers = [kernelpoint("estimate", each, table) for each in (folder, plan_file)]
    assert answers[0].code == 0, answers[0].err
    # The manifest says more than a table of cycles: how the launches were run.
    assert "\nCOLD: " in answers[0].out
    assert "how launches found the caches is not known" in answers[1].out
    assert answers[0].out.splitlines()[0] == answers[1].out.splitlines()[0]


def test_a_plan_in_its_own_folder_stays(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(plan_file.read_bytes())
    assert kernelpoint("export", tmp_path / "plan.json", "-o", tmp_path).code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json", "launches.csv"}


@pytest.mark.parametrize("place", ["made", "-"])
def test_garbled_options_are_refused_before_anything_is_written(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = json.loads(plan_file.read_text())
    plan["options"]["launches"] = "garbled"
    Path("garbled.json").write_text(json.dumps(plan))
    assert "--launches garbled" in kernelpoint("export", "garbled.json", "-o", place).failed(3)
    assert [path.name for path in tmp_path.iterdir()] == ["garbled.json"]


def test_the_help_names_every_target(kernelpoint: Kernelpoint) -> None:
    text = " ".join(re.sub(r"[│\n]", " ", kernelpoint("export", "--help").out).split())
    assert f"{', '.join(exporter_names())}." in text


def test_shards_and_what_they_cost(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    words = ("export", plan_file, "--to", "accel-sim", "-o", tmp_path / "made")
    run = kernelpoint(*words, "--shards", "3", "--format", "json")
    names = {Path(path).name for path in run.results["files"]}
    assert {"run-1.sh", "run-2.sh", "run-3.sh", "slurm.sh", "kernelslist-3.g"} <= names
    assert "--shards is 1 or more" in kernelpoint(*words, "--shards", "0").failed(2)
    error = kernelpoint(*words, "--shards", "100000").failed(2)
    assert re.search(r"--shards 100000: there are \d+ runs to share out; give fewer", error)


def test_what_means_nothing_to_a_target_is_refused_by_its_flag(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    words = ("export", plan_file, "-o", tmp_path / "made")
    for target, flag in (("csv", "--caches"), ("ncu", "--caches")):
        error = kernelpoint(*words, "--to", target, flag, "cold").failed(2)
        assert error == f"kernelpoint: error: {flag} means nothing to {target}\n"
    error = kernelpoint(*words, "--to", "accel-sim", "--drop-copies").failed(2)
    assert "--drop-copies leaves out copies that --traces list" in error
    assert "there is no exporter 'ncuu'; did you mean 'ncu'?" in kernelpoint(*words, "--to", "ncuu").failed(2)
    assert "accel-sim writes" in kernelpoint("export", plan_file, "--to", "accel-sim", "-o", "-").failed(2)


def test_a_large_file_is_written_by_what_makes_it_or_nothing_is(tmp_path: Path) -> None:
    def broken(_: IO[bytes]) -> None:
        raise ProfileError("is cut off", path="kernel-2.traceg")

    files = [("run.sh", "true\n"), ("a/kernel-1.traceg", lambda stream: stream.write(b"1\n"))]
    written = write_folder(tmp_path / "made", files, force=False)
    assert [Path(path).read_bytes() for path in written] == [b"true\n", b"1\n"]
    with pytest.raises(ProfileError, match="is cut off"):
        write_folder(tmp_path / "other", [*files, ("kernel-2.traceg", broken)], force=False)
    assert not (tmp_path / "other").exists()


def test_traces_that_do_not_fit_are_refused_and_nothing_is_written(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    words = ("export", plan_file, "--to", "accel-sim", "--traces", traces)
    assert "has no kernelslist.g" in kernelpoint(*words, "-o", tmp_path / "made").failed(3)
    (traces / "kernel-1.traceg").write_text("-kernel name = f\n")
    assert "which is not among the 1 trace" in kernelpoint(*words, "-o", tmp_path / "made").failed(3)
    assert not (tmp_path / "made").exists()
    assert "is in the folder" in kernelpoint(*words, "-o", traces / "chosen").failed(2)
    assert list(traces.iterdir()) == [traces / "kernel-1.traceg"]


def test_cold_launches_are_said_to_keep_no_target(
    kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path
) -> None:
    words = ("export", plan_file, "--to", "macsim", "-o", tmp_path / "made", "--force")
    assert kernelpoint(*words).err.startswith("kernelpoint: launches start cold here, and a total of these")
    assert "start cold here" not in kernelpoint(*words, "--cold-check", "4").err
