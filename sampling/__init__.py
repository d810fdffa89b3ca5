"""From a profile to a plan: which kernel launches to simulate, and how wrong the answer can be.

Headless: numpy arrays and frozen dataclasses, no printing, no user interface. The names below are for
scripts; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sampling.api import MadePlan, make_plan, read_profile, write_plan
    from sampling.difference.basis import difference_between
    from sampling.difference.comparison import Difference
    from sampling.difference.recordings import ProfilePart
    from sampling.errors import SamplingError
    from sampling.estimation.configurations import (
        PlanSpeedups,
        compare_configurations,
        read_configurations,
    )
    from sampling.estimation.top_up import top_up
    from sampling.estimation.total import PlanEstimate, estimate_plan
    from sampling.methods.registry import method_names
    from sampling.plan.judge import PlanJudgement, judge_plan
    from sampling.plan.plan_file import PlanFile, read_plan
    from sampling.plan.request import PlanRequest
    from sampling.profile.profile import Profile
    from sampling.reduction.ranks import rank_times
    from sampling.reduction.region import Region
    from sampling.simulators.export import ExportChoices
    from sampling.simulators.registry import export_plan
    from sampling.simulators.results import read_result_files

__all__ = ["Difference", "ExportChoices", "MadePlan", "PlanEstimate", "PlanFile", "PlanJudgement"]
__all__ += [
    "PlanRequest",
    "PlanSpeedups",
    "Profile",
    "ProfilePart",
    "Region",
    "SamplingError",
    "difference_between",
]
__all__ += ["estimate_plan", "export_plan", "judge_plan", "make_plan", "method_names", "rank_times"]
__all__ += ["compare_configurations", "difference_between", "read_configurations"]
__all__ += ["read_plan", "read_profile", "read_result_files", "top_up", "write_plan"]

_NAMES = {
    "api": ("MadePlan", "make_plan", "read_profile", "write_plan"),
    "difference.basis": ("difference_between",),
    "difference.comparison": ("Difference",),
    "difference.recordings": ("ProfilePart",),
    "errors": ("SamplingError",),
    "estimation.configurations": ("PlanSpeedups", "compare_configurations", "read_configurations"),
    "estimation.top_up": ("top_up",),
    "estimation.total": ("PlanEstimate", "estimate_plan"),
    "methods.registry": ("method_names",),
    "plan.judge": ("PlanJudgement", "judge_plan"),
    "plan.plan_file": ("PlanFile", "read_plan"),
    "plan.request": ("PlanRequest",),
    "profile.profile": ("Profile",),
    "reduction.ranks": ("rank_times",),
    "reduction.region": ("Region",),
    "simulators.export": ("ExportChoices",),
    "simulators.registry": ("export_plan",),
    "simulators.results": ("read_result_files",),
}
_MODULES = {name: f"sampling.{module}" for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
