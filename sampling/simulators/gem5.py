"""gem5's GPU model with a full system: which kernels of a program it simulates, and its statistics.

Written from its sources (24.0.0.1, b1a44b89; develop c91af552), not run against them. Counted from 0, without
those by which the driver copies, ``--skip-until-gpu-kernel N`` executes no kernel before N, and
``--exit-after-gpu-kernel N`` ends behind it (pull request 940). gem5 23 had ``--debug-at-gpu-kernel`` and
``--exit-at-gpu-kernel``, now ``...-gpu-task``, which choose nothing: the first turns on debug flags, all
before is simulated, and both count copies too.

``stats.txt`` has a block a dump, in which ``shaderActiveTicks`` are those when any compute unit was at work.
gem5 dumps at its end alone, copies included; the export's script dumps and resets after each kernel.
``config.ini`` beside it says from which kernel on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.readers.input_file import InputFile
from sampling.simulators.export import merged
from sampling.simulators.exporter import Handover, export_parts, script, template
from sampling.simulators.measured_run import CYCLES, INSTRUCTIONS, LinesSoFar, MeasuredRun, metric_columns
from sampling.simulators.simulator import Exporter, ResultsReader, Simulator

_SIGN = re.compile(rb"^-+ Begin Simulation Statistics -+", re.MULTILINE)
_TICKS, _CLOCK = b"shaderActiveTicks", b"clk_domain.clock"
_LINE = re.compile(
    rb"^(?:-+ (Begin) Simulation|(?:(\S+)\.)?(shaderActiveTicks|numKernelLaunched|numInstrExecuted|simTicks|"
    rb"finalTick|simFreq|clk_domain\.clock)[ \t]+(\d{1,18})(?=\s))",
    re.MULTILINE,
)
_REMEDY = "give the stats.txt that the export's run.sh leaves, in the folder that gem5 wrote"


def _write(to: Handover) -> None:
    """Hand over a run of gem5 for each range of kernels, and the script that dumps after each kernel."""
    for suffix, shard in to.part.files():
        ranges = merged(step.ordinal for step in shard)
        comment = f"Simulates {len(shard)} kernels in {len(ranges)} runs: sh run{suffix}.sh CONFIG.py [...]"
        runs = "".join(f'simulate {first} {last} "$@"\n' for first, last in ranges)
        to.files[f"run{suffix}.sh"] = script("gem5/run.sh", comment, takes_program=True, runs=runs)
    to.files["dump-kernels.py"] = template("gem5/dump-kernels.txt")
    to.called |= {step.ordinal: step.ordinal for step in to.part.steps}


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return cycles and instructions of each kernel, which has a dump.

    Raises OptionError: another metric is asked for; ProfileError: a dump is of several kernels, or not reset
    before; there is none of a kernel; the number of the first is not known.
    """
    if unknown := [name for name in metrics if name not in {CYCLES, INSTRUCTIONS}]:
        raise OptionError(f"there is no {unknown[0]}: of gem5's statistics cycles and instructions are read")
    config = file.location.parent / "config.ini"
    text = config.read_text(encoding="utf-8", errors="replace") if config.is_file() else ""
    first = re.search(r"^target_non_blit_kernel_id=(\d{1,18})\s*$", text, re.MULTILINE)
    if first is None or re.search(r"^full_system=true\s*$", text, re.MULTILINE) is None:
        message = "no config.ini of a full system lies beside it, which says from which kernel on it counts"
        raise ProfileError(message, path=file.path, remedy=_REMEDY)
    dumps, shader = list[Counter[str]](), ""
    for piece in LinesSoFar(file):
        for begins, owner, name, value in _LINE.findall(piece):
            if begins:
                dumps.append(Counter())
            elif dumps:
                shader = owner.decode() if name == _TICKS else shader
                # Of the clocks each is kept, and the instructions of all compute units are added.
                dumps[-1][f"{owner.decode()}.clock" if name == _CLOCK else name.decode()] += int(value)
    kernels = [dump for dump in dumps if dump["shaderActiveTicks"]]
    period = kernels[0][f"{shader}.clock"] or kernels[0]["system.clock"] if kernels else 0
    goes_on = any(dump["simTicks"] > dump["finalTick"] - last["finalTick"] for last, dump in pairwise(dumps))
    if not period or goes_on or any(dump["numKernelLaunched"] > 1 for dump in kernels):
        several = "a dump is of several kernels, copies among them, or goes on from the one before"
        raise ProfileError(several if period else "has no dump of a kernel", path=file.path, remedy=_REMEDY)
    rows = [(dump["shaderActiveTicks"] / period, dump["numInstrExecuted"]) for dump in kernels]
    values = metric_columns((CYCLES, INSTRUCTIONS), rows)
    clock_hz = kernels[0]["simFreq"] / period
    return MeasuredRun(file.path, int(first[1]) + np.arange(len(kernels)), 0, values, clock_hz=clock_hz)


SIMULATOR = Simulator(
    name="gem5",
    title="gem5",
    exporter=Exporter(
        note="kernels count from 0, without the driver's copies: the ordinal, where the profile has none of "
        "these; written from gem5's sources, not run against them",
        takes=frozenset({"shards"}),
        export=partial(export_parts, write=_write),
        runs_program=True,
        logs="results/*/stats.txt",
    ),
    results=ResultsReader(lambda head: _SIGN.search(head) is not None, read_results),
)
