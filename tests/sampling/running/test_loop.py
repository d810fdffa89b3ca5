"""A run from its plan to its answer, with a shell script for the simulator: its results are tables by id."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

import sampling
from sampling.errors import AnalysisError, OptionError, PlanFileError, SamplingError
from sampling.plan.plan_file import PlanFile, PlannedLaunch, read_plan
from sampling.running import folder, local
from sampling.running.loop import run
from sampling.running.request import RunProgress, RunRequest, RunResult
from sampling.running.slurm import write_job_array
from sampling.simulators.export import ExportChoices
from sampling.simulators.manifest import manifests_in
from sampling.simulators.results import read_result_files

LAUNCHES, KERNELS = 120, ("copy", "gemm", "reduce")
DURATION_NS = np.random.default_rng(3).integers(900, 1100, LAUNCHES) * (1 + np.arange(LAUNCHES) % 3 * 4)
CYCLES = (DURATION_NS * np.random.default_rng(4).uniform(2.9, 3.1, LAUNCHES)).astype(int)
PROJECT = Path(__file__).resolve().parents[3]

Asking = Callable[..., RunRequest]


@pytest.fixture
def plan(tmp_path: Path) -> PlanFile:
    """A plan of three kernels, of 40 launches each."""
    rows = (f"{KERNELS[each % 3]},{DURATION_NS[each]}\n" for each in range(LAUNCHES))
    (tmp_path / "profile.csv").write_text("name,duration_ns\n" + "".join(rows))
    profile = sampling.read_profile(str(tmp_path / "profile.csv"))
    sampling.write_plan(
        sampling.make_plan(profile, sampling.PlanRequest(epsilon=0.03)), tmp_path / "plan.json"
    )
    return read_plan(str(tmp_path / "plan.json"))


@pytest.fixture
def asking(plan: PlanFile, tmp_path: Path) -> Asking:
    """Ask for a run of a script that is told an id, notes it in ``calls`` and then does something."""
    (tmp_path / "cycles").write_text("".join(f"{each}\n" for each in CYCLES))

    def asked(then: str = "", **more: object) -> RunRequest:
        script = tmp_path / "simulate"
        script.write_text(
            f'#!/bin/sh\ncd {tmp_path}\necho "$1" >> calls\n{then}\necho of launch "$1"\n'
            'sed -n "$(($1 + 1))p" cycles\n'
        )
        script.chmod(0o755)
        return RunRequest(
            **{"plan": plan, "folder": tmp_path / "run", "simulator": "csv", "command": f"{script} {{id}}"}
            | more
        )  # type: ignore[arg-type]

    return asked


def ran(asked: RunRequest) -> RunResult:
    return run(asked, lambda _: None)


def calls(tmp_path: Path) -> list[int]:
    path = tmp_path / "calls"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def test_it_ends_as_soon_as_the_total_is_within_the_target(
    asking: Asking, tmp_path: Path, plan: PlanFile
) -> None:
    told: list[RunProgress] = []
    found = run(asking(target=0.3), told.append).estimate
    assert found is not None
    assert found.main.is_within(0.3)
    assert 3 <= len(calls(tmp_path)) < len(plan.drawn)
    # It was looked at after each launch: what was waited for is what is claimed.
    assert found.main.half_width == pytest.approx(0.3 * found.main.total)
    assert (told[0].measured, told[0].running) == (0, 1), "a first launch may take hours"
    assert told[-1].measured == len(calls(tmp_path))
    assert told[-1].launches == len(plan.drawn)
    again = read_result_files(
        read_plan(str(tmp_path / "run")), sorted(map(str, (tmp_path / "run" / "results").iterdir()))
    )
    assert again.metrics["cycles"].tolist() == found.results.metrics["cycles"].tolist()


def test_it_draws_more_until_the_target_holds(asking: Asking, tmp_path: Path, plan: PlanFile) -> None:
    found = ran(asking(target=0.005, processes=2)).estimate
    assert found is not None
    assert found.main.is_within(0.005)
    assert found.main.total == pytest.approx(CYCLES.sum(), rel=0.005)
    assert len(calls(tmp_path)) > len(plan.drawn)
    assert len(calls(tmp_path)) == len(set(calls(tmp_path)))
    larger = read_plan(str(tmp_path / "run"))
    assert {launch.id for launch in plan.drawn} < {launch.id for launch in larger.drawn}
    assert larger.topped_up_to == 0.005


def test_what_is_finished_is_not_run_again(asking: Asking, tmp_path: Path, plan: PlanFile) -> None:
    def stop_at_two(now: RunProgress) -> None:
        if now.measured == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(asking(), stop_at_two)
    assert len(calls(tmp_path)) == 2
    whole = ran(asking()).estimate
    assert sorted(calls(tmp_path)) == [launch.id for launch in plan.drawn]
    again = ran(asking("exit 1")).estimate
    assert len(calls(tmp_path)) == len(plan.drawn)
    assert whole is not None
    assert again is not None
    assert again.main.total == whole.main.total


@pytest.mark.parametrize(
    ("then", "why"),
    [
        ("echo no memory >&2; exit 3", "exit code 3: no memory"),
        ("kill -SEGV $$", "ended by SIGSEGV"),
        ("sleep 20", "ran past 0.3 s"),
        ("echo nothing; exit 0", "it gave no number of cycles"),
    ],
)
def test_a_launch_that_fails_is_replaced_by_another_of_its_stratum(
    asking: Asking, tmp_path: Path, plan: PlanFile, then: str, why: str
) -> None:
    bad = plan.strata[0].launches[0].id
    asked = asking(f"if [ $1 = {bad} ]; then {then}; fi", processes=2, timeout_seconds=0.3)
    # Not all of the first are to fail.
    came = ran(asked)
    (failed,) = came.failed
    assert failed.id == bad
    assert failed.why.startswith(why)
    assert failed.instead not in {None, *(launch.id for launch in plan.drawn)}
    larger = read_plan(str(tmp_path / "run"))
    assert failed.instead in {launch.id for launch in larger.strata[0].launches}
    assert set(calls(tmp_path)) == {failed.instead, *(launch.id for launch in plan.drawn)}
    assert came.estimate is not None
    assert not came.estimate.main.is_incomplete
    # A failure is kept too.
    before = len(calls(tmp_path))
    assert ran(asked).failed == came.failed
    assert len(calls(tmp_path)) == before


def test_a_command_that_always_fails_is_told_after_three_launches(asking: Asking, tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"the first 3 launches failed: exit code 9; see run.log"):
        ran(asking("exit 9"))
    assert len(calls(tmp_path)) == 3
    assert not list((tmp_path / "run").rglob("*.failed"))
    assert ran(asking(command=f"{tmp_path}/simulate {{id}}")).estimate is not None


DEADLOCK = 'if [ $(($1 % 3)) = {} ]; then echo "deadlock at cycle $1" >&2; exit 134; fi'


@pytest.mark.parametrize("kernel", range(3))
@pytest.mark.parametrize("target", [None, 0.005])
def test_a_kernel_that_never_runs_is_given_up(
    asking: Asking, tmp_path: Path, plan: PlanFile, kernel: int, target: float | None
) -> None:
    asked = asking(DEADLOCK.format(kernel), target=target, processes=2)
    came = ran(asked)
    of_kernel = np.arange(LAUNCHES) % 3 == kernel
    tried = [each for each in calls(tmp_path) if of_kernel[each]]
    # One more may have been at work when the third failed.
    assert 3 <= len(tried) <= 4
    (given_up,) = came.given_up
    assert given_up.launch.name == KERNELS[kernel]
    assert given_up.share == pytest.approx(DURATION_NS[of_kernel].sum() / DURATION_NS.sum())
    assert given_up.why.startswith("ended by SIGABRT: deadlock at cycle")
    assert came.estimate is not None
    main = came.estimate.main
    assert main.share_missing == pytest.approx(given_up.share)
    assert main.total == pytest.approx(CYCLES[~of_kernel].sum(), rel=target or 0.03)
    assert main.is_within(target or 0.05)
    assert not came.estimate.is_within(0.9)
    # It stays so, and nothing is run again.
    before = len(calls(tmp_path))
    again = ran(asked)
    assert (len(calls(tmp_path)), again.given_up) == (before, came.given_up)
    # What it is taken as may be said afterwards.
    like = next(each.key for each in plan.strata if each.launches[0].name == KERNELS[(kernel + 1) % 3])
    whole = ran(asking(DEADLOCK.format(kernel), target=target, processes=2, assume_like=like)).estimate
    assert whole is not None
    assert not whole.main.share_missing
    assert (whole.main.low or 0) < CYCLES.sum() < (whole.main.high or 0)
    assert [each for each in calls(tmp_path) if of_kernel[each]] == tried


def test_what_is_given_up_of_a_job_array_is_not_submitted_again(asking: Asking, tmp_path: Path) -> None:
    asked = asking(DEADLOCK.format(1))
    while (came := write_job_array(asked, lambda _: None)).job_array is not None:
        script, tasks = came.job_array
        for task in range(1, tasks + 1):
            environment = os.environ | {"SLURM_ARRAY_TASK_ID": str(task)}
            subprocess.run(["sh", str(script)], env=environment, check=True)
    assert [each.launch.name for each in came.given_up] == [KERNELS[1]]
    assert sum(each % 3 == 1 for each in calls(tmp_path)) <= max(3, len(asked.plan.drawn))


@pytest.fixture
def elsewhere(plan: PlanFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlanFile:
    """The plan with its profile as it was typed in its own folder, another folder being the current one."""
    typed = structs.replace(plan.profile.files[0], path="profile.csv")
    other = structs.replace(plan, profile=structs.replace(plan.profile, files=(typed,)))
    (tmp_path / "plan.json").write_text(other.text())
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    return read_plan(str(tmp_path / "plan.json"))


def test_a_profile_is_found_beside_the_plan(asking: Asking, tmp_path: Path, elsewhere: PlanFile) -> None:
    asked = asking(plan=elsewhere, target=0.005)
    found = ran(asked).estimate
    assert found is not None
    assert found.main.is_within(0.005)
    assert len(calls(tmp_path)) > len(elsewhere.drawn)
    # Of a run the folder is enough, for the profile lies above it.
    again = ran(asking(plan=read_plan(str(tmp_path / "run" / "rounds" / "1")), target=0.003)).estimate
    assert again is not None
    assert again.main.is_within(0.003)


@pytest.mark.parametrize("links_folder", [False, True])
def test_a_profile_is_found_beside_a_plan_that_is_named_by_a_link(
    asking: Asking, tmp_path: Path, elsewhere: PlanFile, links_folder: bool
) -> None:
    (tmp_path / "far" / "off").mkdir(parents=True)
    link = tmp_path / "far" / "off" / ("folder" if links_folder else "plan.json")
    link.symlink_to(tmp_path if links_folder else tmp_path / elsewhere.path)
    named = read_plan(str(link / "plan.json" if links_folder else link))
    found = ran(asking(plan=named, target=0.005)).estimate
    assert found is not None
    assert found.main.is_within(0.005)


def test_that_nothing_can_be_drawn_is_said_before_anything_runs(
    asking: Asking, tmp_path: Path, elsewhere: PlanFile
) -> None:
    (tmp_path / "profile.csv").rename(tmp_path / "kept")
    with pytest.raises(
        PlanFileError, match=r"profile\.csv, which it was made from, is not there; put it back"
    ):
        ran(asking(plan=elsewhere, target=0.1))
    assert calls(tmp_path) == []
    assert not (tmp_path / "run").exists()
    # Without a target the plan is all that is asked for, and its total is given though a launch fails.
    bad = next(each.launches[0].id for each in elsewhere.strata if len(each.launches) > 1)
    came = ran(asking(f"if [ $1 = {bad} ]; then exit 3; fi", plan=elsewhere))
    assert "profile.csv, which it was made from, is not there" in came.why_no_more
    assert [each.id for each in came.failed] == [bad]
    assert came.estimate is not None
    # A run is gone on with up to the target that it meets without more.
    assert ran(asking(f"if [ $1 = {bad} ]; then exit 3; fi", plan=elsewhere, target=0.3)).estimate is not None
    # Where all is done that is known, what it comes to is said.
    more = ran(asking(f"if [ $1 = {bad} ]; then exit 3; fi", plan=elsewhere, target=0.001))
    assert more.estimate is not None
    assert "is not there" in more.why_no_more


def test_a_launch_whose_log_was_cut_off_is_tried_again_once(
    asking: Asking, tmp_path: Path, plan: PlanFile
) -> None:
    bad = plan.strata[0].launches[0].id
    cut = f"if [ $1 = {bad} ] && [ ! -e again ]; then touch again; printf 'launch {bad} of'; exit 0; fi"
    whole = ran(asking(cut))
    assert whole.failed == ()
    assert whole.estimate is not None
    assert whole.estimate.results.metrics["cycles"].tolist() == CYCLES[whole.estimate.results.ids].tolist()
    assert calls(tmp_path).count(bad) == 2
    (tmp_path / "calls").unlink()
    always = ran(asking(f"if [ $1 = {bad} ]; then exit 0; fi", folder=tmp_path / "always"))
    assert [(each.id, each.why) for each in always.failed] == [(bad, "it gave no number of cycles")]
    assert calls(tmp_path).count(bad) == 2


def test_a_full_disk_ends_the_run_and_no_launch(
    asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = asking("exit 1")
    monkeypatch.setattr(local, "is_full", lambda _: True)
    with pytest.raises(AnalysisError, match=r"no room is left where .* may be cut off; make room; the same"):
        ran(full)
    monkeypatch.setattr(local, "is_full", lambda _: False)
    assert not list((tmp_path / "run").rglob("*.failed"))
    came = ran(asking())
    assert came.failed == ()
    assert came.estimate is not None


@pytest.mark.parametrize(
    ("make", "why"),
    [
        ("mkdir out", "out is a folder, not a file with its cycles"),
        ("mkfifo out", "out is a pipe, not a file with its cycles"),
        ("ln -s /dev/zero out", "out is a device, not a file with its cycles"),
        ("rm run.log; mkdir run.log", "what it wrote cannot be read (Is a directory)"),
    ],
)
def test_what_is_no_file_is_a_failed_launch(
    asking: Asking, plan: PlanFile, tmp_path: Path, make: str, why: str
) -> None:
    bad = plan.strata[0].launches[0].id
    place = tmp_path / "run" / "launches" / str(bad)
    came = ran(asking(f"if [ $1 = {bad} ]; then cd {place}; {make}; exit 0; fi"))
    assert [(each.id, each.why) for each in came.failed] == [(bad, why)]
    assert came.estimate is not None


@pytest.mark.parametrize("what", ["folder", "command", "current"])
def test_a_line_break_is_no_job_array(
    asking: Asking, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a\nb").mkdir()
    (tmp_path / "a\nb" / "file").touch()
    changed = {
        "folder": {"folder": tmp_path / "a\nb" / "run"},
        # A relative path is made one that means the same in any folder.
        "current": {"command": f"{tmp_path}/simulate {{id}} file"},
        "command": {"command": f"{tmp_path}/simulate {{id}} 'a\nb'"},
    }
    asked = asking(**changed[what])
    if what == "current":
        monkeypatch.chdir(tmp_path / "a\nb")
    with pytest.raises(OptionError, match=r"the (folder|command) has a line break in it: .*; give another"):
        write_job_array(asked, lambda _: None)
    assert not asked.folder.exists()
    assert ran(asked).estimate is not None


def test_the_folder_is_there_after_an_interruption_of_the_first_export(
    asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(folder, "exported_folder", raised)
        with pytest.raises(KeyboardInterrupt):
            ran(asking())
    assert (tmp_path / "run").is_dir()
    assert ran(asking()).estimate is not None


def raised(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_command_that_is_told_ids_runs_each_launch_cold_unless_it_says_otherwise(asking: Asking) -> None:
    cold = ran(asking()).estimate
    assert cold is not None
    assert cold.caches.kind == "cold"
    assert not cold.is_within(0.9)
    warm = ran(asking(caches_of_command="after:16")).estimate
    assert warm is not None
    assert (warm.caches.state, warm.main.total) == ("after:16", cold.main.total)
    assert warm.is_within(0.9)
    with pytest.raises(OptionError, match="`caches` is warm, loads, own, cold or after:N, not hot"):
        ran(asking(caches_of_command="hot"))


def test_results_of_a_stratum_are_taken_in_the_order_of_its_draw(asking: Asking, tmp_path: Path) -> None:
    """Else the quick ones of those that run at once would stand for all."""
    seen: list[set[str]] = []

    def watch(_: RunProgress) -> None:
        seen.append({path.stem for path in (tmp_path / "run" / "results").glob("*.csv")})

    first = []
    run(asking(), lambda now: first.append(now.news))
    order = [job.id for job in first if job is not None and not isinstance(job, int)]
    slow = order[0]
    (tmp_path / "other").mkdir()
    asked = asking(f"if [ $1 = {slow} ]; then sleep 0.5; fi", processes=8, folder=tmp_path / "other" / "run")
    (tmp_path / "run").rename(tmp_path / "before")
    (tmp_path / "run").symlink_to(tmp_path / "other" / "run")
    run(asked, watch)
    stratum = next(
        {launch.id for launch in each.launches}
        for each in asked.plan.strata
        if slow in {launch.id for launch in each.launches}
    )
    assert len(stratum) > 1
    for names in seen:
        ids = {int(name.partition("-")[2]) for name in names}
        assert slow in ids or not ids & stratum


def test_another_run_or_folder_is_refused(asking: Asking, tmp_path: Path, plan: PlanFile) -> None:
    def second(_: RunProgress) -> None:
        with pytest.raises(OptionError, match="another run is at work in"):
            ran(asking())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(asking(), second)
    for changed in (
        {"command": "true {id}"},
        {"plan": structs.replace(plan, options=structs.replace(plan.options, seed=7))},
    ):
        with pytest.raises(OptionError, match="is a run of another plan or command: results of both"):
            ran(asking(**changed))
    with pytest.raises(OptionError, match="is there, and no run"):
        ran(asking(folder=tmp_path))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"command": "no-such-program {id}"}, "no-such-program: there is no such program"),
        ({"command": "true"}, r"does not say what to simulate, \{id\}"),
        ({"command": "true '{id}"}, "cannot be read: No closing quotation"),
        ({"simulator": "ncu"}, "nothing runs ncu here: there is csv, accel-sim, macsim"),
        ({"simulator": "accel-sim", "command": "true {list}"}, "accel-sim runs `traces`, and there are none"),
        ({"choices": ExportChoices(cold_check=3)}, "no `cold_check`"),
        ({"target": 0.0}, "`target` is a fraction between 0 and 1, not 0"),
    ],
)
def test_what_cannot_be_run_is_refused_and_leaves_nothing(
    asking: Asking, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(OptionError, match=said):
        ran(asking(**changed))
    assert not (tmp_path / "run").exists()


def test_an_export_that_fails_leaves_nothing_and_touches_nothing(asking: Asking, tmp_path: Path) -> None:
    lacking = {
        "simulator": "accel-sim",
        "command": "true {list}",
        "choices": ExportChoices(traces=str(tmp_path / "none")),
    }
    with pytest.raises(SamplingError):
        ran(asking(**lacking))
    assert not (tmp_path / "run").exists()
    theirs = tmp_path / "run" / "rounds" / "notes.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    with pytest.raises(OptionError, match="is there, and no run"):
        ran(asking(**lacking))
    assert theirs.read_text() == "mine"


ACCEL_SIM = """\
#!/bin/sh
[ "$1" = -trace ] && [ "$3" = -config ] && [ -e net.icnt ] || exit 7
printf 'Accel-Sim [build 1]\nGPGPU-Sim: Configuration options:\n\n-gpgpu_n_chiplet_partition 1 # parts\n'
grep '^kernel' "$2" | while read -r name; do
  number=${name#kernel-}; number=${number%.traceg}
  cycles=$(sed -n "${number}p" CYCLES); cycles=${cycles:-7}
  echo "Processing kernel $name"
  cat "${2%/*}/$name" || exit 8
  kernel=$(sed -n 's/-kernel name = //p' "${2%/*}/$name")
  printf 'launching kernel name: %s uid: 1 cuda_stream_id: 0\\nkernel_name = %s\\n' "$kernel" "$kernel"
  echo "kernel_launch_uid = 1"
  printf 'gpu_sim_cycle = %s\\ngpu_sim_insn = 9\\ngpu_tot_sim_cycle = %s\\n' "$cycles" "$cycles"
  echo "gpgpu_simulation_rate = 9 (inst/sec)"
done
"""


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Traces of all launches, in the current folder, which has a simulator of them too."""
    folder = tmp_path / "traces"
    folder.mkdir()
    names = [f"kernel-{number}.traceg" for number in range(1, LAUNCHES + 1)]
    for number, name in enumerate(names, start=1):
        kernel = KERNELS[(number - 1) % 3]
        (folder / name).write_text(f"-kernel name = {kernel}\n-kernel id = {number}\n")
    (folder / "kernelslist.g").write_text("\n".join(names) + "\n")
    for name in ("gpgpusim.config", "net.icnt"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    simulator = Path("accel-sim.out")
    simulator.write_text(ACCEL_SIM.replace("CYCLES", str(tmp_path / "cycles")))
    simulator.chmod(0o755)
    return folder


ACCEL_SIM_COMMAND = "./accel-sim.out -trace {list} -config gpgpusim.config"


def test_launches_that_were_not_traced_are_named_and_the_run_goes_on_once_they_are(
    asking: Asking, tmp_path: Path, plan: PlanFile, traces: Path
) -> None:
    """As on a machine with a GPU, where the first plan's launches alone were recorded."""
    later = tmp_path / "later"
    traces.rename(later)
    traces.mkdir()

    def record(launches: Iterable[PlannedLaunch]) -> None:
        for number in {launch.ordinal + one for launch in launches for one in (0, 1)}:
            if (path := later / f"kernel-{number}.traceg").exists():
                path.rename(traces / path.name)

    record(plan.drawn)
    asked = asking(
        simulator="accel-sim",
        command=ACCEL_SIM_COMMAND,
        choices=ExportChoices(traces="traces"),
        target=0.005,
    )
    came = ran(asked)
    assert came.estimate is not None
    assert not came.estimate.main.is_within(0.005)
    assert "is not among the" in came.why_no_more
    folder = tmp_path / "run"
    assert f"`kernelpoint export {folder / 'more.json'} --to accel-sim -o more` writes" in came.why_no_more
    missing = read_plan(str(folder / "more.json")).to_simulate().drawn
    assert missing
    record(missing)
    assert len(ran(asked).estimate.results.ids) == len(plan.drawn) + len(missing)  # type: ignore[union-attr]
    pages = [(folder / "rounds" / number / "README.txt").read_text() for number in ("1", "2")]
    assert "Nothing tells whether this is for Accel-Sim 2.0" in pages[0]
    assert "The log is of Accel-Sim 2.0" in pages[1], "the first round's logs tell"


@pytest.mark.parametrize("caches", [None, "loads", "after:2", "check:6", "check:2"])
def test_accel_sim_runs_a_list_of_its_own_for_each_launch(
    asking: Asking, tmp_path: Path, traces: Path, caches: str | None
) -> None:
    pairs = (caches or "").partition("check:")[2]
    asked = asking(
        simulator="accel-sim",
        command=ACCEL_SIM_COMMAND,
        choices=ExportChoices(traces=traces.name, cold_check=int(pairs))
        if pairs
        else ExportChoices(traces=traces.name, caches=caches),
        target=0.1 if caches else 0.005,
    )
    found = ran(asked).estimate
    assert found is not None
    measured = dict(zip(found.results.ids.tolist(), found.results.metrics["cycles"].tolist(), strict=True))
    assert measured == {each: CYCLES[each] for each in measured}
    assert len(measured) > len(asked.plan.drawn) / 2
    logs = sorted(map(str, (tmp_path / "run" / "results").glob("*.log")))
    manifests = list(map(str, manifests_in(tmp_path / "run")))
    assert len(manifests) > 1 or caches
    again = read_result_files(read_plan(str(tmp_path / "run")), logs, manifests=manifests)
    assert again.metrics["cycles"].tolist() == found.results.metrics["cycles"].tolist()
    # A check is done before a total is believed; one that leaves nothing of the target ends the run.
    check = found.caches.check
    assert (0 if check is None else check.pairs) == int(pairs or 0)
    assert found.is_within(0.1) == (caches in {None, "loads", "check:6"})


def test_macsim_finds_what_it_looks_for_in_its_folder(
    asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in range(LAUNCHES):
        (tmp_path / f"Kernel{each}").mkdir()
        (tmp_path / f"Kernel{each}" / "trace.txt").touch()
    (tmp_path / "params.in").touch()
    (tmp_path / "macsim").write_text(
        "#!/bin/sh\n[ -e params.in ] || exit 7\n"
        "name=$(sed -n 4p kernel_config.txt); name=${name#./}; name=${name%/trace.txt}\n"
        '[ -e "$name/trace.txt" ] || exit 8\n'
        f'cycles=$(sed -n "$((${{name#Kernel}} + 1))p" {tmp_path}/cycles)\n'
        "printf 'setup_process:0 ./%s/trace.txt current_index:0 (9)\\nthread_count: 1\\n' $name\n"
        "printf '**Core 00 Thread 00 Finished:   insts:13    cycles:%s   (9)\\n' $cycles\n"
    )
    (tmp_path / "macsim").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    found = ran(
        asking(simulator="macsim", command="./macsim", choices=ExportChoices(traces="."), target=0.1)
    ).estimate
    assert found is not None
    measured = dict(zip(found.results.ids.tolist(), found.results.metrics["cycles"].tolist(), strict=True))
    assert measured == {each: CYCLES[each] for each in measured}


def test_a_job_array_is_written_collected_and_written_again(
    asking: Asking, tmp_path: Path, plan: PlanFile
) -> None:
    asked = asking(target=0.005, processes=4)
    rounds = 0
    while (came := write_job_array(asked, lambda _: None)).job_array is not None:
        script, launches = came.job_array
        assert f"#SBATCH --array=1-{launches}%4\n" in script.read_text()
        before = len(calls(tmp_path))
        for task in range(1, launches + 1):
            subprocess.run(
                ["sh", str(script)], env=os.environ | {"SLURM_ARRAY_TASK_ID": str(task)}, check=True
            )
        assert len(calls(tmp_path)) == before + launches
        rounds += 1
    assert rounds > 1
    assert came.estimate is not None
    assert came.estimate.main.is_within(0.005)
    assert ran(asked).estimate is not None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_children_and_keeps_what_is_finished(
    asking: Asking, tmp_path: Path, number: signal.Signals
) -> None:
    """The third launch starts a child of its own, and neither heeds SIGTERM."""
    asked = asking('if [ "$(wc -l < calls)" = 3 ]; then trap "" TERM; sleep 60 & echo $! > child; wait; fi')
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from tui.cli import main; main()"
    )
    words = ("run", asked.plan.path, "--to", "csv", "-o", str(asked.folder), "--simulator", asked.command)
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 20
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=10)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert f"what is finished is kept in {asked.folder}; the same command goes on\n" in said
    status = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/status")
    # Where nobody waits for orphans a dead one stays listed.
    assert not status.exists() or "State:\tZ" in status.read_text()
    kept = list((asked.folder / "results").iterdir())
    assert len(kept) == 2
    before = len(calls(tmp_path))
    assert ran(asking(folder=asked.folder)).estimate is not None
    assert len(calls(tmp_path)) == before + len(asked.plan.drawn) - 2
