"""What an exporter hands over of each process and device: its own files, the manifest, a page that says how.

Scripts and pages are texts in the folder ``templates``.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill
from typing import Any

from sampling.errors import OptionError
from sampling.plan.plan_file import PlanFile
from sampling.profile.names import is_communication
from sampling.simulators.export import FILLED, PREDECESSORS, ExportChoices, Part, run_parts
from sampling.simulators.manifest import DIRTY, REPORT, manifest_text
from sampling.simulators.simulator import Content, Exported, Exporter, Simulator
from sampling.text import Wording, counted, shortened


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
    #: the name of what a profiler writes of a launch, by its ordinal
    report: dict[int, str] = field(default_factory=dict)
    #: how much of what L2 holds before a launch is dirty and filled clean, by its ordinal
    dirty_percent: dict[int, int] = field(default_factory=dict)

    def run_script(self, name: str, comment: str, traces: str | Path | None, **values: object) -> str:
        """Return the script that simulates a shard: it looks for traces beside itself if none are known."""
        place = '"$here"' if traces is None else shlex.quote(str(Path(traces).absolute()))
        values |= {"traces": place, "top": "/.." if self.part.folder else "", "logs": self.part.logs}
        return script(name, comment, takes_program=False, **values)


def export_parts(
    simulator: Simulator, plan: PlanFile, choices: ExportChoices, *, write: Callable[[Handover], None]
) -> Exported:
    """Return the files of all processes and devices, each written by the exporter, and a page on them.

    Raises OptionError where a choice asks for too much, ProfileError for wrong traces.
    """
    exporter = simulator.exporter
    assert exporter is not None
    if "caches" in exporter.takes:
        if choices.caches in FILLED and not exporter.fills:
            wrong = "nothing can fill the caches of {} but launches: `caches={}`"
            raise OptionError(
                Wording(wrong, simulator.title, choices.caches),
                remedy=Wording("give `caches=after:4` or `caches=cold`"),
            )
        is_warm = exporter.fills and choices.traces is not None and not choices.cold_check
        usual = "warm" if is_warm else None if exporter.only_records(choices) else "cold"
        choices = replace(choices, caches=choices.caches or usual)
    parts = run_parts(plan, choices, by_name=exporter.by_name)
    ordinals = [step.ordinal for part in parts for step in part.steps]
    values: dict[str, Any] = {"first": min(ordinals), "end": max(ordinals) + 1}
    files: list[tuple[str, Content]] = []
    for part in parts:
        handed = Handover(plan, part, choices, values)
        write(handed)
        handed.files["manifest.csv"] = manifest_text(
            handed.part,
            handed.called,
            choices.caches or "",
            {DIRTY: handed.dirty_percent, REPORT: handed.report},
        )
        if (shards := len(part.shards)) > 1 and not exporter.only_records(choices):
            arguments = " PROGRAM [ARGUMENT...]" if exporter.runs_program else ""
            handed.files["slurm.sh"] = template("slurm.sh", shards=shards, arguments=arguments)
        files += [(part.folder + name, content) for name, content in handed.files.items()]
    return (*files, ("README.txt", _page(simulator, exporter, plan, parts, choices, values)))


def _page(
    simulator: Simulator,
    exporter: Exporter,
    plan: PlanFile,
    parts: Sequence[Part],
    choices: ExportChoices,
    values: dict[str, Any],
) -> str:
    """Return how ids are counted, what holds here of every target, and the target's own text."""
    import tomllib

    steps = [step for part in parts for step in part.steps if step.launch is not None]
    checks = sum(step.is_check for step in steps)
    launches = counted(len(steps) - checks, "launch", "launches")
    places = {(sequence.process, sequence.device) for sequence in plan.profile.sequences}
    places |= {(part.process, part.device) for part in parts}
    sentences = tomllib.loads(_read("page.toml"))
    choice: list[_Sentence] = [("manifest", {})]
    if not exporter.only_records(choices):
        choice += _sentences_on_order(exporter, choices, checks)
    if len(parts) > 1:
        choice.append(
            ("parts", {"parts": counted(len(parts), "process and device", "processes and devices")})
        )
    if exporter.uses_nvbit:
        choice += _sentences_on_nvbit(plan, places)
    # Of several shards each has files of its own, numbered.
    values["numbered"] = "" if all(len(part.shards) == 1 for part in parts) else "-N"
    page = "record.txt" if exporter.only_records(choices) else "README.txt"
    pieces = [
        f"{launches} of a plan of KernelPoint, for {simulator.title}.\n",
        fill(f"{exporter.note}.", 106, break_on_hyphens=False, break_long_words=False) + "\n",
        *(_put_in(sentences[name], {"target": simulator.title} | filling) for name, filling in choice),
        exporter.page or template(f"{simulator.name}/{page}", **values),
    ]
    if simulator.results is not None and not exporter.only_records(choices):
        folder = "*/" if parts[0].folder else ""
        what = "counters, of what was measured" if exporter.runs_program else "cycles, of what was simulated"
        pieces.append(_put_in(sentences["estimate"], {"logs": folder + exporter.logs, "what": what}))
    return "\n".join(pieces)


#: The name of a sentence in ``page.toml``, and the values in it
_Sentence = tuple[str, dict[str, Any]]


def _sentences_on_order(exporter: Exporter, choices: ExportChoices, checks: int) -> Iterator[_Sentence]:
    """Yield in which order launches are run, after which others, and by how many machines."""
    before = choices.predecessors
    if not exporter.runs_program:
        yield "program_order" if choices.caches in FILLED or before else "order", {}
    if before:
        launches, are = ("launch", "is") if before == 1 else (f"{before} launches", "are")
        yield "warm_ups", {"launches": launches, "are": are}
    elif choices.caches is not None:
        yield choices.caches, {}
    if checks:
        checked = f"All {checks}" if checks < choices.cold_check else checks
        yield "check", {"checks": checked, "before": PREDECESSORS}
    if choices.shards > 1:
        yield "shards", {"shards": choices.shards}


def _sentences_on_nvbit(plan: PlanFile, places: Collection[tuple[int, int]]) -> Iterator[_Sentence]:
    """Yield what NVBit's way of counting means for several devices, and for kernels that wait."""
    for process, devices in sorted(Counter(process for process, _ in places).items()):
        if devices > 1:
            yield "several_devices", {"process": process, "devices": devices}
    if waiting := [launch.name for launch in plan.drawn if is_communication(launch.name)]:
        are, name = "is" if len(waiting) == 1 else "are", shortened(waiting[0], 48)
        yield "communication", {"count": len(waiting), "are": are, "name": name}


def _read(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _put_in(text: str, values: Mapping[str, object]) -> str:
    return re.sub(r"(?m)^@(\w+)@\n|@(\w+)@", lambda match: str(values[match[1] or match[2]]), text)


def template(name: str, **values: object) -> str:
    """Return a text of the folder ``templates``, with values for ``@name@``; one may be whole lines."""
    return _put_in(_read(name), values)


def script(name: str, comment: str, *, takes_program: bool = False, **values: object) -> str:
    """Return a POSIX script: comment, settings, ``here``, the functions absolute and fail, then a template.

    With `takes_program` the words behind the script's name are the program to run, which must be there.
    """
    head = template("head.sh", comment="".join(f"# {line}\n" for line in comment.split("\n")))
    return head + (template("wants-program.sh") if takes_program else "") + template(name, **values)
