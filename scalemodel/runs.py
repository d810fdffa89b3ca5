"""Simulated runs of one program on GPUs of several sizes: read, checked against each other, named.

A run is what GPGPU-Sim or Accel-Sim printed, read once: its launches, and from the configuration beside them
the number of SMs, the clocks, and what one SM has, which all runs must share. Or it is a table of launches.
(this project; docs/methods.md, 10 Scale model)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.readers.folders import MOST_ENTRIES
from sampling.readers.gpgpu_sim_output import logged_launches, printed_configuration, recognise
from sampling.readers.input_file import InputFile, open_input, pieces
from sampling.text import Wording
from scalemodel.accesses import FloatArray, IntArray
from scalemodel.measurements import Measurements

if TYPE_CHECKING:
    from sampling.plan.plan_file import PlanFile
    from sampling.simulators.results import SimulatedLaunches

TextArray = np.ndarray[tuple[int, ...], np.dtype[np.str_]]

CYCLES, INSTRUCTIONS = "cycles", "instructions"
NO_IPC = "its instructions are not known, so neither is its IPC"
GIVE_RUN = Wording("give `run=SIZE=LOG`, the SMs of the simulated GPU and what its simulator printed")
_LOG_NAME = re.compile(r"\.(log|txt|out)(\.gz|\.xz)?$")

_CLUSTERS, _CORES_PER_CLUSTER = "-gpgpu_n_clusters", "-gpgpu_n_cores_per_cluster"
_CLOCKS = "-gpgpu_clock_domains"
# What belongs to one SM, one slice, or the launch of a kernel: no scale model has another.
_SHARED_OPTIONS = (
    *(_CLOCKS, "-gpgpu_shader_core_pipeline", "-gpgpu_shader_cta", "-gpgpu_shader_registers"),
    *("-gpgpu_num_sched_per_core", "-gpgpu_cache:dl1", "-gpgpu_unified_l1d_size", "-gpgpu_shmem_size"),
    *("-gpgpu_cache:dl2", "-gpgpu_n_sub_partition_per_mchannel"),
    *("-gpgpu_kernel_launch_latency", "-gpgpu_TB_launch_latency"),
)


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedRun:
    """A simulated run, or the drawn launches of one; all arrays (n,)."""

    #: SMs of the GPU.
    size: int
    path: str
    #: Of each launch: its place in the run, or its id in the plan's profile.
    id: IntArray
    kernel: TextArray
    #: Of each, in words, and its thread blocks; "" and 0 where the grid is not known.
    grid: TextArray
    ctas: IntArray
    cycles: FloatArray
    #: Of threads, of the whole run; None where it is not known.
    instructions: float | None = None
    #: The simulator's, by names with the hyphen; empty where it is not printed.
    configuration: Mapping[str, str] = field(default_factory=dict)
    #: How many launches of the program each stands for; None for one.
    weight: FloatArray | None = None
    #: What was measured of a plan's launches; None of a whole run.
    results: SimulatedLaunches | None = None

    @property
    def ipc(self) -> float | None:
        """Thread instructions a cycle of the whole run."""
        return None if self.instructions is None else self.instructions / float(self.cycles.sum())


# -- one run ----------------------------------------------------------------------------------------------


def is_run(text: str) -> bool:
    """Return whether a word names what a simulator printed, or SIZE=FILE of a run."""
    size, path = _split_size(text)
    if size is not None and Path(path).is_file():
        return True
    if text == "-" or not Path(text).is_file():
        return False
    with open_input(text) as file:
        return recognise(file)


def find_logs(folder: str) -> list[str]:
    """Return what simulators printed among the files named as logs in a folder and its folders, in order.

    Raises ProfileError: there is none, or more in it than `MOST_ENTRIES`.
    """
    entries = list(islice(chain.from_iterable(map(Path(folder).glob, ("*", "*/*"))), MOST_ENTRIES + 1))
    if len(entries) > MOST_ENTRIES:
        message = f"it and its folders have more files than {MOST_ENTRIES:,}"
        raise ProfileError(message, path=folder, remedy="give the logs, or the folder of a run")
    paths = (str(path) for path in entries if _LOG_NAME.search(path.name))
    logs = sorted(path for path in paths if is_run(path))
    if not logs:
        remedy = "give one with what GPGPU-Sim or Accel-Sim printed, as run.log or run.txt"
        raise ProfileError("no log of a simulator is in it or in its folders", path=folder, remedy=remedy)
    return logs


def read_configuration(path: str) -> dict[str, str]:
    """Return the options that a log prints; ProfileError where it cannot be read."""
    with open_input(path) as file:
        return printed_configuration(text for _, text in pieces(file))


def read_run(text: str, plan: PlanFile | None = None) -> SimulatedRun:
    """Return the run that SIZE=FILE or FILE names; of a plan its drawn launches, with their results.

    Raises OptionError: it is of neither form; ProfileError: it cannot be read, was cut off, or its size is
    not known.
    """
    size, path = _split_size(text)
    if not path or (size is None and "=" in text and not Path(text).exists()):
        raise OptionError(Wording("`run={}` is not SIZE=LOG", text), remedy=GIVE_RUN)
    with open_input(path) as file:
        if file.is_directory:
            remedy = "give what the simulator printed of a run"
            raise ProfileError("a folder, not a log", path=path, remedy=remedy)
        is_log = recognise(file)
        if not is_log and size is None:
            message = Wording("`run={}`: a table does not say of how many SMs it is", text)
            raise OptionError(message, remedy=GIVE_RUN)
        if plan is not None:
            return _read_drawn_launches(file, size, plan)
        return _read_log(file, size) if is_log else _read_table(file, size or 0)


def read_runs(texts: Sequence[str], plan: PlanFile | None = None) -> list[SimulatedRun]:
    """Return runs of one program, ascending by size; see `read_run` and `check_runs`."""
    runs = sorted((read_run(text, plan) for text in texts), key=lambda run: run.size)
    check_runs(runs)
    return runs


def _split_size(text: str) -> tuple[int | None, str]:
    """Return size and path of SIZE=FILE, None and the whole of another text."""
    size, equals, path = text.partition("=")
    return (int(size), path) if equals and size.strip().isdigit() else (None, text)


def _read_log(file: InputFile, size: int | None) -> SimulatedRun:
    """Return the launches of a log, in the order of the program where they are numbered."""
    rows, unfinished, options = logged_launches(file, None)
    size = _checked_size(file.path, size, options, unfinished)
    assert rows.name is not None
    assert rows.grid is not None
    return SimulatedRun(
        size,
        file.path,
        np.arange(len(rows)),
        np.array(rows.names)[rows.name],
        _grid_texts(rows.grid),
        rows.grid.prod(axis=1),
        rows.features.metrics["cycles"],
        float(rows.features.metrics["instructions"].sum()),
        options,
    )


def _read_table(file: InputFile, size: int) -> SimulatedRun:
    """Return the launches of a table with name, grid and cycles, or of a profile."""
    from sampling.readers.columns import column_map
    from sampling.readers.input_file import ReadOptions
    from sampling.readers.registry import read_profile

    header = file.head.split(b"\n", 1)[0].decode("utf-8", "replace").replace('"', "").strip()
    names = [name.strip() for name in header.split(",")]
    candidates = {"name": ("name", "kernel"), "duration_ns": (CYCLES,), "grid": ("grid",)}
    words = [f"{ours}={name}" for ours, theirs in candidates.items() for name in theirs if name in names]
    columns = column_map(",".join(words)) if CYCLES in names else None
    # What came through a pipe cannot be read from it again.
    path = file.path if file.lasting else str(file.location)
    profile = read_profile([path], options=ReadOptions(columns))
    launches = profile.load(("duration_ns", "signature"))
    signature, shapes = launches["signature"], profile.kernels.signature_rows()
    kernel = np.array([profile.kernels.names.full(name) for name in shapes[:, 0].tolist()])
    instructions = None
    if INSTRUCTIONS in profile.metric_names:
        parts = [part.metrics((INSTRUCTIONS,))[INSTRUCTIONS] for part in profile.parts]
        instructions = float(np.concatenate(parts).sum())
    cycles = launches["duration_ns"].astype(np.float64)
    grids = shapes[:, 1:4].astype(np.int64)
    return SimulatedRun(
        size,
        file.path,
        np.arange(len(cycles)),
        kernel[signature],
        _grid_texts(grids)[signature],
        grids.prod(axis=1)[signature],
        cycles,
        instructions,
    )


def _read_drawn_launches(file: InputFile, size: int | None, plan: PlanFile) -> SimulatedRun:
    """Return the launches of a plan that a file has the cycles of."""
    from sampling.simulators.registry import read_results
    from sampling.simulators.results import join_results

    run = read_results(file, ())
    results = join_results(plan, [run])
    size = _checked_size(file.path, size, run.options, run.unfinished)
    launches_by_id = {launch.id: launch for launch in plan.drawn}
    cycles = results.metrics.get(CYCLES, np.full(len(results.ids), np.nan))
    is_known = ~np.isnan(cycles)
    launches = [launches_by_id[launch_id] for launch_id in results.ids[is_known].tolist()]
    grids = np.array([launch.grid or (0, 0, 0) for launch in launches], dtype=np.int64).reshape(-1, 3)
    return SimulatedRun(
        size,
        file.path,
        results.ids[is_known],
        np.array([launch.name for launch in launches]),
        _grid_texts(grids),
        grids.prod(axis=1),
        cycles[is_known],
        configuration=run.options,
        weight=np.array([launch.weight for launch in launches]),
        results=results,
    )


def _grid_texts(grids: IntArray) -> TextArray:
    """Return (n,) grids (n, 3) in words, "" where one is not known."""
    distinct, index = np.unique(grids, axis=0, return_inverse=True)
    texts = [f"({x}, {y}, {z})" if x * y * z > 0 else "" for x, y, z in distinct.tolist()]
    return np.array(texts, dtype=str)[index.reshape(-1)]


def _checked_size(path: str, size: int | None, configuration: Mapping[str, str], unfinished: int) -> int:
    """Return the SMs of a run: as the user says, or as its configuration has them.

    Raises ProfileError: the log and the user differ, or the run was cut off; OptionError: neither says it.
    """
    if unfinished:
        message = f"cut off: {unfinished} of its launches begun and not ended"
        raise ProfileError(message, path=path, remedy="give a run that went to its end")
    counts = [configuration.get(name, "") for name in (_CLUSTERS, _CORES_PER_CLUSTER)]
    printed = int(counts[0]) * int(counts[1]) if all(map(str.isdigit, counts)) else None
    if size is None and printed is None:
        message = f"{path} prints no configuration, so its number of SMs is not known"
        raise OptionError(message, remedy=f"say it: SIZE={path}")
    if None not in {size, printed} and size != printed:
        message = f"the configuration it prints has {printed} SMs, not {size}"
        raise ProfileError(message, path=path, remedy="give each run its own size, or leave the size out")
    return size or printed or 0


# -- whether runs belong together -------------------------------------------------------------------------


def check_runs(runs: Sequence[SimulatedRun]) -> None:
    """Refuse runs that are not of one program on GPUs that differ in size alone.

    Raises OptionError: two are of one size; ProfileError: they differ otherwise, in a launch or an option.
    """
    first, sizes = runs[0], {runs[0].size}
    for run in runs[1:]:
        if run.size in sizes:
            raise OptionError(f"two runs are of {run.size} SMs", remedy="give one run of each size")
        sizes.add(run.size)
        if difference := _difference(first, run):
            remedy = f"give runs of one program with one input, as {first.path}"
            raise ProfileError(difference, path=run.path, remedy=remedy)
        for mismatch in _configuration_differences(first, run):
            remedy = "simulate GPUs that differ in what all SMs share alone, as scale models do"
            raise ProfileError(mismatch, path=run.path, remedy=remedy)


def _difference(first: SimulatedRun, run: SimulatedRun) -> str | None:
    """Return how the launches of a run differ from those of the first, None where they do not."""
    if not set(run.kernel.tolist()) & set(first.kernel.tolist()):
        return f"another program: none of its kernels is in {first.path}"
    if len(first.id) != len(run.id):
        counts = f"{len(run.id):,} launches and {len(first.id):,}"
        return f"its launches are not those of the other run ({counts})"
    differs = (first.id != run.id) | (first.kernel != run.kernel) | (first.grid != run.grid)
    if not differs.any():
        return None
    row = int(np.argmax(differs))
    launch, counterpart = (
        f"{simulated.kernel[row]} {simulated.grid[row]}".rstrip() for simulated in (run, first)
    )
    return f"launch {int(run.id[row])} is {launch}, and {counterpart} in the other run"


def _configuration_differences(first: SimulatedRun, run: SimulatedRun) -> Iterator[str]:
    """Yield the options that scale models share and in which two runs differ."""
    for option in _SHARED_OPTIONS:
        value, first_value = run.configuration.get(option), first.configuration.get(option)
        if None not in {value, first_value} and value != first_value:
            resource = (
                "another clock" if option == _CLOCKS else "other resources of an SM, a slice or a launch"
            )
            yield f"{resource}: {option} is {value}, and {first_value} in {first.path}"


def group_programs(runs: Sequence[SimulatedRun]) -> dict[str, list[SimulatedRun]]:
    """Return the runs of each program, ascending by size: those whose launches are the same.

    A program is named by what the paths of its runs begin with and share.
    """
    programs: list[list[SimulatedRun]] = []
    for run in sorted(runs, key=lambda run: run.size):
        program = next((program for program in programs if _difference(program[0], run) is None), None)
        if program is None:
            programs.append([run])
        else:
            program.append(run)
    by_name: dict[str, list[SimulatedRun]] = {}
    for program in programs:
        check_runs(program)
        paths = [run.path.split("/") for run in program]
        # The first part of the paths in which runs differ: `heat-8` and `heat-16`.
        differing = next((set(parts) for parts in zip(*paths, strict=False) if len(set(parts)) > 1), None)
        part = min(differing or {"/".join(paths[0][-2:])}, key=len)
        name = part.rstrip("0123456789").rstrip("-_. ") or "run"
        names = (name, *(f"{name} {number}" for number in range(2, len(programs) + 1)))
        by_name[next(name for name in names if name not in by_name)] = program
    return by_name


def measure_runs(name: str, runs: Sequence[SimulatedRun]) -> Measurements:
    """Return the IPC of whole runs as measurements; ProfileError where one's instructions are not known."""
    ipc = {}
    for run in runs:
        if run.ipc is None:
            remedy = "give a log, or a table with a column instructions"
            raise ProfileError(NO_IPC, path=run.path, remedy=remedy)
        ipc[run.size] = run.ipc
    return Measurements(name, ipc, {}, {})


def default_targets(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return what is predicted from runs where nothing is asked: the third on, else two doublings."""
    return tuple(sizes[2:]) or (2 * sizes[-1], 4 * sizes[-1])
