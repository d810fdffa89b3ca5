"""A plan for what runs the traces of Accel-Sim's tracer: Accel-Sim, and the NVIDIA part of MGPUSim.

**Accel-Sim** runs a list in its order. It looks for a trace in the folder of the list, and takes a line for
one only if it begins with ``kernel``; so traces that lie elsewhere are linked to beside the list. The tracer
takes ``DYNAMIC_KERNEL_RANGE``, blank-separated numbers and ranges; tracers before May 2025 know only
``DYNAMIC_KERNEL_LIMIT_START`` and ``_END``. The framework's own run_hw_trace.py sets these variables itself,
so the scripts here start the program with the tracer in ``CUDA_INJECTION64_PATH``.

**MGPUSim** takes ``-trace-dir FOLDER`` and runs all that ``kernelslist.g`` there names: copies and
``kernel...`` lines, and nothing else, not even a comment. It reads ``.traceg`` as text, not packed ones. It
has no selection of its own, so the folder is one with this list and links to these traces.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from sampling.errors import ProfileError, SamplingError
from sampling.plan.plan_file import PlanFile
from sampling.simulators import export
from sampling.simulators.accel_sim_traces import LIST, TraceFolder, trace_head, traces_for
from sampling.simulators.alignment import align, read_trace_list
from sampling.simulators.caches import Filled, filled, write_loads, write_low_words
from sampling.simulators.export import (
    FILLED,
    LOADS_FROM,
    Content,
    ExportChoices,
    Exported,
    Exporter,
    Part,
    Shard,
)
from sampling.text import counted

#: One string of the environment may have 128 KiB, with its name and a zero at the end
MOST_RANGE_CHARACTERS = (128 << 10) - len("DYNAMIC_KERNEL_RANGE=") - 1
_BEYOND_ANY = 1_000_000
#: Traces as text, in GB a ms of GPU time: small launches (as seen of PyTorch), and a GPU that is kept busy
#: (45 bytes an instruction, two each cycle of 75 SMs)
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

_LISTS = "Traces nothing, and lists all launches in stats.csv: sh list-kernels.sh PROGRAM [ARGUMENT...]"
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

# Where ``traces`` and ``list`` are set: each trace of the list is linked to beside it, or unpacked there.
_LINK_TRACES = """\
while IFS= read -r name || [ -n "$name" ]; do
  case $name in kernel*) ;; *) continue ;; esac
  if [ -e "${list%/*}/$name" ]; then
    continue
  elif [ -e "$traces/$name" ]; then
    ln -s -- "$traces/$name" "${list%/*}/$name"
  elif [ -e "$traces/$name.gz" ]; then
    gzip -dc -- "$traces/$name.gz" > "${list%/*}/$name"
  else
    fail "$name is not in $traces; set TRACES to the folder of the traces"
  fi
done < "$list"
"""


def _for_accel_sim(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return the lists, the scripts and the manifest of each process and device."""
    can_fill = choices.traces is not None and not choices.cold_check
    choices = replace(choices, caches=choices.caches or ("warm" if can_fill else "cold"))
    files: list[tuple[str, Content]] = []
    parts = export.run_parts(plan, choices)
    beyond = max(_BEYOND_ANY, 100 * plan.launches)
    dry_run = _LIST.format(start=_START.format(folder="kernels"), go=_GO, beyond=beyond)
    added = untraced = 0
    for part in parts:
        traces = _traces_of(part, choices, plan)
        fills = filled(traces, part.steps, choices) if traces and choices.caches in FILLED else None
        untraced += fills.untraced if fills else 0
        numbers = export.merged(
            number
            for step in part.steps
            if step.ordinal < LOADS_FROM
            for number in range(max(1, step.ordinal + 1 - choices.trace_before), step.ordinal + 2)
        )
        ranges = bridged(numbers, MOST_RANGE_CHARACTERS)
        added += _held(ranges) - _held(numbers)
        names = {step.ordinal: _trace_name(step.ordinal, traces).split(".")[0] for step in part.steps}
        files += [
            *_run_files(part, traces, choices, fills),
            (f"{part.folder}trace.sh", _trace_script(ranges, plan)),
            (f"{part.folder}list-kernels.sh", export.script(_LISTS, dry_run, takes_program=True)),
            export.manifest(part, names, choices.caches or ""),
            *export.slurm(part),
        ]
    if choices.caches in FILLED:
        copies = _LOADS if choices.caches == "loads" else _FILLS
        if untraced:
            copies += (
                f" Of {counted(untraced, 'launch', 'launches')} just before drawn ones there is no trace.\n"
            )
    elif choices.traces is None:
        copies = "An export that is given the traces fills L2 before each launch.\n"
    else:
        copies = _COPIES.format(
            "dropped" if choices.drop_copies else "kept, each before the first launch after it"
        )
    more = f"So that the ranges fit in one variable, {added:,} launches more are recorded.\n"
    text = _README.format(
        list=LIST if all(len(part.shards) == 1 for part in parts) else "kernelslist-N.g",
        copies=copies,
        before=counted(choices.trace_before, "launch", "launches"),
        bridged=more if added else "",
    )
    note = ACCEL_SIM.note
    page = export.readme("Accel-Sim", note, text, plan, parts, choices, uses_nvbit=True, is_estimated=True)
    return (*files, page)


