"""The metrics that methods ask for, by the names tools print them under; the first found is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import NotApplicableError
from sampling.reduction.duration_counts import LaunchCost
from sampling.reduction.launch_list import LaunchList
from sampling.text import Wording, counted, listed

#: Principal Kernel Analysis, Table 2, in its order; misprinted names are corrected to Nsight Compute's
#: (docs/methods.md, 7 Principal Kernel Analysis)
#: Each entry lists the spellings that mean the same metric
CHARACTERISTICS: tuple[tuple[str, ...], ...] = (
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",),
    ("smsp__inst_executed_op_global_ld.sum", "sass__inst_executed_global_loads"),
    ("smsp__inst_executed_op_global_st.sum", "sass__inst_executed_global_stores"),
    ("smsp__inst_executed_op_local_ld.sum", "sass__inst_executed_local_loads"),
    ("smsp__inst_executed_op_shared_ld.sum", "sass__inst_executed_shared_loads"),
    ("smsp__inst_executed_op_shared_st.sum", "sass__inst_executed_shared_stores"),
    ("smsp__sass_inst_executed_op_global_atom.sum",),
    ("smsp__inst_executed.sum", "sm__inst_executed.sum", "Executed Instructions"),
    ("smsp__thread_inst_executed_per_inst_executed.ratio", "Avg. Active Threads Per Warp"),
    ("launch__grid_size", "Grid Size"),
)

#: Elapsed cycles of a launch, with which Principal Kernel Analysis compares its projection
CYCLES: tuple[str, ...] = (
    "gpc__cycles_elapsed.avg",
    "gpc__cycles_elapsed.max",
    "gpu__cycles_elapsed.avg",
    "gpu__cycles_elapsed.max",
    "sm__cycles_elapsed.avg",
    "sm__cycles_elapsed.max",
    "Elapsed Cycles",
    "cycles",
)

#: Executed instructions of a launch
INSTRUCTIONS: tuple[str, ...] = (
    "instructions",
    "smsp__inst_executed.sum",
    "sm__inst_executed.sum",
    "Executed Instructions",
)

#: Every spelling above by its case-folded form, for tables whose columns people have named
SPELLINGS: Mapping[str, str] = {
    name.casefold(): name
    for name in (
        *(spelling for spellings in CHARACTERISTICS for spelling in spellings),
        *CYCLES,
        *INSTRUCTIONS,
    )
}

# Parts and words of names of metrics that are times or cycles, or rates by them: from a rate and its count
# the time follows. Shares of the cycles are such rates: issued, eligible and active warps per cycle, in
# Nsight Compute's labels and in its own names.
_COST_PART = re.compile(
    "duration|cycle|elapsed|throughput|bandwidth|latency|runtime|timestamp|per_sec|pct_of_peak|frequency|busy"
    "|utili[sz]ation|issue_active|issue_stalled|issued warp|eligible|achieved occupancy"
    r"|(?<!theoretical )active warps|(memory|sm\)?) \[%\]"
)
_COST_WORDS = frozenset(
    {
        *("ipc", "cpi", "time", "walltime", "stall", "stalled", "stalls", "clock", "clocks"),
        *("mflops", "gflops", "tflops"),
    }
)
# Ends of names that are units: start_ns, bandwidth_gbps.
_COST_ENDINGS = frozenset(
    {
        *("ns", "us", "ms", "s", "nsec", "usec", "msec", "sec", "second", "seconds"),
        *("nanoseconds", "microseconds", "milliseconds"),
        *("hz", "khz", "mhz", "ghz", "bps", "kbps", "mbps", "gbps", "tbps"),
    }
)
# A name that ends so is a count (life_time_count), but a count of cycles is a time.
_COUNT_ENDINGS = frozenset({"count", "counts"})
_COUNTED_TIME = re.compile("cycle|clock|pcsamp")
_COST_UNITS = frozenset({"ns", "us", "ms", "s", "nsecond", "usecond", "msecond", "second", "cycle", "hertz"})
_PER_COST = ("/s", "/ns", "/us", "/ms", "/second", "/cycle", "bps")
_WORD = re.compile("[a-z0-9]+")
_INNER_CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")

#: What `is_cost` finds, in words, and why no method goes by it
COSTS = "times, cycles, and rates by them, such as IPC, for they are what is projected"


def is_cost(name: str, unit: str | None) -> bool:
    """Return whether a metric is a time or cycles, or a rate by them: what methods project."""
    units = (unit or "").casefold()
    if units in _COST_UNITS or units.endswith(_PER_COST):
        return True
    plain = _INNER_CAPITAL.sub("_", name).casefold()
    words = _WORD.findall(plain)
    if words and words[-1] in _COUNT_ENDINGS:
        return bool(_COUNTED_TIME.search(plain))
    if _COST_PART.search(plain) or not _COST_WORDS.isdisjoint(words):
        return True
    return len(words) > 1 and words[-1] in _COST_ENDINGS


#: A command that records what Principal Kernel Analysis and its like need
NCU_COMMAND = "ncu --csv --page raw --metrics " + ",".join(
    [*(spellings[0] for spellings in CHARACTERISTICS), CYCLES[0]]
)


_RECORD_COUNTS = Wording(
    "give `features` the output of NVBit's instr_count, the stats.csv of Accel-Sim's tracer, an ncu page "
    "with smsp__inst_executed.sum, or a CSV or Parquet with a column instructions"
)
# Nsight Compute counts an instruction once a warp; a column of another file does not say what it counts.
_WARP_METRICS = frozenset(INSTRUCTIONS) - {"instructions"}


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """The instructions of every launch of a list."""

    metric: str  #: the name they were found under
    executed: FloatArray  #: (n,) instructions, >= 0

    @property
    def unit(self) -> str:
        """What one of them is, in words."""
        return "warp instructions" if self.metric in _WARP_METRICS else "instructions as the file counts them"


def instruction_counts(launches: LaunchList, method: str) -> InstructionCounts:
    """Return the instruction counts of all launches, from the first metric that has them all.

    Raises NotApplicableError: no metric has a count for every launch, or one of them is no count.

    Parameters
    ----------
    method : the name of the method that asks, for the message.
    """
    metrics: Mapping[str, FloatArray] = {} if launches.features is None else launches.features.metrics
    lacking = {name: int(np.isnan(metrics[name]).sum()) for name in INSTRUCTIONS if name in metrics}
    metric = min(lacking, key=lacking.__getitem__, default=None)
    fewest = len(launches) if metric is None else lacking[metric]
    if metric is None or fewest:
        # Shown because the counts may be there under another name.
        there = f" (there are {listed(list(metrics))})" if metrics and metric is None else ""
        raise NotApplicableError(
            f"{method} needs the instruction count of every launch, "
            f"and {fewest:,} of {len(launches):,} have none{there}",
            remedy=_RECORD_COUNTS,
        )
    executed = metrics[metric]
    wrong = np.flatnonzero((executed < 0) | np.isinf(executed))
    if len(wrong):
        have = "has" if len(wrong) == 1 else "have"
        of_all = f"{len(wrong):,} of {counted(len(launches), 'launch', 'launches')} {have} such a value"
        raise NotApplicableError(
            f"{method} needs instruction counts, and {metric} of launch {launches.id[wrong[0]]} is "
            f"{executed[wrong[0]]:.12g} ({of_all})",
            remedy="correct the value; if a counter of 32 bits overflows there, count again with one of 64",
        )
    return InstructionCounts(metric, executed)


def launch_cost(launches: LaunchList, metric: str | None) -> LaunchCost | None:
    """Return what simulating each launch costs, by a metric that was asked for; by instructions if none was.

    Raises NotApplicableError: some launch lacks the metric that was asked for, or all have 0 of it.

    Parameters
    ----------
    metric : a metric of the features; "instructions" is whichever the files have.

    Returns
    -------
    None where no metric was asked for and the instructions of some launch are not known.
    """
    metrics: Mapping[str, FloatArray] = {} if launches.features is None else launches.features.metrics
    names = INSTRUCTIONS if metric in {None, "instructions"} else (metric,)
    there = {name: metrics[name] for name in names if name in metrics}
    for name, values in there.items():
        if (values >= 0).all() and 0 < values.sum() < np.inf:
            return LaunchCost(name, values, decides=metric is not None)
    if metric is None:
        return None
    if there:
        lacking = int((~(next(iter(there.values())) >= 0)).sum())
        why = f"{lacking:,} of {len(launches):,} have none" if lacking else "all have 0"
    else:
        why = f"there {'is' if len(metrics) == 1 else 'are'} {listed(list(metrics)) or 'none'}"
    raise NotApplicableError(
        Wording(f"`cost={metric}` needs that metric of every launch, above 0 in all, and {why}"),
        remedy=_RECORD_COUNTS if metric == "instructions" else Wording("give `features` a file that has it"),
    )
