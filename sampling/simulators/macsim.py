"""MacSim: what its tracer records and its simulator runs, what it measured, and its list of launches.

**The plan.** The tracer reads ``SAMPLED_KERNEL_INFO``: two lines of text, then a line a stratum, ``SIZE COUNT
ID...``, up to the first empty line. The simulator reads ``kernel_config.txt``: ``nvbit``, the version of the
traces, ``-1``, then a path a kernel, of which the last two parts count, looked for beside the file. It takes
no comments, no carriage returns, and crashes on a path without ``./``. ``KernelN/trace.txt`` is the trace of
launch N, counted from 0.

**The list.** ``kernel_names.txt`` has two lines for every launch, traced or not: ``KernelN name: NAME`` and
``  Grid size: (x, y, z), Block size: (x, y, z), ...``.

**The results.** A kernel begins with ``setup_process:0 .../KernelN/trace.txt`` and ``thread_count:``, its
warps. Each warp that ends has a line with the cycle of the process in which it did: a kernel takes from the
last warp of the kernel before to its own last one, as MacSim's authors count (`figure12` of
gpu-trace-generate). Instructions are those of warps. Names and grids are not printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.readers.input_file import InputFile, open_input
from sampling.simulators import export
from sampling.simulators.export import ExportChoices, Exported, Exporter, Part, Shard, Step
from sampling.simulators.measured_run import (
    CYCLES,
    INSTRUCTIONS,
    LinesSoFar,
    MeasuredRun,
    SeenKernel,
    TraceList,
    columns_of,
    differs,
    dimensions_of,
    kernels_apart,
)
from sampling.text import counted

_TRACE_VERSION = 14
_HEAD = f"nvbit\n{_TRACE_VERSION}\n-1\n"

_README = """\
run.sh simulates the kernels of {config}. Set MACSIM to the simulator, PARAMS to its params.in, and
TRACES to the folder with Kernel0, Kernel1, ... where it lies elsewhere.
    MACSIM=... PARAMS=... sh run.sh
The simulator runs the kernels in the order of the file, which is not that of the program: a run that is
stopped has simulated what says most about the total. The cycles that it prints go on from kernel to kernel.

