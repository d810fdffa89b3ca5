"""Accel-Sim: a plan for it and for its tracer, and how it runs.

The simulator runs a list in its order. It looks for a trace in the folder of the list, and takes a line for
one only if it begins with ``kernel``; so traces that lie elsewhere are linked to beside the list. The tracer
takes ``DYNAMIC_KERNEL_RANGE``, blank-separated numbers and ranges; tracers before May 2025 know only
``DYNAMIC_KERNEL_LIMIT_START`` and ``_END``. The framework's own run_hw_trace.py sets these variables itself,
so the scripts here start the program with the tracer in ``CUDA_INJECTION64_PATH``.
"""

from __future__ import annotations

import json
import shlex
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import fill

from sampling.errors import ProfileError, SamplingError
from sampling.plan.plan_file import PlanFile
from sampling.profile.identity import content_sha256
from sampling.readers.accel_sim_traces import LIST, find_trace_folder, listed_traces, trace_head
from sampling.readers.input_file import open_input
from sampling.simulators.accel_sim_traces import (
    TRACE_LIST,
    TraceFolder,
    find_simulator,
    read_folder_list,
    traces_for,
)
from sampling.simulators.alignment import align
from sampling.simulators.caches import Filled, filled
from sampling.simulators.export import FILLED, LOADS_FROM, ExportChoices, Part, Shard, merged, range_text
from sampling.simulators.exporter import Handover, export_parts, script, template
from sampling.simulators.filling import copies, with_kernels, write_kernel, write_low_words
from sampling.simulators.gpgpu_sim_output import INTERVALS, RESULTS
from sampling.simulators.simulator import Content, Exporter, RunRules, Simulator
from sampling.text import counted

#: One string of the environment may have 128 KiB, with its name and a zero at the end
MOST_RANGE_CHARACTERS = (128 << 10) - len("DYNAMIC_KERNEL_RANGE=") - 1
_BEYOND_ANY = 1_000_000
#: Traces as text, in GB a ms of GPU time: small launches (as seen of PyTorch), and a GPU that is kept busy
#: (45 bytes an instruction, two each cycle of 75 SMs)
_LEAST_GB, _MOST_GB = 0.4, 10.0
# What is said of which Accel-Sim copies are for, by what tells it.
_SIMULATORS = {
    "packed": "Packed traces are for Accel-Sim 2.0, which keeps whole addresses: they are run as they are.",
    "new": "The log is of Accel-Sim 2.0, which keeps whole addresses: the traces are run as they are.",
    "old": "The log is of an Accel-Sim before 2.0, which keeps 32 bits of an address that is copied to: so "
    "the traces here have the low 32 bits of theirs, where the program's are longer.",
    "": "Nothing tells whether this is for Accel-Sim 2.0 (--simulator-log LOG, of any run, does). Older ones "
    "keep 32 bits of an address that is copied to, so the traces here have the low 32 bits of theirs, where "
    "the program's are longer; 2.0 runs these alike.",
}
_MADE_DIRTY = (
    "Before {} that evict what others stored, a kernel of the launch's number + 1,000,000,000 makes that "
    "dirty and lines as old as they are; it weighs nothing."
)
_LEFT_CLEAN = (
    "Of what L2 held before these launches {:.0f} % was dirty and is filled clean: where they evict it, a "
    "total of these is too low."
)
_NO_SIZE = "Without --config nothing says how large L2 is, and so nothing is made dirty."


def _write(to: Handover) -> None:
    """Hand over the lists, the scripts and the traces that are not the program's own."""
    plan, part, choices = to.plan, to.part, to.choices
    traces, fills = find_traces(part, choices, plan), None
    told_by = "" if traces is None else find_simulator(traces, choices.simulator_log)
    if traces is not None and choices.caches in FILLED:
        fills = filled(traces, part.shards, choices, whole_addresses=told_by in ("packed", "new"))
        shards = tuple(with_kernels(shard, fills) for shard in part.shards)
        to.part = part = replace(part, shards=shards)
        to.files |= _written_traces(traces, fills)
    if traces is not None:
        _write_runs(to, traces, fills)
    numbers = {
        number
        for step in part.steps
        if step.ordinal < LOADS_FROM
        for number in range(max(1, step.ordinal + 1 - choices.trace_before), step.ordinal + 2)
    }
    ranges, gap = merged(numbers), 1
    while len(" ".join(map(range_text, ranges))) > MOST_RANGE_CHARACTERS:
        gap *= 2
        ranges = merged(numbers, gap)
    traced = sum(last - first + 1 for first, last in ranges)
    share_ms = plan.total_duration_ns * traced / max(plan.launches, 1) / 1e6
    to.files["trace.sh"] = script(
        "accel-sim/trace.sh",
        f"Traces {traced} launches: sh trace.sh PROGRAM [ARGUMENT...]",
        takes_program=True,
        size=f"{traced} launches, about {share_ms:.3g} ms of GPU time: {share_ms * _LEAST_GB:,.1f} to "
        f"{share_ms * _MOST_GB:,.1f} GB as text, a tenth and less packed",
        ranges=shlex.quote(" ".join(map(range_text, ranges))),
        first=ranges[0][0],
        last=ranges[-1][1],
        top="/.." if part.folder else "",
        traces="$here/.." if part.folder else "$traces",
    )
    to.files["list-kernels.sh"] = script(
        "accel-sim/list-kernels.sh",
        "Traces nothing, and lists all launches in stats.csv: sh list-kernels.sh PROGRAM [ARGUMENT...]",
        takes_program=True,
        beyond=max(_BEYOND_ANY, 100 * plan.launches),
    )
    to.called |= {step.ordinal: trace_name(step.ordinal, traces).split(".")[0] for step in part.steps}
    _say(to, traced - len(numbers), told_by, fills)


