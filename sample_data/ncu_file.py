"""Writers of the pages that Nsight Compute prints as CSV.

The raw page has one row a launch and one column a metric, the details page one row a metric of a launch.
"""

from __future__ import annotations

import csv
import gzip
import io
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path

from machine_code import Executed
from nsys_files import SYNTHETIC
from workload import Launch, Recording

_PROCESS = 7117
#: Nsight Compute runs the GPU at its base clock.
_BASE_CLOCK_GHZ = 1.245
#: Standard deviation of the cycles that one launch takes again and again.
_NOISE = 0.004
_COLUMNS = (
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"),
    *("Block Size", "Grid Size", "Device", "CC"),
)


def _counted(kind: str) -> Callable[[Executed], int]:
    return lambda launch: launch.instructions(kind)


def _loaded(launch: Executed) -> int:
    return launch.instructions("global_loads") * launch.code.sectors_per_load


def _stored(launch: Executed) -> int:
    return launch.instructions("global_stores") * launch.code.sectors_per_store


def _loaded_locally(launch: Executed) -> int:
    return launch.instructions("local_loads") * 4


#: Metrics that are counts, in the order of their names, each with its unit.
_COUNTS: Mapping[str, tuple[str, Callable[[Executed], int]]] = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("sector", _loaded),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("sector", _stored),
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum": ("sector", _loaded_locally),
    "smsp__inst_executed.sum": ("inst", _counted("instructions")),
    "smsp__inst_executed_op_global_ld.sum": ("inst", _counted("global_loads")),
    "smsp__inst_executed_op_global_st.sum": ("inst", _counted("global_stores")),
    "smsp__inst_executed_op_local_ld.sum": ("inst", _counted("local_loads")),
    "smsp__inst_executed_op_shared_ld.sum": ("inst", _counted("shared_loads")),
    "smsp__inst_executed_op_shared_st.sum": ("inst", _counted("shared_stores")),
    "smsp__sass_inst_executed_op_global_atom.sum": ("inst", _counted("global_atomics")),
}
_CYCLES, _GRID, _RATIO = (
    "gpc__cycles_elapsed.avg",
    "launch__grid_size",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
)
_DETAILS_COLUMNS = (
    *_COLUMNS,
    *("Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type"),
    *("Rule Description", "Estimated Speedup Type", "Estimated Speedup"),
)
#: Of the GPU that is made up: lanes that multiply and add, bytes that memory moves a cycle, and its clock.
_LANES, _MEMORY_BYTES, _MEMORY_CLOCK_GHZ = 5120, 1024, 0.877
_MULTIPLY_ADDS = 0.7
_FFMA = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"
_ROOFLINE = {
    "gpu__time_duration.sum": "ns",
    _FFMA: "inst",
    f"{_FFMA}.peak_sustained": "inst/cycle",
    "sm__cycles_elapsed.avg.per_second": "cycle/second",
    "dram__bytes.sum": "byte",
    "dram__bytes.sum.peak_sustained": "byte/cycle",
    "dram__cycles_elapsed.avg.per_second": "cycle/second",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "%",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": "%",
}
_METRICS = {_CYCLES: "cycle", **{name: unit for name, (unit, _) in _COUNTS.items()}, _GRID: "", _RATIO: ""}


def write_ncu_raw(recording: Recording, executed: Sequence[Executed], path: Path, seed: int) -> None:
    """Write the page of another run of the recorded program: cycles follow the durations, but for noise."""
    _write_raw(_METRICS, _rows(recording.launches, executed, seed), path)


def _write_raw(units: Mapping[str, str], rows: Iterable[Sequence[object]], path: Path) -> None:
    text = _opening()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow((*_COLUMNS, *sorted(units)))
    writer.writerow(("",) * len(_COLUMNS) + tuple(units[name] for name in sorted(units)))
    writer.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))


def _rows(launches: Sequence[Launch], executed: Sequence[Executed], seed: int) -> Iterator[Sequence[object]]:
    draw = random.Random(seed).random
    for number, (launch, counted) in enumerate(zip(launches, executed, strict=True)):
        cells = {name: f"{count(counted)}.000000" for name, (_, count) in _COUNTS.items()}
        cells[_CYCLES] = f"{_cycles(launch, draw() + draw() + draw() + draw() - 2.0)}.000000"
        cells[_GRID] = str(prod(launch.grid))
        cells[_RATIO] = f"{counted.threads_per_instruction:.2f}"
        yield (*_identity(number, launch), *(cells[name] for name in sorted(_METRICS)))


def write_ncu_roofline(recording: Recording, executed: Sequence[Executed], path: Path, seed: int) -> None:
    """Write the raw page of one more run, with what a roofline takes: time, operations, bytes, peaks, shares.

    Seven of ten instructions of a loop that move no data are taken to multiply and add, and a third of what
    is loaded to come from device memory, where all that is stored goes.
    """
    draw = random.Random(seed).random

    def rows() -> Iterator[Sequence[object]]:
        for number, (launch, counted) in enumerate(zip(recording.launches, executed, strict=True)):
            time_ns = _cycles(launch, draw() + draw() + draw() + draw() - 2.0) / _BASE_CLOCK_GHZ
            most_bytes = _MEMORY_BYTES * _MEMORY_CLOCK_GHZ * time_ns
            moved = min(32 * (_loaded(counted) / 3 + _stored(counted)), 0.92 * most_bytes)
            fused = _MULTIPLY_ADDS * counted.arithmetic()
            cells = {
                "gpu__time_duration.sum": f"{time_ns:.0f}",
                _FFMA: f"{fused:.0f}",
                f"{_FFMA}.peak_sustained": str(_LANES),
                "sm__cycles_elapsed.avg.per_second": f"{1e9 * _BASE_CLOCK_GHZ:.0f}",
                "dram__bytes.sum": f"{moved:.0f}",
                "dram__bytes.sum.peak_sustained": str(_MEMORY_BYTES),
                "dram__cycles_elapsed.avg.per_second": f"{1e9 * _MEMORY_CLOCK_GHZ:.0f}",
                "sm__throughput.avg.pct_of_peak_sustained_elapsed": (
                    f"{100 * fused / (_LANES * _BASE_CLOCK_GHZ * time_ns):.2f}"
                ),
                "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": (
                    f"{100 * moved / most_bytes:.2f}"
                ),
            }
            yield (*_identity(number, launch), *(cells[name] for name in sorted(_ROOFLINE)))

    _write_raw(_ROOFLINE, rows(), path)


