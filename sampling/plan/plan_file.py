"""The plan file: versioned JSON that exporters, `judge` and people read; its records write and read it.

The user's split decisions stand in it, or in a file of their own.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from sampling.errors import OptionError, PlanFileError
from sampling.methods.registry import draws_at_random, method_named
from sampling.parallel import Progress
from sampling.profile.identity import SequenceFingerprint
from sampling.profile.profile import Profile
from sampling.readers.columns import column_map
from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import LeftOut, Region, written_region
from sampling.splitting.tree import Overrides, Verdict
from sampling.strata.target import MOST_LAUNCHES, Target
from sampling.text import Wording, json_rows_text, json_text

if TYPE_CHECKING:
    import pandas as pd

#: The name of a plan in the folder that hands it to a simulator.
IN_FOLDER = "plan.json"
_REMEDY = "give a plan that `kernelpoint sample -o` of this version wrote"

# Durations are added up as 64-bit integers, launches and weights as doubles that count exactly.
_MOST_NS = 2**62
_Index = Annotated[int, Meta(ge=0, le=MOST_LAUNCHES)]
_Count = Annotated[int, Meta(ge=1, le=MOST_LAUNCHES)]
_Nanoseconds = Annotated[int, Meta(ge=0, le=_MOST_NS)]
_MeanNanoseconds = Annotated[float, Meta(ge=0, le=float(_MOST_NS))]
_Weight = Annotated[float, Meta(ge=0, le=float(_MOST_NS))]
_Label = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Axis = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Dimensions = tuple[_Axis, _Axis, _Axis] | None


class PlannedLaunch(Struct, frozen=True):
    """A drawn launch; it stands for ``weight`` launches of its stratum."""

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


class PlannedStratum(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stratum, the launches of a group (``pooled``: of several) that last ``low_ns`` to ``high_ns``."""

    key: str
    size: _Index
    mean_ns: _MeanNanoseconds
    std_ns: _MeanNanoseconds
    low_ns: _Nanoseconds
    high_ns: _Nanoseconds
    samples: _Index
    pooled: bool = False
    launches: tuple[PlannedLaunch, ...]


class PlannedFile(Struct, frozen=True):
    """A file of the profile."""

    path: str
    sha256: str
    launches: _Index


class PlannedProfile(Struct, frozen=True, kw_only=True):
    """What the plan was made from: the launches it stands for, and all sequences of the whole profile."""

    files: tuple[PlannedFile, ...]
    launches: _Index
    total_duration_ns: _Nanoseconds
    #: What the region's least duration leaves out.
    left_out: LeftOut | UnsetType = UNSET
    sequences: tuple[SequenceFingerprint, ...]


