"""CSV: results, and interval logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.projection import IntervalLog, KernelFacts
from sampling.readers.input_file import open_input
from sampling.simulators.csv_files import read_results
from sampling.simulators.measured_run import MeasuredRun
from sampling.simulators.registry import read_interval_logs


def read_table(folder: Path, text: str, *metrics: str) -> MeasuredRun:
    path = folder / "results.csv"
    path.write_text(text)
    with open_input(str(path)) as file:
        return read_results(file, metrics)


def test_columns_of_numbers_are_metrics(tmp_path: Path) -> None:
    run = read_table(
        tmp_path, "name,id,weight,cycles,instructions,l2 misses\nk,7,2.5,100,50,3\nk,2,2.5,30,20,0\n"
    )
    assert (run.number.tolist(), run.first_number) == ([7, 2], None)
    assert {name: values.tolist() for name, values in run.metrics.items()} == {
        "cycles": [100, 30],
        "instructions": [50, 20],
        "l2 misses": [3, 0],
    }


def test_an_empty_cell_is_not_known(tmp_path: Path) -> None:
    run = read_table(tmp_path, "id,cycles,misses\n1,,4\n2,9,\n3,8,1\n")
    assert np.isnan(run.metrics["cycles"]).tolist() == [True, False, False]
    assert run.missing == {0: "cycles has no value there", 1: "misses has no value there"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,cycles\n1,0\n", "row 2, column cycles"),
        ("id,cycles\n1,5\ninf,5\n", "row 3, column id"),
        ("id,cycles\n1e19,5\n", "row 2, column id"),
        ("id,cycles\n1,5\n2,-7\n", "row 3, column cycles"),
        ("id,cycles\n1,inf\n", "row 2, column cycles"),
        ("id,cycles\n1,many\n", "row 2, column cycles"),
        ("id,cycles,instructions\n1,5,-1\n", "row 2, column instructions"),
        ("id,cycles\n-1,5\n", "row 2, column id"),
        ("id,cycles,caches\n1,5,cold\n2,5,lukewarm\n", "row 3, column caches"),
        ("id,cycles\n1.5,5\n", "row 2, column id"),
        ("id,cycles\n1,5,7\n", "row 2"),
        ("id,cycles\n", "no row"),
        ("id,name\n1,k\n", "no column of a metric"),
        ("kernel,cycles\n1,5\n", "no column id"),
    ],
)
def test_what_is_wrong_is_named_by_row_and_column(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        read_table(tmp_path, text)


def test_a_column_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="did you mean 'cycles'"):
        read_table(tmp_path, "id,cycles\n1,5\n", "cycle")


@given(st.dictionaries(st.integers(0, 10**12), st.integers(1, 2**53), min_size=1, max_size=30))
def test_results_that_are_written_are_read(
    tmp_path_factory: pytest.TempPathFactory, cycles: dict[int, int]
) -> None:
    text = "id,cycles\n" + "".join(f"{launch},{count}\n" for launch, count in cycles.items())
    run = read_table(tmp_path_factory.mktemp("csv"), text)
    assert dict(zip(run.number.tolist(), run.metrics["cycles"].tolist(), strict=True)) == cycles


def read(folder: Path, text: str, source: str | None = None) -> tuple[IntervalLog, ...]:
    path = folder / "log.csv"
    path.write_text(text)
    return read_interval_logs([str(path)], source)


def columns(log: IntervalLog) -> tuple[list[int], list[int], list[int]]:
    return log.cycle.tolist(), log.instructions.tolist(), log.ctas.tolist()


PLAIN = "cycle,instructions,ctas\n500,5000,0\n1000,5100,2\n1400,4000,3\n"
WANTED = ([500, 1000, 1400], [5000, 5100, 4000], [0, 2, 3])


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        "\n\n" + PLAIN + "\n\n",
        PLAIN.rstrip("\n"),
        "ctas, Cycle ,junk,INSTRUCTIONS\n0,500,a,5000\n2,1000,b,5100\n3,1400,,4000\n",
        "cycle,cumulative_instructions,cumulative_ctas\n500,5000,0\n1000,10100,2\n1400,14100,5\n",
        "interval_cycles,instructions,ctas\n500,5000,0\n500,5100,2\n400,4000,3\n",
        "cycle,instructions,ctas\n500,5000,0\n500,5100,2\n400,4000,3\n",
        'cycle,instructions,ctas\n"500","5,000",0.0\n 1000 ,5100,2\n1400,4000,3\n',
    ],
)
def test_every_spelling_is_the_same_log(tmp_path: Path, text: str) -> None:
    (log,) = read(tmp_path, text)
    assert columns(log) == WANTED
    assert log.name == "kernel 1"
    assert log.facts == KernelFacts()
    assert not log.is_cut_short
    assert not log.has_carried_ctas


def test_kernels_are_apart_by_name_and_where_the_cycle_does_not_rise(tmp_path: Path) -> None:
    text = "kernel,cycle,instructions,ctas\n"
    text += "a,500,1,1\na,1000,2,1\nb,1500,3,1\nb,1400,4,1\nb,2000,5,1\na,100,6,1\n,200,7,1\n"
    logs = read(tmp_path, text)
    assert [log.name for log in logs] == ["a", "b", "b", "a", "kernel 5"]
    assert [log.instructions.tolist() for log in logs] == [[1, 2], [3], [4, 5], [6], [7]]
    assert [log.cycle.tolist() for log in logs] == [[500, 1000], [1500], [1400, 2000], [100], [200]]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("cycle,instructions,ctas\n500,1,1\n500,2,1\n300,3,1\n500,4,1\n500,5,1\n", 3),
        ("cycle,instructions,ctas\n500,1,1\n1000,2,1\n1000,3,1\n1500,4,1\n", 4),
        ("kernel,cycle,instructions,ctas\na,500,1,1\na,1000,2,1\nb,400,3,1\nb,400,4,1\n", 5),
    ],
)
def test_numbers_that_may_be_lengths_or_cycles_are_refused(tmp_path: Path, text: str, row: int) -> None:
    with pytest.raises(ProfileError) as caught:
        read(tmp_path, text)
    assert (caught.value.row, caught.value.column) == (row, "cycle")
    assert "interval_cycles" in str(caught.value)
    assert "column kernel" in str(caught.value)


def test_counts_since_the_start_begin_anew_with_every_kernel(tmp_path: Path) -> None:
    text = "cycle,cumulative_instructions,cumulative_ctas\n500,50,5\n1000,90,6\n500,40,3\n1000,41,3\n"
    logs = read(tmp_path, text)
    assert [log.instructions.tolist() for log in logs] == [[50, 40], [40, 1]]
    assert [log.ctas.tolist() for log in logs] == [[5, 1], [3, 0]]


def test_facts_stand_in_columns(tmp_path: Path) -> None:
    text = "cycle,instructions,ctas,total_cycles,total_instructions,total_ctas,ctas_per_sm,sms\n"
    text += "500,1,1,900,10,20,4,80\n800,2,1,900,10,20,4,80\n500,1,1,700,6,7,2,80\n"
    first, second = read(tmp_path, text)
    assert first.facts == KernelFacts(900, 10, 20, 4, 80)
    assert second.facts == KernelFacts(700, 6, 7, 2, 80)


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(1, 10**9), st.integers(0, 10**12), st.integers(0, 10**6)),
            min_size=1,
            max_size=8,
        ),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, kernels: list[list[tuple[int, int, int]]]
) -> None:
    """Names differ from kernel to kernel; the ends of the intervals are the sums of their lengths."""
    rows = [
        (f"k{number}", end, instructions, ctas)
        for number, intervals in enumerate(kernels)
        for (_, instructions, ctas), end in zip(
            intervals, np.cumsum([length for length, _, _ in intervals]).tolist(), strict=True
        )
    ]
    text = "kernel,cycle,instructions,ctas\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    logs = read(tmp_path_factory.mktemp("csv"), text)
    assert [log.name for log in logs] == [f"k{number}" for number in range(len(kernels))]
    written = [(log.name, *row) for log in logs for row in zip(*columns(log), strict=True)]
    assert written == rows


WRONG = {
    "cycle,instructions\n500,1\n": (1, "no column ctas"),
    "cycle,ctas,insn\n500,1,1\n": (1, "no column instructions"),
    "instructions,ctas\n1,1\n": (1, "no column cycle"),
    "cycle,instructions,ctas\n": (None, "no row"),
    "cycle,instructions,ctas\n500,1,1\n1000,x,1\n": (3, "'x' is not a number"),
    "cycle,instructions,ctas\n500,1,1\n\n1000,,1\n": (4, "empty"),
    "cycle,instructions,ctas\n500,1,1\n1000,1\n": (3, "2 cells"),
    "cycle,instructions,ctas\n500,1,1\n1000,-1,1\n": (3, "0 or more"),
    "cycle,instructions,ctas\n\n0,1,1\n": (3, "1 or more"),
    "cycle,instructions,ctas\n500,1,1\n\n\n1000,1,-3\n": (5, "0 or more"),
    "cycle,cumulative_instructions,ctas\n500,5,1\n1000,4,1\n": (3, "goes down"),
    "cycle,instructions,cumulative_ctas\n500,5,1\n\n1000,4,0\n": (4, "goes down"),
    "cycle,instructions,ctas,sms\n500,5,1,80\n1000,4,1,81\n": (3, "another"),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_pointed_at(tmp_path: Path, text: str) -> None:
    row, said = WRONG[text]
    with pytest.raises(ProfileError) as caught:
        read(tmp_path, text, "csv")
    assert caught.value.row == row
    assert said in str(caught.value)
    assert ";" in str(caught.value), "no remedy"
