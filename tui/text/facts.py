"""The rows that several commands show: kernel groups, findings, devices, a plan's figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sampling.plan.design import Design
from sampling.plan.findings import Finding
from sampling.plan.judge import Judgement
from sampling.plan.study import Study
from sampling.profile.names import shares_by_kind
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.draw import DRAWS
from sampling.text import counted
from tui.charts import quantities
from tui.output.writer import Canvas
from tui.terminal.printable import Column, names, printable, wrapped
from tui.text.labels.kernel_labels import KernelLabels, Place, place_lines, place_names
from tui.text.promise import promise_words

_MAKER = re.compile(r"\b(?:NVIDIA|AMD|Tesla|GeForce|Quadro|Instinct|Graphics)\b")
_PACKAGE = re.compile(r"[- ](?:PCIE?|SXM\d*|PG\d+|HBM\d*|VF|\d+ ?GB).*", re.IGNORECASE)
_TELLING = re.compile(r"\S*\d\S*")
# A smaller share of the time is not worth a word among the kinds.
_LEAST_KIND = 0.01

#: What stands for a finding's severity.
MARKS = {"warning": "!", "note": "i"}


def group_row(study: Study, index: int) -> dict[str, Any]:
    """Return one kernel group as the contract's `groups` lists it."""
    group, of = study.counts.groups[index], study.groups
    is_pooled = bool(of.pooled[index])
    return {
        "rank": index + 1,
        "key": group.key,
        "name": group.name,
        "grid": _list(group.grid),
        "block": _list(group.block),
        "process": group.process,
        "device": group.device,
        "launches": int(of.launches[index]),
        "total_duration_ns": int(of.total_duration_ns[index]),
        "share": float(of.share[index]),
        "mean_ns": float(of.mean_ns[index]),
        "std_ns": float(of.std_ns[index]),
        "cov": float(of.cov[index]) if of.mean_ns[index] else None,
        "min_ns": int(of.min_ns[index]),
        "max_ns": int(of.max_ns[index]),
        "clusters": None if is_pooled or of.clusters is None else int(of.clusters[index]),
        "samples": None if is_pooled or of.samples is None else int(of.samples[index]),
        "pooled": is_pooled,
    }


def _list(dimensions: tuple[int, int, int] | None) -> list[int] | None:
    return None if dimensions is None else list(dimensions)


def group_label(study: Study, index: int, room: int | None = None) -> str:
    """Return a group in a few words, in at most `room` columns; other groups have other labels."""
    return kernel_labels(study).label(index, room)


# Those of a reduction and the places of its launches: a plan made anew has the same.
_LABELS: WeakKeyDictionary[DurationCounts, KernelLabels] = WeakKeyDictionary()


def kernel_labels(study: Study) -> KernelLabels:
    """Return the labels of all kernel groups."""
    labels = _LABELS.get(study.counts)
    if labels is None:
        labels = _LABELS[study.counts] = KernelLabels(study.counts.groups, places_of(study))
    return labels


def places_of(study: Study) -> dict[Place, str]:
    """Return what every process and device is called; nothing where there is only one."""
    if len(study.sequences) < 2 or study.counts.grouping.pool_devices:
        return {}
    return place_names((sequence.process, sequence.device) for sequence in study.profile.sequences)


def devices_named(study: Study) -> list[str]:
    """Return what the names of processes and devices in labels stand for, a line each."""
    places = places_of(study)
    if not places:
        return []
    rows = device_rows(study)
    models = {(row["process"], row["device"]): row["name"] for row in rows if row["name"] is not None}
    used = {(row["process"], row["device"]): "" for row in rows}
    return place_lines({place: name for place, name in places.items() if place in used}, models)


def finding_rows(study: Study) -> list[dict[str, str]]:
    """Return the findings as the contract lists them."""
    return [finding.as_json() for finding in study.findings]


def group_columns(rank: str, key: str) -> list[Column]:
    """Return which kernel group is shown, as a table that has its whole key."""
    return [Column("rank", [rank], to_right=False), names("kernel group", [key])]


def finding_blocks(study: Study) -> list[str]:
    """Return the findings, a paragraph each."""
    said = [f"{each.severity}: {finding_words(each)}" for each in study.findings]
    return said or ["Findings: none"]


def finding_words(finding: Finding) -> str:
    """Return a finding and its remedy."""
    return f"{finding.code}: {finding.message} Remedy: {finding.remedy}."


