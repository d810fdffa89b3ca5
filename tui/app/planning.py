"""From options to a draft and back to a command line: no widget, no stream."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from errno import EACCES
from itertools import chain, count
from pathlib import Path

from sampling.errors import OptionError, OverrideError, PlanFileError, SamplingError
from sampling.parallel import Progress
from sampling.plan.draft import Draft, draft_plan, redraft
from sampling.plan.plan_file import overrides_text, read_overrides
from sampling.plan.sensitivity import SimulationHours
from sampling.profile.profile import Profile
from sampling.splitting.tree import Overrides
from tui.app.state import Session, decisions, same_overrides
from tui.engine.drafts import open_profile, with_flags_in_findings, workload_request
from tui.engine.plan_files import plan_notes, profile_check
from tui.engine.planning import estimate_hours, parse_budget
from tui.options.choices import ColorMode, OutputFormat
from tui.options.command_line import error_text
from tui.options.files import other_folders, why_not_written
from tui.options.plan import SampleOptions
from tui.options.simulate import SpeedupOptions
from tui.output.files import write_text

_DIGITS = 8

# A draft.


def draft_of(
    before: Session | None, wanted: Session, progress: Progress
) -> Iterator[tuple[Draft, SimulationHours | None, tuple[str, ...]]]:
    """Yield the draft that a session asks for, its hours, and what to note of its plan beside a file's.

    Raises SamplingError, OSError: the workload cannot be read, or cannot be planned so.
    """
    notes: tuple[str, ...] = ()
    draft_before = None if before is None else before.draft
    try:
        if before is None or draft_before is None:
            draft = load_draft(wanted.options, wanted.overrides, progress, profile_check(wanted.plan))
            notes = () if wanted.plan is None else plan_notes(wanted.plan, draft)
        else:
            draft = plan_again(draft_before, wanted.options, wanted.overrides, progress)
        hours = estimate_hours(wanted.options, draft)
    except OverrideError as error:
        if draft_before is None:
            raise
        raise decision_error(error, wanted.overrides) from error
    yield draft, hours, notes


def load_draft(
    options: SampleOptions,
    overrides: Overrides,
    progress: Progress,
    check: Callable[[Profile], None] | None = None,
) -> Draft:
    """Read the workload and design the plan; `check` refuses a profile that is not the one meant."""
    parse_budget(options)
    # Report wrong options before a long reading.
    request = workload_request(options.request, options.profiles, overrides)
    profile = open_profile(options.profiles, options, progress, quiet=True)
    if check is not None:
        check(profile)
    return _ready(draft_plan(profile, request, overrides, progress))


def plan_again(draft: Draft, options: SampleOptions, overrides: Overrides, progress: Progress) -> Draft:
    """Design another plan than that of `draft`.

    The launches are counted again only if others, or other groups, are asked for.
    """
    request = workload_request(options.request, options.profiles, overrides)
    before = draft.request
    if (request.region, request.grouping) == (before.region, before.grouping):
        return _ready(redraft(draft, request, overrides, progress))
    return _ready(draft_plan(draft.profile, request, overrides, progress))


def _ready(draft: Draft) -> Draft:
    worded = with_flags_in_findings(draft)
    # Computed on first use; done here so that the screen need not wait for it.
    _ = worded.look.groups
    return worded


def failure_words(error: SamplingError | OSError) -> str:
    """Return why nothing was written or found, with the file that the system names."""
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return error_text(error)


def decision_error(error: SamplingError, overrides: Overrides) -> SamplingError:
    """Return an error of the user's decisions in few enough words for a line, others as they are."""
    if not isinstance(error, OverrideError):
        return error
    remedy = f"[u] in Split tree takes {'it' if decisions(overrides) == 1 else 'them'} back"
    if error.group is None or error.path is None:
        return OptionError(error.in_short, remedy=remedy)
    node = f"{error.path or 'root'} in #{error.group + 1}"
    return OptionError(f"your decision on {node} fits no node with these options", remedy=remedy)


# A command line, and a file for the split decisions.


def printed_options(session: Session) -> SampleOptions:
    """Return the session's options for a command that prints what a screen shows: text, on stdout."""
    options = session.options
    # Copied text has no colour; a terminal gets its own from `auto`.
    color = ColorMode.AUTO if options.color is ColorMode.ALWAYS else options.color
    is_ascii = options.ascii or session.ascii_only
    return replace(options, format=OutputFormat.TABLE, output=None, color=color, ascii=is_ascii)


def printed_speedups(session: Session, options: SpeedupOptions) -> SpeedupOptions:
    """Return the options for a command that prints, as the session's other commands do."""
    printed = printed_options(session)
    options = replace(options, ascii=printed.ascii, color=printed.color, quiet=printed.quiet)
    return options.with_request(seed=printed.request.seed)


def options_with_overrides(session: Session, folder: Path = Path()) -> SampleOptions:
    """Return the `printed_options` with the `decisions_file`, written if there is none; OSError if not."""
    options = printed_options(session)
    if not decisions(session.overrides):
        return options.with_request(overrides=None)
    path = decisions_file(session, folder)
    if not path.exists():
        if (why_not := why_not_written(path)) is not None:
            raise PermissionError(EACCES, why_not, str(path))
        write_text(overrides_text(session.overrides, session.request.method), path)
    return options.with_request(overrides=str(path))


def decisions_file(session: Session, folder: Path = Path()) -> Path:
    """Return the file that has the session's split decisions, or where there is none yet, one for them.

    It is that of the options, such as a plan that was saved; else one named after what is in it.
    """
    overrides_path = session.request.overrides
    if overrides_path is not None and _holds(Path(overrides_path), session):
        return Path(overrides_path)
    text = overrides_text(session.overrides, session.request.method)
    named = f"kernelpoint-overrides-{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"
    names = chain([f"{named}.json"], (f"{named}-{number}.json" for number in count(2)))
    # A file of that name may have been edited since, and is the user's.
    return next(
        path for path in (folder / name for name in names) if not path.exists() or _holds(path, session)
    )


def _holds(path: Path, session: Session) -> bool:
    """Return whether a file is there and has the session's decisions."""
    try:
        return path.is_file() and same_overrides(read_overrides(str(path)).overrides, session.overrides)
    except PlanFileError:
        return False


def kept_decisions(session: Session) -> str:
    """Write the split decisions where the app ends otherwise than by the user; say where they are.

    Nothing is raised: the user is to be told why the app ends, not that this failed too.
    """
    reason = ""
    for folder in (Path(), *other_folders()):
        try:
            return f"your split decisions are in {options_with_overrides(session, folder).request.overrides}"
        except OSError as error:
            reason = reason or f"{error.filename}: {error.strerror}"
        except Exception as error:
            reason = reason or str(error)
    return f"your split decisions are not written: {reason}"
