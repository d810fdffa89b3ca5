"""What an exporter hands over of each process and device: its own files, the manifest, a page that says how.

The manifest says of each launch that is run which one of the profile it is, and what it weighs. Scripts and
pages are texts in the folder ``templates``.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import IO, Annotated

import msgspec
import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import OptionError, ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.profile.names import is_communication
from sampling.readers.input_file import InputFile
from sampling.simulators.export import FILLED, PREDECESSORS, ExportChoices, Part, run_parts
from sampling.simulators.measured_run import STATE, UNNUMBERED, dimensions_text
from sampling.text import Wording, counted, shortened

#: Relative path and content of a file; of a large one what writes it
Content = str | Callable[[IO[bytes]], None]
Exported = tuple[tuple[str, Content], ...]
#: Files of a part, without its folder, and what the target calls its launches, by ordinal, where known
OfPart = tuple[list[tuple[str, Content]], Mapping[int, str | int]]
#: What each part needs, and the values of the target's page
Written = tuple[list[OfPart], dict[str, object]]


@dataclass(frozen=True, slots=True)
class Exporter:
    """A simulator or tool that takes plans; its scripts and page are templates in a folder of its name."""

    name: str
    title: str  #: as pages call it
    note: str  #: how its ids are counted, and whether it was tried here
    takes: frozenset[str]  #: which of `ExportChoices` mean something to it
    write: Callable[[PlanFile, Sequence[Part], ExportChoices], Written]
    fills: bool = False  #: whether its caches can be filled otherwise than by launches
    uses_nvbit: bool = False  #: launches of a process are counted on all devices; kernels that wait hang
    is_estimated: bool = False  #: `estimate` reads what its script leaves
    runs_program: bool = False  #: its scripts run the program, whose order launches keep
    by_name: bool = False  #: it is told the launches of a kernel together

    def export(self, plan: PlanFile, choices: ExportChoices) -> Exported:
        """Return all files; OptionError where a choice asks for too much, ProfileError for wrong traces."""
        if "caches" in self.takes:
            if choices.caches in FILLED and not self.fills:
                wrong = "nothing can fill the caches of {} but launches: `caches={}`"
                raise OptionError(
                    Wording(wrong, self.title, choices.caches),
                    remedy=Wording("give `caches=after:4` or `caches=cold`"),
                )
            is_warm = self.fills and choices.traces is not None and not choices.cold_check
            choices = replace(choices, caches=choices.caches or ("warm" if is_warm else "cold"))
        parts = run_parts(plan, choices, by_name=self.by_name)
        written, said = self.write(plan, parts, choices)
        files: list[tuple[str, Content]] = []
        for part, (own, simulator_ids) in zip(parts, written, strict=True):
            own.append(("manifest.csv", _manifest(part, simulator_ids, choices.caches or "")))
            if (shards := len(part.shards)) > 1:
                arguments = " PROGRAM [ARGUMENT...]" if self.runs_program else ""
                own.append(("slurm.sh", template("slurm.sh", shards=shards, arguments=arguments)))
            files += [(part.folder + name, content) for name, content in own]
        return (*files, ("README.txt", self._page(plan, parts, choices, said)))

    def _page(
        self, plan: PlanFile, parts: Sequence[Part], choices: ExportChoices, said: dict[str, object]
    ) -> str:
        """Return how ids are counted, what holds for every target as far as it does here, and its own text."""
        sentences = tomllib.loads(_read("page.toml"))
        steps = [step for part in parts for step in part.steps if step.launch is not None]
        checked = sum(step.is_check for step in steps)
        drawn = counted(len(steps) - checked, "launch", "launches")
        pieces = [
            f"{drawn} of a plan of KernelPoint, for {self.title}.\n",
            fill(f"{self.note}.", 106, break_on_hyphens=False, break_long_words=False) + "\n",
        ]

        def say(name: str, **values: object) -> None:
            pieces.append(_put_in(sentences[name], {"target": self.title} | values))

        say("manifest")
        before = choices.predecessors
        if not self.runs_program:
            say("program_order" if choices.caches in FILLED or before else "order")
        if before:
            words = ("launch", "is") if before == 1 else (f"{before} launches", "are")
            say("warm_ups", launches=words[0], are=words[1])
        elif choices.caches is not None:
            say(choices.caches)
        if checked:
            say("check", checks=checked, before=PREDECESSORS)
        if choices.shards > 1:
            say("shards", shards=choices.shards)
        if len(parts) > 1:
            say("parts", parts=counted(len(parts), "process and device", "processes and devices"))
        if self.uses_nvbit:
            places = {(each.process, each.device) for each in (*plan.profile.sequences, *parts)}
            for process, devices in sorted(Counter(process for process, _ in places).items()):
                if devices > 1:
                    say("several_devices", process=process, devices=devices)
            names = [launch.name for launch in plan.drawn if is_communication(launch.name)]
            if names:
                are = "is" if len(names) == 1 else "are"
                say("communication", count=len(names), are=are, name=shortened(names[0], 48))
        # Of several shards each has files of its own, numbered.
        said["numbered"] = "" if all(len(part.shards) == 1 for part in parts) else "-N"
        pieces.append(template(f"{self.name}/README.txt", **said))
        if self.is_estimated:
            say("estimate", logs=parts[0].logs)
        return "\n".join(pieces)


def _read(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _put_in(text: str, values: Mapping[str, object]) -> str:
    return re.sub(r"(?m)^@(\w+)@\n|@(\w+)@", lambda found: str(values[found[1] or found[2]]), text)


def template(name: str, **values: object) -> str:
    """Return a text of the folder ``templates``, with values for ``@name@``; one may be whole lines."""
    return _put_in(_read(name), values)


def script(name: str, comment: str, *, takes_program: bool = False, **values: object) -> str:
    """Return a POSIX script: comment, settings, ``here``, the functions absolute and fail, then a template.

    With `takes_program` the words behind the script's name are the program to run, which must be there.
    """
    head = template("head.sh", comment="".join(f"# {line}\n" for line in comment.split("\n")))
    return head + (template("wants-program.sh") if takes_program else "") + template(name, **values)


def run_script(name: str, comment: str, part: Part, **values: object) -> str:
    """Return the script that simulates a shard of a part, and says what to type then."""
    return script(name, comment, top="/.." if part.folder else "", logs=part.logs, **values)


def place_of_traces(folder: str | Path | None) -> str:
    """Return where a script looks for traces, as its shell reads it: beside itself if none are known."""
    return '"$here"' if folder is None else shlex.quote(str(Path(folder).absolute()))


_COLUMNS = (
    *("id", "simulator_id", "stratum", "weight", "warm_up", "caches", "shard", "order"),
    *("process", "device", "ordinal", "occurrence", "duration_ns", "grid", "block", "name"),
)
_NUMBER = re.compile(r"(?:[Kk]ernel-?)?([0-9]{1,18})(?:-ctx_0x[0-9a-fA-F]+)?")
_REMEDY = "give the manifest.csv that `kernelpoint export` wrote beside what was run"
_Count = Annotated[int, msgspec.Meta(ge=0, le=10**18)]


class _ManifestRow(msgspec.Struct, frozen=True):
    """What is read of a row again; what is run for the caches' sake alone is a warm-up."""

    id: _Count
    simulator_id: str = ""
    warm_up: _Count = 0
    caches: Annotated[str, msgspec.Meta(pattern=f"^(?:{STATE.pattern})$")] = ""
    shard: _Count = 1
    order: _Count = 0


