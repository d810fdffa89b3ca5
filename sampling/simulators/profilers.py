"""A plan for what measures a running program: Nsight Compute, rocprofv3, and NVBit's own tools.

**ncu.** ``--kernel-id ::regex:NAME:NUMBERS`` profiles the launches of those numbers, counted from 1. Older
versions count all launches of a function, newer ones those of each grid, block and shared memory; with
``--filter-mode per-launch-config`` every version counts the latter, as a plan's occurrences do. It takes one
kernel name, so that the program is run once a name, and takes the numbers in every size that the kernel has.
``--launch-skip`` and ``--launch-count`` with ``--filter-mode per-gpu`` count all launches of a device, as a
plan's ordinals do: no name need agree, but the program is run once a range.

**rocprofv3.** ``--kernel-include-regex`` is searched for in the demangled name; ``--kernel-iteration-range``
counts the launches of each kernel it matches from 1, whatever their grids and blocks: ``[2],[5-8]``. One
option holds for all kernels of a run, so that the program is run once a kernel name. A plan counts the
launches of each size of a kernel by itself: where it has several sizes only the profile knows how they follow
each other.

**nvbit** (instr_count, opcode_hist, mem_trace). The tools instrument the launches from ``START_GRID_NUM`` up
to, not with, ``END_GRID_NUM``, both counted from 0: one range of launches a run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from sampling.methods.registry import method_named
from sampling.plan.other_recording import find_original
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.profile.profile import Profile
from sampling.reduction.grouping import group_key
from sampling.reduction.region import Region
from sampling.simulators import export
from sampling.simulators.export import ExportChoices, Exported, Exporter, Part, Shard

Item = TypeVar("Item")
_TAKES = frozenset({"shards"})
#: Numbers or ranges of one option: it stays far below what one word of a command may hold
_MOST_NUMBERS = 2000


def in_pieces(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield the items in order, at most as many at a time as one option takes."""
    for start in range(0, len(items), _MOST_NUMBERS):
        yield items[start : start + _MOST_NUMBERS]


def _of_names(shard: Shard) -> Mapping[str, list[PlannedLaunch]]:
    """Return the launches of a shard by the name of their kernel, in its order."""
    found: defaultdict[str, list[PlannedLaunch]] = defaultdict(list)
    for step in shard:
        if step.launch is not None:
            found[step.launch.name].append(step.launch)
    return found


def name_pattern(name: str) -> str:
    """Return an expression for exactly this name, in letters, digits, underscores and dots.

    A dot stands for any other character: colons end a field in ncu, brackets and stars mean something to
    expressions, blanks to shells. A character that is no ASCII may be several bytes.

    >>> name_pattern("void at::f<(int)4>(float *)")
    '^void.at..f..int.4..float...$'
    """
    signs = (("." if re.match(r"\W", each, re.ASCII) else each) if each.isascii() else ".+" for each in name)
    return f"^{''.join(signs)}$"


def _script(part: Part, name: str, comment: str, settings: str, runs: Sequence[str]) -> tuple[str, str]:
    """Return a script that defines how to measure, and then does so once for each run."""
    body = settings + "".join(f'profile {run} "$@"\n' for run in runs) + "printf '%s\\n' \"$results\"\n"
    return f"{part.folder}{name}", export.script(comment, body, takes_program=True)


_NCU_README = """\
run.sh PROGRAM [ARGUMENT...] runs the program once a kernel name under ncu. NCU is another path of it,
NCU_OPTIONS what is to be measured, such as "--set full". Reports go to RESULTS, else to results/ here.
A report also has launches that were not drawn: of a kernel with several sizes, each size gives its launches
of these numbers. Take those of manifest.csv, by name, grid, block and occurrence.

run-by-position.sh PROGRAM [ARGUMENT...] takes the launches by their position alone, and runs the program once
a range: use it where ncu spells names otherwise than the profile, or where shared memory differs between
launches of one size.

The ID that ncu prints counts the launches that it profiled, from 0. Unless told otherwise it locks clocks and
empties the caches before each launch, and again before each pass where its metrics take several: its times
are then those of launches that start cold, at the base clock. For times as in the program:
    NCU_OPTIONS="--cache-control none --clock-control none --metrics gpu__time_duration.sum"
which takes one pass; in a second one a launch would find what it left itself in the first.
"""

