"""A made-up simulator for `demo --run`: cycles from what a launch took on the GPU, and some of its own.

It is started as simulators are that are told the id of a launch, in a folder of a run. A kernel takes 1.4
cycles a nanosecond, up to 10 % more or less, and each of its launches up to 3 %.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from zlib import crc32

_CYCLES_A_NS, _KERNELS, _LAUNCHES = 1.4, 0.1, 0.03
_SECONDS = 0.3


def cycles_of(name: str, launch_id: int, duration_ns: float) -> int:
    """Return the cycles of a launch of a kernel."""
    kernel = 1 + _KERNELS * (crc32(name.encode()) / 2**31 - 1)
    return round(_CYCLES_A_NS * kernel * (1 + _LAUNCHES * math.sin(launch_id)) * duration_ns)


def main() -> None:
    """Print the cycles of the launch whose id is given, after as long as somebody wants to look at it."""
    launch_id = int(sys.argv[1])
    # The run's folder has the plan as large as it is by now; each launch runs in one below it.
    plan = json.loads(Path("../../plan.json").read_text(encoding="utf-8"))
    launches = (launch for stratum in plan["strata"] for launch in stratum["launches"])
    launch = next(launch for launch in launches if launch["id"] == launch_id)
    time.sleep(_SECONDS)
    sys.stdout.write(f"{cycles_of(launch['name'], launch_id, launch['duration_ns'])}\n")


if __name__ == "__main__":
    main()
