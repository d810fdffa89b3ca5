"""The session's options as a command line can name them, the split decisions as a file."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from errno import EACCES
from itertools import chain, count
from pathlib import Path

from sampling.errors import PlanFileError
from sampling.json_text import json_text
from sampling.plan.overrides_file import overrides_document, read_overrides
from tui.app.state import Session, decisions, same_overrides
from tui.options.choices import ColorMode, OutputFormat
from tui.options.commands import SampleOptions
from tui.options.input_files import why_not_written
from tui.options.places import other_folders
from tui.output.files import write_text

_DIGITS = 8


def printed_options(session: Session) -> SampleOptions:
    """Return the session's options for a command that prints what a screen shows: text, on stdout."""
    options = session.options
    # Copied text has no colour; a terminal gets its own from `auto`.
    color = ColorMode.AUTO if options.color is ColorMode.ALWAYS else options.color
    is_ascii = options.ascii or session.ascii_only
    return replace(options, format=OutputFormat.TABLE, output=None, color=color, ascii=is_ascii)


def options_on_leaving(session: Session) -> SampleOptions:
    """Return the `options_with_overrides`; where the current folder takes no file, it is in another.

    Raises
    ------
    OSError : it cannot be written to the home folder and that of temporary files either; the error is that of
        the current folder.
    """
    try:
        return options_with_overrides(session)
    except OSError as error:
        for folder in other_folders():
            with suppress(OSError):
                return options_with_overrides(session, folder)
        raise error


def options_with_overrides(session: Session, folder: Path = Path()) -> SampleOptions:
    """Return the `printed_options` with a file of the split decisions, written if there is none yet.

    The file is named after what is in it, so that asking twice writes once.

    Raises
    ------
    OSError : it cannot be written to the folder, by default the current one.
    """
    options = printed_options(session)
    if not decisions(session.overrides):
        return replace(options, overrides=None)
    if _holds(options.overrides, session):
        return options
    text = _text(session)
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    named = f"kernelpoint-overrides-{digest}"
    names = chain([f"{named}.json"], (f"{named}-{number}.json" for number in count(2)))
    # A file of that name may have been edited since, and is the user's.
    path = next(
        path for path in (folder / name for name in names) if not path.exists() or _holds(str(path), session)
    )
    if not path.exists():
        why_not = why_not_written(path)
        if why_not is not None:
            raise PermissionError(EACCES, why_not, str(path))
        write_text(text, path)
    return replace(options, overrides=str(path))


def write_decisions(session: Session, path: Path) -> None:
    """Write the split decisions to a file.

    Raises
    ------
    OptionError, OSError : see `write_text`.
    """
    write_text(_text(session), path)


def _text(session: Session) -> str:
    return json_text(overrides_document(session.overrides, session.options.method)) + "\n"


def kept_decisions(session: Session) -> str:
    """Write the split decisions where the app ends otherwise than by the user; say where they are.

    Nothing is raised: the user is to be told why the app ends, not that this failed too.
    """
    try:
        return f"your split decisions are in {options_on_leaving(session).overrides}"
    except OSError as error:
        return f"your split decisions are not written: {error.filename}: {error.strerror}"
    except Exception as error:
        return f"your split decisions are not written: {error}"


def _holds(path: str | None, session: Session) -> bool:
    """Return whether a file is there and has the session's decisions."""
    if path is None or not Path(path).is_file():
        return False
    try:
        return same_overrides(read_overrides(path).overrides, session.overrides)
    except PlanFileError:
        return False
