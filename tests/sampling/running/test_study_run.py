"""A study from its file to its speedups, with a shell script for the simulator: cycles are rows of tables."""

from __future__ import annotations

import math
import os
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sampling
from sampling.errors import AnalysisError, OptionError, ProfileError, SamplingError
from sampling.estimation.configurations import compare_configurations, read_configurations
from sampling.estimation.top_up import enlarged
from sampling.plan.plan_file import read_plan
from sampling.running import folder
from sampling.running.job import Job
from sampling.running.loop import run
from sampling.running.request import RunRequest
from sampling.running.study_run import (
    StudyProgress,
    StudyRunRequest,
    StudyRunResult,
    run_study,
    write_study_array,
)
from sampling.simulators.export import informative_order
from sampling.study.comparison import compare_study
from sampling.study.study_file import Study
from tests.sampling.running.test_loop import ACCEL_SIM
from tests.small_study import CONFIGURATIONS, KERNELS, LAUNCHES, TARGET, Bench, make_bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def ran(study: Study, watch: Callable[[StudyProgress], None] = lambda _: None, **more: Any) -> StudyRunResult:
    return run_study(StudyRunRequest(study, **{"caches": "warm"} | more), watch)


def result_ids(study: Study, program: str, configuration: str) -> list[int]:
    names = (study.cell_folder(program, configuration) / "results").glob("launch-*.csv")
    return sorted(int(path.stem.partition("-")[2]) for path in names)


@dataclass(frozen=True)
class Finished:
    """A study that was run to its target."""

    bench: Bench
    study: Study
    result: StudyRunResult
    progress: list[StudyProgress]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    bench = make_bench(tmp_path_factory.mktemp("finished"))
    progress: list[StudyProgress] = []
    study = bench.study()
    return Finished(bench, study, ran(study, progress.append, processes=4), progress)


def test_it_ends_when_every_speedup_is_within_the_target(finished: Finished) -> None:
    speedups = finished.result.speedups
    assert speedups.is_within(TARGET)
    for program in speedups.programs:
        for name in ("gto", "dram"):
            contrast = program.speedup(name)
            assert contrast is not None
            # Each look counts, so that nothing is narrower than what was waited for.
            assert contrast.half_width == pytest.approx(TARGET)
            assert abs(math.log(contrast.ratio / finished.bench.ratio(program.name, name))) < TARGET
    assert finished.result.failed == ()
    assert not finished.result.is_waiting


def test_configurations_run_the_same_launches_and_those_that_are_told_no_more(finished: Finished) -> None:
    calls = finished.bench.calls()
    assert len(calls) == len(set(calls))
    for program in ("bfs", "heat"):
        of_base, of_gto, of_dram = (
            [launch for name, cell, launch in calls if (name, cell) == (program, configuration)]
            for configuration in CONFIGURATIONS
        )
        # What differs more takes more, and nothing runs that the base does not.
        assert set(of_gto) < set(of_dram) <= set(of_base)
        assert len(of_base) < LAUNCHES
        plan = read_plan(str(finished.study.cell_folder(program, "dram")))
        for configuration in ("base", "gto"):
            other = read_plan(str(finished.study.cell_folder(program, configuration)))
            assert other.drawn == plan.drawn
        assert plan.topped_up is not None
        assert plan.topped_up.speedup == TARGET
        assert plan.topped_up_to is None


def test_the_base_runs_alone_until_it_has_told_what_it_takes(finished: Finished) -> None:
    """Each program's until it is within the target itself, which takes a launch of each stratum at least."""
    for program in ("bfs", "heat"):
        configurations = [
            configuration for name, configuration, _ in finished.bench.calls() if name == program
        ]
        strata = len(read_plan(str(finished.study.cell_folder(program, "base"))).strata)
        assert set(configurations[:strata]) == {"base"}
    # A program without a speedup comes before one that has them.
    programs = [program for program, _, _ in finished.bench.calls()]
    assert programs.index("heat") < len(programs) - 1 - programs[::-1].index("bfs")


