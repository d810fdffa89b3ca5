"""The manifest of an export: which launch of the profile is which of the target's, and what it weighs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from sampling.profile.profile import Dimensions
from sampling.simulators.exporting.choices import PREDECESSORS
from sampling.simulators.exporting.run_order import Part

COLUMNS = (
    *("id", "simulator_id", "stratum", "weight", "warm_up", "caches", "shard", "order"),
    *("process", "device", "ordinal", "occurrence", "duration_ns", "grid", "block", "name"),
)


def manifest(part: Part, simulator_ids: Mapping[int, object], caches: str = "") -> tuple[str, str]:
    """Return ``manifest.csv`` of a part: one row a launch that is run, in the order of each shard.

    ``shard`` and ``order`` count from 1. What is run for the caches' sake has ``warm_up`` 1, weighs 0 and has
    no stratum; what the plan does not say of it is empty. A launch that is checked has a second row, which
    weighs 0 too and says after how many others it runs.

    Parameters
    ----------
    simulator_ids : how the target calls a launch, by its ordinal; empty where it is not known.
    caches : what drawn launches find in the caches, as `ExportChoices` has it; "" where the program runs.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, shard in enumerate(part.shards, start=1):
        for order, step in enumerate(shard, start=1):
            place = (part.process, part.device, step.ordinal)
            head = (step.id, simulator_ids.get(step.ordinal, ""))
            if (launch := step.launch) is None:
                writer.writerow((*head, "", 0, 1, "", number, order, *place, "", "", "", "", ""))
                continue
            sizes = (dimensions_text(launch.grid), dimensions_text(launch.block))
            weight, state = (0, f"after:{PREDECESSORS}") if step.is_check else (repr(launch.weight), caches)
            weighed = (step.stratum, weight, 0, state, number, order)
            known = (launch.occurrence, launch.duration_ns, *sizes, launch.name)
            writer.writerow((*head, *weighed, *place, *known))
    return f"{part.folder}manifest.csv", text.getvalue()


def dimensions_text(dimensions: Dimensions | None) -> str:
    """Return a grid or a block as 8x1x1; nothing where it is not known."""
    return "" if dimensions is None else "x".join(map(str, dimensions))
