"""Owns stdout: writes a command's result, in any format, to stdout or to the file of ``-o``."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

from msgspec import UNSET, Struct, UnsetType, to_builtins

from sampling.record import Record
from sampling.text import csv_text, finite, json_text, spreadsheet_cell
from tui import __version__
from tui.options.choices import OutputFormat
from tui.options.shared import OutputOptions
from tui.output import latex, markdown
from tui.output.blocks import Block, PagePart, page_parts, terminal_lines
from tui.output.files import new_file, write_text
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note
from tui.terminal.printable import ascii_within, data_for_terminal, printable_lines

STDOUT = "-"
_COLOR = re.compile(r"(\x1b\[[0-9;]*m)")
_PAGES = {OutputFormat.MARKDOWN: markdown.page_text, OutputFormat.LATEX: latex.page_text}
Row = Mapping[str, Any]
Rows = Sequence[Struct | Row]


@dataclass(frozen=True, slots=True)
class Canvas:
    """The size and abilities of the output that tables and charts are drawn for."""

    width: int
    color: bool
    #: Whether it is a page, which has room for names in full and none for charts.
    is_page: bool = False


#: On a page nothing is cut or wrapped for want of room.
PAGE = Canvas(10_000, color=False, is_page=True)


class Document(Record, frozen=True, kw_only=True):
    """What a command writes as JSON."""

    schema: Literal[1] = 1
    tool: Literal["kernelpoint"] = "kernelpoint"
    version: str = __version__
    command: str
    seed: int
    #: Of one profile, or by the names of several; not there where results are of all launches.
    selection: Any | UnsetType = UNSET
    warnings: tuple[str, ...]
    results: Any


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command came to, for every format."""

    command: str
    #: For JSON; a record, or a list of them where rows are listed; or what makes them, for data alone.
    results: Struct | Row | Rows | Callable[[], Struct]
    #: What people are told, on a terminal and on a page.
    blocks: Callable[[Canvas], Iterable[Block]]
    #: For csv and jsonl; the results themselves if None.
    rows: Rows | Callable[[], Rows] | None = None
    #: Codes or sentences a script should see.
    warnings: tuple[str, ...] = ()
    #: Which launches the results are of, for JSON; None where they are of all.
    selection: Struct | Mapping[str, Struct] | None = None
    #: The same in words, above what is drawn.
    heading: tuple[str, ...] = ()
    #: All that is written, where a command has a form of its own.
    document: str | None = None

    def drawn(self, canvas: Canvas) -> str:
        """Return the table form below its heading."""
        return heading_text(self.heading, canvas.width) + canvas_text(self.blocks(canvas), canvas)

    def page(self) -> Iterator[PagePart]:
        """Yield the same for a page."""
        return page_parts((*self.heading, *self.blocks(PAGE)), PAGE.width)


def canvas_text(blocks: Iterable[Block], canvas: Canvas) -> str:
    """Return what is said as a canvas shows it."""
    return "\n".join(terminal_lines(blocks, canvas.width, color=canvas.color))


def heading_text(lines: Sequence[str], width: int) -> str:
    """Return lines wrapped, with an empty one below them; "" for none."""
    return f"{canvas_text(lines, Canvas(width, color=False))}\n\n" if lines else ""


def emit(
    result: CommandResult, options: OutputOptions, *, to_stderr: bool = False, redirect: bool = True
) -> None:
    """Write the result to stdout, or to the file of ``-o``.

    `to_stderr`: write to stderr instead, as stdout carries the command's product (a plan, a file).
    `redirect`: whether ``-o`` names the file for the results; False where it names the product.
    """
    if redirect and options.output not in {None, STDOUT}:
        with (
            new_file(Path(str(options.output))) as path,
            path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream,
        ):
            stream.write(_text(result, options, stream, as_text=spreadsheet_cell))
        return
    screen = sys.stderr if to_stderr else sys.stdout
    text = _text(result, options, screen)
    # What is drawn for people is printable already, its colours apart.
    screen.write(text if options.format is OutputFormat.TABLE else _shown(text, screen))
    screen.flush()


def _text(
    result: CommandResult, options: OutputOptions, stream: TextIO, as_text: Callable[[str], str] = str
) -> str:
    """Return the result in a format; ``as_text`` says how CSV has a cell of text."""
    if result.document is not None:
        return result.document
    if options.format is OutputFormat.JSON:
        document = Document(
            command=result.command,
            seed=options.request.seed,
            selection=UNSET if result.selection is None else result.selection,
            warnings=tuple(map(str, result.warnings)),
            results=result.results() if callable(result.results) else result.results,
        )
        return json_text(to_builtins(document)) + "\n"
    if options.format is OutputFormat.TABLE:
        has_color = terminal.use_color(options.color.value, stream, os.environ)
        canvas = Canvas(terminal.width(os.environ, stream), has_color)
        with ascii_within(terminal.ascii_only(options.ascii, os.environ, stream.encoding)):
            text = result.drawn(canvas)
            # All that is not printable is escaped, except colour codes if the canvas has colour.
            pieces = _COLOR.split(text) if has_color else [text]
            pieces[::2] = map(printable_lines, pieces[::2])
            return "".join(pieces) + "\n"
    if (page_text := _PAGES.get(options.format)) is not None:
        with ascii_within(options.ascii):
            return page_text(result.page()) + "\n"
    results = result.results if result.rows is None else result.rows
    results = results() if callable(results) else results
    rows = to_builtins(list(results) if isinstance(results, Sequence) else [results])
    if options.format is OutputFormat.JSONL:
        return "".join(f"{json_text(row, indent=None)}\n" for row in rows)
    cells = (
        [as_text(value) if isinstance(value, str) else _cell(value) for value in row.values()] for row in rows
    )
    return csv_text([*rows[:1], *cells])


def _cell(value: Any) -> str:
    """Return a value as one cell: dimensions as 8x1x1, None as an empty cell, nested values as JSON."""
    value = finite(value)
    if value is None:
        return ""
    if isinstance(value, list) and len(value) == 3 and all(isinstance(item, int) for item in value):
        return "x".join(map(str, value))
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _shown(text: str, stream: TextIO) -> str:
    """Return data as they are where they are kept or read on, escaped where somebody looks at them."""
    return data_for_terminal(text) if terminal.is_terminal(stream) else text


def copy_to_stdout(path: Path) -> None:
    """Write a file's bytes to stdout."""
    with path.open("rb") as stream:
        shutil.copyfileobj(stream, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def write_stdout(text: str) -> None:
    """Write a command's product to stdout: as it is, but for what must not steer a terminal."""
    sys.stdout.write(_shown(text, sys.stdout))
    sys.stdout.flush()


def write_product(product: str, text: str, place: str, *, quiet: bool) -> None:
    """Write what a command makes to a file, which a note says, or to stdout; ``product``: its name."""
    if place == STDOUT:
        write_stdout(text)
        return
    write_text(text, Path(place))
    note(f"{product} written to {place}", quiet=quiet)
