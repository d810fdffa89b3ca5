"""Which metrics of Nsight Compute's pages, recorded by others, are costs."""

from __future__ import annotations

from collections.abc import Callable

from sampling.features.metric_names import is_cost
from sampling.features.reading import FeatureRows


def test_all_columns_of_a_details_page_are_no_costs(ncu_page: Callable[[str], FeatureRows]) -> None:
    metrics = ncu_page("a100-details.csv").features
    used = {name for name in metrics.metrics if not is_cost(name, metrics.units.get(name))}
    assert used == {
        *("Maximum Buffer Size", "# Pass Groups", "Stack Size", "Threads", "# SMs", "# TPCs"),
        *("Local Memory Spilling Requests", "Local Memory Spilling Request Overhead", "L1/TEX Hit Rate"),
        *("L2 Persisting Size", "L2 Compression Success Rate", "L2 Compression Ratio", "L2 Hit Rate"),
        *("L2 Compression Input Sectors", "Avg. Active Threads Per Warp", "Executed Instructions"),
        *("Avg. Not Predicated Off Threads Per Warp", "Avg. Executed Instructions Per Scheduler"),
        *("Avg. Issued Instructions Per Scheduler", "Issued Instructions", "Block Size", "Grid Size"),
        *("Registers Per Thread", "Shared Memory Configuration Size", "Driver Shared Memory Per Block"),
        *("Dynamic Shared Memory Per Block", "Static Shared Memory Per Block", "Uses Green Context"),
        *("Waves Per SM", "Block Limit SM", "Block Limit Registers", "Block Limit Shared Mem"),
        *("Block Limit Warps", "Theoretical Active Warps per SM", "Theoretical Occupancy"),
        *("Branch Instructions Ratio", "Branch Instructions", "Branch Efficiency", "Avg. Divergent Branches"),
    }