def test_the_answer_is_that_of_the_folders(finished: Finished) -> None:
    from_disk = compare_study(finished.study)
    for program, read in zip(finished.result.speedups.programs, from_disk.programs, strict=True):
        assert program.speedups is not None
        assert read.speedups is not None
        told, again_told = (
            [(one.name, one.ratio, one.half_width, one.launches) for one in speedups.speedups]
            for speedups in (program.speedups, read.speedups)
        )
        assert told == again_told
        # Each cell is the folder of an ordinary run.
        folders = {name: [str(finished.study.cell_folder(program.name, name))] for name in CONFIGURATIONS}
        plan = read_plan(folders["base"][0])
        again = compare_configurations(plan, read_configurations(plan, folders))
        assert [one.ratio for one in again.speedups] == [one.ratio for one in program.speedups.speedups]
    assert finished.result.speedups.means["gto"].geometric.ratio == pytest.approx(1.04, rel=TARGET)


def test_nothing_is_run_again(finished: Finished) -> None:
    before = len(finished.bench.calls())
    again = ran(finished.study)
    assert len(finished.bench.calls()) == before
    assert [program.speedup("dram").half_width for program in again.speedups.programs] == [  # type: ignore[union-attr]
        program.speedup("dram").half_width  # type: ignore[union-attr]
        for program in finished.result.speedups.programs
    ]


def test_progress_tells_cells_the_widest_speedup_and_the_time_left(finished: Finished) -> None:
    progress = finished.progress
    assert (progress[0].cells_done, progress[0].cells, progress[0].running) == (0, 6, 1)
    assert progress[0].widest is None
    assert progress[-1].cells_done == 6
    measured = progress[-1].measured
    # The last that ran were ended when nothing was wanted any more.
    assert 0 <= len(finished.bench.calls()) - measured < 4
    assert all(one.measured <= one.launches for one in progress)
    assert any(one.seconds_left for one in progress)
    programs = {one.widest[0] for one in progress if one.widest is not None}
    assert programs == {"bfs", "heat"}
    grown = [one.news for one in progress if one.news is not None and isinstance(one.news.event, int)]
    assert grown
    assert all(news.configuration is None for news in grown)
    ended = [one.news for one in progress if one.news is not None and isinstance(one.news.event, Job)]
    assert len(ended) == measured


def test_results_of_a_stratum_are_the_first_of_its_draw(finished: Finished) -> None:
    for program in ("bfs", "heat"):
        for configuration in CONFIGURATIONS:
            cell = finished.study.cell_folder(program, configuration)
            ids = set(result_ids(finished.study, program, configuration))
            order: defaultdict[int, list[int]] = defaultdict(list)
            for number in range(1, 1 + len(list((cell / "rounds").glob("[0-9]*")))):
                round_plan = read_plan(str(cell / "rounds" / str(number)))
                for place, launch in informative_order(round_plan.to_simulate()):
                    order[place].append(launch.id)
            counts = [len(ids & set(launches)) for launches in order.values()]
            assert min(counts) > 0
            assert ids == {
                launch
                for count, launches in zip(counts, order.values(), strict=True)
                for launch in launches[:count]
            }


def test_without_a_target_all_that_the_plans_draw_runs_launch_by_launch(bench: Bench) -> None:
    study = bench.study(target=None)
    result = ran(study)
    calls = bench.calls()
    for program in ("bfs", "heat"):
        plan = read_plan(str(study.run_folder / program))
        of_program = [(configuration, launch) for name, configuration, launch in calls if name == program]
        runs = [list(cells) for _, cells in groupby(of_program, key=lambda call: call[1])]
        # Where another program comes first now a launch is met again.
        assert sum(map(len, runs)) == 3 * len(plan.drawn)
        for launch in {launch.id for launch in plan.drawn}:
            assert [cell for cell, one in of_program if one == launch] == list(CONFIGURATIONS)
        assert all(stratum.samples >= 2 for stratum in plan.strata)
        assert plan.topped_up is None
    assert [one.plan and one.plan.topped_up for one in result.speedups.programs] == [None, None]


