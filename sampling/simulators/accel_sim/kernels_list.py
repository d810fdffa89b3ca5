"""The list of traces that Accel-Sim runs, one a line, and the script that puts the traces beside it.

The simulator runs the list in its order. It looks for a trace in the folder of the list, and takes a line for
one only if it begins with ``kernel``; so traces that lie elsewhere are linked to beside the list.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence

from sampling.simulators.accel_sim.trace_folder import TraceFolder
from sampling.simulators.exporting.run_order import LOADS_FROM, Shard

#: Where ``traces`` and ``list`` are set: each trace of the list is linked to beside it, or unpacked there.
LINK_TRACES = """\
while IFS= read -r name || [ -n "$name" ]; do
  case $name in kernel*) ;; *) continue ;; esac
  if [ -e "${list%/*}/$name" ]; then
    continue
  elif [ -e "$traces/$name" ]; then
    ln -s -- "$traces/$name" "${list%/*}/$name"
  elif [ -e "$traces/$name.gz" ]; then
    gzip -dc -- "$traces/$name.gz" > "${list%/*}/$name"
  else
    fail "$name is not in $traces; set TRACES to the folder of the traces"
  fi
done < "$list"
"""


def trace_name(ordinal: int, traces: TraceFolder | None) -> str:
    """Return the file of a launch: that of the traces, or the one that a tracer without contexts writes."""
    if traces is None or ordinal >= LOADS_FROM:
        return f"kernel-{ordinal + 1}.traceg"
    return traces.files[traces.number(ordinal)]


def kernels_list(
    shard: Shard,
    traces: TraceFolder | None,
    *,
    drop_copies: bool = False,
    fills: Callable[[int], Sequence[str]] | None = None,
) -> str:
    """Return the list of a shard, in the shard's order.

    A memory copy stands before the first launch of the shard that was launched after it; copies after the
    last one are left out. Without the traces no copies are known.

    Parameters
    ----------
    fills : the lines that stand before a drawn launch, by its ordinal, instead of the program's copies.
    """
    before: defaultdict[int, list[str]] = defaultdict(list)
    if fills is not None:
        before |= {step.ordinal: list(fills(step.ordinal)) for step in shard if step.launch is not None}
    elif traces is not None and not drop_copies:
        ordinals = {traces.number(step.ordinal): step.ordinal for step in shard}
        numbers = sorted(ordinals)
        for number in sorted(traces.copies):
            place = bisect_left(numbers, number)
            if place < len(numbers):
                before[ordinals[numbers[place]]] += traces.copies[number]
    lines: list[str] = []
    for step in shard:
        lines += [*before[step.ordinal], trace_name(step.ordinal, traces)]
    return "\n".join(lines) + "\n"
