"""What a plan promises, in words: how far off the simulated total may be, and what that assumes."""

from __future__ import annotations

from typing import Any

from sampling.plan.design import Design
from sampling.plan.picked_design import AnyDesign
from sampling.plan.plan import Plan
from sampling.plan.study import Study
from sampling.text import counted
from tui.charts import quantities
from tui.text.tones import Tone

PICKED = "nothing: the launches are not drawn at random"


def verdict(design: AnyDesign) -> tuple[str, Tone]:
    """Return whether the plan's promise is within the epsilon asked for, in a word, and the word's tone."""
    bound = design.bound if design.bound_with_noise is None else design.bound_with_noise
    if bound is None:
        return "no bound", Tone.WARNING
    return ("met", Tone.GOOD) if bound <= design.target.epsilon else ("not met", Tone.BAD)


def sure_words(confidence: float) -> str:
    """Return a confidence as people say it."""
    return f"{100 * confidence:.4g} % sure"


def simulate_sentence(design: AnyDesign, launches: int, total_ns: int, plan: Plan | None = None) -> str:
    """Return what is simulated, and how much less than the whole run that is.

    Parameters
    ----------
    launches, total_ns : of the whole run.
    plan : drawn by the design; without one the sentence says what is expected.
    """
    drawn, sampled_ns, speedup = (
        (design.samples, design.sampled_duration_ns, design.speedup)
        if plan is None
        else (plan.samples, plan.sampled_duration_ns, plan.speedup)
    )
    if drawn == launches:
        return f"Simulate all of {counted(launches, 'launch', 'launches')}: none stands for another."
    chosen = f"Simulate {quantities.count(drawn)} of {counted(launches, 'launch', 'launches')}"
    time = f"({quantities.duration(sampled_ns)} of {quantities.duration(total_ns)})"
    return f"{chosen}: {quantities.ratio(speedup)} less GPU time {time}." if speedup else f"{chosen} {time}."


def known_sentence(design: AnyDesign) -> str:
    """Return how well the whole run is known then, what that assumes, and whether it was asked for."""
    if not design.random:
        return "How far off the whole run may then be is not known: these launches are not drawn at random."
    target = design.target
    sure = sure_words(target.confidence)
    if design.bound_with_noise is None:
        return (
            f"The profile's own total is then known within {quantities.share(design.bound or 0.0)} ({sure}); "
            "nothing was declared of how simulated cycles vary."
        )
    asked = ""
    if design.bound_with_noise > target.epsilon:
        asked = f", more than the {100 * target.epsilon:.4g} % asked for"
    within = f"within {quantities.share(design.bound_with_noise)} ({sure}){asked}"
    assumed = f"cycles per ns differ by at most {100 * target.noise_floor:.4g} % within a stratum"
    if target.kernel_spread:
        assumed += f" and {100 * target.kernel_spread:.4g} % between kernels"
    return f"The whole run's cycles are then known {within}, if {assumed}; `estimate` checks that."


def promise_words(design: AnyDesign) -> str:
    """Return the promise, with its bound, its confidence and what is assumed of the simulator."""
    if not design.random:
        return PICKED
    confidence = quantities.share(design.target.confidence)
    if design.bound_with_noise is None:
        bound = quantities.share(design.bound or 0.0)
        return f"the profile's own total within {bound} at confidence {confidence}; the simulated one is open"
    within = f"the simulated total within {quantities.share(design.bound_with_noise)}"
    return f"{within} at confidence {confidence}, if {assumed_words(design)}"


def assumed_words(design: AnyDesign) -> str:
    """Return how cycles per nanosecond are declared to vary."""
    target = design.target
    words = f"cycles per ns vary by at most {quantities.share(target.noise_floor)} within a stratum"
    if target.kernel_spread:
        words += f" and {quantities.share(target.kernel_spread)} between kernels"
    return words


def pooled_row(study: Study) -> dict[str, Any]:
    """Return how many kernel groups are pooled, and their share of the time, as the contract has it."""
    of = study.groups
    return {"groups": int(of.pooled.sum()), "share": float(of.share[of.pooled].sum())}


def pooled_words(study: Study) -> str | None:
    """Return what is pooled; None where nothing is."""
    row, design = pooled_row(study), study.design
    if not row["groups"]:
        return None
    words = (
        f"{row['groups']} of {counted(len(study.counts.groups), 'kernel group', 'kernel groups')} pooled, "
        f"{quantities.share(row['share'])} of the time"
    )
    if isinstance(design, Design) and design.groups is not None:
        strata = design.groups.is_pool[design.strata.group]
        words += f", in {counted(int(strata.sum()), 'stratum', 'strata')}"
    return f"{words}: they have no bound of their own"


def interval_lines(design: AnyDesign) -> list[str]:
    """Return how far the interval from simulated values is expected to reach."""
    if not design.expected_half_width:
        return []
    reach = quantities.share(design.expected_half_width)
    return [f"the interval of the simulated total is expected to be {reach}"]
