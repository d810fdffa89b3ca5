"""What view 8 knows of speedups: read and compared in a worker, said of every cell, what is next written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from sampling.errors import AnalysisError
from sampling.estimation.configurations import GroupSpeedup, PlanSpeedups, compare_kernels
from sampling.estimation.roofline import RooflineSummary, summarise_roofline
from sampling.estimation.top_up import ToppedUp, top_up_speedups
from sampling.parallel import Progress
from sampling.study.comparison import ProgramComparison
from sampling.text import counted
from tui.app.plan_details import export_file
from tui.engine.speedups import SpeedupAnswer, read_speedups
from tui.options.command_line import command_line
from tui.options.files import free_name
from tui.options.simulate import SpeedupOptions
from tui.output.blocks import Block, Listing
from tui.output.files import write_text
from tui.output.writer import Canvas, canvas_text, heading_text
from tui.text.plan import usual_target
from tui.text.profile import heading_lines, plan_selection
from tui.text.roofline import configuration_blocks
from tui.text.speedup import (
    configuration_listing,
    has_next,
    kernel_listing,
    speedup_blocks,
    speedup_sentences,
)
from tui.text.study import (
    TableCell,
    bar_listing,
    cell_texts,
    comparisons,
    is_open,
    pair_changes,
    study_blocks,
    study_sentences,
    table_rows,
)

NO_ROOFLINE = (
    "a roofline takes operations, bytes and time beside the cycles, and no simulator prints them all"
)
LARGER_NAME = "more.json"
"""The file of the larger plan."""

_MOST_OPTIONS = 2
"""Of a configuration that have room below the table."""

Cell = tuple[int, int]
"""The row of a program or a mean, and the column of a comparison."""


class LargerPlan(NamedTuple):
    """A plan whose launches tell more, and its file."""

    path: Path
    plan: ToppedUp

    @property
    def size(self) -> str:
        """How much there is to simulate."""
        return f"{counted(len(self.plan.to_run), 'launch')} on every configuration"


@dataclass(frozen=True, eq=False)
class SpeedupsState:
    """What is compared, and what is known of it so far."""

    #: Of the command that says the same.
    options: SpeedupOptions
    answer: SpeedupAnswer
    #: The comparisons, and each program and mean with a cell for each of them.
    labels: Sequence[str]
    rows: Sequence[tuple[str, Sequence[TableCell]]]
    #: What is told of every cell, and the options that differ in every column.
    texts: Sequence[Sequence[str]]
    changes: Sequence[str]
    bars: Listing
    #: Of every bar; None of the base's.
    bar_cells: Sequence[Cell | None]
    #: Who is faster, what is to be known beside it, what is next.
    sentences: Sequence[str]
    #: The kernels of programs, once they are compared.
    kernels: Mapping[str, Sequence[GroupSpeedup]] = field(default_factory=dict)
    #: Of programs whose results hold operations, bytes and time, by configuration.
    rooflines: Mapping[str, Mapping[str, RooflineSummary]] = field(default_factory=dict)
    larger: LargerPlan | None = None

    @property
    def is_single(self) -> bool:
        """Whether it is of one program."""
        return len(self.answer.study.programs) == 1

    @property
    def of_plan(self) -> PlanSpeedups:
        """The speedups of a single plan."""
        ((_, speedups),) = self.answer.study.compared
        return speedups

    def program(self, cell: Cell | None) -> ProgramComparison | None:
        """Return the program of a cell; None of a mean, and of the base."""
        programs = self.answer.study.programs
        return programs[cell[0]] if cell is not None and cell[0] < len(programs) else None

    def note(self, cell: Cell | None) -> str:
        """Return what is told of a cell, unless sentences say it, and which options its configuration has."""
        if cell is None:
            return ""
        row, column = cell
        told = [] if self.is_single else [self.texts[row][column]]
        return ". ".join((*told, *filter(None, [self.changes[column]])))

    def title(self, cell: Cell | None) -> str:
        """Return the program and the configuration of a cell."""
        return "" if cell is None else f"{self.rows[cell[0]][0]} on {self.labels[cell[1]]}"

    def kernel_table(self, cell: Cell | None, doing: str) -> tuple[Listing | None, str]:
        """Return the kernels of a cell, or why there are none; ``doing``: what is being computed."""
        if cell is None:
            return None, "the base is what the others are compared with: choose another configuration"
        program, pair = self.program(cell), comparisons(self.answer.study)[cell[1]]
        if program is None:
            return None, "a mean has no kernels of its own: choose a program"
        if program.speedups is None or pair[1] not in program.speedups.by_name:
            return None, self.texts[cell[0]][cell[1]]
        if program.name not in self.kernels:
            return None, doing or "cancelled; enter compares the kernels"
        groups = [
            group for group in self.kernels[program.name] if (group.speedup.base, group.speedup.name) == pair
        ]
        if not groups:
            return None, "no speedups by kernel group: the plan's launches were picked, not drawn at random"
        listing = kernel_listing(program.speedups, groups)
        # The configuration stands in the title.
        return replace(listing, figures=listing.figures[1:]), ""

    def roofline_blocks(self, cell: Cell | None, canvas: Canvas, width: int, height: int) -> Iterable[Block]:
        """Return where the configurations of a cell's program stand below their roof, or why nowhere."""
        program = self.answer.study.programs[0] if self.is_single else self.program(cell)
        if program is None:
            return ("A mean has no roofline of its own: choose a program.",)
        if program.name not in self.rooflines:
            return (f"{program.name}: {NO_ROOFLINE}.",)
        return configuration_blocks(program.name, self.rooflines[program.name], canvas, width, height)

    def text(self, options: SpeedupOptions, width: int) -> str:
        """Return what the command prints with these options, but for what to type next."""
        answer, canvas, heading = self.answer, Canvas(width, color=False), tuple[str, ...]()
        options = replace(options, target=answer.options.target)
        kernels = [
            (name, group)
            for name, _ in answer.study.compared
            for group in self.kernels.get(name, ())
            if options.groups
        ]
        blocks: Iterator[Block]
        if answer.is_of_study:
            blocks = study_blocks(answer.study, kernels, options, "", canvas)
        else:
            heading = heading_lines(plan_selection(self.of_plan.plan))
            blocks = speedup_blocks(self.of_plan, [group for _, group in kernels], None, options, "")
        return f"{heading_text(heading, width)}{canvas_text(blocks, canvas)}\n"


