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


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """A result, or a part of one; its fields are the keys in JSON and the columns in CSV, in this order."""

    @classmethod
    def from_attributes(cls, *sources: object, **fields: Any) -> Self:
        """Return the record with these fields, and the others from attributes of the sources of their names.

        Raises AttributeError: no source has one; or several have, of which one would be taken for another as
        soon as that one's has a new name.
        """
        for name in cls.__struct_fields__:
            if name not in fields:
                owners = [source for source in sources if _has_attribute(source, name)]
                if len(owners) != 1:
                    kinds = ", ".join(type(source).__name__ for source in owners or sources)
                    message = f"{'an attribute of all' if owners else 'no attribute'} of {kinds}"
                    raise AttributeError(f"{cls.__name__}.{name} is {message}")
                fields[name] = getattr(owners[0], name)
        return cls(**fields)


class Quantity(Record, frozen=True):
    """A quotient of two totals with its interval; None where there is none."""

    value: Amount | None
    low: Amount | None
    high: Amount | None

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval, those above 0; the value where there is none."""
        value = self.value or 0.0
        return self.low or value, self.high or value


Bounds = dict[str, Quantity]
"""What bounds a run: the shares of its time of memory, compute and latency; empty where that is not known."""


def _has_attribute(source: object, name: str) -> bool:
    """Return whether an object has an attribute, without the work of a property."""
    return hasattr(type(source), name) or name in getattr(source, "__dict__", ())
