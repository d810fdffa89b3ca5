"""View 4 without widgets: what is known of the methods, its table and its words, the command for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sampling.methods.registry import method_named, method_names
from sampling.plan.budget import hours
from sampling.plan.study import Study
from sampling.strata.target import Target
from sampling.text import counted
from tui.app.compare.orders import order_words
from tui.app.frame.heads import marked
from tui.app.frame.wording import MOST_LAUNCHES_UNASKED
from tui.app.overrides_file import printed_options
from tui.app.state import Session, decisions
from tui.charts import quantities
from tui.charts.grid import Grid, blank, fitted, put
from tui.engine.studies import target_of
from tui.options.choices import CompareSort
from tui.options.command_line import command_line, options_of
from tui.options.commands import CompareOptions
from tui.terminal.tables import Column, table
from tui.text.compare import (
    Blocks,
    Row,
    blocks,
    cannot_run_text,
    comparison_columns,
    comparison_scatter,
    falls,
    method_mark,
    promises,
)
from tui.text.facts import draws_text

CANNOT_RUN = ""
"""Stands for all methods that cannot run, where they are one line."""

_MARK_CELLS = 2


class Ending(StrEnum):
    """Why a comparison has ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known so far.

    Attributes
    ----------
    asked : what `compare` would be given.
    methods : all that are compared, in this order.
    rows : of those done, as `compare` lists them.
    notes : what methods have to say, by method; what feature files have, by "".
    doing : the running method and what it does, in words; None if none runs.
    ending : None while it runs.
    problem : why it failed.
    """

    asked: CompareOptions
    methods: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    doing: tuple[str, str] | None = None
    ending: Ending | None = None
    problem: str | None = None


def is_compared_unasked(study: Study) -> bool:
    """Return whether a workload is small enough to be compared as soon as the view is opened."""
    return study.counts.launches <= MOST_LAUNCHES_UNASKED


def asked_of(session: Session) -> CompareOptions:
    """Return what `compare` is to be given; in the app all files are one workload."""
    return options_of(CompareOptions, printed_options(session), one_workload=len(session.profiles) > 1)


def blocks_of(findings: Findings | None, sort: CompareSort, *, reverse: bool = False) -> Blocks:
    """Return the methods done so far: those that can run, in order, and those that cannot."""
    if findings is None:
        return Blocks((), ())
    promise = promises(findings.rows, findings.asked.epsilon, findings.asked.confidence)
    return blocks(findings.rows, sort, promise, reverse=reverse)


def standing(findings: Findings | None, session: Session) -> str:
    """Return how far the comparison is, and the key that starts, cancels or repeats it."""
    if findings is None:
        return "[r] starts"
    is_stale = findings.asked != asked_of(session)
    far = f"{len(findings.rows)} of {len(findings.methods)}"
    if findings.ending is None:
        return f"{far}, of the plan before; [r] anew" if is_stale else f"{far}, [c] cancel"
    if is_stale:
        return "of the plan before; [r] compares anew"
    if findings.ending is Ending.DONE:
        return f"{draws_text(findings.asked.repeats)} each, [r] again"
    return f"{findings.ending.value} after {far}, [r] anew"


def invitation(session: Session) -> str:
    """Return what the key `r` will do."""
    study = session.study
    if study is None:
        return ""
    text = (
        f"r compares {len(method_names())} methods on {quantities.count(study.counts.launches)} launches, "
        f"the plan of each drawn {asked_of(session).repeats} times"
    )
    if is_compared_unasked(study):
        return text
    return f"{text}; on so many this may take minutes, and c cancels it"


def what_to_say(findings: Findings | None, row: Row | None, session: Session) -> str:
    """Return why it failed; else what there is to say of one method."""
    if findings is not None and findings.problem is not None:
        return findings.problem
    if findings is None or row is None:
        return ""
    if row["method"] == CANNOT_RUN:
        without = [each for each in findings.rows if not each["applicable"]]
        return f"{cannot_run_text(without)}; e says why, and what would help"
    if not row["applicable"]:
        return str(row["reason"])
    method = method_named(row["method"])
    # The notes on feature files are shown for the methods that used them.
    told_of = {row["method"], *([""] if method.needs else [])}
    notes = [note for of, note in findings.notes if of in told_of]
    taken = decisions(session.overrides)
    if taken and row["method"] == session.options.method:
        notes.insert(0, f"here without your {counted(taken, 'split decision', 'split decisions')}")
    beyond = _beyond_root(target_of(findings.asked))
    if "min_samples" in method.target_fields and beyond and _is_root_faster(findings, row):
        notes.insert(0, beyond)
    notes[:0] = _plan_notes(findings, row)
    return "; ".join([f"{row['method']}: {method.source}", *_hours(row, session), *notes])


def _hours(row: Row, session: Session) -> list[str]:
    """Return the hours of one machine that a method's plan takes; nothing where no slowdown is known."""
    slowdown, study = session.options.slowdown, session.study
    if slowdown is None or study is None or not row["speedup"]:
        return []
    taken = hours(study.counts.total_duration_ns / row["speedup"], slowdown)
    return [f"{quantities.hours(taken)} of one machine, simulated {slowdown:g} times slower"]


