"""What is in a profile: its devices, kinds of work and findings, and which part of it results are of."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sampling.plan.findings import Finding
from sampling.plan.plan_file import PlanFile
from sampling.plan.study import Study, Survey
from sampling.profile.names import shares_by_kind
from sampling.profile.profile import LaunchSequence, Profile
from sampling.reduction.duration_counts import MOST, DurationCounts
from sampling.reduction.region import Excluded, Region, as_written, format_window
from sampling.text import counted
from tui.charts.quantities import count, duration, share
from tui.output.blocks import Pairs, Phrase, Tone, Words, joined, without_tones
from tui.output.writer import Answer, named

_MAKER = re.compile(r"\b(?:NVIDIA|AMD|Tesla|GeForce|Quadro|Instinct|Graphics)\b")
_PACKAGE = re.compile(r"[- ](?:PCIE?|SXM\d*|PG\d+|HBM\d*|VF|\d+ ?GB).*", re.IGNORECASE)
_TELLING = re.compile(r"\S*\d\S*")
# A smaller share of the time is not worth a word among the kinds.
_LEAST_KIND = 0.01
_MOST_SHARE = f"{100 * MOST:.0f} %"

# Devices and kinds of work.


def device_rows(study: Survey) -> list[dict[str, Any]]:
    """Return one row for every process and device that launches kernels."""
    described = {(device.process, device.device): device for device in study.profile.facts.devices}
    times = {time.sequence: time for time in study.device_times}
    rows = []
    for sequence in study.sequences:
        place, time = (sequence.process, sequence.device), times.get(sequence)
        device = described.get(place) or described.get((None, sequence.device))
        rows.append(
            {"process": sequence.process, "rank": rank_of(sequence), "device": sequence.device}
            | named(device, "name", "sm_count")
            | {"launches": study.launches_of_sequences[sequence]}
            | named(time, "kernel_ns", "busy_ns", "overlap_share")
        )
    return rows


def rank_of(sequence: LaunchSequence) -> int | None:
    """Return the rank in a distributed run; None where it is not known."""
    return sequence.process if sequence.is_rank else None


def device_name(study: Study) -> str | None:
    """Return the names of the devices used, None where the profile does not name them."""
    return ", ".join(dict.fromkeys(row["name"] for row in device_rows(study) if row["name"])) or None


def _models(study: Study) -> str:
    """Return the GPUs in a word each, "2x H100" where there are several; "" where the profile names none.

    A word is the model without maker, make-up and memory; of a long one the part with a number.
    """
    models: Counter[str] = Counter()
    for name in (row["name"] for row in device_rows(study) if row["name"]):
        model = _PACKAGE.sub("", _MAKER.sub("", name)).strip() or name
        telling = _TELLING.search(model)
        models[telling[0] if telling and len(model) > len("RTX 6000 Ada") else model] += 1
    return ", ".join(f"{number}x {model}" if number > 1 else model for model, number in models.items())


def kind_shares(study: Study) -> dict[str, float]:
    """Return each kind's share of the time, the largest first."""
    counts = study.counts
    return shares_by_kind([group.name for group in counts.groups], counts.group_duration_ns.tolist())


def kind_words(study: Study) -> str:
    """Return the largest kinds of work with their shares, in words."""
    shares = [(kind, part) for kind, part in kind_shares(study).items() if part >= _LEAST_KIND]
    return ", ".join(f"{kind} {100 * part:.0f} %" for kind, part in shares)


def busy_shares(study: Study) -> list[float]:
    """Return of each device the share of its span in which a kernel runs; none where starts are not known."""
    return [time.busy_share for time in study.device_times if time.span_ns]


def busy_sentence(study: Study) -> str:
    """Return how much of the time between first and last launch a kernel runs; "" where it is not known."""
    shares = busy_shares(study)
    if not shares:
        return ""
    who = "The GPU is" if len(shares) == 1 else f"{len(shares)} GPUs are"
    ends = " to ".join(dict.fromkeys((share(min(shares)), share(max(shares)))))
    return f"{who} busy {ends} of the time from the first launch to the last"


def held_words(study: Study) -> str:
    """Return how few of several groups hold most of the time, "7 hold 80 %"; "" where that says nothing."""
    holding = study.counts.dominant_groups
    if not holding or len(study.counts.groups) < 2:
        return ""
    return f"{count(holding)} {'holds' if holding == 1 else 'hold'} {_MOST_SHARE}"


# Findings.

#: What stands for a finding's severity; it is ASCII and says the same as the tone.
MARKS = {"error": "X", "warning": "!", "note": "i"}
_TONES = {"error": Tone.BAD, "warning": Tone.WARNING, "note": Tone.NOTE}


