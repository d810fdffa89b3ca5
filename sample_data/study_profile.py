"""Write what Accel-Sim said of a whole program as the profile of ``study/`` that a run on a GPU would give.

    python sample_data/study_profile.py LOG PROFILE.csv

The profile is a ``cuda_gpu_trace`` of ``nsys stats``, in which a cycle of the simulator is a nanosecond.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

_HEADER = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name"
_LAUNCH = re.compile(
    r"^-grid dim = \((\d+),(\d+),(\d+)\)\n-block dim = \((\d+),(\d+),(\d+)\)\n.*?"
    r"^kernel_name = (\S+).*?^gpu_sim_cycle = (\d+)$",
    re.MULTILINE | re.DOTALL,
)
_BETWEEN_NS = 1000


def write_profile(log: Path, profile: Path) -> None:
    """Write a launch a row, one after another."""
    with profile.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"Processing [cycles of Accel-Sim, not recorded] with [cuda_gpu_trace]... \n{_HEADER}\n")
        rows, start_ns = csv.writer(stream, lineterminator="\n"), 0
        for number, launch in enumerate(_LAUNCH.finditer(log.read_text(encoding="utf-8")), start=1):
            *shape, name, cycles = launch.groups()
            rows.writerow((start_ns, cycles, number, *shape, "Simulated GPU of 16 SMs (0)", 1, 7, name))
            start_ns += int(cycles) + _BETWEEN_NS


if __name__ == "__main__":
    write_profile(Path(sys.argv[1]), Path(sys.argv[2]))
