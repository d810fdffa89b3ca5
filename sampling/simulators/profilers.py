"""A plan for what measures a running program: Nsight Compute, rocprofv3, rocprof-compute, NVBit's own tools.

Starting a program often costs more than measuring a launch, and one option holds for all kernels of a run. So
a run takes several kernels, and of each its launches of all their numbers: some that are not drawn, too.

**ncu.** ``--kernel-id ::regex:NAME:NUMBERS`` profiles the launches of those numbers, counted from 1. Older
versions count all launches of a function, newer ones those of each grid, block and shared memory; with
``--filter-mode per-launch-config`` every version counts the latter, as a plan's occurrences do.
ncu 2025.3 spells C++ names otherwise than the CUDA libraries do (``f<(int)4>(float *)``, ``[lambda(float)
(instance 1)]``), so that a kernel is looked for by its function's own name. ``--launch-skip`` and
``--launch-count`` with ``--filter-mode per-gpu`` count all launches of a device, as a plan's ordinals do: to
measure them no name need agree, but the program is run once a range.

**rocprofv3.** ``--kernel-include-regex`` is searched for in the demangled name; ``--kernel-iteration-range``
counts the launches of each kernel it matches from 1, whatever their grids and blocks: ``[2],[5-8]``. A plan
counts the launches of each size of a kernel by itself: only the profile knows how several sizes follow each
other.

**rocprof-compute** hands ``-k`` to rocprofv3 as that expression, and ``-d`` as those iterations, but counted
from 0, ``A:B`` being A up to, not with, B (profiler_rocprof_v3.py, rocm-systems 1b1610fc). Its documentation
calls ``-d`` the index of all dispatches, as it is where ROCPROF is the older rocprof.

**nvbit** (instr_count, opcode_hist, mem_trace). The tools instrument the launches from ``START_GRID_NUM`` up
to, not with, ``END_GRID_NUM``, both counted from 0: one range of launches a run.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from shlex import quote
from textwrap import fill
from typing import TypeVar

import numpy as np

from sampling.errors import OptionError
from sampling.features.counters import OPERATIONS, TIMES
from sampling.features.metric_names import CYCLES
from sampling.plan.other_recording import find_original
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.profile.names import MANGLED, readable_name, short_name
from sampling.readers import ncu, rocm_counters
from sampling.readers.feature_table import FeatureRows
from sampling.readers.input_file import InputFile
from sampling.simulators.export import ExportChoices, merged, range_text
from sampling.simulators.exporter import Handover, export_parts, script, template
from sampling.simulators.measured_run import MeasuredRun
from sampling.simulators.simulator import Exporter, ResultsReader, Simulator
from sampling.text import Wording, counted

Item = TypeVar("Item")
_TAKES = frozenset({"shards"})
_MEASURES = _TAKES | {"metric_set"}
# Attributes of the device, and how the profiler itself ran: the same of every launch.
_CONSTANT = re.compile(
    r"(device__attribute|profiler|numa|nvlink|c2clink|pcie)_|smsp__pcsamp_(interval|buffer|dropped|aggregated)|"
    "launch__.*_(id|config)$"
)
#: Numbers and letters of names of one option: it stays below the 131,071 bytes of a word of a command
_MOST_NUMBERS, _MOST_LETTERS = 2000, 60_000
#: A run of the program is taken to be worth measuring so many launches: a framework and a model take half a
#: minute to start, the passes over a launch a third of a second.
_A_RUN = 100
#: Its name, and where launches are counted by size, grid and block
_Kernel = tuple[object, ...]


def _select_metrics(rows: FeatureRows, metrics: Sequence[str]) -> MeasuredRun:
    """Return rows with some metrics, beside times and cycles; all that may differ, if none is named."""
    named = {*metrics, *TIMES, *CYCLES}
    selected = {
        name: column
        for name, column in rows.features.metrics.items()
        if (name in named if metrics else not _CONSTANT.match(name))
    }
    return MeasuredRun.of_profiler(replace(rows, features=replace(rows.features, metrics=selected)))


def _read_ncu(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    return _select_metrics(ncu.read_rows(file, file.number_locale, file.progress), metrics)


def _read_rocm(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    return _select_metrics(rocm_counters.read(file), metrics)


def _split(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield the items in order, at most as many at a time as one option takes."""
    for start in range(0, len(items), _MOST_NUMBERS):
        yield items[start : start + _MOST_NUMBERS]


