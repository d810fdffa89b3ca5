"""nsys folder exports (`nsys export --type parquetdir` or `arrowdir`): one file for each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sampling.errors import ProfileError
from sampling.profile import KernelTable, Profile, ProfileFile
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.nsys_export import read_export
from sampling.readers.nsys_tables import EXPORT_AGAIN, NULL, STRINGS, Int64Array, NsysTables

if TYPE_CHECKING:
    import pyarrow

FORMAT = "nsys-parquetdir"

_ARROW_FORMAT = "nsys-arrowdir"
_SUFFIXES = (".parquet", ".arrow", ".arrows")
_ARROW_FILE_MAGIC = b"ARROW1"
_ROWS_AT_ONCE = 1 << 18
