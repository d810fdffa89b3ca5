"""Selections that start with a warm L2: how fast traces are read, and what the real simulator makes of them.

    python benchmarks/warm_l2.py speed [--megabytes 400]
    python benchmarks/warm_l2.py simulate SIMULATOR TRACES TABLE WHOLE --config GPGPUSIM --config TRACE
    python benchmarks/warm_l2.py launches SIMULATOR TRACES TABLE WHOLE --config GPGPUSIM --config TRACE

`speed` reads made-up traces, as text, gzip and xz, and prints megabytes of text a second of processor time,
beside those of reading and unpacking alone. `simulate` plans TABLE (the program's launches on another GPU),
exports, runs the real SIMULATOR with each way to fill the caches, and prints the error of each total against
WHOLE, the table of the whole run, that of the same launches picked out of WHOLE, its interval, whether it
holds, and the processor time. `launches` runs drawn launches each by itself, and prints its cycles over those
it takes in WHOLE, and the mean and the deviation of these.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sampling.parallel import ordered_map
from sampling.plan.plan_file import read_plan
from sampling.simulators.caches import L2, touched
from sampling.simulators.results import read_result_files
from sampling.simulators.trace_accesses import blocks

HEAD = "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-accelsim tracer version = 5\n\n"


def made_up(file: Path, megabytes: int, seed: int) -> None:
    """Write a trace: one access to memory in five instructions, one of ten of them scattered."""
    random = np.random.default_rng(seed)
    others = "0010 ffffffff 1 R7 IMAD.MOV.U32 2 R255 R255 0 0 \n0020 ffffffff 1 R2 FFMA 3 R2 R5 R3 0 0 \n" * 2
    at = 0
    opened = {".gz": gzip.open, ".xz": partial(lzma.open, preset=1)}.get(file.suffix, Path.open)
    with opened(file, "wb") as stream:  # type: ignore[operator]
        stream.write(f"{HEAD}#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 1\n".encode())
        written = 0
        while written < megabytes * 10**6:
            lines = []
            for is_scattered in (random.random(1000) < 0.1).tolist():
                at += 128
                access = f"1 0x{0x7FA600000000 + at % (1 << 26):016x} 4"
                if is_scattered:
                    lanes = random.integers(0, 1 << 21, 32) * 32 + 0x7FA600000000
                    access = "0 " + " ".join(f"0x{each:016x}" for each in lanes.tolist())
                opcode = "LDG.E.SYS" if at % 384 else "STG.E.SYS"
                lines.append(f"{others}0060 ffffffff 1 R5 {opcode} 1 R8 4 {access} 0 \n")
            text = "".join(lines).encode()
            stream.write(text)
            written += len(text)


def speed(options: argparse.Namespace) -> None:
    """Print megabytes a second of processor time, of reading and unpacking alone and of the L2 model."""
    print("| traces | MB of text | read and unpacked, MB/s | L2 model, MB/s | share |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("traceg", "traceg.gz", "traceg.xz"):
            files = [Path(folder) / f"kernel-{number}.{ending}" for number in range(1, 5)]
            for seed, file in enumerate(files):
                made_up(file, options.megabytes // 4, seed)
            begin = time.process_time()
            size = sum(ordered_map(lambda file: sum(map(len, blocks(file))), files)) / 1e6
            plain = time.process_time() - begin
            begin = time.process_time()
            for _ in ordered_map(partial(touched, l2=L2(1 << 16), with_pages=False), files):
                pass
            model = time.process_time() - begin
            print(
                f"| {ending} | {size:.0f} | {size / plain:.0f} | {size / model:.0f} | {plain / model:.2f} |"
            )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


def kernelpoint(*words: object) -> str:
    """Run a command and return what it prints."""
    ran = subprocess.run(
        [Path(sys.executable).with_name("kernelpoint"), *map(str, words), "--quiet"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ran.returncode not in {0, 4}:
        sys.exit(ran.returncode)
    return ran.stdout


def simulated(folder: Path, options: argparse.Namespace) -> float:
    """Run the simulator on an export and return the seconds of processor time."""
    environ = {
        "ACCELSIM": options.simulator,
        "GPGPUSIM_CONFIG": options.config[0],
        "TRACE_CONFIG": options.config[1],
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for script in sorted(folder.glob("run*.sh")):
        subprocess.run(["sh", script], check=True, env=os.environ | environ, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def whole_run(options: argparse.Namespace) -> dict[int, float]:
    """Return the cycles of each launch in the whole run, by id, from 0 where the table has none."""
    with Path(options.whole).open(newline="") as rows:
        table = enumerate(csv.DictReader(rows))
        return {int(row.get("id") or place): float(row["cycles"]) for place, row in table}


def total_cycles(*words: Path) -> dict[str, float]:
    """Return what `estimate` says of cycles."""
    answer = json.loads(kernelpoint("estimate", *words, "--accept-cold", "--format", "json"))
    metrics: list[dict[str, Any]] = answer["results"]["metrics"]
    return next(total for total in metrics if total["metric"] == "cycles")


def exported(
    options: argparse.Namespace, place: Path, seed: int, caches: str, *, method: Sequence[object] = ()
) -> Path:
    """Plan the table, and return the folder of the plan's export."""
    plan, folder = place / "plan.json", place / "chosen"
    columns = "name=name,duration_ns=duration_ns"
    kernelpoint("sample", options.table, "--columns", columns, "--seed", seed, *method, "-o", plan)
    fills = caches in {"warm", "loads", "own"} and not options.without_config
    size = ("--config", options.config[0]) if fills else ()
    way = ("--cold-check", caches[6:]) if caches.startswith("check:") else ("--caches", caches, *size)
    shards = ("--shards", options.launches) if method else ()
    kernelpoint("export", plan, "--to", "accel-sim", "--traces", options.traces, *way, *shards, "-o", folder)
    return folder


