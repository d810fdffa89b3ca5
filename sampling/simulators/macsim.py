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
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.readers.accel_sim_traces import find_trace_folder
from sampling.readers.input_file import InputFile, open_input
from sampling.simulators.export import Part, Step
from sampling.simulators.exporter import Handover, export_parts, script
from sampling.simulators.measured_run import (
    CYCLES,
    INSTRUCTIONS,
    LinesSoFar,
    MeasuredRun,
    SeenKernel,
    TraceList,
    parse_dimensions,
    refuse_other,
)
from sampling.simulators.simulator import Exporter, ResultsReader, RunRules, Simulator, TraceListReader
from sampling.text import counted

_HEAD = "nvbit\n14\n-1\n"
_NAMES = "kernel_names.txt"
_TRACE_REMEDY = "trace the program that was profiled, with the script that an export without traces writes"


def _write(to: Handover) -> None:
    """Hand over what the tracer and the simulator read, and scripts."""
    folder = None
    if to.choices.traces is not None:
        folder = find_trace_folder(to.choices.traces, _NAMES) / to.part.folder
        _check_traces(folder, to.part.steps)
    for suffix, shard in to.part.files():
        name = f"kernel_config{suffix}.txt"
        comment = f"Simulates the {len(shard)} kernels of {name}, in its order."
        to.files[name] = _HEAD + "".join(f"./Kernel{step.ordinal}/trace.txt\n" for step in shard)
        to.files[f"run{suffix}.sh"] = to.run_script(
            "macsim/run.sh", comment, folder, config=name, suffix=suffix
        )
    to.called |= {step.ordinal: f"Kernel{step.ordinal}" for step in to.part.steps}
    to.files["sampled_kernels_info.txt"] = _sampled_kernels_info(to.plan, to.part)
    comment = f"Traces {len(to.called)} launches: sh trace.sh PROGRAM [ARGUMENT...]"
    to.files["trace.sh"] = script("macsim/trace.sh", comment, takes_program=True)


def _find_inputs(
    config: Path, traces: Path, folder: Path, _: Sequence[str], paths_from: Path
) -> Mapping[Path, Path | str]:
    """Return the traces that a list names, and the configuration: it looks for all where it runs."""
    text = config.read_text(encoding="utf-8")
    names = dict.fromkeys(re.findall(r"\./(Kernel\d+)/trace\.txt", text))
    return {
        folder / "kernel_config.txt": text,
        folder / "trace_file_list": "1\n./kernel_config.txt\n",
        **{folder / name: traces / name for name in names},
        folder / "params.in": (paths_from / "params.in").absolute(),
    }


def _sampled_kernels_info(plan: PlanFile, part: Part) -> str:
    """Return the launches that the tracer records, in its grammar: a line a stratum with its size."""
    # What is checked is recorded once, and may run before another that is.
    steps = {step.ordinal: step for step in sorted(part.steps, key=lambda step: step.launch is not None)}
    drawn_count = sum(step.launch is not None for step in steps.values())
    # What runs for the caches alone, of no stratum, stands last.
    sizes = [*(stratum.size for stratum in plan.strata), 0]
    numbers: list[list[int]] = [[] for _ in sizes]
    for _, step in sorted(steps.items()):
        numbers[-1 if step.stratum is None else step.stratum].append(step.ordinal)
    lines = [
        f"KernelPoint: {drawn_count} drawn launches of process {part.process}, device {part.device}.",
        f"Method {plan.options.method}, epsilon {plan.options.epsilon}.",
    ]
    for size, ordinals in zip(sizes, numbers, strict=True):
        if ordinals:
            lines.append(" ".join(map(str, (size, len(ordinals), *ordinals))))
    return "\n".join(lines) + "\n"


def _check_traces(folder: Path, steps: Sequence[Step]) -> None:
    """Raise ProfileError where a launch has no trace, or one of another kernel, grid or block."""
    missing = [step for step in steps if not (folder / f"Kernel{step.ordinal}" / "trace.txt").is_file()]
    if missing:
        raise ProfileError(
            f"launch {missing[0].id} would be Kernel{missing[0].ordinal}/trace.txt, which is not there; "
            f"so for {counted(len(missing), 'launch', 'launches')} in all",
            path=folder,
            remedy=_TRACE_REMEDY,
        )
    if not (folder / _NAMES).is_file():
        return
    with open_input(str(folder / _NAMES)) as file:
        listed = dict(_listed(file))
    for step in sorted(steps, key=lambda step: step.ordinal):
        if step.launch is not None and listed:
            called, path = f"Kernel{step.ordinal}", str(folder / _NAMES)
            if step.ordinal not in listed:
                raise ProfileError(f"does not list {called}", path=path, remedy=_TRACE_REMEDY)
            refuse_other(step.launch, listed[step.ordinal], called, path, _TRACE_REMEDY)


_LISTED = re.compile(
    rb"^Kernel(?P<number>\d{1,18}) name: *(?P<name>[^\r\n]*)|"
    rb"^[ \t]*Grid size: *(?P<grid>\([\d, ]*\)), *Block size: *(?P<block>\([\d, ]*\))",
    re.MULTILINE,
)


def recognises_list(head: bytes) -> bool:
    """Return whether a file that starts like this names kernels as the tracer does."""
    match = _LISTED.search(head)
    return match is not None and match["number"] is not None


def read_list(file: InputFile) -> TraceList:
    """Return the launches in the list's order; the last may lack its grid where the tracer was killed."""
    return TraceList.from_rows(file.path, 0, _listed(file))


