"""What was measured of one benchmark: IPC of the scale models, the miss-rate curve, the memory stalls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sampling.errors import OptionError

# Beyond these a number is a slip, and a double could not hold what is extrapolated from it.
LARGEST_SIZE = 10**9
_LEAST_IPC, _MOST_IPC = 1e-12, 1e12


class Scaling(StrEnum):
    """What grows with the system. [GPU scale-model simulation, sections III and VII-D]"""

    STRONG = "strong"
    WEAK = "weak"
    CHIPLET = "chiplet"

    @property
    def has_cliffs(self) -> bool:
        """Whether the working set can come to fit: only where it does not grow with the system."""
        return self is Scaling.STRONG

    @property
    def unit(self) -> str:
        """What a size counts, in words."""
        return "chiplets" if self is Scaling.CHIPLET else "SMs"


class MpkiUnit(StrEnum):
    """Whose thousand instructions the misses are counted per."""

    THREAD = "thread"
    WARP = "warp"

    @property
    def threads(self) -> int:
        """Thread instructions in one of the unit's."""
        return 32 if self is MpkiUnit.WARP else 1


class TraceFormat(StrEnum):
    """The formats an address trace is read in; all but the binary ones are recognised by content."""

    TEXT = "text"
    BINARY = "binary"
    BINARY_32 = "binary32"
    CSV = "csv"
    ACCEL_SIM = "traceg"


#: What to do about a size, or a number, that cannot be read.
SIZE_REMEDY = "count SMs or chiplets"
NUMBER_REMEDY = "write it with a decimal point, without units"


def wrong_size(size: float) -> str | None:
    """Return what is wrong with a size, None where nothing is; so do the three below."""
    if size % 1 == 0 and 1 <= size <= LARGEST_SIZE:
        return None
    return f"a size is a whole number from 1 to {LARGEST_SIZE:,}, not {size:.12g}"


def wrong_ipc(ipc: float) -> str | None:
    """Return what is wrong with an IPC."""
    is_right = _LEAST_IPC <= ipc <= _MOST_IPC
    return None if is_right else f"an IPC is a number above 0 and at most {_MOST_IPC:g}, not {ipc:g}"


def wrong_mpki(mpki: float) -> str | None:
    """Return what is wrong with an MPKI."""
    return None if math.isfinite(mpki) and mpki >= 0 else f"an MPKI is 0 or more, not {mpki:g}"


def wrong_f_mem(f_mem: float) -> str | None:
    """Return what is wrong with an f_mem."""
    hint = f"; as a fraction {f_mem:g} % is {f_mem / 100:g}" if 1 < f_mem < 100 else ""
    return None if 0 <= f_mem < 1 else f"f_mem is a fraction from 0 to below 1, not {f_mem:g}{hint}"


#: What may be measured at a size, and the function that says what is wrong with a value of it.
WRONG_VALUE: Mapping[str, Callable[[float], str | None]] = {
    "ipc": wrong_ipc,
    "mpki": wrong_mpki,
    "f_mem": wrong_f_mem,
}


@dataclass(frozen=True, slots=True)
class Measurements:
    """One benchmark over system sizes, SMs or chiplets.

    A size may have its MPKI alone: the miss-rate curve reaches further than the simulations. The IPC of a
    size beyond the scale models is what a prediction is compared with. Raises OptionError: a size or a value
    is out of its range.
    """

    name: str
    #: Size -> instructions per cycle of the whole system, above 0.
    ipc: Mapping[int, float]
    #: Size -> last-level cache misses per thousand instructions, 0 or more.
    mpki: Mapping[int, float]
    #: Size -> share of the cycles in which an SM fetches nothing as all warps wait for memory, [0, 1).
    f_mem: Mapping[int, float]
    peak_ipc_per_sm: float | None = None
    mpki_unit: MpkiUnit = MpkiUnit.THREAD
    scaling: Scaling = Scaling.STRONG
    #: (size, low, high) of the MPKI that have a sampling error.
    mpki_bounds: tuple[tuple[int, float, float], ...] = ()

    def __post_init__(self) -> None:
        for size in self.sizes:
            if wrong := wrong_size(size):
                raise OptionError(wrong)
            for kind, wrong_value in WRONG_VALUE.items():
                value = getattr(self, kind).get(size)
                if value is not None and (wrong := wrong_value(value)):
                    raise OptionError(f"at size {size} {wrong}")
        peak = self.peak_ipc_per_sm
        if peak is None:
            return
        if self.scaling is Scaling.CHIPLET:
            raise OptionError("a peak IPC per SM bounds nothing where sizes are chiplets", remedy="drop it")
        if wrong := wrong_ipc(peak):
            raise OptionError(f"the peak IPC per SM: {wrong}", remedy="give what an SM can do in a cycle")
        for size, ipc in sorted(self.ipc.items()):
            if ipc > peak * size:
                message = f"the IPC at size {size} is {ipc / size:g} per SM, above the peak of {peak:g}"
                raise OptionError(
                    message, remedy="give both in the same instructions, of threads or of warps"
                )

    @property
    def sizes(self) -> tuple[int, ...]:
        """All sizes, ascending."""
        return tuple(sorted({*self.ipc, *self.mpki, *self.f_mem}))

    @property
    def simulated_sizes(self) -> tuple[int, ...]:
        """The sizes that have an IPC, ascending."""
        return tuple(sorted(self.ipc))

    @property
    def curve(self) -> tuple[tuple[int, float], ...]:
        """The miss-rate curve: (size, MPKI) where it is known, ascending."""
        return tuple(sorted(self.mpki.items()))


Pairs = Iterable[tuple[int, float]]


def collect_measurements(
    ipc: Pairs,
    mpki: Pairs = (),
    f_mem: Pairs = (),
    *,
    name: str = "",
    peak_ipc_per_sm: float | None = None,
    mpki_unit: MpkiUnit = MpkiUnit.THREAD,
    scaling: Scaling = Scaling.STRONG,
) -> Measurements:
    """Return the measurements of (size, value) pairs, in any order; OptionError as of `Measurements`."""
    columns: dict[str, dict[int, float]] = {"IPC": {}, "MPKI": {}, "f_mem": {}}
    for (kind, values), pairs in zip(columns.items(), (ipc, mpki, f_mem), strict=True):
        for size, value in pairs:
            if size in values:
                raise OptionError(f"the {kind} at size {size} is given twice", remedy="give each size once")
            values[size] = value
    three = (columns["IPC"], columns["MPKI"], columns["f_mem"])
    return Measurements(name, *three, peak_ipc_per_sm, mpki_unit, scaling)
