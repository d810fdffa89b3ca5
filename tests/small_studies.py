"""Speedups of programs on configurations that nobody simulated: as a study of them is summed up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sampling.study.summary import (
    ConfigurationSummary,
    MeanSpeedup,
    MeanSpeedups,
    OptionChange,
    ProgramSpeedups,
    SpeedupCell,
    SpeedupSummary,
)

#: A speedup with the half-width of its logarithm, which is NaN where there is no interval.
Contrast = tuple[float, float]


def made_summary(
    programs: Mapping[str, Sequence[Contrast | None]], configurations: Sequence[str], base: str = "base"
) -> SpeedupSummary:
    """Return the summary of programs with a speedup for each configuration; None where it has no results."""
    means = {}
    for place, name in enumerate(configurations):
        contrasts = [row[place] for row in programs.values()]
        if len(contrasts) > 1 and None not in contrasts:
            logs = [math.log(speedup[0]) for speedup in contrasts if speedup is not None]
            half_width = (
                sum(speedup[1] for speedup in contrasts if speedup is not None) / len(contrasts) ** 1.5
            )
            means[name] = MeanSpeedup(*_ends(math.exp(sum(logs) / len(logs)), half_width), "faster")
    return SpeedupSummary(
        base=base,
        configurations=[
            ConfigurationSummary(
                name=name,
                files=[f"{name}.log"],
                caches="warm",
                options_changed=[] if name == base else [OptionChange("-gpgpu_scheduler", "lrr", name)],
            )
            for name in (base, *configurations)
        ],
        programs=[
            ProgramSpeedups(
                name=program,
                launches=1000 + number,
                drawn=20 + number,
                cells=[
                    _cell(base, base, (1.0, 0.0), "base"),
                    *(
                        _cell(name, base, contrast)
                        for name, contrast in zip(configurations, row, strict=True)
                    ),
                ],
            )
            for number, (program, row) in enumerate(programs.items())
        ],
        means=MeanSpeedups(means, means, means) if len(programs) > 1 else None,
        groups=[],
        confidence=0.95,
        simultaneous=len(configurations) > 1,
        same_within=0.005,
        target_met=None,
        next=[],
    )


def _ends(ratio: float, half_width: float) -> tuple[float, float | None, float | None]:
    if math.isnan(half_width):
        return ratio, None, None
    return ratio, ratio * math.exp(-half_width), ratio * math.exp(half_width)


def _cell(name: str, base: str, contrast: Contrast | None, verdict: str = "faster") -> SpeedupCell:
    ratio, low, high = (None, None, None) if contrast is None else _ends(*contrast)
    return SpeedupCell(
        configuration=name,
        base=base,
        cycles=None if ratio is None else 123_456_789 / ratio,
        speedup=ratio,
        low=low,
        high=high,
        verdict=None if low is None else verdict,
        launches=0 if ratio is None else 20,
        differing=0 if ratio is None else 7,
        missing=20 if ratio is None else 0,
        launches_to_tell=None,
        remark=f"no results yet: out/{name}.log" if ratio is None else None,
    )
