"""The user's split decisions as a file, so that a command line can name them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from sampling.errors import PlanFileError
from sampling.plan_file import overrides_document, read_overrides
from tui.app.state import Session, decisions, same_overrides
from tui.options import SampleOptions
from tui.output import json_text, new_file

_DIGITS = 8


def options_with_overrides(session: Session) -> SampleOptions:
    """Return the session's options with a file of its split decisions, written if there is none yet.

    The file is named after what is in it, so that asking twice writes once.

    Raises
    ------
    OSError : it cannot be written to the current folder.
    """
    if not decisions(session.overrides):
        return replace(session.options, overrides=None)
    if _holds(session.options.overrides, session):
        return session.options
    text = json_text(overrides_document(session.overrides)) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    path = Path(f"kernelpoint-overrides-{digest}.json")
    if not _holds(str(path), session):
        with new_file(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return replace(session.options, overrides=str(path))


def _holds(path: str | None, session: Session) -> bool:
    """Return whether a file is there and has the session's decisions."""
    if path is None or not Path(path).is_file():
        return False
    try:
        return same_overrides(read_overrides(path), session.overrides)
    except PlanFileError:
        return False
