"""A folder of profiles: one file a rank, as one workload.

Files are in the order in which a person counts them: rank2 before rank10. One recording often lies there in
several forms, such as a report beside its export: one form of it is read. What is no profile is left out, and
that is said. Folders within are read where they are exports, and no deeper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampling.progress import Progress
from sampling.readers.input_file import InputFile, open_input
from sampling.text import counted, listed

if TYPE_CHECKING:
    from sampling.readers.tables.column_map import ColumnMap

# What tools put behind the name of a recording, and which form of it is read: the first that is there.
_FORMS = (
    *(".sqlite", "_pqtdir", "_arwdir", ".nsys-rep", ".qdrep"),
    *("_cuda_gpu_trace.csv", "_cuda_kern_exec_trace.csv", "_gputrace.csv", "_kernexectrace.csv"),
    *("_results.db", "_results.json", "_kernel_trace.csv"),
    *(".pt.trace.json", ".json", ".db", ".parquet", ".csv", ".tsv", ".txt", ".log"),
)


def profiles_in(
    folder: InputFile,
    columns: ColumnMap | None,
    reader_of: Callable[[InputFile], Any],
    progress: Progress | None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the profiles of a folder, each by its path, and in words what is left out, if anything is.

    Parameters
    ----------
    columns : which columns of a table hold what.
    reader_of : the reader of a file or folder, None where it is no profile.

    Raises
    ------
    ProfileError : nothing in the folder is a profile; a file in it cannot be opened.
    """
    entries = sorted(
        (entry for entry in folder.location.iterdir() if not entry.name.startswith(".")),
        key=lambda entry: natural_order(entry.name),
    )
    # Traces of a simulator are thousands of files, and none is a profile.
    is_simulation = any(entry.name.startswith("kernelslist") for entry in entries)
    recognised: list[Path] = []
    for number, entry in enumerate([] if is_simulation else entries):
        if progress is not None:
            progress(number, len(entries), f"looking into {folder.path}")
        if _is_profile(entry, columns, reader_of):
            recognised.append(entry)
    if not recognised:
        # Many regular expressions, which no profile needs.
        from sampling.readers.not_a_profile import folder_error

        raise folder_error(folder)
    kept = _one_form_of_each(recognised)
    base = Path(folder.path)
    return tuple(str(base / entry.name) for entry in kept), _left_out(folder.path, entries, recognised, kept)


def natural_order(name: str) -> tuple[Any, ...]:
    """Return a key by which names stand as a person counts: rank2 before rank10.

    >>> sorted(["rank10", "rank2", "Rank1"], key=natural_order)
    ['Rank1', 'rank2', 'rank10']
    """
    pieces = re.split(r"([0-9]+)", name.casefold())
    return tuple((int(piece), "") if place % 2 else (0, piece) for place, piece in enumerate(pieces)), name


def _is_profile(entry: Path, columns: ColumnMap | None, reader_of: Callable[[InputFile], Any]) -> bool:
    if not (entry.is_file() or entry.is_dir()):
        return False
    with open_input(str(entry)) as opened, opened.damage_reported():
        file = replace(opened, columns=columns)
        reader = reader_of(file)
        if reader is None:
            return False
        # Any table may lie in the folder: one that is of launches has the columns for it.
        return not hasattr(reader, "has_columns") or bool(reader.has_columns(file))


def _one_form_of_each(entries: Sequence[Path]) -> list[Path]:
    """Return one entry a recording, in the order given."""
    best: dict[str, tuple[int, Path]] = {}
    for entry in entries:
        recording, form = _recording(entry.name)
        if recording not in best or form < best[recording][0]:
            best[recording] = (form, entry)
    kept = {entry for _, entry in best.values()}
    return [entry for entry in entries if entry in kept]


def _recording(name: str) -> tuple[str, int]:
    """Return what a recording is called, and the place of the form that this file is."""
    bare = name.removesuffix(".gz")
    for form, suffix in enumerate(_FORMS):
        if bare.casefold().endswith(suffix) and len(bare) > len(suffix):
            return bare[: -len(suffix)], form
    return bare, len(_FORMS)


def _left_out(
    path: str, entries: Sequence[Path], recognised: Sequence[Path], kept: Sequence[Path]
) -> tuple[str, ...]:
    others = [entry.name for entry in entries if entry not in set(recognised)]
    again = [entry.name for entry in recognised if entry not in set(kept)]
    words = [f"{listed(others)}: no profiles"] if others else []
    words += [f"{listed(again)}: other forms of what is read"] if again else []
    if not words:
        return ()
    what = counted(len(kept), "profile is read", "profiles are read as one workload")
    return (f"{path}: {what}; left out: {'; '.join(words)}",)
