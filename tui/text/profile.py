"""What is in a profile: its devices, kinds of work and findings, and which part of it results are of."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sampling.plan.draft import Draft, Survey
from sampling.plan.findings import Finding
from sampling.plan.overview import (
    ProfileInfo,
    busiest_idle,
    busy_shares,
    device_name,
    device_uses,
    kind_shares,
)
from sampling.plan.plan_file import PlanFile
from sampling.profile.names import OTHER, short_name
from sampling.reduction.duration_counts import MOST, counts_selection
from sampling.reduction.idle import CAUSES, CopyTime, IdleTime
from sampling.reduction.region import Selection, region_selection
from sampling.text import counted
from tui.charts.grid import bar
from tui.charts.quantities import count, duration, share, si
from tui.output.blocks import Pairs, Phrase, Phrases, Tone, joined, without_tones
from tui.output.writer import CommandResult

_MAKER = re.compile(r"\b(?:NVIDIA|AMD|Tesla|GeForce|Quadro|Instinct|Graphics)\b")
_PACKAGE = re.compile(r"[- ](?:PCIE?|SXM\d*|PG\d+|HBM\d*|VF|\d+ ?GB).*", re.IGNORECASE)
_TELLING = re.compile(r"\S*\d\S*")
# A smaller share of the time is not worth a word among the kinds.
_LEAST_KIND = 0.01
# Cells of a bar of all time, in the row of the kinds.
_BAR_CELLS = 60, 40, 30, 20, 10
_MOST_SHARE = f"{100 * MOST:.0f} %"

# Devices and kinds of work.


def _models(draft: Draft) -> str:
    """Return the GPUs in a word each, "2x H100" where there are several; "" where the profile names none.

    A word is the model without maker, make-up and memory; of a long one the part with a number.
    """
    models: Counter[str] = Counter()
    for name in (use.name for use in device_uses(draft) if use.name):
        model = _PACKAGE.sub("", _MAKER.sub("", name)).strip() or name
        telling = _TELLING.search(model)
        models[telling[0] if telling and len(model) > len("RTX 6000 Ada") else model] += 1
    return ", ".join(f"{number}x {model}" if number > 1 else model for model, number in models.items())


def _kinds(draft: Draft) -> list[tuple[str, float]]:
    """Return the largest kinds of work with their shares; none where names tell none."""
    shares = [(kind, part) for kind, part in kind_shares(draft).items() if part >= _LEAST_KIND]
    return [] if [kind for kind, _ in shares] == [OTHER] else shares


def kind_words(draft: Draft) -> str:
    """Return the largest kinds of work with their shares, in words; "" where names tell none."""
    return ", ".join(f"{kind} {100 * part:.0f} %" for kind, part in _kinds(draft))


def kind_bars(draft: Draft) -> list[Phrases]:
    """Return the same as bars in a row, the form that says most first; nothing where names tell none.

    Where kinds have no room beside the larger ones, they are the rest of all time.
    """
    kinds = _kinds(draft)
    rows = [
        [*kinds[:number], *[("rest", 1 - sum(part for _, part in kinds[:number]))] * (number < len(kinds))]
        for number in range(len(kinds), 0, -1)
    ]
    return [joined([_kind_bar(*kind, cells) for kind in row], "  ") for row in rows for cells in _BAR_CELLS]


def _kind_bar(kind: str, part: float, cells: int) -> Phrases:
    return Phrase(f"{kind} "), Phrase(bar(part, cells), Tone.NOTE), Phrase(f" {100 * part:.0f} %")


def busy_sentence(draft: Draft) -> str:
    """Return how much of the elapsed time a kernel runs, and why none does for the rest; "" if not known."""
    shares, idle = busy_shares(draft), busiest_idle(draft)
    if not shares:
        return ""
    subject = "The GPU is" if len(shares) == 1 else f"{len(shares)} GPUs are"
    ends = " to ".join(dict.fromkeys((share(min(shares)), share(max(shares)))))
    span = "the time" if draft.span_ns is None else duration(draft.span_ns)
    why = "" if idle is None or idle.short is None else f"; idle: {idle_words(idle)}"
    return f"{subject} busy {ends} of {span} from the first launch to the last{why}"


def idle_words(idle: IdleTime) -> str:
    """Return the shares of idle time by cause, the largest first."""
    shares = {cause: idle.share_of(cause) for cause in CAUSES} | {"gaps below 1 us": idle.short or 0.0}
    names = sorted((name for name in shares if shares[name] >= _LEAST_KIND), key=lambda name: -shares[name])
    waits = (
        f" ({share(idle.synchronising / idle.causes['host'])} of it synchronising)"
        if idle.synchronising and idle.causes
        else ""
    )
    words = (f"{name} {share(shares[name])}{waits if name == 'host' else ''}" for name in names)
    return ", ".join(words) or "none"


def copy_words(copies: Sequence[CopyTime]) -> str:
    """Return how many copies and sets there are in each direction, of how much and how long."""
    return ", ".join(
        f"{copy.direction} {count(copy.count)} ({si(copy.bytes, 'B')}, {duration(copy.duration_ns)}, "
        f"{share(copy.overlapped_ns / max(copy.duration_ns, 1))} beside kernels)"
        for copy in copies
    )


def held_words(draft: Draft) -> str:
    """Return how few of several groups hold most of the time, "7 hold 80 %"; "" where that says nothing."""
    counts = draft.look.counts
    holding = counts.dominant_groups
    if not holding or len(counts.groups) < 2:
        return ""
    return f"{count(holding)} {'holds' if holding == 1 else 'hold'} {_MOST_SHARE}"


# Findings.

#: What stands for a finding's severity; it is ASCII and says the same as the tone.
MARKS = {"error": "X", "warning": "!", "note": "i"}
_TONES = {"error": Tone.BAD, "warning": Tone.WARNING, "note": Tone.NOTE}


def _gravest_first(draft: Draft) -> list[Finding]:
    return sorted(draft.findings, key=lambda finding: list(MARKS).index(finding.severity))


def finding_sentences(draft: Draft) -> Iterator[str]:
    """Yield the findings with their marks, a remedy only where there is something to mend."""
    for finding in _gravest_first(draft):
        remedy = "" if finding.severity == "note" else f" Remedy: {finding.remedy}."
        yield f"{MARKS[finding.severity]} {finding.code}: {finding.message}{remedy}"


def finding_blocks(draft: Draft, keys: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the findings with all remedies, below a heading; `keys` says what a key does about a code."""
    yield "Findings" if draft.findings else "Findings: none"
    for finding in _gravest_first(draft):
        yield f"  {MARKS[finding.severity]} {finding.code}: {finding.message} Remedy: {finding.remedy}."
        if keys and finding.code in keys:
            yield f"    {keys[finding.code]}"


