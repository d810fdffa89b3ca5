"""Where the bundled sample data lies: beside the packages in a checkout, inside `tui` in a wheel."""

from __future__ import annotations

from pathlib import Path

_SAMPLE = "resnet50-like.sqlite"
_SCALE_QUESTION = "scale-model-example.toml"


def sample_profile() -> Path:
    """Return the path of the sample that `demo` shows."""
    return _bundled(_SAMPLE)


def sample_scale_question() -> Path:
    """Return the path of the made-up numbers that the view of scale models starts with."""
    return _bundled(_SCALE_QUESTION)


def _bundled(name: str) -> Path:
    package = Path(__file__).resolve().parents[1]
    folders = (package.parent / "sample_data", package / "sample_data")
    return next((folder / name for folder in folders if (folder / name).exists()), folders[0] / name)
