"""The plan file: versioned JSON that exporters, `judge` and people read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampling.errors import OptionError, PlanFileError, ProfileError
from sampling.json_text import json_rows_text, read_json_object
from sampling.methods.registry import draws_at_random, method_names
from sampling.plan.plan_options import recorded_columns, recorded_selection, recorded_target
from sampling.profile.fingerprint import SequenceFingerprint
from sampling.profile.profile import Dimensions
from sampling.readers.input_file import open_input
from sampling.readers.registry import reader_of
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import LeftOut, Region
from sampling.strata.target import Target
from sampling.text import Wording

if TYPE_CHECKING:
    import pandas as pd

    from sampling.plan.plan_schema import Profile as ProfileOfPlan
    from sampling.plan.plan_schema import Stratum
    from sampling.readers.columns import ColumnMap

SCHEMA = 1
#: The name of a plan in the folder that hands it to a simulator.
IN_FOLDER = "plan.json"
_launch_id = attrgetter("id")


@dataclass(frozen=True, slots=True)
class PlannedLaunch:
    """One drawn launch as the plan file lists it."""

    id: int
    process: int
    device: int
    ordinal: int
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    occurrence: int
    weight: float
    duration_ns: int

    def as_json(self) -> dict[str, Any]:
        """Return the launch for a plan file."""
        return {
            "id": self.id,
            "process": self.process,
            "device": self.device,
            "ordinal": self.ordinal,
            "name": self.name,
            "grid": None if self.grid is None else list(self.grid),
            "block": None if self.block is None else list(self.block),
            "occurrence": self.occurrence,
            "weight": self.weight,
            "duration_ns": self.duration_ns,
        }


@dataclass(frozen=True, slots=True)
class PlannedStratum:
    """One stratum as the plan file lists it: the launches of a group that last ``low_ns`` to ``high_ns``.

    Attributes
    ----------
    pooled : whether it spans kernel groups.
    """

    key: str
    size: int
    mean_ns: float
    std_ns: float
    low_ns: int
    high_ns: int
    samples: int
    launches: tuple[PlannedLaunch, ...]
    pooled: bool = False


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan file read back.

    Attributes
    ----------
    launches, total_duration_ns : of what the plan stands for.
    options : every option that made the plan.
    sequences : those of the whole profile with their fingerprints; empty where a file lacks them.
    simulated : ids of launches that were simulated before the plan was topped up.
    rounds : how often it was topped up.
    topped_up_to : the half-width that the total was to reach then, as a fraction; None if it never was.
    left_out : what the region's least duration left out of the plan; None where it set none.
    places : processes and devices of the whole plan, where launches that were simulated are left out.
    document : the whole file, where it was a pipe and cannot be read again.
    """

    path: str
    files: tuple[Mapping[str, Any], ...]
    launches: int
    total_duration_ns: int
    options: Mapping[str, Any]
    strata: tuple[PlannedStratum, ...]
    sequences: tuple[SequenceFingerprint, ...] = ()
    simulated: tuple[int, ...] = ()
    rounds: int = 0
    topped_up_to: float | None = None
    left_out: LeftOut | None = None
    places: frozenset[tuple[int, int]] = frozenset()
    document: Mapping[str, Any] | None = field(default=None, repr=False)

    def text(self) -> str:
        """Return the text of its file."""
        if self.document is not None:
            return json_rows_text(self.document) + "\n"
        return Path(self.path).read_text(encoding="utf-8")

    def to_simulate(self) -> PlanFile:
        """Return the plan without the launches that were simulated already."""
        if not self.simulated:
            return self
        done = set(self.simulated)
        strata = (
            replace(stratum, launches=tuple(launch for launch in stratum.launches if launch.id not in done))
            for stratum in self.strata
        )
        places = frozenset((launch.process, launch.device) for launch in self.drawn)
        return replace(self, strata=tuple(strata), places=places)

    @property
    def is_random(self) -> bool:
        """Whether its launches were drawn at random, so that intervals follow from them.

        Raises
        ------
        OptionError : its options name no method, or a setting that there is not.
        """
        return draws_at_random(str(self.options["method"]), tuple(self.options.get("set", ())))

    @property
    def drawn(self) -> tuple[PlannedLaunch, ...]:
        """All drawn launches, in id order."""
        return tuple(
            sorted((launch for stratum in self.strata for launch in stratum.launches), key=_launch_id)
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return the drawn launches as a table, with the number and the ``key`` of their ``stratum``."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"stratum": number, "key": stratum.key, "of": stratum.size, **launch.as_json()}
                for number, stratum in enumerate(self.strata)
                for launch in stratum.launches
            ]
        ).set_index("id")

    def profile_paths(self) -> list[str]:
        """Return where its profile lay.

        Raises
        ------
        PlanFileError : a pipe or a device lies there, which a plan does not name and which may never end.
        """
        paths = [str(file.get("path", "")) for file in self.files]
        for path in map(Path, paths):
            if path.exists() and not (path.is_file() or path.is_dir()):
                raise PlanFileError(
                    f"made from {path}, which is no file",
                    path=self.path,
                    remedy="make the plan again, from a file",
                )
        return paths

    def selection(self) -> tuple[Grouping, Region]:
        """Return the grouping and the region that the plan was made with; see `recorded_selection`."""
        return recorded_selection(self.options, self.path)

    def columns(self) -> ColumnMap | None:
        """Return which columns of the profile's tables hold what; see `recorded_columns`."""
        return recorded_columns(self.options, self.path)

    def target(self) -> Target:
        """Return what was asked of the plan; see `recorded_target`."""
        return recorded_target(self.options, self.path)