def _write_runs(to: Handover, traces: TraceFolder, fills: Filled | None) -> None:
    """Hand over what runs the traces: a list and a script for each shard."""
    for suffix, shard in to.part.files():
        name = f"kernelslist{suffix}.g"
        to.files[name] = kernels_list_text(shard, traces, to.choices, fills)
        to.files[f"run{suffix}.sh"] = to.run_script(
            "accel-sim/run.sh",
            f"Simulates the {len(shard)} launches of {name}, in its order.",
            traces.path,
            list=name,
            suffix=suffix,
            link_traces=template("link-traces.sh"),
        )


def _say(to: Handover, added: int, told_by: str, fills: Filled | None) -> None:
    """Put into the page what this process and device adds to it."""
    choices, page = to.choices, to.page
    added += page.get("added", 0)
    untraced, every = page.get("untraced", 0), list(page.get("fills", ()))
    copies, sentences = "copies", []
    if fills is not None:
        copies = "loads" if choices.caches == "loads" else "fills"
        untraced, every = untraced + fills.untraced, [*every, *fills.fills.values()]
        to.dirty_percent |= {
            ordinal: round(100 * fill.left_clean) for ordinal, fill in fills.fills.items() if fill.left_clean
        }
        sentences = [_SIMULATORS[told_by]] if fills.by_copies else []
        if made_dirty := sum(fill.dirty is not None for fill in every):
            sentences.append(_MADE_DIRTY.format(counted(made_dirty, "launch", "launches")))
        elif left_clean := 100 * sum(fill.left_clean for fill in every) / len(every):
            sentences.append(_LEFT_CLEAN.format(left_clean))
            sentences += [] if choices.config else [_NO_SIZE]
    if untraced:
        lacking = counted(untraced, "launch", "launches")
        sentences.append(f"Of {lacking} just before drawn ones there is no trace.")
    fate = "dropped" if choices.drop_copies else "kept, each before the first launch after it"
    bridged = f"So that the ranges fit in one variable, {added:,} launches more are recorded.\n"
    page |= {
        "added": added,
        "untraced": untraced,
        "fills": every,
        "copies": template(f"accel-sim/{copies}.txt", kept=fate)
        + "".join(f"{fill(text, 106)}\n" for text in sentences),
        "before": counted(choices.trace_before, "launch", "launches"),
        "recorded": "." if to.part.folder else "TRACES",
        "bridged": bridged if added else "",
        "hook": _hook_text(to.plan),
    }


def _hook_text(plan: PlanFile) -> str:
    """Return what the tracer's hook for PyTorch takes of layers, "" where none are drawn.

    Where they have no names these are the layers that run first, which are those that run forward.
    """
    families = [stratum.layers for stratum in plan.strata if stratum.layers]
    if not families:
        return ""
    named = [layer for family in families for layer in family if layer.name]
    layers = named or families[0]
    by_number = sorted(layers, key=lambda layer: layer.number)
    names = [layer.name or f"model.layers.{layer.number}" for layer in by_number]
    places = [f"layer {layer.number} of iteration {layer.step}" for layer in layers]
    unnamed = "The profile names no modules: write what holds the layers in place of model.layers.\n"
    return template(
        "accel-sim/torch-hook.txt",
        names=", ".join(map(json.dumps, dict.fromkeys(names))),
        unnamed="" if named else unnamed,
        places=", ".join(dict.fromkeys(places)),
    )


