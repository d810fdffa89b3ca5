"""What the tests of nsys exports share."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.sampling.readers.nsys import nsys_exports


@pytest.fixture(scope="session")
def exports() -> ModuleType:
    """The writer of small nsys exports."""
    return nsys_exports
