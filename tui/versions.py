"""What `--version` prints."""

from __future__ import annotations

import platform
from importlib.metadata import version

from tui.version import __version__


def versions() -> str:
    """Return the versions of the tool, Python, numpy and Textual, without importing them."""
    return (
        f"kernelpoint {__version__} (Python {platform.python_version()}, numpy {version('numpy')}, "
        f"textual {version('textual')})"
    )
