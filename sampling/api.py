"""What a script calls: a profile in, a plan out, written and judged."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from sampling.plan.draft import Draft, draft_plan
from sampling.plan.plan import Plan, drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import read_overrides
from sampling.plan.request import PlanRequest
from sampling.profile.profile import Profile
from sampling.readers import registry
from sampling.readers.columns import column_map
from sampling.readers.input_file import ReadOptions


@dataclass(frozen=True)
class MadePlan:
    """A plan for a profile, and the draft of the profile that it came from."""

    #: The kernel groups, the findings and the design, with its bounds.
    draft: Draft
    #: The launches that were drawn, with their weights and the total that they estimate.
    plan: Plan

    @property
    def launches(self) -> int:
        """How many launches the plan stands for."""
        return self.draft.counts.launches

    @property
    def samples(self) -> int:
        """How many launches are to be simulated."""
        return self.plan.samples

    @property
    def speedup(self) -> float | None:
        """Duration of all launches over that of the samples; None where that is 0."""
        return self.plan.speedup

    @property
    def bound(self) -> float | None:
        """The bound on the relative error of the estimated total; None for a method that draws nothing."""
        return self.plan.design.bounds.bound


def read_profile(
    *paths: str | PathLike[str],
    columns: str | None = None,
    cache: bool = False,
    scheduler: str | None = None,
    rank_regex: str | None = None,
    partial: bool = False,
    keep_overlong: bool = False,
    profile_cycles: bool = False,
) -> Profile:
    """Read a profile; several files, or those of a folder, are one workload, kept apart as processes.

    Raises ProfileError: a file is missing, damaged, of no known format, or not a profile. OptionError: the
    columns do not parse, or no file is a table.

    Parameters
    ----------
    columns : which columns of a CSV or Parquet table hold what: ``name=Kernel,duration_ns=Dur:us``.
    cache : whether what is read of large files is kept in the user's cache folder, and looked for there.
    scheduler : the address of a Dask scheduler, whose workers read the files and look at their launches.
    rank_regex : where the paths of several files tell their ranks, which its first group finds.
    partial : whether of a file that is cut short what is whole is read.
    keep_overlong : whether launches that cannot last as long as recorded keep their durations.
    profile_cycles : whether of a page of Nsight Compute cycles are the durations, also where it has times.
    """
    named = None if columns is None else column_map(columns)
    options = ReadOptions(named, rank_regex, partial, keep_overlong, profile_cycles)
    names = [fspath(path) for path in paths]
    return registry.read_profile(names, options=options, cache=cache, scheduler=scheduler)


def make_plan(profile: Profile, request: PlanRequest | None = None) -> MadePlan:
    """Choose the launches of a profile that are to be simulated.

    ``request`` is all that is asked of the plan, see `PlanRequest`; None: its defaults. Processes and devices
    that all issue the same launches are planned as one. What a request says of how a profile is read has no
    effect on one that is read already.

    Raises OptionError: there is no such method or setting, or a filter means nothing. EmptySelectionError:
    the filters leave no launch. NotApplicableError: the profile lacks what the method or a filter needs.
    """
    request = request or PlanRequest()
    overrides = None if request.overrides is None else read_overrides(request.overrides).overrides
    draft = draft_plan(profile, request, overrides)
    return MadePlan(draft, drawn_plan(draft.counts, draft.design, request.seed))


def write_plan(plan: MadePlan, path: str | PathLike[str]) -> None:
    """Write a plan file, as `kernelpoint sample -o` does.

    Raises ProfileError: a file of the profile was written again since it was read.
    """
    launches = find_planned_launches(plan.draft, plan.plan)
    # The text is complete before the file is opened: what fails leaves no half of a plan.
    text = plan_document(plan.draft, plan.plan, launches).text()
    Path(path).write_text(text, encoding="utf-8")
