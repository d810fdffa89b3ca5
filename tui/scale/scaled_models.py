"""The scale models of a target GPU: which `scale derive` is asked for, their files, rows and words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scalemodel.derive import (
    ScaledModel,
    SharedResources,
    Target,
    default_sizes,
    factors_for_sizes,
)
from scalemodel.errors import OptionError
from tui.options.scale import ScaleDeriveOptions, sizes_of
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.tables import Column, names, table

_MIB = 2**20


def factors_of(target: Target, options: ScaleDeriveOptions) -> tuple[int, ...]:
    """Return the factors asked for; those of the default sizes if none are."""
    factors, sizes = sizes_of("--factor", options.factor), sizes_of("--size", options.size)
    if factors and sizes:
        raise OptionError("--factor and --size are given", remedy="give one of the two")
    return factors or factors_for_sizes(target, sizes or default_sizes(target))


def model_files(model: ScaledModel) -> list[tuple[str, str]]:
    """Return (path, text) of each file of a model, all in a folder named after its size."""
    folder = f"{model.resources.size}-{model.resources.size_unit}"
    return [(f"{folder}/{name}", text) for name, text in model.files]


def files_beside(target: str, files: Sequence[tuple[str, str]]) -> list[str]:
    """Return the files beside a target, of the names written: its configuration may have them read too."""
    return [] if target == "-" else [str(Path(target).parent / Path(name).name) for name, _ in files]


def only_file(models: Sequence[ScaledModel]) -> str:
    """Return the text of the one file there is to write.

    Raises
    ------
    OptionError : there are several.
    """
    if len(models) != 1 or len(models[0].files) != 1:
        count = sum(len(model.files) for model in models)
        raise OptionError(f"there are {count} files to write", remedy="name a folder with -o")
    return models[0].text


def model_row(model: ScaledModel) -> dict[str, Any]:
    """Return a model as the contract's `scale derive` lists it."""
    return {
        "factor": model.factor,
        "size": model.resources.size,
        "size_unit": model.resources.size_unit,
        **asdict(model.resources),
        "changes": [asdict(change) for change in model.changes],
        "unchanged": dict(model.unchanged),
        "files": [{"path": path, "content": text} for path, text in model_files(model)],
        "notes": [asdict(each) for each in model.notes],
    }


def models_text(target: Target, models: Sequence[ScaledModel], written: Sequence[str], canvas: Canvas) -> str:
    """Return what is shared, what changes in each model, and the files written."""
    return "\n".join(_parts(target, models, written, canvas))


def _parts(
    target: Target, models: Sequence[ScaledModel], written: Sequence[str], canvas: Canvas
) -> Iterator[str]:
    yield table(_resources(target, models))
    for model in models:
        yield f"\n{_what_changes(model)}"
        yield table(_changes(model), ascii_only=canvas.ascii_only) if model.changes else "nothing"
        for note in _notes(model):
            yield from textwrap.wrap(note, canvas.width, subsequent_indent="  ")
    for text in _unchanged(models):
        yield ""
        yield from textwrap.wrap(text, canvas.width, break_on_hyphens=False, subsequent_indent="  ")
    if written:
        yield ""
        yield from written


def models_blocks(target: Target, models: Sequence[ScaledModel], written: Sequence[str]) -> Iterator[Block]:
    """Yield the same as paragraphs and tables."""
    yield _resources(target, models)
    for model in models:
        yield _what_changes(model)
        yield _changes(model) if model.changes else "nothing"
        yield from _notes(model)
    yield from _unchanged(models)
    yield from written


def _what_changes(model: ScaledModel) -> str:
    return f"{model.resources.size} {model.resources.size_unit}: what changes"


def _notes(model: ScaledModel) -> list[str]:
    return [f"note: {each.sentence}" for each in model.notes]


def _unchanged(models: Sequence[ScaledModel]) -> list[str]:
    same = ", ".join(name for name, _ in models[0].unchanged)
    return [f"As in the target: {same}."] if same else []


def _resources(target: Target, models: Sequence[ScaledModel]) -> list[Column]:
    """Return what is shared, of the target and of each model, a column each."""
    columns = [Column("", [name for name, value in _shared(target.resources) if value], to_right=False)]
    for one in (target.resources, *(model.resources for model in models)):
        heading = f"{one.size} {one.size_unit}" if len(columns) > 1 else "target"
        columns.append(Column(heading, [f"{value:,.6g}" for _, value in _shared(one) if value]))
    return columns


def _shared(resources: SharedResources) -> list[tuple[str, float | None]]:
    return [
        ("SMs", resources.sms),
        ("last-level cache, MiB", resources.llc_bytes / _MIB),
        ("its slices", resources.llc_slices),
        ("memory controllers", resources.memory_controllers),
        ("network, GB/s", resources.noc_gb_per_s),
        ("memory, GB/s", resources.dram_gb_per_s),
        ("chiplets", resources.chiplets),
        ("between chiplets, GB/s", resources.inter_chiplet_gb_per_s),
    ]


def _changes(model: ScaledModel) -> list[Column]:
    return [
        names("file", [change.file for change in model.changes]),
        names("option", [change.option for change in model.changes]),
        Column("target", [change.old for change in model.changes]),
        Column("here", [change.new for change in model.changes]),
    ]
