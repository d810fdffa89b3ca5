"""Why a plan could not be changed, in few enough words for a pane and the line of the plan."""

from __future__ import annotations

from sampling.errors import OptionError, OverrideError, SamplingError
from sampling.splitting.groups import Overrides
from sampling.splitting.tree import Verdict
from tui.app.state import Session, decisions
from tui.engine.studies import grouping_of, region_of


def why_not_planned(error: SamplingError | OSError, before: Session, wanted: Session) -> Exception:
    """Return an error of the user's decisions in few words, others as they are.

    Parameters
    ----------
    before : of the plan that stays, with its study.
    wanted : what cannot be planned.
    """
    if not isinstance(error, OverrideError):
        return error
    if error.group is None and before.study is not None:
        counts, number = before.study.counts, decisions(wanted.overrides)
        was, grouping = counts.grouping, grouping_of(wanted.options, wanted.options.method)
        yours = "your split decision is" if number == 1 else "your split decisions are"
        if was.by != grouping.by:
            problem = f"{yours} of groups by {was.by}, not by {grouping.by}"
            return OptionError(problem, remedy=_way_back(number))
        if (was, counts.region) != (grouping, region_of(wanted.options)):
            return OptionError(f"{yours} of groups that these filters leave out", remedy=_way_back(number))
    if wanted.options.method != before.options.method:
        where = f"in the trees of {wanted.options.method}"
    elif wanted.options.epsilon != before.options.epsilon:
        where = f"at epsilon {wanted.options.epsilon:g}"
    else:
        where = "with these options"
    return in_few_words(error, wanted.overrides, where)


def in_few_words(error: SamplingError, overrides: Overrides, where: str) -> SamplingError:
    """Return an error of the user's decisions in few words, others as they are.

    Parameters
    ----------
    where : in which trees there is no such node.
    """
    if not isinstance(error, OverrideError):
        return error
    remedy = _way_back(decisions(overrides))
    if error.group is None or error.path is None:
        return OptionError(error.in_short, remedy=remedy)
    verdict = overrides.get(error.key, {}).get(error.path)
    what = {Verdict.SPLIT: "split of", Verdict.KEEP: "keeping of", None: "decision on"}[verdict]
    return OptionError(
        f"your {what} {error.path or 'root'} in #{error.group + 1} fits no node {where}", remedy=remedy
    )


def _way_back(number: int) -> str:
    """Return how this many decisions are taken back."""
    return f"[u] in Split tree takes {'it' if number == 1 else 'them'} back"
