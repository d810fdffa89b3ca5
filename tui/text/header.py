"""What every view says of the profile in one row: how much there is, of which part, what to watch for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sampling.plan.findings import Finding
from sampling.plan.study import Study
from sampling.reduction.duration_counts import MOST, fewest_holding
from sampling.text import counted
from tui.charts import quantities
from tui.text import facts
from tui.text.selection import Part, filter_words, left_out_words, part_of_study
from tui.text.tones import Phrase, Tone, Words, joined, plain

MOST_SHARE = f"{100 * MOST:.0f} %"
"""The share of the time that is said to be held, in words."""

_TONES = {"warning": Tone.WARNING, "note": Tone.NOTE}
"""Of each severity; its mark is ASCII and says the same."""

BRIEFEST = {
    "graph-level-trace": "graphs",
    "api-rows-missing": "no API calls",
    "communication-kernels": "collectives",
    "overlap": "overlap",
    "idle": "idle",
    "zero-durations": "0 ns",
    "coarse-clock": "clock",
    "no-grid": "no grid",
    "several-devices": "devices",
    "identical-ranks": "ranks",
    "drift": "drift",
    "iterations": "loop",
    "one-launch-dominates": "one launch",
    "not-worth-sampling": "small gain",
}
"""What each code is called where there is room for a word or two."""

_BETWEEN = Phrase("  ")


def header_forms(study: Study) -> list[Words]:
    """Return the row, the longest form first.

    Launches, total, groups and the gravest finding stand in all but the shortest ones; where filters are set,
    so does how many launches they keep. `[F]` and `[f]` are the keys that lead to both.
    """
    amounts, found = list(_amounts(study)), list(_findings(study.findings))
    levels = (
        *((said, amount) for said in found[:2] for amount in amounts[:3]),
        *((said, amount) for said in found[1:4] for amount in amounts[2:5]),
        *((found[3], amount) for amount in amounts[5:]),
        (found[4], amounts[-1]),
    )
    rows = ((*amount, _BETWEEN, *said) for said, amount in levels)
    forms = dict.fromkeys(tuple(phrase for phrase in row if phrase.text) for row in rows)
    return sorted(forms, key=lambda form: len(plain(form)), reverse=True)


def _amounts(study: Study) -> Iterator[Words]:
    """Yield how much there is in forms: whole, model alone, short, without filters, fewest; without model."""
    counts, part = study.counts, part_of_study(study)
    total = quantities.duration(counts.total_duration_ns)
    holding = fewest_holding(counts.group_duration_ns)
    number = len(counts.groups)
    is_held = holding and number > 1
    shown, held = quantities.count(number), quantities.count(holding)
    device, model = facts.device_name(study), facts.short_device(study)
    busy = f", {words}" if (words := facts.busy_short(study)) else ""
    long, few = counted(number, "kernel group"), counted(number, "group")
    if is_held:
        long, few = long + _held(holding, f"{MOST_SHARE} of the time"), few + _held(holding, MOST_SHARE)
    long, some, few = f", {total}{busy}, {long}", f", {total}{busy}, {few}", f", {total}, {few}"
    on_device = "" if device is None else f"{device}: "
    by_filters, full = f" ({filter_words(part.region)})", left_out_words(part)
    on_model = Phrase(f"{model}: " if model else "")
    yield (Phrase(on_device), *_launches(part, by_filters + full), Phrase(long))
    yield (on_model, *_launches(part, by_filters), Phrase(long))
    yield (on_model, *_launches(part, by_filters), Phrase(some))
    yield (on_model, *_launches(part, ""), Phrase(few))
    fewest = f" {held}/{shown} groups {MOST_SHARE}" if is_held else f" {counted(number, 'group')}"
    yield (on_model, *_launches(part, "", of="/"), Phrase(f" {total}{fewest}"))
    yield (*_launches(part, ""), Phrase(few))
    yield (*_launches(part, "", of="/"), Phrase(f" {total}{fewest}"))


def _held(holding: int, most: str) -> str:
    return f", {quantities.count(holding)} {'holds' if holding == 1 else 'hold'} {most}"


def _launches(part: Part, filters: str, of: str = " of ") -> Words:
    """Return how many launches there are, and where filters leave some out, of how many and why."""
    if part.is_whole:
        return (Phrase(counted(part.launches, "launch", "launches")),)
    kept = quantities.count(part.launches)
    whole = "" if part.of_launches is None else f"{of}{quantities.count(part.of_launches)}"
    return Phrase(f"[F] {kept}{whole} launches", Tone.PART), Phrase(filters)


def _findings(findings: tuple[Finding, ...]) -> Iterator[Words]:
    """Yield what was found in five forms: all, the gravest and how many more, twice, a word, marks."""
    key = Phrase("[f] ")
    if not findings:
        yield from ((key, Phrase("no findings")),) * 5
        return
    graver = sorted(findings, key=lambda finding: finding.severity != "warning")
    first, more = graver[0], len(graver) - 1
    yield (key, *joined([_marked(each, each.words) for each in graver], ", "))
    yield (key, *_marked(first, first.words), Phrase(f", {more} more" if more else ""))
    yield (key, *_marked(first, first.words), Phrase(f" +{more}" if more else ""))
    yield (key, *_marked(first, BRIEFEST.get(first.code, first.code)))
    numbers = Counter(finding.severity for finding in graver)
    marks = [
        (Phrase(f"{facts.MARKS[severity]}{number}", _TONES[severity]),)
        for severity, number in numbers.items()
    ]
    yield (key, *joined(marks, " "))


def _marked(finding: Finding, words: str) -> Words:
    return Phrase(facts.MARKS[finding.severity], _TONES[finding.severity]), Phrase(f" {words}")
