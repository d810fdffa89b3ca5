"""`scale derive`: the scale models of a target GPU, as configurations the simulator reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scalemodel.derive import (
    ScaledModel,
    SharedResources,
    Target,
    default_sizes,
    derive,
    factors_for_sizes,
    read_target,
)
from scalemodel.errors import OptionError
from scalemodel.from_logs import read_printed
from tui.options.input_files import reading
from tui.options.scale import ScaleDeriveOptions, sizes_of
from tui.output.files import write_folder
from tui.output.markdown import Block
from tui.output.writer import STDOUT, Answer, Canvas, emit, write_stdout
from tui.terminal.diagnostics import note
from tui.terminal.printable import wrapped
from tui.terminal.tables import Column, names, table

_MIB = 2**20


def run(options: ScaleDeriveOptions) -> None:
    """Read the target, divide it by each factor, write what the simulator reads."""
    known = None if options.simulator_log is None else read_printed(options.simulator_log).options
    if known is not None and not known:
        what = f"{options.simulator_log} prints no configuration"
        raise OptionError(what, remedy="give what GPGPU-Sim or Accel-Sim printed from its start on")
    target = read_target(options.file, known)
    models = derive(target, factors_of(target, options))
    written: list[str] = []
    if options.output == STDOUT:
        write_stdout(only_file(models))
    elif options.output is not None:
        files = [file for model in models for file in model_files(model)]
        with reading(files_beside(options.file, files)):
            written = write_folder(Path(options.output), files, force=options.force)
    else:
        note("nothing is written without -o FOLDER", quiet=options.quiet)
    emit(
        Answer(
            "scale derive",
            [model_row(model) for model in models],
            lambda canvas: models_text(target, models, written, canvas),
            blocks=lambda _: models_blocks(target, models, written),
            warnings=tuple(dict.fromkeys(each.code for model in models for each in model.notes)),
        ),
        options,
        to_stderr=options.output == STDOUT,
        redirect=False,
    )


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
    """Return the text of the one file there is to write; raise OptionError where there are several."""
    if len(models) != 1 or len(models[0].files) != 1:
        count = sum(len(model.files) for model in models)
        raise OptionError(f"there are {count} files to write", remedy="name a folder with -o")
    return models[0].files[0][1]


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


def models_blocks(target: Target, models: Sequence[ScaledModel], written: Sequence[str]) -> Iterator[Block]:
    """Yield what is shared, what changes in each model, and the files written."""

    def shared(resources: SharedResources) -> list[tuple[str, float | None]]:
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

    columns = [Column("", [name for name, value in shared(target.resources) if value], to_right=False)]
    for one in (target.resources, *(model.resources for model in models)):
        heading = f"{one.size} {one.size_unit}" if len(columns) > 1 else "target"
        columns.append(Column(heading, [f"{value:,.6g}" for _, value in shared(one) if value]))
    yield columns
    for model in models:
        yield f"{model.resources.size} {model.resources.size_unit}: what changes"
        yield (
            "nothing"
            if not model.changes
            else [
                names("file", [change.file for change in model.changes]),
                names("option", [change.option for change in model.changes]),
                Column("target", [change.old for change in model.changes]),
                Column("here", [change.new for change in model.changes]),
            ]
        )
        yield from (f"note: {each.sentence}" for each in model.notes)
    if models[0].unchanged:
        yield f"As in the target: {', '.join(name for name, _ in models[0].unchanged)}."
    yield from written


def models_text(target: Target, models: Sequence[ScaledModel], written: Sequence[str], canvas: Canvas) -> str:
    """Return the same as lines, a blank one before each model and before what follows them."""
    lines: list[str] = []
    for block in models_blocks(target, models, ()):
        if not isinstance(block, str):
            lines.append(table(block))
            continue
        blank = block.endswith(": what changes") or block.startswith("As in the target")
        said = wrapped(block, canvas.width, "  ")
        lines += ["", *said] if blank else said
    return "\n".join([*lines, "", *written] if written else lines)
