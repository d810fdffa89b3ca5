"""A plan for Accel-Sim: the list that its simulator runs, and the range that its tracer records.

The tracer takes ``DYNAMIC_KERNEL_RANGE``, blank-separated numbers and ranges; tracers before May 2025 know
only ``DYNAMIC_KERNEL_LIMIT_START`` and ``_END``. The framework's own run_hw_trace.py sets these variables
itself, so the scripts here start the program with the tracer in ``CUDA_INJECTION64_PATH``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.progress import Progress
from sampling.simulators.accel_sim.kernels_list import LINK_TRACES, kernels_list, trace_name
from sampling.simulators.accel_sim.trace_folder import LIST, TraceFolder, existing_trace, traces_for
from sampling.simulators.accel_sim.warm_l2 import (
    LARGEST_L2_LINES,
    check_predecessors,
    filling,
    l2_lines,
    with_low_addresses,
)
from sampling.simulators.exporting.choices import COLD, OWN, WARM, ExportChoices, Exported
from sampling.simulators.exporting.id_ranges import Range, bridged, merged, range_text
from sampling.simulators.exporting.manifest import manifest
from sampling.simulators.exporting.readme import Handed, readme
from sampling.simulators.exporting.run_order import Part, run_parts
from sampling.simulators.exporting.scripts import quoted, script, slurm

TAKES = frozenset({"shards", "traces", "caches", "config", "trace_before", "drop_copies"})
NOTE = (
    "kernel-N counts the launches of a process and device from 1: ordinal + 1, which is id + 1 where the "
    "profile has one of each. The grammar of the list was run against Accel-Sim (73f9fac); the tracer's "
    "ranges are written from the tool's grammar, not run against it"
)

#: One string of the environment may have 128 KiB, with its name and a zero at the end.
MOST_RANGE_CHARACTERS = (128 << 10) - len("DYNAMIC_KERNEL_RANGE=") - 1
_BEYOND_ANY = 1_000_000

_README = """\
run.sh simulates the launches of {list}. Set GPGPUSIM_CONFIG and TRACE_CONFIG to the two configurations,
ACCELSIM to accel-sim.out, and TRACES to the folder of the traces where they lie elsewhere.
    GPGPUSIM_CONFIG=... TRACE_CONFIG=... sh run.sh
{caches}
The simulator's kernel_launch_uid counts the launches of its own run; which trace a result is of says the
line "Processing kernel" before it.

