"""`methods`: the methods and their options."""

from __future__ import annotations

from tui.options.shared import OutputOptions
from tui.output.writer import Answer, emit
from tui.text.methods import method_rows, methods_blocks, methods_text


def run(options: OutputOptions) -> None:
    """List them."""
    rows = method_rows()
    answer = Answer(
        "methods", rows, lambda canvas: methods_text(rows, canvas), blocks=lambda _: methods_blocks(rows)
    )
    emit(answer, options)