def _listed(file: InputFile) -> list[tuple[int, SeenKernel]]:
    listed: list[tuple[int, SeenKernel]] = []
    for text in LinesSoFar(file):
        for match in _LISTED.finditer(text):
            if match["number"] is not None:
                name = match["name"].strip().decode("utf-8", "replace")
                listed.append((int(match["number"]), SeenKernel(name)))
            elif listed:
                number, kernel = listed[-1]
                grid, block = (parse_dimensions(match[group].decode()) for group in ("grid", "block"))
                listed[-1] = (number, SeenKernel(kernel.name, grid, block))
    return listed


# Of two kinds of lines most begin with where in MacSim's source they are printed.
_LINE = re.compile(
    rb"\n(?:[^\s:]*:\d+:[ \t]*\([^()\r\n]*\):[ \t]*)?(?:"
    rb"setup_process:(?P<process>\d+)[ \t]++(?P<path>[^\r\n]*)[ \t]current_index:|"
    rb"thread_count: *(?P<warps>\d{1,18})[ \t]*+(?=[\r\n]))|"
    rb"\n\*\*Core +\d+ +Thread +\d+ +Finished: +insts:(?P<insts>\d{1,18}) +cycles:(?P<cycles>\d{1,18})(?!\d)"
)
_NUMBER = re.compile(rb".*Kernel(\d{1,18})(?:/[^/]*)?$")
_SIGNS = re.compile(
    rb"^(src/(macsim|process_manager|retire)\.cc:|Arguments: \S*macsim|(INST_COUNT_TOT|CYC_COUNT_TOT)\s|"
    rb"\*\*Core +\d+ +Thread +\d+ +Finished:)",
    re.MULTILINE,
)
_KNOWN, _UNKNOWN = (CYCLES, INSTRUCTIONS), -1


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts like this is MacSim's output, or its file of totals."""
    return _SIGNS.search(head) is not None


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what an output says of each launch: cycles, instructions of warps.

    Raises OptionError: another metric is asked for; ProfileError: no kernel is printed, as in the file of
    totals; several programs ran at once; a trace's path says not which launch it is of.
    """
    if unknown := [name for name in metrics if name not in _KNOWN]:
        raise OptionError(
            f"there is no {unknown[0]}: MacSim prints {' and '.join(_KNOWN)} of each launch",
            remedy="ask for these, or for others as a CSV of your own",
        )
    kernels = _kernels(file)
    number, warps, ended_warps, instructions, last = np.array(kernels, dtype=np.int64).T
    is_whole = (warps != _UNKNOWN) & (ended_warps >= warps)
    # A kernel begins where the one before it ends.
    has_start = np.append(True, (is_whole & (ended_warps > 0))[:-1])
    took = {CYCLES: np.diff(last, prepend=0), INSTRUCTIONS: instructions}
    missing = {}
    for place in np.flatnonzero(~(is_whole & has_start)).tolist():
        missing[place] = "the kernel before it is not whole, so that its start is not known"
        if not is_whole[place]:
            share = "some" if warps[place] == _UNKNOWN else f"{ended_warps[place]:,} of its {warps[place]:,}"
            missing[place] = f"{share} warps have ended: the run goes on, or was killed"
    return MeasuredRun(
        path=file.path,
        number=number,
        first_number=0,
        metrics={name: np.where(is_whole & has_start, took[name], np.nan) for name in _KNOWN},
        kernels=tuple(SeenKernel(warps=None if count == _UNKNOWN else count) for count in warps.tolist()),
        missing=missing,
    )


def _kernels(file: InputFile) -> list[list[int]]:
    """Return each kernel's number, warps, how many ended, their instructions, and when the last one did."""

    def refused(wrong: str) -> ProfileError:
        remedy = "give what MacSim printed on its standard output of one program"
        return ProfileError(wrong, path=file.path, remedy=remedy)

    kernels: list[list[int]] = []
    for text in LinesSoFar(file):
        for match in _LINE.finditer(b"\n" + text):
            if match["process"] is not None:
                number = _NUMBER.match(match["path"].strip())
                if int(match["process"]) or number is None:
                    raise refused("several programs ran at once, or a trace is not of a folder KernelN")
                kernels.append([int(number[1]), _UNKNOWN, 0, 0, 0])
            elif not kernels:
                raise refused("its beginning is missing: which kernel ran first is not known")
            elif match["warps"] is not None:
                kernels[-1][1] = int(match["warps"])
            else:
                kernels[-1][2] += 1
                kernels[-1][3] += int(match["insts"])
                kernels[-1][4] = max(kernels[-1][4], int(match["cycles"]))
    if not kernels:
        raise refused("no kernel is printed there")
    return kernels


SIMULATOR = Simulator(
    name="macsim",
    title="MacSim",
    exporter=Exporter(
        note="KernelN counts the launches of a process, which has one device, from 0: N is the ordinal, "
        "which is the id where the profile has one process. run.sh and kernel_config.txt were run against "
        "MacSim (63a7d8b); sampled_kernels_info.txt is written from the tool's grammar, not run against it",
        takes=frozenset({"shards", "apart", "traces", "caches", "cold_check"}),
        export=partial(export_parts, write=_write),
        uses_nvbit=True,
    ),
    results=ResultsReader(recognises_results, read_results),
    trace_list=TraceListReader((_NAMES,), recognises_list, read_list, form="kernel_names.txt of MacSim's"),
    run=RunRules(placeholder="", example="macsim", list_name="kernel_config{}.txt", find_inputs=_find_inputs),
)