@dataclass(slots=True, eq=False)
class Run:
    """What one run of the program measures: of some kernels all launches that have some numbers."""

    launches: list[PlannedLaunch]
    numbers: set[int]  #: from 1, of the launches of each kernel; none stands for all launches
    kernels: set[_Kernel]  #: each of one size, or of all sizes where numbers count these together
    functions: set[str]  #: expressions for the kernels' names, see `own_name`

    @property
    def pattern(self) -> str:
        """An expression that finds its kernels' names, in any demangler's spelling.

        It has no colon, which ends a field in ncu.
        """
        return rf"(^|\W)({'|'.join(sorted(self.functions))})(\W|$)"

    @property
    def is_mangled(self) -> bool:
        """Whether its kernels' mangled names are looked for."""
        return readable_name(self.launches[0].name).startswith(MANGLED)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Its numbers as ranges, first and last."""
        return merged(self.numbers) if self.numbers else []

    @property
    def measured(self) -> int:
        """So many launches are measured at most, if numbers are known."""
        return len(self.numbers) * len(self.kernels)

    @property
    def measured_ns(self) -> float:
        """How long these last on the device, as long as the drawn launches in the mean."""
        return self.measured * float(np.mean([launch.duration_ns for launch in self.launches]))

    def in_vain(self, other: Run) -> float:
        """Return how many launches more the two measure as one; inf where an option cannot hold both."""
        numbers, functions = self.numbers | other.numbers, self.functions | other.functions
        if len(numbers) > _MOST_NUMBERS or sum(map(len, functions)) > _MOST_LETTERS:
            return math.inf
        return len(numbers) * len(self.kernels | other.kernels) - self.measured - other.measured


def plan_runs(
    launches: Iterable[PlannedLaunch], number_of: Mapping[int, int], *, by_size: bool = True
) -> list[Run]:
    """Return the runs that measure launches by their numbers, by id; without numbers whole kernels.

    A kernel joins the run where least is measured in vain, unless that is more than a run of the program is
    worth. Kernels of which mangled names alone are there have runs of their own.

    ``by_size``: whether launches of each size of a kernel have numbers of their own.
    """
    of_name: defaultdict[str, defaultdict[int, list[PlannedLaunch]]] = defaultdict(lambda: defaultdict(list))
    for launch in launches:
        of_name[launch.name][number_of[launch.id] if number_of else 0].append(launch)
    runs: list[Run] = []
    for name, of_number in of_name.items():
        for numbers in _split(sorted(of_number)):
            own = [launch for number in numbers for launch in of_number[number]]
            sizes = {(launch.grid, launch.block) if by_size else () for launch in own}
            run = Run(own, {*numbers} - {0}, {(name, *size) for size in sizes}, {own_name(name)})
            candidates = [other for other in runs if other.is_mangled == run.is_mangled]
            best = min(candidates, key=run.in_vain, default=None)
            if best is None or run.in_vain(best) > _A_RUN:
                runs.append(run)
            else:
                best.launches += run.launches
                best.numbers |= run.numbers
                best.kernels |= run.kernels
                best.functions |= run.functions
    return runs


def own_name(name: str) -> str:
    """Return an expression for a function's own name; what is no letter, digit or underscore is a dot.

    >>> own_name("void at::f<(int)4>(float *)")
    'f'
    """
    # A character that is no ASCII may be several bytes.
    ascii_name = re.sub(r"[^\x00-\x7f]+", "\0", short_name(name.removesuffix(".kd")))
    return re.sub(r"[^\w\0]", ".", ascii_name, flags=re.ASCII).replace("\0", ".+")


def _profiled(template: str, comment: str, runs: Sequence[str], **values: object) -> str:
    """Return a script that defines how to measure, and then does so once for each run."""
    lines = "".join(f'profile {run} "$@"\n' for run in runs)
    return script(template, comment, takes_program=True, runs=lines, **values)


def positions(ordinals: Iterable[int]) -> list[str]:
    """Return the options of ncu for each run by position."""
    return [
        f"--filter-mode per-gpu --launch-skip {first} --launch-count {last - first + 1}"
        for first, last in merged(ordinals)
    ]


def kernel_ids(runs: Iterable[Run]) -> list[str]:
    """Return the options of ncu for each run by kernel."""
    options = []
    for run in runs:
        base = "mangled" if run.is_mangled else "demangled"
        kernel_id = f"::regex:{run.pattern}:^({'|'.join(map(str, sorted(run.numbers)))})$"
        mode = f"--filter-mode per-launch-config --kernel-name-base {base}"
        options.append(f"{mode} --kernel-id {quote(kernel_id)}")
    return options


_TIME = "gpu__time_duration.sum"
_BOUNDS = (
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
)
#: Of Nsight Compute: operations and bytes beside the time, their peaks, and what bounds a launch
_NCU_SETS: Mapping[str, tuple[str, ...]] = {
    "roofline": (
        *(_TIME, "dram__bytes.sum", *_BOUNDS),
        *(f"sm__sass_thread_inst_executed_op_{kind}{op}_pred_on.sum" for kind in "dfh" for op in OPERATIONS),
        *(
            "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
            "sm__cycles_elapsed.avg.per_second",
        ),
        *("dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second"),
    ),
    "memory": (
        *(_TIME, "dram__bytes_read.sum", "dram__bytes_write.sum", *_BOUNDS),
        *(f"{unit}__t_{what}.sum" for unit in ("lts", "l1tex") for what in ("sectors", "sectors_lookup_hit")),
    ),
}
#: Of ROCm, in groups that one run of the program takes: 8 of an SQ, 4 of a channel of L2
_ROCM_SETS: Mapping[str, tuple[str, ...]] = {
    "roofline": (
        " ".join(f"SQ_INSTS_VALU_{op}_F{bits}" for bits in (32, 64) for op in ("ADD", "MUL", "FMA")),
        " ".join(f"SQ_INSTS_VALU_{op}_F16" for op in ("ADD", "MUL", "FMA"))
        + "".join(f" SQ_INSTS_VALU_MFMA_MOPS_{kind}" for kind in ("F16", "BF16", "F32", "F64")),
        *("FETCH_SIZE", "WRITE_SIZE"),
    ),
    "memory": ("FETCH_SIZE", "WRITE_SIZE", "TCC_HIT_sum TCC_MISS_sum", "TCP_TOTAL_CACHE_ACCESSES_sum"),
}
_OF_NUMBERS = (
    "A run takes several kernels, and of each its launches of all numbers that are drawn of one;\n"
    "manifest.csv tells which launch a row is, by the name of its file or folder.\n"
)
# So many counters of a unit are taken to be measured at once.
_AT_ONCE = 4


def _metrics_of(choices: ExportChoices, sets: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return what the sets and metrics of a choice are; OptionError where one is neither."""
    items = [item.strip() for item in (choices.metric_set or "").split(",") if item.strip()]
    for item in items:
        if item not in sets and not re.fullmatch(r"[\w.]*[A-Z_][\w.]*", item, re.ASCII):
            remedy = f"give {', '.join(sets)}, or metrics by their names"
            raise OptionError(Wording("`metric_set={}`: there is no such set", item), remedy=remedy)
    return [*dict.fromkeys(metric for item in items for metric in sets.get(item, (item,)))]


