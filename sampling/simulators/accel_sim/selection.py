"""A plan for Accel-Sim: the list that its simulator runs, and the range that its tracer records.

The tracer takes ``DYNAMIC_KERNEL_RANGE``, blank-separated numbers and ranges; tracers before May 2025 know
only ``DYNAMIC_KERNEL_LIMIT_START`` and ``_END``. The framework's own run_hw_trace.py sets these variables
itself, so the scripts here start the program with the tracer in ``CUDA_INJECTION64_PATH``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sampling.errors import ProfileError, SamplingError
from sampling.plan.plan_file import PlanFile
from sampling.simulators.accel_sim.kernels_list import LINK_TRACES, kernels_list, trace_name
from sampling.simulators.accel_sim.l2 import Filled, filled, write_loads, write_low_words
from sampling.simulators.accel_sim.trace_folder import LIST, TraceFolder, traces_for
from sampling.simulators.accel_sim.trace_head import trace_head
from sampling.simulators.alignment import align
from sampling.simulators.exporting.choices import FILLED, Content, ExportChoices, Exported
from sampling.simulators.exporting.id_ranges import Range, bridged, merged, range_text
from sampling.simulators.exporting.manifest import manifest
from sampling.simulators.exporting.readme import Handed, readme
from sampling.simulators.exporting.run_order import LOADS_FROM, Part, run_parts
from sampling.simulators.exporting.scripts import quoted, script, slurm, then_estimate
from sampling.simulators.trace_list import read_trace_list
from sampling.text import counted

TAKES = frozenset(
    {"shards", "apart", "traces", "caches", "cold_check", "config", "trace_before", "drop_copies"}
)
NOTE = (
    "kernel-N counts the launches of a process and device from 1: ordinal + 1, which is id + 1 where the "
    "profile has one of each. The grammar of the list was run against Accel-Sim (73f9fac); the tracer's "
    "ranges are written from the tool's grammar, not run against it"
)

#: One string of the environment may have 128 KiB, with its name and a zero at the end.
MOST_RANGE_CHARACTERS = (128 << 10) - len("DYNAMIC_KERNEL_RANGE=") - 1
_BEYOND_ANY = 1_000_000
#: Traces as text, in GB a ms of GPU time: small launches (as seen of PyTorch), and a GPU that is kept busy
#: (45 bytes an instruction, two each cycle of 75 SMs).
_LEAST_GB, _MOST_GB = 0.4, 10.0

_README = """\
run.sh simulates the launches of {list}. Set GPGPUSIM_CONFIG and TRACE_CONFIG to the two configurations,
ACCELSIM to accel-sim.out, and TRACES to the folder of the traces where they lie elsewhere.
    GPGPUSIM_CONFIG=... TRACE_CONFIG=... sh run.sh
The simulator runs the list in its order: a run that is stopped has simulated what stands first in it.
{copies}\
The simulator's kernel_launch_uid counts the launches of its own run; which trace a result is of says the
line "Processing kernel" before it.

trace.sh PROGRAM [ARGUMENT...] records these launches and {before} before each, which leave in L2 what
they find, with the tracer in TRACER (tracer_tool.so), to TRACES, else to traces/ here. It says how many
bytes they may take. POST_PROCESSING is post-traces-processing, which makes the traces ready.
A tracer that knows one range alone records all from the first to the last launch, and the script says so.
Newer tracers name traces kernel-N-ctx_0x....traceg: an export that is given the traces has their names.
{bridged}
list-kernels.sh PROGRAM [ARGUMENT...] records nothing and lists all launches in stats.csv. Compare its names
and sizes with manifest.csv before tracing: launches of a CUDA graph are numbered once, when the graph is
made, and older tracers miss those of cuLaunchKernelEx, so that the numbers may differ from the profile's.
"""

_FILLS = """\
MemcpyHtoD lines before a launch fill the simulator's L2; the program's own are left out. The simulator keeps
32 bits of their addresses, so the traces here have the low 32 bits of theirs, where the program's are longer.
"""
_LOADS = """\
The kernel before a launch, of its number + 1,000,000,000, loads what fills the simulator's L2 and weighs
nothing; the program's own copies are left out.
"""
_COPIES = """\
Memory copies are {}. They fill the simulator's L2 with -gpgpu_perf_sim_memcpy 1,
where they are below 4 GiB: of a copy's address 32 bits are kept, so those of most programs do nothing.
"""

_RUN = """\
traces=${{TRACES:-{traces}}}
traces=$(absolute "$traces")
list=$here/{list}
simulator=${{ACCELSIM:-accel-sim.out}}
config=$(absolute "${{GPGPUSIM_CONFIG:?set it to the gpgpusim.config to simulate}}")
trace_config=$(absolute "${{TRACE_CONFIG:?set it to the trace.config that belongs to it}}")
case $simulator in */*) simulator=$(absolute "$simulator") ;; esac
{link}\
mkdir -p -- "$here/run{suffix}"
cd -- "$here/run{suffix}"
for file in "${{config%/*}}"/*.icnt; do
  if [ -e "$file" ] && [ ! -e "${{file##*/}}" ]; then ln -s -- "$file" .; fi
