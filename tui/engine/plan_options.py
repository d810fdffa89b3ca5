"""The options that made a plan, as its file records them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sampling.errors import OptionError, PlanFileError
from sampling.methods.registry import method_named
from sampling.plan.plan_file import PlanFile
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.target import Target
from tui.engine.studies import region_of
from tui.options.commands import RegionOptions, SampleOptions


def plan_options(options: SampleOptions, grouping: Grouping, target: Target) -> dict[str, Any]:
    """Return what must be known to make the plan again; the grouping as it was, never `published`.

    Parameters
    ----------
    target : as the plan's design has it, which says how it draws.
    """
    region = region_of(options)
    return {
        "method": options.method,
        "epsilon": options.epsilon,
        "confidence": options.confidence,
        "with_replacement": target.with_replacement,
        **_of_some_methods(options, target),
        "set": list(options.set),
        "features": list(options.features),
        "seed": options.seed,
        "group_by": grouping.by.value,
        "pool_devices": grouping.pool_devices,
        "device": list(region.devices),
        "process": list(region.processes),
        "include": list(region.include),
        "exclude": list(region.exclude),
        "launches": options.launches,
        "time": options.time,
        "range": options.range,
    }


def _of_some_methods(options: SampleOptions, target: Target) -> dict[str, Any]:
    """Return what only some methods are asked, as it was understood; nothing for other methods."""
    fields = method_named(options.method).target_fields
    return {name: value for name, value in asdict(target).items() if name in fields}


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
                time=_text(options, "time"),
                range=_text(options, "range"),
            )
        )
        return Grouping(GroupBy(options["group_by"]), bool(options["pool_devices"])), region
    except (KeyError, TypeError, ValueError, AttributeError, OptionError) as error:
        raise PlanFileError(
            f"a plan whose options lack or garble {error}", path=plan.path, remedy="make the plan again"
        ) from error


def _text(options: Mapping[str, Any], name: str) -> str | None:
    """Return an option that a plan made before there was such an option has not."""
    value = options.get(name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name}: {value!r}")
    return value
