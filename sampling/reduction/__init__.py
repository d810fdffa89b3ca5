"""What a plan is made from: the region that is kept, its kernel groups, their durations and counts."""

from __future__ import annotations

from enum import StrEnum


class GroupBy(StrEnum):
    """What launches of one group share.

    ``launch``: full name, grid and block (Allegro section IV-A). ``name``: the full name (STEM+ROOT section
    IV-C). ``short-name``: the function's own name. ``stem-script``: the name cut at its first "(", as STEM's
    published script does, which merges distinct kernels. ``operator``: the framework's operator, its input
    shapes and types. ``published``: each method its own paper's key.
    """

    LAUNCH = "launch"
    NAME = "name"
    SHORT_NAME = "short-name"
    STEM_SCRIPT = "stem-script"
    OPERATOR = "operator"
    PUBLISHED = "published"
