"""A plan for Nsight Compute: which kernels and occurrences, and which positions, each run takes."""

from __future__ import annotations

from pathlib import Path

from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import Step
from sampling.simulators.profilers import kernel_ids
from tests.sampling.simulators.conftest import Write, launch, plan_of, program, shell, stratum

#: What a stand-in for ncu is started with, one word a line, and a line for its end.
ECHO = 'for word in "$@"; do echo "$word"; done; echo end'


def runs(folder: Path, name: str) -> list[list[str]]:
    """The words of each run of a script, from the device on."""
    ncu = program(folder / "ncu", ECHO)
    ran = shell(folder / "out" / name, "prog", "x y", NCU=ncu, NCU_OPTIONS="--set full", RESULTS=folder / "r")
    assert ran.returncode == 0, ran.stderr
    found: list[list[str]] = [[]]
    for line in ran.stdout.splitlines()[:-1]:
        found[-1 if line != "end" else len(found) :] = [[]] if line == "end" else [[*found[-1], line]]
    assert all(words[:2] == ["--set", "full"] for words in found[:-1])
    assert all(words[-2:] == ["prog", "x y"] for words in found[:-1])
    return [words[words.index("--devices") : -2] for words in found[:-1]]


def test_a_run_a_kernel_with_its_occurrences_from_1(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written(ten, "ncu")
    common = ["--devices", "0", "--filter-mode", "per-launch-config", "--kernel-name-base", "demangled"]
    assert runs(tmp_path, "run.sh") == [
        [*common, "--kernel-id", "::regex:^c$:^(1)$"],
        [*common, "--kernel-id", "::regex:^b$:^(2)$"],
        [*common, "--kernel-id", "::regex:^a.int.$:^(2|5|6)$"],
    ]


def test_a_run_a_range_of_positions_from_0(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    """Launches 2, 4, 5, 8, 9: after two launches one, after four two, after eight two."""
    written(ten, "ncu")
    common = ["--devices", "0", "--filter-mode", "per-gpu", "--launch-skip"]
    assert runs(tmp_path, "run-by-position.sh") == [
        [*common, "2", "--launch-count", "1"],
        [*common, "4", "--launch-count", "2"],
        [*common, "8", "--launch-count", "2"],
    ]


def test_a_kernel_id_has_the_fields_that_ncu_splits_at_colons() -> None:
    name = "void at::native::f<(int)4, at::T>(float *)"
    step = Step(0, 0, launch(0, 6, name), 0)
    ((base, kernel_id),) = kernel_ids((step,))
    assert base == "demangled"
    context, stream, operator, pattern, number = kernel_id.split(":")
    assert (context, stream, operator, number) == ("", "", "regex", "^(7)$")
    assert len(pattern) == len(name) + 2


def test_mangled_names_are_looked_for_as_such_and_many_numbers_are_split() -> None:
    steps = tuple(Step(place, place, launch(place, place, "_Z1fv"), 0) for place in range(2001))
    (base, first), (_, second) = kernel_ids(steps)
    assert base == "mangled"
    assert first.startswith("::regex:^_Z1fv$:^(1|2|3|")
    assert first.endswith("|2000)$")
    assert second == "::regex:^_Z1fv$:^(2001)$"


def test_each_device_is_asked_for_by_itself(written: Write, tmp_path: Path) -> None:
    both = [launch(3, 0, "a", id=3), launch(3, 0, "a", id=9, device=1)]
    written(plan_of(stratum("a", 12, 1, 1, both)), "ncu")
    ((_, device, *_),) = runs(tmp_path, "process-0-device-1/run.sh")
    assert device == "1"


def test_the_shards_have_kernels_of_their_own(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    files = written(ten, "ncu", shards=3)
    kernels = [files[f"run-{number}.sh"].count("--kernel-id") for number in (1, 2, 3)]
    assert kernels == [1, 1, 1]
    assert "kernel-2-1 " in files["run-2.sh"], "reports of two shards have two names"
