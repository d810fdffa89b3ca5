"""Measurements by hand, from CSV and from TOML: what is accepted, and what each wrong one is told."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError, SamplingError
from sampling.readers import small_file
from scalemodel import inputs
from scalemodel.inputs import read_curve_points, read_questions
from scalemodel.measurements import Measurements, MpkiUnit, Scaling, collect_measurements
from scalemodel.predict import predict

CSV = """benchmark,size,ipc,mpki,f_mem,simulation_s
dct,8,112.7,6.17,,100
dct,16,226.4,6.18,0.52,
pf,16,460,3.37,,
pf,8,231,3.37,,
dct,64,,5.52,,
"""

TOML = """
name = "dct"
scaling = "strong"
mpki_unit = "warp"
peak_ipc_per_sm = 64
f_mem = 0.52
simulated = [16, 8]
targets = [32, 128]

[ipc]
8 = 112.7
16 = 226.4
32 = 443

[mpki]
8 = 197.4
128 = 3.2
"""


def written(folder: Path, text: str | bytes, name: str = "input") -> str:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def columns(rows: str) -> str:
    return f"benchmark,size,ipc,mpki,f_mem\n{rows}\n"


# -- in memory ------------------------------------------------------------------------------------------


def test_no_measurement_is_above_the_peak() -> None:
    assert collect_measurements([(8, 16.0)], peak_ipc_per_sm=2.0).peak_ipc_per_sm == 2
    with pytest.raises(OptionError, match="the IPC at size 8 is 3 per SM, above the peak of 2"):
        collect_measurements([(8, 24.0)], peak_ipc_per_sm=2.0)
    with pytest.raises(OptionError, match="sizes are chiplets"):
        collect_measurements([(8, 24.0)], peak_ipc_per_sm=2.0, scaling=Scaling.CHIPLET)


# -- CSV ------------------------------------------------------------------------------------------------


def test_a_table_of_benchmarks(tmp_path: Path) -> None:
    read = read_questions(written(tmp_path, CSV), mpki_unit=MpkiUnit.WARP, scaling=Scaling.WEAK)
    dct, pf = (each.measurements for each in read)
    ipc, mpki = {8: 112.7, 16: 226.4}, {8: 6.17, 16: 6.18, 64: 5.52}
    assert dct == Measurements("dct", ipc, mpki, {16: 0.52}, None, MpkiUnit.WARP, Scaling.WEAK)
    assert pf.ipc == {8: 231, 16: 460}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("zipped", [False, True])
def test_files_as_they_come(tmp_path: Path, ending: str, mark: bytes, zipped: bool) -> None:
    content = mark + CSV.replace("\n", ending).replace("benchmark,size", " Benchmark, SIZE").encode()
    path = written(tmp_path, gzip.compress(content) if zipped else content)
    assert read_questions(path) == read_questions(written(tmp_path, CSV, "plain"))


@pytest.mark.parametrize(
    ("text", "row", "column", "message"),
    [
        ("benchmark,size,mpki\na,8,1\n", 1, None, "no column ipc"),
        ("benchmark,size,ipc,IPC\na,8,1,1\n", 1, None, "two columns ipc"),
        (columns("a,8,1,,\na,16,0,,"), 3, "ipc", "an IPC is a number above 0"),
        (columns("a,8,fast,,"), 2, "ipc", "'fast' is not a number"),
        (columns("a,8,1,-1,"), 2, "mpki", "an MPKI is 0 or more"),
        (columns("a,8,1,1,52"), 2, "f_mem", "as a fraction 52 % is 0.52"),
        (columns("a,8.5,1,,"), 2, "size", "a size is a whole number from 1"),
        (columns("a,0,1,,"), 2, "size", "a size is a whole number from 1"),
        (columns(",8,1,,"), 2, "benchmark", "no benchmark is named"),
        (columns("a,8,,,0.5"), 2, "ipc", "neither an IPC nor an MPKI"),
        (columns("a,8,1,,,7"), 2, None, "6 cells where the header has 5"),
        (columns("a,8,1,,\nb,8,1,,\na,8,2,,"), 4, "size", "a has size 8 already"),
        (columns("a,8,1,,\na,16,,3,"), 3, "ipc", "a has an IPC at one size alone"),
        (columns(""), None, None, "no row of measurements"),
        (columns('"a,8,1,,'), 2, None, "not a CSV"),
        (columns("a" * 140_000 + ",8,1,,"), 2, None, "not a CSV (field larger than field limit"),
        (b"\x1f\x8b\x08\x00broken", None, None, "gzip data is cut short or damaged"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, text: str | bytes, row: int | None, column: str | None, message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ProfileError) as caught:
        read_questions(path)
    assert message in str(caught.value)
    assert caught.value.path == path
    assert (caught.value.row, caught.value.column) == (row, column)
    assert caught.value.remedy


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    path = written(tmp_path, CSV)
    read_questions(path, tell=told.append)
    assert told == [f"{path}: not read: column simulation_s"]
    told.clear()
    # Where the column itself is there, one of a like name is another one.
    path = written(tmp_path, "benchmark,size,ipc,ipc2,\nshort,8,1,1,\nlong,8,1,1,\nlong,16,2,2,\n")
    (question,) = read_questions(path, tell=told.append)
    assert question.measurements.name == "long"
    assert told[0] == f"{path}: not read: columns ipc2, without a name"
    assert "left out" in told[1]
    assert "row 2, column ipc: short has an IPC at one size alone" in told[1]
    with pytest.raises(ProfileError, match="short has an IPC at one size alone"):
        read_questions(path, benchmark="short")


@given(text=st.text(alphabet='benchmarksizpc,"\n0123456789.-e', max_size=200))
def test_no_text_is_a_crash(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = written(tmp_path_factory.getbasetemp(), "benchmark,size,ipc\n" + text, "any")
    try:
        read_questions(path)
    except SamplingError as error:
        assert error.remedy  # noqa: PT017


# -- one question ---------------------------------------------------------------------------------------


def test_a_question_in_toml(tmp_path: Path) -> None:
    (question,) = read_questions(written(tmp_path, TOML))
    assert question.simulated == (8, 16)
    assert question.targets == (32, 128)
    ipc, mpki = {8: 112.7, 16: 226.4, 32: 443.0}, {8: 197.4, 128: 3.2}
    assert question.measurements == Measurements("dct", ipc, mpki, {16: 0.52}, 64.0, MpkiUnit.WARP)
    outcome = predict(question.measurements, question.targets, simulated=question.simulated)
    assert outcome.cliff is not None


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ("ipc = [1, 2]", "ipc", "Expected object, got array"),
        ("[ipc]\n8 = 1\n8 = 2", None, "not a TOML"),
        ("[ipc]\n8 = 1\n", "ipc", "an IPC at one size alone shows no trend"),
        ("[ipc]\n8 = 1\n16 = 0", None, "at size 16 an IPC is a number above 0"),
        ("peak_ipc_per_sm = 0.1\n[ipc]\n8 = 1\n16 = 2", None, "above the peak"),
        ("scaling = 'large'\n[ipc]\n8 = 1\n16 = 2", "scaling", "Invalid enum value 'large'"),
        ("targets = [32, 32]\n[ipc]\n8 = 1\n16 = 2", "targets", "a size is named twice"),
        ("simulated = [8, 64]\n[ipc]\n8 = 1\n16 = 2", "simulated", "size 64 has no IPC"),
        (f"f_mem = {'1' * 5000}", None, "not a TOML"),
        (f"targets = {'[' * 10000}", None, "not a TOML"),
        ("target = [32]\n[ipc]\n8 = 1\n16 = 2", "target", "unknown field target"),
    ],
)
def test_what_is_wrong_in_a_toml(tmp_path: Path, text: str, key: str | None, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        read_questions(written(tmp_path, text))
    assert message in str(caught.value)
    assert caught.value.key == key
    assert caught.value.remedy


def test_the_example_of_the_documentation_is_one(tmp_path: Path) -> None:
    text = inputs.__doc__ or ""
    example = text[text.index("    name =") : text.index("**A curve**")]
    (question,) = read_questions(written(tmp_path, example))
    outcome: Any = predict(question.measurements, question.targets, simulated=question.simulated)
    assert outcome.predictions[-1].region == "at the cliff"


# -- a curve -----------------------------------------------------------------------------------------------


def curve(folder: Path, text: str) -> str:
    path = folder / "curve.csv"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size,mpki,line_bytes\n8,9,32\n16,4,128\n", "row 3, column line_bytes: rows differ"),
        ("size,mpki,line_bytes\n8,9,96\n", "column line_bytes: 96 is no line size"),
    ],
)
def test_a_line_size_that_cannot_be_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        read_curve_points(curve(tmp_path, text))


def test_a_small_file_that_inflates_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_file, "_MOST_BYTES", 1 << 16)
    path = tmp_path / "curve.csv.gz"
    path.write_bytes(gzip.compress(bytes(1 << 20)))
    with pytest.raises(ProfileError, match="more than 65,536 bytes, where a small file is meant"):
        read_curve_points(str(path))
