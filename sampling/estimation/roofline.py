"""The roofline of a whole run and its kernels, from counters of drawn launches, and what bounds the run.

A launch does a floating-point operations on b bytes of device memory in time t. Of the run, and of a kernel,

    intensity = sum a / sum b,   performance = sum a / sum t

are quotients of totals, each with the interval of `ratio`. What bounds the run is the share of its time in
launches that memory bounds, or compute, or neither, which wait (latency): Nsight Compute's rule by the shares
of their peaks that a launch reaches, waiting below 60 % of both, else bounded by the larger.
(docs/methods.md, 17 Counters of a profiler)
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from msgspec import structs

from sampling.arrays import BoolArray, FloatArray
from sampling.errors import AnalysisError, NoMetricError, OptionError
from sampling.estimation.total import PlanEstimate, compared_keys, quotient
from sampling.features.counters import OPERATIONS, TIMES
from sampling.plan.plan_file import PlanFile
from sampling.record import Amount, Bounds, Count, Fraction, Quantity, Record
from sampling.strata.satterthwaite import divide
from sampling.text import Wording

_NVIDIA = re.compile(
    r"(?:sm|smsp)__(?:sass_thread_inst_executed_op_([dfh])(add|mul|fma)_pred_on|ops_path_tensor_(src_(?!int)\w+))"
    r"\.sum(\.per_cycle_elapsed)?"
)
# A page may have the rate of the operations and not that of the instructions.
_DERIVED = re.compile(r"derived__smsp__sass_thread_inst_executed_op_([dfh])(add|mul|fma)_pred_on_x([124])")
_VALU = re.compile(r"SQ_INSTS_VALU_(ADD|MUL|FMA|TRANS)_F(16|32|64)")
_MFMA = re.compile(r"SQ_INSTS_VALU_MFMA_MOPS_(?!I)\w+")
# Operations of an instruction of a wave, and of one that a matrix instruction counts.
_LANES, _MFMA_OPERATIONS = 64, 512
_FREQUENCY = "smsp__cycles_elapsed.avg.per_second"
_SHARES = (
    ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput"),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput"),
)
_PEAKS = (
    ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", "sm__cycles_elapsed.avg.per_second"),
    ("dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second"),
)
_AMOUNT = r"\s*(\d{1,20}(?:\.\d*)?(?:e\d\d?)?)\s*([kMGTP]?)\s*"
_TWO_PEAKS = re.compile(f"{_AMOUNT},{_AMOUNT}")
_FACTORS = {prefix: 1000.0**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P"))}
_BUSY = 60.0
_PROBLEMS = {
    "time": "no time of the launches was measured",
    "operations": "no floating-point operations were counted",
    "bytes": "no bytes of device memory were counted",
}


class RooflinePoint(Record, frozen=True):
    """Where the run, or a kernel group, lies."""

    key: str  #: of the kernel group; "" is the run
    share: Fraction  #: of the profile's time
    intensity: Quantity  #: operations a byte of device memory
    performance: Quantity  #: operations a second

    @property
    def is_drawable(self) -> bool:
        """Whether it has a place on logarithmic axes."""
        return bool(self.intensity.value) and bool(self.performance.value)


class RooflineSummary(Record, frozen=True):
    """A roofline, and what bounds the run by share of time."""

    peak_operations: Amount | None  #: a second; None where neither the file nor the user says it
    peak_bytes: Amount | None
    run: RooflinePoint
    kernels: list[RooflinePoint]  #: the largest, by the profile's time
    kernel_groups: Count  #: how many there are
    uncounted: list[str]  #: floating-point operations that were not counted, and so are not in it
    bounds: Bounds

    def roof_at(self, intensity: float | None) -> float | None:
        """Return operations a second at most, of so many a byte; None where that is not known."""
        if self.peak_operations is None or self.peak_bytes is None or intensity is None:
            return None
        return min(self.peak_operations, intensity * self.peak_bytes)


def summarise_roofline(estimate: PlanEstimate, peaks: str | None, kernels: int) -> RooflineSummary:
    """Return the roofline of the run and of its largest kernel groups.

    ``peaks``: operations and bytes a second, as "67T,3.35T"; None: what the counters say of the device.

    Raises AnalysisError: operations or bytes were not counted; OptionError: the peaks are no two numbers.
    """
    metrics = estimate.results.metrics
    columns = _columns(metrics)
    for name, problem in _PROBLEMS.items():
        if name not in columns:
            raise AnalysisError(problem, remedy=measuring(estimate.plan))
    peak_operations, peak_bytes = _parse_peaks(peaks) if peaks else _device_peaks(metrics)
    columns |= (bounds := _bound_times(estimate, columns, peak_operations, peak_bytes))
    key_of = np.array(compared_keys(estimate.plan))
    profiled_ns = np.array([stratum.size * stratum.mean_ns for stratum in estimate.plan.strata])

    def point(key: str, strata: BoolArray | None = None) -> RooflinePoint:
        share = 1.0 if strata is None else float(profiled_ns[strata].sum() / max(profiled_ns.sum(), 1))
        place = (_quotient(estimate, columns, "operations", below, strata) for below in ("bytes", "time"))
        return RooflinePoint(key, min(share, 1.0), *place)

    largest = sorted({*key_of.tolist()}, key=lambda key: (-profiled_ns[key_of == key].sum(), key))[:kernels]
    return RooflineSummary(
        peak_operations,
        peak_bytes,
        point(""),
        [point(key, key_of == key) for key in largest],
        len({*key_of.tolist()}),
        _uncounted({*_counted_operations(metrics, columns["time"])}),
        _shares(estimate, columns, bounds),
    )


def summarise_bounds(estimate: PlanEstimate) -> Bounds:
    """Return what bounds the run by share of time, where the counters tell; else nothing."""
    metrics = estimate.results.metrics
    columns = _columns(metrics)
    bounds = _bound_times(estimate, columns, *_device_peaks(metrics))
    return _shares(estimate, columns | bounds, bounds)


def measuring(plan: PlanFile) -> str:
    """Return how the counters of a plan's launches that this takes are measured."""
    target = "rocprofv3" if plan.is_amd else "ncu"
    return f"measure by `kernelpoint export {shlex.quote(plan.path or 'PLAN')} --to {target} --set roofline`"


