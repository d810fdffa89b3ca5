"""A trade-off as `trade-off` prints it: the chart over the table of its points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from sampling.methods.registry import method_named
from sampling.plan.draft import Draft
from sampling.plan.plan_summary import relaxed_options, row_without_plan, trade_off_row
from sampling.plan.sensitivity import NoPoint, PlanCosts, TradeOffPoint, machine_hours
from sampling.strata.target import Target
from sampling.text import listed
from tui.charts.grid import Grid
from tui.charts.quantities import count, duration, hours, ratio, share
from tui.charts.size_plot import trade_off_chart
from tui.options.command_line import with_flags
from tui.options.plan import TradeOffOptions
from tui.output.blocks import Block
from tui.output.writer import Canvas, CommandResult
from tui.terminal.printable import Column
from tui.text.plan import binding_text

_HEIGHT = 16


@dataclass(frozen=True, slots=True)
class TradeOff:
    """What is known of a trade-off."""

    method: str
    #: What the plan itself is asked; its epsilon is the chosen one.
    target: Target
    #: All epsilons that are or will be computed, the points computed, and those without a plan, in any order.
    epsilons: tuple[float, ...]
    points: tuple[TradeOffPoint, ...] = ()
    missing: tuple[NoPoint, ...] = ()
    #: What binds the plan itself, and the slowdown, where they are asked for.
    costs: PlanCosts = PlanCosts()

    @property
    def tried(self) -> int:
        """How many epsilons have been tried."""
        return len(self.points) + len(self.missing)

    @property
    def ascending(self) -> list[TradeOffPoint]:
        """The points by their epsilon."""
        return sorted(self.points, key=lambda point: point.epsilon)

    def chart(self, width: int, height: int) -> Grid:
        """Draw the points."""
        return trade_off_chart(self.points, self.epsilons, self.target.epsilon, width, height)


def trade_off_result(draft: Draft, curve: TradeOff, options: TradeOffOptions) -> CommandResult:
    """Return a row for each epsilon, ascending; without a plan it has the reason in place of figures.

    What binds the plan itself stands in its row.
    """
    total_ns = draft.counts.total_duration_ns
    relaxations = curve.costs.binding
    slowdown = curve.costs.slowdown
    words, binding = "", relaxed_options(total_ns, curve.costs)
    if relaxations is not None:
        words = binding_text(relaxations, draft.design, total_ns, slowdown)
        words = f"At epsilon {curve.target.epsilon:g}, {ratio(draft.speedup)}, {words}."
    rows = [
        trade_off_row(point, slowdown, binding if point.epsilon == curve.target.epsilon else None)
        for point in curve.points
    ]
    rows += [row_without_plan(point.epsilon, with_flags(point.problem.message)) for point in curve.missing]
    rows.sort(key=lambda row: row.epsilon)

    def blocks(canvas: Canvas) -> Iterator[Block]:
        size = None if canvas.is_page else (options.width or canvas.width, options.height or _HEIGHT)
        return trade_off_blocks(curve, size, words)

    return CommandResult(
        "trade-off",
        rows,
        blocks=blocks,
        warnings=(*(finding.code for finding in draft.findings), *missing_texts(curve)),
    )


def trade_off_blocks(curve: TradeOff, size: tuple[int, int] | None, binding: str = "") -> Iterator[Block]:
    """Yield what was asked in a line, the chart, the points in a table, the plan's own marked, and remarks.

    `size`: columns and rows of the chart; None for no chart. `binding`: what binds the plan itself, in words;
    "" where that is not asked for.
    """
    points, slowdown = curve.ascending, curve.costs.slowdown
    marks = ["<- plan" if point.epsilon == curve.target.epsilon else "" for point in points]
    columns = [
        Column("epsilon", [f"{point.epsilon:g}" for point in points]),
        Column("speedup", [ratio(point.speedup) for point in points]),
        Column("drawn", [count(point.samples) for point in points]),
        Column("strata", [count(point.strata) for point in points]),
        Column("sampled", [duration(point.sampled_duration_ns) for point in points]),
        Column("simulated", [share(point.promised_error) for point in points]),
        Column("bound", [share(point.bound) for point in points]),
        Column("group", [share(point.group_bound) for point in points]),
        Column("", marks, to_right=False),
    ]
    if slowdown is not None:
        # In place of the time on the GPU, which is the same in proportion: all fits 80 columns.
        machine_times = [hours(machine_hours(point.sampled_duration_ns, slowdown)) for point in points]
        columns[4] = Column("one machine", machine_times)
    yield f"{curve.method}, confidence {curve.target.confidence:g}"
    yield from () if size is None else (curve.chart(*size), "")
    yield columns
    first, level = _level_from(curve), ""
    if first is not None:
        reason = ": `--group-epsilon` or `--min-samples` asks for more"
        has_others = "group_epsilon" in method_named(curve.method).target_fields
        level = f"From epsilon {first:g} on the plan stays the same{reason if has_others else ''}."
    for text in filter(None, (level, binding, *missing_texts(curve))):
        yield from ("", text)


def missing_texts(curve: TradeOff) -> list[str]:
    """Return at which epsilons there is no plan, a text for each reason."""
    reasons: dict[str, list[str]] = {}
    for point in sorted(curve.missing, key=lambda point: point.epsilon):
        reasons.setdefault(point.problem.in_short, []).append(f"{point.epsilon:g}")
    return [
        f"No plan at epsilon {listed(epsilons)}, {len(epsilons)} of {curve.tried} points: {reason}."
        for reason, epsilons in reasons.items()
    ]


def missing_forms(curve: TradeOff) -> tuple[str, ...]:
    """Return the same in few words, the longest wording first; nothing where no point is missing."""
    points_text = f"{len(curve.points)} of {curve.tried} points"
    problems = dict.fromkeys(point.problem.in_short for point in curve.missing)
    return (*(f"{points_text}: {problem}" for problem in problems), points_text)[-2:] if problems else ()


def level_forms(curve: TradeOff) -> tuple[str, ...]:
    """Return the same in few words; nothing where the plan keeps changing."""
    first = _level_from(curve)
    return () if first is None else (f"nothing gained above {first:g}", f"same from {first:g}")


def _level_from(curve: TradeOff) -> float | None:
    """Return the least epsilon from which on all plans are the same; None where the last two are not."""
    points = curve.ascending
    cost = [(point.samples, point.sampled_duration_ns) for point in points]
    level = list(takewhile(lambda point_cost: point_cost == cost[-1], reversed(cost)))
    return points[len(cost) - len(level)].epsilon if len(level) > 1 else None
