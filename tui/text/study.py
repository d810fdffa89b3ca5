"""Programs on configurations, in words: what the means tell, every cell, what is missing, what comes next."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sampling.estimation.configurations import GroupSpeedup, PlanSpeedups
from sampling.estimation.speedup import Speedup, Verdict
from sampling.estimation.suite import Mean, Means
from sampling.study.comparison import ProgramComparison, StudySpeedups
from sampling.study.summary import find_study_changes
from sampling.text import counted, joined, listed
from tui.charts.quantities import UNKNOWN
from tui.charts.whiskers import axis_words, ratio_axis, whisker_row
from tui.options.simulate import SpeedupOptions
from tui.output.blocks import MOST_ROWS, Block, CommandLine, Listing, Pairs
from tui.output.writer import Canvas
from tui.terminal.printable import Column, cell_width, is_ascii, names, table
from tui.text.labels import group_places, key_parts, place_lines
from tui.text.speedup import (
    change_text,
    changes_text,
    clause_text,
    ends_text,
    interval_text,
    kernel_listing,
    pair_name,
    per_cent,
    ratio_text,
    speedup_notes,
    verdict_text,
    verdict_word,
)

_PAGE_BAR = 40
_MOST_MISSING = 3
#: What a verdict is in a cell.
_MARKS = {Verdict.FASTER: "▲", Verdict.SLOWER: "▼", Verdict.SAME: "=", Verdict.OPEN: "?"}
_ASCII_MARKS = {Verdict.FASTER: ">", Verdict.SLOWER: "<", Verdict.SAME: "=", Verdict.OPEN: "?"}
#: The means over programs, in words.
MEANS = {"geometric": "geometric mean", "harmonic": "harmonic mean", "total": "total work"}


def study_blocks(
    study: StudySpeedups,
    kernels: Sequence[tuple[str, GroupSpeedup]],
    options: SpeedupOptions,
    following: str,
    canvas: Canvas,
) -> Iterator[Block]:
    """Yield who is faster in the mean, every cell, what differs between configurations, what is missing."""
    yield from study_sentences(study, options)
    if any(True for _ in study.compared):
        yield ""
        yield from _cell_tables(study, canvas)
    if changes := {name: text for (base, name), text in pair_changes(study).items() if base == study.base}:
        yield ""
        yield f"Options other than {study.base}'s:"
        yield Pairs([*changes.items()])
    for program in dict.fromkeys(program for program, _ in kernels):
        groups = [group for name, group in kernels if name == program][:MOST_ROWS]
        yield ""
        yield f"Kernels of {program} that gain and lose most:"
        yield kernel_listing(dict(study.compared)[program], groups)
        yield from place_lines(group_places([key_parts(group.key) for group in groups]))
    yield from [CommandLine(following)] if following else []


# Sentences.


def study_sentences(study: StudySpeedups, options: SpeedupOptions) -> Iterator[str]:
    """Yield who is faster in the mean, what is missing, what is to be known beside it."""
    yield from caches_lines(study)
    yield answer_text(study)
    if study.missing:
        yield missing_text(study)
    yield from study_notes(study)
    yield from target_lines(study, options)


def caches_lines(study: StudySpeedups) -> Iterator[str]:
    """Yield how launches found the caches, of programs whose speedups are not those of the whole run."""
    for program, speedups in study.compared:
        caches = speedups.base.estimate.caches
        if not speedups.is_of_whole_run and caches.said:
            yield f"{caches.kind.upper()}: {program}: {caches.said}"


def target_lines(study: StudySpeedups, options: SpeedupOptions) -> Iterator[str]:
    """Yield whether all speedups are as narrow as asked for; nothing where some are missing."""
    if options.target is not None and not study.missing:
        is_met = study.is_within(options.target, accept_cold=options.accept_cold)
        yield f"all within {per_cent(options.target)} as asked for" if is_met else unmet_text(study, options)


def is_open(study: StudySpeedups, options: SpeedupOptions) -> bool:
    """Return whether a cell has no results yet, or a speedup is not as narrow as the target."""
    if study.missing or options.target is None:
        return bool(study.missing)
    return not study.is_within(options.target, accept_cold=options.accept_cold)


def run_command(options: SpeedupOptions) -> str:
    """Return the command that simulates more of a study."""
    return f"kernelpoint run {shlex.quote(options.plan)}"


def answer_text(study: StudySpeedups) -> str:
    """Return what the means tell of each configuration, of how many launches, and how surely."""
    compared = list(study.compared)
    if not compared:
        return "Nothing is compared yet: less than the base and another configuration have results."
    if len(study.programs) == 1:
        return verdict_text(compared[0][1])
    clauses, alike, open_clauses = list[str](), list[str](), list[str]()
    for name, means in _ordered_means(study):
        verdict = study.verdict(means.geometric)
        if verdict is Verdict.SAME:
            alike.append(name)
        else:
            told = open_clauses if verdict is Verdict.OPEN else clauses
            told.append(_mean_clause(study, name, means.geometric))
    if alike:
        clauses.append(f"{joined([*alike, study.base])} are the same within {per_cent(study.same_within)}")
    clauses += open_clauses
    if not clauses:
        clauses = ["no mean yet, which waits for every program"]
    drawn = sum(len(speedups.plan.drawn) for _, speedups in compared)
    launches = sum(speedups.plan.launches for _, speedups in compared)
    sure = f"{100 * study.confidence:.4g} %" + (" for all together" if study.simultaneous else " sure")
    programs = counted(len(study.programs), "program")
    share = f"{drawn:,} of {counted(launches, 'launch', 'launches')}"
    return f"{'; '.join(clauses)}, in the geometric mean. {share}, {programs}, {sure}."


def _ordered_means(study: StudySpeedups) -> list[tuple[str, Means]]:
    """Return the means of configurations: the largest speedup first, then those alike, then those open."""
    last = [Verdict.SAME, Verdict.OPEN]

    def place(item: tuple[str, Means]) -> tuple[int, float]:
        mean = item[1].geometric
        verdict = study.verdict(mean)
        return 1 + last.index(verdict) if verdict in last else 0, -abs(math.log(mean.ratio))

    return sorted(study.means.items(), key=place)


def _mean_clause(study: StudySpeedups, name: str, mean: Mean) -> str:
    verdict = study.verdict(mean)
    if verdict is None:
        word = Verdict.FASTER if mean.ratio >= 1 else Verdict.SLOWER
        return f"{name} is {change_text(mean.ratio, word)} than {study.base}, without an interval"
    if verdict is Verdict.SAME:
        return f"{name} and {study.base} are the same within {per_cent(study.same_within)}"
    ends = ends_text(mean.low, mean.high, verdict)
    if verdict is Verdict.OPEN:
        return f"{name} is not told apart from {study.base} ({ends})"
    return f"{name} is {change_text(mean.ratio, verdict)} than {study.base} ({ends})"


def missing_text(study: StudySpeedups) -> str:
    """Return which cells have no results, which the means wait for, and where these are looked for."""
    cells = [f"{configuration} on {program} ({place})" for program, configuration, place in study.missing]
    total = len(study.programs) * len(study.configurations)
    waiting = ", which the means wait for" if len(study.programs) > 1 else ""
    return f"no results yet of {len(cells)} of {total} cells{waiting}: {listed(cells, _MOST_MISSING)}"


def cell_texts(study: StudySpeedups) -> list[list[str]]:
    """Return what is told of every cell of `table_rows`."""
    pairs, texts = comparisons(study), []
    for program in study.programs:
        of_program = {}
        if program.speedups is not None:
            of_program = {
                (one.base, one.name): clause_text(program.speedups, one) for one in program.speedups.speedups
            }
        clauses = [of_program.get(pair) or _missing_clause(program, pair) for pair in pairs]
        texts.append([f"{program.name}: {clause}" for clause in clauses])
    if len(study.programs) > 1:
        for kind, words in MEANS.items():
            clauses = []
            for base, name in pairs:
                means = study.means.get(name) if base == study.base else None
                waits = "no mean yet, which waits for every program"
                clauses.append(waits if means is None else _mean_clause(study, name, getattr(means, kind)))
            texts.append([f"{words}: {clause}" for clause in clauses])
    return texts


def _missing_clause(program: ProgramComparison, pair: tuple[str, str]) -> str:
    """Return which results of a pair are not there, and where they are looked for."""
    if program.plan is None:
        return program.missing[pair[1]]
    places = [(name, place) for name in reversed(pair) if (place := program.missing.get(name)) is not None]
    return listed([f"no results of {name} yet ({place})" for name, place in places])


def study_notes(study: StudySpeedups) -> Iterator[str]:
    """Yield what is to be known beside the verdicts, program by program."""
    for program, speedups in study.compared:
        yield from (f"{program}: {note}" for note in speedup_notes(speedups))


def unmet_text(study: StudySpeedups, options: SpeedupOptions) -> str:
    """Return why the speedups are not as narrow as asked for."""
    assert options.target is not None
    unmet = f"not within the {per_cent(options.target)} asked for"
    widest = study.widest()
    assert widest is not None
    program, speedup = widest
    pair = f"{pair_name(speedup)} on {program}"
    if math.isnan(speedup.half_width):
        return f"{unmet}: {pair} has no interval"
    if speedup.half_width <= options.target:
        return f"{unmet} of the whole run: launches started cold (`--accept-cold` takes their speedups)"
    return f"{unmet}: {pair} is known within {per_cent(math.expm1(speedup.half_width))}"


def slower_text(study: StudySpeedups, allowed: float) -> str:
    """Return on which programs, or in which mean, a configuration is surely slower; "" for none."""
    clauses = []
    for program, speedups in study.compared:
        for speedup in speedups.speedups:
            if speedup.base == study.base and speedup.high < 1 - allowed:
                slower = f"{speedup.name} {per_cent(1 - speedup.ratio)} on {program}"
                clauses.append(f"{slower} ({ends_text(speedup.low, speedup.high, Verdict.SLOWER)})")
    for name, means in study.means.items():
        if means.geometric.high < 1 - allowed:
            clauses.append(f"{name} {per_cent(1 - means.geometric.ratio)} in the geometric mean")
    return f"slower than {study.base} by more than {per_cent(allowed)}: {listed(clauses)}" if clauses else ""


# Tables.


class TableCell(NamedTuple):
    """A speedup or a mean, as a table has it."""

    ratio: float
    low: float
    high: float
    verdict: Verdict | None
    word: str

    @property
    def text(self) -> str:
        """The ratio, its interval to either side, and the verdict's mark."""
        if math.isnan(self.ratio):
            return UNKNOWN
        if self.verdict is None:
            return ratio_text(self.ratio)
        marks = _ASCII_MARKS if is_ascii() else _MARKS
        return f"{speedup_text(self.ratio, self.low, self.high)} {marks[self.verdict]}"