class PlanOptions(Struct, frozen=True, kw_only=True):
    """All that must be known to make a plan again; some only where it was asked for, or by some methods."""

    method: str
    epsilon: float
    confidence: float
    group_epsilon: float | UnsetType | None = UNSET
    min_samples: _Count | UnsetType = UNSET
    noise_floor: float | UnsetType = UNSET
    kernel_spread: float | UnsetType = UNSET
    pool: bool | UnsetType = UNSET
    set: tuple[str, ...]
    features: tuple[str, ...]
    cost: str | UnsetType = UNSET
    seed: int
    group_by: GroupBy
    pool_devices: bool
    #: Whether processes and devices were kept apart although all issue the same launches.
    each_rank: bool | UnsetType = UNSET
    #: Numbers, and windows of them as A:B.
    device: tuple[_Label | str, ...]
    process: tuple[_Label | str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    launches: str | None
    time: str | None
    range: str | None
    min_duration: _Count | UnsetType = UNSET
    columns: str | UnsetType = UNSET
    rank_regex: str | UnsetType = UNSET
    partial: bool | UnsetType = UNSET
    keep_overlong: bool | UnsetType = UNSET

    @property
    def target(self) -> Target:
        """What was asked of the plan; what is not recorded is as `Target` has it."""
        of_some = ("group_epsilon", "min_samples", "noise_floor", "kernel_spread", "pool")
        given = {name: getattr(self, name) for name in of_some if getattr(self, name) is not UNSET}
        return Target(self.epsilon, self.confidence, **given)

    @property
    def grouping(self) -> Grouping:
        """The kernel groups."""
        return Grouping(self.group_by, self.pool_devices)

    @property
    def region(self) -> Region:
        """The filters."""
        return written_region(
            device=tuple(map(str, self.device)),
            process=tuple(map(str, self.process)),
            include=self.include,
            exclude=self.exclude,
            launches=self.launches,
            time=self.time,
            named_range=self.range,
            min_duration=None if self.min_duration is UNSET else self.min_duration,
        )

    @property
    def read_options(self) -> ReadOptions:
        """How the profile was read."""
        return ReadOptions(
            columns=None if self.columns is UNSET else column_map(self.columns),
            rank_regex=None if self.rank_regex is UNSET else self.rank_regex,
            partial=self.partial is True,
            keep_overlong=self.keep_overlong is True,
        )

    def read(self, paths: Sequence[str], progress: Progress | None = None) -> Profile:
        """Read the profile as it was read for the plan; raises as `read_profile`."""
        return read_profile(paths, progress, self.read_options, needs_table=False)


class Override(Struct, frozen=True):
    """A split decision of the user's."""

    key: str
    path: str
    decision: Verdict


class ToppedUp(Struct, frozen=True):
    """How often the plan was topped up, and the half-width that the total was to reach, as a fraction."""

    rounds: _Count
    target: Annotated[float, Meta(gt=0, lt=1)]


class PlanFile(Struct, frozen=True, kw_only=True):
    """A whole plan file."""

    schema: Literal[1] = 1
    kind: Literal["plan"] = "plan"
    profile: PlannedProfile
    options: PlanOptions
    findings: tuple[dict[str, str], ...]
    strata: tuple[PlannedStratum, ...]
    overrides: tuple[Override, ...]
    #: The ids of launches that were simulated before the plan was topped up.
    simulated: tuple[_Index, ...] = ()
    topped_up: ToppedUp | None = None
    #: Where it was read, and the processes and devices of the whole plan where `to_simulate` left some out;
    #: these two are not written.
    path: str = ""
    places: frozenset[tuple[int, int]] = frozenset()

    @property
    def launches(self) -> int:
        """How many launches it stands for."""
        return self.profile.launches

    @property
    def total_duration_ns(self) -> int:
        """The time of the launches it stands for."""
        return self.profile.total_duration_ns

    @property
    def topped_up_to(self) -> float | None:
        """The half-width that the total was to reach when topped up, as a fraction; None: it never was."""
        return None if self.topped_up is None else self.topped_up.target

    @property
    def drawn(self) -> tuple[PlannedLaunch, ...]:
        """All drawn launches, in id order."""
        launches = (launch for stratum in self.strata for launch in stratum.launches)
        return tuple(sorted(launches, key=lambda launch: launch.id))

    @property
    def is_random(self) -> bool:
        """Whether its launches were drawn at random, so that intervals follow from them."""
        return draws_at_random(self.options.method, self.options.set)

    def text(self) -> str:
        """Return the text of its file: a line a stratum, as there may be hundreds of thousands."""
        unwritten = {"path", "places", *(() if self.simulated else ("simulated",))}
        unwritten |= set() if self.topped_up else {"topped_up"}
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name not in unwritten}
        # One stratum after the other: all of them take much more room as dictionaries.
        document = {
            name: map(msgspec.to_builtins, value) if name == "strata" else msgspec.to_builtins(value)
            for name, value in fields.items()
        }
        return json_rows_text(document) + "\n"

    def to_simulate(self) -> PlanFile:
        """Return the plan without the launches that were simulated already."""
        if not self.simulated:
            return self
        done, places = set(self.simulated), frozenset((each.process, each.device) for each in self.drawn)
        strata = tuple(
            replace(stratum, launches=tuple(launch for launch in stratum.launches if launch.id not in done))
            for stratum in self.strata
        )
        return replace(self, strata=strata, places=places)

    def to_pandas(self) -> pd.DataFrame:
        """Return the drawn launches as a table, with the number and the ``key`` of their ``stratum``."""
        import pandas as pd

        rows = (
            {"stratum": number, "key": stratum.key, "of": stratum.size, **msgspec.to_builtins(launch)}
            for number, stratum in enumerate(self.strata)
            for launch in stratum.launches
        )
        return pd.DataFrame(list(rows)).set_index("id")


