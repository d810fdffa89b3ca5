"""A trace held against a plan's profile, as `align` gives it in every form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sampling.plan.other_recording import shortened_names
from sampling.profile.names import readable_name
from sampling.profile.profile import Dimensions
from sampling.simulators.alignment import ListedLaunch, TraceAlignment
from sampling.text import counted
from tui.options.choices import OutputFormat
from tui.output.markdown import Block
from tui.output.writer import Answer
from tui.terminal.printable import Column, names, printable, shortened

_SHOWN = 5
_NAME_WIDTH = 48


def alignment_answer(found: TraceAlignment, form: OutputFormat) -> Answer:
    """Return the answer in one form; launches are listed one by one only where it shows them."""
    has_rows = form in {OutputFormat.CSV, OutputFormat.JSONL}
    return Answer(
        "align",
        alignment_results(found) if form is OutputFormat.JSON else {},
        lambda _: alignment_text(found),
        rows=alignment_rows(found) if has_rows else None,
        blocks=lambda _: alignment_blocks(found),
        warnings=found.notes,
    )


def alignment_results(found: TraceAlignment) -> dict[str, Any]:
    """Return what is matched, and every launch that is missing on either side."""
    here, there = found.first_difference or (None, None)
    return {
        "matched": len(found.ids),
        "missing_in_trace": [_row(launch, "id") for launch in _here(found)],
        "missing_in_profile": [_row(launch, "number") for launch in _there(found)],
        "first_difference": None
        if found.first_difference is None
        else {
            "profile": None if here is None else _row(here, "id"),
            "trace": None if there is None else _row(there, "number"),
        },
        "matched_by": found.by,
        "drawn": found.drawn,
        "drawn_missing": list(found.drawn_missing),
    }


def alignment_rows(found: TraceAlignment) -> list[dict[str, Any]]:
    """Return a row a launch: its id in the profile and its number in the trace, none where that lacks it."""
    number_of = dict(zip(found.ids.tolist(), found.numbers.tolist(), strict=True))
    first = found.sequence.first_id
    here = map(found.here, range(first, first + len(found.signature)))
    rows = [_row(launch, "id", number=number_of.get(launch.number)) for launch in here]
    return rows + [_row(launch, "number", id=None) for launch in _there(found)]


def _here(found: TraceAlignment, most: int | None = None) -> Iterator[ListedLaunch]:
    return map(found.here, found.missing_in_trace[:most].tolist())


def _there(found: TraceAlignment, most: int | None = None) -> Iterator[ListedLaunch]:
    return map(found.there, found.missing_in_profile[:most].tolist())


def _row(launch: ListedLaunch, called: str, **other: int | None) -> dict[str, Any]:
    kernel = launch.kernel
    numbers = {called: launch.number, **other}
    shape = {"name": kernel.name, "grid": kernel.grid, "block": kernel.block}
    return {name: numbers[name] for name in ("id", "number") if name in numbers} | shape


def alignment_text(found: TraceAlignment) -> str:
    """Return the same in words, with the first launches that are missing."""
    lines = _matched(found)
    if found.first_difference is not None:
        here, there = found.first_difference
        lines.append("where they part first:")
        one, other = shortened_names(
            *(readable_name(each.kernel.name) if each else "" for each in (here, there))
        )
        lines += [f"  profile: {_text(here, 'launch', one)}", f"  trace: {_text(there, 'number', other)}"]
    for what, count, first, number in _missing(found):
        lines.append(f"{what}: {counted(count, 'launch', 'launches')}")
        lines += [f"  {_text(each, number, _shortened(each))}" for each in first]
        lines += _more(count)
    return "\n".join(lines)


def alignment_blocks(found: TraceAlignment) -> Iterator[Block]:
    """Yield the same as paragraphs and tables, with whole names."""
    yield from _matched(found)
    if found.first_difference is not None:
        yield "where they part first:"
        where = Column("", ["profile", "trace"], to_right=False)
        yield [where, *_columns(found.first_difference, "launch or number")]
    for what, count, first, number in _missing(found):
        yield f"{what}: {counted(count, 'launch', 'launches')}"
        yield _columns(list(first), number)
        yield from _more(count)


def _columns(launches: Sequence[ListedLaunch | None], number: str) -> list[Column]:
    return [
        Column(number, ["the end" if each is None else str(each.number) for each in launches]),
        names("kernel", ["" if each is None else each.kernel.name for each in launches]),
        Column("grid", ["" if each is None else _sizes(each.kernel.grid) for each in launches]),
        Column("block", ["" if each is None else _sizes(each.kernel.block) for each in launches]),
    ]


def _matched(found: TraceAlignment) -> list[str]:
    """Return how many launches are in both, and how many of those that are drawn."""
    by = "by the trace's numbers" if found.by == "number" else "by the order of the launches"
    lines = [f"{counted(len(found.ids), 'launch is', 'launches are')} in both, {by}"]
    if found.drawn:
        drawn = counted(found.drawn, "launch", "launches")
        missing = len(found.drawn_missing)
        lines.append(
            f"of the {drawn} that the plan draws the trace lacks {missing:,}"
            if missing
            else f"the trace has the {drawn} that the plan draws"
        )
    return lines


def _missing(found: TraceAlignment) -> Iterator[tuple[str, int, Iterator[ListedLaunch], str]]:
    """Yield of each side that lacks launches its name, how many, the first of them, and their numbers."""
    sides = (
        ("missing in the trace", len(found.missing_in_trace), _here(found, _SHOWN), "launch"),
        ("missing in the profile", len(found.missing_in_profile), _there(found, _SHOWN), "number"),
    )
    yield from (side for side in sides if side[1])


def _more(count: int) -> list[str]:
    return [f"  and {count - _SHOWN:,} more"] if count > _SHOWN else []


def _shortened(launch: ListedLaunch) -> str:
    return shortened(readable_name(launch.kernel.name), _NAME_WIDTH)


def _text(launch: ListedLaunch | None, number: str, name: str) -> str:
    if launch is None:
        return "the end"
    kernel = launch.kernel
    shown = printable(name)
    return f"{number} {launch.number} {shown} {_sizes(kernel.grid)} {_sizes(kernel.block)}"


def _sizes(dimensions: Dimensions | None) -> str:
    return "?" if dimensions is None else "x".join(map(str, dimensions))