_NCU_SETTINGS = """\
ncu=${NCU:-ncu}
results=$(absolute "${RESULTS:-$here/results}")
mkdir -p -- "$results"
# NCU_OPTIONS holds several words.
# shellcheck disable=SC2086
profile() {
  report=$1
  shift
  "$ncu" ${NCU_OPTIONS:-} --target-processes all --force-overwrite --export "$results/$report" "$@"
}
"""


def _for_ncu(plan: PlanFile, choices: ExportChoices) -> Exported:
    parts = export.run_parts(plan, choices, together=lambda launch: launch.name)
    files: list[tuple[str, str]] = []
    for part in parts:
        for suffix, shard in part.files():
            by_name = [
                f"--filter-mode per-launch-config --kernel-name-base {base} "
                f"--kernel-id {export.quoted(kernel_id)}"
                for base, kernel_id in kernel_ids(shard)
            ]
            by_position = [
                f"--filter-mode per-gpu --launch-skip {first} --launch-count {last - first + 1}"
                for first, last in export.merged(step.ordinal for step in shard)
            ]
            for name, report, runs in (
                (f"run{suffix}.sh", f"kernel{suffix}", by_name),
                (f"run-by-position{suffix}.sh", f"range{suffix}", by_position),
            ):
                comment = f"Runs the program {len(runs)} times under ncu: sh {name} PROGRAM [ARGUMENT...]"
                options = [
                    f"{report}-{number} --devices {part.device} {run}"
                    for number, run in enumerate(runs, start=1)
                ]
                files.append(_script(part, name, comment, _NCU_SETTINGS, options))
        numbers = {step.ordinal: step.launch.occurrence + 1 for step in part.steps if step.launch is not None}
        files += [export.manifest(part, numbers), *export.slurm(part, takes_program=True)]
    page = export.readme("Nsight Compute", NCU.note, _NCU_README, plan, parts, choices, is_ordered=False)
    return (*files, page)


def kernel_ids(shard: Shard) -> list[tuple[str, str]]:
    """Return the base of the name and the ``--kernel-id`` of each run, in the order of the shard."""
    runs: list[tuple[str, str]] = []
    for name, launches in _of_names(shard).items():
        numbers = sorted({launch.occurrence + 1 for launch in launches})
        base = "mangled" if name.startswith("_Z") else "demangled"
        runs += [
            (base, f"::regex:{name_pattern(name)}:^({'|'.join(map(str, some))})$")
            for some in in_pieces(numbers)
        ]
    return runs


NCU = Exporter(
    "--kernel-id counts the launches of a kernel, grid and block on a device from 1: occurrence + 1; "
    "--launch-skip is the ordinal, from 0; written from the tool's grammar, not run against it",
    _TAKES,
    _for_ncu,
)

_ROCPROF_README = """\
run.sh PROGRAM [ARGUMENT...] runs the program once a kernel name under rocprofv3. ROCPROFV3 is another path of
it, ROCPROF_OPTIONS what is to be measured, "--pmc SQ_WAVES" if it is not set: kernels are chosen for counters
and thread traces alone. Results go to RESULTS, else to results/ here.
{unknown}"""
_UNKNOWN = """\
Of {count} of the {all} launches it is not known how often their kernel was launched before them in other
sizes, for the profile does not tell: {why}.
All launches of these kernels are measured: take those of manifest.csv, by name, grid, block and occurrence;
simulator_id is empty.
"""
_ROCPROF_SETTINGS = """\
rocprofv3=${ROCPROFV3:-rocprofv3}
results=$(absolute "${RESULTS:-$here/results}")
# ROCPROF_OPTIONS holds several words.
# shellcheck disable=SC2086
profile() {
  name=$1
  shift
  "$rocprofv3" ${ROCPROF_OPTIONS:---pmc SQ_WAVES} -d "$results" -o "$name" "$@"
}
"""


