"""How many thread blocks the work done so far amounts to, those in flight in part.

Source: docs/methods.md, 9 Projection.
"""

from __future__ import annotations

import numpy as np

from sampling.projection.interval_log import IntervalLog, KernelFacts


def ctas_worked(log: IntervalLog, at: int, totals: KernelFacts) -> float:
    """Return the thread blocks finished up to a record, and those in flight by what they have done.

    A thread block starts when one before it finishes. Those in flight are then as old as the last wave of
    finished ones is long past, and what they have done are the instructions since. Where none has followed
    another yet, half of each is the middle. Without a wave to say how many are in flight, or without any
    finished, one more than are done, as published.

    Parameters
    ----------
    at : the index of the record.
    totals : what is known of the whole kernel.
    """
    finished = np.cumsum(log.ctas[: at + 1])
    executed = np.cumsum(log.instructions[: at + 1])
    done, wave = int(finished[-1]), totals.wave_ctas
    if wave is None or done == 0:
        return done + 1.0
    in_flight = wave if totals.ctas is None else min(wave, totals.ctas)
    if done < in_flight:
        return (done + in_flight) / 2
    before_last_wave = done - in_flight
    counted = np.diff(np.maximum(finished, before_last_wave), prepend=before_last_wave)
    # Thread blocks finish anywhere within a record.
    finished_at = float(np.average(executed - log.instructions[: at + 1] / 2, weights=counted))
    return done * float(executed[-1]) / finished_at if finished_at > 0 else done + 1.0
