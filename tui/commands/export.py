"""`export`: hand a plan to a simulator or tool."""

from __future__ import annotations

from pathlib import Path

from sampling.errors import OptionError
from sampling.plan_file import read_plan
from sampling.simulators import Exported, exporter_named
from tui.diagnostics import note
from tui.options import ExportOptions
from tui.output import STDOUT, Answer, emit, new_file, write_stdout


def run(options: ExportOptions) -> None:
    """Read the plan, write what the target understands."""
    exporter = exporter_named(options.to)
    plan = read_plan(options.plan)
    files = exporter.export(plan)
    if options.output == STDOUT:
        if len(files) != 1:
            raise OptionError(f"{options.to} writes {len(files)} files", remedy="name a folder with -o")
        write_stdout(files[0][1])
        written = [STDOUT]
    else:
        written = _write(files, Path(options.output or f"{options.to}-export"), force=options.force)
    note(f"{options.to}: {exporter.NOTE}", quiet=options.quiet)
    results = {"files": written, "launches": len(plan.drawn)}
    emit(
        Answer("export", results, lambda _: "\n".join(written)),
        options,
        to_stderr=options.output == STDOUT,
        redirect=False,
    )


def _write(files: Exported, folder: Path, *, force: bool) -> list[str]:
    paths = [folder / relative for relative, _ in files]
    existing = [path for path in paths if path.exists()]
    if existing and not force:
        raise OptionError(f"{existing[0]} exists", remedy="give another -o, or --force to overwrite")
    for path, (_, content) in zip(paths, files, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as temporary:
            temporary.write_text(content, encoding="utf-8")
    return [str(path) for path in paths]
