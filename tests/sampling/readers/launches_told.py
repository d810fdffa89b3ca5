"""What a profile says of its launches, as plain Python, for readers' tests."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Dimensions, Profile
from sampling.readers.registry import read_profile


class Told(NamedTuple):
    """One launch as a profile gives it."""

    process: int
    device: int
    name: str
    start_ns: int
    duration_ns: int
    stream: int
    grid: Dimensions | None
    block: Dimensions | None


def told(profile: Profile) -> list[Told]:
    """Return the launches in id order."""
    launches = []
    for part in profile.parts:
        batch = part.load(["signature", "start_ns", "duration_ns", "stream"])
        sequence = profile.sequences[part.sequence]
        columns = (batch[c].tolist() for c in ("signature", "start_ns", "duration_ns", "stream"))  # type: ignore[index]
        for code, start_ns, duration_ns, stream in zip(*columns, strict=True):
            kernel = profile.kernels.signature(code)
            launches.append(
                Told(
                    sequence.process,
                    sequence.device,
                    profile.kernels.names.full(kernel.name),
                    start_ns,
                    duration_ns,
                    stream,
                    kernel.grid,
                    kernel.block,
                )
            )
    return launches


def read(path: Path) -> Profile:
    """Read one file, whatever its format."""
    return read_profile([str(path)])


def refusal_of(path: Path) -> ProfileError:
    """Return the error with which a file is refused; it says what to do."""
    with pytest.raises(ProfileError) as caught:
        read(path)
    assert caught.value.remedy
    return caught.value