def _for_rocprofv3(plan: PlanFile, choices: ExportChoices) -> Exported:
    known, why_not = iterations(plan)
    parts = export.run_parts(plan, choices, together=lambda launch: launch.name)
    files: list[tuple[str, str]] = []
    for part in parts:
        for suffix, shard in part.files():
            runs = filters(shard, known)
            comment = (
                f"Runs the program {len(runs)} times under rocprofv3: sh run{suffix}.sh PROGRAM "
                f"[ARGUMENT...]\nThe launches are those of device {part.device}."
            )
            options = [f"kernel{suffix}-{number} {run} --" for number, run in enumerate(runs, start=1)]
            files.append(_script(part, f"run{suffix}.sh", comment, _ROCPROF_SETTINGS, options))
        numbers = {step.ordinal: known[step.id] for step in part.steps if step.id in known}
        files += [export.manifest(part, numbers), *export.slurm(part, takes_program=True)]
    drawn = sum(len(part.steps) for part in parts)
    unknown = _UNKNOWN.format(count=drawn - len(known), all=drawn, why=why_not) if why_not else ""
    text = _ROCPROF_README.format(unknown=unknown)
    return (*files, export.readme("rocprofv3", ROCPROFV3.note, text, plan, parts, choices, is_ordered=False))


def kernel_pattern(name: str) -> str:
    """Return the expression for a kernel, with or without what HSA appends to its name."""
    plain = name.removesuffix(".kd").removesuffix(" [clone .kd]")
    return name_pattern(plain).removesuffix("$") + r"(\.kd| .clone.*)?$"


def filters(shard: Shard, known: Mapping[int, int]) -> list[str]:
    """Return the options of each run; a kernel of which one launch is not `known` is measured whole."""
    runs = []
    for name, launches in _of_names(shard).items():
        spelt = "--mangled-kernels " if name.startswith("_Z") else ""
        chosen = f"{spelt}--kernel-include-regex {export.quoted(kernel_pattern(name))}"
        if any(launch.id not in known for launch in launches):
            runs.append(chosen)
            continue
        for some in in_pieces(export.merged(known[launch.id] for launch in launches)):
            text = ",".join(f"[{export.range_text(each)}]" for each in some)
            runs.append(f"{chosen} --kernel-iteration-range {export.quoted(text)}")
    return runs


def iterations(plan: PlanFile) -> tuple[dict[int, int], str]:
    """Return which launch of its kernel each drawn one is in its process and device, from 1, by its id.

    It is read from the profile that the plan was made from, if that is still there. Else a launch has one
    only if its kernel has a single size, which a plan by launch of a whole profile tells. Beside the numbers
    stands why some are not known; "" where all are.
    """
    known = _of_single_sizes(plan)
    if len(known) == len(plan.drawn):
        return known, ""
    original = find_original(plan)
    return (
        (known, str(original.why_not)) if original.profile is None else (_counted(plan, original.profile), "")
    )


def _of_single_sizes(plan: PlanFile) -> dict[int, int]:
    grouping, region = plan.options.grouping, plan.options.region
    if not (method_named(plan.options.method).draws_at_random and region == Region()):
        return {}
    drawn = [(stratum.key, launch) for stratum in plan.strata for launch in stratum.launches]
    sizes: defaultdict[str, set[object]] = defaultdict(set)
    for key, each in drawn:
        place = (None, None) if grouping.pool_devices else (each.process, each.device)
        # Where each stratum is of one kernel in one size, every size is among the drawn launches.
        if not grouping.needs_shape or key != group_key(each.name, grouping, each.grid, each.block, *place):
            return {}
        sizes[each.name].add((each.grid, each.block))
    return {launch.id: launch.occurrence + 1 for _, launch in drawn if len(sizes[launch.name]) == 1}


