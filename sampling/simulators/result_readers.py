"""Which module reads which simulator's results; the content tells where nobody says it.

One whose results are read is one line in ``_READERS``. Its module has::

    def recognises_results(head: bytes) -> bool    # from the first 64 KiB, or whole lines further on
    def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from sampling.errors import OptionError, ProfileError
from sampling.readers.input_file import InputFile
from sampling.simulators.measured_run import LinesSoFar, MeasuredRun
from sampling.text import Wording

# The most telling first: a CSV of results is known by its header.
_READERS = {
    "csv": "sampling.simulators.csv_results",
    "macsim": "sampling.simulators.macsim.results",
    "accel-sim": "sampling.simulators.gpgpu_sim_output",
    "gpgpu-sim": "sampling.simulators.gpgpu_sim_output",
}
#: Those whose output may come after that of the simulated program.
_PRINTING = ("accel-sim", "macsim")
_MOST_BYTES_BEFORE_A_SIGN = 1 << 26


class ResultReader(Protocol):
    """What every module that reads a simulator's results offers."""

    def recognises_results(self, head: bytes) -> bool:
        """Return whether a file that starts like this is of its format."""

    def read_results(self, file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
        """Return what a file says of each launch; no metrics: the usual ones."""


def result_reader(name: str) -> ResultReader:
    """Return a reader of results.

    Raises
    ------
    OptionError : there is none of that name.
    """
    if name not in _READERS:
        raise OptionError(f"there is no reader of results {name!r}", remedy=f"there is {', '.join(_READERS)}")
    return cast("ResultReader", import_module(_READERS[name]))


def looks_like_results(file: InputFile) -> bool:
    """Return whether a file begins like results; those behind a program's own output are not found."""
    return any(result_reader(name).recognises_results(file.head) for name in _READERS)


def recognised_reader(file: InputFile) -> ResultReader:
    """Return the reader whose format a file is of.

    Raises
    ------
    ProfileError : there is none.
    """
    for name in _READERS:
        if result_reader(name).recognises_results(file.head):
            return result_reader(name)
    read = 0
    for text in LinesSoFar(file):
        for name in _PRINTING:
            if result_reader(name).recognises_results(text):
                return result_reader(name)
        read += len(text)
        if read > _MOST_BYTES_BEFORE_A_SIGN:
            break
    raise ProfileError(
        "neither what Accel-Sim, GPGPU-Sim or MacSim print, nor a CSV with a column id",
        path=file.path,
        remedy=Wording("give one, or say which it is with `source`"),
    )
