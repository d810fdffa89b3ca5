"""Traces as Accel-Sim 2.0 packs them, made as the format's description says, independently of the reader."""

from __future__ import annotations

import struct

import zstandard

#: Thread blocks by their place and cluster, each warp a list of lines.
Blocks = list[tuple[tuple[int, int, int], tuple[int, ...], list[list[str]]]]


def packed(head: list[str], blocks: Blocks, chunk: int = 3, dictionary: bytes = b"") -> bytes:
    """Pack a trace whose chunks have so many lines."""
    words = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    squeeze = zstandard.ZstdCompressor(dict_data=words).compress
    content = "\n".join(head).encode() + b"\n\0" + struct.pack("<II", len(dictionary), chunk) + dictionary
    index = struct.pack("<I", len(blocks))
    for place, cluster, warps in blocks:
        index += struct.pack("<11I", *place, *cluster, len(warps))
        for lines in warps:
            parts = [lines[start : start + chunk] for start in range(0, len(lines), chunk)]
            index += struct.pack("<IIQ", len(lines), len(parts), len(content))
            index += struct.pack(f"<{len(parts)}I", *map(len, parts))
            content += struct.pack("<II", len(lines), len(parts))
            for part in parts:
                text = squeeze("".join(f"{line}\n" for line in part).encode())
                content += struct.pack("<I", len(text)) + text
    return content + index + struct.pack("<Q", len(content))