def _manifest(part: Part, simulator_ids: Mapping[int, str | int], caches: str) -> str:
    """Return ``manifest.csv`` of a part, in the order of each shard; what weighs nothing is left out."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for shard, steps in enumerate(part.shards, start=1):
        for order, step in enumerate(steps, start=1):
            weight, found, own = 0.0, "", (None, None, "", "", "")
            if (launch := step.launch) is not None:
                weight, found = launch.weight, caches
                sizes = map(dimensions_text, (launch.grid, launch.block))
                own = (launch.occurrence, launch.duration_ns, *sizes, launch.name)
            if step.is_check:
                weight, found = 0.0, f"after:{PREDECESSORS}"
            called = (step.id, simulator_ids.get(step.ordinal, ""), step.stratum)
            place = (shard, order, part.process, part.device, step.ordinal)
            writer.writerow((*called, weight or 0, int(launch is None), found, *place, *own))
    return text.getvalue()


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """The launches of an export, in the order of its shards, each (n,)."""

    path: str
    id: IntArray  #: of the launch in the profile
    number: IntArray  #: in the simulator; `UNNUMBERED` where it has none
    shard: IntArray
    is_warm_up: BoolArray
    caches: tuple[str, ...]  #: "" where the export does not say


def manifests_in(folder: Path) -> list[Path]:
    """Return those of an export, one for each process and device, or of all exports of a run."""
    ways = ("", "process-*/", "rounds/*[0-9]/", "rounds/*[0-9]/process-*/")
    return [path for way in ways for path in sorted(folder.glob(f"{way}manifest.csv"))]


def read_manifest(file: InputFile) -> Manifest:
    """Read a manifest; ProfileError where it cannot be, lacks a column, or a cell holds what none can."""
    with file.open() as stream:
        text = stream.read().decode("utf-8-sig", "replace")
    reader = csv.DictReader(text.splitlines(), restkey="")
    for column in ("id", "simulator_id"):
        if column not in (reader.fieldnames or ()):
            raise ProfileError(f"no column {column}", path=file.path, row=1, remedy=_REMEDY)
    rows = []
    for cells in reader:
        # What a row lacks is as its default says, but a launch has an id.
        known = {name: cell for name, cell in cells.items() if cell or name == "id"}
        try:
            rows.append(msgspec.convert(known, _ManifestRow, strict=False))
        except msgspec.ValidationError as error:
            column = str(error).rpartition("$.")[2].rstrip("`")
            wrong = f"{cells[column]!r} is none of what stands there"
            place = {"path": file.path, "row": reader.line_num, "column": column}
            raise ProfileError(wrong, **place, remedy=_REMEDY) from error
    if not rows:
        raise ProfileError("has no row below its header", path=file.path, remedy=_REMEDY)
    rows.sort(key=lambda row: (row.shard, row.order))
    numbers = [_NUMBER.fullmatch(row.simulator_id) for row in rows]
    return Manifest(
        file.path,
        np.array([row.id for row in rows], dtype=np.int64),
        np.array([int(each[1]) if each else UNNUMBERED for each in numbers], dtype=np.int64),
        np.array([row.shard for row in rows], dtype=np.int64),
        np.array([row.warm_up > 0 for row in rows]),
        tuple(row.caches for row in rows),
    )
