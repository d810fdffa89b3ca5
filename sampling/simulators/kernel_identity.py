"""Whether a launch of a plan and one that a simulator or tracer names are of one kernel."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from sampling.features.names import bare_spelling, common_spelling
from sampling.plan.other_recording.kernel_texts import shortened_names
from sampling.plan.plan_file import PlannedLaunch
from sampling.profile.names import MANGLED, readable_name, short_name
from sampling.profile.profile import Dimensions
from sampling.simulators.exporting.manifest import dimensions_text
from sampling.simulators.measured_run import SeenKernel

_THREADS_OF_WARP = 32


@lru_cache(maxsize=1 << 14)
def is_same_name(planned: str, seen: str) -> bool | None:
    """Return whether two names are of one kernel, mangled or not; None where nothing here can tell.

    Scope and template arguments must agree, unless the plan has the function's name alone; parameters are
    compared where both have them in full, for demanglers leave some out.

    >>> is_same_name("vecadd(const float *, float *)", "_Z6vecaddPKfPf"), is_same_name("f(int)", "_Z1gi")
    (True, False)
    """
    if planned == seen:
        return True
    one, other = map(readable_name, (planned, seen))
    is_mangled = [name.startswith(MANGLED) for name in (one, other)]
    if all(is_mangled):
        return False
    if any(is_mangled):
        # What could not be demangled holds at least the function's own name, with its length before it.
        mangled, readable = (one, other) if is_mangled[0] else (other, one)
        own = short_name(readable)
        return None if f"{len(own)}{own}" in mangled else False
    if common_spelling(one) == common_spelling(other) or bare_spelling(one) == bare_spelling(other):
        return True
    # A profile may have recorded the function's own name alone.
    return one.isidentifier() and one == short_name(other)


def differs(planned: PlannedLaunch, seen: SeenKernel) -> bool | None:
    """Return whether a launch is another than the plan's; None where all fits but names cannot be compared.

    What one of the two does not say is not compared.
    """
    for there, here in ((seen.grid, planned.grid), (seen.block, planned.block)):
        if there is not None and here is not None and there != here:
            return True
    if seen.warps is not None and _warps(planned) not in {None, seen.warps}:
        return True
    if not seen.name:
        return False
    is_same = is_same_name(planned.name, seen.name)
    return None if is_same is None else not is_same


def _warps(launch: PlannedLaunch) -> int | None:
    if launch.grid is None or launch.block is None:
        return None
    return prod(launch.grid) * -(-prod(launch.block) // _THREADS_OF_WARP)


def kernels_apart(planned: PlannedLaunch, seen: SeenKernel) -> tuple[str, str]:
    """Return the plan's kernel and another as a message names them, still different where they differ."""
    planned_name, seen_name = shortened_names(readable_name(planned.name), readable_name(seen.name))
    one = _kernel_text(planned_name, planned.grid, planned.block)
    other = _kernel_text(seen_name, seen.grid, seen.block)
    warps = _warps(planned)
    if seen.warps is None or warps is None:
        return one, other
    return f"{one} of {warps:,} warps", f"a kernel of {seen.warps:,} warps"


def _kernel_text(name: str, grid: Dimensions | None, block: Dimensions | None) -> str:
    return f"{name} <<<{dimensions_text(grid) or '?'}, {dimensions_text(block) or '?'}>>>"
