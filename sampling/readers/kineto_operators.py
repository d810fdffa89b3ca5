"""The operators that issued the launches of a PyTorch profiler trace, found when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Raw, Struct, field, json

from sampling.arrays import IntArray
from sampling.profile.launch_table import NO_CALL, FoundOperators
from sampling.profile.named_ranges import ATEN, enclosing
from sampling.readers.input_file import InputFile
from sampling.readers.kineto_events import NO_SIZE, codes, find_places, is_time, nanoseconds, numbers
from sampling.readers.kineto_ranks import Ranks
from sampling.readers.trace_text import PieceDecoder, TraceBlocks, trace_pieces


class _HostArguments(Struct, gc=False):
    correlation: Any = None
    dims: Raw = field(default=NO_SIZE, name="Input Dims")
    old_dims: Raw = field(default=NO_SIZE, name="Input dims")
    types: Raw = field(default=NO_SIZE, name="Input type")


class _HostEvent(Struct, gc=False):
    ph: str | None = None
    cat: str | None = None
    name: str | None = None
    ts: Any = None
    dur: Any = None
    pid: int | float | str | None = None
    tid: Any = None
    args: _HostArguments | None = None


class _HostTrace(Struct):
    events: list[_HostEvent] | None = field(default=None, name="traceEvents")


_DECODER = PieceDecoder(_HostTrace, _HostEvent)
_NO_HOST_ARGUMENTS = _HostArguments()


def find_operators(file: InputFile, correlation: IntArray, ranks: Ranks | None) -> FoundOperators:
    """Return the texts of operators and which one issued each launch, by its correlation number (n,).

    The file is read once more: few ask, and what the operators' columns need would slow reading by a tenth.
    """
    threads: dict[Any, int] = {}
    texts: dict[Any, int] = {}
    operators = [np.zeros((4, 0), dtype=np.int64)]
    calls = [np.zeros((4, 0), dtype=np.int64)]
    processes = {} if ranks is None else ranks.processes
    with file.damage_reported():
        for piece in trace_pieces(TraceBlocks(file)):
            events = [event for event in _DECODER.decode(piece).events if event.ph == "X"]
            on_host = [event for event in events if event.cat in {"cpu_op", "Operator"} and event.name]
            # What PyTorch 1.8 lists among the operators with a # is an annotation.
            on_host = [event for event in on_host if event.cat == "cpu_op" or "#" not in str(event.name)]
            arguments = [event.args or _NO_HOST_ARGUMENTS for event in on_host]
            places = _host_places(on_host, threads)
            end_ns = places[1] + nanoseconds(np.nan_to_num(numbers(on_host, "dur")))
            signatures = [
                (event.name, bytes(argument.dims), bytes(argument.old_dims), bytes(argument.types))
                for event, argument in zip(on_host, arguments, strict=True)
            ]
            operators.append(
                np.stack([*places, end_ns, codes(signatures, texts)]) if on_host else operators[0]
            )
            issuing = [event for event in events if (event.cat or "").lower().endswith(("runtime", "driver"))]
            number = numbers([event.args or _NO_HOST_ARGUMENTS for event in issuing], "correlation")
            number = np.where(is_time(number), number, -1)
            process = np.array([processes.get(event.pid, 0) for event in issuing], dtype=np.int64)
            calls.append(np.stack([*_host_places(issuing, threads), number.astype(np.int64), process]))
    thread, start_ns, end_ns, text = np.concatenate(operators, axis=1)
    # Of several calls with one number the earliest counts.
    columns = np.concatenate(calls, axis=1)
    call_thread, call_ns, call, process = columns[:, np.argsort(columns[1], kind="stable")]
    if ranks is not None:
        of_call = ranks.of_process[process]
        correlation, call = ranks.numbered_apart((correlation, ranks.of_launch), (call, of_call))
    names = [name for name, *_ in texts]
    is_aten = np.array([name.startswith(ATEN) for name in names], dtype=np.bool_)
    operator_of_call = np.zeros(len(call), dtype=np.int64)
    for thread_number in range(len(threads)):
        spans, issued = np.flatnonzero(thread == thread_number), np.flatnonzero(call_thread == thread_number)
        spans = spans[np.lexsort((-end_ns[spans], start_ns[spans]))]
        aten = spans[is_aten[text[spans]]]
        # An operator that no other of ATen holds begins when all of them before it have ended.
        before = np.maximum.accumulate(end_ns[aten])
        aten = aten[np.append(True, start_ns[aten][1:] >= before[:-1])] if len(aten) else aten
        for rows in (spans, aten):
            holder = _innermost(start_ns[rows], end_ns[rows], call_ns[issued])
            has_holder = holder >= 0
            operator_of_call[issued[has_holder]] = text[rows[holder[has_holder]]] + 1
    place = find_places(correlation, call)
    codes_found = np.where(place >= 0, np.append(operator_of_call, 0)[place], 0)
    return ("", *(_operator_text(*signature) for signature in texts)), codes_found


def _host_places(events: Sequence[_HostEvent], threads: dict[Any, int]) -> tuple[IntArray, IntArray]:
    """Return (n,) the number of each event's thread and its start in ns, far away where it has none."""
    start_us = numbers(events, "ts")
    usable = is_time(start_us)
    start_ns = np.where(usable, nanoseconds(np.where(usable, start_us, 0)), NO_CALL)
    thread = [threads.setdefault((str(event.pid), str(event.tid)), len(threads)) for event in events]
    return np.array(thread, dtype=np.int64), start_ns


def _innermost(start_ns: IntArray, end_ns: IntArray, time_ns: IntArray) -> IntArray:
    """Return (m,) which of the nested spans (k,), in the order they begin, holds each time; -1 for none."""
    place = np.searchsorted(start_ns, time_ns, side="right") - 1
    above = enclosing(end_ns)
    going = np.flatnonzero(place >= 0)
    while len(going := going[end_ns[place[going]] <= time_ns[going]]):
        place[going] = above[place[going]]
        going = going[place[going] >= 0]
    return place


def _operator_text(name: str, dims: bytes, old_dims: bytes, types: bytes) -> str:
    """Return an operator with the shapes and types of its tensors: ``aten::mm [[8, 4], [4, 2]] BFloat16``.

    Scalars have no shape, and are left out with their types.
    """
    shapes, kinds = (json.decode(text) for text in (old_dims if dims == bytes(NO_SIZE) else dims, types))
    if not isinstance(shapes, list):
        return name
    kinds = kinds if isinstance(kinds, list) and len(kinds) == len(shapes) else [""] * len(shapes)
    kinds = [str(kind).removeprefix("c10::") for kind in kinds]
    tensors = [(shape, kind) for shape, kind in zip(shapes, kinds, strict=True) if shape]
    if not tensors:
        return name
    distinct = dict.fromkeys(kind for _, kind in tensors if kind not in {"", "TensorList", "GenericList"})
    return " ".join([name, str([shape for shape, _ in tensors]), *distinct])


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (find_operators,)
