"""The head of a trace: ``-key = value`` lines that say which kernel it is of, packed or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from sampling.errors import ProfileError
from sampling.profile.profile import Dimensions

# A trace may have been packed, or made ready for the simulator, since its name was written into a list.
_ENDINGS = ("", ".gz", ".xz", "g", "g.gz", "g.xz")
_UNREADABLE = ".tracez"
_HEAD_BYTES = 1 << 14
_SIZES = re.compile(r"\(?\s*(\d{1,18})\s*,\s*(\d{1,18})\s*,\s*(\d{1,18})\s*\)?")
_REMEDY = "give the traces as the tracer wrote them"


def trace_file(folder: Path, name: str) -> Path | None:
    """Return the file of a trace that a list names; None where there is none."""
    return next((each for end in _ENDINGS if (each := folder / f"{name}{end}").is_file()), None)


def trace_head(file: Path) -> dict[str, str]:
    """Return what the lines at a trace's start say; nothing where its packing is not known here.

    Raises
    ------
    ProfileError : it cannot be unpacked, or does not begin like a trace.
    """
    if file.name.endswith(_UNREADABLE):
        return {}
    try:
        text = _first_bytes(file)
    except (OSError, EOFError) as error:
        raise ProfileError(f"cannot be read ({error})", path=file, remedy=_REMEDY) from error
    pairs = [line[1:].split(" = ", 1) for line in _dashed(text.decode("utf-8", "replace").split("\n"))]
    head = {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}
    if "kernel name" not in head:
        raise ProfileError("does not begin like a trace", path=file, remedy=_REMEDY)
    return head


def sizes_of(text: str | None) -> Dimensions | None:
    """Return a grid or block as a head has it, (x,y,z)."""
    found = _SIZES.fullmatch((text or "").strip())
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


def opened(file: Path) -> IO[bytes]:
    """Return a trace to be read, unpacked by the ending of its name."""
    import gzip
    import lzma

    if file.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(file))
    return lzma.open(file) if file.suffix == ".xz" else file.open("rb")


def _first_bytes(file: Path) -> bytes:
    """Return the start of a file, unpacked."""
    import lzma

    try:
        with opened(file) as stream:
            return stream.read(_HEAD_BYTES)
    except lzma.LZMAError as error:
        raise OSError(str(error)) from error


def _dashed(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("-"):
            yield line
        elif line.strip():
            return
