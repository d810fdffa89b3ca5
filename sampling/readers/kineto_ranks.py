"""The ranks of a distributed run whose PyTorch profiler traces were merged into one file.

Who merges traces keeps what each event says, but for its process: SGLang writes ``[TP01] 83`` for 83, others
put a rank before it or add an offset, so that viewers show the ranks apart. Calls are numbered by each rank
alone, so one number may be in every rank. In a trace of one process a kernel's process is its device.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import IntArray, dense_codes
from sampling.readers.kineto_events import Calls, Kernels

_IN_BRACKETS = re.compile(r"\s*\[([^\]]*)\]")
_RANK = re.compile(r"rank\W{0,3}_?([0-9]+)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"[0-9]*\s*\Z")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """The ranks of a trace, by their place in ``numbers``."""

    numbers: tuple[int, ...]
    #: The processes that events name, each with its code
    processes: Mapping[Any, int]
    #: (n,) the rank of each launch
    of_launch: IntArray
    #: The rank of each process, by its code; -1 of one that is of none
    of_process: IntArray

    def launch_numbers(self) -> IntArray:
        """Return (n,) the number of each launch's rank."""
        return np.array(self.numbers)[self.of_launch]

    def numbered_apart(self, *numbered: tuple[IntArray, IntArray]) -> list[IntArray]:
        """Return correlation numbers, given with their ranks, such that those of two ranks differ; or -1."""
        numbers = np.unique(np.concatenate([number for number, _ in numbered]))
        return [
            np.where((number >= 0) & (rank >= 0), rank * len(numbers) + np.searchsorted(numbers, number), -1)
            for number, rank in numbered
        ]


def merged_ranks(processes: Mapping[Any, int], launches: Kernels, calls: Calls) -> Ranks | None:
    """Return the ranks whose traces a file holds; None: it is a trace of one process.

    ``processes`` are the processes that events name, each with its code; launches are of two or more.
    """
    names = list(processes)
    pair, first = dense_codes([launches.process, launches.device - launches.device.min()])
    owners = [_owner(names[launches.process[row]], int(launches.device[row])) for row in first.tolist()]
    # A process records its own calls alone.
    is_unchanged = len({*owners}) == 1 and len(np.unique(calls.process[calls.correlation >= 0])) > 1
    if is_unchanged:
        # Each rank has its own device.
        owners = [names[process] for process in launches.process[first].tolist()]
    distinct = sorted({*owners}, key=_natural_order)
    if len(distinct) < 2:
        return None
    numbers = _rank_numbers(distinct)
    by_rank = np.argsort(numbers, kind="stable").tolist()
    place = {distinct[index]: rank for rank, index in enumerate(by_rank)}
    of_pair = np.array([place[owner] for owner in owners], dtype=np.int64)
    # A process named by a number is of the rank whose kernels it launched.
    of_process = np.array([-1 if _is_number(name) else place.get(_owner(name, 0), -1) for name in names])
    untold = [code for code in np.unique(calls.process).tolist() if of_process[code] < 0]
    turn = list(range(len(distinct)))
    if is_unchanged:
        # Files were put behind each other, so what comes first is of one rank.
        turn = [*dict.fromkeys(of_pair[np.argsort(first)].tolist())]
    else:
        untold.sort(key=lambda code: _natural_order(names[code]))
    assigned = set[int]()
    for code in untold:
        answered = _answered(calls, code, launches, of_pair[pair], len(distinct))
        best = [rank for rank in turn if answered[rank] == answered.max()]
        if answered.any():
            of_process[code] = next((rank for rank in best if rank not in assigned), best[0])
            assigned.add(int(of_process[code]))
    return Ranks(tuple(numbers[index] for index in by_rank), processes, of_pair[pair], of_process)


def _is_number(process: Any) -> bool:
    return _as_number(process) is not None


def _as_number(process: Any) -> int | None:
    try:
        return int(process)
    except (TypeError, ValueError, OverflowError):
        return None


def _owner(process: Any, device: int) -> Any:
    """Return what tells whose a kernel of a device is: an offset, or the text around a process's number."""
    number = _as_number(process)
    if number is not None:
        return number - device
    text = str(process)
    if (match := _IN_BRACKETS.match(text)) or (match := _RANK.search(text)):
        return match[0].strip()
    return _LAST_NUMBER.sub("", text)


def _natural_order(owner: Any) -> tuple[Any, ...]:
    """Return a key by which owners stand as a person counts: numbers first, TP2 before TP10."""
    if not isinstance(owner, str):
        return 0, _as_number(owner) or 0
    pieces = re.split(r"([0-9]+)", owner.casefold())
    return (
        1,
        tuple((int(piece), "") if index % 2 else (0, piece) for index, piece in enumerate(pieces)),
        owner,
    )


def _rank_numbers(owners: Sequence[Any]) -> list[int]:
    """Return the rank of each owner: the one number by which their texts differ, else 0, 1, 2 in order."""
    numbers_of_owners = [
        tuple(map(int, _NUMBER.findall(owner))) if isinstance(owner, str) else () for owner in owners
    ]
    if len({len(numbers) for numbers in numbers_of_owners}) == 1:
        differing = {column for column in zip(*numbers_of_owners, strict=True) if len({*column}) > 1}
        if len(differing) == 1 and len({*(column := differing.pop())}) == len(owners):
            return list(column)
    return list(range(len(owners)))


def _answered(calls: Calls, process: int, launches: Kernels, rank: IntArray, ranks: int) -> NDArray[np.int64]:
    """Return (ranks,) how many calls of a process have a kernel of their number that started after them."""
    rows = np.flatnonzero(calls.process == process)
    numbers, first = np.unique(calls.correlation[rows], return_index=True)
    if not len(numbers):
        return np.zeros(ranks, dtype=np.int64)
    index = np.minimum(np.searchsorted(numbers, launches.correlation), len(numbers) - 1)
    is_answer = (numbers[index] == launches.correlation) & (launches.correlation >= 0)
    is_answer &= calls.start_ns[rows[first[index]]] <= launches.start_ns
    answered = np.unique(rank[is_answer] * len(numbers) + index[is_answer])
    return np.bincount(answered // len(numbers), minlength=ranks)


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (Ranks,)
