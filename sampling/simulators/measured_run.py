"""What simulators and tracers say: the numbers of launches, their counts, and which kernel each is of."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.features.names import bare_spelling, common_spelling
from sampling.plan.other_recording import shortened_names
from sampling.plan.plan_file import PlannedLaunch
from sampling.profile.names import MANGLED, readable_name, short_name
from sampling.profile.profile import Dimensions
from sampling.readers.feature_table import FeatureRows, FeatureTable
from sampling.readers.input_file import CUT_SHORT, InputFile, whole_lines

CYCLES, INSTRUCTIONS = "cycles", "instructions"
UNNUMBERED = -1
_THREADS_OF_WARP = 32
_LONGEST_LINE_BYTES = 1 << 26
#: With so many launches simulated before it, a launch finds what it would find: +0.1 % on average
ENOUGH_BEFORE = 8

#: The column in which a manifest or a table says how each launch found the caches; nothing is unknown
CACHES = "caches"
_STATES = ("whole", "warm", "loads", "own", "cold", "unknown", "after:N")
_STATE = re.compile(rf"{'|'.join(_STATES[:-1])}|after:[1-9][0-9]{{0,5}}|")

CachesKind = Literal["cold", "unknown", "own", "filled"]


class SeenKernel(NamedTuple):
    """What a simulator says of which kernel a launch is of; empty and None where it does not."""

    name: str = ""
    grid: Dimensions | None = None
    block: Dimensions | None = None
    warps: int | None = None  #: of the whole grid


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRun:
    """The launches of one file of results, in its order."""

    path: str  #: of the file, for messages
    number: IntArray  #: (n,) each launch's number in the simulator, `UNNUMBERED` where it has none
    #: the number that the first launch of a process has; None where numbers are launch ids of the profile
    #: already
    first_number: int | None
    metrics: Mapping[str, FloatArray]  #: (n,) of each metric; NaN where it is not known
    #: (n,) what the file says of each launch; empty where it says nothing of any
    kernels: Sequence[SeenKernel] = ()
    #: why a launch, by its place, has no metrics, or not all
    missing: Mapping[int, str] = field(default_factory=dict)
    filled: frozenset[int] = frozenset()  #: the places of launches before which L2 was filled
    #: (n,) how each launch found the caches, where the file says so itself; else empty
    states: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)  #: the configuration, where it is printed
    unfinished: int = 0  #: launches that were announced and had not ended
    clock_hz: float | None = None  #: of the part whose cycles are counted, where it is printed
    units: Mapping[str, str] = field(default_factory=dict)  #: of metrics, where they are known
    #: what a profiler says of launches that it does not number as the program does; then nothing else is here
    rows: FeatureRows | None = None

    @classmethod
    def of_profiler(cls, rows: FeatureRows) -> MeasuredRun:
        """Return the rows of a profiler, which only all its files together and the plan tell apart."""
        return cls(rows.path, np.zeros(0, dtype=np.int64), None, {}, rows=rows)


def is_state(text: str) -> bool:
    """Return whether a text says how a launch finds the caches."""
    return bool(text) and _STATE.fullmatch(text) is not None


def caches_kind(state: str) -> CachesKind:
    """Return what a launch that began so says: with too few launches before it, it began as good as cold."""
    if state.startswith("after:"):
        return "filled" if int(state.removeprefix("after:")) >= ENOUGH_BEFORE else "cold"
    kinds: dict[str, CachesKind] = {"cold": "cold", "own": "own", "unknown": "unknown"}
    return kinds.get(state, "filled")


def read_caches(table: FeatureTable, remedy: str) -> list[str]:
    """Return (n,) how each row says that its launch found the caches; empty where a table has no such column.

    Raises ProfileError where a cell says something else.
    """
    cells, code = table.texts(CACHES) if CACHES in table else ((), np.zeros(0, dtype=np.int64))
    states = [cell.strip() for cell in cells]
    wrong = np.array([_STATE.fullmatch(state) is None for state in states], dtype=np.bool_)[code]
    if wrong.any():
        wrong_state = (
            f"{states[code[np.argmax(wrong)]]!r} is no way to find the caches: {', '.join(_STATES)} are"
        )
        raise table.error(wrong, CACHES, wrong_state, remedy)
    return [states[index] for index in code.tolist()]


def infer_caches(run: MeasuredRun) -> list[str]:
    """Return (n,) how each launch found the caches, as far as the order of the run tells.

    ``whole`` after all launches of the program that come before it, ``warm`` after copies that fill L2,
    ``after:N`` after the N launches before it, else ``cold``; ``unknown`` where launches have no numbers.
    """
    if run.states:
        return list(run.states)
    if run.first_number is None:
        return ["unknown"] * len(run.number)
    number, first = run.number, run.first_number
    follows = np.append(False, (np.diff(number) == 1) & (number[:-1] != UNNUMBERED))
    begins = np.flatnonzero(~follows)
    before = np.arange(len(number)) - begins[np.cumsum(~follows) - 1]
    is_filled = np.isin(np.arange(len(number)), list(run.filled))
    ways = [number == UNNUMBERED, number - first <= before, is_filled, before == 0]
    after = [f"after:{count}" for count in before.tolist()]
    states: list[str] = np.select(ways, ["unknown", "whole", "warm", "cold"], after).tolist()
    return states


def metric_columns(
    names: Sequence[str], rows: Sequence[Sequence[int | float | None]]
) -> dict[str, FloatArray]:
    """Return (n,) each metric of n rows; NaN in place of None."""
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return dict(zip(names, table.T.copy(), strict=True))


class LinesSoFar:
    """Pieces of whole lines of a file that may still be written to; half a last line is left out.

    Going through it raises ProfileError where gzip data are damaged or a line has no end.
    """

    is_cut = False  #: whether the gzip data, once all is read, turned out to end before their end

    def __init__(self, file: InputFile) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        remedy = "give the log as the simulator wrote it"
        # Of gzip data what comes before a cut is read too.
        with replace(self._file, partial=True).open() as stream:
            for piece in whole_lines(stream, self._file.path, remedy, _LONGEST_LINE_BYTES):
                if end := piece.rfind(b"\n") + 1:
                    yield piece[:end]
            damage = stream.raw.damage  # type: ignore[attr-defined]
            self.is_cut = damage == CUT_SHORT
            if damage is not None and not self.is_cut:
                raise zlib.error(damage)


@dataclass(frozen=True, slots=True, eq=False)
class TraceList:
    """The launches of a traced process, in the list's order."""

    path: str
    number: IntArray  #: (n,) the tracer's number of each launch
    first_number: int  #: that of the first launch of a process
    kernel: IntArray  #: (n,) which of `kernels` each launch is of
    kernels: tuple[SeenKernel, ...]  #: the distinct ones with their launch shapes

    @classmethod
    def from_rows(cls, path: str, first_number: int, listed: Sequence[tuple[int, SeenKernel]]) -> TraceList:
        """Return a list of numbers and kernels; ProfileError where there is none."""
        if not listed:
            remedy = "give what the tracer wrote, beside its traces"
            raise ProfileError("lists no launch", path=path, remedy=remedy)
        codes: dict[SeenKernel, int] = {}
        rows = [(number, codes.setdefault(kernel, len(codes))) for number, kernel in listed]
        number, kernel = np.array(rows, dtype=np.int64).T
        return cls(path, number, first_number, kernel, tuple(codes))


