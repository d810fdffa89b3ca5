"""Numbers under locales, and Nsight Compute's units."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.features.ncu import base_unit
from sampling.readers.table import NumberLocale, numbers_of, sizes_of


def read(cell: str, locale: NumberLocale = "C") -> float | str:
    """Return the number of a cell, or "text"."""
    values, texts = numbers_of(pa.array([cell]), locale)
    return "text" if texts[0] else float(values[0])


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("30221", 30221),
        ("5195632.000000", 5195632),
        (" -1.5e-3 ", -0.0015),
        (".5", 0.5),
        ("30,221", 30221),
        ("58,748.42", 58748.42),
        ("1,234,567", 1234567),
        ("30.221", 30.221),
    ],
)
def test_plain_numbers_and_english_thousands_are_read_by_default(cell: str, number: float) -> None:
    assert read(cell) == number
    assert read(cell, "en_US") == number


@pytest.mark.parametrize(
    ("cell", "number"),
    [("30.221", 30221), ("31,87", 31.87), ("1.234.567,5", 1234567.5), ("12", 12), ("30,221", 30.221)],
)
def test_german_numbers_are_read_where_the_locale_says_so(cell: str, number: float) -> None:
    assert read(cell, "de_DE") == number


def test_what_is_no_number_of_the_named_locale_is_text() -> None:
    assert read("31.87", "de_DE") == "text"
    assert read("30,22") == "text"
    assert read("CachePreferNone") == "text"
    assert read("1,2345") == "text"


@pytest.mark.parametrize("cell", ["", "  ", "n/a", "nan", "N/A", "(n/a)"])
def test_a_cell_without_a_number_is_nan(cell: str) -> None:
    value = read(cell)
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("cell", "value"), [("inf", math.inf), ("-Infinity", -math.inf), ("+INF", math.inf), ("1e999", math.inf)]
)
@pytest.mark.parametrize("locale", ["C", "en_US", "de_DE"])
def test_an_infinite_cell_is_infinite_and_no_text(cell: str, value: float, locale: NumberLocale) -> None:
    assert read(cell, locale) == value


@given(st.integers(-(10**12), 10**12))
def test_grouped_and_plain_spellings_are_one_number(number: int) -> None:
    assert read(f"{number:,}") == number == read(str(number))
    assert read(f"{number:,}".replace(",", "."), "de_DE") == number


@pytest.mark.parametrize(
    ("unit", "factor", "base"),
    [
        ("usecond", 1e3, "ns"),
        ("us", 1e3, "ns"),
        ("msecond", 1e6, "ns"),
        ("second", 1e9, "ns"),
        ("Kbyte", 1e3, "byte"),
        ("Gbyte/second", 1e9, "byte/s"),
        ("cycle/nsecond", 1e9, "hertz"),
        ("Ghz", 1e9, "hertz"),
        ("sector/nsecond", 1e9, "sector/s"),
        ("Kinst", 1e3, "inst"),
        ("register/thread", 1, "register/thread"),
        ("%", 1, "%"),
        ("", 1, ""),
        ("Mystery", 1, "Mystery"),
    ],
)
def test_units_of_all_versions_come_down_to_base_units(unit: str, factor: float, base: str) -> None:
    assert base_unit(unit) == (pytest.approx(factor, rel=1e-12), base)


numbers = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=3)
between = st.sampled_from(["x", "X", ",", ", ", " ", " x ", "  ", ";", "*"])
around = st.sampled_from([("", ""), ("(", ")"), ("[", "]"), (" ( ", " ) "), ("{", "}"), (" ", "")])


@given(st.lists(st.tuples(numbers, between, around), max_size=6))
def test_cells(cells: list[tuple[list[int], str, tuple[str, str]]]) -> None:
    texts = [first + mark.join(map(str, values)) + last for values, mark, (first, last) in cells]
    found, bad = sizes_of(texts)
    assert bad == -1
    assert found.tolist() == [[*values, 1, 1][:3] for values, _, _ in cells]


@pytest.mark.parametrize(
    "cell", ["a", "-8", "8.5", "1x2x3x4", "8x", "x8", "8xx1", "(8", "1e3", "12345678901", "8-1", "\u0663"]
)
def test_what_is_none_is_pointed_at(cell: str) -> None:
    _, bad = sizes_of(["8x1", cell, "9"])
    assert bad == (1 if cell != "(8" else -1)
