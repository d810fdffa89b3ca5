"""Where the bundled sample data lies: beside the packages in a checkout, inside `tui` in a wheel."""

from __future__ import annotations

from pathlib import Path

_SAMPLE = "resnet50-like.sqlite"


def sample_profile() -> Path:
    """Return the path of the sample that `demo` shows."""
    package = Path(__file__).resolve().parent
    folders = (package.parent / "sample_data", package / "sample_data")
    return next((folder / _SAMPLE for folder in folders if (folder / _SAMPLE).exists()), folders[0] / _SAMPLE)
