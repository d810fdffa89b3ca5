"""What lies beside a profile: plans made from it, and split decisions on its kernel groups."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from sampling.errors import SamplingError
from sampling.plan.plan_file import read_overrides
from sampling.plan.study import Study
from sampling.text import counted
from tui.options.command_line import command_line
from tui.options.commands import OpenOptions
from tui.options.places import head_of, is_plan

_MOST_LISTED, _MOST_OPENED, _MOST_BYTES = 5_000, 100, 1 << 20
_PATH = re.compile(r'"path":\s*("(?:[^"\\]|\\.)*")')
_MOST_NAMED = 3
_TAIL_BYTES = 64


def beside_profile(profiles: Collection[str], study: Study, opened: Collection[str]) -> tuple[str, ...]:
    """Return a line on the plans, and one on the split decisions, that lie beside a profile or here.

    A plan is of the profile if the files it names are called as its files; opening it checks their content.

    Parameters
    ----------
    opened : files that are open already.
    """
    names = {Path(file.path).name for file in study.profile.files}
    keys = {group.key for group in study.counts.groups}
    plans: list[str] = []
    decided: list[tuple[str, int]] = []
    known = {Path(each).resolve() for each in opened}
    for path in _json_files({Path(), *(Path(profile).parent for profile in profiles)}):
        if path.resolve() in known:
            continue
        with suppress(OSError, SamplingError, ValueError):
            if is_plan(str(path)):
                of_files = _names_in(path)
                if of_files and of_files <= names and _is_whole(path):
                    plans.append(str(path))
            elif number := _decisions_on(path, keys):
                decided.append((str(path), number))
    return (*_plan_words(plans), *_decision_words(tuple(profiles), decided))


def _json_files(folders: Collection[Path]) -> Iterator[Path]:
    """Yield the newest JSON files of some folders."""
    for folder in {each.resolve(): each for each in sorted(folders)}.values():
        with suppress(OSError), os.scandir(folder) as entries:
            listed = [entry for entry, _ in zip(entries, range(_MOST_LISTED), strict=False)]
            files = [each for each in listed if each.name.endswith(".json") and each.is_file()]
            files.sort(key=lambda each: -each.stat().st_mtime_ns)
            yield from (folder / each.name for each in files[:_MOST_OPENED])


def _names_in(path: Path) -> set[str]:
    """Return the names of the files that a plan was made from, as far as they stand at its beginning."""
    head = head_of(path).decode("utf-8", "replace").partition('"options"')[0]
    return {Path(json.loads(text)).name for text in _PATH.findall(head)}


def _is_whole(path: Path) -> bool:
    """Return whether an object of JSON ends where its file does; one that was cut off does not."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _TAIL_BYTES, 0))
        return file.read().rstrip().endswith(b"}")


def _decisions_on(path: Path, keys: Collection[str]) -> int:
    """Return how many split decisions a file has, 0 where none is on these kernel groups."""
    if path.stat().st_size > _MOST_BYTES or b'"overrides"' not in head_of(path):
        return 0
    found = read_overrides(str(path)).overrides
    return sum(map(len, found.values())) if any(key in keys for key in found) else 0


def _plan_words(plans: list[str]) -> Iterator[str]:
    if len(plans) == 1:
        yield f"{plans[0]} lies beside: `{_opening(plans[0])}` opens it"
    elif plans:
        more = f" and {len(plans) - _MOST_NAMED} more" if len(plans) > _MOST_NAMED else ""
        named = ", ".join(plans[:_MOST_NAMED])
        yield f"plans lie beside, {named}{more}: `{_opening(plans[0])}` opens the newest"


def _decision_words(profiles: tuple[str, ...], decided: list[tuple[str, int]]) -> Iterator[str]:
    if decided:
        path, number = decided[0]
        line = _opening(*profiles, overrides=path)
        held = counted(number, "split decision", "split decisions")
        yield f"{path} has {held} on these kernel groups: `{line}` opens with them"


def _opening(*profiles: str, overrides: str | None = None) -> str:
    line = command_line("open", OpenOptions(profiles=profiles, overrides=overrides))
    return line.replace(" open ", " ", 1)
