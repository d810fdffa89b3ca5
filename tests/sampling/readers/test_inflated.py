"""Compressed data: what they inflate to is given as it is, and stopped where it has no end."""

from __future__ import annotations

import gc
import gzip
import io
import lzma
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.readers import input_file
from sampling.readers.accel_sim_traces import opened, trace_head
from sampling.readers.input_file import open_input, pieces
from sampling.simulators.caches import blocks

PACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "xz": lzma.compress}
NEWLINES = b"\n" * (24 << 20)
#: As much as the most regular trace of a real simulation inflates as gzip, and more.
REGULAR = b"".join(
    b"%d 0x7f%08x ffffffff 1 R1 LDG.E 1 R2 4\n" % (n % 3, n // 64 * 128) for n in range(1 << 18)
)


@pytest.fixture(autouse=True)
def harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A MiB harms nobody here."""
    monkeypatch.setattr(input_file, "HARMLESS_BYTES", 1 << 20)


def by_the_readers_of_profiles(path: Path) -> int:
    with open_input(str(path)) as file:
        return sum(len(piece) for _, piece in pieces(file))


def as_a_whole(path: Path) -> int:
    with open_input(str(path)) as file, file.open() as stream:
        return len(stream.read())


def unpacked(path: Path) -> int:
    with open_input(str(path)) as file, file.on_disk() as copy:
        return copy.stat().st_size


def as_a_trace(path: Path) -> int:
    with opened(path) as stream:
        return sum(map(len, iter(lambda: stream.read(1 << 16), b"")))


def in_blocks(path: Path) -> int:
    return sum(map(len, blocks(path)))


READERS = [by_the_readers_of_profiles, as_a_whole, unpacked, as_a_trace, in_blocks]
CASES = [("gzip", read) for read in READERS] + [("xz", as_a_trace), ("xz", in_blocks)]


@pytest.mark.parametrize(("kind", "read"), CASES)
def test_what_inflates_without_end_is_stopped_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, read: Callable[[Path], int]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = tmp_path / ("endless.gz" if kind == "gzip" else "endless.xz")
    path.write_bytes(PACKED[kind](NEWLINES))
    with pytest.raises(ProfileError, match=f"times the size of its {kind} data") as refused:
        read(path)
    assert str(path) in str(refused.value)
    assert "unpack it" in str(refused.value.remedy)
    assert refused.value.__traceback__ is not None
    del refused
    gc.collect()
    assert [each.name for each in tmp_path.iterdir()] == [path.name], "nothing is left of it"


@pytest.mark.parametrize(("kind", "read"), CASES)
def test_what_is_regular_or_small_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, read: Callable[[Path], int]
) -> None:
    path = tmp_path / ("whole.gz" if kind == "gzip" else "whole.xz")
    path.write_bytes(PACKED[kind](REGULAR))
    assert len(REGULAR) > 30 * path.stat().st_size
    assert read(path) == len(REGULAR)
    monkeypatch.undo()
    path.write_bytes(PACKED[kind](NEWLINES))
    assert read(path) == len(NEWLINES)


@pytest.mark.parametrize("size", [1, 1000, 1 << 16, -1])
def test_bytes_are_those_that_were_packed(size: int) -> None:
    text = random.Random(size).randbytes(300_000)
    for kind, packed in PACKED.items():
        # Several members, one behind another.
        with input_file.inflated(io.BytesIO(packed(text[:7]) + packed(text[7:])), "x", kind) as stream:
            assert b"".join(iter(lambda: stream.read(size), b"")) == text


@pytest.mark.parametrize("place", [12, 300])
def test_a_damaged_trace_is_refused_in_words(tmp_path: Path, place: int) -> None:
    content = bytearray(gzip.compress(b"-kernel name = k\n" + random.Random(0).randbytes(4000)))
    content[place : place + 20] = bytes(20)
    path = tmp_path / "kernel-1.traceg.gz"
    path.write_bytes(content)
    for read in (in_blocks, trace_head):
        with pytest.raises(ProfileError, match=r"cannot be read|does not begin like a trace"):
            read(path)
