"""What a plan file holds, field by field: one description, and one check of a whole file against it.

Imported only once a plan is being read, since it imports msgspec.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from sampling.strata.target import MOST_LAUNCHES

# Durations are added up as 64-bit integers, launches and weights as doubles that count exactly.
_MOST_NS = 2**62

_Index = Annotated[int, Meta(ge=0, le=MOST_LAUNCHES)]
_Count = Annotated[int, Meta(ge=1, le=MOST_LAUNCHES)]
_Nanoseconds = Annotated[int, Meta(ge=0, le=_MOST_NS)]
_MeanNanoseconds = Annotated[float, Meta(ge=0, le=float(_MOST_NS))]
_Weight = Annotated[float, Meta(ge=0, le=float(_MOST_NS))]
_Label = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Axis = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Digest = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
_Dimensions = tuple[_Axis, _Axis, _Axis] | None


class File(Struct):
    """A file of the profile."""

    path: str
    sha256: str
    launches: _Index | UnsetType = UNSET


class Sequence(Struct):
    """A sequence of the profile with its digest; earlier versions wrote digests of its blocks."""

    process: _Label
    device: _Label
    launches: _Count
    digest: _Digest | UnsetType = UNSET
    block_launches: _Count | UnsetType = UNSET
    digests: str | UnsetType = UNSET


class LeftOut(Struct):
    """What the least duration left out."""

    launches: _Index
    total_duration_ns: _Nanoseconds


class Profile(Struct):
    """What the plan was made from."""

    files: list[File]
    launches: _Index
    total_duration_ns: _Nanoseconds
    sequences: list[Sequence] = []
    left_out: LeftOut | UnsetType = UNSET


class Options(Struct):
    """How the plan was made; what earlier versions did not record, or only some methods have, may lack."""

    method: str
    epsilon: float
    confidence: float
    group_epsilon: float | UnsetType | None = UNSET
    min_samples: _Count | UnsetType = UNSET
    noise_floor: float | UnsetType = UNSET
    kernel_spread: float | UnsetType = UNSET
    pool: bool | UnsetType = UNSET
    set: list[str] | UnsetType = UNSET
    features: list[str] | UnsetType = UNSET
    cost: str | UnsetType = UNSET
    seed: int | UnsetType = UNSET
    group_by: str | UnsetType = UNSET
    pool_devices: bool | UnsetType = UNSET
    device: list[_Label | str] | UnsetType = UNSET
    process: list[_Label | str] | UnsetType = UNSET
    include: list[str] | UnsetType = UNSET
    exclude: list[str] | UnsetType = UNSET
    launches: str | UnsetType | None = UNSET
    time: str | UnsetType | None = UNSET
    range: str | UnsetType | None = UNSET
    min_duration: _Count | UnsetType | None = UNSET
    columns: str | UnsetType | None = UNSET


class Launch(Struct):
    """A drawn launch."""

    id: _Index
    process: _Label
    device: _Label
    ordinal: _Index
    name: str
    grid: _Dimensions
    block: _Dimensions
    occurrence: _Index
    weight: _Weight
    duration_ns: _Nanoseconds


class Stratum(Struct):
    """A stratum with the launches drawn from it."""

    key: str
    size: _Index
    mean_ns: _MeanNanoseconds
    std_ns: _MeanNanoseconds
    low_ns: _Nanoseconds
    high_ns: _Nanoseconds
    samples: _Index
    launches: list[Launch]
    pooled: bool = False


class Override(Struct):
    """A decision of the user's."""

    key: str
    path: str
    decision: Literal["split", "keep"]


class ToppedUp(Struct):
    """How often the plan was topped up, and the half-width that it was to reach, as a fraction."""

    rounds: _Count
    target: Annotated[float, Meta(gt=0, lt=1)]


class PlanDocument(Struct):
    """A whole plan file; its schema number and kind are known by then."""

    profile: Profile
    options: Options
    strata: list[Stratum]
    overrides: list[Override] | UnsetType = UNSET
    simulated: list[_Index] = []
    topped_up: ToppedUp | None = None


_PLACE = re.compile(r" - at `\$\.?(.*)`\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(\w+)`")


def checked_document(document: dict[str, Any]) -> PlanDocument:
    """Return a JSON document as a plan.

    Raises
    ------
    ValueError : it is none; names the first value that is missing or wrong by its way from the top.
    """
    try:
        return msgspec.convert(document, PlanDocument)
    except msgspec.ValidationError as error:
        text = str(error)
        found = _PLACE.search(text)
        place, what = (found[1], text[: found.start()]) if found else ("", text)
        missing = _MISSING.fullmatch(what)
        if missing:
            raise ValueError(f"{missing[1]!r}" + (f" of {place}" if place else "")) from error
        raise ValueError(f"{place}: {what[:1].lower()}{what[1:]}") from error
