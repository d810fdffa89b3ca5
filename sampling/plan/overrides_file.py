"""The user's split decisions as a file: one of their own, or part of a plan file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sampling.errors import PlanFileError
from sampling.json_text import read_json_object
from sampling.splitting.tree import Overrides, Verdict


@dataclass(frozen=True, slots=True)
class OverridesFile:
    """Split decisions read from a file.

    Attributes
    ----------
    method : in whose trees they were made; None where the file does not say.
    """

    overrides: Overrides
    method: str | None


def overrides_document(overrides: Overrides, method: str | None = None) -> dict[str, Any]:
    """Return split decisions as an overrides file has them, and a plan file.

    Parameters
    ----------
    method : in whose trees they were made; a plan file has it among its options.
    """
    return ({} if method is None else {"method": method}) | {
        "overrides": [
            {"key": key, "path": path, "decision": str(verdict)}
            for key, decisions in overrides.items()
            for path, verdict in decisions.items()
        ]
    }


def read_overrides(path: str) -> OverridesFile:
    """Read the user's split decisions from an overrides file or a plan file.

    Raises
    ------
    PlanFileError : it cannot be read, or an entry lacks key, path or a decision of "split" or "keep".
    """
    document = read_json_object(path)
    rows = document.get("overrides")
    if not isinstance(rows, list):
        raise PlanFileError(
            'no list "overrides"', path=path, remedy='write {"overrides": [{"key", "path", "decision"}]}'
        )
    overrides: dict[str, dict[str, Verdict]] = {}
    for number, row in enumerate(rows, start=1):
        try:
            key, node = row["key"], row["path"]
            if not isinstance(key, str) or not isinstance(node, str):
                raise TypeError("key and path are text")
            overrides.setdefault(key, {})[node] = Verdict(row["decision"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise PlanFileError(
                f"override {number} needs key, path and a decision of split or keep ({error})", path=path
            ) from error
    options = document.get("options")
    method = document.get("method", options.get("method") if isinstance(options, dict) else None)
    return OverridesFile(overrides, method if isinstance(method, str) else None)
