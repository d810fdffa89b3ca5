"""Plans that many tests ask for are made once: of equal reductions and options plans are equal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from sampling.plan import comparison, draft, sensitivity
from sampling.plan.design import Design, make_design
from sampling.reduction.duration_counts import DurationCounts

# Larger ones are not kept, nor what is planned by a cost, which the digest does not tell.
_MOST_PAIRS = 100_000
_MADE: dict[tuple[object, ...], Design] = {}


@contextmanager
def plans_made_once() -> Iterator[None]:
    """Let equal plans be made once in this process for as long as this lasts."""
    with ExitStack() as patches:
        for module in (draft, sensitivity, comparison):
            patches.enter_context(patch.object(module, "make_design", _make_design))
        yield


def _make_design(counts: DurationCounts, *given: Any, **named: Any) -> Design:
    asked = sorted((name, value) for name, value in named.items() if name != "progress")
    if len(counts.duration_ns) > _MOST_PAIRS or counts.cost is not None or named.get("launches") is not None:
        return make_design(counts, *given, **named)
    key = (_digest(counts), repr((given, asked)))
    if key not in _MADE:
        _MADE[key] = make_design(counts, *given, **named)
    return _MADE[key]


def _digest(counts: DurationCounts) -> str:
    """Return what tells reductions apart: their content, what was selected, and the codes of this process."""
    content = hashlib.sha256(repr((counts.grouping, counts.region)).encode())
    content.update("\0".join(group.key for group in counts.groups).encode())
    content.update(repr([(each.sequence, each.first_id, each.launches) for each in counts.selected]).encode())
    for column in (counts.offsets, counts.duration_ns, counts.count, counts.group_of_raw):
        content.update(column.tobytes())
    return content.hexdigest()
