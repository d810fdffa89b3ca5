"""`export`: hand a plan to a simulator or tool."""

from __future__ import annotations

import shlex
from pathlib import Path

from sampling.errors import OptionError
from sampling.plan.plan_file import IN_FOLDER, read_plan
from sampling.simulators.export import ExportChoices, Simulated, simulated
from sampling.simulators.registry import exported_folder, exporter_named, starts_cold
from sampling.text import counted
from tui.charts.quantities import ratio
from tui.engine.studies import progress_of
from tui.options.commands import ExportOptions
from tui.options.places import check_folder
from tui.output.files import write_folder
from tui.output.writer import STDOUT, Answer, emit, write_stdout
from tui.terminal.diagnostics import note
from tui.text.running import COLD
from tui.text.selection import part_of_plan, stated


def run(options: ExportOptions) -> None:
    """Read the plan, write what the target understands."""
    note_of_target = exporter_named(options.to).note
    folder = Path(options.output or f"{options.to}-export")
    if options.output is None:
        check_folder(folder)
    plan = read_plan(options.plan)
    # Garbled options are refused before anything is written.
    part = part_of_plan(plan)
    with progress_of(options) as progress:
        choices = ExportChoices(
            shards=options.shards,
            traces=options.traces,
            caches=options.caches,
            cold_check=options.cold_check,
            config=options.config,
            trace_before=options.trace_before,
            drop_copies=options.drop_copies,
            progress=progress,
        )
        if starts_cold(options.to, choices):
            note(COLD, quiet=options.quiet)
        files = exported_folder(plan, options.to, choices)
    if options.output == STDOUT or Path(plan.path).resolve() == (folder / IN_FOLDER).resolve():
        files = tuple(file for file in files if file[0] != IN_FOLDER)
    if options.output == STDOUT:
        if len(files) != 1:
            raise OptionError(f"{options.to} writes {len(files)} files", remedy="name a folder with -o")
        write_stdout(str(files[0][1]))
        written = [STDOUT]
    else:
        written = write_folder(folder, files, force=options.force)
    note(f"{options.to}: {note_of_target}", quiet=options.quiet)
    found = simulated(plan.to_simulate(), choices)
    results = {
        "files": written,
        "launches": found.launches,
        "beside": found.beside,
        "speedup": found.speedup,
    }
    emit(
        stated(Answer("export", results, lambda _: "\n".join(_lines(found, written, options))), part),
        options,
        to_stderr=options.output == STDOUT,
        redirect=False,
    )


def _lines(found: Simulated, written: list[str], options: ExportOptions) -> list[str]:
    """Return how much is simulated, and how much less that is than the whole run; the files; what is next."""
    words = f"{counted(found.launches, 'launch', 'launches')} for {options.to}"
    if found.beside:
        words += f", and {found.beside:,} beside them for the caches' sake, which have no weight"
    words += "." if found.speedup is None else f": {ratio(found.speedup)} less than the whole run."
    page = next((each for each in written if each.endswith("README.txt")), None)
    how = "run them" if page is None else f"run them as {page} says"
    return [words, *written, f"Next: {how}, then kernelpoint estimate {shlex.quote(options.plan)} RESULTS"]
