"""Readers: one module or folder a format, listed in `registry`."""

from __future__ import annotations

from typing import Literal

#: How files write their numbers: 1,234.5 is read under C too, 1.234,5 under de_DE alone.
NumberLocale = Literal["C", "en_US", "de_DE"]