done
"$simulator" -trace "$list" -config "$config" -config "$trace_config" > run.log 2>&1 ||
  fail "the simulator failed; see $PWD/run.log"
"""

_TRACE = """\
{start}if grep -q DYNAMIC_KERNEL_RANGE "$tracer"; then
  export DYNAMIC_KERNEL_RANGE={ranges}
else
  printf '%s\\n' "$0: this tracer knows one range alone: it records {first} to {last}" >&2
  export DYNAMIC_KERNEL_LIMIT_START={first} DYNAMIC_KERNEL_LIMIT_END={last}
fi
{go}"""

# Every tracer finds its own variable.
_LIST = """\
{start}\
export DYNAMIC_KERNEL_RANGE={beyond}
export DYNAMIC_KERNEL_LIMIT_START={beyond} DYNAMIC_KERNEL_LIMIT_END={beyond}
{go}\
printf '%s\\n' "$traces"
"""

_START = """\
tracer=$(absolute "${{TRACER:?set it to the tracer_tool.so of Accel-Sim}}")
traces=$(absolute "${{TRACES:-$here/{folder}}}")
mkdir -p -- "$traces"
"""

_GO = """\
export ACTIVE_FROM_START=1 TERMINATE_UPON_LIMIT="${TERMINATE_UPON_LIMIT:-0}"
export USER_DEFINED_FOLDERS=1 TRACES_FOLDER="$traces"
CUDA_INJECTION64_PATH=$tracer "$@"
"""

_POST = """\
if [ -z "${POST_PROCESSING:-}" ]; then
  printf '%s\\n' "$0: traced; now run post-traces-processing on $traces" >&2
elif [ -e "$traces/kernelslist" ]; then
  "$POST_PROCESSING" "$traces/kernelslist"
else
  "$POST_PROCESSING" "$traces/traces"
fi
"""


def export(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return the lists, the scripts and the manifest of each process and device.

    Raises
    ------
    ProfileError : the traces are not those of the plan's launches.
    OptionError : there are more shards than launches, or an L2 that cannot be filled.
    """
    can_fill = choices.traces is not None and not choices.cold_check
    choices = replace(choices, caches=choices.caches or ("warm" if can_fill else "cold"))
    files: list[tuple[str, Content]] = []
    parts = run_parts(plan, choices)
    added = untraced = 0
    for part in parts:
        traces = traces_of(part, choices, plan)
        fills = filled(traces, part.steps, choices) if traces and choices.caches in FILLED else None
        untraced += fills.untraced if fills else 0
        numbers = merged(
            number
            for step in part.steps
            if step.ordinal < LOADS_FROM
            for number in range(max(1, step.ordinal + 1 - choices.trace_before), step.ordinal + 2)
        )
        ranges = bridged(numbers, MOST_RANGE_CHARACTERS)
        added += _held(ranges) - _held(numbers)
        names = {step.ordinal: trace_name(step.ordinal, traces).split(".")[0] for step in part.steps}
        files += [
            *_run_files(part, traces, choices, fills),
            (f"{part.folder}trace.sh", _trace_script(ranges, plan)),
            (f"{part.folder}list-kernels.sh", _dry_run(max(_BEYOND_ANY, 100 * plan.launches))),
            manifest(part, names, choices.caches or ""),
            *slurm(part),
        ]
    text = _README.format(
        list=LIST if all(len(part.shards) == 1 for part in parts) else "kernelslist-N.g",
        copies=_copies_text(choices, untraced),
        before=counted(choices.trace_before, "launch", "launches"),
        bridged=f"So that the ranges fit in one variable, {added:,} launches more are recorded.\n"
        if added
        else "",
    )
    handed = Handed(plan, parts, choices)
    return (*files, readme("Accel-Sim", NOTE, text, handed, uses_nvbit=True, is_estimated=True))


