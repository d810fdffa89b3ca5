"""From a profile to a plan: which kernel launches to simulate, and how wrong the answer can be.

Headless: numpy arrays and frozen dataclasses, no printing, no user interface. The names below are for
scripts; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sampling.api import MadePlan, make_plan, read_profile, write_plan
    from sampling.difference import Difference, ProfilePart, difference_between
    from sampling.errors import SamplingError
    from sampling.estimation.top_up import top_up
    from sampling.estimation.total import PlanEstimate, estimate_plan
    from sampling.methods.registry import method_names
    from sampling.plan.judge import PlanJudgement, judge_plan
    from sampling.plan.plan_file import PlanFile, read_plan
    from sampling.profile.profile import Profile
    from sampling.reduction.region import Region
    from sampling.simulators.export import ExportChoices
    from sampling.simulators.registry import export_plan
    from sampling.simulators.results import read_result_files

__all__ = [
    "Difference",
    "ExportChoices",
    "MadePlan",
    "PlanEstimate",
    "PlanFile",
    "PlanJudgement",
    "Profile",
    "ProfilePart",
    "Region",
    "SamplingError",
    "difference_between",
    "estimate_plan",
    "export_plan",
    "judge_plan",
    "make_plan",
    "method_names",
    "read_plan",
    "read_profile",
    "read_result_files",
    "top_up",
    "write_plan",
]

_MODULES = {
    "Difference": "sampling.difference",
    "ExportChoices": "sampling.simulators.export",
    "MadePlan": "sampling.api",
    "PlanFile": "sampling.plan.plan_file",
    "PlanJudgement": "sampling.plan.judge",
    "Profile": "sampling.profile.profile",
    "ProfilePart": "sampling.difference",
    "Region": "sampling.reduction.region",
    "SamplingError": "sampling.errors",
    "PlanEstimate": "sampling.estimation.total",
    "difference_between": "sampling.difference",
    "estimate_plan": "sampling.estimation.total",
    "export_plan": "sampling.simulators.registry",
    "judge_plan": "sampling.plan.judge",
    "make_plan": "sampling.api",
    "method_names": "sampling.methods.registry",
    "read_plan": "sampling.plan.plan_file",
    "read_profile": "sampling.api",
    "read_result_files": "sampling.simulators.results",
    "top_up": "sampling.estimation.top_up",
    "write_plan": "sampling.api",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
