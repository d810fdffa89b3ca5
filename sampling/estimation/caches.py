"""How the caches were when the launches of results began, and what that says of their total.

A drawn launch that is simulated alone finds an empty L2. Such totals came out 5 to 10 % longer than the whole
run's on four programs: a bias, which no interval sees. With L2 filled beforehand seventeen plans of four
programs were within 1 %.
(docs/methods.md, 14 Launches simulated alone)

**Cold check** (this project's own, with Hajek's ratio of totals and his variance of draws by size [Hajek
1964]). Some launches, drawn in proportion to what they stand for, are simulated a second time, after 16
predecessors:

    pi_i = min(1, c x_i),  sum pi_i = r              by a systematic draw over a random order
    R = sum w_i warm_i / pi_i  /  sum w_i cold_i / pi_i
    c_i = w_i cold_i / pi_i;  u_i = w_i warm_i / pi_i - R c_i
    q = r/(r - 1) sum (1 - pi_i) u_i^2 / sum (1 - pi_i) c_i^2       the spread of warm/cold that was seen
    v = (4 k^2 + (r - 1) q) / (4 + r - 1)  sum (1 - pi_i) c_i^2 / (sum c_i)^2,   k = 0.12 R declared

The cycles of cold launches are multiplied by R, and t_nu sqrt(v) with nu = (4 + r - 1)/2 enters the interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from sampling.plan.plan_file import PlanFile
from sampling.simulators.export import FEWEST_PAIRS, FILLED, check_chances, checkable, stands_for_ns
from sampling.simulators.measured_run import CYCLES, CachesKind, caches_kind
from sampling.simulators.results import SimulatedLaunches
from sampling.strata.satterthwaite import PRIOR_DF, student_t
from sampling.text import counted

# How much warm/cold varies by launch: by 0.116 of it over a PyTorch program, 0.08 to 0.09 in plans of it.
_DECLARED = 0.12
# Where less of the time started cold, that is too little to make a total long.
_LITTLE = 0.05
_SAID = {
    "warm": "launches began with L2 filled as those before them leave it: such totals were within 1 % of the "
    "whole run's in seventeen plans of four programs; where L2 was full of stored lines, within 2 % of the "
    "same launches in the run",
    "dirty": "; of what L2 held before them {:.0f} % was dirty and began clean: where launches evict it, a "
    "total of these is too low (by 11 to 14 % on a program that fills L2)",
    "own": "{} began with what they read themselves in L2; the whole run takes more (such totals were 3 to "
    "4 % too short, up to 20 %)",
    "few": "{} began with only {} before each; the whole run takes less (such totals were 2 to 5 % too long)",
    "enough": "{} ran before each: with 16, five plans of one program were within 0.6 % of the whole run",
    "cold": "{} began with empty caches; the whole run takes less (such totals were 5 to 10 % too long, up "
    "to 40 %)",
    "unknown": "how launches found the caches is not known: where each ran alone, such totals were 5 to 10 % "
    "too long",
}
_BEGAN: Mapping[CachesKind, str] = {
    "cold": "cold",
    "own": "with their own reads in L2",
    "filled": "with filled caches",
    "unknown": "in a way that is not known",
}


class ColdCheck(NamedTuple):
    """How much less launches take that do not start cold, from some that were simulated both ways."""

    #: R, their cycles after other launches over those from cold caches.
    ratio: float
    #: sqrt v, as a fraction of R, and nu.
    standard_error: float
    degrees_of_freedom: float
    #: r.
    pairs: int

    def half_width(self, confidence: float) -> float:
        """Return how far R may be off, as a fraction of it."""
        return float(student_t(confidence, self.degrees_of_freedom)) * self.standard_error


@dataclass(frozen=True, slots=True)
class Caches:
    """How launches began, by their share of the time that the results stand for."""

    #: By state: whole, warm, loads, own, after:N, cold; unknown where neither results nor manifest say.
    shares: Mapping[str, float] = field(default_factory=dict)
    #: How most of the time began; cold where more than a little of it did.
    state: str = "unknown"
    #: What that says of a total: cold where more than a little began so and was not checked, own likewise.
    kind: CachesKind = "unknown"
    #: The same in words.
    said: str = ""
    #: Of the launches that started cold; None where there is none.
    check: ColdCheck | None = None

    @property
    def is_of_whole_run(self) -> bool:
        """Whether a total of them can be taken for the whole run's."""
        return self.kind not in ("cold", "own")

    def check_error(self, confidence: float) -> float:
        """Return how far their check may be off, as a fraction of the total; 0 where there is none."""
        # The ratio is of the cold launches alone.
        return 0.0 if self.check is None else self.check.half_width(confidence) * _share(self.shares, "cold")