def read_json_object(path: str) -> dict[str, Any]:
    """Return the JSON object of a plan or overrides file; "-" is standard input.

    Raises PlanFileError: it cannot be read, or is no JSON object.
    """
    try:
        document = json.loads(sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        raise PlanFileError(message, path=path, remedy="check the path") from error
    except (ValueError, RecursionError) as error:
        raise PlanFileError(f"not a JSON object ({error})", path=path, remedy=_REMEDY) from error
    if not isinstance(document, dict):
        raise PlanFileError("not a JSON object", path=path, remedy=_REMEDY)
    return document


def read_plan(path: str) -> PlanFile:
    """Read a plan file, or that of a folder which `export` or `run` wrote.

    Raises PlanFileError: it cannot be read, is not a plan, or not a whole one.
    """
    # A name may be too long for the system, which is said below.
    with suppress(OSError):
        path = str(Path(path) / IN_FOLDER) if (Path(path) / IN_FOLDER).is_file() else str(path)
    document = read_json_object(path) | {"path": path, "places": ()}
    plan = _converted(document, PlanFile, "a plan file", path, _REMEDY)
    try:
        # What options mean is wrong or right here, before anything else is read.
        asked = plan.options
        _ = method_named(asked.method), asked.target, asked.region, asked.read_options
    except OptionError as error:
        raise PlanFileError(Wording("a plan with bad options ({})", error.text), path=path) from error
    wrong = _what_does_not_add_up(plan)
    if wrong is not None:
        raise PlanFileError(f"a plan file that is not whole: {wrong}", path=path, remedy=_REMEDY)
    return plan


def _what_does_not_add_up(plan: PlanFile) -> str | None:
    """Return what is wrong with the strata, if anything.

    Picks need not stand for every launch, and their weights may count instructions or iterations.
    """
    held, is_random = sum(stratum.size for stratum in plan.strata), plan.is_random
    if not plan.strata or held > plan.launches or (is_random and held != plan.launches):
        return f"its strata do not hold its {plan.launches:,} launches"
    if len({(stratum.key, stratum.low_ns) for stratum in plan.strata}) != len(plan.strata):
        return "one of its strata stands there twice"
    for number, stratum in enumerate(plan.strata, start=1):
        weights = [launch.weight for launch in stratum.launches]
        adds_up = not is_random or math.isclose(sum(weights), stratum.size, rel_tol=1e-6)
        if not (1 <= stratum.samples <= stratum.size and weights and min(weights) > 0 and adds_up):
            return f"the launches of stratum {number} do not stand for its {stratum.size:,}"
    return None


Record = TypeVar("Record", bound=Struct)


def _converted(document: dict[str, Any], kind: type[Record], what: str, path: str, remedy: str) -> Record:
    """Return a JSON document as its record; the error names the first value that is missing or wrong."""
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        message = f"{what} that lacks or garbles a value: {error}"
        raise PlanFileError(message, path=path, remedy=remedy) from error


class SplitDecisions(NamedTuple):
    """Split decisions that were read; ``method`` is that in whose trees they were made, where it is known."""

    overrides: Overrides
    method: str | None


class _OfMethod(Struct, frozen=True):
    method: str | None = None


class _OverridesFile(_OfMethod, frozen=True, kw_only=True):
    """An overrides file, or what a plan file has of one."""

    overrides: tuple[Override, ...]
    options: _OfMethod = _OfMethod()


def override_records(overrides: Overrides) -> tuple[Override, ...]:
    """Return split decisions as files list them."""
    return tuple(
        Override(key, path, verdict)
        for key, decisions in overrides.items()
        for path, verdict in decisions.items()
    )


def overrides_text(overrides: Overrides, method: str) -> str:
    """Return the text of a file of split decisions in the trees of a method."""
    rows = msgspec.to_builtins(override_records(overrides))
    return json_text({"method": method, "overrides": rows}) + "\n"


def read_overrides(path: str) -> SplitDecisions:
    """Read the user's split decisions from an overrides file or a plan file.

    Raises PlanFileError: it cannot be read, or an entry lacks key, path or a decision of "split" or "keep".
    """
    remedy = 'write {"overrides": [{"key", "path", "decision"}]}'
    read = _converted(read_json_object(path), _OverridesFile, "a list of overrides", path, remedy)
    overrides: dict[str, dict[str, Verdict]] = {}
    for row in read.overrides:
        overrides.setdefault(row.key, {})[row.path] = row.decision
    return SplitDecisions(overrides, read.method or read.options.method)
