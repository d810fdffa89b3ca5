"""`scale validate`: how well each rule predicts the targets of benchmarks that were simulated too."""

from __future__ import annotations

from functools import partial

from scalemodel.inputs.benchmark_table import read_benchmarks
from scalemodel.rules import RULES
from scalemodel.validate import validate
from tui.options.scale import ScaleValidateOptions
from tui.output.writer import Answer, emit
from tui.scale.questions import rules_of, unused_options
from tui.scale.typed_values import sizes_of
from tui.scale.validation import (
    validation_blocks,
    validation_codes,
    validation_results,
    validation_rows,
    validation_text,
)
from tui.terminal.diagnostics import note


def run(options: ScaleValidateOptions) -> None:
    """Read the benchmarks, predict every target that was simulated, compare."""
    tell = partial(note, quiet=options.quiet)
    benchmarks = read_benchmarks(
        options.file, scaling=options.scaling, mpki_unit=options.mpki_unit, tell=tell
    )
    scalings = tuple(dict.fromkeys(benchmark.scaling for benchmark in benchmarks))
    validation = validate(
        benchmarks,
        simulated=sizes_of("--simulated", options.simulated) or None,
        rules=rules_of(options.rule, tuple(RULES)),
        confidence=options.confidence,
        assume_f_mem=options.assume_f_mem,
        curve_is_modelled=options.modelled_curve,
        proportional_from=options.proportional_from.value,
    )
    for text in unused_options(options, benchmarks, validation.outcomes):
        tell(text)
    results = validation_results(validation)
    emit(
        Answer(
            "scale validate",
            results,
            lambda canvas: validation_text(validation, scalings, options, canvas),
            rows=validation_rows(results),
            blocks=lambda canvas: validation_blocks(validation, scalings, canvas),
            warnings=validation_codes(validation),
        ),
        options,
    )