def _rooflines(speedups: PlanSpeedups) -> dict[str, RooflineSummary]:
    """Return the rooflines of the configurations whose results hold what they take."""
    rooflines = {}
    for configuration in speedups.configurations:
        with suppress(AnalysisError):
            rooflines[configuration.name] = summarise_roofline(configuration.estimate, None, 0)
    return rooflines


def read_state(options: SpeedupOptions, progress: Progress) -> Iterator[SpeedupsState]:
    """Yield what is compared; errors as of `read_speedups`."""
    answer = read_speedups(options, progress)
    study, (labels, rows), changes = (
        answer.study,
        table_rows(answer.study),
        pair_changes(answer.study, most=_MOST_OPTIONS),
    )
    cells: list[Cell | None] = [(row, column) for row in range(len(rows)) for column in range(len(labels))]
    bars = bar_listing(labels, rows)
    if not answer.is_of_study:
        ((_, speedups),) = study.compared
        cells, bars = [None, *cells], configuration_listing(speedups)
    # The bars have room for what their axis is; the figures stand in the table and the sentences too.
    dropped = *(bars.dropped_first or ()), "interval", "speedup", "verdict"
    bars = replace(bars, least_room=len(bars.heading), dropped_first=dropped)
    # Made here so that no screen waits for it.
    _ = bars.widths
    rooflines = {name: found for name, speedups in study.compared if (found := _rooflines(speedups))}
    yield SpeedupsState(
        options=options,
        answer=answer,
        labels=labels,
        rows=rows,
        texts=cell_texts(study),
        changes=[f"{pair[1]}: {changes[pair]}" if pair in changes else "" for pair in comparisons(study)],
        bars=bars,
        bar_cells=cells,
        sentences=_sentences(answer, None),
        rooflines=rooflines,
    )


def _sentences(answer: SpeedupAnswer, larger: LargerPlan | None) -> tuple[str, ...]:
    """Return who is faster, what is to be known beside it, and what is next."""
    study, options = answer.study, answer.options
    if answer.is_of_study:
        # The command has the path of the study, which may be long.
        following = "Next: [e] copies the command that simulates more of the study."
        return *study_sentences(study, options), *[following] * is_open(study, options)
    ((_, speedups),) = study.compared
    if larger is None:
        following = "Next: [e] draws the launches that tell more, and hands them to a simulator."
        return *speedup_sentences(speedups, None, options), *[following] * has_next(speedups, options)
    options = replace(options, top_up=str(larger.path))
    following = f"Next: [e] hands {larger.path} to a simulator, {larger.size}; [o] takes the results."
    return *speedup_sentences(speedups, larger.plan, options), following


def with_kernels(state: SpeedupsState, first: str, progress: Progress) -> Iterator[SpeedupsState]:
    """Yield the state with the kernels of every program, a first one first."""
    compared = dict(state.answer.study.compared)
    for name in sorted(compared, key=lambda name: name != first):
        progress(0, 0, f"comparing the kernels of {name}")
        state = replace(state, kernels={**state.kernels, name: compare_kernels(compared[name])})
        yield state


def with_larger(state: SpeedupsState, progress: Progress) -> Iterator[SpeedupsState]:
    """Yield the state with a larger plan, written to a new file; as it is where nothing is open.

    Raises what `top_up_speedups` raises; OSError where the file cannot be written.
    """
    larger = top_up_speedups(state.of_plan, state.answer.options.target, progress=progress)
    if larger is not None:
        path = Path(free_name(LARGER_NAME))
        write_text(larger.text, path)
        written = LargerPlan(path, larger)
        state = replace(state, larger=written, sentences=_sentences(state.answer, written))
    yield state


def target_of_plan(state: SpeedupsState) -> str:
    """Return the simulator that launches of the plan's GPU are usually handed to."""
    return usual_target(is_amd=state.of_plan.plan.is_amd)


def export_larger(
    state: SpeedupsState, larger: Path, target: str, folder: Path, traces: str, progress: Progress
) -> str:
    """Write what an exporter makes of a larger plan; return what, and the command that takes all results."""
    new = tuple(f"{name}=RESULTS" for name in state.answer.study.configurations)
    options = replace(state.options, plan=str(folder), results=(*state.options.results, *new))
    return export_file(larger, target, folder, traces, progress, command_line("speedup", options))
