"""A made-up run of a network: what is launched, how long each launch takes, and when.

Only ``random.Random.random`` is drawn from (its sequence is the same in every Python) and only arithmetic
that IEEE 754 fixes is used, so a run is the same on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Dimensions = tuple[int, int, int]
Direction = Literal["Host-to-Device", "Device-to-Host"]

#: The clock that stamps kernels on the GPU ticks every 32 ns.
TICK_NS = 32
#: Share of durations that the conversion to host time moves by a nanosecond, up or down.
_JITTERED = 0.18
_OUTLIERS = 0.0015


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel function: its names and what is fixed for all of its launches.

    ``drift`` is how much longer (shorter, if negative) the last launches of a run take than the first, as a
    fraction.
    """

    name: str
    short: str
    mangled: str
    block: Dimensions
    registers: int
    static_shared_bytes: int = 0
    dynamic_shared_bytes: int = 0
    drift: float = 0.0


@dataclass(frozen=True, slots=True)
class Peak:
    """A peak of a histogram of durations: its mean, its CoV, and its share of the launches."""

    mean_ns: int
    cov: float
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Step:
    """A position in the network: the kernel launched there, its grid, and the peaks of its durations."""

    kernel: Kernel
    grid: Dimensions
    peaks: tuple[Peak, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """One image or batch through the network: a copy in, the steps in order, a copy out."""

    input_bytes: int
    steps: tuple[Step, ...]
    output_bytes: int


@dataclass(frozen=True, slots=True)
class Times:
    """When the API was called and when the GPU worked, in ns from the start of the recording."""

    api_start_ns: int
    api_end_ns: int
    start_ns: int
    end_ns: int
    correlation: int

    @property
    def duration_ns(self) -> int:
        """How long the GPU worked."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel."""

    kernel: Kernel
    grid: Dimensions
    times: Times


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy between host and device."""

    direction: Direction
    size_bytes: int
    times: Times


@dataclass(slots=True)
class Recording:
    """A whole run, in the order in which the program issued it."""

    activities: list[Launch | Copy] = field(default_factory=list)
    pass_spans_ns: list[tuple[int, int]] = field(default_factory=list)

    @property
    def launches(self) -> list[Launch]:
        """The launches alone."""
        return [activity for activity in self.activities if isinstance(activity, Launch)]

    @property
    def copies(self) -> list[Copy]:
        """The copies alone."""
        return [activity for activity in self.activities if isinstance(activity, Copy)]


def record(passes: Sequence[Pass], *, weight_bytes: Iterable[int], seed: int) -> Recording:
    """Run the passes one after another on one stream, after copying the weights to the device."""
    recorder = _Recorder(seed)
    for size_bytes in weight_bytes:
        recorder.copy("Host-to-Device", size_bytes)
    for index, one_pass in enumerate(passes):
        recorder.run(one_pass, progress=index / max(len(passes) - 1, 1))
    return recorder.recording


class _Recorder:
    """The host and the GPU of a run: two clocks that move on with every call."""

    def __init__(self, seed: int) -> None:
        self.recording = Recording()
        self._random = random.Random(seed)
        self._host_ns = 812_345_017
        self._gpu_free_ns = 0
        self._correlation = 120
        self._launched: set[Kernel] = set()

    def run(self, one_pass: Pass, progress: float) -> None:
        begin_ns = self._host_ns
        self.copy("Host-to-Device", one_pass.input_bytes)
        for step in one_pass.steps:
            self._launch(step, progress)
        self.copy("Device-to-Host", one_pass.output_bytes)
        self.recording.pass_spans_ns.append((begin_ns, self._host_ns))
        self._host_ns += self._between(30_000, 60_000)

    def copy(self, direction: Direction, size_bytes: int) -> None:
        """Copy over PCIe at about 11 GB/s; the host waits until it is done."""
        duration_ns = _on_clock(1_300 + size_bytes / 11.0, self._random.random())
        times = self._issue(duration_ns, api_ns=self._between(4_000, 7_000))
        waited = Times(
            times.api_start_ns,
            max(times.api_end_ns, times.end_ns + self._between(2_000, 5_000)),
            times.start_ns,
            times.end_ns,
            times.correlation,
        )
        self._host_ns = waited.api_end_ns + self._between(800, 2_500)
        self.recording.activities.append(Copy(direction, size_bytes, waited))

    def _launch(self, step: Step, progress: float) -> None:
        duration_ns = self._duration_ns(step, progress)
        times = self._issue(duration_ns, api_ns=self._between(2_600, 5_200))
        self.recording.activities.append(Launch(step.kernel, step.grid, times))

    def _issue(self, duration_ns: int, api_ns: int) -> Times:
        """Call the API now; the GPU starts when the call has reached it and what came before is done."""
        api_start_ns = self._host_ns
        reached_ns = api_start_ns + self._between(4_200, 6_500)
        start_ns = max(reached_ns, self._gpu_free_ns + self._between(900, 1_400)) // TICK_NS * TICK_NS
        self._gpu_free_ns = start_ns + duration_ns
        self._host_ns = api_start_ns + api_ns + self._between(800, 2_500)
        self._correlation += 1
        return Times(api_start_ns, api_start_ns + api_ns, start_ns, self._gpu_free_ns, self._correlation)

    def _duration_ns(self, step: Step, progress: float) -> int:
        peak = self._peak(step.peaks)
        mean_ns = peak.mean_ns * (1.0 + step.kernel.drift * (progress - 0.5))
        duration_ns = mean_ns * (1.0 + peak.cov * self._normal())
        if step.kernel not in self._launched:
            self._launched.add(step.kernel)
            duration_ns *= 1.06 + 0.24 * self._random.random()
        elif self._random.random() < _OUTLIERS:
            duration_ns *= 1.25 + 1.25 * self._random.random()
        return _on_clock(duration_ns, self._random.random())

    def _peak(self, peaks: tuple[Peak, ...]) -> Peak:
        left = self._random.random()
        for peak in peaks:
            left -= peak.share
            if left < 0.0:
                return peak
        return peaks[-1]

    def _normal(self) -> float:
        """Draw from a near-normal distribution: twelve uniform draws need no library's logarithm."""
        total = 0.0
        for _ in range(12):  # not sum(): from Python 3.12 on it rounds in another way
            total += self._random.random()
        return total - 6.0

    def _between(self, low: int, high: int) -> int:
        return low + int((high - low) * self._random.random())


def _on_clock(duration_ns: float, draw: float) -> int:
    """Round to the GPU's clock; ``draw``, uniform in [0, 1), decides about the odd nanosecond."""
    ticks_ns = max(round(duration_ns / TICK_NS), 1) * TICK_NS
    if draw >= _JITTERED:
        return ticks_ns
    return ticks_ns + (1 if draw < _JITTERED / 2 else -1)
