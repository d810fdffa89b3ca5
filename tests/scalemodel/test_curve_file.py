"""The line size of a miss-rate curve: read where it is stated, never guessed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from scalemodel import inputs
from scalemodel.errors import InputError
from scalemodel.inputs import read_curve_points


def curve(folder: Path, text: str) -> str:
    path = folder / "curve.csv"
    path.write_text(text)
    return str(path)


def test_a_curve_states_its_lines_or_does_not(tmp_path: Path) -> None:
    assert read_curve_points(curve(tmp_path, "size,mpki,line_bytes\n8,9,32\n16,4,32\n")).line_bytes == 32
    assert read_curve_points(curve(tmp_path, "size,mpki\n8,9\n")).line_bytes is None
    assert read_curve_points(curve(tmp_path, "size,mpki,line_bytes\n8,9,\n")).line_bytes is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size,mpki,line_bytes\n8,9,32\n16,4,128\n", "row 3, column line_bytes: rows differ"),
        ("size,mpki,line_bytes\n8,9,96\n", "row 2, column line_bytes: 96 is no line size"),
        ("size,mpki,line_bytes\n8,9,0\n", "0 is no line size"),
        ("size,mpki,line_bytes\n8,9,wide\n", "line_bytes"),
    ],
)
def test_a_line_size_that_cannot_be_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_curve_points(curve(tmp_path, text))


def test_a_small_file_that_inflates_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "_MOST_BYTES", 1 << 16)
    path = tmp_path / "curve.csv.gz"
    path.write_bytes(gzip.compress(bytes(1 << 20)))
    with pytest.raises(InputError, match="more than 65,536 bytes, where a small file is meant"):
        read_curve_points(str(path))
