"""A range of the tree as the region of the whole app, and the region from before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sampling.reduction.ranges.listing import RangeList, RangeOrigin
from tui.options.commands import SampleOptions

# A range is one of these options; the others stay what they are.
_NAMES = ("range", "launches")


@dataclass(frozen=True, slots=True)
class RegionChoice:
    """A range that was chosen.

    Attributes
    ----------
    path : in the tree of what the options before it keep.
    before, after : the options without it, and with it.
    """

    path: int
    before: SampleOptions
    after: SampleOptions

    @classmethod
    def of(cls, listed: RangeList, path: int, before: SampleOptions) -> RegionChoice:
        """Return the choice of a range: a named one by its path, an iteration by the ids of its launches."""
        if listed.origin(path) is RangeOrigin.NAMED:
            return cls(path, before, replace(before, range=listed.paths.written(path)))
        window = f"{int(listed.first[path])}:{int(listed.last[path]) + 1}"
        return cls(path, before, replace(before, launches=window))

    def is_in(self, options: SampleOptions) -> bool:
        """Whether options have it still: its filter may have been changed since, by the filters' form too."""
        return all(getattr(options, name) == getattr(self.after, name) for name in _NAMES)

    def taken_out(self, options: SampleOptions) -> SampleOptions:
        """Return options with the region from before; what else changed since stays."""
        return replace(options, **{name: getattr(self.before, name) for name in _NAMES})
