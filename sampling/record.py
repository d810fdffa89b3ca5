"""Results as records: JSON, JSONL, CSV and the schema of a command's output are all made of these.

A record is made once, by the engine, and holds what JSON can hold: numbers (of numpy they are converted as it
is made), texts, lists and other records. A number that is not finite is written as null.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from msgspec import Meta, Struct

Index = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
Nanoseconds = Annotated[int, Meta(ge=0)]
Amount = Annotated[float, Meta(ge=0)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Dimensions = tuple[Index, Index, Index]


_MISSING: Any = object()


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """A result, or a part of one; its fields are the keys in JSON and the columns in CSV, in this order."""

    @classmethod
    def from_attributes(cls, *sources: object, **fields: Any) -> Self:
        """Return the record with these fields, and the others from attributes of the sources of their names.

        The first source that has an attribute of a name gives it. Raises AttributeError: none has one.
        """
        for name in cls.__struct_fields__:
            if name in fields:
                continue
            for source in sources:
                # A loop, for there may be a record of each of 100,000 groups.
                value = getattr(source, name, _MISSING)
                if value is not _MISSING:
                    fields[name] = value
                    break
            else:
                kinds = ", ".join(type(source).__name__ for source in sources)
                raise AttributeError(f"{cls.__name__}.{name} is no attribute of {kinds}")
        return cls(**fields)
