"""The words of view 4: how far the comparison is, what there is to say of a method."""

from __future__ import annotations

from sampling.methods.registry import method_named, method_names
from sampling.strata.target import Target
from tui.app.compare.comparing import Ending, Findings, asked_of, is_compared_unasked
from tui.app.state import Session, decisions
from tui.charts import quantities
from tui.engine.studies import target_of
from tui.text.comparison import Row
from tui.text.facts import draws_text


def standing(findings: Findings | None, session: Session) -> str:
    """Return how far it is, and the key that goes on from there."""
    if findings is None:
        return "[r] starts"
    is_stale = findings.asked != asked_of(session)
    far = f"{len(findings.rows)} of {len(findings.methods)}"
    if findings.ending is None:
        return f"{far}, of the plan before; [r] anew" if is_stale else f"{far}, [c] cancel"
    if is_stale:
        return "of the plan before; [r] compares anew"
    if findings.ending is Ending.DONE:
        return f"{draws_text(findings.asked.repeats)} each, [r] again"
    return f"{findings.ending.value} after {far}, [r] anew"


def invitation(session: Session) -> str:
    """Return what `r` will do."""
    study = session.study
    if study is None:
        return ""
    text = (
        f"r compares {len(method_names())} methods on {quantities.count(study.counts.launches)} launches, "
        f"the plan of each drawn {asked_of(session).repeats} times"
    )
    if is_compared_unasked(study):
        return text
    return f"{text}; on so many this may take minutes, and c cancels it"


def what_to_say(findings: Findings | None, row: Row | None, session: Session) -> str:
    """Return why it failed; else what there is to say of one method."""
    if findings is not None and findings.problem is not None:
        return findings.problem
    if findings is None or row is None:
        return ""
    if not row["applicable"]:
        return str(row["reason"])
    method = method_named(row["method"])
    # How a feature file fitted is told of the methods that needed it.
    told_of = {row["method"], *([""] if method.NEEDS else [])}
    notes = [note for of, note in findings.notes if of in told_of]
    taken = decisions(session.overrides)
    if taken and row["method"] == session.options.method:
        notes.insert(0, f"here without your {quantities.counted(taken, 'split decision', 'split decisions')}")
    beyond = _beyond_root(target_of(findings.asked))
    if row["method"] == "joint" and beyond and _is_root_faster(findings, row):
        notes.insert(0, beyond)
    return "; ".join([f"{row['method']}: {method.SOURCE}", *notes])


def _is_root_faster(findings: Findings, joint: Row) -> bool:
    """Return whether root, where it is compared already, takes less time than joint."""
    root = next((row for row in findings.rows if row["method"] == "root" and row["applicable"]), joint)
    return (root["speedup"] or 0) > (joint["speedup"] or 0)


def _beyond_root(target: Target) -> str:
    """Return what joint is asked for that root is not, and by which options; it may be nothing."""
    asked = (
        (target.min_samples > 1, f"draws at least {target.min_samples} a stratum", "min-samples"),
        (target.noise_floor > 0, "allows for noise in simulation", "noise-floor"),
    )
    given = [(what, option) for is_asked, what, option in asked if is_asked]
    if not given:
        return ""
    whats, options = zip(*given, strict=True)
    return f"unlike root it {' and '.join(whats)} ({', '.join(options)})"


def figures(row: Row) -> str:
    """Return the two figures that place a method in the scatter."""
    speedup, error = quantities.ratio(row["speedup"]), quantities.share(row["error_mean"])
    return f"{row['method']} {speedup}, {error}"
