"""What a file of features says, row by row, before anything is known of the profile it belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field

from sampling.arrays import IntArray
from sampling.reduction.launch_features import Features

#: The option that says how a file writes its numbers, as messages name it.
LOCALE_OPTION = "--number-locale"


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
    name : (n,) place in ``names``; None where the file has no names.
    grid, block : (n, 3) x, y, z, 0 where a row has none; None where the file has none.
    process, device : (n,) numbers of the run that the file describes; None where it does not say.
    occurrence : (n,) how many launches of the same process, device, name, grid and block (of those that the
        file has) came before; None where it is to be counted in row order.
    thread_blocks : (n,) product of the grid, where the file has no more of it than that.
    launch_number : (n,) the tool's own numbers of the launches, ascending from 0 on, with gaps where launches
        have no row; None where the file has none.
    notes : what the user should know of how the file was read.
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
    notes: tuple[str, ...] = field(default=())

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


def shortened(name: str, most: int = 96) -> str:
    """Return a kernel name cut in its middle, so that it fits a message."""
    return name if len(name) <= most else f"{name[: most // 2]}...{name[-(most // 2 - 3) :]}"
