"""The plan of view 3 as files: its own, and those that an exporter makes of it."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from sampling.errors import OptionError, SamplingError
from sampling.plan.plan_file import read_plan
from sampling.plan.written_plan import plan_text
from sampling.progress import Progress
from sampling.simulators.registry import exported_folder, exporter_named
from tui.app.plan.details import PlanDetails, launches_found
from tui.engine.studies import plan_options
from tui.options.command_line import PLAN_NAME
from tui.options.flags import error_text
from tui.options.input_files import why_not_written
from tui.options.places import is_writable
from tui.output.files import write_folder, write_text

_LONGEST_NAME = 255
"""Bytes of a file's name that the usual file systems take."""


def why_not_there(name: str, path: Path, *, is_folder: bool) -> str | None:
    """Return why the path cannot be written; None if it can.

    Parameters
    ----------
    name : of the path, as it was typed.
    is_folder : whether a folder is to be written, which may exist if it is empty.
    """
    if not name or len(os.fsencode(path.name)) > _LONGEST_NAME:
        return "the name is too long" if name else "a name is missing"
    if is_folder and path.is_dir() and not any(path.iterdir()):
        return None
    if path.exists():
        return f"{name} exists; give another name"
    why_not = why_not_written(path)
    if why_not is not None:
        return f"{name} {why_not}"
    folder = path.absolute().parent
    if not is_folder and not folder.is_dir():
        return f"there is no such folder: {folder}"
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return None if is_writable(there) else f"{there} takes no file; give another place"


def write_plan(details: PlanDetails, path: Path, exporter: str | None, progress: Progress) -> str:
    """Write the plan, or what an exporter makes of it; return in words what was written.

    Raises
    ------
    OptionError : there is a file of that name.
    """
    if exporter is None:
        save_plan(details, path, progress)
        return f"plan written to {path}"
    return _export_plan(details, exporter, path, progress)


def save_plan(details: PlanDetails, path: Path, progress: Progress) -> None:
    """Write a plan file.

    Raises
    ------
    OptionError : there is a file of that name.
    """
    if path.exists():
        raise OptionError(f"{path} exists", remedy="give another name")
    write_text(_plan_file_text(details, progress), path)


def export_file(path: Path, to: str, folder: Path) -> str:
    """Write what an exporter makes of a plan file, of a larger one what is new; say what was written.

    Raises
    ------
    SamplingError, OSError : nothing is written.
    """
    written = write_folder(folder, exported_folder(read_plan(str(path)), to), force=False)
    return _export_words(written, to, folder)


def _export_words(written: list[str], to: str, folder: Path) -> str:
    what = written[0] if len(written) == 1 else f"{len(written)} files in {folder}"
    return f"written: {what}; {to}: {exporter_named(to).NOTE}"


def _export_plan(details: PlanDetails, to: str, folder: Path, progress: Progress) -> str:
    """Write what a simulator or tool understands; say what was written.

    The exporter is given a plan file, as `export` gives it one.
    """
    with TemporaryDirectory(prefix="kernelpoint-") as scratch:
        path = Path(scratch) / PLAN_NAME
        write_text(_plan_file_text(details, progress), path)
        return export_file(path, to, folder)


def _plan_file_text(details: PlanDetails, progress: Progress) -> str:
    """Return the text of the plan file, as `sample -o` writes it."""
    study, plan = details.study, details.plan
    recorded = plan_options(details.session.options, study, plan)
    return plan_text(study, plan, launches_found(details, progress), recorded)


def failure_words(error: SamplingError | OSError) -> str:
    """Return why nothing was written or found, with the file that the system names."""
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return error_text(error)
