"""What a file of features says, row by row, before its rows are joined to launches."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.arrays import IntArray
from sampling.reduction.launch_features import Features
from sampling.text import counted, shortened


@dataclass(frozen=True, slots=True)
class FeatureRows:
    """The rows of one file; row i of every array is one launch that the file describes.

    Attributes
    ----------
    path : as the user gave it.
    format : the name of the format, e.g. "ncu-raw".
    line : (n,) 1-based line or row of the file, for messages.
    features : what the file says of each row, in base units.
    id : (n,) launch ids in the profile, where the file has them; then nothing else identifies a row.
    names : the distinct kernel names as the file spells them.
    name : (n,) index into ``names``; None where the file has no names.
    grid, block : (n, 3) x, y, z, 0 where a row has none; None where the file has none.
    process, device : (n,) numbers of the run that the file describes; None where it does not say.
    occurrence : (n,) how many launches of the same process, device, name, grid and block (of those that the
        file has) came before; None where it is to be counted in row order.
    thread_blocks : (n,) how many the grid has, where the file does not have the grid itself.
    launch_number : (n,) the tool's own numbers of the launches, ascending from 0 on, with gaps where launches
        have no row; None where the file has none.
    whole_profile : whether the file has a row for every launch of the profile, by position, so that another
        number of rows is another profile's.
    notes : what to tell the user of how the file was read.
    """

    path: str
    format: str
    line: IntArray
    features: Features
    id: IntArray | None = None
    names: tuple[str, ...] = ()
    name: IntArray | None = None
    grid: IntArray | None = None
    block: IntArray | None = None
    process: IntArray | None = None
    device: IntArray | None = None
    occurrence: IntArray | None = None
    thread_blocks: IntArray | None = None
    launch_number: IntArray | None = None
    whole_profile: bool = False
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.line)

    def words(self, row: int) -> str:
        """Return a row in words, for messages: its name and shape, or its id."""
        if self.name is None:
            assert self.id is not None
            return f"id {int(self.id[row])}"
        shape = [
            f", {what} ({', '.join(map(str, dimensions[row].tolist()))})"
            for what, dimensions in (("grid", self.grid), ("block", self.block))
            if dimensions is not None
        ]
        return f"'{shortened(self.names[int(self.name[row])])}'" + "".join(shape)


def missing_numbers(number: IntArray) -> int:
    """Return how many numbers from 0 to the last have no row; (n,) they ascend, n > 0."""
    return int(number[-1]) + 1 - len(number)


def gap_notes(number: IntArray) -> tuple[str, ...]:
    """Return what to tell the user of kernels that a log numbers but has no line for."""
    missing = missing_numbers(number)
    if not missing:
        return ()
    have = "has" if missing == 1 else "have"
    return (f"{missing:,} of {counted(int(number[-1]) + 1, 'kernel')} up to the last {have} no line",)