@lru_cache(maxsize=1 << 14)
def is_same_name(planned: str, printed: str) -> bool:
    """Return whether two names are of one kernel, mangled or not; true too where nothing here can tell.

    Scope and template arguments must agree, unless the plan has the function's name alone; parameters are
    compared where both have them in full, for demanglers leave some out.

    >>> is_same_name("vecadd(const float *, float *)", "_Z6vecaddPKfPf"), is_same_name("f(int)", "_Z1gi")
    (True, False)
    """
    first, second = map(readable_name, (planned, printed))
    mangled = [name for name in (first, second) if name.startswith(MANGLED)]
    if first == second or len(mangled) == 2:
        return first == second
    if mangled:
        # What could not be demangled holds at least the function's own name, with its length before it.
        function = short_name(second if first in mangled else first)
        return f"{len(function)}{function}" in mangled[0]
    if common_spelling(first) == common_spelling(second) or bare_spelling(first) == bare_spelling(second):
        return True
    # A profile may have recorded the function's own name alone.
    return first.isidentifier() and first == short_name(second)


def refuse_other(planned: PlannedLaunch, kernel: SeenKernel, called: str, path: str, remedy: str) -> None:
    """Raise ProfileError where a launch is of another kernel, grid or block than the plan's.

    What one of the two does not say is not compared.
    """
    warps = None
    if planned.grid is not None and planned.block is not None:
        warps = prod(planned.grid) * -(-prod(planned.block) // _THREADS_OF_WARP)
    sizes = ((planned.grid, kernel.grid), (planned.block, kernel.block), (warps, kernel.warps))
    differs = any(None not in pair and pair[0] != pair[1] for pair in sizes)
    if not differs and (not kernel.name or is_same_name(planned.name, kernel.name)):
        return
    names = shortened_names(readable_name(planned.name), readable_name(kernel.name))
    shapes = ((planned.grid, planned.block), (kernel.grid, kernel.block))
    plan_text, kernel_text = (
        f"{name} <<<{dimensions_text(grid) or '?'}, {dimensions_text(block) or '?'}>>>"
        for name, (grid, block) in zip(names, shapes, strict=True)
    )
    if warps is not None and kernel.warps is not None:
        plan_text, kernel_text = f"{plan_text} of {warps:,} warps", f"a kernel of {kernel.warps:,} warps"
    raise ProfileError(
        f"launch {planned.id} is {plan_text} in the plan, and {called} is {kernel_text}",
        path=path,
        remedy=remedy,
    )


def dimensions_text(dimensions: Dimensions | None) -> str:
    """Return a grid or a block as 8x1x1; nothing where it is not known."""
    return "" if dimensions is None else "x".join(map(str, dimensions))


def parse_dimensions(text: str) -> Dimensions | None:
    """Return a grid or a block that is written as (8, 1, 1); None where it is none."""
    sizes = [int(size) for size in re.findall(r"\d{1,18}", text)]
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 else None
