"""Writer of basic-block vectors as the NVBit tool that comes with STEM prints them: two lines a launch."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

from machine_code import Executed
from workload import Recording


def write_block_vectors(recording: Recording, executed: Sequence[Executed], path: Path) -> None:
    """Write the vectors of all launches, the kernels by their mangled names."""
    lines = ["Warp ID,Basic Block Counts"]
    for number, (launch, counted) in enumerate(zip(recording.launches, executed, strict=True)):
        lines.append(f"Kernel{number},{len(counted.runs)},{counted.warps},{launch.kernel.mangled}")
        lines.append("".join(f"{runs}," for runs in counted.runs))
    text = "\n".join([*lines, ""])
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
