"""How far an input is read is told, also of gzip data, and telling can cancel it."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from pathlib import Path

import pytest

from sampling.readers.input_file import open_input, pieces
from sampling.simulators.measured_run import LinesSoFar

TEXT = "".join(f"{random.Random(line).random()},{line}\n" for line in range(400_000)).encode()


class CancelledError(Exception):
    """Of this test."""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("read", [LinesSoFar, lambda file: (piece for _, piece in pieces(file))])
def test_the_bytes_are_the_same_and_the_place_is_told(tmp_path: Path, read: object, packed: bool) -> None:
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(TEXT, 1) if packed else TEXT)
    told: list[tuple[int, int, str]] = []
    with open_input(str(path)) as file:
        content = b"".join(read(replace(file, progress=lambda *given: told.append(given))))  # type: ignore[operator]
    assert content == TEXT
    places = [place for place, _, _ in told]
    assert places == sorted(places)
    assert len(set(places)) > 2
    assert places[-1] == path.stat().st_size
    assert {tuple(rest) for _, *rest in told} == {(path.stat().st_size, f"reading {path}")}


@pytest.mark.parametrize("packed", [False, True])
def test_what_tells_can_cancel(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(TEXT, 1) if packed else TEXT)

    def cancel(done: int, *_: object) -> None:
        if done:
            raise CancelledError

    with open_input(str(path)) as file, pytest.raises(CancelledError):
        list(LinesSoFar(replace(file, progress=cancel)))
