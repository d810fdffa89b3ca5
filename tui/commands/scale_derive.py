"""`scale derive`: the scale models of a target GPU, as configurations the simulator reads."""

from __future__ import annotations

from pathlib import Path

from scalemodel.derive import derive, read_target
from scalemodel.errors import OptionError
from scalemodel.from_logs import read_printed
from tui.options.input_files import reading
from tui.options.scale import ScaleDeriveOptions
from tui.output.files import write_folder
from tui.output.writer import STDOUT, Answer, emit, write_stdout
from tui.scale.models import (
    factors_of,
    files_beside,
    model_files,
    model_row,
    models_blocks,
    models_text,
    only_file,
)
from tui.terminal.diagnostics import note


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
            warnings=tuple(dict.fromkeys(each.code.value for model in models for each in model.notes)),
        ),
        options,
        to_stderr=options.output == STDOUT,
        redirect=False,
    )
