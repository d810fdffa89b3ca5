"""Whether a launch of a plan and one that a tracer recorded are of one kernel, by their names."""

from __future__ import annotations

from sampling.features.names import bare_spelling, common_spelling, demangled
from sampling.profile.names import short_name
from sampling.profile.profile import Dimensions
from sampling.simulators.exporting.manifest import dimensions_text
from sampling.text import shortened


def is_same_kernel(planned: str, traced: str) -> bool:
    """Return whether two spellings, mangled or not, are of one kernel.

    Scope and template arguments must agree, unless the plan has the function's name alone.

    >>> is_same_kernel("vecadd(float const*, float*)", "_Z6vecaddPKfPf"), is_same_kernel("f()", "_Z1gv")
    (True, False)
    """
    if planned == traced:
        return True
    one, other = demangled(planned) or planned, demangled(traced) or traced
    for mangled, readable in ((one, other), (other, one)):
        if mangled.startswith("_Z") and not readable.startswith("_Z"):
            # There is no demangler here: the function's own name, with its length before it, stands in it.
            own = short_name(readable)
            return f"{len(own)}{own}" in mangled
    if one.isidentifier():
        return one == short_name(other)
    return any(form(one) == form(other) for form in (common_spelling, bare_spelling))


def kernel_text(name: str, grid: Dimensions | None, block: Dimensions | None) -> str:
    """Return a kernel as a message names it."""
    return f"{shortened(name)} <<<{dimensions_text(grid) or '?'}, {dimensions_text(block) or '?'}>>>"
