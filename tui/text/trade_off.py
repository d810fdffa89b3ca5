"""A trade-off as `trade-off` prints it: the chart over the table of its points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import takewhile
from typing import Any

from sampling.methods.registry import method_named
from sampling.plan.nearby import NoPoint, TradeOffPoint
from sampling.plan.nearby import hours as machine_hours
from sampling.plan.study import Study
from sampling.strata.target import Target
from tui.charts.grid import Grid
from tui.charts.quantities import count, duration, hours, ratio
from tui.charts.size_plot import trade_off_chart
from tui.engine.planning import PlanCosts
from tui.options.command_line import with_flags
from tui.options.plan import TradeOffOptions
from tui.output.blocks import Said
from tui.output.writer import Answer, Canvas
from tui.terminal.printable import Column
from tui.text.plan import binding_rows, binding_text, share_or_unknown

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


def trade_off_answer(study: Study, known: TradeOff, options: TradeOffOptions) -> Answer:
    """Return the points in every form; what binds the plan itself stands in its row."""
    total_ns, found, slowdown = study.counts.total_duration_ns, known.costs.binding, known.costs.slowdown
    binding, rows = "", None
    if found is not None:
        rows = binding_rows(found, total_ns, slowdown)
        words = binding_text(found, study.design, total_ns, slowdown)
        binding = f"At epsilon {known.target.epsilon:g}, {ratio(study.speedup)}, {words}."

    def blocks(canvas: Canvas) -> Iterator[Said]:
        size = None if canvas.is_page else (options.width or canvas.width, options.height or _HEIGHT)
        return trade_off_blocks(known, size, binding)

    return Answer(
        "trade-off",
        _answer_rows(known, rows),
        blocks=blocks,
        warnings=(*(finding.code for finding in study.findings), *missing_texts(known)),
    )


def trade_off_blocks(known: TradeOff, size: tuple[int, int] | None, binding: str = "") -> Iterator[Said]:
    """Yield what was asked in a line, the chart, the points in a table, and remarks.

    Parameters
    ----------
    size : columns and rows of the chart; None for no chart.
    binding : what binds the plan itself, in words; "" where that is not asked for.
    """
    yield f"{known.method}, confidence {known.target.confidence:g}"
    yield from () if size is None else (known.chart(*size), "")
    yield trade_off_columns(known)
    for text in filter(None, (level_text(known), binding, *missing_texts(known))):
        yield from ("", text)


def trade_off_columns(known: TradeOff) -> list[Column]:
    """Return the points by epsilon, the chosen one marked."""
    points, slowdown = known.ascending, known.costs.slowdown
    columns = [
        Column("epsilon", [f"{point.epsilon:g}" for point in points]),
        Column("speedup", [ratio(point.speedup) for point in points]),
        Column("drawn", [count(point.samples) for point in points]),
        Column("strata", [count(point.strata) for point in points]),
        Column("sampled", [duration(point.sampled_duration_ns) for point in points]),
        Column("bound", [share_or_unknown(point.bound) for point in points]),
        Column("group", [share_or_unknown(point.group_bound) for point in points]),
        Column(
            "",
            ["<- the plan" if point.epsilon == known.target.epsilon else "" for point in points],
            to_right=False,
        ),
    ]
    if slowdown is not None:
        taken = [hours(machine_hours(point.sampled_duration_ns, slowdown)) for point in points]
        columns.insert(2, Column("one machine", taken))
    return columns


def missing_texts(known: TradeOff) -> list[str]:
    """Return at which epsilons there is no plan, a text for each reason."""
    reasons: dict[str, list[float]] = {}
    for each in known.missing:
        reasons.setdefault(each.problem.in_short, []).append(each.epsilon)
    return [
        f"No plan {_epsilons_text(known, epsilons)}, {len(epsilons)} of {known.tried} points: {reason}."
        for reason, epsilons in reasons.items()
    ]


def missing_forms(known: TradeOff) -> tuple[str, ...]:
    """Return the same in few words, the longest wording first; nothing where no point is missing."""
    if not known.missing:
        return ()
    where = _epsilons_text(known, [each.epsilon for each in known.missing])
    there, problem = f"{len(known.points)} of {known.tried} points", known.missing[0].problem
    if problem.path is None or problem.group is None:
        return f"{there}: no plan {where}", there
    return f"{there}: no node {problem.path or 'root'} in #{problem.group + 1} {where}", there


def _epsilons_text(known: TradeOff, epsilons: Sequence[float]) -> str:
    """Return these epsilons in words, as ranges of those tried (up to one, from one on) where possible."""
    tried = sorted([point.epsilon for point in known.points] + [each.epsilon for each in known.missing])
    below = list(takewhile(lambda epsilon: epsilon in epsilons, tried))
    above = list(takewhile(lambda epsilon: epsilon in epsilons, reversed(tried[len(below) :])))
    between = sorted({*epsilons} - {*below, *above})
    parts = [f"up to epsilon {below[-1]:g}"] if below else []
    parts += [f"at epsilon {', '.join(f'{epsilon:g}' for epsilon in between)}"] if between else []
    parts += [f"from epsilon {above[-1]:g} on"] if above else []
    return " and ".join(parts)


def level_text(known: TradeOff) -> str | None:
    """Return from which epsilon on the plan stays the same, and why; None where it does not."""
    first = _level_from(known)
    if first is None:
        return None
    why = ": `--group-epsilon` or `--min-samples` asks for more"
    has_others = "group_epsilon" in method_named(known.method).target_fields
    return f"From epsilon {first:g} on the plan stays the same{why if has_others else ''}."


def level_forms(known: TradeOff) -> tuple[str, ...]:
    """Return the same in few words; nothing where the plan keeps changing."""
    first = _level_from(known)
    return () if first is None else (f"same from {first:g}",)


def _level_from(known: TradeOff) -> float | None:
    """Return the least epsilon from which on all plans are the same; None where the last two are not."""
    points = known.ascending
    cost = [(point.samples, point.sampled_duration_ns) for point in points]
    level = list(takewhile(lambda each: each == cost[-1], reversed(cost)))
    return points[len(cost) - len(level)].epsilon if len(level) > 1 else None


def _answer_rows(known: TradeOff, binding: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Return a row for each epsilon, ascending; without a plan it has the reason in place of figures."""
    slowdown, chosen = known.costs.slowdown, known.target.epsilon
    no_figures = dict.fromkeys(field.name for field in fields(TradeOffPoint))
    rows: list[dict[str, Any]] = []
    for point in known.points:
        taken = None if slowdown is None else machine_hours(point.sampled_duration_ns, slowdown)
        bound_by = binding if point.epsilon == chosen else None
        rows.append(asdict(point) | {"no_plan": None, "machine_hours": taken, "binding": bound_by})
    for each in known.missing:
        reason = {"epsilon": each.epsilon, "no_plan": with_flags(each.problem.message)}
        rows.append(no_figures | reason | {"machine_hours": None, "binding": None})
    return sorted(rows, key=lambda row: float(row["epsilon"]))
