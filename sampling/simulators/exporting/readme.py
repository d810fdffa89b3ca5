"""The page that an export brings with it: how launches are numbered, and what to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from sampling.plan.plan_file import PlanFile
from sampling.profile.names import is_communication
from sampling.simulators.exporting.choices import ExportChoices
from sampling.simulators.exporting.run_order import Part
from sampling.text import counted, shortened

_MANIFEST = """\
manifest.csv says of each launch which one of the profile it is (id, from 0), how {target} calls it, its
stratum (from 0, in the plan's order) and weight: the total is the sum of weight x result.
"""
_ORDER = """\
Launches are in the order in which they are best simulated: first one of each stratum, the stratum that brings
most of the variance first, then a second of each, and so on. `order` in manifest.csv counts it.
"""
_WARM_UP = """\
The {before} before each drawn one {are} run first, so that caches are not cold: `warm_up` is 1 and the weight
0 in manifest.csv. Leave their results out of the total.
"""
_COLD = """\
Each launch finds caches that the launches before it in the program have not filled: totals of launches that
start so came out 5 to 10 % too long, up to 40 %. `--caches after:16` runs launches before each one first.
"""
_SHARDS = """\
There are {shards} shards of about the same {of_what}, run-1.sh to run-{shards}.sh, for as many machines
or as one job array of Slurm: cd here, then sbatch slurm.sh.
"""
_SEVERAL_DEVICES = """\
Process {process} used {devices} devices, and {target} counts the launches of a process on all of them
together, unless it counts each context: then these numbers are others. Run a process a device.
"""
_COMMUNICATION = """\
{count} of them {are} of communication kernels ({name}), which wait for other devices: under a tracer they
never end, and a simulator of one device cannot run them. Make the plan without communication kernels.
"""
_PARTS = """\
The plan is of {parts}: each has a folder, for its launches are numbered by themselves.
"""


@dataclass(frozen=True, slots=True)
class Handed:
    """What is handed over: of which plan, how it is parted, and as what was asked."""

    plan: PlanFile
    parts: Sequence[Part]
    choices: ExportChoices


def readme(
    target: str,
    note: str,
    text: str,
    handed: Handed,
    *,
    is_ordered: bool = True,
    uses_nvbit: bool = False,
    may_be_cold: bool = False,
) -> tuple[str, str]:
    """Return ``README.txt``: the note on the ids, what holds for all targets, and the target's own text.

    Parameters
    ----------
    text : the target's own.
    is_ordered : whether the target keeps the order that it is given.
    uses_nvbit : whether a tool of NVBit records launches: it counts those of a process, not of each of its
        devices, and kernels that wait for other devices hang in it.
    may_be_cold : whether it simulates launches by themselves.
    """
    parts, choices = handed.parts, handed.choices
    launches = sum(step.launch is not None for part in parts for step in part.steps)
    pieces = [f"{counted(launches, 'launch', 'launches')} of a plan of KernelPoint, for {target}.\n"]
    pieces += [
        fill(f"{note}.", 106, break_on_hyphens=False, break_long_words=False) + "\n",
        _MANIFEST.format(target=target),
    ]
    if is_ordered and handed.plan.has_durations and not choices.in_program_order:
        pieces.append(_ORDER)
    if choices.predecessors:
        before = counted(choices.predecessors, "launch", "launches")
        pieces.append(_WARM_UP.format(before=before, are="is" if choices.predecessors == 1 else "are"))
    elif not choices.is_filled and may_be_cold:
        pieces.append(_COLD)
    if choices.shards > 1:
        of_what = "sampled time" if handed.plan.has_durations else "number of launches"
        pieces.append(_SHARDS.format(shards=choices.shards, of_what=of_what))
    if len(parts) > 1:
        pieces.append(_PARTS.format(parts=counted(len(parts), "process and device", "processes and devices")))
    if uses_nvbit:
        pieces += _cautions(handed, target)
    return "README.txt", "\n".join([*pieces, text])


def _cautions(handed: Handed, target: str) -> list[str]:
    """Return what goes wrong with this plan under a tool of NVBit."""
    cautions = [
        _SEVERAL_DEVICES.format(process=process, devices=devices, target=target)
        for process, devices in _devices(handed).items()
        if devices > 1
    ]
    names = [launch.name for launch in handed.plan.drawn if is_communication(launch.name)]
    if names:
        are = "is" if len(names) == 1 else "are"
        cautions.append(_COMMUNICATION.format(count=len(names), are=are, name=shortened(names[0], 48)))
    return cautions


def _devices(handed: Handed) -> dict[int, int]:
    """Return how many devices each process of the plan's profile used, as far as the plan says."""
    sequences = {(each.process, each.device) for each in handed.plan.sequences}
    sequences |= {(part.process, part.device) for part in handed.parts}
    return dict(sorted(Counter(process for process, _ in sequences).items()))
