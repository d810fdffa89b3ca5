"""What a plan file is called where nobody has named it."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path

from tui.options.commands import SampleOptions
from tui.options.input_files import input_files, why_not_written

PLAN_NAME = "plan.json"


def free_name(name: str) -> str:
    """Return a name in the current folder that nothing has: this one, or with a number before its suffix."""
    path = Path(name)
    names = chain([name], (str(path.with_stem(f"{path.stem}-{number}")) for number in count(2)))
    return next(each for each in names if not Path(each).exists())


def printed_plan_name(options: SampleOptions) -> str:
    """Return what to write behind the ``-o`` of a `sample` that is printed, to be run as it is.

    It is plan.json, however often the line is run, unless the command reads that: as its split decisions, or
    as a file of the folder that is its recording.
    """
    inputs = input_files(options)
    if why_not_written(Path(PLAN_NAME), inputs) is None:
        return PLAN_NAME
    # In a folder that is read itself nothing is written, whatever its name.
    names = (free_name("../" * above + PLAN_NAME) for above in range(len(Path.cwd().parts)))
    return next((name for name in names if why_not_written(Path(name), inputs) is None), PLAN_NAME)
