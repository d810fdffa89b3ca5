"""The metrics that methods ask for, by the names tools print them under; the first found is used."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: [Principal Kernel Analysis Table 2], its misprinted names corrected to Nsight Compute's; in its order.
#: Each entry lists the spellings that mean the same metric.
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

#: Elapsed cycles of a launch: the truth Principal Kernel Analysis holds its projection against.
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

#: Executed instructions of a launch.
INSTRUCTIONS: tuple[str, ...] = (
    "instructions",
    "smsp__inst_executed.sum",
    "sm__inst_executed.sum",
    "Executed Instructions",
)

#: Every spelling above by its case-folded form, for tables whose columns people have named.
SPELLINGS: Mapping[str, str] = {
    name.casefold(): name
    for name in (
        *(spelling for spellings in CHARACTERISTICS for spelling in spellings),
        *CYCLES,
        *INSTRUCTIONS,
    )
}

# Words of names, and units, of metrics that are times or cycles, or so much per time or cycle: with the count
# that goes with it, a rate gives the time away.
_COST_NAME = re.compile(
    "duration|cycle|elapsed|throughput|per_second|pct_of_peak|frequency|busy|(?<![a-z])(ipc|cpi|time)(?![a-z])"
)
_COST_UNITS = {"ns", "cycle", "hertz"}
_PER_COST = ("/s", "/ns", "/cycle")


def is_cost(name: str, unit: str | None) -> bool:
    """Return whether a metric is what a launch costs, or a rate by it: the truth that methods project."""
    units = unit or ""
    return bool(_COST_NAME.search(name.casefold())) or units in _COST_UNITS or units.endswith(_PER_COST)


#: A command that records what Principal Kernel Analysis and its like need.
NCU_COMMAND = "ncu --csv --page raw --metrics " + ",".join(
    [*(spellings[0] for spellings in CHARACTERISTICS), CYCLES[0]]
)
