"""The lines of GPGPU-Sim's and Accel-Sim's output that say something of a launch, found without the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

#: A line of the output, as the key that starts it and the text after it.
Line: TypeAlias = tuple[bytes, bytes]

PROCESSING = b"Processing kernel"
NAME_IN_HEADER = b"-kernel name"
ID_IN_HEADER = b"-kernel id"
GRID_IN_HEADER = b"-grid dim"
BLOCK_IN_HEADER = b"-block dim"
COPY = b"launching memcpy command"
PUSHED = b"GPGPU-Sim PTX: pushing kernel"
LAUNCHED = b"launching kernel name"
CTAS_PER_CORE = b"GPGPU-Sim uArch: CTA/core"
NAME = b"kernel_name"
UID = b"kernel_launch_uid"
STREAM = b"kernel_stream_id"
CYCLES = b"gpu_sim_cycle"
INSTRUCTIONS = b"gpu_sim_insn"
TOTAL_CYCLES = b"gpu_tot_sim_cycle"
#: What ends the block of a launch.
SIMULATION_RATE = b"gpgpu_simulation_rate"
BREAK = b"GPGPU-Sim: ** break due to reaching"
EXIT = b"GPGPU-Sim: *** exit detected"
CLUSTERS = b"-gpgpu_n_clusters"
CORES_PER_CLUSTER = b"-gpgpu_n_cores_per_cluster"
CONCURRENT = b"-gpgpu_concurrent_kernel_sm"
#: Each limit at which the simulator ends a launch, and the total that it is compared with.
TOTAL_OF_LIMIT = {
    b"-gpgpu_max_cycle": TOTAL_CYCLES,
    b"-gpgpu_max_insn": b"gpu_tot_sim_insn",
    b"-gpgpu_max_cta": b"gpu_tot_issued_cta",
    b"-gpgpu_max_completed_cta": b"gpu_tot_issued_cta",
}
TOTALS = tuple(dict.fromkeys(TOTAL_OF_LIMIT.values()))
CTA_LIMITS = (b"-gpgpu_max_cta", b"-gpgpu_max_completed_cta")
KEYS = (
    *(COPY, PROCESSING, NAME_IN_HEADER, ID_IN_HEADER, GRID_IN_HEADER, BLOCK_IN_HEADER, LAUNCHED),
    *(CTAS_PER_CORE, NAME, UID, STREAM, CYCLES, INSTRUCTIONS, SIMULATION_RATE),
    *(BREAK, EXIT, CLUSTERS, CORES_PER_CLUSTER, CONCURRENT),
    *(*TOTAL_OF_LIMIT, *TOTALS),
)
_KEY_OF_ANY_LINE = re.compile(rb"^[ \t]*([^=\r\n]*[^=\s])[ \t]*=", re.MULTILINE)


def printed_lines(pieces: Iterable[bytes], counters: Sequence[bytes] = ()) -> Iterator[Line]:
    """Yield the lines that begin with one of `KEYS` or a counter's name, in order.

    Another thread prints that a kernel is pushed, so that half a line may stand before it.

    Parameters
    ----------
    pieces : whole lines each.
    """
    keys = sorted({*KEYS, *counters}, key=len, reverse=True)
    # It begins with the end of the line before, which is looked for much faster than a line's start.
    line = re.compile(
        rb"\n[ \t]*(%s)(?=[ \t:=])[ \t]*[:=]?[ \t]*([^\r\n]*)" % b"|".join(map(re.escape, keys))
    )
    for piece in pieces:
        text = b"\n" + piece
        found = [(match.start(), match[1], match[2]) for match in line.finditer(text)]
        pushed = list(_pushed(text))
        for _, key, value in sorted(found + pushed) if pushed else found:
            yield key, value


def _pushed(text: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    place = text.find(PUSHED)
    while place >= 0:
        end = text.find(b"\n", place)
        yield place, PUSHED, text[place + len(PUSHED) : end if end >= 0 else None]
        place = text.find(PUSHED, place + 1)


def names_of_lines(pieces: Iterable[bytes], most_bytes: int = 1 << 25) -> tuple[str, ...]:
    """Return the distinct names that are printed before an equals sign, as far as is read."""
    names: dict[bytes, None] = {}
    read = 0
    for piece in pieces:
        names.update(dict.fromkeys(_KEY_OF_ANY_LINE.findall(piece)))
        read += len(piece)
        if read > most_bytes:
            break
    return tuple(name.decode("utf-8", "replace") for name in names)