def find_traces(part: Part, choices: ExportChoices, plan: PlanFile) -> TraceFolder | None:
    """Return the traces of a part, checked; each of several has a folder of its own in the given one.

    Where the plan was made of the list there, its launches are those in their order. Where the numbers are
    not those of another profile, for tracers skip launches, its launches are aligned.
    """
    if choices.traces is None:
        return None
    folder = find_trace_folder(choices.traces, LIST) / part.folder
    if part.folder:
        if not folder.is_dir():
            raise ProfileError(
                "the plan is of several processes and devices, and the traces of one are not there",
                path=folder,
                remedy="put the traces of each in a folder of this name",
            )
        folder = find_trace_folder(str(folder), LIST)
    listed = folder / LIST
    if listed.is_file() and [file.sha256 for file in plan.profile.files] == [content_sha256(listed)]:
        with open_input(str(listed)) as file:
            order = {ordinal: number for ordinal, (number, _) in enumerate(listed_traces(file))}
        return traces_for(str(folder), part.steps, order)
    try:
        return traces_for(str(folder), part.steps)
    except ProfileError as refused:
        try:
            alignment = align(plan, read_folder_list(folder), process=part.process, device=part.device)
        except SamplingError:
            raise refused from None
        if alignment.by == "number":
            raise
        # Ids go through one process and device without a gap.
        ordinals = alignment.ids - (part.steps[-1].id - part.steps[-1].ordinal)
        aligned = dict(zip(ordinals.tolist(), alignment.numbers.tolist(), strict=True))
        return traces_for(str(folder), part.steps, aligned)


def trace_name(ordinal: int, traces: TraceFolder | None) -> str:
    """Return the file of a launch: that of the traces, or the one that a tracer without contexts writes."""
    if traces is None or ordinal >= LOADS_FROM:
        return f"kernel-{ordinal + 1}.traceg"
    return traces.files[traces.number(ordinal)]


def _written_traces(traces: TraceFolder, fills: Filled) -> dict[str, Content]:
    """Return the kernels that fill L2, and the traces with low addresses in place of the program's own."""
    files: dict[str, Content] = {}
    for ordinal in filter(fills.has_kernel, fills.fills):
        head = trace_head(traces.file(traces.number(ordinal)))
        files[trace_name(LOADS_FROM + ordinal, traces)] = partial(write_kernel, head, fills, ordinal)
    for ordinal in fills.rewritten:
        name, source = trace_name(ordinal, traces), traces.file(traces.number(ordinal))
        files[name] = partial(write_low_words, source, packed=name.endswith(".xz"))
    return files


def kernels_list_text(
    shard: Shard, traces: TraceFolder | None, choices: ExportChoices, fills: Filled | None = None
) -> str:
    """Return the list of a shard, in the shard's order.

    A memory copy stands before the first launch of the shard that was launched after it; copies after the
    last one are left out, as are all without traces. What fills L2 stands there instead.
    """
    before: defaultdict[int, list[str]] = defaultdict(list)
    if fills is not None:
        before |= {step.ordinal: copies(fills, step.ordinal) for step in shard}
    elif traces is not None and not choices.drop_copies:
        ordinals = {traces.number(step.ordinal): step.ordinal for step in shard}
        numbers = sorted(ordinals)
        for number in sorted(traces.copies):
            place = bisect_left(numbers, number)
            if place < len(numbers):
                before[ordinals[numbers[place]]] += traces.copies[number]
    lines = [line for step in shard for line in (*before[step.ordinal], trace_name(step.ordinal, traces))]
    return "\n".join(lines) + "\n"


def _find_inputs(
    kernels_list: Path, traces: Path, folder: Path, words: Sequence[str], _: Path
) -> Mapping[Path, Path | str]:
    """Return the traces of a list, looked for beside it, and the networks of the configurations."""
    configs = (Path(word).parent for word in words if word.endswith(".config"))
    inputs = {folder / net.name: net for config in configs for net in config.glob("*.icnt")}
    names, traces = kernels_list.read_text(encoding="utf-8").split("\n"), find_trace_folder(str(traces), LIST)
    inputs |= {kernels_list.parent / name: traces / name for name in names if name.startswith("kernel")}
    return inputs


SIMULATOR = Simulator(
    name="accel-sim",
    title="Accel-Sim",
    exporter=Exporter(
        note="kernel-N counts the launches of a process and device from 1: ordinal + 1, which is id + 1 "
        "where the profile has one of each. The grammar of the list was run against Accel-Sim (73f9fac); the "
        "tracer's ranges are written from the tool's grammar, not run against it",
        takes=frozenset(
            {
                *("shards", "apart", "traces", "caches", "cold_check"),
                *("config", "simulator_log", "trace_before", "drop_copies"),
            }
        ),
        export=partial(export_parts, write=_write),
        fills=True,
        needs_traces=True,
        uses_nvbit=True,
    ),
    results=RESULTS,
    intervals=INTERVALS,
    trace_list=TRACE_LIST,
    run=RunRules(
        placeholder="{list}",
        example="accel-sim.out -trace {list} -config ... -config ...",
        list_name="kernelslist{}.g",
        find_inputs=_find_inputs,
    ),
)
