"""Options of `scale predict` and `scale validate` that were given and change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scalemodel.measurements import Measurements
from scalemodel.prediction.outcome import Outcome
from tui.options.scale import ProportionalStart, ScaleOptions


def unused_options(
    options: ScaleOptions, benchmarks: Sequence[Measurements], outcomes: Sequence[Outcome]
) -> Iterator[str]:
    """Yield a sentence for each option that no benchmark made use of."""
    if options.mpki_unit is not None and not any(benchmark.curve for benchmark in benchmarks):
        yield "--mpki-unit is not used, as there is no MPKI; leave it out"
    if options.assume_f_mem and not any(_lacks_f_mem(outcome) for outcome in outcomes):
        has_cliff = any(outcome.cliff is not None for outcome in outcomes)
        why = "f_mem is known" if has_cliff else "there is no cliff on the way to the targets"
        yield f"--assume-f-mem is not used, as {why}; leave it out"
    rules = {each.method for outcome in outcomes for each in outcome.predictions}
    if options.proportional_from is not ProportionalStart.SMALLEST and "proportional" not in rules:
        yield "--proportional-from is not used, as the rule proportional is not asked for; leave it out"


def _lacks_f_mem(outcome: Outcome) -> bool:
    return any(finding.code == "f-mem-missing" for finding in outcome.findings)