def _traces_of(part: Part, choices: ExportChoices, plan: PlanFile) -> TraceFolder | None:
    """Return the traces of a part, checked; each of several has a folder of its own in the given one.

    Where the numbers are not those of the profile, for tracers skip launches, its launches are aligned.
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
        ordinals = found.ids - (part.steps[0].id - part.steps[0].ordinal)
        aligned = dict(zip(ordinals.tolist(), found.numbers.tolist(), strict=True))
        return traces_for(str(folder), part.steps, aligned)


def _run_files(
    part: Part, traces: TraceFolder | None, choices: ExportChoices, fills: Filled | None
) -> list[tuple[str, Content]]:
    """Return the list of each shard, its script, and the traces that are not the program's own."""
    files: list[tuple[str, Content]] = []
    before: Callable[[int], Sequence[str]] | None = None
    if traces is not None and fills is not None:
        are_loads = choices.caches == "loads"
        before = (lambda _: ()) if are_loads else fills.copies
        for ordinal, ranges in fills.ranges.items():
            source = traces.file(traces.number(ordinal))
            name = _trace_name(LOADS_FROM + ordinal if are_loads else ordinal, traces)
            if are_loads:
                head, number = trace_head(source), LOADS_FROM + ordinal + 1
                files.append((part.folder + name, partial(write_loads, head, number, ranges)))
            elif ordinal in fills.rewritten:
                packed = name.endswith(".xz")
                files.append((part.folder + name, partial(write_low_words, source, packed=packed)))
    for suffix, shard in part.files():
        name = f"kernelslist{suffix}.g"
        body = _RUN.format(traces=_place(traces), list=name, suffix=suffix, link=_LINK_TRACES)
        comment = f"Simulates the {len(shard)} launches of {name}, in its order."
        text = _kernels_list(shard, traces, drop_copies=choices.drop_copies, fills=before)
        files += [
            (f"{part.folder}{name}", text),
            (f"{part.folder}run{suffix}.sh", export.script(comment, body + export.then_estimate(part))),
        ]
    return files


def _place(traces: TraceFolder | None) -> str:
    """Return where a script looks for the traces, as its shell reads it: beside itself if none are known."""
    return '"$here"' if traces is None else export.quoted(Path(traces.path).absolute())


def _trace_name(ordinal: int, traces: TraceFolder | None) -> str:
    """Return the file of a launch: that of the traces, or the one that a tracer without contexts writes."""
    if traces is None or ordinal >= LOADS_FROM:
        return f"kernel-{ordinal + 1}.traceg"
    return traces.files[traces.number(ordinal)]


def _kernels_list(
    shard: Shard,
    traces: TraceFolder | None,
    *,
    drop_copies: bool = False,
    fills: Callable[[int], Sequence[str]] | None = None,
) -> str:
    """Return the list of a shard, in the shard's order.

    A memory copy stands before the first launch of the shard that was launched after it; copies after the
    last one are left out. Without the traces no copies are known. With `fills` what fills L2 before a drawn
    launch, by its ordinal, stands there instead.
    """
    before: defaultdict[int, list[str]] = defaultdict(list)
    if fills is not None:
        before |= {step.ordinal: list(fills(step.ordinal)) for step in shard if step.launch is not None}
    elif traces is not None and not drop_copies:
        ordinals = {traces.number(step.ordinal): step.ordinal for step in shard}
        numbers = sorted(ordinals)
        for number in sorted(traces.copies):
            place = bisect_left(numbers, number)
            if place < len(numbers):
                before[ordinals[numbers[place]]] += traces.copies[number]
    lines = [line for step in shard for line in (*before[step.ordinal], _trace_name(step.ordinal, traces))]
    return "\n".join(lines) + "\n"


