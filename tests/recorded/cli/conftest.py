"""The command line in this process, as the other tests of it run it."""

from __future__ import annotations

from tests.cli.conftest import kernelpoint

__all__ = ["kernelpoint"]