def _copies_text(choices: ExportChoices, untraced: int) -> str:
    """Return what the list does to L2, and of how many launches before the drawn ones nothing is known."""
    fewer = f" Of {counted(untraced, 'launch', 'launches')} just before drawn ones there is no trace.\n"
    if choices.caches == "loads":
        return _LOADS + fewer * (untraced > 0)
    if choices.caches in FILLED:
        return _FILLS + fewer * (untraced > 0)
    if choices.traces is None:
        return "An export that is given the traces fills L2 before each launch.\n"
    return _COPIES.format("dropped" if choices.drop_copies else "kept, each before the first launch after it")


def traces_of(part: Part, choices: ExportChoices, plan: PlanFile) -> TraceFolder | None:
    """Return the traces of a part, checked; each of several has a folder of its own in the given one.

    Where the numbers are not those of the profile, for tracers skip launches, its launches are aligned.

    Raises
    ------
    ProfileError : they are not those of the plan's launches, or not there.
    """
    if choices.traces is None:
        return None
    folder = Path(choices.traces) / part.folder
    if part.folder and not folder.is_dir():
        raise ProfileError(
            "the plan is of several processes and devices, and the traces of one are not there",
            path=folder,
            remedy="put the traces of each in a folder of this name",
        )
    try:
        return traces_for(str(folder), part.steps)
    except ProfileError as refused:
        try:
            found = align(plan, read_trace_list(str(folder)), process=part.process, device=part.device)
        except SamplingError:
            raise refused from None
        if found.by == "number":
            raise
        # Ids go through one process and device without a gap.
        first = part.steps[0].id - part.steps[0].ordinal
        return traces_for(
            str(folder),
            part.steps,
            dict(zip((found.ids - first).tolist(), found.numbers.tolist(), strict=True)),
        )


def traces_place(traces: TraceFolder | None) -> str:
    """Return where a script looks for the traces, as its shell reads it: beside itself if none are known."""
    return '"$here"' if traces is None else quoted(Path(traces.path).absolute())


def _run_files(
    part: Part, traces: TraceFolder | None, choices: ExportChoices, fills: Filled | None
) -> list[tuple[str, Content]]:
    """Return the list of each shard, its script, and the traces that are not the program's own."""
    files: list[tuple[str, Content]] = []
    before: Callable[[int], Sequence[str]] | None = None
    if traces is not None and fills is not None:
        before = (lambda _: ()) if choices.caches == "loads" else fills.copies
        for ordinal, ranges in fills.ranges.items():
            source = traces.file(traces.number(ordinal))
            if choices.caches == "loads":
                name, number = trace_name(LOADS_FROM + ordinal, traces), LOADS_FROM + ordinal + 1
                files.append((part.folder + name, partial(write_loads, trace_head(source), number, ranges)))
            elif ordinal in fills.rewritten:
                name = trace_name(ordinal, traces)
                packed = name.endswith(".xz")
                files.append((part.folder + name, partial(write_low_words, source, packed=packed)))
    for number, shard in enumerate(part.shards):
        suffix = part.suffix(number)
        name = f"kernelslist{suffix}.g"
        body = _RUN.format(traces=traces_place(traces), list=name, suffix=suffix, link=LINK_TRACES)
        comment = [f"Simulates the {len(shard)} launches of {name}, in its order."]
        files += [
            (
                f"{part.folder}{name}",
                kernels_list(shard, traces, drop_copies=choices.drop_copies, fills=before),
            ),
            (f"{part.folder}run{suffix}.sh", script(comment, body + then_estimate(part))),
        ]
    return files


def _trace_script(ranges: list[Range], plan: PlanFile) -> str:
    share_ms = plan.total_duration_ns * _held(ranges) / max(plan.launches, 1) / 1e6
    text = quoted(" ".join(map(range_text, ranges)))
    first, last = ranges[0][0], ranges[-1][1]
    body = _TRACE.format(start=_START.format(folder="traces"), go=_GO, ranges=text, first=first, last=last)
    comment = [f"Traces {_held(ranges)} launches: sh trace.sh PROGRAM [ARGUMENT...]"]
    size = (
        f"{_held(ranges)} launches, about {share_ms:.3g} ms of GPU time: {share_ms * _LEAST_GB:,.1f} to "
        f"{share_ms * _MOST_GB:,.1f} GB as text, a tenth and less packed"
    )
    said = f"printf '%s\\n' \"$0: {size}\" >&2\n"
    return script(comment, said + body + _POST, takes_program=True)


def _dry_run(beyond: int) -> str:
    body = _LIST.format(start=_START.format(folder="kernels"), go=_GO, beyond=beyond)
    comment = [
        "Traces nothing, and lists all launches in stats.csv: sh list-kernels.sh PROGRAM [ARGUMENT...]"
    ]
    return script(comment, body, takes_program=True)


def _held(ranges: list[Range]) -> int:
    return sum(last - first + 1 for first, last in ranges)