trace.sh PROGRAM [ARGUMENT...] records these launches alone, with the tracer in TRACER (main.so) and, where
it wants one, COMPRESSOR_PATH, to TRACES, else to traces/ here. kernel_names.txt there lists all launches:
compare its names and sizes with manifest.csv. Older tracers miss launches of cuLaunchKernelEx, and all miss
cooperative ones and those of CUDA graphs, so that the numbers may differ from the profile's.
sampled_kernels_info.txt has a line a stratum: its size, how many of it are drawn, and which. Warm-ups stand
in a line of size 0.
"""

_RUN = """\
traces=${{TRACES:-{traces}}}
traces=$(absolute "$traces")
config=$here/{config}
simulator=${{MACSIM:?set it to the simulator}}
case $simulator in */*) simulator=$(absolute "$simulator") ;; esac
params=$(absolute "${{PARAMS:?set it to the params.in to simulate}}")
mkdir -p -- "$here/run{suffix}"
cd -- "$here/run{suffix}"
while IFS= read -r line; do
  case $line in ./*/trace.txt) ;; *) continue ;; esac
  name=${{line#./}}
  name=${{name%/trace.txt}}
  if [ -e "$name/trace.txt" ]; then continue; fi
  if [ ! -e "$traces/$name/trace.txt" ]; then
    fail "$name is not in $traces; set TRACES to the folder of the traces"
  fi
  ln -s -- "$traces/$name" "$name"
done < "$config"
cp -- "$config" kernel_config.txt
cp -- "$params" params.in
printf '1\\n%s\\n' ./kernel_config.txt > trace_file_list
"$simulator" > run.log 2>&1 || fail "the simulator failed; see $PWD/run.log"
"""

_TRACE = """\
tracer=$(absolute "${TRACER:?set it to the main.so of Macsim_tracer}")
traces=$(absolute "${TRACES:-$here/traces}")
case $here$traces in *[[:space:]]*) fail "the tracer takes no path with a blank" ;; esac
mkdir -p -- "$traces"
export SAMPLED_KERNEL_INFO="$here/sampled_kernels_info.txt" TRACE_PATH="$traces"
CUDA_INJECTION64_PATH=$tracer "$@"
printf '%s\\n' "$traces"
"""
_NAMES = "kernel_names.txt"
_TRACE_REMEDY = "trace the program that was profiled, with the script that an export without traces writes"


def _export(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return what the tracer and the simulator read of each process and device, scripts and manifest."""
    choices = choices.without_filling("MacSim")
    files: list[tuple[str, str]] = []
    parts = export.run_parts(plan, choices)
    for part in parts:
        where = '"$here"'
        if choices.traces is not None:
            folder = Path(choices.traces) / part.folder
            check_traces(str(folder), part.steps)
            where = export.quoted(folder.absolute())
        for suffix, shard in part.files():
            name = f"kernel_config{suffix}.txt"
            comment = f"Simulates the {len(shard)} kernels of {name}, in its order."
            body = _RUN.format(traces=where, config=name, suffix=suffix)
            files += [
                (f"{part.folder}{name}", kernel_config(shard)),
                (f"{part.folder}run{suffix}.sh", export.script(comment, body + export.then_estimate(part))),
            ]
        names = {step.ordinal: f"Kernel{step.ordinal}" for step in part.steps}
        comment = f"Traces {len(names)} launches: sh trace.sh PROGRAM [ARGUMENT...]"
        files += [
            (f"{part.folder}sampled_kernels_info.txt", sampled_kernels_info(plan, part)),
            (f"{part.folder}trace.sh", export.script(comment, _TRACE, takes_program=True)),
            export.manifest(part, names, choices.caches or ""),
            *export.slurm(part),
        ]
    config = "kernel_config.txt" if all(len(part.shards) == 1 for part in parts) else "kernel_config-N.txt"
    text, note = _README.format(config=config), EXPORTER.note
    page = export.readme("MacSim", note, text, plan, parts, choices, uses_nvbit=True, is_estimated=True)
    return (*files, page)


EXPORTER = Exporter(
    "KernelN counts the launches of a process, which has one device, from 0: N is the ordinal, which is the "
    "id where the profile has one process. run.sh and kernel_config.txt were run against MacSim "
    "(63a7d8b); sampled_kernels_info.txt is written from the tool's grammar, not run against it",
    frozenset({"shards", "apart", "traces", "caches", "cold_check"}),
    _export,
)


def kernel_config(shard: Shard) -> str:
    """Return the kernels that the simulator runs, in its grammar."""
    return _HEAD + "".join(f"./Kernel{step.ordinal}/trace.txt\n" for step in shard)


def sampled_kernels_info(plan: PlanFile, part: Part) -> str:
    """Return the launches that the tracer records, in its grammar: a line a stratum with its size."""
    # What is checked is recorded once, and may run before another that is.
    steps = {step.ordinal: step for step in sorted(part.steps, key=lambda each: each.launch is not None)}
    drawn = sum(step.launch is not None for step in steps.values())
    # What runs for the caches alone, of no stratum, stands last.
    sizes = [*(stratum.size for stratum in plan.strata), 0]
    numbers: list[list[int]] = [[] for _ in sizes]
    for _, step in sorted(steps.items()):
        numbers[-1 if step.stratum is None else step.stratum].append(step.ordinal)
    lines = [
        f"KernelPoint: {drawn} drawn launches of process {part.process}, device {part.device}.",
        f"Method {plan.options.method}, epsilon {plan.options.epsilon}.",
        *(
            " ".join(map(str, (size, len(each), *each)))
            for size, each in zip(sizes, numbers, strict=True)
            if each
        ),
    ]
    return "\n".join(lines) + "\n"


def check_traces(path: str, steps: Sequence[Step]) -> None:
    """Check that each launch has a trace, and one of the same kernel, grid and block; else ProfileError."""
    folder = Path(path)
    if not folder.is_dir():
        raise ProfileError("no folder of traces is there", path=path, remedy="give the folder of Kernel0")
    missing = [step for step in steps if not (folder / f"Kernel{step.ordinal}" / "trace.txt").is_file()]
    if missing:
        raise ProfileError(
            f"launch {missing[0].id} would be Kernel{missing[0].ordinal}/trace.txt, which is not there; "
            f"so for {counted(len(missing), 'launch', 'launches')} in all",
            path=path,
            remedy=_TRACE_REMEDY,
        )
    if not (folder / _NAMES).is_file():
        return
    with open_input(str(folder / _NAMES)) as file:
        listed = dict(_listed(file))
    for step in sorted(steps, key=lambda each: each.ordinal):
        if (launch := step.launch) is None:
            continue
        seen = listed.get(step.ordinal)
        if listed and (seen is None or differs(launch, seen)):
            wrong = f"does not list Kernel{step.ordinal}"
            if seen is not None:
                planned, there = kernels_apart(launch, seen)
                wrong = f"launch {step.id} is {planned} in the plan, and Kernel{step.ordinal} is {there}"
            raise ProfileError(wrong, path=folder / _NAMES, remedy=_TRACE_REMEDY)


_LISTED = re.compile(
    rb"^Kernel(?P<number>\d{1,18}) name: *(?P<name>[^\r\n]*)|"
    rb"^\s*Grid size: *(?P<grid>\([\d, ]*\)), *Block size: *(?P<block>\([\d, ]*\))",
    re.MULTILINE,
)


def recognises_list(head: bytes) -> bool:
    """Return whether a file that starts like this names kernels as the tracer does."""
    found = _LISTED.search(head)
    return found is not None and found["number"] is not None


def read_list(file: InputFile) -> TraceList:
    """Return the launches in the list's order; the last may lack its grid where the tracer was killed."""
    listed = _listed(file)
    if not listed:
        remedy = "give the kernel_names.txt that the tracer wrote beside the traces"
        raise ProfileError("lists no launch", path=file.path, remedy=remedy)
    return TraceList.of(file.path, 0, listed)


def _listed(file: InputFile) -> list[tuple[int, SeenKernel]]:
    listed: list[tuple[int, SeenKernel]] = []
    for text in LinesSoFar(file):
        for found in _LISTED.finditer(text):
            if found["number"] is not None:
                name = found["name"].strip().decode("utf-8", "replace")
                listed.append((int(found["number"]), SeenKernel(name)))
            elif listed:
                number, kernel = listed[-1]
                grid, block = (dimensions_of(found[each].decode()) for each in ("grid", "block"))
                listed[-1] = (number, SeenKernel(kernel.name, grid, block))
    return listed


_LINE = re.compile(
    rb"setup_process:(?P<process>\d+) +(?P<path>[^\r\n]*?) +current_index:|"
    rb"thread_count: *(?P<warps>\d{1,18})(?!\d)|"
    rb"\n\*\*Core +\d+ +Thread +\d+ +Finished: +insts:(?P<insts>\d{1,18}) +cycles:(?P<cycles>\d{1,18})(?!\d)"
)
_NUMBER = re.compile(rb".*Kernel(\d{1,18})(?:/[^/]*)?$")
_SIGNS = re.compile(
    rb"^(src/(macsim|process_manager|retire)\.cc:|Arguments: \S*macsim|"
    rb"\*\*Core +\d+ +Thread +\d+ +Finished:)",
    re.MULTILINE,
)
_STAT_FILE = re.compile(rb"^(INST_COUNT_TOT|CYC_COUNT_TOT)\s", re.MULTILINE)
_KNOWN = (CYCLES, INSTRUCTIONS)
_REMEDY = "give what MacSim printed on its standard output"


@dataclass(slots=True)
class _Kernel:
    """A kernel while its lines are read; the last cycle is of the process, as its last warp ended."""

    number: int
    warps: int | None = None
    ended: int = 0
    instructions: int = 0
    last_cycle: int = 0


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts like this is MacSim's output, or its file of totals."""
    return _SIGNS.search(head) is not None or _STAT_FILE.search(head) is not None


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what an output says of each launch: cycles, instructions of warps.

    Raises OptionError: another metric is asked for; ProfileError: no kernel is printed; the file has totals
    of the whole run alone; several programs ran at once; a trace's path says not which launch it is of.
    """
    names = tuple(metrics) or _KNOWN
    for name in names:
        if name not in _KNOWN:
            raise OptionError(
                f"there is no {name}: MacSim prints {' and '.join(_KNOWN)} of each launch",
                remedy="ask for these, or for others as a CSV of your own",
            )
    kernels = _kernels(file)
    rows: list[list[int | None]] = []
    missing: dict[int, str] = {}
    before: int | None = 0
    for place, kernel in enumerate(kernels):
        is_whole = kernel.warps is not None and kernel.ended >= kernel.warps
        if not is_whole:
            of = "some" if kernel.warps is None else f"{kernel.ended:,} of its {kernel.warps:,}"
            missing[place] = f"{of} warps have ended: the run goes on, or was killed"
        elif before is None:
            missing[place] = "the kernel before it is not whole, so that its start is not known"
        took = {CYCLES: kernel.last_cycle - (before or 0), INSTRUCTIONS: kernel.instructions}
        rows.append([None if place in missing else took[name] for name in names])
        before = kernel.last_cycle if kernel.ended and is_whole else None
    return MeasuredRun(
        path=file.path,
        number=np.array([kernel.number for kernel in kernels], dtype=np.int64),
        first_number=0,
        metrics=columns_of(names, rows),
        kernels=tuple(SeenKernel(warps=kernel.warps) for kernel in kernels),
        missing=missing,
    )


def _kernels(file: InputFile) -> list[_Kernel]:
    """Return the kernels in the order in which they ran."""
    kernels: list[_Kernel] = []
    wrong, remedy = "", _REMEDY
    for text in LinesSoFar(file):
        for found in _LINE.finditer(b"\n" + text):
            if found["process"] is not None:
                number = _NUMBER.match(found["path"])
                if int(found["process"]) != 0:
                    wrong = "several programs ran at once, so that no count is of one kernel alone"
                    remedy = "simulate one program at a time"
                elif number is None:
                    wrong = f"{found['path'].decode('utf-8', 'replace')!r} is no trace of a folder KernelN"
                    remedy = "keep the tracer's names of folders"
                else:
                    kernels.append(_Kernel(int(number[1])))
            elif not kernels:
                wrong = "its beginning is missing: which kernel ran first is not known"
            elif found["warps"] is not None:
                kernels[-1].warps = int(found["warps"])
            else:
                kernels[-1].ended += 1
                kernels[-1].instructions += int(found["insts"])
                kernels[-1].last_cycle = max(kernels[-1].last_cycle, int(found["cycles"]))
            if wrong:
                raise ProfileError(wrong, path=file.path, remedy=remedy)
    if not kernels:
        has_totals = _STAT_FILE.search(file.head) is not None
        wrong = "has totals of the whole run alone" if has_totals else "no kernel is printed there"
        raise ProfileError(wrong, path=file.path, remedy=_REMEDY)
    return kernels
