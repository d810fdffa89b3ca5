"""The options that made a plan, as its file records them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sampling.errors import OptionError, PlanFileError
from sampling.group_by import GroupBy
from sampling.grouping import Grouping
from sampling.plan_file import PlanFile
from sampling.regions import Region
from tui.engine import region_of
from tui.options import RegionOptions, SampleOptions


def plan_options(options: SampleOptions, grouping: Grouping) -> dict[str, Any]:
    """Return what must be known to make the plan again; the grouping as it was, never `published`."""
    region = region_of(options)
    return {
        "method": options.method,
        "epsilon": options.epsilon,
        "confidence": options.confidence,
        "with_replacement": options.with_replacement,
        "set": list(options.set),
        "seed": options.seed,
        "group_by": grouping.by.value,
        "pool_devices": grouping.pool_devices,
        "device": list(region.devices),
        "process": list(region.processes),
        "include": list(region.include),
        "exclude": list(region.exclude),
        "launches": options.launches,
    }


def plan_selection(plan: PlanFile) -> tuple[Grouping, Region]:
    """Return the grouping and region a plan was made with.

    Raises
    ------
    PlanFileError : its options lack one, or hold what they must not.
    """
    options: Mapping[str, Any] = plan.options
    try:
        region = region_of(
            RegionOptions(
                device=tuple(map(str, options["device"])),
                process=tuple(map(str, options["process"])),
                include=tuple(options["include"]),
                exclude=tuple(options["exclude"]),
                launches=options["launches"],
            )
        )
        return Grouping(GroupBy(options["group_by"]), bool(options["pool_devices"])), region
    except (KeyError, TypeError, ValueError, AttributeError, OptionError) as error:
        raise PlanFileError(
            f"a plan whose options lack or garble {error}", path=plan.path, remedy="make the plan again"
        ) from error
