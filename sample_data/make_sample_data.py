"""Write the sample profiles: made-up runs of two networks, the same bytes every time.

Run it as ``python sample_data/make_sample_data.py [FOLDER]``; without a folder it rewrites the files beside
itself. See README.md for what they hold.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import gpt2_like
import resnet50_like
from kineto_file import write_kineto
from nsys_files import write_nsys_csv, write_nsys_sqlite
from workload import Pass, Recording, record

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
    """Write every sample profile into a folder."""
    write_nsys_sqlite(resnet50_run(IMAGES, seed=50), folder / "resnet50-like.sqlite", "synthetic-resnet50")
    write_nsys_csv(resnet50_run(IMAGES_OF_SHORT_RUN, seed=51), folder / "resnet50-like-gpu-trace.csv")
    write_kineto(gpt2_run(seed=2), folder / "gpt2-like.json.gz")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
