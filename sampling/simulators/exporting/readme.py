"""The page that an export brings with it: how launches are numbered, and what to run."""

from __future__ import annotations

from collections.abc import Sequence

from sampling.simulators.exporting.choices import ExportChoices
from sampling.simulators.exporting.run_order import Part
from sampling.text import counted

_MANIFEST = """\
manifest.csv says of each launch which one of the profile it is (id, from 0), how {target} calls it, its
stratum (from 0, in the plan's order) and weight: the total is the sum of weight x result.
"""
_ORDER = """\
Launches are in the order in which they are best simulated: first one of each stratum, the stratum that brings
most of the variance first, then a second of each, and so on. `order` in manifest.csv counts it.
"""
_WARM_UP = """\
The launch before each drawn one is run first, so that caches are not cold: `warm_up` is 1 and the weight 0 in
manifest.csv. Leave its result out of the total.
"""
_SHARDS = """\
There are {shards} shards of about the same sampled time, run-1.sh to run-{shards}.sh, for as many machines
or as one job array of Slurm: cd here, then sbatch slurm.sh.
"""
_PARTS = """\
The plan is of {parts}: each has a folder, for its launches are numbered by themselves.
"""


def readme(
    target: str,
    note: str,
    text: str,
    parts: Sequence[Part],
    choices: ExportChoices,
    *,
    is_ordered: bool = True,
) -> tuple[str, str]:
    """Return ``README.txt``: the note on the ids, what holds for all targets, and the target's own text.

    Parameters
    ----------
    is_ordered : whether the target keeps the order that it is given.
    """
    launches = sum(step.launch is not None for part in parts for step in part.steps)
    pieces = [f"{counted(launches, 'launch', 'launches')} of a plan of KernelPoint, for {target}.\n"]
    pieces += [f"{note}.\n", _MANIFEST.format(target=target)]
    if is_ordered:
        pieces.append(_ORDER)
    if choices.warm_up:
        pieces.append(_WARM_UP)
    if choices.shards > 1:
        pieces.append(_SHARDS.format(shards=choices.shards))
    if len(parts) > 1:
        pieces.append(_PARTS.format(parts=counted(len(parts), "process and device", "processes and devices")))
    return "README.txt", "\n".join([*pieces, text])