def finding_lines(study: Study, canvas: Canvas) -> list[str]:
    """Return the findings with their marks, a remedy only where there is something to mend."""
    lines: list[str] = []
    for each in study.findings:
        remedy = f" Remedy: {each.remedy}." if each.severity == "warning" else ""
        text = printable(f"{MARKS[each.severity]} {each.code}: {each.message}{remedy}")
        lines += wrapped(text, canvas.width, "  ")
    return lines


def findings_text(study: Study, canvas: Canvas, keys: Mapping[str, str] | None = None) -> str:
    """Return the findings as indented paragraphs.

    Parameters
    ----------
    keys : what a key does about a finding, in words, by the finding's code; none where no key does.
    """
    import textwrap

    if not study.findings:
        return "Findings: none"
    lines = ["Findings"]
    for finding in study.findings:
        text = printable(finding_words(finding))
        mark = f"{MARKS[finding.severity]} "
        lines += textwrap.wrap(
            text,
            canvas.width,
            initial_indent=f"  {mark}",
            subsequent_indent="    ",
            # A flag is copied as it stands.
            break_on_hyphens=False,
        )
        if keys and finding.code in keys:
            lines.append(f"    {keys[finding.code]}")
    return "\n".join(lines)


def device_rows(study: Study) -> list[dict[str, Any]]:
    """Return one row for every process and device that launches kernels."""
    described = {(device.process, device.device): device for device in study.profile.facts.devices}
    times = {time.sequence: time for time in study.device_times}
    selected = study.launches_of_sequences
    rows = []
    for sequence in study.sequences:
        device = described.get((sequence.process, sequence.device)) or described.get((None, sequence.device))
        time = times.get(sequence)
        rows.append(
            {
                "process": sequence.process,
                "device": sequence.device,
                "name": None if device is None else device.name,
                "sm_count": None if device is None else device.sm_count,
                "launches": selected[sequence],
                "kernel_ns": None if time is None else time.kernel_ns,
                "busy_ns": None if time is None else time.busy_ns,
                "overlap_share": None if time is None else time.overlap_share,
            }
        )
    return rows


def kind_shares(study: Study) -> dict[str, float]:
    """Return each kind's share of the time, the largest first."""
    counts = study.counts
    return shares_by_kind([group.name for group in counts.groups], counts.group_duration_ns.tolist())


def kind_words(study: Study) -> str:
    """Return the largest kinds of work with their shares, in words."""
    shares = [(kind, share) for kind, share in kind_shares(study).items() if share >= _LEAST_KIND]
    return ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in shares)


def busy_shares(study: Study) -> list[float]:
    """Return of each device the share of its span in which a kernel runs; none where starts are not known."""
    return [time.busy_share for time in study.device_times if time.span_ns]


def busy_short(study: Study) -> str:
    """Return the same in two words; "" where it is not known."""
    shares = busy_shares(study)
    if not shares:
        return ""
    least, most = 100 * min(shares), 100 * max(shares)
    return f"busy {least:.0f} %" if f"{least:.0f}" == f"{most:.0f}" else f"busy {least:.0f} to {most:.0f} %"


def busy_words(study: Study) -> str | None:
    """Return how much of the time between first and last launch a kernel runs; None where it is not known."""
    shares = busy_shares(study)
    if not shares:
        return None
    least, most = quantities.share(min(shares)), quantities.share(max(shares))
    if least == most:
        who = "the GPU is" if len(shares) == 1 else f"each of {len(shares)} GPUs is"
        return f"{who} busy {most} of the time from the first launch to the last"
    return f"{len(shares)} GPUs are busy {least} to {most} of the time from their first launch to their last"


def device_name(study: Study) -> str | None:
    """Return the names of the devices used, None where the profile does not name them."""
    names = dict.fromkeys(row["name"] for row in device_rows(study) if row["name"])
    return ", ".join(names) or None


def short_device(study: Study) -> str:
    """Return the GPU in a word, "2x H100" where there are several; "" where the profile does not name it.

    >>> [_model(name) for name in ("NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-32GB", "AMD Instinct MI300X VF")]
    ['H100', 'V100', 'MI300X']
    """
    models = Counter(_model(row["name"]) for row in device_rows(study) if row["name"])
    return ", ".join(f"{number}x {model}" if number > 1 else model for model, number in models.items())


def _model(name: str) -> str:
    """Return a GPU's model without its maker, its make-up and its memory."""
    model = _PACKAGE.sub("", _MAKER.sub("", name)).strip() or name
    telling = _TELLING.search(model)
    return telling[0] if telling and len(model) > len("RTX 6000 Ada") else model


