"""The formats of address traces, a module each."""

from __future__ import annotations
