"""What a recording has besides its launches: the API calls of the host, and memory copies and sets.

There may be more of these than launches, and few questions need them: they are read when one does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sampling.arrays import AnyIntArray, IntArray, dense_codes, find_places
from sampling.profile.profile import Activity, LaunchSequence

#: Stands for the time of what lacks one.
NO_TIME = int(np.iinfo(np.int64).min)
#: Reads the activity, of launches in the order of the file, for sequences.
ActivityReader = Callable[[Sequence[LaunchSequence]], Activity]


def find_sequences(sequences: Sequence[LaunchSequence], *place: AnyIntArray) -> IntArray:
    """Return (n,) the sequence of each process and device, the first of a process alone; -1 for none."""
    places: dict[tuple[int, ...], int] = {}
    for index, sequence in enumerate(sequences):
        places.setdefault((sequence.process,), index)
        places[sequence.process, sequence.device] = index
    codes, first = dense_codes([np.maximum(column, -1) + 1 for column in place])
    distinct = zip(*(column[first].tolist() for column in place), strict=True)
    return np.array([places.get(key, -1) for key in distinct], dtype=np.int64)[codes]


def make_activity(
    number: IntArray,
    calls: IntArray,
    copies: IntArray | None,
    names: Sequence[str],
    sequences: Sequence[LaunchSequence],
) -> Activity:
    """Return the activity of launches, (n,) the numbers of the calls behind them, -1 for none.

    ``calls`` are (5, c) and ``copies`` (6, m) as an `Activity` has them, but with processes in place of
    sequences, and with the devices of copies at the end; copies that are not recorded are None. Of several
    calls with one number the earliest counts. What lacks a time (`NO_TIME`) or ends before it starts is left
    out.
    """
    has_copies, copies = copies is not None, np.zeros((6, 0), dtype=np.int64) if copies is None else copies
    calls, copies = (rows[:, (rows[0] > NO_TIME) & (rows[1] >= rows[0])] for rows in (calls, copies))
    if (calls[0, 1:] < calls[0, :-1]).any():
        calls = calls[:, np.argsort(calls[0], kind="stable")]
    calls[2], copies[2] = find_sequences(sequences, calls[2]), find_sequences(sequences, copies[2], copies[5])
    return Activity(find_places(number, calls[4]), calls, copies[:5], names, has_copies)


def in_id_order(
    read: ActivityReader, order: IntArray | None, sequences: Sequence[LaunchSequence]
) -> Activity:
    """Return the activity of launches in id order: ``order`` (n,) is which of the file each is, None: its."""
    activity = read(sequences)
    return activity if order is None else activity._replace(launch_call=activity.launch_call[order])


def join_activities(parts: Sequence[tuple[Callable[[], Activity] | None, int, int]]) -> Activity:
    """Return the activity of recordings, each with the place of its first sequence and its launches."""
    launch_call, names, before, has_copies = list[IntArray](), list[str](), 0, False
    calls, copies = [np.zeros((5, 0), dtype=np.int64)], [np.zeros((5, 0), dtype=np.int64)]
    for read, first, launches in parts:
        if read is None:
            launch_call.append(np.full(launches, -1))
            continue
        call, *read_events, texts, has_own_copies = read()
        has_copies |= has_own_copies
        launch_call.append(np.where(call < 0, -1, call + before))
        for rows, joined in zip(read_events, (calls, copies), strict=True):
            rows[2:4] += [np.where(rows[2] < 0, 0, first), np.full_like(rows[3], len(names))]
            joined.append(rows)
        names, before = [*names, *texts], before + read_events[0].shape[1]
    events = np.concatenate(calls, axis=1), np.concatenate(copies, axis=1)
    return Activity(np.concatenate(launch_call), *events, names, has_copies)


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (in_id_order, make_activity)