def _gravest_first(study: Study) -> list[Finding]:
    return sorted(study.findings, key=lambda finding: list(MARKS).index(finding.severity))


def finding_sentences(study: Study) -> Iterator[str]:
    """Yield the findings with their marks, a remedy only where there is something to mend."""
    for each in _gravest_first(study):
        remedy = "" if each.severity == "note" else f" Remedy: {each.remedy}."
        yield f"{MARKS[each.severity]} {each.code}: {each.message}{remedy}"


def finding_blocks(study: Study, keys: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the findings with all remedies, below a heading; `keys` says what a key does about a code."""
    yield "Findings" if study.findings else "Findings: none"
    for each in _gravest_first(study):
        yield f"  {MARKS[each.severity]} {each.code}: {each.message} Remedy: {each.remedy}."
        if keys and each.code in keys:
            yield f"    {keys[each.code]}"


# What is in it, as `info` lists it.


def info_results(study: Study) -> dict[str, Any]:
    """Return what the contract's `info` has."""
    profile, counts = study.profile, study.counts
    streams: set[tuple[int, int]] | None = None
    if "stream" in profile.columns:
        # Counted apart for every process and device.
        numbers = ((part.sequence, np.unique(part.load(("stream",))["stream"])) for part in study.counted)
        streams = {(sequence, number) for sequence, found in numbers for number in found.tolist()}
    return {
        "format": profile.format,
        "files": [{"path": file.path, "launches": file.launches} for file in profile.files],
        "product": profile.facts.product,
        "launch_order": profile.facts.launch_order,
        "launches": counts.launches,
        "names": counts.names,
        "kernel_groups": len(counts.groups),
        "total_duration_ns": counts.total_duration_ns,
        "devices": device_rows(study),
        "processes": len({sequence.process for sequence in study.sequences}),
        "streams": None if streams is None else len(streams),
        "span_ns": study.span_ns,
        "findings": [finding.as_json() for finding in study.findings],
    }


def info_pairs(results: dict[str, Any]) -> Pairs:
    """Return the same as labelled lines."""
    unknown, span, streams = "not recorded", results["span_ns"], results["streams"]
    product = f" ({results['product']})" if results["product"] else ""
    lines = [
        ("format", results["format"] + product),
        ("launches", count(results["launches"])),
        ("kernel names", count(results["names"])),
        ("kernel groups", count(results["kernel_groups"])),
        ("kernel time", duration(results["total_duration_ns"])),
        ("span", unknown if span is None else duration(span)),
        ("processes", str(results["processes"])),
        ("streams", unknown if streams is None else str(streams)),
        ("launch order", results["launch_order"]),
    ]
    for row in results["devices"]:
        owner = f"process {row['process']}" if row["rank"] is None else f"rank {row['rank']}"
        said = f"{row['device']} of {owner}: {count(row['launches'])} launches"
        said += "" if row["name"] is None else f", {row['name']}"
        said += "" if row["sm_count"] is None else f", {row['sm_count']} SMs"
        said += "" if row["overlap_share"] is None else f", busy {duration(row['busy_ns'])}"
        lines.append(("device", said))
    return Pairs(lines)


# Which launches results are of, where filters leave some out.


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a profile that a region keeps."""

    region: Region
    launches: int
    total_duration_ns: int
    #: The launches of the whole profile; None where that is not known.
    of_launches: int | None
    #: What the least duration leaves out; None where the region sets none, or it is not known.
    left_out: Excluded | None = None

    @property
    def is_whole(self) -> bool:
        """Whether no filter is set."""
        return self.region == Region()

    @property
    def filters(self) -> dict[str, Any]:
        """The filters that are set, by their options' names, and what they are set to."""
        of = self.region
        every = {
            "device": [*as_written(of.devices)],
            "process": [*as_written(of.processes)],
            "include": list(of.include),
            "exclude": list(of.exclude),
            "launches": None if of.launches is None else format_window(of.launches),
            "time": None if of.time_ns is None else format_window(of.time_ns),
            "range": of.named_range,
            "min_duration_ns": of.min_duration_ns,
        }
        return {name: value for name, value in every.items() if value is not None and value != []}

    @property
    def typed(self) -> str:
        """The same as it is typed."""
        return " ".join(
            f"--{name.removesuffix('_ns').replace('_', '-')} {shlex.quote(str(value))}"
            for name, given in self.filters.items()
            for value in (given if isinstance(given, list) else [given])
        )


def part_of(profile: Profile, counts: DurationCounts) -> Part:
    """Return the part of a profile that a reduction counts."""
    return Part(counts.region, counts.launches, counts.total_duration_ns, profile.launches, counts.left_out)


def part_of_study(study: Survey) -> Part:
    """Return the part of a profile that a study is of."""
    return part_of(study.profile, study.counts)


def part_of_plan(plan: PlanFile) -> Part:
    """Return the part of its own profile that a plan is of."""
    whole, left_out = sum(each.launches for each in plan.profile.sequences), plan.profile.left_out or None
    return Part(plan.options.region, plan.launches, plan.total_duration_ns, whole, left_out)


def with_selection(answer: Answer, part: Part | Mapping[str, Part]) -> Answer:
    """Return the answer with what it is of, of one profile or by name; as it is where no filter is set."""
    if isinstance(part, Part):
        selection = None if part.is_whole else _selection_row(part)
        return replace(answer, selection=selection, heading=heading_lines(part))
    lines = [line for name, each in part.items() for line in heading_lines(each, f" of {name}")]
    rows = {name: _selection_row(each) for name, each in part.items() if not each.is_whole}
    return replace(answer, selection=rows or None, heading=tuple(lines))


def heading_lines(part: Part, of_what: str = "") -> tuple[str, ...]:
    """Return the lines that stand above results; none where they are of all launches."""
    if part.is_whole:
        return ()
    whole = "" if part.of_launches is None else f"{count(part.launches)} of "
    launches = counted(part.of_launches or part.launches, "launch")
    return (f"Selection{of_what}: {whole}{launches}, by {part.typed}{left_out_words(part)}",)


def _selection_row(part: Part) -> dict[str, Any]:
    """Return the filters that are set, what they keep, and what is left out for being short."""
    left_out = None
    if (left := part.left_out) is not None:
        left_out = named(left, "launches", "total_duration_ns")
        left_out["share"] = left.share(part.total_duration_ns)
    kept = named(part, "filters", "launches", "of_launches", "total_duration_ns")
    return kept | {"left_out": left_out}


def left_out_words(part: Part) -> str:
    """Return how much is left out for being short, in brackets; "" where nothing could be."""
    if part.left_out is None:
        return ""
    launches = counted(part.left_out.launches, "launch")
    return f" (leaves out {launches}, {share(part.left_out.share(part.total_duration_ns))} of the time)"


# The row that every view of the app says of the profile.


def header_forms(study: Study) -> list[Words]:
    """Return the row, the longest form first: how much there is, and the findings, the gravest first.

    `[F]` and `[f]` are the keys that lead to what filters leave and to the findings.
    """
    counts, part = study.counts, part_of_study(study)
    total, number, held = duration(counts.total_duration_ns), len(counts.groups), held_words(study)
    held = held and f", {held}"
    few = f"{count(counts.dominant_groups)}/{count(number)} groups {_MOST_SHARE}"
    shares = [f"{100 * each:.0f}" for each in sorted(busy_shares(study))]
    busy = f", busy {' to '.join(dict.fromkeys((shares[0], shares[-1])))} %" if shares else ""
    name, model = (f"{each}: " if each else "" for each in (device_name(study), _models(study)))
    launches, filters = Phrase(counted(part.launches, "launch")), ""
    if not part.is_whole:
        whole = "" if part.of_launches is None else f" of {count(part.of_launches)}"
        launches = Phrase(f"[F] {count(part.launches)}{whole} launches", Tone.PART)
        filters = f" ({part.typed})"

    graver = _gravest_first(study)
    marks = [Phrase(MARKS[each.severity], _TONES[each.severity]) for each in graver]
    every = [(mark, Phrase(f" {each.words}")) for mark, each in zip(marks, graver, strict=True)]
    more = [(Phrase(f" +{len(graver) - 1}"),)] if len(graver) > 1 else []
    in_a_word = [(marks[0], Phrase(f" {graver[0].code.replace('-', ' ')}"))] if graver else []
    numbers = [(Phrase(f"{mark.text}{times}", mark.tone),) for mark, times in Counter(marks).items()]

    all_groups = f"{counted(number, 'kernel group')}{f'{held} of the time' if held else ''}"
    on_model = f"{filters}, {total}, {counted(number, 'group')}{held}"
    in_short = f" {total} {few if held else counted(number, 'group')}"
    forms = []
    for gpu, amount, findings, separator in (
        (name, f"{filters}{left_out_words(part)}, {total}{busy}, {all_groups}", every, ", "),
        (model, on_model, every[:1] + more, ""),
        (model, on_model, in_a_word, ""),
        (model, in_short, numbers, " "),
    ):
        said = joined(findings, separator) or (Phrase("no findings"),)
        row = (Phrase(gpu), launches, Phrase(amount), Phrase("  "), Phrase("[f] "), *said)
        forms.append(tuple(phrase for phrase in row if phrase.text))
    return sorted(dict.fromkeys(forms), key=lambda form: len(without_tones(form)), reverse=True)
