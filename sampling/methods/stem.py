"""STEM-only: Allegro's splitting and sizes on kernels grouped by name. [STEM+ROOT section V-A]

Under one and the same grouping it is Allegro; the papers differ in the grouping alone.
"""

from __future__ import annotations

from dataclasses import replace

from sampling.methods import allegro
from sampling.reduction.group_by import GroupBy

METHOD = replace(
    allegro.METHOD,
    name="stem",
    source="STEM+ROOT, section V-A (STEM-only)",
    published_grouping=GroupBy.NAME,
)
