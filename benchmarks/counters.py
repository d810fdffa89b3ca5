"""How often the interval of each counter holds the total of a whole recording, and how wide it is.

Every launch of a profile was counted. Launches are drawn by `sample --for counters` under many seeds; what
their counters say of the whole is compared with the sums, and quotients of sums, of all launches.

    python benchmarks/counters.py PROFILE COUNTERS [--draws 200] [--least 2] [--pool]
    python benchmarks/counters.py heat-16.table.csv heat-8.log.gz --metric L2_total_cache_accesses ...
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sampling.estimation.total import estimate_plan
from sampling.features.counters import adds_up, weight_of
from sampling.features.join import with_features
from sampling.plan.draft import draft_plan
from sampling.plan.plan import drawn_plan, find_planned_launches, plan_document
from sampling.plan.request import FEWEST_OF_SPEEDUPS, PlanRequest
from sampling.readers.columns import column_map
from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from sampling.reduction.launch_list import Features, list_launches
from sampling.simulators.registry import opened, read_results
from sampling.simulators.results import SimulatedLaunches


def main() -> None:
    """Draw, estimate, compare, print a row a counter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profile")
    parser.add_argument("counters")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--least", type=int, default=FEWEST_OF_SPEEDUPS)
    parser.add_argument("--metric", nargs="+", help="of COUNTERS, what a simulator printed of the whole run")
    parser.add_argument(
        "--columns", default="name=name,duration_ns=duration_ns", help="of PROFILE; '' if it is no table"
    )
    parser.add_argument("--pool", action="store_true")
    arguments = parser.parse_args()
    is_table = arguments.metric and arguments.columns
    columns_read = ReadOptions(column_map(arguments.columns)) if is_table else ReadOptions()
    profile = read_profile([arguments.profile], options=columns_read)
    draft = draft_plan(profile, PlanRequest(min_samples=arguments.least, pool=arguments.pool))
    launches = list_launches(profile, draft.counts)
    if arguments.metric:
        with opened([arguments.counters], "log") as (logs, _):
            run = read_results(logs[0], arguments.metric)
        order = np.argsort(run.number)
        features = Features({name: values[order] for name, values in run.metrics.items()})
    else:
        files = [] if arguments.counters == arguments.profile else [arguments.counters]
        known = with_features(profile, launches, files)[0].features
        assert known is not None
        features = known
    columns = {
        name: column for name in features.metrics if not np.isnan(column := features.metrics[name]).any()
    }
    additive = [name for name in columns if adds_up(name, features.units.get(name, ""))]
    truth = {name: float(columns[name].sum()) for name in additive}
    for name in columns.keys() - additive:
        weight = weight_of(name, additive).metric
        by = columns[weight] if weight else launches.duration_ns
        truth[name] = float((columns[name] * by).sum() / by.sum())
    rows: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    drawn = 0
    for seed in range(arguments.draws):
        seeded = replace(
            draft, request=PlanRequest(min_samples=arguments.least, pool=arguments.pool, seed=seed)
        )
        plan = drawn_plan(draft.counts, draft.design, seed)
        document = plan_document(seeded, plan, find_planned_launches(seeded, plan))
        ids = np.array([launch.id for launch in document.drawn])
        drawn = len(ids)
        place = np.searchsorted(launches.id, ids)
        results = SimulatedLaunches(
            ids, {name: column[place] for name, column in columns.items()}, units=features.units
        )
        estimate = estimate_plan(document, results)
        figures = [(total.metric, total.low, total.total, total.high) for total in estimate.totals]
        figures += [(mean.name, mean.low, mean.ratio or 0.0, mean.high) for mean in estimate.ratios]
        for name, low, value, high in figures:
            if low is not None and high is not None:
                rows[name].append((low, value, high))
    print(f"{drawn} of {len(launches)} launches, {len(draft.design.strata)} strata, {arguments.draws} draws")
    print_rows(truth, rows, arguments.draws)


def print_rows(
    truth: Mapping[str, float], rows: Mapping[str, Sequence[tuple[float, float, float]]], draws: int
) -> None:
    """Print of each counter how often its intervals (low, value, high) hold what is true."""
    print("| counter | held | half-width | error, root mean square | with an interval | with a wrong one |")
    print("|---|---|---|---|---|---|")
    for name, true in truth.items():
        if not true:
            continue
        if not rows.get(name):
            print(f"| {name} | none | | | 0 | 0 |")
            continue
        low, value, high = np.array(rows[name]).T
        slack = 1e-9 * abs(true)
        held = (low - slack <= true) & (true <= high + slack)
        error = float(np.sqrt(np.mean((value / true - 1) ** 2)))
        width = float(np.median((high - low) / 2 / value))
        shares = f"{len(low) / draws:.3f} | {(~held).sum() / draws:.3f}"
        print(f"| {name} | {held.mean():.3f} | {100 * width:.2f} % | {100 * error:.2f} % | {shares} |")


if __name__ == "__main__":
    main()
