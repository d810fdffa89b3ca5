"""The plan file: versioned JSON that exporters, `judge` and people read; its records write and read it.

The user's split decisions stand in it, or in a file of their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from sampling.arrays import BoolArray, FloatArray
from sampling.errors import OptionError, PlanFileError, ProfileError
from sampling.methods.registry import draws_at_random, method_named
from sampling.parallel import Progress
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.request import PlanRequest
from sampling.profile.identity import SequenceFingerprint
from sampling.profile.names import MANGLED, is_rocm_name
from sampling.profile.profile import Profile
from sampling.readers.input_file import decoded, is_json, open_input
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping, is_pool_key, shape_text
from sampling.reduction.region import Excluded, is_among
from sampling.splitting.tree import Overrides, Verdict
from sampling.strata.target import MOST_LAUNCHES
from sampling.text import Wording, json_rows_text, json_text, shortened

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


class PlannedLaunch(Struct, frozen=True, forbid_unknown_fields=True):
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


class PlannedLayer(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A layer that was drawn whole: its iteration, its number there from 0, and its name if it has one."""

    step: _Index
    number: _Index
    launches: _Count
    name: str = ""


class PlannedStratum(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A stratum, the launches of a group (``pooled``: of several) that last ``low_ns`` to ``high_ns``.

    Where ``of_layers`` is given it is of so many layers, and those drawn are ``layers``, in id order.
    """

    key: str
    size: _Index
    mean_ns: _MeanNanoseconds
    std_ns: _MeanNanoseconds
    low_ns: _Nanoseconds
    high_ns: _Nanoseconds
    samples: _Index
    pooled: bool = False
    #: How many different name, grid and block its launches have.
    signatures: _Count = 1
    launches: tuple[PlannedLaunch, ...]
    of_layers: _Index = 0
    layers: tuple[PlannedLayer, ...] = ()

    @property
    def units(self) -> tuple[int, int, float]:
        """What is drawn at random, launches or layers: how many, how many of them drawn, their mean time."""
        size = self.of_layers or self.size
        return size, len(self.layers) or self.samples, self.size * self.mean_ns / size

    @property
    def is_mixed(self) -> bool:
        """Whether what is drawn has several signatures, by their number or as its launches show.

        Layers have the same ones each.
        """
        return not self.layers and (
            self.signatures > 1
            or len({(launch.name, launch.grid, launch.block) for launch in self.launches}) > 1
        )


class PlannedFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the profile."""

    path: str
    sha256: str
    launches: _Index


class PlannedProfile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the plan was made from: the launches it stands for, and all sequences of the whole profile."""

    files: tuple[PlannedFile, ...]
    launches: _Index
    total_duration_ns: _Nanoseconds
    #: What the region's least duration leaves out.
    left_out: Excluded | UnsetType = UNSET
    #: Whether durations are cycles of a simulator; left out where a GPU was recorded.
    in_cycles: bool | UnsetType = UNSET
    sequences: tuple[SequenceFingerprint, ...]


class Override(Struct, frozen=True):
    """A split decision of the user's."""

    key: str
    path: Annotated[str, Meta(pattern="^[LR]*$")]
    decision: Verdict


_HalfWidth = Annotated[float, Meta(gt=0, lt=1)]


class ToppedUp(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How often the plan was topped up, and the half-widths that were to be reached, as fractions."""

    rounds: _Count
    #: Of the total, and of speedups between configurations; None where none was waited for.
    target: _HalfWidth | None = None
    speedup: _HalfWidth | None = None


class PlanFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole plan file."""

    schema: Literal[1] = 1
    kind: Literal["plan"] = "plan"
    profile: PlannedProfile
    #: What the plan was asked, with what was found out about it: the kernel groups, an epsilon.
    options: PlanRequest
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
    def grouping(self) -> Grouping:
        """The kernel groups, of which it is known whether processes and devices are pooled."""
        return Grouping(self.options.group_by, self.options.pool_devices)

    @property
    def is_random(self) -> bool:
        """Whether its launches were drawn at random, so that intervals follow from them."""
        return draws_at_random(self.options.method, self.options.set)

    @property
    def is_amd(self) -> bool:
        """Whether its launches are of a GPU of AMD, as far as their names tell."""
        return any(map(is_rocm_name, {launch.name for stratum in self.strata for launch in stratum.launches}))

    @property
    def is_extensible(self) -> bool:
        """Whether more launches can be drawn of it: its strata are of durations, not layers or clusters."""
        return method_named(self.options.method).draws_at_random

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

    def read_profile(self, paths: Sequence[str], progress: Progress | None = None) -> Profile:
        """Read the profile as it was read for the plan; raises as `read_profile` of the readers."""
        return read_profile(paths, progress, self.options.read_options, needs_table=False)

    def to_simulate(self) -> PlanFile:
        """Return the plan without the launches that were simulated already."""
        if not self.simulated:
            return self
        simulated = set(self.simulated)
        places = frozenset((launch.process, launch.device) for launch in self.drawn)
        strata = tuple(
            replace(
                stratum, launches=tuple(launch for launch in stratum.launches if launch.id not in simulated)
            )
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
        with open_input(path) as file:
            # A recording may be much larger than what fits into memory.
            if file.is_directory or not is_json(file):
                message = "a folder, not a JSON object" if file.is_directory else "not a JSON object"
                raise PlanFileError(message, path=path, remedy=_REMEDY)
            with file.open() as stream:
                document = decoded(partial(json.loads, object_pairs_hook=_object), stream.read())
    except ValueError as error:
        raise PlanFileError(f"not a JSON object ({error})", path=path, remedy=_REMEDY) from error
    except ProfileError as error:
        raise PlanFileError(error.reason, path=path, remedy=error.remedy) from error
    if not isinstance(document, dict):
        raise PlanFileError("not a JSON object", path=path, remedy=_REMEDY)
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; ValueError where it has a key twice, of which JSON takes the last."""
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in values if keys.count(key) > 1)!r} stands twice in one object")
    return values


# Options of plans with which simulators' runs were recorded; estimating does not depend on them.
_OF_EARLIER_PLANS = frozenset({"with_replacement", "pool_below", "min_freedom"})


def read_plan(path: str) -> PlanFile:
    """Read a plan file, or that of a folder which `export` or `run` wrote.

    Raises PlanFileError: it cannot be read, is not a plan, or its values do not agree.
    """
    # A name may be too long for the system, which is said below.
    with suppress(OSError):
        path = str(Path(path) / IN_FOLDER) if (Path(path) / IN_FOLDER).is_file() else str(path)
    document = read_json_object(path) | {"path": path, "places": ()}
    if isinstance(options := document.get("options"), dict):
        document["options"] = {
            name: value for name, value in options.items() if name not in _OF_EARLIER_PLANS
        }
    if missing := {"schema", "kind"} - document.keys():
        raise PlanFileError(f"no plan: it has no {min(missing)}", path=path, remedy=_REMEDY)
    try:
        plan = _converted(document, PlanFile, "a plan file", path, _REMEDY)
        # What options mean is wrong or right here, before anything else is read.
        _ = method_named(plan.options.method), plan.options.region, plan.options.read_options
    except OptionError as error:
        raise PlanFileError(Wording("a plan with bad options ({})", error.text), path=path) from error
    _decisions(plan.overrides, path)
    if (wrong := _what_disagrees(plan)) is not None:
        raise PlanFileError(f"a plan whose values disagree: {wrong}", path=path, remedy=_REMEDY)
    return plan


# -- whether its values agree with each other, as they do until somebody edits it by hand -------------------

# Means, spreads and weights are rounded to doubles; what a person changes is off by more.
_CLOSE = 1e-6


def _what_disagrees(plan: PlanFile) -> str | None:
    """Return the first value that contradicts others, by its place, and why; None where all agree.

    Places are the number of a stratum, from 0, the id of a launch, and a field. Picks need not stand for
    every launch, and their weights may count instructions or iterations.
    """
    for check in (_of_strata, _of_launches, _of_kernels, _of_region, _of_both, _of_all):
        if (message := next(check(plan), None)) is not None:
            return message
    return None


def _of_strata(plan: PlanFile) -> Iterator[str]:
    size, mean, std, low, high, samples = (
        _column(plan.strata, name) for name in ("size", "mean_ns", "std_ns", "low_ns", "high_ns", "samples")
    )
    listed = np.array([len(stratum.launches) for stratum in plan.strata], dtype=np.float64)
    yield from _wrong(plan, "low_ns", low > high, "is above its high_ns")
    yield from _wrong(plan, "mean_ns", ~_is_within(mean, low, high), "is not within its low_ns and high_ns")
    yield from _wrong(plan, "std_ns", std > (high - low) + _CLOSE * high, "is more than its durations differ")
    yield from _wrong(plan, "samples", (samples < 1) | (samples > size), "is not from 1 to its size")
    yield from _wrong(plan, "samples", samples != listed, "is not how many launches it lists")
    signatures = _column(plan.strata, "signatures")
    yield from _wrong(plan, "signatures", signatures > size, "is more than its size")
    listed = np.array([sum(layer.launches for layer in stratum.layers) for stratum in plan.strata])
    in_layers = np.array([bool(of.layers or of.of_layers) for of in plan.strata], dtype=np.bool_)
    all_layers = _column(plan.strata, "of_layers")
    drawn_layers = np.array([len(stratum.layers) for stratum in plan.strata])
    is_wrong = in_layers & ((listed != samples) | (drawn_layers > all_layers) | (all_layers > size))
    yield from _wrong(plan, "of_layers", is_wrong, "and its layers are not those of its launches")
    keys = Counter((stratum.key, stratum.low_ns) for stratum in plan.strata)
    twice = np.array([keys[stratum.key, stratum.low_ns] > 1 for stratum in plan.strata])
    yield from _wrong(plan, "key", twice, "stands there twice with this low_ns")


def _of_launches(plan: PlanFile) -> Iterator[str]:
    launches = _launches(plan)
    numbers = np.repeat(np.arange(len(plan.strata)), [len(stratum.launches) for stratum in plan.strata])
    ids, duration, weight = (_column(launches, name) for name in ("id", "duration_ns", "weight"))
    strata, wrong = plan.strata, partial(_wrong_launch, plan)
    # Two times in any two strata; the second is told.
    order = np.argsort(ids, kind="stable")
    twice = np.zeros(len(ids), dtype=np.bool_)
    twice[order[1:]] = ids[order[1:]] == ids[order[:-1]]
    yield from wrong("id", twice, "stands there twice")
    sequences = plan.profile.sequences
    ends = np.cumsum([sequence.launches for sequence in sequences])
    yield from wrong(
        "id", ids >= (ends[-1] if sequences else 0), "is beyond the last launch of its sequences"
    )
    place = np.searchsorted(ends, ids, side="right")
    first = np.concatenate([[0], ends[:-1]])[place]
    for field in ("process", "device"):
        of_sequence = np.array([getattr(sequence, field) for sequence in sequences], dtype=np.int64)[place]
        numbered = np.array([getattr(launch, field) for launch in launches], dtype=np.int64)
        yield from wrong(field, numbered != of_sequence, "is not where the sequences have this id")
    ordinal = _column(launches, "ordinal")
    yield from wrong("ordinal", ordinal != ids - first, "is not where the sequences have this id")
    yield from wrong(
        "occurrence", _column(launches, "occurrence") > ordinal, "is more than launches come before"
    )
    low, high = (_column(strata, name)[numbers] for name in ("low_ns", "high_ns"))
    yield from wrong(
        "duration_ns", (duration < low) | (duration > high), "is not within those of its stratum"
    )
    stands_for = np.array([stratum.units[0] / stratum.units[1] for stratum in strata])[numbers]
    is_other = plan.is_random & (np.abs(weight - stands_for) > _CLOSE * stands_for)
    yield from wrong(
        "weight", (weight <= 0) | is_other, "and the others do not stand for the size of their stratum"
    )


def _of_kernels(plan: PlanFile) -> Iterator[str]:
    """Yield where a launch is not of the kernel group that its stratum is of, as far as keys tell."""
    by = plan.options.group_by
    if not plan.is_random or by not in {GroupBy.LAUNCH, GroupBy.NAME}:
        return
    is_own = [
        not stratum.pooled and not stratum.layers and stratum.key != WHOLE_WORKLOAD_KEY
        for stratum in plan.strata
    ]
    pairs = [
        (launch, stratum.key if is_of_kernel else "")
        for stratum, is_of_kernel in zip(plan.strata, is_own, strict=True)
        for launch in stratum.launches
    ]
    reason = "is not that of its stratum's key"
    # What a mangled name reads as depends on what demangles it.
    is_other = [
        bool(key) and not launch.name.startswith(MANGLED) and not key.startswith(launch.name)
        for launch, key in pairs
    ]
    yield from _wrong_launch(plan, "name", np.array(is_other), reason)
    if by is GroupBy.LAUNCH:
        is_other = [bool(key) and shape_text(launch.grid, launch.block) not in key for launch, key in pairs]
        yield from _wrong_launch(
            plan, "grid", np.array(is_other), "or its block is not that of its stratum's key"
        )
    is_pool = np.array([is_pool_key(stratum.key) and not stratum.pooled for stratum in plan.strata])
    yield from _wrong(plan, "pooled", is_pool, "is not what its key says")


def _of_region(plan: PlanFile) -> Iterator[str]:
    """Yield where a launch is not one of those that the filters keep, as far as the plan tells."""
    region, launches = plan.options.region, _launches(plan)
    low, high = region.launches or (None, None)
    ids, duration = (_column(launches, name) for name in ("id", "duration_ns"))
    is_out = (ids < (low or 0)) | (ids >= (np.inf if high is None else high))
    yield from _wrong_launch(plan, "id", is_out, "is not among the launches of its options")
    for field, numbers in (("process", region.processes), ("device", region.devices)):
        is_out = np.array(
            [bool(numbers) and not is_among(getattr(launch, field), numbers) for launch in launches]
        )
        yield from _wrong_launch(plan, field, is_out, "is not among those of its options")
    is_short = duration < (region.min_duration_ns or 0)
    yield from _wrong_launch(plan, "duration_ns", is_short, "is less than the least of its options")


def _launches(plan: PlanFile) -> list[PlannedLaunch]:
    return [launch for stratum in plan.strata for launch in stratum.launches]


def _wrong_launch(plan: PlanFile, field: str, is_wrong: BoolArray, reason: str) -> Iterator[str]:
    """Yield the first launch of which a field is wrong, of all in the order of the strata."""
    for row in np.flatnonzero(is_wrong)[:1].tolist():
        ends = np.cumsum([len(stratum.launches) for stratum in plan.strata])
        number = int(np.searchsorted(ends, row, side="right"))
        stratum = plan.strata[number]
        launch = stratum.launches[row - int(ends[number])]
        place = f"stratum {number} ({shortened(stratum.key)}), launch {launch.id}, {field}"
        yield f"{place}: {getattr(launch, field)} {reason}"


def _of_both(plan: PlanFile) -> Iterator[str]:
    """Yield where a stratum's mean is not possible with the launches that are drawn of it."""
    size, mean, low, high = (_column(plan.strata, name) for name in ("size", "mean_ns", "low_ns", "high_ns"))
    drawn_ns = np.array(
        [sum(launch.duration_ns for launch in stratum.launches) for stratum in plan.strata], dtype=np.float64
    )
    left = size - _column(plan.strata, "samples")
    shortest_ns, longest_ns = (drawn_ns + left * end for end in (low, high))
    is_possible = _is_within(size * mean, shortest_ns, longest_ns)
    yield from _wrong(plan, "mean_ns", ~is_possible, "is not possible with its launches' durations")


def _of_all(plan: PlanFile) -> Iterator[str]:
    size, mean, profile = _column(plan.strata, "size"), _column(plan.strata, "mean_ns"), plan.profile
    launches, duration_ns = size.sum(), float(size @ mean)
    of_all = " of all" if plan.is_random else ""
    if not len(size) or launches > plan.launches or (plan.is_random and launches != plan.launches):
        yield f"strata, size: {launches:,.0f} together do not hold its {plan.launches:,} launches"
    whole_ns = plan.total_duration_ns
    is_whole = launches == plan.launches
    if duration_ns > whole_ns * (1 + _CLOSE) or (is_whole and duration_ns < whole_ns * (1 - _CLOSE)):
        message = (
            f"{duration_ns:,.0f} ns by size and mean are not the {whole_ns:,} ns{of_all} that the profile has"
        )
        yield f"strata, mean_ns: {message}"
    in_files, in_sequences = (
        sum(entry.launches for entry in several) for several in (profile.files, profile.sequences)
    )
    if in_files != in_sequences or in_sequences < plan.launches:
        has = f"{in_files:,} in its files, {in_sequences:,} in its sequences"
        yield f"profile, launches: {plan.launches:,} of them, {has}"
    if stray := set(plan.simulated) - {launch.id for launch in plan.drawn}:
        yield f"simulated: launch {min(stray)} is in no stratum"


def _column(records: Sequence[Any], name: str) -> FloatArray:
    """Return (n,) a field of each; all of them count exactly in a double, or need not."""
    return np.array([getattr(record, name) for record in records], dtype=np.float64)


def _is_within(value: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return (n,) whether values lie between two ends, but for rounding."""
    slack = _CLOSE * np.abs(high)
    return np.asarray((value >= low - slack) & (value <= high + slack))


def _wrong(plan: PlanFile, field: str, is_wrong: BoolArray, reason: str) -> Iterator[str]:
    """Yield the first stratum of which a field is wrong."""
    for number in np.flatnonzero(is_wrong)[:1].tolist():
        stratum = plan.strata[number]
        place = f"stratum {number} ({shortened(stratum.key)}), {field}"
        yield f"{place}: {getattr(stratum, field)} {reason}"


# -- records and split decisions -----------------------------------------------------------------------------

Record = TypeVar("Record", bound=Struct)


def _converted(
    document: dict[str, Any], kind: type[Record], description: str, path: str, remedy: str
) -> Record:
    """Return a JSON document as its record; the error names the first value that is missing or wrong."""
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        message = f"{description} that lacks or garbles a value: {error}"
        raise PlanFileError(message, path=path, remedy=remedy) from error
    except UnicodeEncodeError as error:
        # A key may be half of a pair of surrogates, which JSON can write and no text is.
        raise PlanFileError(f"{description} with a key that is no text", path=path, remedy=remedy) from error


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

    Raises PlanFileError: it cannot be read, an entry lacks key, path or a decision of "split" or "keep", or a
    node has two.
    """
    remedy = 'write {"overrides": [{"key", "path", "decision"}]}'
    file = _converted(read_json_object(path), _OverridesFile, "a list of overrides", path, remedy)
    return SplitDecisions(_decisions(file.overrides, path), file.method or file.options.method)


def _decisions(rows: Sequence[Override], path: str) -> Overrides:
    """Return split decisions by kernel group and node; PlanFileError where one node has two."""
    overrides: dict[str, dict[str, Verdict]] = {}
    for number, row in enumerate(rows):
        of_group = overrides.setdefault(row.key, {})
        if row.path in of_group:
            node = f"node {row.path}" if row.path else "the root"
            twice = f"overrides[{number}]: {node} of {shortened(row.key)!r} is decided twice"
            remedy = f"keep one of them: {of_group[row.path]} or {row.decision}"
            raise PlanFileError(twice, path=path, remedy=remedy)
        of_group[row.path] = row.decision
    return overrides
