"""The two front doors of the engines, the app and the commands; here its version, in its one place."""

from __future__ import annotations

__version__ = "0.1.0"