def read_plan(path: str) -> PlanFile:
    """Read a plan file, or that of a folder which `export` or `run` wrote.

    Raises
    ------
    PlanFileError : it cannot be read, is not a plan, or is of another schema.
    """
    # A name may be too long for the system, which is said below.
    with suppress(OSError):
        path = str(Path(path) / IN_FOLDER) if (Path(path) / IN_FOLDER).is_file() else path
    try:
        document = read_json_object(path)
        if document.get("kind") != "plan":
            remedy = "give a file written by `kernelpoint sample -o`"
            raise PlanFileError("not a plan file", path=path, remedy=remedy)
    except PlanFileError:
        _refuse_profile(path)
        raise
    if document.get("schema") != SCHEMA:
        raise PlanFileError(
            f"a plan of schema {document.get('schema')}, this version reads {SCHEMA}",
            path=path,
            remedy="make the plan again",
        )
    try:
        plan = _plan_of(document, path)
        _check_whole(plan)
    except OptionError as error:
        raise PlanFileError(Wording("a plan with bad options ({})", error.text), path=path) from error
    except ValueError as error:
        raise PlanFileError(
            f"a plan file that lacks or garbles {error}", path=path, remedy="make the plan again"
        ) from error
    return plan


def _refuse_profile(path: str) -> None:
    """Raise PlanFileError where a file or folder is a profile: the two are easily swapped."""
    reader = None
    # A pipe is read already.
    if Path(path).is_file() or Path(path).is_dir():
        with suppress(ProfileError), open_input(path) as file:
            reader = reader_of(file)
    if reader is not None:
        raise PlanFileError(
            f"a profile ({reader.FORMAT}), not a plan",
            path=path,
            remedy="type the plan first, written by `kernelpoint sample -o`, then the profile",
        )


def _plan_of(document: dict[str, Any], path: str) -> PlanFile:
    """Return the plan of a JSON document; raises ValueError where it is none."""
    from sampling.plan.plan_schema import checked_document

    checked = checked_document(document)
    if checked.options.method not in method_names():
        raise ValueError(f"options.method: there is no {checked.options.method!r}")
    return PlanFile(
        path=path,
        files=tuple({"path": file.path, "sha256": file.sha256} for file in checked.profile.files),
        launches=checked.profile.launches,
        total_duration_ns=checked.profile.total_duration_ns,
        options=document["options"],
        strata=tuple(map(_stratum, checked.strata)),
        sequences=tuple(
            SequenceFingerprint.from_json(row) for row in document["profile"].get("sequences", ())
        ),
        simulated=tuple(checked.simulated),
        rounds=0 if checked.topped_up is None else checked.topped_up.rounds,
        topped_up_to=None if checked.topped_up is None else checked.topped_up.target,
        left_out=_left_out(checked.profile),
        document=None if Path(path).is_file() else document,
    )


def _left_out(profile: ProfileOfPlan) -> LeftOut | None:
    from msgspec import UNSET

    found = profile.left_out
    return None if found is UNSET else LeftOut(found.launches, found.total_duration_ns)


def _check_whole(plan: PlanFile) -> None:
    """Raise ValueError where the strata do not add up to the launches that the plan stands for.

    Picks need not stand for every launch, and their weights may count instructions or iterations.
    """
    is_random = plan.is_random
    held = sum(stratum.size for stratum in plan.strata)
    if not plan.strata or held > plan.launches or (is_random and held != plan.launches):
        raise ValueError(f"strata: they do not hold its {plan.launches:,} launches")
    if len({(stratum.key, stratum.low_ns) for stratum in plan.strata}) != len(plan.strata):
        raise ValueError("strata: one stands there twice")
    for number, stratum in enumerate(plan.strata, start=1):
        weights = [launch.weight for launch in stratum.launches]
        if stratum.samples < 1 or not weights or not all(weight > 0 for weight in weights):
            raise ValueError(f"stratum {number}: it draws nothing")
        if is_random and not math.isclose(sum(weights), stratum.size, rel_tol=1e-6):
            raise ValueError(f"stratum {number}: its weights do not add up to its size")


def _stratum(row: Stratum) -> PlannedStratum:
    from msgspec.structs import asdict as fields_of

    launches = tuple(PlannedLaunch(**fields_of(launch)) for launch in row.launches)
    return PlannedStratum(**(fields_of(row) | {"launches": launches}))
