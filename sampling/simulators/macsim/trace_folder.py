"""A folder of traces as MacSim's tracer wrote it, held against the launches of a plan.

``KernelN/trace.txt`` is the trace of launch N, counted from 0. ``kernel_names.txt`` has two lines for every
launch, traced or not: ``KernelN name: NAME`` and ``  Grid size: (x, y, z), Block size: (x, y, z), ...``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sampling.errors import ProfileError
from sampling.profile.profile import Dimensions
from sampling.simulators.exporting.run_order import Step
from sampling.simulators.kernel_identity import is_same_name, kernels_apart
from sampling.simulators.measured_run import SeenKernel
from sampling.text import counted

_NAMES = "kernel_names.txt"
_SIZES = r"\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)"
_KERNEL = re.compile(rf"^Kernel(\d+) name: (.*)\n\s*Grid size: {_SIZES}, Block size: {_SIZES}", re.MULTILINE)
_REMEDY = "trace the program that was profiled, with the script that an export without traces writes"


def check_traces(path: str, steps: Sequence[Step]) -> None:
    """Check that each launch has a trace, and that it is of the same kernel, grid and block.

    Raises
    ------
    ProfileError : one has none, is not listed, or is of another kernel.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ProfileError("no folder of traces is there", path=path, remedy="give the folder of Kernel0")
    missing = [step for step in steps if not (folder / f"Kernel{step.ordinal}" / "trace.txt").is_file()]
    if missing:
        raise ProfileError(
            f"launch {missing[0].id} would be Kernel{missing[0].ordinal}/trace.txt, which is not there; "
            f"so for {counted(len(missing), 'launch', 'launches')} in all",
            path=path,
            remedy=_REMEDY,
        )
    listed = _listed(folder / _NAMES)
    for step in sorted(steps, key=lambda each: each.ordinal) if listed else ():
        launch = step.launch
        if launch is None:
            continue
        if step.ordinal not in listed:
            raise ProfileError(f"does not list Kernel{step.ordinal}", path=folder / _NAMES, remedy=_REMEDY)
        name, grid, block = listed[step.ordinal]
        is_same = is_same_name(launch.name, name) is not False and launch.grid in {None, grid}
        if not (is_same and launch.block in {None, block}):
            planned, there = kernels_apart(launch, SeenKernel(name, grid, block))
            raise ProfileError(
                f"launch {step.id} is {planned} in the plan, and Kernel{step.ordinal} is {there}",
                path=folder / _NAMES,
                remedy=_REMEDY,
            )


def _listed(path: Path) -> dict[int, tuple[str, Dimensions, Dimensions]]:
    """Return name, grid and block of each launch; nothing where there is no such file."""
    if not path.is_file():
        return {}
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ProfileError(f"cannot be read ({error.strerror})", path=path, remedy=_REMEDY) from error
    listed = {}
    for found in _KERNEL.finditer(text):
        sizes = [int(size) for size in found.groups()[2:]]
        listed[int(found[1])] = (
            found[2].strip(),
            (sizes[0], sizes[1], sizes[2]),
            (sizes[3], sizes[4], sizes[5]),
        )
    return listed
