"""From two small simulated GPUs to a big one (GPU scale-model simulation)."""

from __future__ import annotations
