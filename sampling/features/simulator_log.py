"""A log of GPGPU-Sim or Accel-Sim as features: the cycles and instructions of every launch that has ended."""

from __future__ import annotations

import numpy as np

from sampling.errors import ProfileError
from sampling.features.reading import FeatureRows, gap_notes
from sampling.progress import Progress
from sampling.readers.csv_cells import NumberLocale
from sampling.readers.input_file import InputFile
from sampling.readers.simulator_log import FORMAT, logged_launches, recognise
from sampling.reduction.launch_features import Features

__all__ = ["read", "recognise"]

_INSTRUCTIONS = "instructions"


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches by their numbers, or in the order of the log where they have none.

    Raises
    ------
    ProfileError : no launch ran to its end; see `logged_launches`.
    """
    launches, _ = logged_launches(file, progress)
    if not launches:
        raise ProfileError("no launch has ended", path=file.path, remedy="wait until one has")
    number = np.array([launch.number for launch in launches], dtype=np.int64)
    is_numbered = bool(number.all()) and len(np.unique(number)) == len(number)
    order = np.argsort(number) if is_numbered else np.arange(len(number))
    names = {launch.name: None for launch in launches}
    code = {name: place for place, name in enumerate(names)}
    sizes = np.array([launch.sizes for launch in launches], dtype=np.int64)[order]
    metrics = {
        _INSTRUCTIONS: np.array([float(launch.instructions) for launch in launches])[order],
        "cycles": np.array([float(launch.cycles) for launch in launches])[order],
    }
    ascending = number[order] - 1 if is_numbered else None
    return FeatureRows(
        path=file.path,
        format=FORMAT,
        line=np.arange(1, len(launches) + 1),
        features=Features(metrics=metrics, units={_INSTRUCTIONS: "inst", "cycles": "cycle"}),
        names=tuple(names),
        name=np.array([code[launch.name] for launch in launches], dtype=np.int64)[order],
        grid=sizes[:, :3],
        block=sizes[:, 3:],
        launch_number=ascending,
        notes=() if ascending is None else gap_notes(ascending),
    )