def _plan_notes(findings: Findings, row: Row) -> list[str]:
    """Return which other methods have its plan, and where it promises less than is asked for."""
    same = [each["method"] for each in findings.rows if each["same_as"] == row["method"]]
    notes = [f"its plan is also that of {' and '.join(same)}"] if same else []
    epsilon, bound = findings.asked.epsilon, row["bound_with_noise"]
    if bound is not None and bound > epsilon:
        wide, asked = quantities.share(bound), quantities.share(epsilon)
        notes.append(f"bounds the simulated total by {wide}, not by the {asked} asked for")
    return notes


def _is_root_faster(findings: Findings, joint: Row) -> bool:
    """Return whether root, where it is compared already, takes less time than joint."""
    root = next((row for row in findings.rows if row["method"] == "root" and row["applicable"]), joint)
    return (root["speedup"] or 0) > (joint["speedup"] or 0)


def _beyond_root(target: Target) -> str:
    """Return what is asked of joint only, and the options that ask it; nothing if root is asked the same."""
    asked = (
        (target.min_samples > 1, f"draws at least {target.min_samples} a stratum", "min-samples"),
        (target.noise_floor > 0, "allows for noise in simulation", "noise-floor"),
    )
    given = [(what, option) for is_asked, what, option in asked if is_asked]
    if not given:
        return ""
    whats, options = zip(*given, strict=True)
    return f"unlike root it {' and '.join(whats)} ({', '.join(options)})"


def _figures_of(row: Row) -> str:
    """Return the two figures that place a method in the scatter."""
    speedup, error = quantities.ratio(row["speedup"]), quantities.share(row["error_mean"])
    return f"{row['method']} {speedup}, {error}"


@dataclass(frozen=True, slots=True)
class CompareLine:
    """One method, or several of one plan: letter and style as in the scatter, and figures or words.

    ``method`` is the first of them, or `CANNOT_RUN`.
    """

    method: str
    symbol: str
    style: int
    text: str
    has_figures: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """What the table shows.

    Attributes
    ----------
    found : the methods done.
    doing : a method under way, and what it does.
    explained : whether those that cannot run have a line each, with the reason, instead of one in all.
    sort, reverse : the order of those that can.
    """

    found: Blocks = Blocks((), ())
    doing: tuple[str, str] | None = None
    explained: bool = False
    sort: CompareSort = CompareSort.BEST
    reverse: bool = False

    @property
    def methods(self) -> list[str]:
        """The method of each line; of several of one plan the first."""
        return [
            *(each.methods[0] for each in self.found.can_run),
            *(() if self.doing is None else (self.doing[0],)),
            *(row["method"] for row in self.cannot_run),
        ]

    @property
    def cannot_run(self) -> Sequence[Row]:
        """A row a method that cannot run, or one for all of them."""
        rows = self.found.cannot_run
        if self.explained or not rows:
            return rows
        return [{"method": CANNOT_RUN, "applicable": False, "reason": f"[e] {cannot_run_text(rows)}"}]

    def place_of(self, method: str | None) -> str | None:
        """Return the method of the line that stands for a method; the first line if none does."""
        methods = self.methods
        if method in methods or not methods:
            return method if methods else None
        for each in self.found.can_run:
            if method in each.methods:
                return each.methods[0]
        without = [CANNOT_RUN, *(row["method"] for row in self.found.cannot_run)]
        return self.cannot_run[0]["method"] if self.cannot_run and method in without else methods[0]


