"""`methods`: the methods and their options."""

from __future__ import annotations

from tui.options.shared import OutputOptions
from tui.output.writer import Answer, emit
from tui.text.methods import method_rows, methods_text


def run(options: OutputOptions) -> None:
    """List them."""
    rows = method_rows()
    emit(Answer("methods", rows, lambda canvas: methods_text(rows, canvas)), options)
