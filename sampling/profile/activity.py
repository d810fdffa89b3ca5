"""What a recording has besides its launches: the API calls of the host, and memory copies and sets.

There may be more of these than launches, and few questions need them: they are read when one does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sampling.arrays import AnyIntArray, IntArray, find_places
from sampling.profile.profile import Activity, LaunchSequence

#: The device of what the host did, and the time of what lacks one.
HOST = NO_TIME = int(np.iinfo(np.int64).min)
# Of the rows of events those of an `Activity`, once the sequence stands in place of the device
_KEPT = np.array([0, 1, 3, 4, 5])
#: Reads the activity, of launches in the order of the file, for sequences.
ActivityReader = Callable[[Sequence[LaunchSequence]], Activity]


def find_sequences(
    sequences: Sequence[LaunchSequence], process: AnyIntArray, device: AnyIntArray | None = None
) -> IntArray:
    """Return (n,) the sequence of each process and device, the first of a process alone; -1 for none."""
    places: dict[tuple[int, ...], int] = {}
    for index, sequence in enumerate(sequences):
        places.setdefault((sequence.process,), index)
        places[sequence.process, sequence.device] = index
    keys = np.stack([process] if device is None else [process, device])
    distinct, row = np.unique(keys, axis=1, return_inverse=True)
    return np.array([places.get(tuple(key), -1) for key in distinct.T.tolist()], dtype=np.int64)[row.ravel()]


def make_activity(
    number: IntArray, events: IntArray, names: Sequence[str], sequences: Sequence[LaunchSequence]
) -> Activity:
    """Return the activity of launches, (n,) the numbers of the calls behind them, -1 for none.

    ``events`` are (6, k) start, end, process, device (`HOST` of a call), place of the name, and the number of
    a call or the bytes of a copy. Of several calls with one number the earliest counts. What lacks a time
    (`NO_TIME`) or ends before it starts is left out.
    """
    events = events[:, (events[0] > NO_TIME) & (events[1] >= events[0])]
    is_call = events[3] == HOST
    calls, copies = events[:, is_call], events[:, ~is_call]
    calls = calls[:, np.argsort(calls[0], kind="stable")]
    calls[3], copies[3] = find_sequences(sequences, calls[2]), find_sequences(sequences, *copies[2:4])
    return Activity(find_places(number, calls[5]), calls[_KEPT], copies[_KEPT], names)


def in_id_order(
    read: ActivityReader, order: IntArray | None, sequences: Sequence[LaunchSequence]
) -> Activity:
    """Return the activity of launches in id order: ``order`` (n,) is which of the file each is, None: its."""
    activity = read(sequences)
    return activity if order is None else activity._replace(launch_call=activity.launch_call[order])


def join_activities(parts: Sequence[tuple[Callable[[], Activity] | None, int, int]]) -> Activity:
    """Return the activity of recordings, each with the place of its first sequence and its launches."""
    launch_call, names, before = list[IntArray](), list[str](), 0
    calls, copies = [np.zeros((5, 0), dtype=np.int64)], [np.zeros((5, 0), dtype=np.int64)]
    for read, first, launches in parts:
        if read is None:
            launch_call.append(np.full(launches, -1))
            continue
        call, *read_events, texts = read()
        launch_call.append(np.where(call < 0, -1, call + before))
        for rows, joined in zip(read_events, (calls, copies), strict=True):
            rows[2:4] += [np.where(rows[2] < 0, 0, first), np.full_like(rows[3], len(names))]
            joined.append(rows)
        names, before = [*names, *texts], before + read_events[0].shape[1]
    events = np.concatenate(calls, axis=1), np.concatenate(copies, axis=1)
    return Activity(np.concatenate(launch_call), *events, names)


#: What a profile that is kept refers to by name, see `sampling.readers.cached_profile`.
CACHED_BY_NAME = (in_id_order, make_activity)
