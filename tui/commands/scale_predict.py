"""`scale predict`: the IPC of larger systems from two or more simulated ones."""

from __future__ import annotations

from functools import partial

from scalemodel.errors import InputError, OptionError
from tui.options.scale import ScalePredictOptions
from tui.output.writer import Answer, emit
from tui.scale.answers import (
    outcome_object,
    predict_blocks,
    predict_text,
    prediction_row,
    predictions_of,
    unused_options,
)
from tui.terminal.diagnostics import note


def run(options: ScalePredictOptions) -> None:
    """Read or take what was measured, predict each benchmark, draw it where it is one."""
    if options.run and not options.rule:
        # Reading logs takes what tables of sizes do not.
        from tui.scale.runs import answer_by_waves

        emit(answer_by_waves(options), options)
        return
    tell = partial(note, quiet=options.quiet)
    try:
        pairs = predictions_of(options, tell)
    except InputError:
        from tui.scale.runs import is_run

        for path in filter(is_run, options.files):
            raise OptionError(
                f"{path} is what a simulator printed, no table of sizes",
                remedy="give it as --run SIZE=LOG, with the SMs of that GPU, and another run beside it",
            ) from None
        raise
    for text in unused_options(options, *zip(*pairs, strict=True)):
        tell(text)
    objects = [outcome_object(*pair) for pair in pairs]
    rows = [
        {"benchmark": outcome.name, **prediction_row(measurements, each)}
        for measurements, outcome in pairs
        for each in outcome.predictions
    ]
    emit(
        Answer(
            "scale predict",
            objects[0] if len(objects) == 1 else objects,
            lambda canvas: predict_text(pairs, options, canvas),
            rows=rows,
            blocks=lambda _: predict_blocks(pairs, options),
            warnings=tuple(dict.fromkeys(each.code for _, outcome in pairs for each in outcome.warnings)),
        ),
        options,
    )
