"""How well the rules predict benchmarks whose targets were simulated too.

As the paper evaluates itself (GPU scale-model simulation, section VII; docs/methods.md, 10 Scale model): the
error is |predicted / actual - 1|, its mean and maximum over the benchmarks, for each rule and target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sampling.errors import AnalysisError, OptionError
from sampling.record import Record
from scalemodel.cliff import Finding
from scalemodel.measurements import Measurements
from scalemodel.predict import Outcome, Prediction, predict
from scalemodel.rules import DEFAULT_CONFIDENCE, RULES

if TYPE_CHECKING:
    from scalemodel.runs import SimulatedRun


class Check(NamedTuple):
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


class Score(Record, frozen=True):
    """One rule at one target: mean and largest of the errors, whose that is, and how many have a point."""

    mean: float | None
    max: float | None
    worst: str | None
    n: int
    #: Share of the intervals and brackets that hold the simulated IPC; None without any.
    within_interval: float | None
    #: Benchmarks that the rule has no point for.
    without: tuple[str, ...]


class Validation(NamedTuple):
    """All checks of many benchmarks, and their summary."""

    #: Rule -> target -> score; targets ascending.
    scores: Mapping[str, Mapping[int, Score]]
    #: Each prediction beside the simulated IPC, benchmark by benchmark.
    checks: tuple[Check, ...]
    #: One a benchmark that has a target.
    outcomes: tuple[Outcome, ...]
    #: Benchmark -> its findings, of the benchmarks that have some.
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
    runs: Mapping[str, Sequence[SimulatedRun]] | None = None,
) -> Validation:
    """Predict every measured size above the scale models from these.

    Parameters
    ----------
    simulated : sizes of the scale models; the two smallest of each benchmark that have an IPC where None.
    runs : benchmark -> the runs it was measured by, ascending by size: predicted launch by launch as well.

    Raises OptionError: benchmarks share a name, count their sizes in other things, or what `predict`
    raises; AnalysisError: no benchmark has a size to check.
    """
    names = [benchmark.name for benchmark in benchmarks]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise OptionError(f"two benchmarks are named {repeated[0]!r}", remedy="give each its own name")
    units = {benchmark.scaling.unit: benchmark.name for benchmark in benchmarks}
    if len(units) > 1:
        mixed = " and ".join(f"sizes of {name} are {unit}" for unit, name in units.items())
        raise OptionError(mixed, remedy="validate them apart")
    outcomes: list[Outcome] = []
    by_waves, by_rules = list[Check](), list[Check]()
    findings: dict[str, tuple[Finding, ...]] = {}
    for benchmark in benchmarks:
        name, sizes, of_runs = benchmark.name, benchmark.simulated_sizes, (runs or {}).get(benchmark.name)
        models = sizes[:2] if simulated is None else tuple(simulated)
        targets = [size for size in sizes if size > max(models, default=0)]
        if of_runs is not None and len(of_runs) == 1:
            findings[name] = (_NOTHING_TO_CHECK,)
            continue
        outcome = predict(
            benchmark,
            # Without a target the models are still checked, by the one size that is no prediction.
            targets or [max(models, default=1)],
            rules=rules,
            confidence=confidence,
            simulated=models,
            assume_f_mem=assume_f_mem,
        )
        if not targets:
            findings[name] = (_NOTHING_TO_CHECK,)
            continue
        # Of runs no MPKI is asked for: without a curve there is nothing to mend.
        notable = tuple(
            finding for finding in outcome.findings if of_runs is None or finding.code != "no-curve"
        )
        findings |= {name: notable} if notable else {}
        outcomes.append(outcome)
        by_rules += [
            Check(name, benchmark.ipc[prediction.target], prediction) for prediction in outcome.predictions
        ]
        if of_runs is not None:
            # Tables of sizes take no arrays.
            from scalemodel.waves import predict_ipc

            pair = [run for run in of_runs if run.size in outcome.models]
            waves = [predict_ipc(pair, target) for target in targets]
            by_waves += [Check(name, benchmark.ipc[prediction.target], prediction) for prediction in waves]
    if not by_rules:
        message = "no benchmark has an IPC above its scale models, so there is nothing to check"
        raise AnalysisError(message, remedy="give measured targets, or name fewer simulated sizes")
    checks = (*by_waves, *by_rules)
    scores: dict[str, dict[int, Score]] = {}
    for method in dict.fromkeys(check.prediction.method for check in checks):
        of_rule = [check for check in checks if check.prediction.method == method]
        targets = sorted({check.prediction.target for check in of_rule})
        scores[method] = {target: _score(of_rule, target) for target in targets}
    return Validation(scores, checks, tuple(outcomes), findings)


def _score(of_rule: Sequence[Check], target: int) -> Score:
    """Return the summary of one rule's checks at one target."""
    checks = [check for check in of_rule if check.prediction.target == target]
    errors = {check.benchmark: check.error for check in checks if check.error is not None}
    verdicts = [check.is_within for check in checks if check.is_within is not None]
    worst = max(errors, key=lambda name: errors[name], default=None)
    return Score(
        mean=sum(errors.values()) / len(errors) if errors else None,
        max=None if worst is None else errors[worst],
        worst=worst,
        n=len(errors),
        within_interval=sum(verdicts) / len(verdicts) if verdicts else None,
        without=tuple(check.benchmark for check in checks if check.error is None),
    )