def launches(options: argparse.Namespace) -> None:
    """Print a row a launch and way to fill the caches, and how each way does."""
    whole = whole_run(options)
    print("| launch | caches | alone | in the run | ratio |\n" + "|---" * 5 + "|")
    method = ("--method", "random", "--set", f"random.launches={options.launches}")
    for caches in options.caches:
        with tempfile.TemporaryDirectory() as place:
            folder = exported(options, Path(place), options.first_seed, caches, method=method)
            simulated(folder, options)
            logs = [str(log) for log in sorted(folder.glob("run*/run.log"))]
            found = read_result_files(read_plan(str(folder)), logs, manifests=[str(folder / "manifest.csv")])
        cycles = dict(zip(found.ids.tolist(), found.metrics["cycles"].tolist(), strict=True))
        ratios = np.array([cycles[launch] / whole[launch] for launch in cycles])
        for launch, ratio in zip(cycles, ratios.tolist(), strict=True):
            print(f"| {launch} | {caches} | {cycles[launch]:,.0f} | {whole[launch]:,.0f} | {ratio:.3f} |")
        total = sum(cycles.values()) / sum(whole[launch] for launch in cycles)
        print(
            f"{caches}: mean {ratios.mean():.4f}, deviation {ratios.std(ddof=1):.4f}, sum {total:.4f}, "
            f"{len(ratios)} launches",
            flush=True,
        )


def simulate(options: argparse.Namespace) -> None:
    """Print a row a seed and way to fill the caches, and the mean of each way."""
    whole = whole_run(options)
    truth = sum(whole.values())
    print(f"whole run: {truth:,.0f} cycles\n")
    print("| seed | caches | launches | cycles | error | in the run | interval | holds | seconds |")
    print("|---" * 9 + "|")
    errors: dict[str, list[float]] = {caches: [] for caches in options.caches}
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for caches in options.caches:
            with tempfile.TemporaryDirectory() as place:
                folder = exported(options, Path(place), seed, caches)
                seconds = simulated(folder, options)
                total = total_cycles(folder, *sorted(folder.glob("run*/run.log")))
                ran = sum(each.read_text().count("kernel-") for each in folder.glob("kernelslist*.g"))
                picked = Path(place) / "picked.csv"
                rows = [f"{launch.id},{whole[launch.id]}" for launch in read_plan(str(folder)).drawn]
                picked.write_text("\n".join(["id,cycles", *rows, ""]))
                in_run = total_cycles(folder, picked)
            error = total["total"] / truth - 1
            errors[caches].append(error)
            half = (total["high"] - total["low"]) / 2 / total["total"]
            print(
                f"| {seed} | {caches} | {ran} | {total['total']:,.0f} | {error:+.1%} "
                f"| {in_run['total'] / truth - 1:+.1%} | {half:.1%} "
                f"| {'yes' if total['low'] <= truth <= total['high'] else 'no'} | {seconds:.0f} |",
                flush=True,
            )
    for caches, found in errors.items():
        print(f"{caches}: mean {np.mean(found):+.1%}, worst {max(found, key=abs):+.1%}, {len(found)} seeds")


def main() -> None:
    """Read the words of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("speed").add_argument("--megabytes", type=int, default=400)
    for part in ("simulate", "launches"):
        real = parts.add_parser(part)
        for name in ("simulator", "traces", "table", "whole"):
            real.add_argument(name)
        real.add_argument("--config", action="append", required=True)
        real.add_argument("--without-config", action="store_true", help="of L2 to the export: copies alone")
        real.add_argument("--seeds", type=int, default=5)
        real.add_argument("--first-seed", type=int, default=0)
        real.add_argument("--launches", type=int, default=32)
        real.add_argument("--caches", nargs="+", default=["cold", "warm", "loads", "after:1"])
    options = parser.parse_args()
    {"speed": speed, "simulate": simulate, "launches": launches}[options.part](options)


if __name__ == "__main__":
    main()
