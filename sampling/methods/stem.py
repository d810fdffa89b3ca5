"""STEM-only: Allegro's splitting and sizes on kernels grouped by name. [STEM+ROOT section V-A]

Under one and the same ``--group-by`` it is Allegro; the papers differ in the grouping alone.
"""

from __future__ import annotations

from sampling.methods.allegro import Options, rule, sized, split_tree, stratify
from sampling.reduction.group_by import GroupBy

__all__ = [
    "NEEDS",
    "PUBLISHED_GROUPING",
    "RANDOM",
    "SOURCE",
    "SPLITS",
    "Options",
    "rule",
    "sized",
    "split_tree",
    "stratify",
]

SOURCE = "STEM+ROOT, section V-A (STEM-only)"
NEEDS: tuple[str, ...] = ()
PUBLISHED_GROUPING = GroupBy.NAME
RANDOM = True
SPLITS = True
