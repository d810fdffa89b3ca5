"""A log of GPGPU-Sim or Accel-Sim as features: the cycles and instructions of every launch that has ended."""

from __future__ import annotations

import numpy as np

from sampling.features.reading import FeatureRows, gap_notes
from sampling.progress import Progress
from sampling.readers.csv_cells import NumberLocale
from sampling.readers.input_file import InputFile
from sampling.readers.simulator_log import FORMAT, logged_launches, recognise
from sampling.reduction.launch_list import Features

__all__ = ["read", "recognise"]


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches by their numbers, or in the order of the log where they have none.

    Raises
    ------
    ProfileError : see `logged_launches`.
    """
    found = logged_launches(file, progress)
    order = np.arange(len(found.names)) if found.number is None else np.argsort(found.number)
    code = {name: place for place, name in enumerate(dict.fromkeys(found.names))}
    ascending = None if found.number is None else found.number[order] - 1
    metrics = {
        "instructions": found.instructions[order].astype(np.float64),
        "cycles": found.cycles[order].astype(np.float64),
    }
    return FeatureRows(
        path=file.path,
        format=FORMAT,
        line=np.arange(1, len(order) + 1),
        features=Features(metrics=metrics, units={"instructions": "inst", "cycles": "cycle"}),
        names=tuple(code),
        name=np.array([code[name] for name in found.names], dtype=np.int64)[order],
        grid=found.sizes[order, :3],
        block=found.sizes[order, 3:],
        launch_number=ascending,
        notes=() if ascending is None else gap_notes(ascending),
    )