def _counted(plan: PlanFile, profile: Profile) -> dict[int, int]:
    """Count the launches of each drawn launch's kernel up to it, in one pass over the profile."""
    ids = np.array([launch.id for launch in plan.drawn], dtype=np.int64)
    before = np.zeros(len(profile.kernels.names), dtype=np.int64)
    found: dict[int, int] = {}
    sequence = -1
    for part in profile.parts:
        if part.sequence != sequence:
            sequence, before[:] = part.sequence, 0
        names = part.load(("name",))["name"]
        start, stop = np.searchsorted(ids, [part.first_id, part.stop_id])
        done = 0
        for launch_id in ids[start:stop].tolist():
            place = launch_id - part.first_id
            before += np.bincount(names[done : place + 1], minlength=len(before))
            done = place + 1
            found[launch_id] = int(before[names[place]])
        before += np.bincount(names[done:], minlength=len(before))
    return found


ROCPROFV3 = Exporter(
    "iterations count the launches of a kernel on a device from 1, whatever their sizes; written from the "
    "tool's grammar, not run against it",
    _TAKES,
    _for_rocprofv3,
)

_NVBIT_README = """\
run.sh PROGRAM [ARGUMENT...] runs the program once for each range of {ranges}, with the tool in TOOL, such
as instr_count.so. A line there is START_GRID_NUM and END_GRID_NUM, the second one past the last launch.
Results go to RESULTS, else to results/ here, a file a range. A tool prints a line for each launch, with
counts of 0 outside the range. One run over all of them: START_GRID_NUM={first} END_GRID_NUM={end}.

Older tools miss launches of cuLaunchKernelEx, and only instr_count_cuda_graph sees those of CUDA graphs, so
that the numbers may differ from the profile's.
"""
_NVBIT_RUN = """\
tool=$(absolute "${{TOOL:?set it to the tool of NVBit, such as instr_count.so}}")
results=$(absolute "${{RESULTS:-$here/results}}")
mkdir -p -- "$results"
while read -r first end <&3; do
  export START_GRID_NUM="$first" END_GRID_NUM="$end"
  CUDA_INJECTION64_PATH=$tool "$@" > "$results/launches-$first-$end.txt"
done 3< "$here/{ranges}"
printf '%s\\n' "$results"
"""


def _for_nvbit(plan: PlanFile, choices: ExportChoices) -> Exported:
    parts = export.run_parts(plan, choices)
    files: list[tuple[str, str]] = []
    for part in parts:
        for suffix, shard in part.files():
            name, run = f"ranges{suffix}.txt", f"run{suffix}.sh"
            lines = [f"{first} {last + 1}\n" for first, last in export.merged(step.ordinal for step in shard)]
            comment = f"Runs the program {len(lines)} times, once a range: sh {run} PROGRAM [ARGUMENT...]"
            files += [
                (f"{part.folder}{name}", "".join(lines)),
                (
                    part.folder + run,
                    export.script(comment, _NVBIT_RUN.format(ranges=name), takes_program=True),
                ),
            ]
        numbers = {step.ordinal: step.ordinal for step in part.steps}
        files += [export.manifest(part, numbers), *export.slurm(part, takes_program=True)]
    ordinals = [step.ordinal for part in parts for step in part.steps]
    ranges = "ranges.txt" if choices.shards == 1 else "ranges-N.txt"
    text = _NVBIT_README.format(ranges=ranges, first=min(ordinals), end=max(ordinals) + 1)
    page = export.readme("NVBit", NVBIT.note, text, plan, parts, choices, is_ordered=False, uses_nvbit=True)
    return (*files, page)


NVBIT = Exporter(
    "launches count from 0 in a process, which has one device: the ordinal, which is the id where the "
    "profile has one process; written from the tool's grammar, not run against it",
    _TAKES,
    _for_nvbit,
)
