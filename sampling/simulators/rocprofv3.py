"""A plan for rocprofv3: counters or thread traces of the drawn launches, by kernel and iteration.

``--kernel-include-regex`` is searched for in the demangled name; ``--kernel-iteration-range`` counts the
launches of each kernel it matches from 1, whatever their grids and blocks: ``[2],[5-8]``. One option holds
for all kernels of a run, so that the program is run once a kernel name. A plan counts the launches of each
size of a kernel by itself: where it has several sizes only the profile knows how they follow each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from sampling.methods.registry import method_named
from sampling.plan.other_recording.plan_judgement import find_original
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import Profile
from sampling.reduction.grouping import group_key
from sampling.reduction.region import Region
from sampling.simulators.export import (
    ExportChoices,
    Exported,
    Shard,
    in_pieces,
    merged,
    name_pattern,
    of_names,
    range_text,
    run_parts,
)
from sampling.simulators.export_files import Handed, manifest, quoted, readme, script, slurm

TAKES = frozenset({"shards"})
NOTE = (
    "iterations count the launches of a kernel on a device from 1, whatever their sizes; written from the "
    "tool's grammar, not run against it"
)

_MOST_RANGES = 2000
_SUFFIXES = (".kd", " [clone .kd]")
_README = """\
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

_SETTINGS = """\
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


def export(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return the script of each process and device, and the manifest."""
    known, why_not = iterations(plan)
    parts = run_parts(plan, choices, together=lambda launch: launch.name)
    files: list[tuple[str, str]] = []
    for part in parts:
        for suffix, shard in part.files():
            runs = filters(shard, known)
            body = _SETTINGS + "".join(
                f'profile kernel{suffix}-{number} {run} -- "$@"\n' for number, run in enumerate(runs, start=1)
            )
            comment = (
                f"Runs the program {len(runs)} times under rocprofv3: "
                f"sh run{suffix}.sh PROGRAM [ARGUMENT...]\n"
                f"The launches are those of device {part.device}."
            )
            text = script(comment, body + "printf '%s\\n' \"$results\"\n", takes_program=True)
            files.append((f"{part.folder}run{suffix}.sh", text))
        numbers = {step.ordinal: known[step.id] for step in part.steps if step.id in known}
        files += [manifest(part, numbers), *slurm(part, takes_program=True)]
    drawn = sum(len(part.steps) for part in parts)
    unknown = _UNKNOWN.format(count=drawn - len(known), all=drawn, why=why_not) if why_not else ""
    text = _README.format(unknown=unknown)
    return (*files, readme("rocprofv3", NOTE, text, Handed(plan, parts, choices), is_ordered=False))


def kernel_pattern(name: str) -> str:
    """Return the expression for a kernel, with or without what HSA appends to its name."""
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name_pattern(name).removesuffix("$") + r"(\.kd| .clone.*)?$"


def filters(shard: Shard, known: Mapping[int, int]) -> list[str]:
    """Return the options of each run, in the order of the shard.

    Parameters
    ----------
    known : iteration of each launch, by its id; a kernel of which one is missing is measured whole.
    """
    runs = []
    for name, steps in of_names(shard).items():
        spelt = "--mangled-kernels " if name.startswith("_Z") else ""
        chosen = f"{spelt}--kernel-include-regex {quoted(kernel_pattern(name))}"
        if any(step.id not in known for step in steps):
            runs.append(chosen)
            continue
        for some in in_pieces(merged(known[step.id] for step in steps), _MOST_RANGES):
            text = ",".join(f"[{range_text(each)}]" for each in some)
            runs.append(f"{chosen} --kernel-iteration-range {quoted(text)}")
    return runs


def iterations(plan: PlanFile) -> tuple[dict[int, int], str]:
    """Return which launch of its kernel each drawn one is in its process and device, from 1, by its id.

    It is read from the profile that the plan was made from, if that is still there. Else a launch has one
    only if its kernel has a single size, which a plan by launch of a whole profile tells.

    Returns
    -------
    the numbers, and why some are not known; "" where all are.
    """
    known = _of_single_sizes(plan)
    if len(known) == len(plan.drawn):
        return known, ""
    original = find_original(plan)
    if original.profile is not None:
        return _counted(plan, original.profile), ""
    return known, str(original.why_not)


def _of_single_sizes(plan: PlanFile) -> dict[int, int]:
    grouping, region = plan.selection()
    if not (method_named(str(plan.options["method"])).draws_at_random and region == Region()):
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
    drawn = plan.drawn
    ids = np.array([launch.id for launch in drawn], dtype=np.int64)
    before = np.zeros(len(profile.kernels.names), dtype=np.int64)
    found: dict[int, int] = {}
    sequence = -1
    for part in profile.parts:
        if part.sequence != sequence:
            sequence = part.sequence
            before[:] = 0
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
