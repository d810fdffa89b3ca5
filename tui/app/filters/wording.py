"""What the filters keep, in a line."""

from __future__ import annotations

from sampling.plan.study import Study
from sampling.text import counted
from tui.app.state import Session
from tui.charts import quantities
from tui.text.selection import left_out_words, part_of_study


def kept_lines(session: Session, study: Study) -> list[str]:
    """Return what the filters of the study keep, or what is being done; the longest form first."""
    if session.doing is not None:
        return [f"Applying: {session.doing}"]
    part = part_of_study(study)
    launches = counted(study.profile.launches, "launch", "launches")
    groups = counted(len(study.counts.groups), "kernel group", "kernel groups")
    if part.launches == study.profile.launches:
        return [f"Kept: all of {launches}, in {groups}", f"Kept: all of {launches}"]
    kept = f"Kept: {quantities.count(part.launches)} of {launches}"
    timed = f"{kept}, {_time(session, part.total_duration_ns)}"
    return [f"{timed}, in {groups}{left_out_words(part)}", f"{timed}, in {groups}", timed, kept]


def _time(session: Session, kept_ns: int) -> str:
    """Return the kernel time that is kept, as a share where that of the whole profile is known."""
    if not session.whole_ns:
        return f"{quantities.duration(kept_ns)} of kernel time"
    return f"{quantities.share(kept_ns / session.whole_ns)} of the time"