def compare_lines(shown: Shown, width: int, *, ascii_only: bool) -> tuple[str, list[CompareLine]]:
    """Return the heading and the lines, none wider than `width`."""
    there = shown.found.can_run
    heading, *figures = ["method"]
    if there:
        heading, *figures = _figures(shown, width - _MARK_CELLS, ascii_only=ascii_only)
    lines = [
        _line(each.methods[0], text, has_figures=True) for each, text in zip(there, figures, strict=True)
    ]
    if shown.doing is not None:
        method, words = shown.doing
        lines.append(_line(method, f"{method}: {words}", has_figures=False))
    lines += [_line(row["method"], _reason(row), has_figures=False) for row in shown.cannot_run]
    return (
        fitted(" " * _MARK_CELLS + heading, width, ascii_only=ascii_only),
        [_within(line, width - _MARK_CELLS, ascii_only=ascii_only) for line in lines],
    )


def _figures(shown: Shown, width: int, *, ascii_only: bool) -> list[str]:
    """Return a heading and rows with as many columns as fit, spaced as widely as there is room."""
    down = falls(shown.sort, reverse=shown.reverse)
    # The mark in the head may take a cell.
    columns: list[Column] = marked(
        comparison_columns(shown.found.can_run, width - 1),
        [shown.sort.value],
        falls=down,
        ascii_only=ascii_only,
    )
    wide = table(columns).split("\n")
    return wide if len(wide[0]) <= width else table(columns, gap=" ").split("\n")


def _reason(row: Row) -> str:
    reason, method = row["reason"] or "", row["method"]
    return reason if reason.startswith(method) else f"{method}: {reason}"


def _line(method: str, text: str, *, has_figures: bool) -> CompareLine:
    mark = (" ", 0) if method == CANNOT_RUN else method_mark(method)
    return CompareLine(method, *mark, text, has_figures)


def _within(line: CompareLine, width: int, *, ascii_only: bool) -> CompareLine:
    text = fitted(line.text, width, ascii_only=ascii_only)
    return CompareLine(line.method, line.symbol, line.style, text, line.has_figures)


def table_title(
    findings: Findings | None, session: Session, sort: CompareSort, *, reverse: bool = False
) -> tuple[str, str]:
    """Return what the methods are sorted by, and how far the comparison is."""
    return f"[4] Methods{order_words(sort, reverse=reverse)}", standing(findings, session)


def scatter_title(row: Row | None) -> tuple[str, str]:
    """Return the name of the scatter, and the figures of the method under the cursor if it has any."""
    return "[tab] Speedup against error", _figures_of(row) if row is not None and row["applicable"] else ""


def draw_scatter(rows: list[Row], selected: str | None, ascii_only: bool, width: int, height: int) -> Grid:
    """Return the scatter of the methods so far, the one under the cursor marked."""
    if not rows:
        grid = blank(width, height)
        put(grid, 0, 0, fitted("no method is compared yet", width, ascii_only=ascii_only))
        return grid
    return comparison_scatter(rows, width, height, ascii_only=ascii_only, selected=selected)


def printed_by(asked: CompareOptions, sort: CompareSort, *, reverse: bool, explained: bool) -> CompareOptions:
    """Return the options of the table as it is shown."""
    return replace(asked, sort=sort, reverse=reverse, reasons=explained)


def compare_command(asked: CompareOptions, rows: Sequence[Row], scatter: tuple[int, int] | None) -> str:
    """Return the `compare` command of the methods done so far.

    Parameters
    ----------
    scatter : columns and rows of the scatter, where that is what the command is to print.
    """
    methods = tuple(row["method"] for row in rows)
    if methods and methods != method_names():
        asked = replace(asked, methods=",".join(methods))
    if scatter is not None:
        width, height = scatter
        asked = replace(asked, scatter=True, width=width, height=height)
    return command_line("compare", asked)
