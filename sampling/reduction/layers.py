"""The layers of a network: blocks of launches that come again and again within an iteration.

Named ranges or operators tell them where names differ in one number, as `model.layers.7` does; else what the
launches are, by kernel and sizes or by kernel alone. Without iterations the whole run is one; where nothing
repeats within those that were found, they are the layers themselves. (docs/methods.md, 13 The order of the
run)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import NotApplicableError
from sampling.parallel import Progress
from sampling.profile.named_ranges import without_call
from sampling.profile.profile import Column, Profile
from sampling.reduction.blocks import LEAST_BLOCKS, Blocks, find_blocks, most_alike
from sampling.reduction.duration_counts import DurationCounts, counted_at_once
from sampling.reduction.iteration_runs import IterationFacts, find_iteration_runs
from sampling.reduction.iterations import ENOUGH
from sampling.reduction.run_order import MOST_LAUNCHES
from sampling.text import Wording

#: What tells layers.
LayerSource = Literal["ranges", "operators", "launches", "kernels", "loop"]
# Not one within a word, as in conv2d.
_NUMBER = re.compile(r"[0-9]+(?![^\W_])")
_MODULE = re.compile(r"[\w.]+$")
_Finder = Callable[[int, int], list[Blocks]]


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """The layers of the launches that a reduction counts; arrays (b,) by family and id."""

    source: LayerSource
    #: The iterations that hold them; None where the whole run does, or they are its iterations.
    iterations: IterationFacts | None
    #: (n,) id and duration of every counted launch, by id; whether an iteration that has the layers holds it.
    ids: IntArray
    duration_ns: IntArray
    in_step: BoolArray
    #: Its launches ``first:stop`` of these. Forward and backward layers are two families.
    family: IntArray
    first: IntArray
    stop: IntArray
    #: Which iteration, and which layer of it, they are, from 0; what the program calls each, "" if nothing.
    step: IntArray
    number: IntArray
    names: tuple[str, ...]

    @property
    def time_ns(self) -> IntArray:
        """(b,) the time of each."""
        before_ns = np.concatenate([[0], np.cumsum(self.duration_ns)])
        return np.asarray(before_ns[self.stop] - before_ns[self.first])


def find_layers(profile: Profile, counts: DurationCounts, progress: Progress | None = None) -> Layers | None:
    """Return the layers of the launches that a reduction counts; None where there are none.

    They are most launches of an iteration, `ENOUGH`, and as many in most iterations: others do not count.
    Raises NotApplicableError: there are more launches than are looked at.
    """
    if counts.launches > MOST_LAUNCHES:
        raise NotApplicableError(
            f"layers are looked for among up to {MOST_LAUNCHES:,} launches, not {counts.launches:,}",
            remedy=Wording("select some steps of them, as by `launches=A:B`"),
        )
    columns: tuple[Column, ...] = ("signature", "duration_ns")
    if "operator" in profile.columns:
        columns = (*columns, "operator")
    ids, _, _, signature, duration_ns, *operator = counted_at_once(profile, counts, columns, progress)
    runs = find_iteration_runs(profile, counts, progress)
    edges, whole = np.array(profile.first_ids), np.zeros(len(profile.first_ids), dtype=np.int64)
    finders = _finders(profile, ids, signature, operator)
    # An iteration is a step on every process and device; without any a whole sequence is one.
    levels: list[tuple[IterationFacts | None, list[tuple[int, int, int]], int]] = []
    loop: list[tuple[int, int, int]] = []
    if runs is not None:
        levels.append((runs.facts, _steps(ids, runs.edges, runs.iteration), 0))
        loop = levels[0][1] if runs.facts.source == "found" else []
    if runs is None or loop:
        levels.append((None, _steps(ids, edges, whole), sum(stop - start for start, stop, _ in loop)))
    for facts, steps, least in levels:
        # Kernels of any sizes repeat more than those of the same, whatever that says.
        for source, find in finders[:-1] if least else finders:
            blocks = [find(start, stop) for start, stop, _ in steps]
            usual = Counter(map(_shape, blocks))
            shape = max(usual, key=lambda lengths: usual[lengths] * sum(lengths), default=())
            of_shape = [index for index, families in enumerate(blocks) if _shape(families) == shape]
            launches = sum(steps[index][1] - steps[index][0] for index in of_shape)
            alike = sum(family.alike for index in of_shape for family in blocks[index])
            is_usual = bool(shape) and 2 * len(of_shape) > len(steps)
            if is_usual and alike >= ENOUGH * launches and alike > least:
                return _layers(source, facts, ids, duration_ns, [(*steps[i], blocks[i]) for i in of_shape])
    if len(loop) < LEAST_BLOCKS:
        return None
    blocks_of = [(*place, [Blocks(np.array([place[0]]), np.array([place[1]]), 0.0)]) for place in loop]
    return _layers("loop", None, ids, duration_ns, blocks_of)


def _finders(
    profile: Profile, ids: IntArray, signature: IntArray, operator: Sequence[IntArray]
) -> list[tuple[LayerSource, _Finder]]:
    """Return what looks for blocks among launches ``start:stop``, by what tells them, the surest first."""
    kernels = profile.kernels.signature_names()[signature].astype(np.int64)
    finders: list[tuple[LayerSource, _Finder]] = []
    if profile.ranges is not None:
        ranges = profile.ranges.holding("")
        first, stop = (np.searchsorted(ids, edge) for edge in ranges.ids(profile.first_ids))
        finders.append(("ranges", _named_finder(ranges.texts, ranges.text, first, stop)))
    if operator:
        rows = np.arange(len(ids))
        texts = profile.kernels.operators()[0]
        finders.append(("operators", _named_finder(texts, operator[0], rows, rows + 1)))
    return [*finders, ("launches", partial(_find_in, signature)), ("kernels", partial(_find_in, kernels))]


def _steps(ids: IntArray, edges: IntArray, step: IntArray) -> list[tuple[int, int, int]]:
    """Return rows ``start:stop`` and the number of each step; below 0 it is none."""
    begin = np.searchsorted(ids, edges)
    places = zip(begin.tolist(), [*begin[1:].tolist(), len(ids)], step.tolist(), strict=True)
    return [place for place in places if place[2] >= 0 and place[1] > place[0]]


def _shape(families: list[Blocks]) -> tuple[int, ...]:
    return tuple(len(family.first) for family in families)


def _layers(
    source: LayerSource,
    iterations: IterationFacts | None,
    ids: IntArray,
    duration_ns: IntArray,
    steps: Sequence[tuple[int, int, int, list[Blocks]]],
) -> Layers:
    """Return the blocks of all steps, given as launches ``start:stop``, the number of the step and blocks."""
    in_step = np.zeros(len(ids), dtype=np.bool_)
    rows = []
    for start, stop, step, families in steps:
        in_step[start:stop] = True
        for family, blocks in enumerate(families):
            names = blocks.names or ("",) * len(blocks.first)
            edges = zip(blocks.first.tolist(), blocks.stop.tolist(), names, strict=True)
            for number, (first, end, name) in enumerate(edges):
                place = (0, step) if source == "loop" else (step, number)
                rows.append((family, first, end, *place, name))
    *columns, names = zip(*sorted(rows), strict=True)
    fields = zip(("family", "first", "stop", "step", "number"), map(np.array, columns), strict=True)
    return Layers(source, iterations, ids, duration_ns, in_step, **dict(fields), names=names)


def _find_in(codes: IntArray, start: int, stop: int) -> list[Blocks]:
    return [
        Blocks(family.first + start, family.stop + start, family.alike)
        for family in _find_alike(codes[start:stop].tobytes())
    ]


@lru_cache(maxsize=16)
def _find_alike(codes: bytes) -> tuple[Blocks, ...]:
    """Return the blocks of a step's codes: most steps are equal."""
    return tuple(find_blocks(np.frombuffer(codes, dtype=np.int64)))


