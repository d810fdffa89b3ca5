"""Rooflines against sums over all launches, and intervals that hold them."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from sampling.errors import AnalysisError, OptionError
from sampling.estimation.roofline import measuring, summarise_bounds, summarise_roofline
from sampling.estimation.total import FEW_CARRY, PlanEstimate, estimate_plan
from sampling.plan.plan_file import PlanFile
from sampling.simulators.results import SimulatedLaunches
from tests.sampling.simulators.conftest import launch, plan_of
from tests.small_plans import stratum

TIME, BYTES = "gpu__time_duration.sum", "dram__bytes.sum"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
COMPUTE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
SASS = "sm__sass_thread_inst_executed_op_{}_pred_on.sum"
#: Two kernels of 40 launches; ns, bytes, and fma instructions of a thread of each launch.
LAUNCHES = 80
KERNEL = np.arange(LAUNCHES) % 2
NS = np.where(KERNEL == 0, 1000, 3000) + np.arange(LAUNCHES)
MOVED = np.where(KERNEL == 0, 9e5, 1e5) + 13.0 * np.arange(LAUNCHES)
FMA = np.where(KERNEL == 0, 2e6, 9e6) + 1e4 * np.arange(LAUNCHES)


def plan(ids: list[int], method: str = "root") -> PlanFile:
    strata = []
    for kernel in (0, 1):
        rows = [
            launch(id_, id_ // 2, "ab"[kernel], duration_ns=int(NS[id_]), weight=20.0)
            for id_ in ids
            if KERNEL[id_] == kernel
        ]
        of_kernel = NS[kernel == KERNEL]
        strata.append(stratum("ab"[kernel], 40, float(of_kernel.mean()), float(of_kernel.std()), rows))
    return plan_of(*strata, method=method)


def estimated(ids: list[int], method: str = "root", **metrics: np.ndarray) -> PlanEstimate:
    at = np.array(ids)
    columns = {TIME: NS.astype(float), BYTES: MOVED, SASS.format("ffma"): FMA} | metrics
    results = SimulatedLaunches(
        at, {name: values[at] for name, values in columns.items()}, units={TIME: "ns"}
    )
    return estimate_plan(plan(ids, method), results)


EVERYTHING = list(range(LAUNCHES))


def test_of_all_launches_it_is_the_quotients_of_sums() -> None:
    summary = summarise_roofline(estimated(EVERYTHING), "10T,1.5T", 8)
    run = summary.run
    expected = 2 * FMA.sum() / MOVED.sum()
    assert (run.intensity.low, run.intensity.value, run.intensity.high) == pytest.approx((expected,) * 3)
    assert run.performance.value == pytest.approx(2 * FMA.sum() / NS.sum() * 1e9)
    assert [kernel.key for kernel in summary.kernels] == ["b", "a"]
    for kernel, code in zip(summary.kernels, (1, 0), strict=True):
        mask = code == KERNEL
        assert kernel.share == pytest.approx(NS[mask].sum() / NS.sum())
        assert kernel.performance.value == pytest.approx(2 * FMA[mask].sum() / NS[mask].sum() * 1e9)
        assert kernel.intensity.value == pytest.approx(2 * FMA[mask].sum() / MOVED[mask].sum())
    assert (summary.peak_operations, summary.peak_bytes) == (10e12, 1.5e12)
    assert summary.roof_at(2.0) == 3e12
    assert summary.roof_at(100.0) == 10e12
    # Kernel a moves 900 of 1,500 bytes a ns at most, 60 %; b does 6 of 10 operations an ps at most.
    assert {*summary.bounds} == {"memory", "compute", "latency"}


def test_the_intervals_of_samples_hold_them() -> None:
    """Launches of a kernel are nearly alike, so that what is declared holds: 0.95 and more."""
    rng = np.random.default_rng(4)
    truth = summarise_roofline(estimated(EVERYTHING), None, 8)
    held = []
    for _ in range(80):
        ids = sorted(
            number for kernel in (0, 1) for number in (2 * rng.choice(40, 3, replace=False) + kernel).tolist()
        )
        summary = summarise_roofline(estimated(ids), None, 8)
        for point, true in zip((summary.run, *summary.kernels), (truth.run, *truth.kernels), strict=True):
            for its, real in ((point.intensity, true.intensity), (point.performance, true.performance)):
                assert its.low is not None
                assert its.high is not None
                held.append(its.low < (real.value or 0) < its.high)
    assert np.mean(held) > 0.9


def test_operations_of_every_precision_and_maker_add_up() -> None:
    ones = np.ones(LAUNCHES)
    double = estimated(EVERYTHING, **{SASS.format("dadd"): 3 * FMA, SASS.format("hfma"): FMA})
    base = (summarise_roofline(estimated(EVERYTHING), None, 0).run.intensity.value or 0) / 2
    assert summarise_roofline(double, None, 0).run.intensity.value == pytest.approx(base * (2 + 3 + 4))
    columns = {"duration": NS, "FETCH_SIZE": MOVED / 1024, "WRITE_SIZE": 0 * ones}
    columns |= {"SQ_INSTS_VALU_FMA_F32": ones, "SQ_INSTS_VALU_MFMA_MOPS_F16": ones}
    amd = estimate_plan(plan(EVERYTHING), SimulatedLaunches(np.array(EVERYTHING), columns))
    expected = LAUNCHES * (2 * 64 + 512) / MOVED.sum()
    assert summarise_roofline(amd, None, 0).run.intensity.value == pytest.approx(expected)


def test_tensor_cores_do_what_their_whole_paths_say_and_integers_are_none() -> None:
    """A path is counted by its result and its sparsity too, which are parts of it."""
    tensor = "sm__ops_path_tensor_src_{}.sum"
    paths = {
        tensor.format("fp16"): 5 * FMA,
        tensor.format("fp16_dst_fp32"): 5 * FMA,
        tensor.format("bf16_dst_fp32_sparsity_on"): FMA,
        tensor.format("bf16_dst_fp32_sparsity_off"): 2 * FMA,
        tensor.format("int8"): 9 * FMA,
        tensor.format("fp64") + ".per_cycle_elapsed": 7 * FMA / NS,
        "smsp__cycles_elapsed.avg.per_second": np.full(LAUNCHES, 1e9),
    }
    summary = summarise_roofline(estimated(EVERYTHING, **paths), None, 0)
    assert "tensor cores" not in summary.uncounted
    others = ["fadd", "fmul", "hadd", "hmul", "hfma", "dadd", "dmul", "dfma"]
    assert summarise_roofline(estimated(EVERYTHING), None, 0).uncounted == ["tensor cores", *others]
    assert summary.run.intensity.value == pytest.approx((2 + 5 + 1 + 2 + 7) * FMA.sum() / MOVED.sum())
    ones = np.ones(LAUNCHES)
    columns = {"duration": NS, "FETCH_SIZE": MOVED / 1024, "WRITE_SIZE": 0 * ones}
    columns |= {"SQ_INSTS_VALU_TRANS_F32": ones, "SQ_INSTS_VALU_MFMA_MOPS_I8": ones}
    amd = estimate_plan(plan(EVERYTHING), SimulatedLaunches(np.array(EVERYTHING), columns))
    of_amd = summarise_roofline(amd, None, 0)
    assert of_amd.run.intensity.value == pytest.approx(64 * LAUNCHES / MOVED.sum())
    expected = {f"SQ_INSTS_VALU_{name}_F{bits}" for name in ("ADD", "MUL", "FMA") for bits in (16, 32, 64)}
    assert {*of_amd.uncounted} == {"tensor cores", *expected}


def test_rates_of_operations_stand_for_instructions_that_a_page_lacks() -> None:
    derived = "derived__smsp__sass_thread_inst_executed_op_{}_pred_on_x{}"
    rates = {
        derived.format("ffma", 2): 40 * FMA / NS,
        derived.format("dfma", 2): 6 * FMA / NS,
        derived.format("hfma", 4): 20 * FMA / NS,
        "smsp__cycles_elapsed.avg.per_second": np.full(LAUNCHES, 1e9),
    }
    intensity = summarise_roofline(estimated(EVERYTHING, **rates), None, 0).run.intensity.value
    # Counts of fma instructions are there, so that their rate is not taken.
    assert intensity == pytest.approx((2 + 6 + 20) * FMA.sum() / MOVED.sum())


def test_what_bounds_the_run_is_said_by_the_rule_of_nsight_compute() -> None:
    memory = np.where(KERNEL == 0, 81.0, 20.0)
    compute = np.where(KERNEL == 0, 70.0, np.where(np.arange(LAUNCHES) < 40, 59.0, 61.0))
    estimate = estimated(EVERYTHING, **{MEMORY: memory, COMPUTE: compute})
    bounds = {kind: its.value for kind, its in summarise_bounds(estimate).items()}
    waits = (KERNEL == 1) & (np.arange(LAUNCHES) < 40)
    assert bounds["memory"] == pytest.approx(NS[KERNEL == 0].sum() / NS.sum())
    assert bounds["latency"] == pytest.approx(NS[waits].sum() / NS.sum())
    assert sum(filter(None, bounds.values())) == pytest.approx(1)
    assert summarise_bounds(estimated(EVERYTHING)) == {}
    # Where there are no shares, by operations, bytes and ceilings: 900 of 1,000 bytes a ns, 6 of 8 FLOP a ps.
    ones = np.ones(LAUNCHES)
    ceilings = {
        SASS.format("ffma") + ".peak_sustained": 4000 * ones,
        "sm__cycles_elapsed.avg.per_second": 1e9 * ones,
        "dram__bytes.sum.peak_sustained": 1000 * ones,
        "dram__cycles_elapsed.avg.per_second": 1e9 * ones,
    }
    by_ceilings = {
        kind: its.value for kind, its in summarise_bounds(estimated(EVERYTHING, **ceilings)).items()
    }
    assert by_ceilings["memory"] == pytest.approx(NS[KERNEL == 0].sum() / NS.sum())
    assert by_ceilings["compute"] == pytest.approx(NS[KERNEL == 1].sum() / NS.sum())
    # Of a sample that memory bounds all of.
    whole = summarise_bounds(estimated([0, 1, 2, 3], **{MEMORY: 90 + 0 * memory, COMPUTE: compute}))["memory"]
    assert (whole.value, whole.high) == (1, 1)
    assert whole.low is not None
    assert whole.low < 1


def test_the_ceilings_are_those_of_the_file() -> None:
    ones = np.ones(LAUNCHES)
    peaks = {
        SASS.format("ffma") + ".peak_sustained": 7168 * ones,
        "sm__cycles_elapsed.avg.per_second": 0.94e9 * ones,
        "dram__bytes.sum.peak_sustained": 80 * ones,
        "dram__cycles_elapsed.avg.per_second": 7.5e9 * ones,
    }
    summary = summarise_roofline(estimated(EVERYTHING, **peaks), None, 0)
    assert (summary.peak_operations, summary.peak_bytes) == pytest.approx((7168 * 2 * 0.94e9, 600e9))


def test_picked_launches_have_quotients_of_their_weighted_totals_without_an_interval() -> None:
    ids = [0, 77, 2, 79]
    estimate = estimated(sorted(ids), "pks")
    summary = summarise_roofline(estimate, None, 8)
    totals = {total.metric: total.total for total in estimate.totals}
    operations = 2 * totals[SASS.format("ffma")]
    assert operations == pytest.approx(2 * 20 * FMA[ids].sum())
    assert summary.run.intensity.value == pytest.approx(operations / totals[BYTES])
    assert summary.run.performance.value == pytest.approx(operations / totals[TIME] * 1e9)
    b = [77, 79]
    assert summary.kernels[0].intensity.value == pytest.approx(2 * FMA[b].sum() / MOVED[b].sum())
    assert {point.intensity.low for point in (summary.run, *summary.kernels)} == {None}
    assert summary.run.performance.value is not None


@pytest.mark.parametrize("peak", ["67T", "x,3T", "0,3T", "-1,3", "67T,3T,1"])
def test_peaks_are_two_numbers(peak: str) -> None:
    with pytest.raises(OptionError, match="no two numbers"):
        summarise_roofline(estimated(EVERYTHING), peak, 8)


def test_what_was_not_counted_is_named_with_a_remedy() -> None:
    at = np.array(EVERYTHING)
    cases = {
        "no time of the launches": {BYTES: MOVED, SASS.format("ffma"): FMA},
        "no floating-point operations": {TIME: NS, BYTES: MOVED},
        "no bytes of device memory": {TIME: NS, SASS.format("ffma"): FMA},
    }
    for words, columns in cases.items():
        estimate = estimate_plan(plan(EVERYTHING), SimulatedLaunches(at, columns))
        with pytest.raises(AnalysisError, match=words) as refused:
            summarise_roofline(estimate, None, 8)
        assert "export plan.json --to ncu --set roofline" in str(refused.value)
    named = structs.replace(plan(EVERYTHING), path="a b.json")
    assert measuring(named) == "measure by `kernelpoint export 'a b.json' --to ncu --set roofline`"


def test_what_few_launches_move_has_no_interval_and_what_bounds_few_has_one() -> None:
    """Bytes of one of six launches; a part of the time, which no launch has more of than its own."""
    ids = [0, 2, 4, 1, 3, 5]
    rare = estimated(ids, **{BYTES: np.where(np.arange(LAUNCHES) == 3, 9e6, 0.0)})
    run = summarise_roofline(rare, "10T,1.5T", 0).run
    assert run.intensity.value
    assert (run.intensity.low, run.intensity.high) == (None, None)
    assert run.performance.low is not None
    shares = {MEMORY: np.where(KERNEL == 0, 90.0, 30.0), COMPUTE: np.full(LAUNCHES, 50.0)}
    bounds = summarise_bounds(estimated(ids, **shares))
    assert bounds["memory"].value == pytest.approx(NS[KERNEL == 0].sum() / NS.sum(), rel=0.01)
    assert bounds["memory"].low is not None


def test_rates_of_other_launches_than_the_time_have_no_mean_and_bound_nothing() -> None:
    """Each kernel's time is of one launch, its rates are of another."""
    of_time = np.arange(LAUNCHES) < 2
    rates = {MEMORY: np.where(of_time, np.nan, 90.0), COMPUTE: np.where(of_time, np.nan, 50.0)}
    estimate = estimated([0, 1, 2, 3], **{TIME: np.where(of_time, NS, np.nan)}, **rates)
    assert {mean.name for mean in estimate.ratios} == {*rates}
    for mean in estimate.ratios:
        assert (mean.ratio, mean.reason) == (None, f"no launch has both it and {TIME}")
        assert mean.is_incomplete
    assert summarise_bounds(estimate) == {}


