"""A plan for rocprofv3: counters or thread traces of the drawn launches, by kernel and iteration.

``--kernel-include-regex`` is searched for in the demangled name; ``--kernel-iteration-range`` counts the
launches of each kernel it matches from 1, whatever their grids and blocks: ``[2],[5-8]``. One option holds
for all kernels of a run, so that the program is run once a kernel name.
"""

from __future__ import annotations

from collections.abc import Mapping

from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.simulators.exporting.choices import ExportChoices, Exported
from sampling.simulators.exporting.id_ranges import in_pieces, merged, range_text
from sampling.simulators.exporting.iterations import iterations
from sampling.simulators.exporting.manifest import manifest
from sampling.simulators.exporting.name_pattern import name_pattern
from sampling.simulators.exporting.readme import Handed, readme
from sampling.simulators.exporting.run_order import Part, Shard, Step, run_parts
from sampling.simulators.exporting.scripts import quoted, script, slurm

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
    """Return the script of each process and device, and the manifest.

    Raises
    ------
    OptionError : there are more shards than kernel names.
    """
    known, why_not = iterations(plan)
    parts = run_parts(plan, choices, together=_name)
    files: list[tuple[str, str]] = []
    for part in parts:
        for number, shard in enumerate(part.shards):
            suffix = part.suffix(number)
            files.append((f"{part.folder}run{suffix}.sh", _script(part, suffix, shard, known)))
        files += [
            manifest(part, {step.ordinal: known[step.id] for step in part.steps if step.id in known}),
            *slurm(part, takes_program=True),
        ]
    drawn = sum(len(part.steps) for part in parts)
    unknown = _UNKNOWN.format(count=drawn - len(known), all=drawn, why=why_not) if why_not else ""
    text = _README.format(unknown=unknown)
    return (*files, readme("rocprofv3", NOTE, text, Handed(plan, parts, choices), is_ordered=False))


def _name(launch: PlannedLaunch) -> str:
    return launch.name


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
    of_name: dict[str, list[Step]] = {}
    for step in shard:
        assert step.launch is not None
        of_name.setdefault(step.launch.name, []).append(step)
    runs = []
    for name, steps in of_name.items():
        spelt = "--mangled-kernels " if name.startswith("_Z") else ""
        chosen = f"{spelt}--kernel-include-regex {quoted(kernel_pattern(name))}"
        if any(step.id not in known for step in steps):
            runs.append(chosen)
            continue
        ranges = merged(known[step.id] for step in steps)
        for some in in_pieces(ranges, _MOST_RANGES):
            text = ",".join(f"[{range_text(each)}]" for each in some)
            runs.append(f"{chosen} --kernel-iteration-range {quoted(text)}")
    return runs


def _script(part: Part, suffix: str, shard: Shard, known: Mapping[int, int]) -> str:
    runs = filters(shard, known)
    body = _SETTINGS + "".join(
        f'profile kernel{suffix}-{number} {run} -- "$@"\n' for number, run in enumerate(runs, start=1)
    )
    comment = [
        f"Runs the program {len(runs)} times under rocprofv3: sh run{suffix}.sh PROGRAM [ARGUMENT...]",
        f"The launches are those of device {part.device}.",
    ]
    return script(comment, body + "printf '%s\\n' \"$results\"\n", takes_program=True)
