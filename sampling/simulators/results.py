"""What simulators measured of a plan's launches, from one file of results or several.

Which launch each is says its number: without a manifest a number counts the launches of one process, so that
a plan of one process and device is enough to tell. A manifest says it of every launch: a run is the shard
whose numbers it has in its order, or the first of them where it was killed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import OptionError, ProfileError
from sampling.parallel import Progress
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.readers import NumberLocale
from sampling.simulators.counted_launches import join_counters
from sampling.simulators.export import FILLED
from sampling.simulators.manifest import Manifest, manifests_in, read_manifest
from sampling.simulators.measured_run import (
    UNNUMBERED,
    CachesKind,
    MeasuredRun,
    caches_kind,
    infer_caches,
    refuse_other,
)
from sampling.simulators.registry import opened, read_results
from sampling.text import Wording, counted, listed, nearest

#: In place of an id: a launch that is run for the caches' sake, has no number, or is not in the manifest
NOT_WANTED = -1
_REMEDY = Wording(
    "give the results of the plan's own launches; whether a trace has them, `kernelpoint align` tells"
)
#: Options that say where a simulator reads and writes, not what it simulates
OF_FILES = frozenset(
    {
        *("-trace", "-visualizer_outputfile", "-gpgpu_ptx_inst_debug_file", "-ptx_line_stats_filename"),
        *("-hw_perf_file_name", "-accelwattch_xml_file"),
    }
)
_OF_WHAT_RAN = "give the manifest.csv that the export wrote of what was run"


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedLaunches:
    """What a simulator measured of a plan's launches."""

    #: (n,) launch ids of the profile, ascending, each once; a launch that was begun has its place here
    ids: IntArray
    #: (n,) of each metric, cycles and instructions among them where they are known; NaN where the simulator
    #: does not tell it of a launch
    metrics: Mapping[str, FloatArray] = field(repr=False)
    notes: tuple[str, ...] = ()  #: gaps and what was left out, in words
    #: (n,) how each launch found the caches, see `infer_caches`; empty where nobody asked
    caches: tuple[str, ...] = ()
    #: how much of what L2 held before launches was dirty and filled clean, by id; none where nothing says it
    dirty_percent: Mapping[int, int] = field(default_factory=dict, repr=False)
    #: the launches that were simulated twice, as they were with the caches that the others did not find
    again: SimulatedLaunches | None = None
    #: the simulator's configuration, by its options' names, where it is printed
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    clock_hz: float | None = None  #: of the part whose cycles are counted; None where it is not known
    #: of metrics, where they are known
    units: Mapping[str, str] = field(default_factory=dict, repr=False)


class _Place(NamedTuple):
    """Where a launch of the plan is measured."""

    run: MeasuredRun
    row: int
    caches: str

    @property
    def is_whole(self) -> bool:
        return self.row not in self.run.missing


#: What simulators and profilers leave below a folder of results
_WRITTEN = frozenset({".log", ".csv", ".db"})


def read_result_files(
    plan: PlanFile,
    paths: Sequence[str],
    *,
    source: str | None = None,
    metrics: Sequence[str] = (),
    manifests: Sequence[str] = (),
    number_locale: NumberLocale = "C",
    progress: Progress | None = None,
) -> SimulatedLaunches:
    """Return what a simulator measured of a plan's launches; "-" is standard input, a `run`'s folder its own.

    Launches that the plan does not draw are left out, which a note says, as are gaps. A launch that was cut
    off in one file and simulated whole in another has what the latter says.

    Raises OptionError: there is no such reader, or it cannot give a metric; ProfileError: a file is damaged,
    or of another program or plan; a launch is there twice with caches of one kind, or none is there.

    Parameters
    ----------
    source : which simulator's results these are; None asks the content of each file.
    metrics : what is wanted beside ``cycles`` and ``instructions``, which are taken where they are told: a
        counter by its printed name, or a column; none: what the reader takes for usual.
    manifests : of the export that was run, one for each process and device; in the order of the files where
        processes launch the same kernels.
    number_locale : how pages of Nsight Compute write numbers.
    """
    if not paths:
        raise OptionError("no file of results is given")
    paths, manifests = expand_runs(paths, manifests)
    with opened(paths, "file of results", manifests) as (files, lists):
        inputs = [replace(file, number_locale=number_locale, progress=progress) for file in files]
        runs = [read_results(file, metrics, source) for file in inputs]
        results = join_results(plan, runs, [read_manifest(file) for file in lists])
    if any(run.rows is not None for run in runs):
        # Of several passes each has some.
        for name in metrics:
            if name not in results.metrics:
                raise OptionError(f"no metric {name!r}", remedy=nearest(name, list(results.metrics)))
    return results