def test_a_launch_of_no_time_bounds_nothing() -> None:
    """Warnings are errors here."""
    is_short = np.arange(LAUNCHES) == 2
    estimate = estimated(
        EVERYTHING, **{TIME: np.where(is_short, 0.0, NS), BYTES: np.where(is_short, 0, MOVED)}
    )
    bounds = summarise_roofline(estimate, "8T,1T", 0).bounds
    time_ns = np.where(is_short, 0, NS)
    assert bounds["memory"].value == pytest.approx(time_ns[KERNEL == 0].sum() / time_ns.sum())
    assert sum(share.value or 0 for share in bounds.values()) == pytest.approx(1)


def test_of_a_kernel_whose_launches_lack_a_counter_no_place_is_known() -> None:
    estimate = estimated([0, 1, 2, 3], **{BYTES: np.where(KERNEL == 0, MOVED, np.nan)})
    kernels = {kernel.key: kernel for kernel in summarise_roofline(estimate, None, 8).kernels}
    assert (kernels["b"].intensity.value, kernels["b"].is_drawable) == (None, False)
    assert kernels["b"].performance.value
    assert kernels["a"].intensity.value


def test_a_counter_of_which_results_are_missing_is_not_said_to_be_carried_by_few() -> None:
    """Of kernel b nothing was simulated yet; of kernel a bytes are alike."""
    metrics = {"cycles": np.full(2, 7.0), "l2_accesses": np.full(2, 7.0)}
    estimate = estimate_plan(plan([0, 1, 2, 3]), SimulatedLaunches(np.array([0, 2]), metrics))
    assert all(total.is_incomplete for total in estimate.totals)
    assert FEW_CARRY not in estimate.notes


def test_a_mean_is_exact_where_what_it_is_made_of_was_counted() -> None:
    """Bytes a second are, by the time; a share of the larger of several peaks is no quotient of totals."""
    rates = {"dram__bytes.sum.per_second": MOVED / NS * 1e9, MEMORY: np.full(LAUNCHES, 90.0)}
    means = {mean.name: mean for mean in estimated([0, 1, 2, 3], **rates).ratios}
    bandwidth, throughput = (means[name] for name in rates)
    assert (bandwidth.is_exact, bandwidth.reason) == (True, None)
    assert (throughput.is_exact, throughput.reason) == (False, f"mean weighted by {TIME}")