trace.sh PROGRAM [ARGUMENT...] records these launches alone, with the tracer in TRACER (tracer_tool.so), to
TRACES, else to traces/ here. POST_PROCESSING is post-traces-processing, which makes the traces ready.
A tracer that knows one range alone records all from the first to the last launch, and the script says so.
Newer tracers name traces kernel-N-ctx_0x....traceg: an export that is given the traces has their names.
{bridged}
list-kernels.sh PROGRAM [ARGUMENT...] records nothing and lists all launches in stats.csv. Compare its names
and sizes with manifest.csv before tracing: launches of a CUDA graph are numbered once, when the graph is
made, and older tracers miss those of cuLaunchKernelEx, so that the numbers may differ from the profile's.
"""

_FILLED = """\
The list is in the order of the program. Before each launch stand copies that fill L2 with {what};
the simulator must run with -gpgpu_perf_sim_memcpy 1, as its configurations do. Launches whose totals were
compared with the whole run came out within about 1 %.
{low}"""
_LOW = """\
The traces here have the low 32 bits of the program's addresses: the simulator keeps no more of a copy's.
"""
_NOT_FILLED = """\
The simulator runs the list in its order, which is not that of the program: a run that is stopped has
simulated what says most about the total. Memory copies of the program are {copies}; each stands before
the first launch after it. They fill the simulator's L2 where the program's addresses lie below 4 GiB; of
higher ones it keeps the low 32 bits, and they fill nothing.
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
printf '%s\\n' "$PWD/run.log"
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
    OptionError : there are more shards than launches.
    """
    if choices.caches is None:
        choices = replace(choices, caches=COLD if choices.traces is None else WARM)
    files: list[tuple[str, str | Iterable[bytes]]] = []
    parts = run_parts(plan, choices)
    is_low = False
    added = 0
    for part in parts:
        traces = traces_of(part, choices)
        filled, anew = _filled(part, traces, choices)
        is_low |= bool(anew)
        numbers = merged(
            number
            for step in part.steps
            for number in range(max(step.ordinal + 1 - choices.trace_before, 1), step.ordinal + 2)
        )
        ranges = bridged(numbers, MOST_RANGE_CHARACTERS)
        added += _held(ranges) - _held(numbers)
        names = {step.ordinal: trace_name(step.ordinal, traces).split(".")[0] for step in part.steps}
        files += [
            *_run_files(part, traces, choices, filled),
            *anew,
            (f"{part.folder}trace.sh", _trace_script(ranges)),
            (f"{part.folder}list-kernels.sh", _dry_run(max(_BEYOND_ANY, 100 * plan.launches))),
            manifest(part, names, choices.caches or COLD),
            *slurm(part),
        ]
    return (
        *files,
        readme(
            "Accel-Sim",
            NOTE,
            _text(choices, added, is_low=is_low),
            Handed(plan, parts, choices),
            uses_nvbit=True,
            may_be_cold=True,
        ),
    )


def _filled(
    part: Part, traces: TraceFolder | None, choices: ExportChoices
) -> tuple[dict[int, list[str]] | None, list[tuple[str, Iterable[bytes]]]]:
    """Return the copies that fill L2 before each launch of a part, and the traces that are written anew.

    Raises
    ------
    ProfileError : launches before a drawn one are not traced, a trace is damaged, or addresses fall together.
    """
    if traces is None or not choices.is_filled:
        return None, []
    drawn = sorted(step.ordinal + 1 for step in part.steps)
    is_own, folder = choices.caches == OWN, Path(traces.path)
    if not is_own:
        check_predecessors(traces.files, drawn, traces.path)
    lines = LARGEST_L2_LINES if choices.config is None else l2_lines(choices.config)
    wanted = sorted(number for number in traces.files if number <= drawn[-1])
    places = {
        number: existing_trace(folder, traces.files[number]) for number in (drawn if is_own else wanted)
    }
    filled, high = {}, []
    launches = _with_progress(list(places.items()), choices.progress)
    for number, copies, is_high in filling(launches, drawn, lines, own=is_own):
        filled[number] = copies
        high += [number] if is_high else []
    names = {number: trace_name(number - 1, traces) for number in (drawn if high else [])}
    return filled, [
        (f"{part.folder}{name}", with_low_addresses(places[number], packed=name.endswith(".xz")))
        for number, name in names.items()
    ]


def _with_progress(launches: list[tuple[int, Path]], progress: Progress | None) -> Iterator[tuple[int, Path]]:
    for done, launch in enumerate(launches):
        if progress is not None:
            progress(done, len(launches), "following what the launches leave in L2")
        yield launch


def _text(choices: ExportChoices, added: int, *, is_low: bool) -> str:
    """Return the target's own part of the page; ``added`` launches are traced for shorter ranges."""
    copies = "kept" if choices.traces is not None else "known only from traces, which were not given"
    what = "what the launch itself reads" if choices.caches == OWN else "what the launches before left there"
    caches = _FILLED.format(what=what, low=_LOW if is_low else "")
    if not choices.is_filled:
        caches = _NOT_FILLED.format(copies="dropped" if choices.drop_copies else copies)
    return _README.format(
        list=LIST if choices.shards == 1 else "kernelslist-N.g",
        caches=caches,
        bridged=f"So that the ranges fit in one variable, {added:,} launches more are recorded.\n"
        if added
        else "",
    )


def traces_of(part: Part, choices: ExportChoices) -> TraceFolder | None:
    """Return the traces of a part, checked; each of several has a folder of its own in the given one.

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
    return traces_for(str(folder), part.steps)


def traces_place(traces: TraceFolder | None) -> str:
    """Return where a script looks for the traces, as its shell reads it: beside itself if none are known."""
    return '"$here"' if traces is None else quoted(Path(traces.path).absolute())


def _run_files(
    part: Part,
    traces: TraceFolder | None,
    choices: ExportChoices,
    filled: Mapping[int, Sequence[str]] | None,
) -> list[tuple[str, str]]:
    """Return the list of each shard, and the script that simulates it."""
    files = []
    for number, shard in enumerate(part.shards):
        suffix = part.suffix(number)
        name = f"kernelslist{suffix}.g"
        body = _RUN.format(traces=traces_place(traces), list=name, suffix=suffix, link=LINK_TRACES)
        comment = [f"Simulates the {len(shard)} launches of {name}, in its order."]
        files += [
            (
                f"{part.folder}{name}",
                kernels_list(shard, traces, drop_copies=choices.drop_copies, filled=filled),
            ),
            (f"{part.folder}run{suffix}.sh", script(comment, body)),
        ]
    return files


def _trace_script(ranges: list[Range]) -> str:
    text = quoted(" ".join(map(range_text, ranges)))
    first, last = ranges[0][0], ranges[-1][1]
    body = _TRACE.format(start=_START.format(folder="traces"), go=_GO, ranges=text, first=first, last=last)
    comment = [f"Traces {_held(ranges)} launches: sh trace.sh PROGRAM [ARGUMENT...]"]
    return script(comment, body + _POST, takes_program=True)


def _dry_run(beyond: int) -> str:
    body = _LIST.format(start=_START.format(folder="kernels"), go=_GO, beyond=beyond)
    comment = [
        "Traces nothing, and lists all launches in stats.csv: sh list-kernels.sh PROGRAM [ARGUMENT...]"
    ]
    return script(comment, body, takes_program=True)


def _held(ranges: list[Range]) -> int:
    return sum(last - first + 1 for first, last in ranges)