def _columns(metrics: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return (n,) time in seconds, operations and bytes of each launch, of these what was measured."""
    time_s = next((metrics[name] / 1e9 for name in TIMES if name in metrics), None)
    if time_s is None:
        return {}
    columns = {"time": time_s, "operations": _operations(metrics, time_s), "bytes": _bytes(metrics, time_s)}
    return {
        name: values for name, values in columns.items() if values is not None and not np.isnan(values).all()
    }


def _quotient(
    estimate: PlanEstimate,
    columns: Mapping[str, FloatArray],
    above: str,
    below: str,
    strata: BoolArray | None = None,
    *,
    is_share: bool = False,
) -> Quantity:
    results = replace(estimate.results, metrics=columns)
    confidence = estimate.main.confidence
    ratio = quotient(estimate.plan, results, above, below, confidence, strata, is_share=is_share)
    return Quantity(ratio.ratio, ratio.low, ratio.high)


def _shares(estimate: PlanEstimate, columns: Mapping[str, FloatArray], bounds: Iterable[str]) -> Bounds:
    """Return the share of the time of each bound, which is 1 at most; of none where no launch tells it."""
    try:
        shares = {name: _quotient(estimate, columns, name, "time", is_share=True) for name in bounds}
    except NoMetricError:
        return {}
    return {
        name: share if share.high is None else structs.replace(share, high=min(share.high, 1.0))
        for name, share in shares.items()
    }


def _counted_operations(metrics: Mapping[str, FloatArray], time_s: FloatArray) -> dict[str, FloatArray]:
    """Return (n,) floating-point operations by what was counted, those of half precision two an instruction.

    Names are those of counters: ``ffma``, ``src_fp16_dst_fp32`` of tensor cores, AMD's counters as they are.
    """
    counted: dict[str, FloatArray] = {}
    all_cycles = metrics.get(_FREQUENCY, np.full(len(time_s), np.nan)) * time_s
    for name, values in metrics.items():
        if (match := _NVIDIA.fullmatch(name)) is not None:
            kind, operation, path, rate = match.groups()
            stem = path or kind + operation
            # The same stands there of an SM and of its parts, as a count and as a rate.
            if rate is None or stem not in counted:
                cycles = all_cycles if rate else 1.0
                counted[stem] = values * cycles * OPERATIONS.get(operation, 1) * (1 + (kind == "h"))
        elif (match := _DERIVED.fullmatch(name)) is not None:
            kind, operation, times = match.groups()
            instructions = values * all_cycles / int(times)
            counted.setdefault(kind + operation, instructions * OPERATIONS[operation] * (1 + (kind == "h")))
        elif (match := _VALU.fullmatch(name)) is not None:
            counted[name] = values * _LANES * OPERATIONS.get(match[1].lower(), 1)
        elif _MFMA.fullmatch(name):
            counted[name] = values * _MFMA_OPERATIONS
    return counted


def _uncounted(counted: Collection[str]) -> list[str]:
    """Return the floating-point operations of a GPU that are not among those that were counted."""
    of_amd = [
        f"SQ_INSTS_VALU_{operation.upper()}_F{bits}" for operation in OPERATIONS for bits in (16, 32, 64)
    ]
    of_nvidia = [kind + operation for kind in "fhd" for operation in OPERATIONS]
    expected = of_amd if any(name.startswith("SQ_") for name in counted) else of_nvidia
    has_matrices = any(name.startswith("src_") or _MFMA.fullmatch(name) for name in counted)
    return [*([] if has_matrices else ["tensor cores"]), *(name for name in expected if name not in counted)]


def _operations(metrics: Mapping[str, FloatArray], time_s: FloatArray) -> FloatArray | None:
    """Return (n,) floating-point operations of all kinds."""
    counted = _counted_operations(metrics, time_s)
    # What tensor cores do of a source is counted by result and sparsity too.
    wholes = [
        values
        for name, values in counted.items()
        if not any(name.startswith(f"{whole}_") for whole in counted)
    ]
    return np.sum(wholes, axis=0) if counted else None


def _bytes(metrics: Mapping[str, FloatArray], time_s: FloatArray) -> FloatArray | None:
    """Return (n,) bytes of device memory that were read and written."""
    for names, unit in (
        (("dram__bytes.sum",), 1.0),
        (("dram__bytes_read.sum", "dram__bytes_write.sum"), 1.0),
        (("dram__bytes.sum.per_second",), time_s),
        (("FETCH_SIZE", "WRITE_SIZE"), 1024.0),
    ):
        if all(name in metrics for name in names):
            return np.asarray(np.sum([metrics[name] for name in names], axis=0) * unit)
    return None


def _device_peaks(metrics: Mapping[str, FloatArray]) -> tuple[float | None, float | None]:
    """Return operations (32 bits, an fma is two) and bytes a second at most, where the counters have them."""
    peaks = []
    for (per_cycle, frequency), unit in zip(_PEAKS, (OPERATIONS["fma"], 1), strict=True):
        nothing = np.array([np.nan])
        values = metrics.get(per_cycle, nothing) * metrics.get(frequency, nothing) * unit
        peaks.append(None if np.isnan(values).all() else float(np.nanmax(values)))
    return peaks[0], peaks[1]


def _parse_peaks(text: str) -> tuple[float, float]:
    match = _TWO_PEAKS.fullmatch(text)
    if match is None or not float(match[1]) * float(match[3]) > 0:
        remedy = "give operations and bytes a second, as 67T,3.35T"
        raise OptionError(Wording("`peak` is no two numbers above 0: {!r}", text), remedy=remedy)
    return float(match[1]) * _FACTORS[match[2]], float(match[3]) * _FACTORS[match[4]]


def _bound_times(
    estimate: PlanEstimate,
    columns: Mapping[str, FloatArray],
    peak_operations: float | None,
    peak_bytes: float | None,
) -> dict[str, FloatArray]:
    """Return (n,) the time of each launch by what bounds it; nothing where that is not known."""
    metrics, units = estimate.results.metrics, estimate.results.units
    # A details page has Memory Throughput as bytes a second too.
    shares: Sequence[FloatArray | None] = [
        next((metrics[name] for name in names if name in metrics and units.get(name, "%") == "%"), None)
        for names in _SHARES
    ]
    if "time" not in columns:
        return {}
    if any(share is None for share in shares):
        if peak_operations is None or peak_bytes is None or not columns.keys() >= _PROBLEMS.keys():
            return {}
        pairs = ((columns["bytes"], peak_bytes), (columns["operations"], peak_operations))
        # What takes no time has no share of it, whatever bounds that.
        shares = [100 * divide(values, columns["time"] * peak, 0.0) for values, peak in pairs]
    memory, compute = (np.asarray(share) for share in shares)
    is_known, waits = ~np.isnan(memory + compute), np.maximum(memory, compute) < _BUSY
    kinds: dict[str, BoolArray] = {
        "memory": ~waits & (memory >= compute),
        "compute": ~waits & (memory < compute),
        "latency": waits,
    }
    return {kind: np.where(is_known, columns["time"] * mask, np.nan) for kind, mask in kinds.items()}
