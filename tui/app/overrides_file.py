"""The session's options as a command line can name them, the split decisions as a file."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from errno import EACCES
from itertools import chain, count
from pathlib import Path

from sampling.errors import PlanFileError
from sampling.plan.plan_file import overrides_text, read_overrides
from tui.app.state import Session, decisions, same_overrides
from tui.options.choices import ColorMode, OutputFormat
from tui.options.files import other_folders, why_not_written
from tui.options.plan import SampleOptions
from tui.output.files import write_text

_DIGITS = 8


def printed_options(session: Session) -> SampleOptions:
    """Return the session's options for a command that prints what a screen shows: text, on stdout."""
    options = session.options
    # Copied text has no colour; a terminal gets its own from `auto`.
    color = ColorMode.AUTO if options.color is ColorMode.ALWAYS else options.color
    is_ascii = options.ascii or session.ascii_only
    return replace(options, format=OutputFormat.TABLE, output=None, color=color, ascii=is_ascii)


def decisions_file(session: Session, folder: Path = Path()) -> Path:
    """Return the file that has the session's split decisions, or where there is none yet, one for them.

    It is that of the options, such as a plan that was saved; else one named after what is in it.
    """
    given = session.options.overrides
    if given is not None and _holds(Path(given), session):
        return Path(given)
    digest = hashlib.sha256(_text(session).encode()).hexdigest()[:_DIGITS]
    named = f"kernelpoint-overrides-{digest}"
    names = chain([f"{named}.json"], (f"{named}-{number}.json" for number in count(2)))
    # A file of that name may have been edited since, and is the user's.
    return next(
        path for path in (folder / name for name in names) if not path.exists() or _holds(path, session)
    )


def options_with_overrides(session: Session, folder: Path = Path()) -> SampleOptions:
    """Return the `printed_options` with the `decisions_file`, written if there is none; OSError if not."""
    options = printed_options(session)
    if not decisions(session.overrides):
        return replace(options, overrides=None)
    path = decisions_file(session, folder)
    if not path.exists():
        why_not = why_not_written(path)
        if why_not is not None:
            raise PermissionError(EACCES, why_not, str(path))
        write_decisions(session, path)
    return replace(options, overrides=str(path))


def write_decisions(session: Session, path: Path) -> None:
    """Write the split decisions to a file."""
    write_text(_text(session), path)


def _text(session: Session) -> str:
    return overrides_text(session.overrides, session.options.method)


def kept_decisions(session: Session) -> str:
    """Write the split decisions where the app ends otherwise than by the user; say where they are.

    Nothing is raised: the user is to be told why the app ends, not that this failed too.
    """
    why = ""
    for folder in (Path(), *other_folders()):
        try:
            return f"your split decisions are in {options_with_overrides(session, folder).overrides}"
        except OSError as error:
            why = why or f"{error.filename}: {error.strerror}"
        except Exception as error:
            why = why or str(error)
    return f"your split decisions are not written: {why}"


def _holds(path: Path, session: Session) -> bool:
    """Return whether a file is there and has the session's decisions."""
    if not path.is_file():
        return False
    try:
        return same_overrides(read_overrides(str(path)).overrides, session.overrides)
    except PlanFileError:
        return False