def speedup_text(ratio: float, low: float, high: float) -> str:
    """Return a speedup with its interval to either side."""
    half_width = per_cent(math.sqrt(high / low) - 1)
    return f"{ratio_text(ratio)} {'+-' if is_ascii() else '±'}{half_width}"


_NOTHING = TableCell(math.nan, math.nan, math.nan, None, "no results")


def _of_speedup(speedups: PlanSpeedups, speedup: Speedup) -> TableCell:
    ends = speedup.ratio, speedup.low, speedup.high
    return TableCell(*ends, speedups.verdict(speedup), verdict_word(speedups, speedup))


def _of_mean(study: StudySpeedups, mean: Mean) -> TableCell:
    verdict = study.verdict(mean)
    return TableCell(mean.ratio, mean.low, mean.high, verdict, "no interval" if verdict is None else verdict)


def comparisons(study: StudySpeedups) -> list[tuple[str, str]]:
    """Return base and configuration of every comparison, those with the study's base first.

    Of several programs the configurations are in the order in which sentences tell their means, so that what
    is told first is seen first; those without a mean are the last.
    """
    contrasts = list(
        dict.fromkeys((one.base, one.name) for _, speedups in study.compared for one in speedups.speedups)
    )
    of_base = [name for base, name in contrasts if base == study.base]
    of_base += [name for name in study.configurations[1:] if name not in of_base]
    ordered = [name for name, _ in _ordered_means(study)] if len(study.programs) > 1 else []
    ordered += [name for name in study.configurations[1:] if name not in ordered]
    pairs = [(study.base, name) for name in ordered if name in of_base]
    return pairs + [pair for pair in contrasts if pair not in pairs]


