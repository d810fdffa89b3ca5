"""The plain list: one CSV row a drawn launch, for scripts of one's own."""

from __future__ import annotations

import csv
import io

from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import Dimensions

NOTE = "ids, ordinals and occurrences count from 0, as in the plan"
_IDENTITY = ("id", "process", "device", "ordinal", "occurrence")
_COLUMNS = (*_IDENTITY, "weight", "duration_ns", "grid", "block", "name", "stratum")


def export(plan: PlanFile) -> tuple[tuple[str, str], ...]:
    """Return one file, launches.csv, in id order; ``stratum`` is the 0-based place in the plan's list."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    rows = [(launch, number) for number, stratum in enumerate(plan.strata) for launch in stratum.launches]
    for launch, stratum_number in sorted(rows, key=lambda row: row[0].id):
        writer.writerow(
            (
                launch.id,
                launch.process,
                launch.device,
                launch.ordinal,
                launch.occurrence,
                repr(launch.weight),
                launch.duration_ns,
                _text(launch.grid),
                _text(launch.block),
                launch.name,
                stratum_number,
            )
        )
    return (("launches.csv", text.getvalue()),)


def _text(dimensions: Dimensions | None) -> str:
    return "" if dimensions is None else "x".join(map(str, dimensions))
