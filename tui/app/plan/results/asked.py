"""What the user types of results, as the options of `estimate`."""

from __future__ import annotations

import glob
import shlex
from dataclasses import dataclass
from pathlib import Path

from sampling.errors import OptionError
from tui.app.overrides_file import printed_options
from tui.app.state import Session
from tui.options.command_line import PLAN_NAME
from tui.options.estimate import EstimateOptions
from tui.options.places import home_expanded, is_there
from tui.options.shared import OutputOptions
from tui.options.typed import typed_options

#: What may be typed among the other options: what has no field, and nothing that writes a file.
OTHERS = ("source", "metrics", "ratios", "partial", "confidence", "projection_error", "scale_error")


@dataclass(frozen=True, slots=True)
class Answers:
    """The fields as they are typed.

    Attributes
    ----------
    results, manifests : names of files with blanks between them, quoted and with * as in a shell.
    plan : the plan file that was simulated.
    against : results of another configuration, named as the results are.
    others : other options of `estimate`, as on its command line.
    target : a fraction; empty for none.
    """

    results: str = ""
    manifests: str = ""
    plan: str = PLAN_NAME
    against: str = ""
    others: str = ""
    target: str = ""


def options_asked(answers: Answers, session: Session) -> EstimateOptions:
    """Return the options of the command that says the same.

    Raises
    ------
    OptionError : a name is missing or cannot be read as a shell reads it, the target is no fraction, or
        another option means nothing.
    """
    plan = str(home_expanded(answers.plan.strip())) if answers.plan.strip() else ""
    results, manifests, against = map(_files, (answers.results, answers.manifests, answers.against))
    others = typed_options(EstimateOptions, answers.others, OTHERS)
    if not plan:
        raise OptionError("the name of the plan file is missing", remedy=f"name it, such as {PLAN_NAME}")
    if not results:
        raise OptionError("no file of results is named", remedy="name what the simulator wrote; esc leaves")
    if "-" in (plan, *results, *manifests, *against):
        raise OptionError("standard input (-) cannot be read here", remedy="name a file")
    given: OutputOptions = printed_options(session)
    return EstimateOptions(
        quiet=given.quiet,
        ascii=given.ascii,
        color=given.color,
        plan=plan,
        results=results,
        manifests=manifests,
        against=against,
        **others,
        target=_target(answers.target.strip()),
    )


def _files(text: str) -> tuple[str, ...]:
    """Return the names in a text, with ~ and * replaced as a shell does."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise OptionError(f"{text}: {str(error).lower()}", remedy="close the quotes") from error
    names: list[str] = []
    for word in words:
        name = str(home_expanded(word)) if word.startswith("~") else word
        # A file whose own name has such a mark is meant by it.
        found = [] if is_there(Path(name)) else sorted(glob.glob(name))  # noqa: PTH207 - takes absolute ones too
        names += found or [name]
    return tuple(names)


def _target(text: str) -> float | None:
    if not text:
        return None
    try:
        target = float(text)
    except ValueError:
        target = 0.0
    if not 0 < target < 1:
        raise OptionError(
            f"the target is to be between 0 and 1, not {text}", remedy="give a fraction, such as 0.05"
        )
    return target
