"""A plan for NVBit's own tools (instr_count, opcode_hist, mem_trace): one range of launches a run.

They instrument the launches from ``START_GRID_NUM`` up to, not with, ``END_GRID_NUM``, both counted from 0.
"""

from __future__ import annotations

from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import ExportChoices, Exported, merged, run_parts
from sampling.simulators.export_files import Handed, manifest, readme, script, slurm

TAKES = frozenset({"shards"})
NOTE = (
    "launches count from 0 in a process, which has one device: the ordinal, which is the id where the "
    "profile has one process; written from the tool's grammar, not run against it"
)

_README = """\
run.sh PROGRAM [ARGUMENT...] runs the program once for each range of {ranges}, with the tool in TOOL, such
as instr_count.so. A line there is START_GRID_NUM and END_GRID_NUM, the second one past the last launch.
Results go to RESULTS, else to results/ here, a file a range. A tool prints a line for each launch, with
counts of 0 outside the range. One run over all of them: START_GRID_NUM={first} END_GRID_NUM={end}.

Older tools miss launches of cuLaunchKernelEx, and only instr_count_cuda_graph sees those of CUDA graphs, so
that the numbers may differ from the profile's.
"""

_RUN = """\
tool=$(absolute "${{TOOL:?set it to the tool of NVBit, such as instr_count.so}}")
results=$(absolute "${{RESULTS:-$here/results}}")
mkdir -p -- "$results"
while read -r first end <&3; do
  export START_GRID_NUM="$first" END_GRID_NUM="$end"
  CUDA_INJECTION64_PATH=$tool "$@" > "$results/launches-$first-$end.txt"
done 3< "$here/{ranges}"
printf '%s\\n' "$results"
"""


def export(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return the ranges of each process and device, the script that runs them, and the manifest.

    Raises
    ------
    OptionError : there are more shards than launches.
    """
    parts = run_parts(plan, choices)
    files: list[tuple[str, str]] = []
    for part in parts:
        for suffix, shard in part.files():
            name, run = f"ranges{suffix}.txt", f"run{suffix}.sh"
            lines = [f"{first} {last + 1}\n" for first, last in merged(step.ordinal for step in shard)]
            comment = f"Runs the program {len(lines)} times, once a range: sh {run} PROGRAM [ARGUMENT...]"
            files += [
                (f"{part.folder}{name}", "".join(lines)),
                (part.folder + run, script(comment, _RUN.format(ranges=name), takes_program=True)),
            ]
        numbers = {step.ordinal: step.ordinal for step in part.steps}
        files += [manifest(part, numbers), *slurm(part, takes_program=True)]
    ordinals = [step.ordinal for part in parts for step in part.steps]
    ranges = "ranges.txt" if choices.shards == 1 else "ranges-N.txt"
    text = _README.format(ranges=ranges, first=min(ordinals), end=max(ordinals) + 1)
    handed = Handed(plan, parts, choices)
    return (*files, readme("NVBit", NOTE, text, handed, is_ordered=False, uses_nvbit=True))