def _trace_script(ranges: list[tuple[int, int]], plan: PlanFile) -> str:
    held = _held(ranges)
    share_ms = plan.total_duration_ns * held / max(plan.launches, 1) / 1e6
    text = export.quoted(" ".join(map(export.range_text, ranges)))
    first, last = ranges[0][0], ranges[-1][1]
    body = _TRACE.format(start=_START.format(folder="traces"), go=_GO, ranges=text, first=first, last=last)
    size = (
        f"{held} launches, about {share_ms:.3g} ms of GPU time: {share_ms * _LEAST_GB:,.1f} to "
        f"{share_ms * _MOST_GB:,.1f} GB as text, a tenth and less packed"
    )
    said = f"printf '%s\\n' \"$0: {size}\" >&2\n"
    comment = f"Traces {held} launches: sh trace.sh PROGRAM [ARGUMENT...]"
    return export.script(comment, said + body + _POST, takes_program=True)


def _held(ranges: list[tuple[int, int]]) -> int:
    return sum(last - first + 1 for first, last in ranges)


def bridged(ranges: Sequence[tuple[int, int]], most_characters: int) -> list[tuple[int, int]]:
    """Return ranges that hold the given ones and whose text, with blanks between them, is short enough.

    The smallest gaps are bridged first, so that as little as possible is in them beyond what was given.
    """
    left = list(ranges)
    while len(left) > 1 and (excess := len(" ".join(map(export.range_text, left))) - most_characters) > 0:
        gaps = [after[0] - before[1] for before, after in pairwise(left)]
        # So many are needed at least, for a bridge saves two numbers and two signs at most.
        few = min(len(gaps), -(-excess // (2 * len(str(left[-1][1])) + 2)))
        bridges = set(sorted(range(len(gaps)), key=gaps.__getitem__)[:few])
        kept = [left[0]]
        for place, each in enumerate(left[1:]):
            if place in bridges:
                kept[-1] = (kept[-1][0], each[1])
            else:
                kept.append(each)
        left = kept
    return left


ACCEL_SIM = Exporter(
    "kernel-N counts the launches of a process and device from 1: ordinal + 1, which is id + 1 where the "
    "profile has one of each. The grammar of the list was run against Accel-Sim (73f9fac); the tracer's "
    "ranges are written from the tool's grammar, not run against it",
    frozenset({"shards", "apart", "traces", "caches", "cold_check", "config", "trace_before", "drop_copies"}),
    _for_accel_sim,
)

_MGPUSIM_README = """\
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

_MGPUSIM_RUN = """\
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


def _for_mgpusim(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return the lists, the scripts and the manifest of each process and device."""
    choices = choices.without_filling("MGPUSim")
    parts = export.run_parts(plan, choices)
    files: list[tuple[str, str]] = []
    for part in parts:
        traces = _traces_of(part, choices, plan)
        names = {step.ordinal: _trace_name(step.ordinal, traces) for step in part.steps}
        packed = [name for name in names.values() if not name.endswith(".traceg")]
        if traces is not None and packed:
            raise ProfileError(
                f"{packed[0]} is packed, and MGPUSim reads text alone",
                path=traces.path,
                remedy="unpack the traces, and name them .traceg in kernelslist.g",
            )
        for suffix, shard in part.files():
            folder = f"run{suffix}"
            body = _MGPUSIM_RUN.format(traces=_place(traces), folder=folder, link=_LINK_TRACES)
            comment = f"Simulates the {len(shard)} launches of {folder}/kernelslist.g, in its order."
            text = _kernels_list(shard, traces, drop_copies=choices.drop_copies)
            files += [
                (f"{part.folder}{folder}/kernelslist.g", text),
                (f"{part.folder}{folder}.sh", export.script(comment, body)),
            ]
        called = {ordinal: name.split(".")[0] for ordinal, name in names.items()}
        files += [export.manifest(part, called, choices.caches or ""), *export.slurm(part)]
    text = _MGPUSIM_README.format(folder="run/" if all(len(part.shards) == 1 for part in parts) else "run-N/")
    return (*files, export.readme("MGPUSim", MGPUSIM.note, text, plan, parts, choices))


MGPUSIM = Exporter(
    "kernel-N counts the launches of a process and device from 1: ordinal + 1, which is id + 1 where the "
    "profile has one of each. MGPUSim's reader of lists and traces (d01e70d) was run against such a folder, "
    "its simulation was not",
    frozenset({"shards", "traces", "caches", "cold_check", "drop_copies"}),
    _for_mgpusim,
)
