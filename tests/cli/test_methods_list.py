"""`methods` says of every option what it may be and what it means, and that is what the methods take."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import pytest

from sampling.errors import OptionError
from sampling.methods.options import about_options
from sampling.methods.registry import method_named, method_names, method_options

Kernelpoint = Callable[..., Any]
OPTIONS = [
    (name, about) for name in method_names() for about in about_options(method_named(name).options_type)
]


def by_name(part: Any) -> str:
    return str(getattr(part, "name", part))


def test_every_option_is_explained(kernelpoint: Kernelpoint) -> None:
    for row in kernelpoint("methods", "--format", "json").results:
        assert [about["name"] for about in row["about_options"]] == list(row["options"])
        for about in row["about_options"]:
            assert about["default"] == row["options"][about["name"]]
            assert about["values"]
            assert len(about["meaning"].split()) >= 3
    assert len(OPTIONS) > 20


def test_the_table_shows_choices_ranges_and_meanings(kernelpoint: Kernelpoint) -> None:
    shown = " ".join(kernelpoint("methods").out.split())
    assert "root.variant=exact [exact, script, paper]" in shown
    assert "root.k_max=2 [2 to 8]" in shown
    assert "sieve.kde=on [on, off] on: a group that varies more is cut" in shown
    assert "two-level.classifier=best [best, sgd, naive-bayes, mlp]" in shown
    assert "random.launches=none [1 or more, or none]" in shown
    assert "first-instructions.instructions=1e+09 [above 0]" in shown
    for name, about in OPTIONS:
        assert f"{name}.{about.name}=" in shown
        assert about.meaning in shown


@pytest.mark.parametrize(("method", "about"), OPTIONS, ids=by_name)
def test_choices_are_those_that_are_taken(method: str, about: Any) -> None:
    for choice in about.choices:
        assert getattr(method_options(method, (f"{method}.{about.name}={choice}",)), about.name) == choice
        assert f"{choice}:" in about.meaning or choice == "naive-bayes"
    if about.choices:
        with pytest.raises(OptionError):
            method_options(method, (f"{method}.{about.name}=no-such-choice",))


def inside_and_outside(values: str, *, whole: bool) -> Iterator[tuple[float, bool]]:
    """Numbers at the ends of a span in words, and whether they belong to it."""
    for pattern, belongs, outward in (
        (r"(\S+) (?:to|or more)", True, -1),
        (r"above (\S+)", False, -1),
        (r"(?:\d to|at most) (\S+)", True, 1),
        (r"below (\S+)", False, 1),
    ):
        if found := re.search(pattern, values.replace(",", "")):
            end = float(found[1])
            yield end, belongs
            yield (end + outward if whole else math.nextafter(end, outward * math.inf)), False
            yield (end - outward if whole else math.nextafter(end, -outward * math.inf)), True


@pytest.mark.parametrize(("method", "about"), OPTIONS, ids=by_name)
def test_the_numbers_that_are_told_are_those_that_are_taken(method: str, about: Any) -> None:
    options = method_named(method).options_type
    kind = str(next(each.type for each in fields(options) if each.name == about.name))
    if about.choices or "str" in kind:
        return
    tried = list(inside_and_outside(about.values, whole="int" in kind))
    assert len(tried) >= 3
    for number, belongs in tried:
        text = repr(int(number) if "int" in kind else number)
        if belongs:
            taken = getattr(method_options(method, (f"{method}.{about.name}={text}",)), about.name)
            assert taken == number
        else:
            with pytest.raises(OptionError, match=re.escape(f"{method}.{about.name} is ")):
                method_options(method, (f"{method}.{about.name}={text}",))


@pytest.mark.parametrize(("method", "about"), OPTIONS, ids=by_name)
def test_none_is_taken_where_it_is_said(method: str, about: Any) -> None:
    if about.values.endswith(", or none"):
        assert getattr(method_options(method, (f"{method}.{about.name}=none",)), about.name) is None
    else:
        with pytest.raises(OptionError):
            method_options(method, (f"{method}.{about.name}=none",))
