"""The metrics that methods ask for, by the names tools print them under; the first found is used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

import numpy as np

from sampling.arrays import FloatArray
from sampling.errors import NotApplicableError
from sampling.reduction.duration_counts import LaunchCost
from sampling.reduction.launch_list import Features, LaunchList
from sampling.text import Wording, listed

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
    *(f"{unit}__cycles_elapsed.{how}" for unit in ("gpc", "gpu", "sm") for how in ("avg", "max")),
    *("Elapsed Cycles", "cycles"),
)

#: Executed instructions of a launch
INSTRUCTIONS = ("instructions", "smsp__inst_executed.sum", "sm__inst_executed.sum", "Executed Instructions")

#: Every spelling above by its case-folded form, for tables whose columns people have named
SPELLINGS = {name.casefold(): name for name in (*chain(*CHARACTERISTICS), *CYCLES, *INSTRUCTIONS)}

#: A command that records what Principal Kernel Analysis and its like need
NCU_COMMAND = "ncu --csv --page raw --metrics " + ",".join(
    [*(spellings[0] for spellings in CHARACTERISTICS), CYCLES[0]]
)

# Parts, words and endings of names of metrics that are times or cycles, or rates by them: from a rate and its
# count the time follows. Shares of the cycles are such rates: issued, eligible and active warps per cycle, in
# Nsight Compute's labels and in its own names.
_COST_PART = re.compile(
    "duration|cycle|elapsed|throughput|bandwidth|latency|runtime|timestamp|per_sec|pct_of_peak|frequency|busy"
    "|utili[sz]ation|issue_active|issue_stalled|issued warp|eligible|achieved occupancy"
    r"|(?<!theoretical )active warps|(memory|sm\)?) \[%\]"
)
_COST_WORD = re.compile("ipc|cpi|(wall)?time|stall(ed|s)?|clocks?|[mgt]flops")
_COST_ENDING = re.compile("[num]?s|[num]?sec|seconds?|(nano|micro|milli)seconds|[kmg]?hz|[kmgt]?bps")
_COST_UNIT = re.compile("[num]?s|[num]?second|cycle|hertz|.*(/([num]?s|second|cycle)|bps)")
_COUNTED_TIME = re.compile("cycle|clock|pcsamp")

#: What `is_cost` finds, in words, and why no method goes by it
COSTS = "times, cycles, and rates by them, such as IPC, for they are what is projected"


def is_cost(name: str, unit: str | None) -> bool:
    """Return whether a metric is a time or cycles, or a rate by them: what methods project."""
    if _COST_UNIT.fullmatch((unit or "").casefold()):
        return True
    plain = re.sub("(?<=[a-z])(?=[A-Z])", "_", name).casefold()
    words = re.findall("[a-z0-9]+", plain)
    if words and words[-1] in {"count", "counts"}:
        # life_time_count is none, but a count of cycles is a time.
        return _COUNTED_TIME.search(plain) is not None
    is_named_so = _COST_PART.search(plain) is not None or any(map(_COST_WORD.fullmatch, words))
    return is_named_so or (len(words) > 1 and _COST_ENDING.fullmatch(words[-1]) is not None)


_RECORD_COUNTS = Wording(
    "give `features` the output of NVBit's instr_count, the stats.csv of Accel-Sim's tracer, an ncu page "
    "with smsp__inst_executed.sum, or a CSV or Parquet with a column instructions"
)


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """The instructions of every launch of a list."""

    metric: str  #: the name they were found under
    executed: FloatArray  #: (n,) instructions, >= 0

    @property
    def unit(self) -> str:
        """What one of them is, in words: Nsight Compute counts an instruction once a warp."""
        is_ours = self.metric == "instructions"
        return "instructions as the file counts them" if is_ours else "warp instructions"


def instruction_counts(launches: LaunchList, method: str) -> InstructionCounts:
    """Return the instruction counts of all launches for a method, from the first metric that has them all.

    Raises NotApplicableError: no metric has a count, 0 or more, for every launch.
    """
    metrics = (launches.features or Features()).metrics
    candidates = {
        name: (metrics[name] >= 0) & np.isfinite(metrics[name]) for name in INSTRUCTIONS if name in metrics
    }
    for name, is_known in candidates.items():
        if is_known.all():
            return InstructionCounts(name, metrics[name])
    lacking = min((int((~is_known).sum()) for is_known in candidates.values()), default=len(launches))
    # Shown because the counts may be there under another name.
    available = f" (there are {listed(list(metrics))})" if metrics and not candidates else ""
    raise NotApplicableError(
        f"{method} needs the instruction count of every launch, and {lacking:,} of {len(launches):,} have "
        f"none{available}",
        remedy=_RECORD_COUNTS,
    )


def launch_cost(launches: LaunchList, metric: str | None) -> LaunchCost | None:
    """Return what simulating each launch costs, by a metric of the features that was asked for.

    Without one it goes by instructions, as "instructions" does, whichever metric has them; it is None where
    the instructions of some launch are not known.

    Raises NotApplicableError: some launch lacks the metric that was asked for, or all have 0 of it.
    """
    metrics = (launches.features or Features()).metrics
    for name in INSTRUCTIONS if metric in {None, "instructions"} else (metric or "",):
        if name in metrics and (metrics[name] >= 0).all() and 0 < metrics[name].sum() < np.inf:
            return LaunchCost(name, metrics[name], is_objective=metric is not None)
    if metric is None:
        return None
    raise NotApplicableError(
        Wording(
            "`cost={}` needs that metric of every launch, above 0 in all; there is {}",
            metric,
            listed(list(metrics)) or "none",
        ),
        remedy=_RECORD_COUNTS if metric == "instructions" else Wording("give `features` a file that has it"),
    )
