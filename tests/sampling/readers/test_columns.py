"""The text that says which column holds what: what is written is read again, and what is wrong is said."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.readers.columns import LAUNCH_COLUMNS, TIMES, ColumnMap, NamedColumn, column_map, columns_remedy

UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
names = st.text(st.sampled_from("aB :=,\"'µsu.()[]"), max_size=12) | st.text(max_size=8)


def maps() -> st.SearchStrategy[ColumnMap]:
    """Any columns that may be given together."""
    ours = st.lists(st.sampled_from([each for each in LAUNCH_COLUMNS if "_" not in each or each in TIMES]))
    chosen = ours.map(lambda several: list(dict.fromkeys(several))).filter(bool)
    return chosen.flatmap(
        lambda several: st.tuples(
            *(
                st.builds(
                    NamedColumn,
                    st.just(each),
                    names,
                    st.sampled_from(list(UNITS.values())) if each in TIMES else st.just(1),
                )
                for each in several
            )
        ).map(ColumnMap)
    )


@given(maps())
def test_what_is_written_is_read_again(columns: ColumnMap) -> None:
    assert column_map(str(columns)) == columns


@pytest.mark.parametrize(
    ("text", "ours", "theirs", "unit_ns"),
    [
        ("name=Kernel Name", "name", "Kernel Name", 1),
        ("duration_ns=Dur_us:us", "duration_ns", "Dur_us", 1_000),
        (" duration_ns = Dur : ms ", "duration_ns", "Dur", 1_000_000),
        ("duration_ns=Dur:µs", "duration_ns", "Dur", 1_000),
        ("duration_ns=a:b=c", "duration_ns", "a:b=c", 1),
        ("duration_ns=gpu:time:s", "duration_ns", "gpu:time", 1_000_000_000),
        ('duration_ns="Dur:us"', "duration_ns", "Dur:us", 1),
        ('duration_ns="Dur:us":us', "duration_ns", "Dur:us", 1_000),
        ('name="say ""a"", b"', "name", 'say "a", b', 1),
        ("name=Kernel:s", "name", "Kernel:s", 1),
        ("grid=Grid Size", "grid", "Grid Size", 1),
        ('stream=""', "stream", "", 1),
    ],
)
def test_what_a_text_means(text: str, ours: str, theirs: str, unit_ns: int) -> None:
    assert column_map(text).columns == (NamedColumn(ours, theirs, unit_ns),)


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("", "does not say which column", "write name=COLUMN"),
        ("name", "'name' does not say", "write name=COLUMN"),
        ("name=a,", "'' does not say", "write name=COLUMN"),
        ("name=a,,duration_ns=b", "',duration_ns=b' does not say", "write name=COLUMN"),
        ("name=", "'name=' does not say", "write name=COLUMN"),
        ('name="a', "'name=\"a' does not say", "double quotes"),
        ('name="a"b', "does not say", "double quotes"),
        ("nam=a", "a launch has no 'nam'", "did you mean 'name'?"),
        ("duration=a", "a launch has no 'duration'", "did you mean 'duration_ns'?"),
        ("name=a,name=b", "name is given twice", "once"),
        ("grid=a,grid_y=b", "grid_y is given twice", "give each once"),
        ("block_x=a,block=b", "block is given twice", "give each once"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str, remedy: str) -> None:
    with pytest.raises(OptionError) as caught:
        column_map(text)
    assert message in caught.value.message
    assert caught.value.message.startswith(f"`columns={text}`: ")
    assert caught.value.remedy is not None
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("present", "guess"),
    [
        (["Op", "Start_us", "Duration_us"], "name=Op,duration_ns=Duration_us:us"),
        (["kernel", "avg_ms", "time_ms"], "name=kernel,duration_ns=time_ms:ms"),
        (["KernelName", "BeginNs", "DurationNs"], "name=KernelName,duration_ns=DurationNs"),
        (["a", "b"], "name=KERNEL,duration_ns=DURATION"),
        (["Demangled, Name", "Elapsed [ns]"], 'name="Demangled, Name",duration_ns=Elapsed [ns]'),
    ],
)
def test_what_is_likely_meant(present: list[str], guess: str) -> None:
    assert columns_remedy(present).endswith(f"`columns={shlex.quote(guess)}`")
