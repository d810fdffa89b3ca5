"""Selections that are really run alone by Accel-Sim, beside the whole run; and how fast traces are followed.

    python benchmarks/warm_l2.py speed [MIB]
    python benchmarks/warm_l2.py run PROFILE TRACES TRUTH SIMULATOR CONFIG...

``run`` plans PROFILE, a table with the columns id, name and duration_ns, with five seeds, exports each plan
with its launches' caches in every state, runs each export with SIMULATOR (accel-sim) and the configurations,
the first a gpgpusim.config, and prints how far the estimated cycles are from TRUTH, those of the whole run,
whether the interval holds, and the seconds of the processor. ``speed`` follows made-up traces, as text,
.gz and .xz, and inflates the same ones alone.
"""

from __future__ import annotations

import gzip
import lzma
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sampling.simulators.accel_sim.trace_head import opened_trace
from sampling.simulators.accel_sim.warm_l2 import filling

SEEDS = 5
STATES = ("cold", "own", "warm", "after:1", "after:16")
COLUMNS = "name=name,duration_ns=duration_ns"


def kernelpoint(*words: object) -> str:
    line = [sys.executable, "-m", "tui", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


def run(profile: str, traces: str, truth: float, simulator: str, configs: list[str]) -> None:
    """Print a row a state: errors of all seeds, how many intervals hold, seconds of the simulator."""
    import json

    print(f"{'caches':<9} {'errors of five seeds, %':<36} {'mean':>6} {'worst':>6}  held  seconds")
    with tempfile.TemporaryDirectory() as scratch:
        plans = [Path(scratch) / f"plan-{seed}.json" for seed in range(SEEDS)]
        for seed, plan in enumerate(plans):
            kernelpoint("sample", profile, "--columns", COLUMNS, "--seed", seed, "-o", plan, "--quiet")
        for state in STATES:
            errors, held, seconds = [], 0, 0.0
            for plan in plans:
                folder = Path(scratch) / f"{plan.stem}-{state.replace(':', '-')}"
                words = ("--traces", traces, "--caches", state, "--config", configs[0], "-o", folder)
                kernelpoint("export", plan, "--to", "accel-sim", *words)
                log, seconds_of_one = simulated(folder, Path(traces), simulator, configs)
                seconds += seconds_of_one
                found = json.loads(kernelpoint("estimate", plan, log, "--format", "json"))
                cycles = found["results"]["metrics"][0]
                errors.append(100 * (cycles["total"] / truth - 1))
                held += cycles["low"] <= truth <= cycles["high"]
            shown = " ".join(f"{error:+6.2f}" for error in errors)
            mean, worst = float(np.mean(errors)), max(errors, key=abs)
            print(f"{state:<9} {shown:<36} {mean:+6.2f} {worst:+6.2f}  {held} of {SEEDS}  {seconds:.0f}")


def simulated(folder: Path, traces: Path, simulator: str, configs: list[str]) -> tuple[Path, float]:
    """Return the log of an export that is run, and the seconds of the processor it took."""
    for name in (folder / "kernelslist.g").read_text().split():
        if name.startswith("kernel") and not (folder / name).exists():
            (folder / name).symlink_to((traces / name).absolute())
    words = [simulator, "-trace", str(folder / "kernelslist.g")]
    words += [word for config in configs for word in ("-config", config)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with (folder / "run.log").open("wb") as log:
        subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, cwd=folder, check=True)
    return folder / "run.log", resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def made_up(mebibytes: int) -> Iterator[bytes]:
    """Yield a trace of a memory instruction in ten, as real ones have."""
    rng = np.random.default_rng(0)
    yield b"-kernel name = k\n-accelsim tracer version = 3\n\n#BEGIN_TB\n"
    plain = b"".join(b"%04x ffffffff 1 R%d IADD3 2 R2 R3 0 \n" % (16 * at, at % 99) for at in range(9))
    written, warp = 0, 0
    while written < mebibytes << 20:
        lines = [b"\nwarp = %d\ninsts = 1000\n" % warp]
        for address in rng.integers(0, 1 << 20, 100).tolist():
            lines += [plain, b"0fa0 ffffffff 1 R2 LDG.E.SYS 1 R4 4 1 0x7f0010%06x 4 \n" % (16 * address)]
        yield (piece := b"".join(lines))
        written, warp = written + len(piece), warp + 1


def speed(mebibytes: int) -> None:
    """Print MiB of text a second: inflated alone, and followed."""
    with tempfile.TemporaryDirectory() as scratch:
        text = b"".join(made_up(mebibytes))
        packs = {"": bytes, ".gz": gzip.compress, ".xz": lambda data: lzma.compress(data, preset=1)}
        for ending, pack in packs.items():
            file = Path(scratch) / f"kernel-1.traceg{ending}"
            file.write_bytes(pack(text))
            started = time.process_time()
            with opened_trace(file) as stream:
                while stream.read(1 << 23):
                    pass
            read = time.process_time() - started
            started = time.process_time()
            list(filling([(1, file)], [1], 1 << 20))
            followed = time.process_time() - started
            print(f"{ending or 'text':<5} read {len(text) / read / 2**20:6.0f} MiB/s", end="  ")
            print(f"followed {len(text) / followed / 2**20:6.0f} MiB/s, {followed / read:.1f} times")


if __name__ == "__main__":
    if sys.argv[1] == "speed":
        speed(int(sys.argv[2]) if len(sys.argv) > 2 else 256)
    else:
        run(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5], sys.argv[6:])