def pair_changes(study: StudySpeedups, **limit: int) -> dict[tuple[str, str], str]:
    """Return as `changes_text` in what configuration and base differ, of `comparisons` that print options."""
    changes = {pair: find_study_changes(study, *pair) for pair in comparisons(study)}
    return {pair: changes_text(options, **limit) for pair, options in changes.items() if options}


def table_rows(study: StudySpeedups) -> tuple[list[str], list[tuple[str, list[TableCell]]]]:
    """Return the comparisons by their names, and each program and mean with a cell for each of these."""
    pairs = comparisons(study)
    rows = []
    for program in study.programs:
        speedups = program.speedups
        cells = {}
        if speedups is not None:
            cells = {(one.base, one.name): _of_speedup(speedups, one) for one in speedups.speedups}
        rows.append((program.name, [cells.get(pair, _NOTHING) for pair in pairs]))
    if len(study.programs) > 1:
        for kind, words in MEANS.items():
            means = {
                (study.base, name): _of_mean(study, getattr(means, kind))
                for name, means in study.means.items()
            }
            rows.append((words, [means.get(pair, _NOTHING) for pair in pairs]))
    return [name if base == study.base else f"{name} over {base}" for base, name in pairs], rows


def _cell_tables(study: StudySpeedups, canvas: Canvas) -> Iterator[Block]:
    """Yield the table of programs and configurations where it fits; and every cell with its bar."""
    labels, rows = table_rows(study)
    matrix = [
        names("program", [name for name, _ in rows]),
        *(Column(label, [cells[place].text for _, cells in rows]) for place, label in enumerate(labels)),
    ]
    fits = max(map(cell_width, table(matrix).split("\n"))) <= canvas.width
    if fits and len(rows) > 1:
        yield matrix
        yield ""
        yield marks_text()
        yield ""
        # The other means differ little from it, and stand above.
        rows = [row for row in rows if row[0] not in (MEANS["harmonic"], MEANS["total"])]
    yield bar_listing(labels, rows)


