"""A simulator's results beside a plan file: proposed where results are asked for, read only when asked."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from sampling.errors import SamplingError
from sampling.readers.input_file import open_input
from sampling.simulators.registry import looks_like_results

_MOST_LISTED, _MOST_OPENED = 5_000, 20
_LOGS = (".log", ".out", ".log.gz", ".out.gz")


def results_beside(plan: str) -> tuple[str, ...]:
    """Return the files beside a plan that are named after it, or after results, and look like results.

    Of logs that are named after neither the newest is meant. Nothing where none is there.
    """
    folder, stem = Path(plan).parent, Path(plan).stem
    kinds: tuple[list[Path], list[Path], list[Path]] = ([], [], [])
    with suppress(OSError):
        for path in _newest_first(folder):
            name = path.name.lower()
            if path.name == Path(plan).name or name.endswith(".json"):
                continue
            if path.name.startswith((f"{stem}.", f"{stem}-", f"{stem}_")):
                kinds[0].append(path)
            elif "result" in name:
                kinds[1].append(path)
            elif name.endswith(_LOGS):
                kinds[2].append(path)
    for paths, most in zip(kinds, (_MOST_OPENED, _MOST_OPENED, 1), strict=True):
        found = sorted(str(path) for path in paths[:_MOST_OPENED] if _looks_like_results(path))[:most]
        if found:
            return tuple(found)
    return ()


def _newest_first(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        files = [entry for entry, _ in zip(entries, range(_MOST_LISTED), strict=False) if entry.is_file()]
    return [folder / entry.name for entry in sorted(files, key=lambda each: -each.stat().st_mtime_ns)]


def _looks_like_results(path: Path) -> bool:
    try:
        with open_input(str(path)) as file:
            return looks_like_results(file)
    except (SamplingError, OSError):
        return False
