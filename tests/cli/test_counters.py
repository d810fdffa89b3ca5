"""Pages of profilers: counters as totals and means, by kernel group, in another locale, in part."""

from __future__ import annotations

import csv
import gzip
import json
import operator
import re
from pathlib import Path

import pytest

from tests.cli.conftest import PROJECT, Kernelpoint, results


def test_counters_of_nsight_compute_are_a_table_with_units_by_group_too(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    """Totals and the mean that weighs threads by instructions are those of the whole page."""
    plan, page = tmp_path / "plan.json", PROJECT / "sample_data" / "resnet50-like-ncu-raw.csv.gz"
    said = " ".join(kernelpoint("sample", resnet, "--for", "counters", "-o", plan).out.split())
    assert "counter that varies over kernels and within them as cycles do is expected within 5.9 %;" in said
    assert f"Next: kernelpoint export {plan} --to ncu -o counted --set roofline" in said
    options = json.loads(plan.read_text())["options"]
    assert (options["min_samples"], options["pool"]) == (2, False)
    with gzip.open(page, "rt") as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    whole = {
        name: [float(row[column]) for row in rows[2:]]
        for column, name in enumerate(rows[0])
        if "." in name and rows[2][column]
    }
    found = results(kernelpoint, "estimate", plan, page, "--groups")
    sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    by_metric = {row["metric"]: row for row in found["metrics"]}
    assert by_metric[sectors]["unit"] == "sector"
    # Two launches carry what the launches of most of the time have none of.
    refused = [name for name, row in by_metric.items() if row["low"] is None]
    assert refused == [name for name in by_metric if "_local_" in name or name.endswith("_atom.sum")]
    notes = {note for name in refused for note in by_metric[name]["notes"]}
    assert notes == {"no interval: 2 of 68 drawn launches carry 100 % of it"}
    assert all(
        row["low"] <= sum(whole[name]) <= row["high"]
        for name, row in by_metric.items()
        if name in whole and name not in refused
    )
    (mean,) = found["ratios"]
    executed, threads = whole["smsp__inst_executed.sum"], whole[mean["name"]]
    true = sum(map(operator.mul, executed, threads)) / sum(executed)
    assert mean["weight"] == "smsp__inst_executed.sum"
    assert mean["low"] <= true <= mean["high"]
    of_groups = [row["total"] for row in found["groups"] if row["metric"] == sectors]
    assert len(of_groups) > 10
    assert sum(of_groups) == pytest.approx(by_metric[sectors]["total"])
    table = kernelpoint("estimate", plan, page).out
    assert re.search(r"sector\s+8\.2 %\s+sum\s+l1tex__t_sectors", table)
    assert re.search(r"inst\s+-\s+sum\s+smsp__inst_executed_op_local_ld", table)
    assert "no interval of 3 counters: 2 of 68 drawn launches carry 100 % of it" in table
    assert re.search(r"quotient\s+smsp__", table)
    larger = kernelpoint("estimate", plan, page, "--target", "0.01", "--top-up", tmp_path / "more.json")
    assert f"export {tmp_path / 'more.json'} --to ncu -o more" in " ".join(larger.out.split())
    pooled = tmp_path / "pooled.json"
    kernelpoint("sample", resnet, "-o", pooled)
    shown = " ".join(kernelpoint("estimate", pooled, page).out.split())
    assert "plan with `sample --for counters`" in shown
    assert shown.count("plan with `sample --for counters`") == 1
    # Atomics, which are in launches that are not drawn.
    assert "not shown: 1 counter, 0 in every launch measured" in shown


def test_pages_of_another_locale_are_read_as_is_said(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    plan, german = tmp_path / "plan.json", tmp_path / "german.csv"
    kernelpoint("sample", resnet, "--for", "counters", "-o", plan)
    page = PROJECT / "sample_data" / "resnet50-like-ncu-raw.csv.gz"
    with gzip.open(page, "rt") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.reader(lines))
    for row in rows[2:]:
        row[11:] = [cell.translate(str.maketrans(",.", ".,")) for cell in row[11:]]
    with german.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    assert "--number-locale de_DE" in kernelpoint("estimate", plan, german).failed(3)
    expected = results(kernelpoint, "estimate", plan, page)
    in_german = german, "--number-locale", "de_DE"
    assert results(kernelpoint, "estimate", plan, *in_german) == expected
    assert "--number-locale de_DE" in kernelpoint("estimate", plan, *in_german).out.partition("Next: ")[2]


def test_a_counter_that_a_stratum_lacks_has_no_total_in_the_table(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    plan, cut = tmp_path / "plan.json", tmp_path / "cut.csv"
    kernelpoint("sample", resnet, "--for", "counters", "-o", plan)
    with gzip.open(PROJECT / "sample_data" / "resnet50-like-ncu-raw.csv.gz", "rt") as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    column, ratio = rows[0].index("smsp__inst_executed_op_shared_st.sum"), len(rows[0]) - 1
    for row in rows[2:]:
        if row[4] == rows[2][4]:
            row[column] = row[ratio] = "n/a"
    with cut.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    table = kernelpoint("estimate", plan, cut).out
    assert re.search(r"- +inst +- +sum +smsp__inst_executed_op_shared_st", table)
    assert re.search(r"- +- +quotient +smsp__thread_inst", table)
    assert "not shown" not in table