def expand_runs(paths: Sequence[str], manifests: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return files of results and manifests, folders of runs and exports replaced by what was written there.

    Raises ProfileError where nothing was.
    """
    files, lists = [], list(manifests)
    for path in paths:
        folder = Path(path).parent if Path(path).name == "results" else Path(path)
        if (folder / "results").is_dir():
            written = sorted(
                str(file)
                for file in (folder / "results").rglob("*")
                if file.suffix in _WRITTEN and not file.name.endswith("agent_info.csv")
            )
            if not written:
                raise ProfileError("has no results yet", path=path, remedy="run what is in it first")
            files += written
            lists += map(str, manifests_in(folder))
        else:
            files.append(path)
            # Where the scripts of an export for a profiler leave what it writes.
            tops = [folder.parent for folder in Path(path).parents if folder.name == "results"]
            beside = [str(top / "manifest.csv") for top in tops if (top / "manifest.csv").is_file()]
            lists += [] if manifests else [listing for listing in beside[:1] if listing not in lists]
    return files, lists


def join_results(
    plan: PlanFile, runs: Sequence[MeasuredRun], manifests: Sequence[Manifest] = ()
) -> SimulatedLaunches:
    """Return what files of results that are read say of a plan's launches, see `read_result_files`."""
    profiled = [run.rows for run in runs if run.rows is not None]
    profiler_notes: tuple[str, ...] = ()
    if profiled:
        counters, profiler_notes = join_counters(plan, profiled, manifests)
        runs = [*(run for run in runs if run.rows is None), counters]
    launches = {launch.id: launch for launch in plan.drawn}
    drawn_ids = np.array(list(launches), dtype=np.int64)
    states: defaultdict[int, set[str]] = defaultdict(set)
    for manifest in manifests:
        for launch_id, state in zip(manifest.id.tolist(), manifest.caches, strict=True):
            states[launch_id] |= {state} - {""}
    #: Of each launch where it is measured, by the kind of caches that it found there.
    places: defaultdict[int, dict[CachesKind, _Place]] = defaultdict(dict)
    in_all = 0
    for number, run in enumerate(runs):
        ids = _match_ids(plan, run, manifests, manifests[number] if len(manifests) == len(runs) else None)
        in_all += len(ids)
        run_states = infer_caches(run)
        for row in np.flatnonzero(np.isin(ids, drawn_ids)).tolist():
            launch = launches[int(ids[row])]
            if run.kernels:
                refuse_other(launch, run.kernels[row], f"number {run.number[row]} there", run.path, _REMEDY)
            place = _Place(run, row, _caches(run_states[row], states[launch.id]))
            before = places[launch.id].setdefault(caches_kind(place.caches), place)
            if before is not place and before.is_whole and place.is_whole:
                raise ProfileError(
                    f"launch {launch.id} is there twice (number {run.number[row]})",
                    path=" and ".join(dict.fromkeys((before.run.path, run.path))),
                    remedy="give each launch once",
                )
            if place.is_whole:
                places[launch.id][caches_kind(place.caches)] = place
    counting, second = _counting(places)
    if not counting:
        raise ProfileError(
            f"none of the plan's {counted(len(launches), 'launch', 'launches')} is there",
            path=", ".join(run.path for run in runs),
            remedy=_REMEDY,
        )
    left_out = in_all - len(counting) - len(second)
    options, clock_hz, differing = _join_configurations(runs)
    notes = (*profiler_notes, *_notes(launches, counting, left_out), *differing)
    repeated = _launches_at(runs, second) if second else None
    counted_launches = _launches_at(runs, counting)
    return replace(
        counted_launches,
        notes=notes,
        dirty_percent=_join_dirty(manifests),
        again=repeated,
        options=options,
        clock_hz=clock_hz,
        units={name: unit for run in reversed(runs) for name, unit in run.units.items()},
        # A profiler measures within the program, whose launches it delays and whose caches it may empty.
        caches=() if profiled else counted_launches.caches,
    )


def _join_dirty(manifests: Sequence[Manifest]) -> dict[int, int]:
    """Return how much of L2 was dirty and began clean before each launch of which that is known, by id."""
    return {
        launch_id: percent
        for manifest in manifests
        for launch_id, percent in zip(manifest.id.tolist(), manifest.dirty_percent.tolist(), strict=True)
        if percent
    }


def _join_configurations(
    runs: Sequence[MeasuredRun],
) -> tuple[dict[str, str], float | None, tuple[str, ...]]:
    """Return the options of several logs, of each the first value, their clock, and in words what differs."""
    options: dict[str, str] = {}
    for run in runs:
        options = {**run.options, **options}
    differing = {name for run in runs if run.options for name in changed_options(options, run.options)}
    notes = []
    if differing:
        notes.append(f"its logs are of several configurations: they differ in {listed(sorted(differing))}")
    clocks = sorted({run.clock_hz for run in runs if run.clock_hz is not None})
    if len(clocks) > 1:
        several = listed([f"{clock / 1e6:g}" for clock in clocks])
        notes.append(f"the results are of several clocks ({several} MHz), so that their cycles are no time")
    return options, clocks[0] if len(clocks) == 1 else None, tuple(notes)


def changed_options(
    before: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the options whose values differ, None where one is not there; not those that name files."""
    names = sorted({*before, *after} - OF_FILES)
    pairs = {name: (before.get(name), after.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _counting(
    places: Mapping[int, Mapping[CachesKind, _Place]],
) -> tuple[dict[int, _Place], dict[int, _Place]]:
    """Return the place that counts of each launch, and the other one of those that have two."""
    complete = {
        launch_id: {kind: place for kind, place in of_launch.items() if place.is_whole} or of_launch
        for launch_id, of_launch in places.items()
    }
    # Filled caches count where all launches found them; else what most found: of some they are a check.
    is_filled = all("filled" in of_launch for of_launch in complete.values())
    order: tuple[CachesKind, ...] = ("cold", "unknown", "own", "filled")
    counting, second = {}, {}
    for launch_id, of_launch in complete.items():
        ordered = [of_launch[kind] for kind in order if kind in of_launch]
        counting[launch_id] = ordered.pop(-1 if is_filled else 0)
        if ordered:
            second[launch_id] = ordered[-1]
    return counting, second


def _caches(run_state: str, states: set[str]) -> str:
    """Return how a launch found the caches: as its manifest says, or of several rows the one that was seen.

    What runs as a whole is so whatever was exported; what was seen to be filled may be so in any way.
    """
    if run_state == "whole" or not states or (len(states) > 1 and run_state in states):
        return run_state
    possible = (
        states if len(states) == 1 else {state for state in states if state in FILLED and run_state == "warm"}
    )
    return next(iter(possible)) if len(possible) == 1 else run_state


def _launches_at(runs: Sequence[MeasuredRun], places: Mapping[int, _Place]) -> SimulatedLaunches:
    ids = sorted(places)
    ordered = [places[launch_id] for launch_id in ids]
    names = dict.fromkeys(name for run in runs for name in run.metrics)
    metrics = {
        name: np.array(
            [place.run.metrics[name][place.row] if name in place.run.metrics else np.nan for place in ordered]
        )
        for name in names
    }
    return SimulatedLaunches(np.array(ids), metrics, caches=tuple(place.caches for place in ordered))


def _notes(
    launches: Mapping[int, PlannedLaunch], places: Mapping[int, _Place], left_out: int
) -> Iterator[str]:
    if left_out:
        count = counted(left_out, "launch", "launches")
        yield f"{count} of the results left out: not drawn by the plan, or simulated once more"
    if gone := [str(launch_id) for launch_id in sorted(launches) if launch_id not in places]:
        are = "launch of the plan is", "launches of the plan are"
        yield f"{counted(len(gone), *are)} not in the results: {listed(gone)}"
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for launch_id, place in sorted(places.items()):
        if not place.is_whole:
            by_reason[place.run.missing[place.row]].append(str(launch_id))
    for reason, ids in by_reason.items():
        yield f"not all is known of {counted(len(ids), 'launch', 'launches')} ({listed(ids)}): {reason}"


def _match_ids(
    plan: PlanFile, run: MeasuredRun, manifests: Sequence[Manifest], manifest: Manifest | None
) -> IntArray:
    """Return (n,) the launch id of each launch of a run, `NOT_WANTED` for those that count for nothing.

    Manifests are those of the export, one for each process and device, and `manifest` is that of the run,
    should it fit several. Raises ProfileError where numbers do not tell which launches these are.
    """

    def refused(wrong: str, remedy: str = _OF_WHAT_RAN) -> ProfileError:
        return ProfileError(wrong, path=run.path, remedy=remedy)

    if run.first_number is None:
        ids = run.number
    elif (run.number == UNNUMBERED).all():
        remedy = "give the output of a simulator that numbers launches, or a CSV with a column id"
        raise refused("it does not say which launch is which", remedy)
    elif manifests:
        candidates: dict[str, IntArray] = {}
        for way in (_in_order, _by_number):
            tried = {} if candidates else {listing.path: way(run, listing) for listing in manifests}
            candidates |= {path: its for path, its in tried.items() if its is not None}
        distinct = {its.tobytes(): its for its in candidates.values()}
        if manifest is not None and manifest.path in candidates:
            ids = candidates[manifest.path]
        elif len(distinct) == 1:
            (ids,) = distinct.values()
        else:
            source = manifests[0].path if len(manifests) == 1 else f"the {len(manifests)} manifests"
            if not candidates:
                raise refused(f"its launches are not those of {source}")
            remedy = "give the manifests in the order of the results, one for each"
            raise refused(f"its launches can be {len(distinct)} different ones of {source}", remedy)
    else:
        ids = _by_process(plan, run, run.first_number)
    launches = sum(sequence.launches for sequence in plan.profile.sequences)
    if launches and (ids >= launches).any():
        number = int(run.number[np.argmax(ids >= launches)])
        raise refused(
            f"it has a launch {number}, and the plan's profile {launches:,} launches in all", _REMEDY
        )
    return ids


def _by_process(plan: PlanFile, run: MeasuredRun, first_number: int) -> IntArray:
    """Return the ids where the plan's launches are of one process and device, whose launches are numbered."""
    drawn_places = {(launch.process, launch.device) for launch in plan.drawn}
    processes = {process for process, _ in drawn_places}
    places = drawn_places | {
        (sequence.process, sequence.device)
        for sequence in plan.profile.sequences
        if sequence.process in processes
    }
    is_numbered = run.number != UNNUMBERED
    wrong = ""
    if len(places) > 1:
        wrong = f"its launches are numbered by process, and there are {len(places)} processes and devices"
    elif (run.number[is_numbered] < first_number).any():
        wrong = f"launches are numbered from {first_number}"
    if wrong:
        raise ProfileError(wrong, path=run.path, remedy=_OF_WHAT_RAN)
    first = plan.drawn[0]
    return np.where(is_numbered, run.number - first_number + (first.id - first.ordinal), NOT_WANTED)


def _in_order(run: MeasuredRun, manifest: Manifest) -> IntArray | None:
    """Return the ids where the run has the launches of one shard in its order, or the first of them."""
    candidates = []
    for shard in np.unique(manifest.shard).tolist():
        rows = np.flatnonzero(manifest.shard == shard)[: len(run.number)]
        if np.array_equal(manifest.number[rows], run.number):
            candidates.append(np.where(manifest.is_warm_up[rows], NOT_WANTED, manifest.id[rows]))
    return candidates[0] if len({ids.tobytes() for ids in candidates}) == 1 else None


def _by_number(run: MeasuredRun, manifest: Manifest) -> IntArray | None:
    """Return the ids by the numbers alone; None where not one is of the manifest."""
    is_drawn = ~manifest.is_warm_up
    id_of = dict(zip(manifest.number[is_drawn].tolist(), manifest.id[is_drawn].tolist(), strict=True))
    numbers = run.number.tolist()
    # A run of launches that the manifest does not name is none of this export, and has no warm-ups.
    is_of_export = np.isin(run.number, manifest.number).all()
    ambiguous = set(numbers) & set(id_of) & set(manifest.number[~is_drawn].tolist())
    if ambiguous and is_of_export:
        raise ProfileError(
            f"launch {min(ambiguous)} is a warm-up too, and the order of launches is not that of "
            f"{manifest.path}",
            path=run.path,
            remedy=_OF_WHAT_RAN,
        )
    ids = np.array([id_of.get(number, NOT_WANTED) for number in numbers], dtype=np.int64)
    return ids if (ids != NOT_WANTED).any() else None
