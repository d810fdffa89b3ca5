"""The JSON schema of what a command writes: made of the records that it writes, so that it cannot differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec.json import schema_components

from sampling.difference.comparison import DifferenceSummary
from sampling.errors import OptionError
from sampling.estimation.roofline import RooflineSummary
from sampling.estimation.summary import EstimateSummary
from sampling.methods.description import MethodDescription
from sampling.plan.comparison import ComparedMethod
from sampling.plan.judge import JudgedPlan
from sampling.plan.layer_summary import LayerFamily, LayerSummary
from sampling.plan.overview import GroupHistogram, GroupSummary, ProfileInfo
from sampling.plan.plan_file import PlannedLaunch
from sampling.plan.plan_summary import PlanSummary, ProfileSummary, StratumRow, TradeOffRow
from sampling.projection import ProjectedKernel
from sampling.readers.launch_parquet import ConvertedProfile
from sampling.record import Record
from sampling.reduction.range_list import KernelTimeline, RangeSummary
from sampling.reduction.ranks import RankSummary
from sampling.reduction.region import Selection
from sampling.running.study_summary import StudyRunSummary
from sampling.running.summary import RunState, RunSummary
from sampling.simulators.alignment import AlignmentSummary
from sampling.simulators.export import ExportSummary
from sampling.splitting.tree import SplitDecision
from sampling.study.study_file import NewStudy
from sampling.study.summary import SpeedupSummary
from sampling.text import nearest
from scalemodel.derive import DerivedModel
from scalemodel.miss_rate import CurveRecord
from scalemodel.predict import Outcome
from scalemodel.validate import Score
from scalemodel.waves import RunsPrediction
from tui.options.plan import SchemaOptions
from tui.output.blocks import Block, Preformatted
from tui.output.writer import Canvas, CommandResult, Document, Row, emit
from tui.registry import ALIASES, COMMANDS
from tui.report.content import ReportFiles
from tui.terminal.printable import Column, names


class ServedTool(Record, frozen=True):
    """A command as an agent can ask it."""

    name: str
    help: str
    #: What may be said of it.
    arguments: list[str]


#: What each command writes as its results; several where its options decide.
RESULTS: dict[str, tuple[Any, ...]] = {
    "summary": (ProfileSummary,),
    "info": (ProfileInfo,),
    "groups": (list[GroupSummary],),
    "histogram": (GroupHistogram,),
    "timeline": (KernelTimeline,),
    "ranges": (list[RangeSummary],),
    "layers": (LayerSummary, list[LayerFamily]),
    "ranks": (list[RankSummary],),
    "tree": (list[SplitDecision],),
    "report": (ReportFiles,),
    "sample": (PlanSummary, list[StratumRow], list[PlannedLaunch]),
    "trade-off": (list[TradeOffRow],),
    "compare": (list[ComparedMethod],),
    "judge": (JudgedPlan,),
    "methods": (list[MethodDescription],),
    "mcp": (list[ServedTool],),
    "export": (ExportSummary,),
    "run": (RunSummary, RunState, StudyRunSummary),
    "align": (AlignmentSummary,),
    "estimate": (EstimateSummary,),
    "roofline": (RooflineSummary,),
    "speedup": (SpeedupSummary,),
    "study new": (NewStudy,),
    "project": (list[ProjectedKernel],),
    "difference": (DifferenceSummary,),
    "baseline save": (ConvertedProfile,),
    "convert": (ConvertedProfile,),
    "schema": (dict[str, Any],),
    "scale predict": (Outcome, list[Outcome], RunsPrediction),
    "scale validate": (dict[str, dict[str, Score]],),
    "scale derive": (list[DerivedModel],),
    "scale mrc": (CurveRecord,),
}
#: Commands that write what another one does, where there is no terminal.
WRITTEN_AS = {"open": "summary", "demo": "summary", "scale open": "scale predict"}


def run_schema(options: SchemaOptions) -> None:
    """Make the schema of the command that is named, show it."""
    command = " ".join(options.command)
    command = ALIASES.get(command, command)
    if command not in COMMANDS:
        raise OptionError(f"{command!r} is no command", remedy=nearest(command, [*COMMANDS, *ALIASES]))
    schema = output_schema(command)
    keys = list_keys(schema)

    def blocks(canvas: Canvas) -> Iterator[Block]:
        if not canvas.is_page:
            yield Preformatted(json.dumps(schema, indent=1, ensure_ascii=False))
            return
        yield f"What `kernelpoint {command} --format json` writes"
        columns = [names("key", [row["key"] for row in keys])]
        yield [*columns, Column("type", [row["type"] for row in keys], to_right=False)]

    emit(CommandResult("schema", schema, blocks, rows=keys), options)


def output_schema(command: str) -> dict[str, Any]:
    """Return the JSON schema of what a command writes as JSON: all of its keys, and no others."""
    command = WRITTEN_AS.get(command, command)
    types = RESULTS[command]
    (_, selection, *results), components = schema_components(
        [Document, Selection, *types], ref_template="#/$defs/{name}"
    )
    for component in components.values():
        # What has a default is written all the same.
        component["required"] = [
            name
            for name, key in component.get("properties", {}).items()
            if name in component.get("required", ()) or key.pop("default", component) is not component
        ]
    document = components.pop("Document")
    document["properties"] |= {
        "command": {"const": command},
        "selection": {"anyOf": [selection, {"type": "object", "additionalProperties": selection}]},
        "results": results[0] if len(results) == 1 else {"anyOf": results},
    }
    head: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    head |= document
    return head | {"title": f"kernelpoint {command}", "$defs": components}


def list_keys(schema: dict[str, Any]) -> list[Row]:
    """Return each key of a schema by its path, `results.devices[].launches`, and what stands there.

    `*` stands for keys that are names, as of devices or of rules.
    """
    return [{"key": path, "type": kind} for path, kind in _walk(schema, schema["$defs"], "") if path]


Schema = dict[str, Any]


def _walk(part: Schema, components: dict[str, Schema], path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and type of a part of a schema, then those of what is in it."""
    kinds = [_resolved(kind, components) for kind in _resolved(part, components).get("anyOf", [part])]
    yield path, " or ".join(dict.fromkeys(map(_type_text, kinds)))
    for kind in kinds:
        for name, value in kind.get("properties", {}).items():
            yield from _walk(value, components, f"{path}.{name}".lstrip("."))
        if values := kind.get("additionalProperties"):
            yield from _walk(values, components, f"{path}.*")
        if isinstance(items := kind.get("items"), dict):
            inner = f"{path}[]"
            yield from (row for row in _walk(items, components, inner) if row[0] != inner)


def _resolved(part: Schema, components: dict[str, Schema]) -> Schema:
    return components[part["$ref"].rpartition("/")[2]] if "$ref" in part else part


def _type_text(part: Schema) -> str:
    if "const" in part or "enum" in part:
        return ", ".join(map(str, part.get("enum", [part.get("const")])))
    return str(part.get("type", "any"))