def _named_finder(texts: Sequence[str], text: IntArray, first: IntArray, stop: IntArray) -> _Finder:
    """Return what finds blocks by ranges of launches ``first:stop`` (r,) whose names are ``texts[text]``.

    Those in a row with the same words before the same number are one block: `layers.3`, `layers.3.attn`.
    """
    families: dict[str, dict[int, int]] = {}
    for code in np.unique(text[stop > first]).tolist():
        name = without_call(texts[code])
        for match in _NUMBER.finditer(name):
            families.setdefault(name[: match.start()], {})[code] = int(match.group())
    by_words = []
    for words, numbers in families.items():
        if len(set(numbers.values())) >= LEAST_BLOCKS:
            rows = np.flatnonzero(np.isin(text, list(numbers)) & (stop > first))
            rows = rows[np.lexsort((-stop[rows], first[rows]))]
            number = np.array([numbers[code] for code in text[rows].tolist()])
            begin = np.flatnonzero(np.diff(number, prepend=number[0] - 1))
            edges = first[rows][begin], np.maximum.reduceat(stop[rows], begin)
            by_words.append((words, number[begin], *edges))

    def find(start: int, stop: int) -> list[Blocks]:
        candidates = []
        for words, number, all_begin, all_end in by_words:
            inside = (all_begin >= start) & (all_end <= stop)
            begin, end, numbers = all_begin[inside], all_end[inside], number[inside].tolist()
            # A layer comes once in an iteration.
            is_once = len(set(numbers)) == len(numbers) >= LEAST_BLOCKS
            if not is_once or (end[:-1] > begin[1:]).any():
                continue
            name = _MODULE.search(words)
            names = tuple(f"{name.group() if name else words}{layer}" for layer in numbers)
            candidates.append(Blocks(begin, end, float((end - begin).sum()), names))
        return most_alike(candidates)

    return find
