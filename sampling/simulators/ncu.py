"""A plan for Nsight Compute: the drawn launches by kernel and occurrence, or by their position.

``--kernel-id ::regex:NAME:NUMBERS`` profiles the launches of those numbers, counted from 1. Older versions
count all launches of a function, newer ones those of each grid, block and shared memory; with
``--filter-mode per-launch-config`` every version counts the latter, as a plan's occurrences do. It takes one
kernel name, so that the program is run once a name, and takes the numbers in every size that the kernel has.

``--launch-skip`` and ``--launch-count`` with ``--filter-mode per-gpu`` count all launches of a device, as a
plan's ordinals do: no name need agree, but the program is run once a range.
"""

from __future__ import annotations

from collections.abc import Sequence

from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import (
    ExportChoices,
    Exported,
    Part,
    Shard,
    in_pieces,
    merged,
    name_pattern,
    of_names,
    run_parts,
)
from sampling.simulators.export_files import Handed, manifest, quoted, readme, script, slurm

TAKES = frozenset({"shards"})
NOTE = (
    "--kernel-id counts the launches of a kernel, grid and block on a device from 1: occurrence + 1; "
    "--launch-skip is the ordinal, from 0; written from the tool's grammar, not run against it"
)

#: Numbers of one expression: it stays far below what one word of a command may hold.
_MOST_NUMBERS = 2000
_README = """\
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

_SETTINGS = """\
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


def export(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return both scripts of each process and device, and the manifest.

    Raises
    ------
    OptionError : there are more shards than kernel names.
    """
    parts = run_parts(plan, choices, together=lambda launch: launch.name)
    files: list[tuple[str, str]] = []
    for part in parts:
        for suffix, shard in part.files():
            by_name = [
                f"--filter-mode per-launch-config --kernel-name-base {base} --kernel-id {quoted(kernel_id)}"
                for base, kernel_id in kernel_ids(shard)
            ]
            by_position = [
                f"--filter-mode per-gpu --launch-skip {first} --launch-count {last - first + 1}"
                for first, last in merged(step.ordinal for step in shard)
            ]
            files += [
                _script(part, f"run{suffix}.sh", f"kernel{suffix}", by_name),
                _script(part, f"run-by-position{suffix}.sh", f"range{suffix}", by_position),
            ]
        numbers = {step.ordinal: step.launch.occurrence + 1 for step in part.steps if step.launch is not None}
        files += [manifest(part, numbers), *slurm(part, takes_program=True)]
    return (*files, readme("Nsight Compute", NOTE, _README, Handed(plan, parts, choices), is_ordered=False))


def kernel_ids(shard: Shard) -> list[tuple[str, str]]:
    """Return the base of the name and the ``--kernel-id`` of each run, in the order of the shard."""
    runs: list[tuple[str, str]] = []
    for name, steps in of_names(shard).items():
        numbers = sorted({step.launch.occurrence + 1 for step in steps if step.launch is not None})
        base = "mangled" if name.startswith("_Z") else "demangled"
        runs += [
            (base, f"::regex:{name_pattern(name)}:^({'|'.join(map(str, some))})$")
            for some in in_pieces(numbers, _MOST_NUMBERS)
        ]
    return runs


def _script(part: Part, name: str, report: str, runs: Sequence[str]) -> tuple[str, str]:
    body = _SETTINGS + "".join(
        f'profile {report}-{number} --devices {part.device} {run} "$@"\n'
        for number, run in enumerate(runs, start=1)
    )
    comment = f"Runs the program {len(runs)} times under ncu: sh {name} PROGRAM [ARGUMENT...]"
    text = script(comment, body + "printf '%s\\n' \"$results\"\n", takes_program=True)
    return f"{part.folder}{name}", text
