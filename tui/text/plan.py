"""A plan in words and figures: what `sample` prints, and what the app's view of the plan copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sampling.features.metric_names import INSTRUCTIONS
from sampling.plan.design import WHOLE_WORKLOAD_KEY, StratumFacts
from sampling.plan.judge import Judgement
from sampling.plan.plan import Plan
from sampling.plan.plan_file import PlannedLaunch
from sampling.plan.study import Study
from sampling.reduction.plan_groups import is_pool_key
from tui.charts import quantities
from tui.engine.planning import PlanCosts
from tui.options.choices import PlanList
from tui.options.command_line import with_flags
from tui.output.writer import Answer, Canvas
from tui.terminal.printable import Column, names, shortened, wrapped
from tui.text import facts
from tui.text.labels.kernel_labels import KernelLabels, Labels, RowLabels, key_parts, row_labels
from tui.text.promise import (
    binding_text,
    cost_rows,
    hours_lines,
    interval_lines,
    known_sentence,
    pooled_row,
    pooled_words,
    promise_words,
    simulate_sentence,
)

_NOTHING_ASKED = PlanCosts()
# What a metric is called by those who do not know its tool.
_COSTS = dict.fromkeys(INSTRUCTIONS, "instructions")


def plan_answer(
    study: Study,
    plan: Plan,
    judgement: Judgement | None,
    rows: Sequence[dict[str, Any]],
    costs: PlanCosts,
    *,
    details: bool,
    following: str,
) -> Answer:
    """Return what `sample` says in every form; the drawn launches are the rows.

    Parameters
    ----------
    details : whether people are told every figure, not only the answer.
    following : the command to type next.
    """
    design = plan.design
    results = {
        "method": design.method,
        "launches": study.counts.launches,
        "strata": design.strata_count,
        "samples": plan.samples,
        "total_duration_ns": plan.total_duration_ns,
        "sampled_duration_ns": plan.sampled_duration_ns,
        "speedup": plan.speedup,
        "cost": _cost_row(plan),
        "bound": design.bound,
        "group_bound": design.group_bound,
        "bound_with_noise": design.bound_with_noise,
        "group_bound_with_noise": design.group_bound_with_noise,
        "promise": promise_words(design),
        "pooled": pooled_row(study),
        "expected_interval": design.expected_half_width,
        "calibrated": facts.calibrated_row(design),
        "estimate_ns": plan.estimate_ns,
        "error": plan.error,
        "floor_ns": plan.floor_ns,
        "judged": None if judgement is None else facts.judged_row(judgement),
        "epsilon": design.target.epsilon if design.random else None,
        **cost_rows(plan.total_duration_ns, costs),
        "details": None if design.picks is None else dict(design.picks.details),
    }

    def said(canvas: Canvas) -> str:
        if details:
            return plan_text(study, plan, canvas, costs, judgement)
        return plan_sentences(study, plan, canvas, costs)

    return Answer(
        "sample",
        results,
        lambda canvas: f"{said(canvas)}\nNext: {following}",
        rows=rows,
        warnings=plan_warnings(study, plan),
    )


def plan_warnings(study: Study, plan: Plan) -> tuple[str, ...]:
    """Return the warnings for scripts: findings, notes of the method, how feature files matched."""
    return (
        *(finding.code for finding in study.findings),
        *map(with_flags, plan.design.notes),
        *(with_flags(report.sentence) for report in study.reports),
    )


def plan_sentences(study: Study, plan: Plan, canvas: Canvas, costs: PlanCosts = _NOTHING_ASKED) -> str:
    """Return what to simulate, how well the whole run is known then, and what to watch out for."""
    lines = [
        simulate_sentence(plan.design, study.counts.launches, plan.total_duration_ns, plan),
        known_sentence(plan.design),
        *_cost_lines(plan),
        *hours_lines(plan.design, costs),
        *_binding_lines(plan, costs),
    ]
    lines = [part for line in lines for part in wrapped(line, canvas.width, "  ")]
    return "\n".join([*lines, *facts.finding_lines(study, canvas)])


def plan_text(
    study: Study,
    plan: Plan,
    canvas: Canvas,
    costs: PlanCosts = _NOTHING_ASKED,
    judgement: Judgement | None = None,
) -> str:
    """Return the same, and below it every figure of the plan."""
    design = plan.design
    floor, estimate = map(quantities.duration, (plan.floor_ns, plan.estimate_ns))
    pooled = pooled_words(study)
    draw = f"this draw (seed {plan.seed})" if design.random else "the choice"
    strata, expected = facts.strata_text(design.strata_count), quantities.ratio(design.speedup)
    lines = [
        f"{design.method}: {strata}{_cost_words(plan)}, {expected} expected",
        f"a plan that visits every kernel group samples at least {floor} on average",
        *([pooled] if pooled is not None else []),
        facts.bounds_line(design, judgement if design.random else None),
        *interval_lines(design),
        f"{draw} estimates {estimate}, {quantities.share(plan.error)} off",
    ]
    figures = [part for line in "\n".join(lines).splitlines() for part in wrapped(line, canvas.width, "  ")]
    return "\n".join([plan_sentences(study, plan, canvas, costs), "", *figures])


def _cost_row(plan: Plan) -> dict[str, Any] | None:
    """Return the share of the launches' cost that the plan takes, and whether its speedup is by that."""
    if plan.cost_share is None:
        return None
    return {"metric": plan.cost_metric, "share": plan.cost_share, "decides": plan.cost_decides}


