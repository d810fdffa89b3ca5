"""The simulator against the hardware: how far simulated time is from the time in a GPU's recording.

For a plan that was made from a GPU's recording, with the clock f of the part whose cycles are counted:

    T = Y / f,   ratio = T / X          Y: the total of simulated cycles; X: the recorded time of the launches
    low, high = those of Y, over f X    X is exact, so that the interval is the total's

A kernel group g has the same with its own Y_g and X_g, and adds D_g = Y_g / f - X_g to the difference. One
group explains most of it where |D_g| is more than half of sum |D| and its interval is on one side of 1: at
most one does, and D_g has the sign of the whole difference.
(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from sampling.errors import OptionError
from sampling.estimation.interval import Estimate
from sampling.estimation.total import PlanEstimate
from sampling.plan.plan_file import PlanFile
from sampling.record import Amount, Record
from sampling.simulators.measured_run import CYCLES
from sampling.simulators.results import SimulatedLaunches
from sampling.text import Wording

_CLOCK = re.compile(r"((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*([kMG]?)(?:Hz)?", re.IGNORECASE)
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
# No GPU has a clock beyond; a number without its unit would.
_SLOWEST_HZ, _FASTEST_HZ = 1e6, 1e11


class HardwareComparison(Record, frozen=True):
    """How long the simulated GPU takes beside the one that was recorded."""

    clock_hz: Amount
    simulated_ns: Amount
    recorded_ns: Amount
    #: Simulated over recorded, with its interval; None where the total has none.
    ratio: Amount
    low: Amount | None
    high: Amount | None

    @property
    def difference_ns(self) -> float:
        """How much longer the simulated GPU takes."""
        return self.simulated_ns - self.recorded_ns

    @property
    def is_clear(self) -> bool:
        """Whether the interval is on one side of 1."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


def parse_clock(text: str) -> float:
    """Return the Hz that ``1132MHz``, ``1.132 GHz`` or ``1132000000`` means; OptionError: no GPU's clock."""
    match = _CLOCK.fullmatch(text.strip())
    clock_hz = float(match[1]) * _FACTORS[match[2].lower()] if match else math.nan
    if not _SLOWEST_HZ <= clock_hz <= _FASTEST_HZ:
        message = Wording("`clock` is the clock of a GPU, not {!r}", text)
        raise OptionError(message, remedy="give it in Hz, or with kHz, MHz or GHz, such as 1132MHz")
    return clock_hz


def with_clock(plan: PlanFile, results: SimulatedLaunches, clock_hz: float | None) -> SimulatedLaunches:
    """Return results of a plan with the clock that the user says; None: that of the results stays.

    Raises OptionError: there is nothing to compare by a clock.
    """
    if clock_hz is None:
        return results
    if plan.profile.in_cycles:
        message = Wording("`clock` sets results beside a GPU's times; the plan's profile has no times")
        raise OptionError(message, remedy="leave it out")
    if CYCLES not in results.metrics:
        raise OptionError(Wording("`clock` is of the results' cycles, and they have none"))
    return replace(results, clock_hz=clock_hz)


def compare_total(estimate: PlanEstimate, total: Estimate, recorded_ns: float) -> HardwareComparison | None:
    """Return a total of cycles, of all or of a kernel group, beside the recorded time of the same launches.

    None: the clock is not known, the plan's profile has no times, the total is incomplete or of another
    metric, or the launches took no time.
    """
    clock_hz = estimate.results.clock_hz
    is_of_gpu = total.metric == CYCLES and not estimate.plan.profile.in_cycles
    if clock_hz is None or not is_of_gpu or total.is_incomplete or not recorded_ns > 0:
        return None
    cycles = recorded_ns * 1e-9 * clock_hz
    return HardwareComparison(
        clock_hz=clock_hz,
        simulated_ns=total.total * 1e9 / clock_hz,
        recorded_ns=float(recorded_ns),
        ratio=total.total / cycles,
        low=None if total.low is None else total.low / cycles,
        high=None if total.high is None else total.high / cycles,
    )


def compare_with_hardware(estimate: PlanEstimate) -> HardwareComparison | None:
    """Return the main total beside the recorded time of the launches that the plan stands for.

    None as of `compare_total`; also where kernels that were never simulated are in the total, as assumed.
    """
    if estimate.parts is not None and estimate.parts.assumed:
        return None
    return compare_total(estimate, estimate.main, estimate.plan.total_duration_ns)


def find_main_cause(comparisons: Mapping[str, HardwareComparison]) -> tuple[str, float] | None:
    """Return the kernel group that explains most of the difference, and its share of sum |D|.

    None: no group does, or it is the only one.
    """
    sizes_ns = {key: abs(comparison.difference_ns) for key, comparison in comparisons.items()}
    total_ns = sum(sizes_ns.values())
    if len(sizes_ns) < 2 or not total_ns > 0:
        return None
    key = max(sizes_ns, key=sizes_ns.__getitem__)
    share = sizes_ns[key] / total_ns
    return (key, share) if share > 0.5 and comparisons[key].is_clear else None
