"""The page that an export brings with it: how launches are numbered, and what to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from sampling.plan.plan_file import PlanFile
from sampling.profile.names import is_communication
from sampling.simulators.exporting.choices import FILLED, PREDECESSORS, ExportChoices
from sampling.simulators.exporting.run_order import Part
from sampling.simulators.exporting.scripts import logs_of
from sampling.text import counted, shortened

_MANIFEST = """\
manifest.csv says of each launch which one of the profile it is (id, from 0), how {target} calls it, its
stratum (from 0, in the plan's order) and weight: the total is the sum of weight x result.
"""
_ORDER = """\
Launches are in the order in which they are best simulated: first one of each stratum, the stratum that brings
most of the variance first, then a second of each, and so on. `order` in manifest.csv counts it.
"""
_PROGRAM_ORDER = """\
Launches are in the order of the program, for else L2 would hold what later ones left; `order` in manifest.csv
counts it.
"""
_AFTER = """\
The {} before each drawn one {} run first: `warm_up` is 1 and the weight 0 in manifest.csv.
Leave the result out of the total.
"""
_CACHES = {
    "warm": "L2 is filled before each launch with what the launches before it left in the program.\n",
    "loads": "A kernel of loads before each launch fills L2 with what others left there in the program.\n",
    "own": "L2 is filled before each launch with what it will load itself: a total of these is too low.\n",
    "cold": "A launch finds in the caches what the one before it here left; in the program that is another.\n"
    "Totals of launches simulated like this were 5 to 10 % too long, of some 40 %.\n",
}
_CHECK = """\
{checks} of them run a second time, after the {before} launches before each: `caches` is after:{before} and
the weight 0 in manifest.csv. `estimate` corrects the cycles of the others by these. They have a list and a
run-N.sh of their own, the last, for after the others they would find their own data in L2.
"""
_SHARDS = """\
There are {shards} shards of about the same sampled time, run-1.sh to run-{shards}.sh, for as many machines
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
_ESTIMATE = """
The whole run's cycles, of all that has been simulated so far:
    kernelpoint estimate . {logs}
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
    is_estimated: bool = False,
) -> tuple[str, str]:
    """Return ``README.txt``: the note on the ids, what holds for all targets, and the target's own text.

    Parameters
    ----------
    text : the target's own.
    is_ordered : whether the target keeps the order that it is given.
    uses_nvbit : whether a tool of NVBit records launches: it counts those of a process, not of each of its
        devices, and kernels that wait for other devices hang in it.
    is_estimated : whether `estimate` reads what its script leaves.
    """
    parts, choices = handed.parts, handed.choices
    steps = [step for part in parts for step in part.steps if step.launch is not None]
    checks = sum(step.is_check for step in steps)
    launches = len(steps) - checks
    pieces = [f"{counted(launches, 'launch', 'launches')} of a plan of KernelPoint, for {target}.\n"]
    pieces += [
        fill(f"{note}.", 106, break_on_hyphens=False, break_long_words=False) + "\n",
        _MANIFEST.format(target=target),
    ]
    if is_ordered and (choices.caches in FILLED or choices.predecessors):
        pieces.append(_PROGRAM_ORDER)
    elif is_ordered:
        pieces.append(_ORDER)
    if choices.predecessors:
        several = choices.predecessors > 1
        words = counted(choices.predecessors, "launch", "launches")
        pieces.append(_AFTER.format(words if several else "launch", "are" if several else "is"))
    elif choices.caches is not None:
        pieces.append(_CACHES[choices.caches])
    if checks:
        pieces.append(_CHECK.format(checks=checks, before=PREDECESSORS))
    if choices.shards > 1:
        pieces.append(_SHARDS.format(shards=choices.shards))
    if len(parts) > 1:
        pieces.append(_PARTS.format(parts=counted(len(parts), "process and device", "processes and devices")))
    if uses_nvbit:
        pieces += _cautions(handed, target)
    last = _ESTIMATE.format(logs=logs_of(parts[0])) if is_estimated else ""
    return "README.txt", "\n".join([*pieces, text]) + last


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
