"""`info`: what is in a profile, and what to watch out for."""

from __future__ import annotations

from sampling.methods.registry import DEFAULT_METHOD
from tui.engine.studies import study_of
from tui.options.commands import InfoOptions
from tui.output.writer import Answer, emit
from tui.text.info import info_blocks, info_results, info_text
from tui.text.selection import part_of_study, stated


def run(options: InfoOptions) -> None:
    """Read, study, show."""
    study = study_of(options.profiles, options, method=DEFAULT_METHOD)
    results = info_results(study)
    codes = tuple(finding.code for finding in study.findings)
    answer = Answer(
        "info",
        results,
        lambda canvas: info_text(study, results, canvas),
        blocks=lambda _: info_blocks(study, results),
        warnings=codes,
    )
    emit(stated(answer, part_of_study(study)), options)
