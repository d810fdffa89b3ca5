"""The filters of names and durations, launch by launch: for what reads a profile without reducing it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray
from sampling.profile.profile import Profile
from sampling.reduction.region import Region, names_kept, names_passing
from sampling.reduction.short_launches import LeftOut, too_long


@dataclass(frozen=True, slots=True)
class KeptRows:
    """What the filters of a region keep.

    Attributes
    ----------
    launches : how many.
    total_duration_ns : of all of them.
    left_out : what the least duration leaves out; None where the region sets none.
    """

    launches: int
    total_duration_ns: int
    left_out: LeftOut | None


class RowFilters:
    """Filters one part of the launches after another, and remembers what it has kept."""

    def __init__(self, profile: Profile, region: Region) -> None:
        self._profile, self._region = profile, region
        self._present = np.zeros(0, dtype=np.bool_)
        self._names_pass = np.zeros(0, dtype=np.bool_)
        self._longest_ns = 0
        self._kept = self._kept_ns = self._short = self._short_ns = 0

    def kept(self, name: AnyIntArray, duration_ns: AnyIntArray) -> BoolArray:
        """Return (n,) which launches are kept.

        Parameters
        ----------
        name : (n,) name codes.
        duration_ns : (n,) durations.
        """
        names = len(self._profile.kernels.names)
        if len(self._names_pass) < names:
            self._names_pass = names_passing(self._profile, self._region)
            self._present = np.append(self._present, np.zeros(names - len(self._present), dtype=np.bool_))
        self._present[np.flatnonzero(np.bincount(name, minlength=names))] = True
        kept: BoolArray = self._names_pass[name]
        least_ns = self._region.min_duration_ns
        if least_ns is not None:
            named_ns = duration_ns[kept]
            self._longest_ns = max(self._longest_ns, int(named_ns.max(initial=0)))
            kept &= duration_ns >= least_ns
            self._short += len(named_ns) - int(np.count_nonzero(kept))
            self._short_ns += int(named_ns[named_ns < least_ns].sum())
        self._kept += int(np.count_nonzero(kept))
        self._kept_ns += int(duration_ns[kept].sum())
        return kept

    def total(self) -> KeptRows:
        """Return what all parts so far come to.

        Raises
        ------
        EmptySelectionError : nothing is left.
        """
        if not self._kept:
            names_kept(self._profile, self._region, self._present)
            raise too_long(self._region, self._longest_ns)
        left_out = None if self._region.min_duration_ns is None else LeftOut(self._short, self._short_ns)
        return KeptRows(self._kept, self._kept_ns, left_out)
