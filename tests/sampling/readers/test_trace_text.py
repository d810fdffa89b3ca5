"""Traces in JSON that are cut short, damaged or no JSON: what is whole is read where that is asked for."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import kineto, nsys_csv, trace_text
from sampling.readers.input_file import ReadOptions, open_input, pieces
from sampling.readers.registry import read_profile
from tests.sampling.readers.kineto_traces import call, kernel, trace
from tests.sampling.readers.launches_told import Json, column, names

EVENTS: list[Json] = [
    event
    for number in range(12)
    for event in (
        call(number, number, mode='}, {"ph": "X"}'),
        kernel(number, name=f"k{number} ]}}", ts=number),
    )
]


def text_of(events: Sequence[Json], form: str) -> tuple[bytes, list[int]]:
    """Return a trace, and where each of its events ends."""
    opening, closing = {
        "object": ('{"schemaVersion": 1, "traceEvents": [', '], "deviceProperties": [], "traceName": "t"}'),
        "list": ("[\n", "\n]"),
    }[form]
    text, ends = opening, []
    for event in events:
        text += (",\n" if ends else "") + json.dumps(event, indent=2)
        ends.append(len(text))
    return (text + closing).encode(), ends


def read(path: Path, *, partial: bool = False) -> Profile:
    with open_input(str(path)) as file:
        assert kineto.recognise(file)
        return kineto.read(replace(file, partial=partial), KernelTable(), None)


def assert_read_up_to(path: Path, whole: int) -> None:
    """Assert that so many events are read where that is asked for, and else the refusal says how many."""
    with pytest.raises(ProfileError) as refused:
        read(path)
    assert f"cannot be read beyond its first {whole:,} events: " in refused.value.message
    assert "`partial`" in str(refused.value.remedy)
    launches = [event["name"] for event in EVENTS[:whole] if event["cat"] == "kernel"]
    if launches:
        profile = read(path, partial=True)
        assert names(profile) == launches
        assert profile.notes == (f"{path}: cut short or damaged, read up to its event {whole:,}",)


@pytest.mark.parametrize("form", ["object", "list"])
@pytest.mark.parametrize("piece_bytes", [600, 1 << 20])
def test_a_text_cut_anywhere_is_read_up_to_there(
    form: str, piece_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_text, "_PIECE_BYTES", piece_bytes)
    text, ends = text_of(EVENTS, form)
    path = tmp_path / "cut.json"
    for place in [
        *range(ends[0] + 1, ends[3], 3),
        *range(ends[3], len(text) - 1, 61),
        ends[-1],
        len(text) - 1,
    ]:
        path.write_bytes(text[:place])
        assert_read_up_to(path, sum(end <= place for end in ends))


@pytest.mark.parametrize("is_cut", [True, False])
def test_gzip_data_that_are_cut_short_or_damaged_are_read_up_to_there(is_cut: bool, tmp_path: Path) -> None:
    text, ends = text_of(EVENTS, "object")
    packed = gzip.compress(text, mtime=0)
    path = tmp_path / "cut.json.gz"
    for place in range(len(packed) // 2, len(packed) - 8, 7):
        broken = packed[:place] if is_cut else packed[:place] + b"\0\xff\0\xff" + packed[place + 4 :]
        inflater, inflated = zlib.decompressobj(31), b""
        try:
            for at in range(len(broken)):
                inflated += inflater.decompress(broken[at : at + 1])
        except zlib.error:
            pass
        if not is_cut and not text.startswith(inflated):
            continue  # Damage that was noticed late: what was inflated before is another text.
        path.write_bytes(broken)
        assert_read_up_to(path, sum(end <= len(inflated) for end in ends))
    # All is there, but its checksum.
    path.write_bytes(packed[:-8] + bytes(8))
    assert_read_up_to(path, len(EVENTS))


def test_lines_of_a_table_are_read_whole(tmp_path: Path) -> None:
    header = b"Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Strm,Name\n"
    rows = [b"%d,%d,%d,1,1,1,32,1,1,GPU (0),7,k\n" % (1_000 * row, 100 + row, row) for row in range(2_000)]
    text = header + b"".join(rows)
    packed = gzip.compress(text, mtime=0)
    path = tmp_path / "cut.csv.gz"
    for place in (len(packed) // 2, len(packed) * 3 // 4, len(packed) - 4):
        path.write_bytes(packed[:place])
        with pytest.raises(ProfileError, match="gzip data is cut short") as refused:
            read_profile([str(path)])
        assert "`partial`" in str(refused.value.remedy)
        with open_input(str(path)) as file:
            with pytest.raises(ProfileError) as refused, file.open() as stream:
                stream.read()
            assert "`partial`" not in str(refused.value.remedy), "results of a simulator are no profile"
            whole = zlib.decompressobj(31).decompress(packed[:place]).rpartition(b"\n")[0] + b"\n"
            assert b"".join(piece for _, piece in pieces(replace(file, partial=True))) == whole
            profile = nsys_csv.read(replace(file, partial=True), KernelTable(), None)
        assert profile is not None
        lines = whole.count(b"\n")
        assert column(profile, "duration_ns") == [100 + row for row in range(lines - 1)]
        assert notes_of(path) == (f"{path}: cut short or damaged, read up to its line {lines:,}",)


def notes_of(path: Path) -> tuple[str, ...]:
    return read_profile([str(path)], options=ReadOptions(partial=True)).notes


def test_a_line_that_may_be_cut_short_is_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "launches.csv"
    path.write_text("name,duration_ns\na,5\nb,600\n")
    assert notes_of(path) == ()
    path.write_text("name,duration_ns\na,5\nb,60")
    assert notes_of(path) == (f"{path}: cut short or damaged, read up to its line 2",)


# --- single events that are no JSON -------------------------------------------------------------------------


QUOTED = [
    '{"device": "cpu", "dtype": "float32"}(12): run',
    'def f(x="a", y=""): "',
    '"',
    'a \\"b" c\\n',
    'C:\\new "folder"\x01',
]


@pytest.mark.parametrize("name", QUOTED)
@pytest.mark.parametrize("category", ["python_function", "kernel"])
@pytest.mark.parametrize("place", [0, 5, len(EVENTS)])
def test_a_quotation_mark_in_a_name_costs_nothing(
    name: str, category: str, place: int, tmp_path: Path
) -> None:
    event = kernel(99, name="NAME", cat=category, ts=99)
    text, _ = text_of([*EVENTS[:place], event, *EVENTS[place:]], "object")
    path = tmp_path / "quote.json"
    path.write_bytes(text.replace(b"NAME", name.encode()))
    profile = read(path)
    assert profile.launches == 12 + (category == "kernel")
    assert (profile.facts.rows_left_out, profile.notes) == (0, ())


@pytest.mark.parametrize(
    "flaw", [b'"ts": 5, "args": {"Call stack": "f("a")"}', b'"ts": #', b'"ts": 1.2.3', b'"ts": 5,,']
)
@pytest.mark.parametrize("place", [0, 5, len(EVENTS)])
@pytest.mark.parametrize("form", ["object", "list"])
def test_an_event_that_is_no_json_is_left_out_alone(
    flaw: bytes, place: int, form: str, tmp_path: Path
) -> None:
    for category in ("python_function", "kernel"):
        event = {"ph": "X", "cat": category, "name": "k", "pid": 0, "flaw": 0, "dur": 5}
        text, _ = text_of([*EVENTS[:place], event, *EVENTS[place:]], form)
        path = tmp_path / "flaw.json"
        path.write_bytes(text.replace(b'"flaw": 0', flaw))
        profile = read(path)
        assert (profile.launches, profile.facts.rows_left_out) == (12, category == "kernel")
        told = [str(profile.facts.first_left_out), *profile.notes][category != "kernel"]
        assert f"{'row' if category == 'kernel' else 'event'} {place + 1}: " in told


def test_an_event_of_other_types_is_left_out_alone(tmp_path: Path) -> None:
    path = tmp_path / "types.json"
    wrong = [
        kernel(50, name=5),
        kernel(51, pid=[1]),
        {**kernel(52), "args": [1]},
        {**call(53, 1), "name": {}},
    ]
    path.write_text(json.dumps(trace(*EVENTS, *wrong)))
    profile = read(path)
    assert (profile.launches, profile.facts.rows_left_out, len(profile.notes)) == (12, 3, 1)


@pytest.mark.parametrize(
    ("bytes_lost", "zeros"), [(150, True), (300, True), (1_500, True), (150, False), (300, False)]
)
def test_damage_in_which_events_may_be_lost_is_refused(bytes_lost: int, zeros: bool, tmp_path: Path) -> None:
    text, ends = text_of(EVENTS, "object")
    path = tmp_path / "damaged.json"
    path.write_bytes(text[: ends[5] - 50] + bytes(bytes_lost * zeros) + text[ends[5] - 50 + bytes_lost :])
    with pytest.raises(ProfileError, match="beyond its first 5 events"):
        read(path)
    profile = read(path, partial=True)
    assert 8 <= profile.launches < 12
    assert profile.notes[0] == f"{path}: damaged at its event 6, where others may be lost"


@pytest.mark.parametrize("text", ['{"a":1,"schemaVersion":1,', "name,duration_ns\na,5\n"])
def test_of_gzip_data_that_end_early_that_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cut.gz"
    # A stored block is cut where its text is.
    path.write_bytes(gzip.compress(text.encode(), 0)[:22])
    for is_partial in (False, True):
        with pytest.raises(ProfileError, match="gzip data is cut short"):
            read_profile([str(path)], options=ReadOptions(partial=is_partial))


def test_a_trace_that_is_cut_short_before_its_kernels_says_so(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(trace(call(1, 5), kernel(1)))[:-150])
    with pytest.raises(ProfileError, match="cut short or damaged before its first GPU kernel"):
        read(path, partial=True)