def _cost_words(plan: Plan) -> str:
    return f", {_share_of_cost(plan)}" if plan.cost_decides else ""


def _share_of_cost(plan: Plan) -> str:
    share = quantities.UNKNOWN if plan.cost_share is None else quantities.share(plan.cost_share)
    return f"{share} of all {_COSTS.get(str(plan.cost_metric), plan.cost_metric)}"


def _cost_lines(plan: Plan) -> list[str]:
    """Return the speedup that a simulator sees, where the one told is that of time on the GPU."""
    if not plan.cost_share or plan.cost_decides:
        return []
    speedup = quantities.ratio(1 / plan.cost_share)
    words = f"A simulator rather takes {_share_of_cost(plan)}: speedup {speedup}"
    return [f"{words} (--cost instructions plans by them)."]


def _binding_lines(plan: Plan, costs: PlanCosts) -> list[str]:
    """Return what binds and what is expected now; nothing where it was not asked for."""
    if costs.binding is None:
        return []
    text = binding_text(costs.binding, plan.design, plan.total_duration_ns, costs.slowdown)
    if costs.binding:
        text += f"; {quantities.ratio(costs.binding[0].speedup_before)} now"
    return [text]


_GAP = 2
_LEAST_LABEL = 12
_LEAST_FIGURES = 3

#: The labels of a table without rows.
NO_ROWS = RowLabels(KernelLabels((), {}), ())