def describe_caches(plan: PlanFile, results: SimulatedLaunches) -> Caches:
    """Return how the launches of a plan began that have results, and their cold check."""
    if not results.caches:
        return Caches()
    state_of = dict(zip(results.ids.tolist(), results.caches, strict=True))
    time: defaultdict[str, float] = defaultdict(float)
    for launch in plan.drawn:
        if launch.id in state_of:
            time[state_of[launch.id]] += stands_for_ns(launch)
    total = sum(time.values())
    shares = {state: part / total for state, part in time.items()} if total else {}
    check = _cold_check(plan, results)
    began_cold = _share(shares, "cold") > _LITTLE
    among = [state for state in shares if not began_cold or caches_kind(state) == "cold"]
    state = max(among, key=lambda state: shares[state], default="unknown")
    kind: CachesKind = "unknown" if state == "unknown" else "filled"
    if began_cold and check is None:
        kind = "cold"
    elif _share(shares, "own") > _LITTLE:
        kind = "own"
    dirty = sum(
        stands_for_ns(launch) / total * results.dirty_percent.get(launch.id, 0)
        for launch in plan.drawn
        if state_of.get(launch.id) in FILLED
    )
    part = _share(shares, kind)
    launches = "launches" if part > 1 - _LITTLE else f"launches of {100 * part:.3g} % of the time"
    if began_cold and check is not None:
        message = (
            f"launches started cold, and {check.pairs} of them were simulated after others too: "
            f"cycles are multiplied by {check.ratio:.3f}, as these show"
        )
    elif kind == "own":
        message = _SAID["own"].format(launches)
    elif state.startswith("after:"):
        before = counted(int(state.removeprefix("after:")), "launch", "launches")
        message = _SAID["few"].format(launches, before) if kind == "cold" else _SAID["enough"].format(before)
    else:
        message = _SAID.get("warm" if state == "loads" else state, "").format(launches)
    if dirty > 100 * _LITTLE:
        message += _SAID["dirty"].format(dirty)
    return Caches(shares, state, kind, message if shares else "", check)


def _share(shares: Mapping[str, float], kind: CachesKind) -> float:
    """Return how much of the time began so."""
    return sum(share for state, share in shares.items() if caches_kind(state) == kind)


def warmed(results: SimulatedLaunches, check: ColdCheck | None) -> SimulatedLaunches:
    """Return results with the cycles of launches that started cold as their check corrects them."""
    if check is None or CYCLES not in results.metrics:
        return results
    is_cold = [caches_kind(state) == "cold" for state in results.caches]
    cycles = results.metrics[CYCLES] * np.where(is_cold, check.ratio, 1.0)
    return replace(results, metrics={**results.metrics, CYCLES: cycles})


def unlike_caches(caches: Caches, other_caches: Caches) -> str:
    """Return that two results differ in how their launches began, or that both began cold; else nothing."""
    if (
        not caches.shares
        or not other_caches.shares
        or (caches.is_of_whole_run and other_caches.is_of_whole_run)
    ):
        return ""
    if caches.kind == other_caches.kind:
        return f"of launches that began {_BEGAN[caches.kind]}"
    return (
        f"its launches began {_BEGAN[caches.kind]}, those of the other results {_BEGAN[other_caches.kind]}: "
        "that alone makes a difference"
    )


def _cold_check(plan: PlanFile, results: SimulatedLaunches) -> ColdCheck | None:
    """Return what launches that are there both ways say; None where fewer than two are."""
    if results.again is None:
        return None
    cold, warm = _find_cycles(results, "cold"), _find_cycles(results.again, "filled")
    launches = checkable(plan)
    is_pair = np.array([launch.id in cold and launch.id in warm for launch in launches], dtype=np.bool_)
    pairs_drawn = [launch for launch, is_taken in zip(launches, is_pair, strict=True) if is_taken]
    pairs = len(pairs_drawn)
    if pairs < FEWEST_PAIRS:
        return None
    chance = check_chances(launches, pairs)[is_pair]
    weight = np.array([launch.weight for launch in pairs_drawn]) / chance
    of_cold = weight * np.array([cold[launch.id] for launch in pairs_drawn])
    of_warm = weight * np.array([warm[launch.id] for launch in pairs_drawn])
    ratio = float(of_warm.sum() / of_cold.sum())
    left = of_warm - ratio * of_cold
    unit, squares = (float(((1 - chance) * values**2).sum()) for values in (of_cold, left))
    observed_var = pairs / (pairs - 1) * squares / unit if unit else 0.0
    df = PRIOR_DF + pairs - 1
    spread = (PRIOR_DF * (_DECLARED * ratio) ** 2 + (pairs - 1) * observed_var) / df
    error = float(np.sqrt(spread * unit)) / float(of_warm.sum())
    return ColdCheck(ratio, error, df / 2, pairs)


def _find_cycles(results: SimulatedLaunches, kind: CachesKind) -> dict[int, float]:
    """Return the cycles, where they are known, of the launches that began so, by id."""
    cycles = results.metrics.get(CYCLES, np.full(len(results.ids), np.nan)).tolist()
    rows = zip(results.ids.tolist(), cycles, results.caches, strict=True)
    return {
        number: value for number, value, state in rows if caches_kind(state) == kind and not np.isnan(value)
    }
