"""`scale derive`: the scale models of a target GPU, as configurations the simulator reads."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scalemodel.errors import OptionError
from scalemodel.scale_down.scaled_model import (
    PAPER_SIZES,
    ScaledModel,
    SharedResources,
    Target,
    derive,
    factors_for_sizes,
)
from scalemodel.scale_down.target_config import read_target
from tui.options.input_files import reading
from tui.options.scale import ScaleDeriveOptions
from tui.output.files import write_folder
from tui.output.writer import STDOUT, Answer, Canvas, emit, write_stdout
from tui.scale.typed_values import sizes_of
from tui.terminal.diagnostics import note
from tui.terminal.tables import Column, table

_MIB = 2**20


def run(options: ScaleDeriveOptions) -> None:
    """Read the target, divide it by each factor, write what the simulator reads."""
    target = read_target(options.file)
    models = derive(target, _factors(target, options))
    files = [[(f"{_folder(model)}/{name}", text) for name, text in model.files] for model in models]
    is_stdout = options.output == STDOUT
    written: list[str] = []
    if is_stdout:
        write_stdout(_only_file(models))
    elif options.output is not None:
        every = [file for of_model in files for file in of_model]
        with reading(_beside_target(options.file, every)):
            written = write_folder(Path(options.output), every, force=options.force)
    else:
        note("nothing is written without -o FOLDER", quiet=options.quiet)
    results = [_row(model, of_model) for model, of_model in zip(models, files, strict=True)]
    emit(
        Answer(
            "scale derive",
            results,
            lambda canvas: "\n".join(_text(target, models, written, canvas)),
            warnings=tuple(dict.fromkeys(each.code.value for model in models for each in model.notes)),
        ),
        options,
        to_stderr=is_stdout,
        redirect=False,
    )


def _beside_target(target: str, files: Sequence[tuple[str, str]]) -> list[str]:
    """Return what a configuration may have named to be read with it: files of the same names, beside it."""
    return [] if target == "-" else [str(Path(target).parent / Path(name).name) for name, _ in files]


def _factors(target: Target, options: ScaleDeriveOptions) -> tuple[int, ...]:
    """Return the factors asked for; those of the published sizes if none are."""
    factors, sizes = sizes_of("--factor", options.factor), sizes_of("--size", options.size)
    if factors and sizes:
        raise OptionError("--factor and --size are given", remedy="give one of the two")
    return factors or factors_for_sizes(target, sizes or PAPER_SIZES[target.resources.size_unit])


def _only_file(models: Sequence[ScaledModel]) -> str:
    if len(models) != 1 or len(models[0].files) != 1:
        count = sum(len(model.files) for model in models)
        raise OptionError(f"there are {count} files to write", remedy="name a folder with -o")
    return models[0].text


def _folder(model: ScaledModel) -> str:
    return f"{model.resources.size}-{model.resources.size_unit}"


def _row(model: ScaledModel, files: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "factor": model.factor,
        "size": model.resources.size,
        "size_unit": model.resources.size_unit,
        **asdict(model.resources),
        "changes": [asdict(change) for change in model.changes],
        "unchanged": dict(model.unchanged),
        "files": [{"path": path, "content": text} for path, text in files],
        "notes": [asdict(each) for each in model.notes],
    }


def _text(
    target: Target, models: Sequence[ScaledModel], written: Sequence[str], canvas: Canvas
) -> Iterator[str]:
    yield _resources(target, models)
    for model in models:
        yield f"\n{model.resources.size} {model.resources.size_unit}: what changes"
        yield _changes(model, canvas) if model.changes else "nothing"
        for each in model.notes:
            yield from textwrap.wrap(f"note: {each.sentence}", canvas.width, subsequent_indent="  ")
    if models[0].unchanged:
        names = ", ".join(name for name, _ in models[0].unchanged)
        yield ""
        yield from textwrap.wrap(
            f"As in the target: {names}.", canvas.width, break_on_hyphens=False, subsequent_indent="  "
        )
    if written:
        yield ""
        yield from written


def _resources(target: Target, models: Sequence[ScaledModel]) -> str:
    """Return what is shared, of the target and of each model, a column each."""
    columns = [Column("", [name for name, value in _shared(target.resources) if value], to_right=False)]
    for one in (target.resources, *(model.resources for model in models)):
        heading = f"{one.size} {one.size_unit}" if len(columns) > 1 else "target"
        columns.append(Column(heading, [f"{value:,.6g}" for _, value in _shared(one) if value]))
    return table(columns)


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


def _changes(model: ScaledModel, canvas: Canvas) -> str:
    return table(
        [
            Column("file", [change.file for change in model.changes], to_right=False),
            Column("option", [change.option for change in model.changes], to_right=False),
            Column("target", [change.old for change in model.changes]),
            Column("here", [change.new for change in model.changes]),
        ],
        ascii_only=canvas.ascii_only,
    )