# What is in it, as `info` lists it.


def info_pairs(info: ProfileInfo) -> Pairs:
    """Return the same as labelled lines."""
    unknown = "not recorded"
    product = f" ({info.product})" if info.product else ""
    lines = [
        ("format", info.format + product),
        ("launches", count(info.launches)),
        ("kernel names", count(info.names)),
        ("kernel groups", count(info.kernel_groups)),
        ("kernel time", duration(info.total_duration_ns)),
        ("elapsed", unknown if info.span_ns is None else duration(info.span_ns)),
        ("processes", str(info.processes)),
        ("streams", unknown if info.streams is None else str(info.streams)),
        ("launch order", info.launch_order),
    ]
    for use in info.devices:
        owner = f"process {use.process}" if use.rank is None else f"rank {use.rank}"
        text = f"{use.device} of {owner}: {count(use.launches)} launches"
        text += "" if use.name is None else f", {use.name}"
        text += "" if use.sm_count is None else f", {use.sm_count} SMs"
        text += "" if use.busy_ns is None else f", busy {duration(use.busy_ns)} of {duration(use.span_ns)}"
        text += "" if use.idle is None else f"; idle {share(use.idle.share)}: {idle_words(use.idle)}"
        lines.append(("device", text))
    for gap in () if info.idle is None else info.idle.gaps:
        kernels = f"{short_name(gap.kernel_before)} and {short_name(gap.kernel_after)}"
        call = f", in {gap.call}" if gap.call else ""
        place = f"between launches {gap.before:,} and {gap.after:,}, {kernels}"
        lines.append(("gap", f"{duration(gap.duration_ns)}, {gap.cause}{call}: {place}"))
    if info.idle is not None and info.idle.operators:
        late = (f"{name or 'outside any'} {duration(ns)}" for name, ns in info.idle.operators.items())
        lines.append(("late operators", ", ".join(late)))
    if info.copies is not None:
        lines.append(("copies", copy_words(info.copies) or "none"))
    return Pairs(lines)


# Which launches results are of, where filters leave some out.


def survey_selection(survey: Survey) -> Selection:
    """Return the part of a profile that a survey is of."""
    return counts_selection(survey.profile, survey.counts)


def plan_selection(plan: PlanFile) -> Selection:
    """Return the part of its own profile that a plan is of."""
    of_launches = sum(sequence.launches for sequence in plan.profile.sequences)
    totals = plan.launches, plan.total_duration_ns
    return region_selection(plan.options.region, *totals, of_launches, plan.profile.left_out or None)


def with_selection(result: CommandResult, selection: Selection | Mapping[str, Selection]) -> CommandResult:
    """Return the result with what it is of, of one profile or by name; as it is where no filter is set."""
    if isinstance(selection, Selection):
        restriction = None if selection.is_whole else selection
        return replace(result, selection=restriction, heading=heading_lines(selection))
    lines = [line for name, part in selection.items() for line in heading_lines(part, f" of {name}")]
    parts = {name: part for name, part in selection.items() if not part.is_whole}
    return replace(result, selection=parts or None, heading=tuple(lines))


