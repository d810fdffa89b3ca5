"""Which launch of a profile each number is that a simulator gave its launches.

Without a manifest a number counts the launches of one process, so that a plan of one process and device is
enough to tell. A manifest says it of every launch: a run is the shard whose numbers it has in its order, or
the first of them where it was killed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.simulators.manifest_file import Manifest
from sampling.simulators.measured_run import UNNUMBERED, MeasuredRun

#: In place of an id: a launch that is run for the caches' sake, has no number, or is not in the manifest.
NOT_WANTED = -1


def ids_of(
    plan: PlanFile, run: MeasuredRun, manifests: Sequence[Manifest] = (), own: Manifest | None = None
) -> IntArray:
    """Return (n,) the launch id of each launch of a run, `NOT_WANTED` for those that count for nothing.

    Parameters
    ----------
    manifests : those of the export, one for each process and device.
    own : which of them the run is of, should it fit several.

    Raises
    ------
    ProfileError : a launch has no number; the numbers can be of several processes; none is of a manifest; the
        profile has fewer launches.
    """
    if run.first_number is None:
        ids = run.number
    elif (run.number == UNNUMBERED).all():
        raise ProfileError(
            "it does not say which launch is which",
            path=run.path,
            remedy="give the output of a simulator that numbers launches, or a CSV with a column id",
        )
    else:
        ids = _by_manifests(run, manifests, own) if manifests else _by_process(plan, run)
    launches = sum(sequence.launches for sequence in plan.sequences)
    if launches and (ids >= launches).any():
        number = int(run.number[np.argmax(ids >= launches)])
        raise ProfileError(
            f"it has a launch {number}, and the plan's profile {launches:,} launches in all: "
            "the results are of another program or plan",
            path=run.path,
            remedy="give the results of the plan's own launches",
        )
    return ids


def _by_process(plan: PlanFile, run: MeasuredRun) -> IntArray:
    """Return the ids where the plan's launches are of one process and device, whose launches are numbered."""
    places = {(launch.process, launch.device) for launch in plan.drawn}
    of_process = {
        each.device for each in plan.sequences if each.process in {process for process, _ in places}
    }
    if len(places) > 1 or len(of_process) > 1:
        raise ProfileError(
            f"its launches are numbered by process, and the plan has {len(places)} processes and devices"
            if len(places) > 1
            else f"its launches are numbered by process, and the process has {len(of_process)} devices",
            path=run.path,
            remedy="give the manifest.csv that the export wrote for each of them",
        )
    first = plan.drawn[0]
    is_numbered = run.number != UNNUMBERED
    if (run.number[is_numbered] < (run.first_number or 0)).any():
        raise ProfileError(f"launches are numbered from {run.first_number}", path=run.path)
    ids = run.number - (run.first_number or 0) + (first.id - first.ordinal)
    return np.where(is_numbered, ids, NOT_WANTED)


def _by_manifests(run: MeasuredRun, manifests: Sequence[Manifest], own: Manifest | None) -> IntArray:
    """Return the ids by the one manifest, or the one part of it, that the run is of."""
    for way in (_in_order, _by_number):
        found = {each.path: ids for each in manifests if (ids := way(run, each)) is not None}
        if found:
            break
    distinct = {ids.tobytes(): ids for ids in found.values()}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    if own is not None and own.path in found:
        return found[own.path]
    of = manifests[0].path if len(manifests) == 1 else f"the {len(manifests)} manifests"
    if distinct:
        raise ProfileError(
            f"its launches can be {len(distinct)} different ones of {of}",
            path=run.path,
            remedy="give the manifests in the order of the results, one for each",
        )
    raise ProfileError(
        f"its launches are not those of {of}",
        path=run.path,
        remedy="give the manifest of what was run",
    )


def _in_order(run: MeasuredRun, manifest: Manifest) -> IntArray | None:
    """Return the ids where the run has the launches of one shard in its order, or the first of them."""
    found = []
    for shard in np.unique(manifest.shard).tolist():
        inside = np.flatnonzero(manifest.shard == shard)[: len(run.number)]
        if len(inside) == len(run.number) and (manifest.number[inside] == run.number).all():
            found.append(np.where(manifest.is_warm_up[inside], NOT_WANTED, manifest.id[inside]))
    return found[0] if len({ids.tobytes() for ids in found}) == 1 else None


def _by_number(run: MeasuredRun, manifest: Manifest) -> IntArray | None:
    """Return the ids by the numbers alone; None where not one is of the manifest."""
    drawn = ~manifest.is_warm_up
    known = dict(zip(manifest.number[drawn].tolist(), manifest.id[drawn].tolist(), strict=True))
    warmed = set(manifest.number[~drawn].tolist())
    numbers = run.number.tolist()
    # A run of launches that the manifest does not name is none of this export, and has no warm-ups.
    is_of_export = all(number in known or number in warmed for number in numbers)
    both = [number for number in numbers if number in known and number in warmed]
    if both and is_of_export:
        raise ProfileError(
            f"launch {both[0]} is a warm-up too, and the order of launches is not that of {manifest.path}",
            path=run.path,
            remedy="give the manifest of what was run",
        )
    ids = np.array([known.get(number, NOT_WANTED) for number in numbers], dtype=np.int64)
    return ids if (ids != NOT_WANTED).any() else None
