"""Files of per-launch features: one module a format, each file recognised by its content, not its suffix.

A new format is one new module and one line in ``_MODULES``. A module has::

    FORMAT: str                                    # e.g. "ncu-raw"
    def recognise(file: InputFile) -> bool         # from file.head (64 KiB); cheap
    def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows

``read`` raises ProfileError, with the remedy, for what is of its format but no features. What belongs to
which launch of a profile is decided by `sampling.features.join`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from sampling.features.rows import FeatureRows
from sampling.features.tables.number_cells import NumberLocale
from sampling.progress import Progress
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.registry import reader_of

_MODULES = (
    "sampling.features.formats.ncu.details",
    "sampling.features.formats.ncu.raw",
    "sampling.features.formats.basic_blocks",
    "sampling.features.formats.nvbit_counts",
    "sampling.features.formats.tracer_stats",
    "sampling.features.formats.simulator_log",
    "sampling.features.formats.parquet_table",
    "sampling.features.formats.npy",
)
#: Asked last, after the profiles: many of them are CSV too.
_TABLE = "sampling.features.formats.csv_table"


class FeatureReader(Protocol):
    """What every module of a format offers."""

    FORMAT: str

    def recognise(self, file: InputFile) -> bool:
        """Return whether the content is of this format."""

    def read(self, file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
        """Return the rows of the file."""


def read_features(path: str, *, locale: NumberLocale = "C", progress: Progress | None = None) -> FeatureRows:
    """Read a file of features; "-" is standard input, gzip is read as it is.

    Parameters
    ----------
    locale : how the file writes its numbers; under "C", thousands apart by commas are read too.

    Raises
    ------
    ProfileError : it is missing, damaged, of no known format, or has nothing that says which launch a row is.
    """
    with open_input(path) as file:
        if not file.is_directory:
            for reader in map(_reader, _MODULES):
                if reader.recognise(file):
                    return reader.read(file, locale, progress)
            table = _reader(_TABLE)
            if reader_of(file) is None and table.recognise(file):
                return table.read(file, locale, progress)
        # Many regular expressions, which no file of features needs.
        from sampling.features.formats.not_features import not_features

        raise not_features(file)


def _reader(module: str) -> FeatureReader:
    return cast("FeatureReader", import_module(module))
