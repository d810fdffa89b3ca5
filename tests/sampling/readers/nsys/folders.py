"""What is read of a folder of tables."""

from __future__ import annotations

from pathlib import Path

from sampling.profile.profile import KernelTable, Profile
from sampling.readers.input_file import open_input
from sampling.readers.nsys import directory as nsys_directory


def read(path: Path) -> Profile:
    """Read a folder that nsys exported."""
    with open_input(str(path)) as file:
        assert nsys_directory.recognise(file)
        return nsys_directory.read(file, KernelTable(), None)


def columns(profile: Profile) -> list[list[int]]:
    """Return names, durations, starts and streams, batch by batch."""
    batches = profile.batches(["name", "duration_ns", "start_ns", "stream"])
    return [column.tolist() for batch in batches for column in batch.values()]
