"""The commands, a file a family: parse, one engine call, output."""

from __future__ import annotations