def judged_row(judgement: Judgement) -> dict[str, Any]:
    """Return the errors of repeated draws as the contract's `judged`."""
    return {
        "repeats": judgement.repeats,
        "error_mean": judgement.error_mean,
        "error_p95": judgement.error_p95,
        "error_max": judgement.error_max,
        "within_epsilon": judgement.within_epsilon,
    }


def calibrated_row(design: Design) -> dict[str, Any] | None:
    """Return how many of the draws that a design was judged by stay within epsilon; None for picks."""
    share = design.share_within_epsilon
    if share is None:
        return None
    simulated = design.simulated_share_within_epsilon
    return {"draws": DRAWS, "within_epsilon": share, "simulated_within_epsilon": simulated}


def design_row(study: Study) -> dict[str, Any]:
    """Return the figures of the design: what a plan costs and promises."""
    design = study.design
    return {
        "method": design.method,
        "epsilon": design.target.epsilon,
        "confidence": design.target.confidence,
        "strata": design.strata_count,
        "samples": design.samples,
        "sampled_duration_ns": design.sampled_duration_ns,
        "speedup": study.speedup,
        "bound": design.bound,
        "group_bound": design.group_bound,
        "bound_with_noise": design.bound_with_noise,
    }


def design_line(study: Study, judgement: Judgement | None = None) -> str:
    """Return the design in a line or two: what it costs, and what its bound covers."""
    row = design_row(study)
    head = (
        f"{row['method']}, epsilon {row['epsilon']:g} at confidence {row['confidence']:g}: "
        f"{quantities.count(row['samples'])} of "
        f"{counted(study.counts.launches, 'launch', 'launches')}"
    )
    head += f", speedup {quantities.ratio(row['speedup'])}"
    return f"{head}\n{bounds_line(study.design, judgement)}"


def strata_text(strata: int) -> str:
    """Return how many strata, in words."""
    return counted(strata, "stratum", "strata")


def bounds_line(design: Design, judgement: Judgement | None) -> str:
    """Return both bounds in words, and the judged coverage beside the stated confidence."""
    if design.bound is None:
        return "no bound: the launches are not drawn at random"
    text = f"promise: {promise_words(design)}"
    text += f"\nprofile's own durations: {quantities.share(design.bound)} of the total"
    if design.group_bound is not None:
        text += f", {quantities.share(design.group_bound)} of any kernel group's"
        is_pooling = design.groups is not None and design.groups.is_pool.any()
        text += " that is not pooled" if is_pooling else ""
    if design.group_bound_with_noise is not None:
        text += f" ({quantities.share(design.group_bound_with_noise)} simulated)"
    if design.share_within_epsilon is not None:
        own, stated = map(quantities.share, (design.share_within_epsilon, design.target.confidence))
        simulated = design.simulated_share_within_epsilon
        within = f"{own} of {draws_text(DRAWS)} within epsilon of the profile's total"
        if simulated is not None:
            within = f"{quantities.share(simulated)} of {draws_text(DRAWS)} within epsilon of the simulated "
            within += f"total as declared, {own} of the profile's"
        text += f"\n{within}; {stated} stated"
    if judgement is not None:
        mean, p95 = quantities.share(judgement.error_mean), quantities.share(judgement.error_p95)
        text += f"\n{draws_text(judgement.repeats)}: mean error {mean}, 95th percentile {p95}"
    return text


def draws_text(repeats: int) -> str:
    """Return how often a plan was drawn, in words."""
    return counted(repeats, "draw", "draws")


def clusters_of_group(study: Study, group: int) -> list[tuple[int, int]]:
    """Return the (shortest, longest) duration that a kernel group has in each of its strata, ascending."""
    durations_ns, _ = study.counts.group_pairs(group)
    design = study.design
    whole = [(int(durations_ns[0]), int(durations_ns[-1]))]
    if design.groups is None:
        return whole
    strata, of_strata = design.strata, design.groups.counts
    rows = np.flatnonzero(strata.group == design.groups.group_of[group])
    low, high = of_strata.duration_ns[strata.start[rows]], of_strata.duration_ns[strata.stop[rows] - 1]
    # Of a pool's strata those that have launches of this group.
    first, last = np.searchsorted(durations_ns, low), np.searchsorted(durations_ns, high, side="right") - 1
    here = first <= last
    found = zip(durations_ns[first[here]].tolist(), durations_ns[last[here]].tolist(), strict=True)
    return list(found) or whole
