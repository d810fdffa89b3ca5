"""What an exporter hands over of each process and device: its own files, the manifest, a page that says how.

Scripts and pages are texts in the folder ``templates``.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill
from typing import IO, Any

from sampling.errors import OptionError
from sampling.plan.plan_file import PlanFile
from sampling.profile.names import is_communication
from sampling.simulators.export import FILLED, PREDECESSORS, ExportChoices, Part, run_parts
from sampling.simulators.manifest import manifest_text
from sampling.text import Wording, counted, shortened

#: Relative path and content of a file; of a large one what writes it
Content = str | Callable[[IO[bytes]], None]
Exported = tuple[tuple[str, Content], ...]


@dataclass(slots=True)
class Handover:
    """What a target is given of one process and device of a plan, filled in by its exporter."""

    plan: PlanFile
    part: Part
    choices: ExportChoices
    page: dict[str, Any]  #: values of the target's page, of all processes and devices together
    files: dict[str, Content] = field(default_factory=dict)
    #: what the target calls a launch, by its ordinal, where it is known
    called: dict[int, str | int] = field(default_factory=dict)

    def run_script(self, name: str, comment: str, traces: str | Path | None, **values: object) -> str:
        """Return the script that simulates a shard: it looks for traces beside itself if none are known."""
        place = '"$here"' if traces is None else shlex.quote(str(Path(traces).absolute()))
        values |= {"traces": place, "top": "/.." if self.part.folder else "", "logs": self.part.logs}
        return script(name, comment, takes_program=False, **values)


@dataclass(frozen=True, slots=True)
class Exporter:
    """A simulator or tool that takes plans; its scripts and page are templates in a folder of its name."""

    name: str
    title: str  #: as pages call it
    note: str  #: how its ids are counted, and whether it was tried here
    takes: frozenset[str]  #: which of `ExportChoices` mean something to it
    write: Callable[[Handover], None]
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
        ordinals = [step.ordinal for part in parts for step in part.steps]
        values: dict[str, Any] = {"first": min(ordinals), "end": max(ordinals) + 1}
        files: list[tuple[str, Content]] = []
        for part in parts:
            handed = Handover(plan, part, choices, values)
            self.write(handed)
            handed.files["manifest.csv"] = manifest_text(part, handed.called, choices.caches or "")
            if (shards := len(part.shards)) > 1:
                arguments = " PROGRAM [ARGUMENT...]" if self.runs_program else ""
                handed.files["slurm.sh"] = template("slurm.sh", shards=shards, arguments=arguments)
            files += [(part.folder + name, content) for name, content in handed.files.items()]
        return (*files, ("README.txt", self._page(plan, parts, choices, values)))

    def _page(
        self, plan: PlanFile, parts: Sequence[Part], choices: ExportChoices, values: dict[str, Any]
    ) -> str:
        """Return how ids are counted, what holds here of every target, and the target's own text."""
        steps = [step for part in parts for step in part.steps if step.launch is not None]
        checks = sum(step.is_check for step in steps)
        drawn = counted(len(steps) - checks, "launch", "launches")
        before = choices.predecessors
        words = ("launch", "is") if before == 1 else (f"{before} launches", "are")
        in_order = choices.caches in FILLED or before
        places = {(each.process, each.device) for each in plan.profile.sequences}
        places |= {(part.process, part.device) for part in parts}
        devices = sorted(Counter(process for process, _ in places).items()) if self.uses_nvbit else []
        waiting = [each.name for each in plan.drawn if self.uses_nvbit and is_communication(each.name)]
        of_parts = counted(len(parts), "process and device", "processes and devices")
        said: list[tuple[object, str, dict[str, Any]]] = [
            (True, "manifest", {}),
            (not self.runs_program, "program_order" if in_order else "order", {}),
            (before, "warm_ups", {"launches": words[0], "are": words[1]}),
            (choices.caches is not None and not before, str(choices.caches), {}),
            (
                checks,
                "check",
                {
                    "checks": f"All {checks}" if checks < choices.cold_check else checks,
                    "before": PREDECESSORS,
                },
            ),
            (choices.shards > 1, "shards", {"shards": choices.shards}),
            (len(parts) > 1, "parts", {"parts": of_parts}),
            *(
                (number > 1, "several_devices", {"process": each, "devices": number})
                for each, number in devices
            ),
            (
                waiting,
                "communication",
                {
                    "count": len(waiting),
                    "are": "is" if len(waiting) == 1 else "are",
                    "name": shortened(waiting[0], 48) if waiting else "",
                },
            ),
        ]
        sentences = tomllib.loads(_read("page.toml"))
        # Of several shards each has files of its own, numbered.
        values["numbered"] = "" if all(len(part.shards) == 1 for part in parts) else "-N"
        pieces = [
            f"{drawn} of a plan of KernelPoint, for {self.title}.\n",
            fill(f"{self.note}.", 106, break_on_hyphens=False, break_long_words=False) + "\n",
            *(_put_in(sentences[what], {"target": self.title} | how) for is_so, what, how in said if is_so),
            template(f"{self.name}/README.txt", **values),
        ]
        if self.is_estimated:
            pieces.append(_put_in(sentences["estimate"], {"logs": parts[0].logs}))
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
