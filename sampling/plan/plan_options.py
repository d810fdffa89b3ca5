"""The options that made a plan: as its file records them, and read back from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sampling.errors import OptionError, PlanFileError
from sampling.methods.method import DECLARED
from sampling.methods.registry import draws_at_random, method_named
from sampling.readers.columns import ColumnMap, column_map
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region, as_given, written_region
from sampling.strata.target import Target
from sampling.text import Wording

#: What only the plans of some methods record.
_OF_SOME_METHODS = (
    "group_epsilon",
    "min_samples",
    "noise_floor",
    "kernel_spread",
    "pool",
)
_REMEDY = "make the plan again"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """All that must be known to make a plan again.

    Attributes
    ----------
    grouping : the key that was used, never `published`.
    settings : options of single methods, ``METHOD.NAME=VALUE``.
    features : files with metrics of the launches, as they were named.
    cost : the metric that the plan was made by in place of time; None: time.
    launches, time : the region's windows as they were written; None: in their plain form.
    columns : which columns of the profile's tables hold what, as the user said it; None where nobody did.
    """

    method: str
    target: Target
    grouping: Grouping
    region: Region
    seed: int = 0
    settings: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    cost: str | None = None
    launches: str | None = None
    time: str | None = None
    columns: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the options as a plan file has them."""
        target, region = self.target, self.region
        return {
            "method": self.method,
            "epsilon": target.epsilon,
            "confidence": target.confidence,
            **self._of_some_methods(),
            "set": list(self.settings),
            "features": list(self.features),
            **({} if self.cost is None else {"cost": self.cost}),
            "seed": self.seed,
            "group_by": self.grouping.by.value,
            "pool_devices": self.grouping.pool_devices,
            "device": list(region.devices),
            "process": list(region.processes),
            "include": list(region.include),
            "exclude": list(region.exclude),
            "launches": self.launches or _written(region.launches),
            "time": self.time or _written(region.time_ns),
            "range": region.named_range,
            **({} if region.min_duration_ns is None else {"min_duration": region.min_duration_ns}),
            **({} if self.columns is None else {"columns": self.columns}),
        }

    def _of_some_methods(self) -> dict[str, Any]:
        """Return what only some methods are asked; nothing for other methods."""
        method = method_named(self.method)
        declared = DECLARED if draws_at_random(self.method, self.settings) else ()
        asked = {*method.target_fields, *declared}
        return {name: value for name, value in asdict(self.target).items() if name in asked}


def _written(bounds: tuple[int | None, int | None] | None) -> str | None:
    return None if bounds is None else as_given(bounds)


def recorded_selection(options: Mapping[str, Any], path: str) -> tuple[Grouping, Region]:
    """Return the grouping and the region of a plan from its recorded options.

    Parameters
    ----------
    path : of the plan file, for the error.

    Raises
    ------
    PlanFileError : an option is missing, or means nothing; its type was checked as the file was read.
    """
    try:
        region = written_region(
            device=tuple(map(str, options["device"])),
            process=tuple(map(str, options["process"])),
            include=tuple(options["include"]),
            exclude=tuple(options["exclude"]),
            launches=options["launches"],
            time=options.get("time"),
            named_range=options.get("range"),
            min_duration=options.get("min_duration"),
        )
        return Grouping(GroupBy(options["group_by"]), bool(options["pool_devices"])), region
    except (KeyError, TypeError, ValueError, AttributeError, OptionError) as error:
        what = error.text if isinstance(error, OptionError) else error
        raise PlanFileError(
            Wording("a plan whose options lack or garble {}", what), path=path, remedy=_REMEDY
        ) from error


def recorded_columns(options: Mapping[str, Any], path: str) -> ColumnMap | None:
    """Return which columns of the profile's tables hold what; None where the plan does not record any.

    Parameters
    ----------
    path : of the plan file, for the error.

    Raises
    ------
    PlanFileError : they do not parse.
    """
    text = options.get("columns")
    try:
        return None if text is None else column_map(text)
    except OptionError as error:
        raise PlanFileError(Wording("a plan with bad options ({})", error.text), path=path) from error


def recorded_target(options: Mapping[str, Any], path: str) -> Target:
    """Return what was asked of a plan, from its recorded options.

    Parameters
    ----------
    path : of the plan file, for the error.

    Raises
    ------
    PlanFileError : an option is out of its range; its type was checked as the file was read.
    """
    try:
        of_some = {name: options[name] for name in _OF_SOME_METHODS if name in options}
        return Target(options["epsilon"], options["confidence"], **of_some)
    except OptionError as error:
        raise PlanFileError(Wording("a plan with bad options ({})", error.text), path=path) from error
