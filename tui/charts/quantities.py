"""Numbers as a person reads them; for display only, never for data that is read back."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sampling.text import duration_text, duration_units

UNKNOWN = "-"

_SI_PREFIXES = tuple((prefix, 1000**power) for power, prefix in enumerate(("", *"kMGTPE")))
# A value this share of a unit already reads as 1.00 of it when it is rounded to three digits.
_READS_AS_ONE = 0.9995


# What the durations of what is shown are counted in: the program shows one workload at a time.
_unit = "ns"


def measure_in(unit: str) -> None:
    """Have durations said in ns and what is made of these, or as a number of cycles or instructions."""
    global _unit  # noqa: PLW0603
    _unit = unit


def recorded_unit() -> str:
    """One of what durations are counted in, beside simulated cycles: ``"ns"`` or ``"recorded cycle"``."""
    return _unit if _unit == "ns" else f"recorded {_unit.removesuffix('s')}"


def less_work(times: float) -> str:
    """How much less one takes than another: ``"31.2x less GPU time"``, or fewer cycles."""
    return f"{ratio(times)} {'less GPU time' if _unit == 'ns' else f'fewer {_unit}'}"


def kernel_time(ns: float) -> str:
    """How long kernels take: ``"134 ms of kernel time"``; cycles are no time."""
    return f"{duration(ns)}{' of kernel time' if _unit == 'ns' else ''}"


def duration(ns: float | None) -> str:
    """A duration in the unit that suits it, to three digits: ``"12.5 us"``; ``"-"`` if none or not finite."""
    if ns is None or not math.isfinite(ns):
        return UNKNOWN
    return f"-{duration_text(-ns, _unit)}" if ns < 0 else duration_text(ns, _unit)


def signed_duration(ns: int) -> str:
    """How much longer, "+1.20 ms", or shorter."""
    return f"+{duration(ns)}" if ns > 0 else duration(ns)


def hours(value: float) -> str:
    """Hours in the unit that suits them, to three digits: ``"27.8 h"``, ``"4.56 min"``, ``"12.0 s"``."""
    if not math.isfinite(value):
        return UNKNOWN
    for name, factor in (("h", 1), ("min", 60)):
        if value * factor >= _READS_AS_ONE:
            return f"{_three_digits(value * factor)} {name}"
    return duration_text(value * 3.6e12)


def duration_range(low_ns: int | None, high_ns: int | None) -> str:
    """A closed range of durations, ``"10.1-12.3 us"``, with enough digits for its ends to differ."""
    if low_ns is None or high_ns is None or low_ns == high_ns:
        return duration(low_ns)
    low, high = duration(low_ns), duration(high_ns)
    if low == high:
        # Equal in three digits: as many decimals of one unit as it takes.
        unit, factor = time_unit(high_ns)
        for decimals in range(len(str(factor))):
            low, high = (decimal(ns * 10**decimals // factor, decimals) for ns in (low_ns, high_ns))
            if low != high:
                break
        return f"{low}-{high} {unit}"
    number, unit = low.split(" ")
    return f"{number if low_ns == 0 or high.endswith(f' {unit}') else low}-{high}"


def decimal(scaled: int, decimals: int) -> str:
    """The number scaled / 10^decimals, exactly, its thousands apart."""
    integer, part = divmod(scaled, 10**decimals)
    return f"{integer:,}.{part:0{decimals}d}" if decimals else f"{integer:,}"


def time_unit(ns: float) -> tuple[str, int]:
    """The name and the nanoseconds of the largest unit of which `ns`, as displayed, is at least one."""
    return _largest([(name, 1000**power) for power, name in enumerate(duration_units(_unit))], ns)


def _largest(units: Sequence[tuple[str, int]], value: float) -> tuple[str, int]:
    fitting = (unit for unit in reversed(units) if value >= _READS_AS_ONE * unit[1])
    return next(fitting, units[0])


def count(n: int) -> str:
    """A whole number with its thousands apart: ``"1,952"``."""
    return f"{n:,}"


def ratio(x: float | None) -> str:
    """A speedup or another ratio, to three digits: ``"31.2x"``; ``"-"`` where there is none."""
    return UNKNOWN if x is None or not math.isfinite(x) else f"{_three_digits(x)}x"


def share(fraction: float | None) -> str:
    """A fraction as per cent with one decimal, ``"12.3 %"``; never rounded to a false 0 or 100."""
    if fraction is None or not math.isfinite(fraction):
        return UNKNOWN
    if 0 < fraction < 0.0005:
        return "<0.1 %"
    if 0.9995 <= fraction < 1:
        return ">99.9 %"
    return f"{100 * fraction:.1f} %"


def growth(x: float | None) -> str:
    """By how much a ratio is above 1 or below, in per cent; a large one as it is; ``"-"`` for none.

    >>> growth(1.0268), growth(0.99846), growth(1.0), growth(3.5), growth(31.2)
    ('+2.7 %', '-0.15 %', '0 %', '+250 %', '31.2x')
    """
    if x is None or not math.isfinite(x) or x >= 9.995:
        return ratio(x)
    percent = 100 * (x - 1)
    decimals = 0 if abs(percent) >= 99.95 else 1 if abs(percent) >= 0.995 else 2
    return f"{percent:+.{decimals}f} %" if percent else "0 %"


def growth_range(low: float | None, high: float | None) -> str:
    """The ends of an interval of a ratio, as `growth` has them.

    >>> growth_range(1.0254, 1.0282), growth_range(0.98, 12), growth_range(None, None)
    ('+2.5 to +2.8 %', '-2.0 % to 12.0x', '-')
    """
    ends = growth(low), growth(high)
    if UNKNOWN in ends:
        return UNKNOWN
    return " to ".join(ends) if "x" in ends[1] else f"{ends[0].removesuffix(' %')} to {ends[1]}"


def share_above(fraction: float, limit: float) -> str:
    """A share that is above a limit, and the limit, in as many digits as tell them apart.

    >>> share_above(0.645849, 0.05), share_above(0.05004, 0.05)
    ('64.6 %, above 5.0 %', '5.004 %, above 5.000 %')
    """
    for digits in range(1, 17):
        text, limit_text = (f"{100 * value:.{digits}f} %" for value in (fraction, limit))
        if text != limit_text:
            break
    return f"{text}, above {limit_text}"


def si(value: float, unit: str = "") -> str:
    """A quantity with an SI prefix, to three digits: ``"1.95k"``, or ``"12.5 MB"`` where it has a unit."""
    if not math.isfinite(value):
        return UNKNOWN
    if value < 0:
        return "-" + si(-value, unit)
    prefix, factor = _largest(_SI_PREFIXES, value)
    number = f"{int(value)}" if factor == 1 and value == int(value) else _three_digits(value / factor)
    return f"{number} {prefix}{unit}" if unit else f"{number}{prefix}"


def si_tick(value: int) -> str:
    """A round number on an axis, with an SI prefix and no more digits than it needs: ``"1.5k"``."""
    prefix, factor = _largest(_SI_PREFIXES, value)
    return f"{value / factor:g}{prefix}"


def _three_digits(value: float) -> str:
    """Three significant digits for values from 1 on, two decimals below."""
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