def marks_text() -> str:
    """Return what the marks of verdicts mean."""
    marks = _ASCII_MARKS if is_ascii() else _MARKS
    return ", ".join(f"{mark} {verdict}" for verdict, mark in marks.items())


def bar_listing(labels: Sequence[str], rows: Sequence[tuple[str, Sequence[TableCell]]]) -> Listing:
    """Return a row a cell, with a bar of its speedup and the whiskers of its interval."""
    flat = [(name, label, cell) for name, cells in rows for label, cell in zip(labels, cells, strict=True)]
    cells = [cell for _, _, cell in flat]
    axis = ratio_axis([value for cell in cells for value in (cell.ratio, cell.low, cell.high)])

    def bar(row: int, room: int) -> str:
        return whisker_row(*cells[row][:3], axis, room)

    shown, last = [], ""
    for name, _, _ in flat:
        shown.append("" if name == last else name)
        last = name
    figures = [
        names("program", shown),
        names("configuration", [label for _, label, _ in flat]),
        Column("speedup", [ratio_text(cell.ratio) for cell in cells]),
        Column("interval", [interval_text(cell.low, cell.high) for cell in cells]),
        Column("verdict", [cell.word for cell in cells], to_right=False),
    ]
    pages = [bar(row, _PAGE_BAR) for row in range(len(cells))]
    return Listing(figures, axis_words(axis), bar, ("interval", "speedup"), full_labels=pages, has_bars=True)
