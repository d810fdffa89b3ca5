"""Whether a file is a plan, told by its first bytes: the app's first paint must not wait for more."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

_HEAD_BYTES = 1 << 16
_KIND = re.compile(rb'\A\s*\{[^{\[]*"kind"\s*:\s*"plan"')


def is_plan(path: str) -> bool:
    """Return whether a file looks like a plan file; whether it is a whole one only reading it tells."""
    with suppress(OSError):
        return Path(path).is_file() and _KIND.search(head_of(Path(path))) is not None
    return False


def head_of(path: Path) -> bytes:
    """Return the first bytes of a file.

    Raises
    ------
    OSError : it cannot be read.
    """
    with path.open("rb") as stream:
        return stream.read(_HEAD_BYTES)
