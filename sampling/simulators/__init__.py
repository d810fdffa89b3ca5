"""Simulators and tools a plan can be handed to: one module each.

A new one is one new module and one line in ``_MODULES``. A module has::

    NOTE: str                                  # how its ids are counted, and whether it was tried here
    def export(plan: PlanFile) -> Exported     # (relative path, content) pairs
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from sampling.errors import OptionError
from sampling.plan_file import PlanFile

#: What an exporter writes: relative path and content of each file.
Exported = tuple[tuple[str, str], ...]

_MODULES = {"csv": "sampling.simulators.csv_list"}


class Exporter(Protocol):
    """What every module of this package offers."""

    NOTE: str

    def export(self, plan: PlanFile) -> Exported:
        """Return the files that tell the target which launches to simulate."""


def exporter_named(name: str) -> Exporter:
    """Return an exporter.

    Raises
    ------
    OptionError : there is none of that name.
    """
    if name not in _MODULES:
        raise OptionError(f"there is no exporter {name!r}", remedy=f"there is {', '.join(_MODULES)}")
    return cast("Exporter", import_module(_MODULES[name]))
