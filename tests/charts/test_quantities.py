"""Numbers as a person reads them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.charts.quantities import (
    duration,
    duration_range,
    hours,
    kernel_time,
    less_work,
    measure_in,
    ratio,
    recorded_unit,
    share,
    share_above,
    si,
    si_tick,
)

FACTORS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (5.25, "5.25 ns"),
        (999.6, "1.00 us"),
        (1_000, "1.00 us"),
        (12_345, "12.3 us"),
        (66_600.4, "66.6 us"),
        (999_499, "999 us"),
        (999_500, "1.00 ms"),
        (4_200_000, "4.20 ms"),
        (10**9, "1.00 s"),
        (10**18, "1,000,000,000 s"),
        (-12_345, "-12.3 us"),
        (math.nan, "-"),
        (math.inf, "-"),
    ],
)
def test_duration(ns: float, text: str) -> None:
    assert duration(ns) == text


@given(st.integers(1, 10**18))
def test_a_displayed_duration_is_right_to_three_digits(ns: int) -> None:
    number, unit = duration(ns).split(" ")
    assert float(number.replace(",", "")) * FACTORS[unit] == pytest.approx(ns, rel=0.0051)
    assert duration(ns).isascii()


@given(st.integers(1, 10**15))
def test_cycles_are_counted_in_thousands(cycles: int) -> None:
    """To three digits, as durations are; only ns are a time."""
    measure_in("cycles")
    number, unit = duration(cycles).split(" ")
    assert unit.endswith("cycles")
    prefixes = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
    value = float(number.replace(",", "")) * prefixes[unit.removesuffix("cycles")]
    assert value == pytest.approx(cycles, rel=0.0051)
    assert duration_range(10_100, 12_300) == "10.1-12.3 kcycles"
    assert (kernel_time(5_000), less_work(8), recorded_unit()) == (
        "5.00 kcycles",
        "8.00x fewer cycles",
        "recorded cycle",
    )
    # How long something takes to simulate is a time all the same.
    assert hours(1 / 3600) == "1.00 s"
    measure_in("ns")
    assert (kernel_time(5_000), less_work(8)) == ("5.00 us of kernel time", "8.00x less GPU time")


@pytest.mark.parametrize(
    ("low_ns", "high_ns", "text"),
    [
        (10_100, 12_300, "10.1-12.3 us"),
        (12_345, 12_345, "12.3 us"),
        (12_345, 12_346, "12.345-12.346 us"),
        (40, 149_000, "40 ns-149 us"),
        (0, 149_000, "0-149 us"),
        (8, 12, "8-12 ns"),
        (10**18, 10**18 + 1, "1,000,000,000.000000000-1,000,000,000.000000001 s"),
    ],
)
def test_duration_range(low_ns: int, high_ns: int, text: str) -> None:
    assert duration_range(low_ns, high_ns) == text


@given(st.integers(0, 10**12), st.integers(1, 10**12))
def test_the_ends_of_a_range_are_told_apart(low_ns: int, width_ns: int) -> None:
    low, high = duration_range(low_ns, low_ns + width_ns).split("-")
    assert low != high.split(" ")[0] or " " in low


@pytest.mark.parametrize(
    ("x", "text"), [(1, "1.00x"), (31.24, "31.2x"), (463.2, "463x"), (1_234.5, "1,234x"), (math.inf, "-")]
)
def test_ratio(x: float, text: str) -> None:
    assert ratio(x) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0, "0.0 %"),
        (0.123, "12.3 %"),
        (0.0004, "<0.1 %"),
        (0.0006, "0.1 %"),
        (0.9996, ">99.9 %"),
        (1, "100.0 %"),
        (math.nan, "-"),
    ],
)
def test_a_share_is_never_rounded_to_a_false_nothing_or_all(fraction: float, text: str) -> None:
    assert share(fraction) == text


def test_a_share_and_the_limit_it_is_above_are_told_apart() -> None:
    assert share_above(0.645849, 0.05) == "64.6 %, above 5.0 %"
    assert share_above(0.05004, 0.05) == "5.004 %, above 5.000 %"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "", "0"),
        (999, "", "999"),
        (1_952, "", "1.95k"),
        (999_999, "", "1.00M"),
        (12_500_000, "B", "12.5 MB"),
        (7, "B", "7 B"),
        (-1_500, "", "-1.50k"),
        (math.nan, "", "-"),
    ],
)
def test_si(value: float, unit: str, text: str) -> None:
    assert si(value, unit) == text


@pytest.mark.parametrize(("value", "text"), [(500, "500"), (1_000, "1k"), (2_500, "2.5k"), (25_000, "25k")])
def test_a_round_number_has_no_idle_digits(value: int, text: str) -> None:
    assert si_tick(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(27.84, "27.8 h"), (1234, "1,234 h"), (1, "1.00 h"), (0.99999, "1.00 h"), (0.5, "30.0 min")],
        *[(1 / 60, "1.00 min"), (0.01, "36.0 s"), (1e-6, "3.60 ms"), (0, "0 ns"), (math.inf, "-")],
    ],
)
def test_hours(value: float, text: str) -> None:
    assert hours(value) == text
