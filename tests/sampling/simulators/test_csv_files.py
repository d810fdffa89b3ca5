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
from sampling.simulators.interval_logs import read_interval_logs
from sampling.simulators.measured_run import MeasuredRun


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
        ("id,cycles\n1,inf\n", "row 2, column cycles"),
        ("id,cycles\n1,many\n", "row 2, column cycles"),
        ("id,cycles,instructions\n1,5,-1\n", "row 2, column instructions"),
        ("id,cycles\n-1,5\n", "row 2, column id"),
        ("id,cycles,caches\n1,5,cold\n2,5,lukewarm\n", "row 3, column caches: 'lukewarm' is no way"),
        ("id,cycles\n1.5,5\n", "row 2, column id"),
        ("id,cycles\n1,5,7\n", "row 2"),
        ("id,cycles\n", "without a single launch"),
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


PLAIN = "cycle,instructions,ctas\n500,5000,0\n1000,5100,2\n1400,4000,3\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "\ufeff" + PLAIN.replace("\n", "\r\n"),
        "\n\n" + PLAIN + "\n\n",
        PLAIN.rstrip("\n"),
        "ctas, Cycle ,junk,INSTRUCTIONS\n0,500,a,5000\n2,1000,b,5100\n3,1400,,4000\n",
        'cycle,instructions,ctas\n"500","5,000",0.0\n 1000 ,5100,2\n1400,4000,3\n',
    ],
)
def test_every_spelling_is_the_same_log(tmp_path: Path, text: str) -> None:
    (log,) = read(tmp_path, text)
    columns = [each.tolist() for each in (log.cycle, log.instructions, log.ctas)]
    assert columns == [[500, 1000, 1400], [5000, 5100, 4000], [0, 2, 3]]
    assert (log.name, log.facts, log.is_cut_short) == ("kernel 1", KernelFacts(), False)


def test_kernels_are_apart_by_name_and_where_the_cycle_falls(tmp_path: Path) -> None:
    text = "kernel,cycle,instructions,ctas\n"
    text += "a,500,1,1\na,1000,2,1\nb,1500,3,1\nb,1400,4,1\nb,2000,5,1\na,100,6,1\n,200,7,1\n"
    logs = read(tmp_path, text)
    assert [log.name for log in logs] == ["a", "b", "b", "a", "kernel 5"]
    assert [log.instructions.tolist() for log in logs] == [[1, 2], [3], [4, 5], [6], [7]]
    assert [log.cycle.tolist() for log in logs] == [[500, 1000], [1500], [1400, 2000], [100], [200]]


def test_facts_stand_in_columns(tmp_path: Path) -> None:
    text = "cycle,instructions,ctas,total_cycles,total_instructions,total_ctas,ctas_per_sm,sms\n"
    text += "500,1,1,900,10,20,4,80\n800,2,1,900,10,20,4,80\n400,1,1,700,6,7,2,80\n"
    first, second = read(tmp_path, text)
    assert first.facts == KernelFacts(900, 10, 20, 4, 80)
    assert second.facts == KernelFacts(700, 6, 7, 2, 80)


@pytest.mark.parametrize(
    ("text", "row", "said"),
    [
        ("cycle,instructions\n500,1\n", 1, "no column ctas"),
        ("instructions,ctas\n1,1\n", 1, "no column cycle"),
        ("cycle,instructions,ctas\n", None, "without a single launch"),
        ("cycle,instructions,ctas\n500,1,1\n1000,x,1\n", 3, "'x' is not a number"),
        ("cycle,instructions,ctas\n500,1,1\n\n1000,,1\n", 4, "not a whole number"),
        ("cycle,instructions,ctas\n500,1,1\n1000,1\n", 3, "2 cells"),
        ("cycle,instructions,ctas\n500,1,1\n1000,-1,1\n", 3, "from 0 on"),
        ("cycle,instructions,ctas\n\n0,1,1\n", 3, "from 1 on"),
        ("kernel,cycle,instructions,ctas\na,500,1,1\nb,400,3,1\nb,400,4,1\n", 4, "that of the row before"),
        ("cycle,instructions,ctas,sms\n500,5,1,80\n1000,4,1,81\n", 3, "another"),
    ],
)
def test_what_is_wrong_in_a_log_is_pointed_at(tmp_path: Path, text: str, row: int | None, said: str) -> None:
    with pytest.raises(ProfileError, match=said) as caught:
        read(tmp_path, text, "csv")
    assert caught.value.row == row
    assert ";" in str(caught.value), "no remedy"
