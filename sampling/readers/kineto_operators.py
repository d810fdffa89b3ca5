"""What a PyTorch profiler trace has besides launches, read when it is asked for.

The operators that issued the launches, and API calls, copies and sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Raw, Struct, field, json

from sampling.arrays import IntArray, find_places
from sampling.profile.activity import NO_TIME, make_activity
from sampling.profile.launch_table import NO_CALL, FoundOperators
from sampling.profile.named_ranges import ATEN, enclosing
from sampling.profile.profile import Activity, LaunchSequence
from sampling.readers.input_file import InputFile
from sampling.readers.kineto_events import NO_SIZE
from sampling.readers.kineto_ranks import Ranks
from sampling.readers.trace_events import Halves, codes, is_time, labels, nanoseconds, numbers
from sampling.readers.trace_text import PieceDecoder, TraceBlocks, trace_pieces

_COPIES = ("gpu_memcpy", "gpu_memset", "memcpy", "memset")


class _HostArguments(Struct, gc=False):
    correlation: Any = None
    device: Any = None
    bytes: Any = None
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
    halves = Halves()
    with file.damage_reported():
        for piece in trace_pieces(TraceBlocks(file)):
            events = [*halves.whole(_DECODER.decode(piece).events)]
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
            issuing = _of_calls(events)
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


def _of_calls(events: Sequence[_HostEvent]) -> list[_HostEvent]:
    return [event for event in events if (event.cat or "").lower().endswith(("runtime", "driver"))]


def find_activity(
    file: InputFile, correlation: IntArray, ranks: Ranks | None, sequences: Sequence[LaunchSequence]
) -> Activity:
    """Return calls and copies beside launches with these correlation numbers (n,), in their order."""
    names: dict[Any, int] = {}
    processes: dict[Any, int] = {} if ranks is None else dict(ranks.processes)
    issued, copied = [np.zeros((5, 0), dtype=np.int64)], [np.zeros((6, 0), dtype=np.int64)]
    halves = Halves()
    with file.damage_reported():
        for piece in trace_pieces(TraceBlocks(file)):
            events = [*halves.whole(_DECODER.decode(piece).events)]
            copies = [event for event in events if (event.cat or "").lower() in _COPIES]
            for chosen, number_name, columns in (
                (_of_calls(events), "correlation", issued),
                (copies, "bytes", copied),
            ):
                start_us, duration_us = numbers(chosen, "ts"), numbers(chosen, "dur")
                usable = is_time(start_us) & is_time(duration_us)
                start_ns, lasts_ns = (nanoseconds(np.where(usable, us, 0)) for us in (start_us, duration_us))
                arguments = [event.args or _NO_HOST_ARGUMENTS for event in chosen]
                number = numbers(arguments, number_name)
                rows = [
                    np.where(usable, start_ns, NO_TIME),
                    start_ns + lasts_ns,
                    codes([event.pid for event in chosen], processes),
                    codes([event.name or "" for event in chosen], names),
                    np.where(is_time(number), number, -1).astype(np.int64),
                ]
                rows += [labels(arguments, "device", chosen, "pid")] if chosen is copies else []
                columns.append(np.stack(rows))
    calls, copied_rows = np.concatenate(issued, axis=1), np.concatenate(copied, axis=1)
    copied_rows[4] = np.maximum(copied_rows[4], 0)
    if ranks is None:
        calls[2] = copied_rows[2] = sequences[0].process
    else:
        # The last one stands for those of no rank.
        of_process, of_rank = np.append(ranks.of_process, np.full(len(processes), -1)), [*ranks.numbers, -1]
        rank, copy_rank = of_process[calls[2]], of_process[copied_rows[2]]
        correlation, calls[4] = ranks.numbered_apart((correlation, ranks.of_launch), (calls[4], rank))
        calls[2], copied_rows[2] = np.array(of_rank)[rank], np.array(of_rank)[copy_rank]
    return make_activity(correlation, calls, copied_rows, tuple(names), sequences)


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
CACHED_BY_NAME = (find_operators, find_activity)