def _opening() -> io.StringIO:
    """Return what is printed above both pages."""
    text = io.StringIO()
    text.write(f"{SYNTHETIC}\n==PROF== Connected to process {_PROCESS} (synthetic-resnet50)\n")
    text.write(f"==PROF== Disconnected from process {_PROCESS}\n")
    return text


def _identity(number: int, launch: Launch) -> Sequence[object]:
    """Return the cells that say which launch a row is of."""
    name = as_ncu_spells(launch.kernel.name)
    place = (number, _PROCESS, "synthetic-resnet50", "127.0.0.1", name, 1, 7)
    return (*place, _sizes(launch.kernel.block), _sizes(launch.grid), 0, "7.0")


def write_ncu_details(recording: Recording, executed: Sequence[Executed], path: Path, seed: int) -> None:
    """Write the details page of the run whose raw page `write_ncu_raw` writes with the same seed.

    Metric rows end in a comma, numbers have commas between thousands, durations are in the unit that suits
    them, and each launch has the row of a rule.
    """
    text = _opening()
    _write_quoted(text, _DETAILS_COLUMNS)
    draw = random.Random(seed).random
    for number, (launch, counted) in enumerate(zip(recording.launches, executed, strict=True)):
        identity = _identity(number, launch)
        for cells in _details(launch, counted, draw() + draw() + draw() + draw() - 2.0):
            _write_quoted(text, (*identity, *cells), end=",\n")
        rule = ("SpeedOfLight", "", "", "", "SOLBottleneck", "OPT", "Low use of units, by 31,87 %", "", "")
        _write_quoted(text, (*identity, *rule))
    path.write_text(text.getvalue())


def _details(launch: Launch, executed: Executed, deviation: float) -> Iterator[tuple[str, str, str, str]]:
    """Yield section, name, unit and value of the metrics of a launch."""
    duration_ns = launch.times.duration_ns
    unit, scale = ("ms", 1e6) if duration_ns >= 100_000 else ("us", 1e3)
    yield "GPU Speed Of Light Throughput", "Elapsed Cycles", "cycle", f"{_cycles(launch, deviation):,}"
    yield "GPU Speed Of Light Throughput", "Duration", unit, f"{duration_ns / scale:,.2f}"
    yield (
        "Instruction Statistics",
        "Executed Instructions",
        "inst",
        f"{executed.instructions('instructions'):,}",
    )
    yield "Launch Statistics", "Registers Per Thread", "register/thread", str(launch.kernel.registers)
    yield "Launch Statistics", "Grid Size", "", f"{prod(launch.grid):,}"
    yield "Launch Statistics", "Function Cache Configuration", "", "CachePreferNone"


def _write_quoted(text: io.StringIO, cells: Sequence[object], end: str = "\n") -> None:
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="").writerow(cells)
    text.write(end)


def _cycles(launch: Launch, deviation: float) -> int:
    """Return elapsed cycles; ``deviation`` has a standard deviation of 1/sqrt(3), near 0.577."""
    return round(launch.times.duration_ns * _BASE_CLOCK_GHZ * (1.0 + deviation * (_NOISE / 0.577)))


def _sizes(sizes: Sequence[int]) -> str:
    return f"({', '.join(map(str, sizes))})"


def as_ncu_spells(name: str) -> str:
    """Return a kernel's name as the Nsight Compute of those years spelt what Nsight Systems writes today.

    >>> as_ncu_spells("void f<float, (int)4>(const T1 *, int)")
    'void f<float, int=4>(float const *, int)'
    """
    if not name.endswith(")"):
        return name
    start = _matching(name, len(name) - 1, "()")
    function, parameters = name[:start], name[start:]
    arguments = _split(function[_matching(function, len(function) - 1, "<>") + 1 : -1])
    parameters = re.sub(r"\bconst (T\d+)", r"\1 const", parameters)
    parameters = re.sub(r"\bT(\d+)\b", lambda found: arguments[int(found[1]) - 1], parameters)
    return re.sub(r"\((int|bool)\)(\d+)", r"\1=\2", function + parameters)


def _matching(text: str, end: int, brackets: str) -> int:
    """Return where the bracket opens that closes at ``end``."""
    depth = 0
    for place in range(end, -1, -1):
        depth += (text[place] == brackets[1]) - (text[place] == brackets[0])
        if depth == 0:
            return place
    raise ValueError(f"{text!r} has no {brackets[0]} for its last {brackets[1]}")


def _split(arguments: str) -> list[str]:
    """Return what stands between the commas outside of all brackets."""
    parts, depth = [""], 0
    for character in arguments:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