def test_what_is_finished_is_kept_when_it_is_stopped(bench: Bench, tmp_path: Path) -> None:
    def stop(progress: StudyProgress) -> None:
        if progress.measured == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ran(bench.study(target=0.04), stop)
    assert len(bench.calls()) == 30
    result = ran(bench.study(target=0.04))
    calls = bench.calls()
    assert len(calls) == len(set(calls))
    (tmp_path / "other").mkdir()
    other = make_bench(tmp_path / "other")
    whole = ran(other.study(target=0.04))
    assert sorted(calls) == sorted(other.calls())
    for program in ("bfs", "heat"):
        for name in ("gto", "dram"):
            ratios = [
                one.speedup(name).ratio  # type: ignore[union-attr]
                for speedups in (result.speedups, whole.speedups)
                for one in speedups.programs
                if one.name == program
            ]
            assert ratios[0] == ratios[1]


def test_a_cell_that_lags_behind_catches_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that grew on the base alone, for the run was ended meanwhile, or the configuration is new."""
    grow = folder.RunFolder.grow

    def first_alone(cell: folder.RunFolder, text: str) -> None:
        grow(cell, text)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(folder.RunFolder, "grow", first_alone)
        with pytest.raises(KeyboardInterrupt):
            ran(bench.study())
    study = bench.study()
    rounds = [len(list((cell / "rounds").iterdir())) for cell in sorted(study.run_folder.glob("*/*/"))]
    assert set(rounds) == {1, 2}
    assert ran(bench.study(), processes=2).speedups.is_within(TARGET)
    text = (bench.folder / "study.toml").read_text()
    new = '[configurations.same]\nsimulator = "./simulate base {id}"\nto = "csv"\n'
    (bench.folder / "study.toml").write_text(text + new)
    before = len(bench.calls())
    result = ran(bench.study(), processes=2)
    assert result.speedups.is_within(TARGET)
    # What is equal in every launch takes fewest.
    assert len(bench.calls()) - before < before / 3
    same = result.speedups.programs[0].speedup("same")
    assert same is not None
    assert same.ratio == 1


def test_plans_that_differ_are_refused(bench: Bench) -> None:
    study = bench.study()
    with pytest.raises(KeyboardInterrupt):
        ran(study, interrupt)
    plan = read_plan(str(study.run_folder / "bfs"))
    for more, configuration in enumerate(CONFIGURATIONS, start=1):
        cell = study.cell_folder("bfs", configuration)
        command = f"{bench.folder}/simulate {configuration} {{id}}"
        lone = folder.RunFolder(RunRequest(plan, cell, "csv", command, caches_of_command="warm"))
        sizes = np.array([stratum.samples + more for stratum in plan.strata])
        lone.open()
        lone.grow(enlarged(lone.with_path(lone.plan), sizes, None, plan.simulated, None).text)
    with pytest.raises(OptionError, match="are runs of different plans; remove one of the folders"):
        ran(study)


def interrupt(_: StudyProgress) -> None:
    raise KeyboardInterrupt


def test_a_launch_that_fails_on_one_configuration_leaves_its_comparison(bench: Bench) -> None:
    with pytest.raises(KeyboardInterrupt):
        ran(bench.study(), interrupt)
    plan = read_plan(str(bench.study().run_folder / "bfs"))
    on_gto, on_base = (plan.strata[place].launches[0].id for place in (0, 1))
    then = f"""\