@dataclass(frozen=True)
class Listing:
    """Strata or launches as a table of any width; each row is made when it is asked for.

    Where the last column would have hardly any room, the figures before it give way, the last of them first.

    Attributes
    ----------
    figures : the columns that are as wide as their widest cell.
    heading, labels : of the last column, which takes the remaining width.
    """

    figures: tuple[Column, ...]
    heading: str
    labels: Labels

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The cells of each column of figures."""
        return tuple(max(map(len, (column.heading, *column.cells))) for column in self.figures)

    def head(self, width: int) -> str:
        """Return the headings."""
        shown = self._shown(width)
        headings = [column.heading for column in self.figures[:shown]]
        return self._line(headings, shortened(self.heading, self._room(width, shown)))

    def row(self, number: int, width: int) -> str:
        """Return a row, no wider than `width` unless the figures alone are wider."""
        shown = self._shown(width)
        cells = [column.cells[number] for column in self.figures[:shown]]
        label = self.labels.fitted(number, self._room(width, shown))
        return self._line(cells, label)

    def text(self, width: int) -> str:
        """Return the headings and all rows as lines."""
        rows = [self.row(number, width) for number in range(len(self.labels))]
        return "\n".join([self.head(width), *rows])

    def columns(self, room: int, most: int | None = None) -> tuple[Column, ...]:
        """Return the first rows as columns, their labels in at most `room` cells."""
        number = len(self.labels) if most is None else min(most, len(self.labels))
        labels = [self.labels.fitted(row, room) for row in range(number)]
        figures = (Column(each.heading, each.cells[:number], each.to_right) for each in self.figures)
        return (*figures, names(self.heading, labels))

    def _shown(self, width: int) -> int:
        """Return how many of the figures have room beside the last column."""
        shown = len(self.figures)
        while shown > _LEAST_FIGURES and self._left(width, shown) < _LEAST_LABEL:
            shown -= 1
        return shown

    def _room(self, width: int, shown: int) -> int:
        return max(self._left(width, shown), _LEAST_LABEL)

    def _left(self, width: int, shown: int) -> int:
        return width - sum(self.widths[:shown]) - _GAP * shown

    def _line(self, cells: Sequence[str], label: str) -> str:
        aligned = [cell.rjust(cells_of) for cell, cells_of in zip(cells, self.widths, strict=False)]
        return (" " * _GAP).join([*aligned, label]).rstrip()


def list_answer(study: Study, plan: Plan, launches: Sequence[PlannedLaunch], listed: PlanList) -> Answer:
    """Return the strata or the drawn launches as `sample --list` gives them in every form."""
    rows = stratum_rows(study, plan) if listed is PlanList.STRATA else launch_rows(launches)
    return Answer(
        "sample",
        rows,
        lambda canvas: _listing(study, plan, launches, listed).text(canvas.width),
        blocks=lambda canvas: [_listing(study, plan, launches, listed).columns(canvas.width)],
        warnings=plan_warnings(study, plan),
    )


def _listing(study: Study, plan: Plan, launches: Sequence[PlannedLaunch], listed: PlanList) -> Listing:
    strata = listed is PlanList.STRATA
    return stratum_listing(study, plan) if strata else launch_listing(study, plan, launches)


def stratum_rows(study: Study, plan: Plan) -> list[dict[str, Any]]:
    """Return one row a stratum, as the plan file has it; ``stratum`` is its 0-based place there."""
    return [
        {"stratum": number, **stratum._asdict()}
        for number, stratum in enumerate(plan.design.facts(study.counts))
    ]


def launch_rows(launches: Sequence[PlannedLaunch]) -> list[dict[str, Any]]:
    """Return one row a drawn launch, as the plan file has it."""
    from msgspec import to_builtins

    return [to_builtins(launch) for launch in launches]


def stratum_listing(study: Study, plan: Plan) -> Listing:
    """Return the strata: their size, spread and sample, and the kernel group they are of."""
    strata = list(plan.design.facts(study.counts))
    rank = {group.key: index for index, group in enumerate(study.counts.groups)}
    figures: tuple[Column, ...] = (
        Column("stratum", [str(number) for number in range(len(strata))]),
        Column("launches", [quantities.count(stratum.size) for stratum in strata]),
        Column("drawn", [quantities.count(stratum.samples) for stratum in strata]),
    )
    figures += (
        Column("mean", [quantities.duration(stratum.mean_ns) for stratum in strata]),
        Column("CoV", [_cov(stratum) for stratum in strata]),
        Column("durations", [quantities.duration_range(each.low_ns, each.high_ns) for each in strata]),
    )
    rows = [_group_row(study, stratum.key, rank) for stratum in strata]
    return Listing(figures, "kernel group", RowLabels(facts.kernel_labels(study), rows))


def launch_listing(study: Study, plan: Plan, launches: Sequence[PlannedLaunch]) -> Listing:
    """Return the drawn launches: which they are, what they took and what they stand for."""
    figures = (
        Column("launch", [str(launch.id) for launch in launches]),
        Column("stratum", [str(number) for number in plan.stratum.tolist()]),
        Column("duration", [quantities.duration(launch.duration_ns) for launch in launches]),
        Column("stands for", [f"{launch.weight:,.6g}" for launch in launches]),
        Column("occurrence", [str(launch.occurrence) for launch in launches]),
    )
    return Listing(figures, "kernel", row_labels(launches, facts.places_of(study)))


def _cov(stratum: StratumFacts) -> str:
    return f"{stratum.std_ns / stratum.mean_ns:.3f}" if stratum.mean_ns else quantities.UNKNOWN


def _group_row(study: Study, key: str, rank: dict[str, int]) -> tuple[str, int | None]:
    """Return a stratum's kernel group by rank and label; a pick's label is its own."""
    if key == WHOLE_WORKLOAD_KEY:
        return "all", None
    if key in rank:
        return f"#{rank[key] + 1} ", rank[key]
    if is_pool_key(key):
        pool = key_parts(key)
        place = facts.places_of(study).get((pool.process, pool.device))
        return (pool.name if place is None else f"{pool.name} {place}"), None
    return key, None
