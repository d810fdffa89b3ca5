"""The files of an export that all targets share: the manifest, the page, the shell scripts, the job array.

The manifest says which launch of the profile is which of the target's, and what it weighs: a row a launch
that is run, with ``id``, and ``simulator_id``, a number or a name with one: ``kernel-7``, ``Kernel2``.
``warm_up`` is 1 for a warm-up; ``shard`` says which machine runs a launch, ``order`` when. It is read back
with results.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.profile.names import is_communication
from sampling.readers.input_file import InputFile
from sampling.simulators.export import FILLED, PREDECESSORS, ExportChoices, Part
from sampling.simulators.measured_run import STATE, UNNUMBERED, dimensions_text
from sampling.text import counted, shortened

_COLUMNS = (
    *("id", "simulator_id", "stratum", "weight", "warm_up", "caches", "shard", "order"),
    *("process", "device", "ordinal", "occurrence", "duration_ns", "grid", "block", "name"),
)
_OTHERS = (("shard", "1"), ("order", "0"), ("warm_up", "0"))
_COUNT = re.compile(r"[0-9]{1,18}")
_NUMBER = re.compile(r"(?:[Kk]ernel-?)?([0-9]{1,18})(?:-ctx_0x[0-9a-fA-F]+)?")
_REMEDY = "give the manifest.csv that `kernelpoint export` wrote beside what was run"

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
_HEAD = """\
#!/bin/sh
{comment}
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
absolute() {{ case $1 in /*) printf '%s\\n' "$1" ;; *) printf '%s\\n' "$PWD/$1" ;; esac; }}
fail() {{ printf '%s\\n' "$0: $1" >&2; exit 1; }}
"""
_WANTS_PROGRAM = """\
if [ $# -eq 0 ]; then
  printf '%s\\n' "usage: sh $0 PROGRAM [ARGUMENT...]" >&2
  exit 2
fi
"""
_SLURM = """\
#!/bin/sh
#SBATCH --job-name=kernelpoint
#SBATCH --array=1-{shards}
# One task a shard. Submit it from its own folder: cd FOLDER && sbatch slurm.sh{arguments}
set -eu
cd -- "${{SLURM_SUBMIT_DIR:-.}}"
exec sh "./run-$SLURM_ARRAY_TASK_ID.sh" "$@"
"""

_LOGS = "run*/run.log"


def manifest(part: Part, simulator_ids: Mapping[int, object], caches: str = "") -> tuple[str, str]:
    """Return ``manifest.csv`` of a part: one row a launch that is run, in the order of each shard.

    ``shard`` and ``order`` count from 1. What is run for the caches' sake has ``warm_up`` 1, weighs 0 and has
    no stratum; what the plan does not say of it is empty. A launch that is checked has a second row, which
    weighs 0 too and says after how many others it runs.

    Parameters
    ----------
    simulator_ids : how the target calls a launch, by its ordinal; empty where it is not known.
    caches : what drawn launches find in the caches, as `ExportChoices` has it; "" where the program runs.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for number, shard in enumerate(part.shards, start=1):
        for order, step in enumerate(shard, start=1):
            place = (part.process, part.device, step.ordinal)
            head = (step.id, simulator_ids.get(step.ordinal, ""))
            if (launch := step.launch) is None:
                writer.writerow((*head, "", 0, 1, "", number, order, *place, "", "", "", "", ""))
                continue
            sizes = (dimensions_text(launch.grid), dimensions_text(launch.block))
            weight, state = (0, f"after:{PREDECESSORS}") if step.is_check else (repr(launch.weight), caches)
            weighed = (step.stratum, weight, 0, state, number, order)
            known = (launch.occurrence, launch.duration_ns, *sizes, launch.name)
            writer.writerow((*head, *weighed, *place, *known))
    return f"{part.folder}manifest.csv", text.getvalue()


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """The launches of an export, in the order of its shards.

    Attributes
    ----------
    id, number : (n,) launch id in the profile, and number in the simulator; `UNNUMBERED` where it has none.
    shard : (n,) which machine runs it.
    caches : (n,) how each launch finds them; "" where the export does not say.
    is_warm_up : (n,) whether it runs for the caches' sake alone, and its result counts for nothing.
    """

    path: str
    id: IntArray
    number: IntArray
    shard: IntArray
    is_warm_up: BoolArray
    caches: tuple[str, ...]


def manifests_in(folder: Path) -> list[Path]:
    """Return those of an export, one for each process and device, or of all exports of a run."""
    ways = ("", "process-*/", "rounds/*[0-9]/", "rounds/*[0-9]/process-*/")
    return [path for way in ways for path in sorted(folder.glob(f"{way}manifest.csv"))]


def read_manifest(file: InputFile) -> Manifest:
    """Read a manifest.

    Raises
    ------
    ProfileError : it cannot be read, lacks a column, or a cell holds no number.
    """
    with file.open() as stream:
        text = stream.read().decode("utf-8-sig", "replace")
    reader = csv.DictReader(text.splitlines())
    for column in ("id", "simulator_id"):
        if column not in (reader.fieldnames or ()):
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=_REMEDY)
    rows: list[tuple[int, ...]] = []
    caches: list[str] = []
    for row in reader:
        cells = [row["id"], *(row.get(column) or default for column, default in _OTHERS)]
        caches.append(row.get("caches") or "")
        wrong = column = ""
        if not all(_COUNT.fullmatch(cell or "") for cell in cells):
            wrong = "a row holds something else than numbers of launches"
        elif not STATE.fullmatch(caches[-1]):
            wrong, column = f"{caches[-1]!r} is no way to find the caches", "caches"
        if wrong:
            raise ProfileError(
                wrong, path=file.path, row=reader.line_num, column=column or None, remedy=_REMEDY
            )
        found = _NUMBER.fullmatch(row["simulator_id"] or "")
        rows.append((*map(int, cells), UNNUMBERED if found is None else int(found[1])))
    if not rows:
        raise ProfileError("has no row below its header", path=file.path, remedy=_REMEDY)
    launch, shard, order, warm_up, number = np.array(rows, dtype=np.int64).T
    run = np.lexsort((order, shard))
    states = tuple(caches[row] for row in run.tolist())
    return Manifest(file.path, launch[run], number[run], shard[run], warm_up[run] > 0, states)


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
    is_ordered : whether the target keeps the order that it is given.
    uses_nvbit : whether a tool of NVBit records launches: it counts those of a process, not of each of its
        devices, and kernels that wait for other devices hang in it.
    is_estimated : whether `estimate` reads what its script leaves.
    """
    parts, choices = handed.parts, handed.choices
    steps = [step for part in parts for step in part.steps if step.launch is not None]
    checked = sum(step.is_check for step in steps)
    launches = counted(len(steps) - checked, "launch", "launches")
    pieces = [
        f"{launches} of a plan of KernelPoint, for {target}.\n",
        fill(f"{note}.", 106, break_on_hyphens=False, break_long_words=False) + "\n",
        _MANIFEST.format(target=target),
    ]
    if is_ordered:
        pieces.append(_PROGRAM_ORDER if choices.caches in FILLED or choices.predecessors else _ORDER)
    if choices.predecessors:
        several = choices.predecessors > 1
        words = counted(choices.predecessors, "launch", "launches")
        pieces.append(_AFTER.format(words if several else "launch", "are" if several else "is"))
    elif choices.caches is not None:
        pieces.append(_CACHES[choices.caches])
    if checked:
        pieces.append(_CHECK.format(checks=checked, before=PREDECESSORS))
    if choices.shards > 1:
        pieces.append(_SHARDS.format(shards=choices.shards))
    if len(parts) > 1:
        pieces.append(_PARTS.format(parts=counted(len(parts), "process and device", "processes and devices")))
    if uses_nvbit:
        pieces += _cautions(handed, target)
    last = _ESTIMATE.format(logs=_logs_of(parts[0])) if is_estimated else ""
    return "README.txt", "\n".join([*pieces, text]) + last


def _cautions(handed: Handed, target: str) -> Iterator[str]:
    """Yield what goes wrong with this plan under a tool of NVBit; of devices as far as the plan says."""
    places = {(each.process, each.device) for each in handed.plan.profile.sequences}
    places |= {(part.process, part.device) for part in handed.parts}
    for process, devices in sorted(Counter(process for process, _ in places).items()):
        if devices > 1:
            yield _SEVERAL_DEVICES.format(process=process, devices=devices, target=target)
    names = [launch.name for launch in handed.plan.drawn if is_communication(launch.name)]
    if names:
        are = "is" if len(names) == 1 else "are"
        yield _COMMUNICATION.format(count=len(names), are=are, name=shortened(names[0], 48))


def _logs_of(part: Part) -> str:
    """Return where the scripts of a part, and of those like it, leave what the simulator prints."""
    return f"*/{_LOGS}" if part.folder else _LOGS


def then_estimate(part: Part) -> str:
    """Return the end of a script that simulates: the log, and what to type then."""
    top = "/.." if part.folder else ""
    return (
        "printf '%s\\n' \"$PWD/run.log\"\n"
        f"printf '%s\\n' \"then: kernelpoint estimate '$here{top}' '$here{top}'/{_logs_of(part)}\" >&2\n"
    )


def script(comment: str, body: str, *, takes_program: bool = False) -> str:
    """Return a POSIX script: comment, settings, ``here``, the functions absolute and fail, then the body.

    Parameters
    ----------
    takes_program : whether the words behind the script's name are the program to run, which must be there.
    """
    head = _HEAD.format(comment="\n".join(f"# {line}" for line in comment.split("\n")))
    return head + (_WANTS_PROGRAM if takes_program else "") + body


def slurm(part: Part, *, takes_program: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the job array that runs each shard's ``run-N.sh``; nothing for one shard."""
    if len(part.shards) == 1:
        return ()
    arguments = " PROGRAM [ARGUMENT...]" if takes_program else ""
    return ((f"{part.folder}slurm.sh", _SLURM.format(shards=len(part.shards), arguments=arguments)),)


def quoted(text: object) -> str:
    """Return a text as one word of a shell."""
    return shlex.quote(str(text))
