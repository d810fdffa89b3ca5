"""rocprofv3's JSON (`rocprofv3 --output-format json`): a recording for each process.

The text is in memory whole, its records become columns piece by piece.
"""

from __future__ import annotations

import re
from functools import partial

from sampling.profile.profile import KernelTable, Profile
from sampling.progress import Progress
from sampling.readers.input_file import InputFile, place_on_disk
from sampling.readers.rocm.recording import profile_of

FORMAT = "rocprofv3-json"

_BLOCK_BYTES = 1 << 22
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OPENING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:')


def recognise(file: InputFile) -> bool:
    """Return whether the file opens as rocprofv3's JSON does."""
    return _OPENING.match(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the kernel dispatches as launches.

    Raises
    ------
    ProfileError : the JSON is damaged, a record is not usable, or there is no dispatch.
    """
    from sampling.readers.rocm.json_records import AGAIN, recordings

    total = file.location.stat().st_size
    text = bytearray()
    with file.open() as stream:
        for block in iter(partial(stream.read, _BLOCK_BYTES), b""):
            text += block
            if progress is not None:
                progress(place_on_disk(stream), total, f"reading {file.path}")
    if text.startswith(_BYTE_ORDER_MARK):
        del text[: len(_BYTE_ORDER_MARK)]
    return profile_of(recordings(text, file.path), file, kernels, format_name=FORMAT, remedy=AGAIN)
