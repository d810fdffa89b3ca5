"""Records are made of what there is: a name that nothing has is an error, never a null."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import msgspec
import pytest

from sampling.record import Count, Fraction, Record


class Figures(Record, frozen=True):
    """What the tests make."""

    launches: Count
    share: Fraction | None


class Plan(NamedTuple):
    """A source: a tuple has all of its attributes from its class."""

    launches: int


def test_each_name_is_of_the_source_that_has_it() -> None:
    sources = Plan(3), SimpleNamespace(share=None)
    assert Figures.from_attributes(*sources) == Figures(3, None)
    assert Figures.from_attributes(*sources, launches=5) == Figures(5, None)


def test_a_name_that_two_sources_have_is_given_or_an_error() -> None:
    sources = Plan(3), SimpleNamespace(launches=4, share=None)
    with pytest.raises(AttributeError, match=r"Figures.launches is an attribute of all of Plan, Simple"):
        Figures.from_attributes(*sources)
    assert Figures.from_attributes(*sources, launches=3) == Figures(3, None)


def test_a_name_that_no_source_has_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"Figures.share is no attribute of SimpleNamespace"):
        Figures.from_attributes(SimpleNamespace(launches=3))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"launches": 0, "share": 0.5}, ">= 1"),
        ({"launches": 1, "share": 1.5}, "<= 1"),
        ({"launches": 1}, "share"),
    ],
)
def test_what_is_written_has_all_fields_in_their_ranges(fields: dict[str, float], problem: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=problem):
        msgspec.convert(fields, Figures)
