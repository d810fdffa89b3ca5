"""Which kernel groups view 1 lists: those of `groups`, as many as a person reads."""

from __future__ import annotations

from sampling.study import Study
from tui.group_list import GroupList
from tui.group_list import list_groups as list_all_groups
from tui.options import GroupSort

__all__ = ["MOST_ROWS", "GroupList", "list_groups"]

MOST_ROWS = 2_000
"""More rows make the table slow, and nobody reads them."""


def list_groups(study: Study, sort: GroupSort, search: str, most: int = MOST_ROWS) -> GroupList:
    """Return the groups whose key contains `search`, in any case, sorted; at most so many."""
    return list_all_groups(study, sort, search, most)
