"""What keeps a plan from being fast."""

from __future__ import annotations

import numpy as np

from sampling.plan.findings.finding import Evidence, Finding, percent
from sampling.profile.names import short_name
from sampling.text import Wording, counted

_DOMINATES_FROM = 0.1
_UNLIKE_FROM = 2.0
_WORTHWHILE_SPEEDUP = 2.0


def one_launch_dominates(evidence: Evidence) -> Finding | None:
    """A launch that no plan can do without."""
    counts = evidence.counts
    total_ns = counts.total_duration_ns
    longest = int(np.argmax(counts.duration_ns))
    share = int(counts.duration_ns[longest]) / total_ns if total_ns else 0.0
    if share < _DOMINATES_FROM:
        return None
    group = int(np.searchsorted(counts.offsets, longest, side="right")) - 1
    mean_ns = counts.group_duration_ns[group] / counts.group_launches[group]
    unlike = counts.group_launches[group] > 1 and counts.duration_ns[longest] > _UNLIKE_FROM * mean_ns
    return Finding(
        "one-launch-dominates",
        "warning",
        f"one launch is {percent(share)} of the time",
        f"One launch of #{group + 1} {short_name(counts.groups[group].name)} takes {percent(share)} of the "
        f"time: no plan that simulates it whole is faster than {1 / share:.1f}x"
        + (
            ", and it is unlike the others of its group, so the bound rests on drawing it." if unlike else "."
        ),
        "sample inside that launch, or shorten it",
    )


def not_worth_sampling(evidence: Evidence) -> Finding | None:
    """A plan that leaves little out."""
    plan, counts = evidence.plan, evidence.counts
    if plan is None:
        return None
    is_slow = plan.speedup is not None and plan.speedup < _WORTHWHILE_SPEEDUP
    if is_slow and counts.launches == len(counts.groups):
        return _nothing_to_leave_out(counts.launches)
    words, sentences, remedies = [], [], []
    if is_slow:
        words.append(f"sampling gains only {plan.speedup:.2f}x")
        sentences.append(
            f"The {plan.method} plan simulates {plan.launches:,.0f} of {counts.launches:,} launches "
            f"and is only {plan.speedup:.2f}x faster than simulating them all: what it leaves out takes "
            "little time."
        )
        remedies.append(
            "simulate everything, "
            + ("accept a larger `epsilon`, " if plan.random else "")
            + "or compare other methods"
        )
    if plan.groups_whole:
        words.append(f"{counted(plan.groups_whole, 'group')} simulated whole")
        several = plan.groups_whole > 1
        groups = f"{plan.groups_whole:,} kernel group" + ("s" if several else "")
        sentences.append(
            f"{groups} ({percent(plan.share_whole)} of the time) {'are' if several else 'is'} simulated "
            f"whole: under the bounds asked for, sampling {'them' if several else 'it'} saves nothing."
        )
        looser = "a larger `group_epsilon`, or none" if plan.bounds_groups else "a larger `epsilon`"
        remedies.append(f"accept {looser}")
    if not sentences:
        return None
    remedy = Wording("; or ".join(remedies))
    return Finding("not-worth-sampling", "note", words[0], " ".join(sentences), remedy)


def _nothing_to_leave_out(launches: int) -> Finding:
    """Return the finding that every kernel group has one launch."""
    if launches == 1:
        words = "there is one launch"
        sentence, remedy = "There is one launch, so nothing can be left out.", "simulate it"
    else:
        words = "each launch is a group"
        sentence = f"Each of the {launches:,} launches is a kernel group of its own: none stands for another."
        remedy = Wording("simulate everything, group by `group_by=name`, or record more of the program")
    return Finding("not-worth-sampling", "note", words, sentence, remedy)
