"""The commands, one module each: parse, one engine call, output."""

from __future__ import annotations