def _passes(metrics: Sequence[str]) -> int:
    """Return how often ncu may run a launch: instructions are patched in once, units count a few at once."""
    patched = [name for name in metrics if "__sass_" in name and name.endswith(".sum")]
    units = Counter(name.partition("__")[0] for name in {*metrics} - {*patched, _TIME})
    return max(1, bool(patched) + max((-(-count // _AT_ONCE) for count in units.values()), default=0))


def _add_cost(to: Handover, runs: Sequence[Run], passes: int, groups: int = 1) -> None:
    """Put into the page what measuring takes, with some more runs, each once a group of counters."""
    plan, page = to.plan, to.page
    page["program_runs"] = program_runs = page.get("program_runs", 0) + groups * len(runs)
    # No run has more launches than the program.
    page["measured"] = page.get("measured", 0) + sum(min(run.measured, plan.launches) for run in runs)
    measured = page["measured"]
    page["measured_ns"] = page.get("measured_ns", 0.0) + groups * passes * sum(
        run.measured_ns for run in runs
    )
    times, drawn = counted(program_runs, "run"), f"{len(plan.drawn):,}"
    if measured:
        over = f"{counted(passes, 'pass', 'passes')} over at most {counted(measured, 'launch', 'launches')}"
        about_s = (program_runs * plan.total_duration_ns + page["measured_ns"]) / 1e9
        words = (
            f"It takes {times} of the program and about {over}, of which the plan draws {drawn}: about "
            f"{about_s:.3g} s of the GPU's time, beside what the host does and saves between passes."
        )
    else:
        words = f"It takes {times} of the program, and measures all launches of the kernels drawn."
    page["cost"] = f"{fill(words, 106)}\n" if to.choices.metric_set is not None else ""


def _name_reports(to: Handover, suffix: str, runs: Sequence[Run]) -> list[str]:
    """Return the names of what runs write, and keep which launches each has."""
    names = [f"kernel{suffix}-{number}" for number in range(1, len(runs) + 1)]
    for name, run in zip(names, runs, strict=True):
        if run.numbers:
            to.report |= {launch.ordinal: name for launch in run.launches}
    return names


def _for_ncu(to: Handover) -> None:
    metrics = _metrics_of(to.choices, _NCU_SETS)
    measures = to.page["measures"] = f"--metrics {','.join(metrics)}" if metrics else ""
    for suffix, shard in to.part.files():
        launches = [step.launch for step in shard if step.launch is not None]
        runs = plan_runs(launches, {launch.id: launch.occurrence + 1 for launch in launches})
        ranges = positions(step.ordinal for step in shard)
        range_names = [f"range{suffix}-{number}" for number in range(1, len(ranges) + 1)]
        for name, reports, options in (
            (f"run{suffix}.sh", _name_reports(to, suffix, runs), kernel_ids(runs)),
            (f"run-by-position{suffix}.sh", range_names, ranges),
        ):
            count = counted(len(options), "time")
            comment = f"Runs the program {count} under ncu: sh {name} PROGRAM [ARGUMENT...]"
            lines = [
                f"{report} --devices {to.part.device} {words}"
                for report, words in zip(reports, options, strict=True)
            ]
            to.files[name] = _profiled("ncu/run.sh", comment, lines, measures=measures)
        _add_cost(to, runs, _passes(metrics))
        to.called |= {launch.ordinal: launch.occurrence + 1 for launch in launches}


NCU = Simulator(
    name="ncu",
    title="Nsight Compute",
    exporter=Exporter(
        note="--kernel-id counts the launches of a kernel, grid and block on a device from 1: occurrence + "
        "1; --launch-skip is the ordinal, from 0; both were run with ncu 2025.3 on an H100, a kernel a run; "
        "an expression for several kernels was tried on reports alone, with ncu 2024.1",
        takes=_MEASURES,
        export=partial(export_parts, write=_for_ncu),
        runs_program=True,
        by_name=True,
        logs="results/*.csv",
    ),
    results=ResultsReader(lambda head: ncu.HEADER.search(head) is not None, _read_ncu),
)


def filters(run: Run) -> str:
    """Return the options of rocprofv3 for a run; where iterations are not known, for whole kernels."""
    spelt = "--mangled-kernels " if run.is_mangled else ""
    text = ",".join(f"[{range_text(bounds)}]" for bounds in run.ranges)
    chosen = f" --kernel-iteration-range {quote(text)}" if text else ""
    return f"{spelt}--kernel-include-regex {quote(run.pattern)}{chosen}"


def dispatches(run: Run) -> str:
    """Return the options of rocprof-compute for a run, as `filters` does."""
    numbers = [f"{first - 1}:{last}" if first < last else str(first - 1) for first, last in run.ranges]
    return f"-k {quote(run.pattern)}{' -d ' if numbers else ''}{' '.join(numbers)}"


def iterations(plan: PlanFile) -> tuple[dict[int, int], str]:
    """Return which launch of its kernel each drawn one is in its process and device, from 1, by its id.

    The profile that the plan was made from tells, if it is still there; else none is known, and why not.
    """
    profile, why_not = find_original(plan)
    if profile is None:
        return {}, str(why_not)
    ids = np.array([launch.id for launch in plan.drawn], dtype=np.int64)
    before = np.zeros(len(profile.kernels.names), dtype=np.int64)
    iteration: dict[int, int] = {}
    sequence = -1
    for part in profile.parts:
        if part.sequence != sequence:
            sequence, before[:] = part.sequence, 0
        names = part.load(("name",))["name"]
        start, stop = np.searchsorted(ids, [part.first_id, part.stop_id])
        counted_rows = 0
        for launch_id in ids[start:stop].tolist():
            place = launch_id - part.first_id
            before += np.bincount(names[counted_rows : place + 1], minlength=len(before))
            counted_rows = place + 1
            iteration[launch_id] = int(before[names[place]])
        before += np.bincount(names[counted_rows:], minlength=len(before))
    return iteration, ""


def _for_rocm(to: Handover, tool: str, options_of: Callable[[Run], str]) -> None:
    if "iterations" not in to.page:
        to.page["iterations"], why_not = iterations(to.plan)
        drawn = counted(len(to.plan.drawn), "launch", "launches")
        unknown = template("rocprofv3/unknown.txt", launches=drawn, why=why_not)
        to.page["which"] = unknown if why_not else _OF_NUMBERS
        if why_not and to.choices.tell is not None:
            to.choices.tell(f"all launches of the drawn kernels are to be measured: {why_not}")
    iteration = to.page["iterations"]
    groups = [f"--pmc {group} " for group in _metrics_of(to.choices, _ROCM_SETS)] or [""]
    measures = to.page["measures"] = "" if to.choices.metric_set else "--pmc SQ_WAVES "
    for suffix, shard in to.part.files():
        launches = [step.launch for step in shard if step.launch is not None]
        runs = plan_runs(launches, iteration, by_size=False)
        # One option holds for all of a run, and one group of counters.
        lines = [
            f"{report}{f'-{number}' if len(groups) > 1 else ''} {group}{options_of(run)} --"
            for report, run in zip(_name_reports(to, suffix, runs), runs, strict=True)
            for number, group in enumerate(groups, 1)
        ]
        _add_cost(to, runs, 1, len(groups))
        comment = (
            f"Runs the program {counted(len(lines), 'time')} under {tool}: sh run{suffix}.sh PROGRAM "
            f"[ARGUMENT...]\nThe launches are those of device {to.part.device}."
        )
        to.files[f"run{suffix}.sh"] = _profiled(f"{tool}/run.sh", comment, lines, measures=measures)
    to.called |= {step.ordinal: iteration[step.id] for step in to.part.steps if step.id in iteration}


ROCPROFV3 = Simulator(
    name="rocprofv3",
    title="rocprofv3",
    exporter=Exporter(
        note="iterations count the launches of a kernel on a device from 1, whatever their sizes; written "
        "from the tool's grammar, not run against it",
        takes=_MEASURES,
        export=partial(export_parts, write=partial(_for_rocm, tool="rocprofv3", options_of=filters)),
        runs_program=True,
        by_name=True,
        logs="results/*_counter_collection.csv",
    ),
    results=ResultsReader(
        rocm_counters.recognise, _read_rocm, is_table=True, form="counters of ROCm's profilers"
    ),
)


ROCPROF_COMPUTE = Simulator(
    name="rocprof-compute",
    title="ROCm Compute Profiler",
    exporter=Exporter(
        note="-d counts the launches of the kernel that -k names on a device from 0, whatever their sizes; "
        "written from the tool's sources, not run against it",
        takes=_TAKES,
        export=partial(export_parts, write=partial(_for_rocm, tool="rocprof-compute", options_of=dispatches)),
        runs_program=True,
        by_name=True,
    ),
)


def _for_nvbit(to: Handover) -> None:
    for suffix, shard in to.part.files():
        name, run = f"ranges{suffix}.txt", f"run{suffix}.sh"
        lines = [f"{first} {last + 1}\n" for first, last in merged(step.ordinal for step in shard)]
        comment = f"Runs the program {len(lines)} times, once a range: sh {run} PROGRAM [ARGUMENT...]"
        to.files[name] = "".join(lines)
        to.files[run] = script("nvbit/run.sh", comment, takes_program=True, ranges=name)
    to.called |= {step.ordinal: step.ordinal for step in to.part.steps}


NVBIT = Simulator(
    name="nvbit",
    title="NVBit",
    exporter=Exporter(
        note="launches count from 0 in a process, which has one device: the ordinal, which is the id where "
        "the profile has one process; written from the tool's grammar, not run against it",
        takes=_TAKES,
        export=partial(export_parts, write=_for_nvbit),
        uses_nvbit=True,
        runs_program=True,
    ),
)
