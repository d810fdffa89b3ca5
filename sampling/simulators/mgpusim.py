"""The NVIDIA part of MGPUSim, which runs the traces of Accel-Sim's tracer.

It takes ``-trace-dir FOLDER`` and runs all that ``kernelslist.g`` there names: copies and ``kernel...``
lines, and nothing else, not even a comment. It reads ``.traceg`` as text, not packed ones. It has no
selection of its own, so the folder is one with this list and links to these traces.
"""

from __future__ import annotations

from functools import partial

from sampling.simulators.accel_sim import find_traces, kernels_list_text, trace_name
from sampling.simulators.exporter import Handover, export_parts, template
from sampling.simulators.simulator import Exporter, Simulator


def _write(to: Handover) -> None:
    """Hand over a folder with the list of each shard, and its script."""
    traces = find_traces(to.part, to.choices, to.plan)
    for suffix, shard in to.part.files():
        folder = f"run{suffix}"
        to.files[f"{folder}/kernelslist.g"] = kernels_list_text(shard, traces, to.choices)
        to.files[f"{folder}.sh"] = to.run_script(
            "mgpusim/run.sh",
            f"Simulates the {len(shard)} launches of {folder}/kernelslist.g, in its order.",
            None if traces is None else traces.path,
            folder=folder,
            link_traces=template("link-traces.sh"),
        )
    to.called |= {step.ordinal: trace_name(step.ordinal, traces).split(".")[0] for step in to.part.steps}


SIMULATOR = Simulator(
    name="mgpusim",
    title="MGPUSim",
    exporter=Exporter(
        note="kernel-N counts the launches of a process and device from 1: ordinal + 1, which is id + 1 "
        "where the profile has one of each. MGPUSim's reader of lists and traces (d01e70d) was run against "
        "such a folder, its simulation was not",
        takes=frozenset({"shards", "traces", "drop_copies"}),
        export=partial(export_parts, write=_write),
    ),
)
