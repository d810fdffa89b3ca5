"""The version, in its one place, and what `--version` prints."""

from __future__ import annotations

__version__ = "0.1.0"


def versions() -> str:
    """Return the versions of the tool, Python, numpy and Textual, without importing them."""
    import platform
    from importlib.metadata import version

    return (
        f"kernelpoint {__version__} (Python {platform.python_version()}, numpy {version('numpy')}, "
        f"textual {version('textual')})"
    )
