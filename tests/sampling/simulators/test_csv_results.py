"""Results as CSV: a launch id and one column a metric."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.readers.input_file import open_input
from sampling.simulators.csv_files import read_results, recognises_results
from sampling.simulators.measured_run import MeasuredRun


def read(folder: Path, text: str, *metrics: str) -> MeasuredRun:
    path = folder / "results.csv"
    path.write_text(text)
    with open_input(str(path)) as file:
        return read_results(file, metrics)


def test_columns_of_numbers_are_metrics(tmp_path: Path) -> None:
    run = read(tmp_path, "name,id,weight,cycles,instructions,l2 misses\nk,7,2.5,100,50,3\nk,2,2.5,30,20,0\n")
    assert (run.number.tolist(), run.first_number) == ([7, 2], None)
    assert {name: values.tolist() for name, values in run.metrics.items()} == {
        "cycles": [100, 30],
        "instructions": [50, 20],
        "l2 misses": [3, 0],
    }


def test_an_empty_cell_is_not_known(tmp_path: Path) -> None:
    run = read(tmp_path, "id,cycles,misses\n1,,4\n2,9,\n3,8,1\n")
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
        read(tmp_path, text)


def test_a_column_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="did you mean 'cycles'"):
        read(tmp_path, "id,cycles\n1,5\n", "cycle")


@given(st.dictionaries(st.integers(0, 10**12), st.integers(1, 2**53), min_size=1, max_size=30))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, cycles: dict[int, int]) -> None:
    text = "id,cycles\n" + "".join(f"{launch},{count}\n" for launch, count in cycles.items())
    run = read(tmp_path_factory.mktemp("csv"), text)
    assert dict(zip(run.number.tolist(), run.metrics["cycles"].tolist(), strict=True)) == cycles


def test_recognised_by_its_header() -> None:
    assert recognises_results(b"\xef\xbb\xbfname,id,cycles\n")
    assert not recognises_results(b"kernel,cycles\n")


def test_a_table_of_launches_may_call_its_ids_so(tmp_path: Path) -> None:
    run = read(tmp_path, "launch,cycles\n7,100\n")
    assert (run.number.tolist(), run.metrics["cycles"].tolist()) == ([7], [100])
    both = read(tmp_path, "launch,id,cycles\n7,2,100\n")
    assert (both.number.tolist(), list(both.metrics)) == ([2], ["cycles"])
