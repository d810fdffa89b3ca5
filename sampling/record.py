"""Results as records: JSON, JSONL, CSV and the schema of a command's output are all made of these.

A record is made once, by the engine, and holds what JSON can hold: numbers (of numpy they are converted as it
is made), texts, lists and other records. A number that is not finite is written as null.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Index = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
Nanoseconds = Annotated[int, Meta(ge=0)]
Amount = Annotated[float, Meta(ge=0)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Dimensions = tuple[Index, Index, Index]


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """A result, or a part of one; its fields are the keys in JSON and the columns in CSV, in this order."""