[ "$program $1 $2" != "bfs gto {on_gto}" ] || {{ echo no memory >&2; exit 3; }}
[ "$program $1 $2" != "bfs base {on_base}" ] || exit 4"""
    study = bench.study(then, target=None)
    result = ran(study)
    assert sorted(result.failed) == [
        ("bfs", "base", on_base, "exit code 4"),
        ("bfs", "gto", on_gto, "exit code 3: no memory"),
    ]
    bfs, heat = result.speedups.programs
    gto, dram = (bfs.speedup(name) for name in ("gto", "dram"))
    assert gto is not None
    assert dram is not None
    assert (gto.missing, dram.missing) == (2, 1)
    assert abs(math.log(gto.ratio / bench.ratio("bfs", "gto"))) < gto.half_width
    # What the base cannot run is not tried elsewhere, and another launch of its stratum takes its place.
    calls = [(configuration, launch) for program, configuration, launch in bench.calls() if program == "bfs"]
    assert [cell for cell, launch in calls if launch == on_base] == ["base"]
    assert heat.plan is not None
    larger = read_plan(str(study.cell_folder("bfs", "dram")))
    added = {launch.id for launch in larger.drawn} - {launch.id for launch in plan.drawn}
    assert len(added) == 2
    for launch in added:
        assert [cell for cell, one in calls if one == launch] == list(CONFIGURATIONS)
    # Failures are kept too.
    assert ran(study).failed == result.failed
    assert len(bench.calls()) == len(calls) + 3 * len(heat.plan.drawn)


def test_a_kernel_that_one_configuration_never_runs_leaves_that_alone_without_a_speedup(bench: Bench) -> None:
    then = '[ "$program $1 $(($2 % 3))" != "heat gto 1" ] || { echo deadlock at $2 >&2; exit 134; }'
    result = ran(bench.study(then, target=0.05), processes=2)
    (cell,) = result.given_up
    assert (cell.program, cell.configuration, cell.kernel.launch.name) == ("heat", "gto", "gemm")
    tried = [call for call in bench.calls() if call[:2] == ("heat", "gto") and call[2] % 3 == 1]
    assert 3 <= len(tried) <= 4
    heat = result.speedups.programs[1]
    gto, dram = (heat.speedup(name) for name in ("gto", "dram"))
    assert gto is None or math.isnan(gto.ratio)
    assert dram is not None
    assert dram.half_width == pytest.approx(0.05)
    assert not result.speedups.is_within(0.5)


def test_a_configuration_whose_command_always_fails_is_told_after_few_launches(bench: Bench) -> None:
    study = bench.study('[ "$1" != dram ] || exit 9')
    # Of as many kernels.
    with pytest.raises(
        AnalysisError, match=r"the first [34] launches on dram failed: exit code 9; see run\.log"
    ):
        ran(study)
    assert sum(configuration == "dram" for _, configuration, _ in bench.calls()) <= 4
    assert not list(study.run_folder.rglob("*.failed"))
    assert ran(bench.study(target=0.05)).speedups.is_within(0.05)


def test_one_run_at_a_time_is_at_work_in_the_folder_and_in_each_cell(bench: Bench) -> None:
    study = bench.study()

    def second(_: StudyProgress) -> None:
        with pytest.raises(OptionError, match=r"another run is at work in .*study\.run;"):
            ran(study)
        cell = study.cell_folder("heat", "dram")
        request = RunRequest(
            read_plan(str(study.run_folder / "heat")), cell, "csv", f"{bench.folder}/simulate dram {{id}}"
        )
        with pytest.raises(OptionError, match=r"another run is at work in .*heat/dram;"):
            run(request, lambda _: None)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ran(study, second)


def test_a_profile_that_is_gone_is_told_before_anything_runs(bench: Bench) -> None:
    study = bench.study(target=0.05)
    ran(study, processes=2)
    (bench.folder / "bfs.csv").rename(bench.folder / "moved.csv")
    with pytest.raises(SamplingError, match=r"bfs\.csv, which it was made from, is not there"):
        ran(bench.study(target=0.01))
    # What is within its target needs no profile.
    assert ran(bench.study(target=0.05)).speedups.is_within(0.05)


def test_everything_is_simulated_where_that_is_what_it_takes(bench: Bench) -> None:
    text = (bench.folder / "study.toml").read_text()
    (bench.folder / "study.toml").write_text(text.replace('[programs.heat]\nprofile = "heat.csv"\n', ""))
    result = ran(bench.study(target=0.00001), processes=4)
    bfs = result.speedups.programs[0]
    dram = bfs.speedup("dram")
    assert dram is not None
    assert dram.launches == LAUNCHES
    assert dram.ratio == pytest.approx(bench.ratio("bfs", "dram"), rel=1e-9)
    assert result.speedups.is_within(0.00001)


def test_a_plan_made_of_a_profile_is_the_one_of_speedups_and_moves_with_the_study(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyboardInterrupt):
        ran(bench.study(), interrupt)
    plan = read_plan(str(tmp_path / "study.run" / "bfs"))
    profile = sampling.read_profile(tmp_path / "bfs.csv")
    sampling.write_plan(
        sampling.make_plan(profile, sampling.PlanRequest(min_samples=2)), tmp_path / "same.json"
    )
    same = read_plan(str(tmp_path / "same.json"))
    assert (plan.strata, plan.options) == (same.strata, same.options)
    assert [file.path for file in plan.profile.files] == ["bfs.csv"]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    text = (tmp_path / "study.toml").read_text().replace('profile = "bfs.csv"', 'plan = "same.json"')
    (tmp_path / "other.toml").write_text(text)
    assert ran(bench.study(path="other.toml", target=0.05), processes=2).speedups.is_within(0.05)


def test_programs_that_name_results_are_not_simulated_but_told(bench: Bench) -> None:
    ran(bench.study(target=0.05), processes=2)
    study_run = bench.folder / "study.run"
    for configuration in CONFIGURATIONS:
        (study_run / "heat" / configuration).rename(bench.folder / f"heat-{configuration}")
    lines = (bench.folder / "study.toml").read_text()
    results = f'plan = "{study_run}/heat/plan.json"\nresults = "heat-{{configuration}}"'
    (bench.folder / "study.toml").write_text(lines.replace('profile = "heat.csv"', results))
    before = len(bench.calls())
    result = ran(bench.study(target=0.05))
    assert len(bench.calls()) == before
    assert [program.name for program in result.speedups.programs] == ["bfs", "heat"]
    assert result.speedups.programs[1].speedups is not None
    (bench.folder / "study.toml").write_text(
        lines.replace("profile = ", "results = 'out/{configuration}'\nprofile = ")
    )
    with pytest.raises(ProfileError, match="every program names results, so nothing is to be simulated"):
        ran(bench.study())


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            'simulator = "./simulate gto {id}"\n',
            "",
            r"configurations\.gto: how launches are simulated is not",
        ),
        (
            "./simulate gto {id}",
            "./none {id}",
            r"configurations\.gto: \./none: there is no such program; give",
        ),
        (
            "./simulate gto {id}",
            "true",
            r"configurations\.gto: .* does not say what to simulate, \{id\}; put",
        ),
        (
            '"./simulate base {id}"\nto = "csv"',
            '"true {list}"',
            r"programs\.bfs: accel-sim runs traces, and there",
        ),
        ('profile = "bfs.csv"', 'plan = "none.json"', r"none\.json: no such file or folder"),
        ('"csv"', '"ncu"', "nothing runs ncu here"),
        (
            'to = "csv"',
            'to = "csv"\nconfig = "a"',
            r"configurations\.base\.config: it means nothing to csv; lea",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_and_leaves_nothing(
    bench: Bench, before: str, after: str, message: str
) -> None:
    text = (bench.folder / "study.toml").read_text()
    assert before in text
    (bench.folder / "study.toml").write_text(text.replace(before, after, 1))
    # A program whose profile lies there gets its plan before the next is looked at.
    with pytest.raises(SamplingError, match=message):
        ran(bench.study())
    assert not (bench.folder / "study.run").exists() or after.startswith("plan")
    assert bench.calls() == []


def test_picked_launches_have_no_target_and_are_all_run_without_one(bench: Bench) -> None:
    profile = sampling.read_profile(bench.folder / "bfs.csv")
    counts = "".join(f"{place},{1000 + place}\n" for place in range(LAUNCHES))
    (bench.folder / "counts.csv").write_text(f"id,instructions\n{counts}")
    request = sampling.PlanRequest(method="sieve", features=(str(bench.folder / "counts.csv"),))
    plan = sampling.make_plan(profile, request)
    sampling.write_plan(plan, bench.folder / "picked.json")
    text = (bench.folder / "study.toml").read_text()
    (bench.folder / "study.toml").write_text(text.replace('profile = "bfs.csv"', 'plan = "picked.json"'))
    with pytest.raises(OptionError, match="a plan of picked launches has no interval"):
        ran(bench.study())
    gto = ran(bench.study(target=None), processes=2).speedups.programs[0].speedup("gto")
    assert gto is not None
    assert gto.ratio == pytest.approx(1.04, rel=0.05)


def test_job_arrays_are_written_until_the_target_holds(bench: Bench) -> None:
    study, rounds = bench.study(target=0.03), 0
    request = StudyRunRequest(study, processes=4, caches="warm")
    while (result := write_study_array(request, lambda _: None)).is_waiting:
        assert result.job_array.script is not None
        script, tasks = result.job_array.script
        assert f"#SBATCH --array=1-{tasks}%4\n" in script.read_text()
        before = len(bench.calls())
        for task in range(1, tasks + 1):
            environment = os.environ | {"SLURM_ARRAY_TASK_ID": str(task)}
            subprocess.run(["sh", str(script)], env=environment, check=True)
        assert len(bench.calls()) == before + tasks
        if not rounds:
            assert {configuration for _, configuration, _ in bench.calls()} == {"base"}
        rounds += 1
    assert rounds > 1
    assert result.speedups.is_within(0.03)
    assert len(bench.calls()) == len(set(bench.calls()))


def test_launches_that_have_begun_are_not_submitted_again(bench: Bench) -> None:
    request = StudyRunRequest(bench.study(target=None), caches="warm")
    first = write_study_array(request, lambda _: None).job_array
    assert first.script is not None
    script, tasks = first.script
    begun = bench.folder / "study.run" / "bfs" / "base" / "launches"
    place = next(begun.iterdir())
    (place / "run.log").touch()
    again = write_study_array(request, lambda _: None).job_array
    assert again.begun_folders == (place,)
    assert again.script == (script, tasks - 1)


def test_accel_sim_runs_its_traces_on_every_configuration(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists, traces and configurations are found from the study's folder, and launches begin warm."""
    lines = [f"[study]\ntarget = {2 * TARGET}"]
    (tmp_path / "net.icnt").touch()
    for configuration in CONFIGURATIONS:
        cycles = bench.folder / f"bfs-{configuration}.cycles"
        simulator = tmp_path / f"{configuration}.out"
        simulator.write_text(ACCEL_SIM.replace("CYCLES", str(cycles)))
        simulator.chmod(0o755)
        command = f"./{configuration}.out -trace {{list}} -config gpgpusim.config"
        lines.append(f'[configurations.{configuration}]\nsimulator = "{command}"\nconfig = "gpgpusim.config"')
    (tmp_path / "gpgpusim.config").write_text(
        "-gpgpu_n_mem 2\n-gpgpu_n_sub_partition_per_mchannel 2\n"
        "-gpgpu_cache:dl2 S:32:128:16,L:B:m:L:L,A:192:4,32:0,32\n"
    )
    traces = tmp_path / "traces" / "bfs"
    traces.mkdir(parents=True)
    names = [f"kernel-{number}.traceg" for number in range(1, LAUNCHES + 1)]
    for number, name in enumerate(names, start=1):
        kernel = KERNELS[(number - 1) % len(KERNELS)]
        (traces / name).write_text(f"-kernel name = {kernel}\n-kernel id = {number}\n")
    (traces / "kernelslist.g").write_text("\n".join(names) + "\n")
    lines.append('[programs.bfs]\nprofile = "bfs.csv"\ntraces = "traces/bfs"')
    (tmp_path / "accel.toml").write_text("\n".join([*lines, ""]))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    result = ran(bench.study(path="accel.toml"), caches=None, processes=2)
    assert result.speedups.is_within(2 * TARGET)
    assert result.failed == ()
    (program,) = result.speedups.programs
    assert program.speedups is not None
    assert program.speedups.base.estimate.caches.state == "warm"
    gto = program.speedup("gto")
    assert gto is not None
    assert abs(math.log(gto.ratio / bench.ratio("bfs", "gto"))) < 2 * TARGET
    (read,) = compare_study(bench.study(path="accel.toml")).programs
    assert read.speedup("gto").ratio == gto.ratio  # type: ignore[union-attr]
