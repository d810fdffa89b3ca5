"""Write the sample data: made-up runs of two networks and a simulation, the same bytes every time.

Run it as ``python sample_data/make_sample_data.py [FOLDER]``; without a folder it rewrites the files beside
itself. See README.md for what they hold.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import gpt2_like
import resnet50_code
import resnet50_like
from accel_sim_file import GEMM_RUN, write_interval_log
from block_vector_file import write_block_vectors
from kineto_file import write_kineto
from machine_code import executed
from ncu_file import write_ncu_raw, write_ncu_roofline
from nsys_csv_files import write_nsys_csv
from nsys_files import write_nsys_sqlite
from workload import Pass, Recording, record

from sampling.difference.baseline import baseline_text, make_baseline
from sampling.difference.recordings import ProfilePart
from sampling.readers.registry import read_profile
from sampling.reduction.grouping import Grouping

IMAGES = 100
IMAGES_OF_SHORT_RUN = 23
SHORT_BATCHES = 52
LONG_BATCHES = 35


def resnet50_run(images: int, seed: int) -> Recording:
    """Classify images one at a time."""
    return record([resnet50_like.IMAGE] * images, weight_bytes=resnet50_like.WEIGHT_BYTES, seed=seed)


def gpt2_run(seed: int) -> Recording:
    """Run all batches, short and long ones in random order."""
    return record(_batches(seed), weight_bytes=gpt2_like.WEIGHT_BYTES, seed=seed)


def _batches(seed: int) -> list[Pass]:
    batches = [gpt2_like.SHORT_BATCH] * SHORT_BATCHES + [gpt2_like.LONG_BATCH] * LONG_BATCHES
    draw = random.Random(seed).random
    return [batches[index] for index in sorted(range(len(batches)), key=lambda _: draw())]


def write_all(folder: Path) -> None:
    """Write every sample file into a folder."""
    recording = resnet50_run(IMAGES, seed=50)
    write_nsys_sqlite(recording, folder / "resnet50-like.sqlite", "synthetic-resnet50")
    write_features(recording, folder)
    write_nsys_csv(resnet50_run(IMAGES_OF_SHORT_RUN, seed=51), folder / "resnet50-like-gpu-trace.csv")
    write_kineto(gpt2_run(seed=2), folder / "gpt2-like.json.gz")
    write_baseline_before(folder / "gpt2-like-before.json")
    write_interval_log(GEMM_RUN, folder / "gemm-intervals.log.gz", seed=3)


def write_baseline_before(file: Path) -> None:
    """Write the baseline of such a run as it was before a change."""
    batches = [gpt2_like.before_a_change(batch) for batch in _batches(seed=4)]
    with tempfile.TemporaryDirectory() as scratch:
        recording = Path(scratch, "before.json.gz")
        write_kineto(record(batches, weight_bytes=gpt2_like.WEIGHT_BYTES, seed=4), recording)
        text = baseline_text(make_baseline(ProfilePart(read_profile((str(recording),))), Grouping()))
    file.write_text(text, encoding="utf-8")


def write_features(recording: Recording, folder: Path) -> None:
    """Write what other tools would see of the launches, were the program run again under them."""
    counted = list(executed(recording.launches, resnet50_code.CODES, seed=52))
    write_ncu_raw(recording, counted, folder / "resnet50-like-ncu-raw.csv.gz", seed=53)
    write_ncu_roofline(recording, counted, folder / "resnet50-like-ncu-roofline.csv.gz", seed=54)
    write_block_vectors(recording, counted, folder / "resnet50-like-blocks.csv.gz")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
