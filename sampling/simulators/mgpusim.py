"""A plan for MGPUSim's NVIDIA part, which runs the traces of Accel-Sim's tracer.

It takes ``-trace-dir FOLDER`` and runs all that ``kernelslist.g`` there names: copies and ``kernel...``
lines, and nothing else, not even a comment. It reads ``.traceg`` as text, not packed ones. It has no
selection of its own, so the folder is one with this list and links to these traces.
"""

from __future__ import annotations

from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.simulators.accel_sim import LINK_TRACES, kernels_list, trace_name, traces_of, traces_place
from sampling.simulators.export import ExportChoices, Exported, run_parts
from sampling.simulators.export_files import Handed, manifest, readme, script, slurm

TAKES = frozenset({"shards", "traces", "caches", "cold_check", "drop_copies"})
NOTE = (
    "kernel-N counts the launches of a process and device from 1: ordinal + 1, which is id + 1 where the "
    "profile has one of each. MGPUSim's reader of lists and traces (d01e70d) was run against such a folder, "
    "its simulation was not"
)

_README = """\
run.sh simulates the launches of {folder}kernelslist.g with the NVIDIA part of MGPUSim. Set MGPUSIM to the
program that `go build` makes in its nvidia folder, and TRACES to the folder of the traces where they lie
elsewhere. The traces are those of Accel-Sim's tracer, as text: an export for accel-sim has the script that
records them.
The simulator runs the list in its order, which is not that of the program: a run that is stopped has
simulated what says most about the total.
It has no caches at that commit, so that it does not matter what ran before a launch.
Its AMD part runs programs, not traces, and can choose no launches; its wavefront sampling (-wf-sampling)
works within a launch.
"""

_RUN = """\
traces=${{TRACES:-{traces}}}
traces=$(absolute "$traces")
list=$here/{folder}/kernelslist.g
simulator=${{MGPUSIM:?set it to the program built in the nvidia folder of MGPUSim}}
case $simulator in */*) simulator=$(absolute "$simulator") ;; esac
{link}\
cd -- "$here/{folder}"
"$simulator" -trace-dir "$here/{folder}" > run.log 2>&1 || fail "the simulator failed; see $PWD/run.log"
printf '%s\\n' "$PWD/run.log"
"""


def export(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return the lists, the scripts and the manifest of each process and device.

    Raises
    ------
    ProfileError : the traces are not those of the plan's launches, or are packed.
    OptionError : there are more shards than launches.
    """
    choices = choices.without_filling("MGPUSim")
    parts = run_parts(plan, choices)
    files: list[tuple[str, str]] = []
    for part in parts:
        traces = traces_of(part, choices, plan)
        names = {step.ordinal: trace_name(step.ordinal, traces) for step in part.steps}
        packed = [name for name in names.values() if not name.endswith(".traceg")]
        if traces is not None and packed:
            raise ProfileError(
                f"{packed[0]} is packed, and MGPUSim reads text alone",
                path=traces.path,
                remedy="unpack the traces, and name them .traceg in kernelslist.g",
            )
        for suffix, shard in part.files():
            folder = f"run{suffix}"
            body = _RUN.format(traces=traces_place(traces), folder=folder, link=LINK_TRACES)
            comment = f"Simulates the {len(shard)} launches of {folder}/kernelslist.g, in its order."
            text = kernels_list(shard, traces, drop_copies=choices.drop_copies)
            files += [
                (f"{part.folder}{folder}/kernelslist.g", text),
                (f"{part.folder}{folder}.sh", script(comment, body)),
            ]
        called = {ordinal: name.split(".")[0] for ordinal, name in names.items()}
        files += [manifest(part, called, choices.caches or ""), *slurm(part)]
    folder = "run/" if all(len(part.shards) == 1 for part in parts) else "run-N/"
    return (*files, readme("MGPUSim", NOTE, _README.format(folder=folder), Handed(plan, parts, choices)))