def filters_typed(selection: Selection) -> str:
    """Return the filters as they are typed."""
    return " ".join(
        f"--{name.removesuffix('_ns').replace('_', '-')} {shlex.quote(str(value))}"
        for name, values in selection.filters.items()
        for value in (values if isinstance(values, list) else [values])
    )


def heading_lines(selection: Selection, of_what: str = "") -> tuple[str, ...]:
    """Return the lines that stand above results; none where they are of all launches."""
    if selection.is_whole:
        return ()
    of_text = "" if selection.of_launches is None else f"{count(selection.launches)} of "
    launches = counted(selection.of_launches or selection.launches, "launch")
    by = f"{filters_typed(selection)}{left_out_words(selection)}"
    return (f"Selection{of_what}: {of_text}{launches}, by {by}",)


def left_out_words(selection: Selection) -> str:
    """Return how much is left out for being short, in brackets; "" where nothing could be."""
    if selection.left_out is None:
        return ""
    launches = counted(selection.left_out.launches, "launch")
    return f" (leaves out {launches}, {share(selection.left_out.share)} of the time)"


# The row that every view of the app says of the profile.


def header_forms(draft: Draft) -> list[Phrases]:
    """Return the row, the longest form first: how much there is, and the findings, the gravest first.

    `[F]` and `[f]` are the keys that lead to what filters leave and to the findings.
    """
    counts, part = draft.look.counts, survey_selection(draft)
    kernel_time, number, most_time = duration(counts.total_duration_ns), len(counts.groups), held_words(draft)
    total = kernel_time if draft.span_ns is None else f"{kernel_time} in {duration(draft.span_ns)}"
    most_time = most_time and f", {most_time}"
    few_groups = f"{count(counts.dominant_groups)}/{count(number)} groups {_MOST_SHARE}"
    shares = [f"{100 * busy_share:.0f}" for busy_share in sorted(busy_shares(draft))]
    busy = f", busy {' to '.join(dict.fromkeys((shares[0], shares[-1])))} %" if shares else ""
    kinds = _kinds(draft)
    most_work = f", {kinds[0][0]} {100 * kinds[0][1]:.0f} %" if kinds and kinds[0][0] != OTHER else ""
    name, model = (f"{text}: " if text else "" for text in (device_name(draft), _models(draft)))
    launches, filters = Phrase(counted(part.launches, "launch")), ""
    if not part.is_whole:
        of_text = "" if part.of_launches is None else f" of {count(part.of_launches)}"
        launches = Phrase(f"[F] {count(part.launches)}{of_text} launches", Tone.PART)
        filters = f" ({filters_typed(part)})"

    graver = _gravest_first(draft)
    marks = [Phrase(MARKS[finding.severity], _TONES[finding.severity]) for finding in graver]
    full_texts = [(mark, Phrase(f" {finding.words}")) for mark, finding in zip(marks, graver, strict=True)]
    count_of_rest = [(Phrase(f" +{len(graver) - 1}"),)] if len(graver) > 1 else []
    in_a_word = [(marks[0], Phrase(f" {graver[0].code.replace('-', ' ')}"))] if graver else []
    by_severity = _counted_findings(graver)
    numbers = [(Phrase(f"{mark.text}{times}", mark.tone),) for mark, times in Counter(marks).items()]

    all_groups = f"{counted(number, 'kernel group')}{f'{most_time} of the time' if most_time else ''}"
    on_model = f"{filters}, {total}{busy}{most_work}, {counted(number, 'group')}{most_time}"
    in_short = f" {few_groups if most_time else counted(number, 'group')}"
    forms = []
    for gpu, amount, findings, separator in (
        (name, f"{filters}{left_out_words(part)}, {total}{busy}{most_work}, {all_groups}", full_texts, ", "),
        (model, on_model, full_texts[:1] + count_of_rest, ""),
        (model, on_model, in_a_word, ""),
        (model, f" {total}{busy + most_work or in_short}", by_severity, ""),
        (model, f" {kernel_time}{busy + most_work or in_short}", by_severity, ""),
        (model, f" {kernel_time}{busy or in_short}", by_severity, ""),
        (model, f" {kernel_time}{busy or in_short}", numbers, " "),
    ):
        findings_text = joined(findings, separator) or (Phrase("no findings"),)
        row = (Phrase(gpu), launches, Phrase(amount), Phrase("  "), Phrase("[f] "), *findings_text)
        forms.append(tuple(phrase for phrase in row if phrase.text))
    return sorted(dict.fromkeys(forms), key=lambda form: len(without_tones(form)), reverse=True)


def _counted_findings(gravest_first: Sequence[Finding]) -> list[Phrases]:
    """Return how many are of the gravest severity, and how many others there are: "2 warnings +3"."""
    if not gravest_first:
        return []
    severity = gravest_first[0].severity
    number = sum(finding.severity == severity for finding in gravest_first)
    words, rest = Phrase(counted(number, severity), _TONES[severity]), len(gravest_first) - number
    return [(words, Phrase(f" +{rest}")) if rest else (words,)]
