"""How well the rules predict benchmarks whose targets were simulated too.

As the paper evaluates itself (GPU scale-model simulation, section VII; docs/methods.md, 10 Scale model): the
error is |predicted / actual - 1|, its mean and maximum over the benchmarks, for each rule and target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scalemodel.errors import AnalysisError, Finding, OptionError
from scalemodel.interval import DEFAULT_CONFIDENCE
from scalemodel.measurements import Measurements
from scalemodel.predict import Outcome, Prediction, predict
from scalemodel.rules import RULES, ProportionalFrom

if TYPE_CHECKING:
    from scalemodel.from_logs import Run


@dataclass(frozen=True, slots=True)
class Check:
    """One prediction beside the IPC that was simulated."""

    benchmark: str
    actual: float
    prediction: Prediction

    @property
    def error(self) -> float | None:
        """|predicted / actual - 1|; None where there is no point."""
        return None if self.prediction.ipc is None else abs(self.prediction.ipc / self.actual - 1)

    @property
    def is_within(self) -> bool | None:
        """Whether the simulated IPC lies in the interval or bracket; None where there is none."""
        low, high = self.prediction.low, self.prediction.high
        if low is None and high is None:
            return None
        return (low is None or low <= self.actual) and (high is None or self.actual <= high)


@dataclass(frozen=True, slots=True)
class Score:
    """One rule at one target.

    Attributes
    ----------
    mean, max : of the errors, fractions; None where no benchmark has a point.
    worst : the benchmark of the largest error.
    n : benchmarks with a point.
    within_interval : share of the intervals and brackets that hold the simulated IPC; None without any.
    without : benchmarks that the rule has no point for.
    """

    mean: float | None
    max: float | None
    worst: str | None
    n: int
    within_interval: float | None
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Validation:
    """All checks of many benchmarks, and their summary.

    Attributes
    ----------
    scores : rule -> target -> score; targets ascending.
    checks : each prediction beside the simulated IPC, benchmark by benchmark.
    outcomes : one a benchmark that has a target.
    findings : benchmark -> its findings, of the benchmarks that have some.
    """

    scores: Mapping[str, Mapping[int, Score]]
    checks: tuple[Check, ...]
    outcomes: tuple[Outcome, ...]
    findings: Mapping[str, tuple[Finding, ...]]


_NOTHING_TO_CHECK = Finding(
    "nothing-to-check",
    "note",
    "No IPC above the scale models: nothing to check.",
    "simulate a target, or name fewer simulated sizes",
)


def validate(
    benchmarks: Sequence[Measurements],
    *,
    simulated: Sequence[int] | None = None,
    rules: Sequence[str] = tuple(RULES),
    confidence: float = DEFAULT_CONFIDENCE,
    assume_f_mem: bool = False,
    curve_is_modelled: bool = False,
    proportional_from: ProportionalFrom = "smallest",
) -> Validation:
    """Predict every measured size above the scale models from these.

    Parameters
    ----------
    simulated : sizes of the scale models; the two smallest of each benchmark that have an IPC where None.

    Raises
    ------
    OptionError : benchmarks share a name, count their sizes in other things, or what `predict` raises.
    AnalysisError : no benchmark has a size to check.
    """
    names = [benchmark.name for benchmark in benchmarks]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise OptionError(f"two benchmarks are named {repeated!r}", remedy="give each its own name")
    units = {benchmark.scaling.unit: benchmark.name for benchmark in benchmarks}
    if len(units) > 1:
        mixed = " and ".join(f"sizes of {name} are {unit}" for unit, name in units.items())
        raise OptionError(mixed, remedy="validate them apart")
    outcomes: list[Outcome] = []
    checks: list[Check] = []
    findings: dict[str, tuple[Finding, ...]] = {}
    for benchmark in benchmarks:
        models = tuple(simulated) if simulated is not None else benchmark.simulated_sizes[:2]
        targets = [size for size in benchmark.simulated_sizes if size > max(models, default=0)]
        outcome = predict(
            benchmark,
            # Without a target the models are still checked, by the one size that is no prediction.
            targets or [max(models, default=1)],
            rules=rules,
            confidence=confidence,
            simulated=models,
            assume_f_mem=assume_f_mem,
            curve_is_modelled=curve_is_modelled,
            proportional_from=proportional_from,
        )
        found = outcome.findings if targets else (_NOTHING_TO_CHECK,)
        findings |= {benchmark.name: found} if found else {}
        if targets:
            outcomes.append(outcome)
            actual = dict(zip(benchmark.sizes, benchmark.ipc, strict=True))
            checks += [
                Check(benchmark.name, simulated_ipc, each)
                for each in outcome.predictions
                if (simulated_ipc := actual[each.target]) is not None
            ]
    if not checks:
        raise AnalysisError(
            "no benchmark has an IPC above its scale models, so there is nothing to check",
            remedy="give measured targets, or name fewer simulated sizes",
        )
    return Validation(scores_of(checks), tuple(checks), tuple(outcomes), findings)


def validate_runs(
    programs: Mapping[str, Sequence[Run]],
    *,
    simulated: Sequence[int] | None = None,
    rules: Sequence[str] = tuple(RULES),
    confidence: float = DEFAULT_CONFIDENCE,
    proportional_from: ProportionalFrom = "smallest",
) -> Validation:
    """Predict the larger runs of each program from its two smallest, launch by launch and by the rules.

    Parameters
    ----------
    programs : name -> its runs, ascending by size; see `from_logs.programs_of`.

    Raises
    ------
    InputError : the instructions of a run, or the grid of a launch, are not known.
    OptionError, AnalysisError : as for `validate`.
    """
    # Tables of sizes take no arrays.
    from scalemodel.from_logs import measurements_of_runs, predicted_by_waves

    by_rules = validate(
        [measurements_of_runs(name, runs) for name, runs in programs.items() if len(runs) > 1],
        simulated=simulated,
        rules=rules,
        confidence=confidence,
        proportional_from=proportional_from,
    )
    checks = []
    for outcome in by_rules.outcomes:
        models = [run for run in programs[outcome.name] if run.size in outcome.models]
        checks += [
            Check(outcome.name, run.ipc, predicted_by_waves(models, run.size))
            for run in programs[outcome.name]
            if run.size > outcome.models[-1] and run.ipc is not None
        ]
    checks += by_rules.checks
    alone = {name: (_NOTHING_TO_CHECK,) for name, runs in programs.items() if len(runs) == 1}
    return Validation(scores_of(checks), tuple(checks), by_rules.outcomes, {**by_rules.findings, **alone})


def scores_of(checks: Sequence[Check]) -> dict[str, dict[int, Score]]:
    """Return rule -> target -> the summary of its checks; rules in their order, targets ascending."""
    groups: dict[tuple[str, int], list[Check]] = {}
    for check in sorted(checks, key=lambda check: check.prediction.target):
        groups.setdefault((check.prediction.method, check.prediction.target), []).append(check)
    scores: dict[str, dict[int, Score]] = {check.prediction.method: {} for check in checks}
    for (method, target), of_both in groups.items():
        errors = {check.benchmark: check.error for check in of_both if check.error is not None}
        within = [check.is_within for check in of_both if check.is_within is not None]
        worst = max(errors, key=lambda name: errors[name], default=None)
        scores[method][target] = Score(
            mean=sum(errors.values()) / len(errors) if errors else None,
            max=None if worst is None else errors[worst],
            worst=worst,
            n=len(errors),
            within_interval=sum(within) / len(within) if within else None,
            without=tuple(check.benchmark for check in of_both if check.error is None),
        )
    return scores
