"""What a plan is asked: ranges, values as they are typed, steps, words of a command, and which are used."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sampling.errors import OptionError
from sampling.methods.registry import method_names
from sampling.plan import request
from sampling.plan.request import (
    PlanRequest,
    command_words,
    format_value,
    is_used,
    parse_value,
    step_value,
    unused_settings,
)
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.strata.target import MOST_CONFIDENCE, Target

UNSET = PlanRequest()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epsilon": 5.0}, "`epsilon` is a fraction between 0 and 1, not 5; did you mean 0.05?"),
        ({"epsilon": 0.0}, "`epsilon` is a fraction between 0 and 1, not 0"),
        ({"epsilon": 1e-10}, "`epsilon` is 1e-09 or more, not 1e-10"),
        ({"epsilon": float("nan")}, "`epsilon` is a fraction between 0 and 1, not nan"),
        ({"confidence": 0.9999999}, "`confidence` is 0.999999 at most, not 0.9999999"),
        ({"confidence": 1e-17}, "`confidence` is 1e-09 or more, not 1e-17"),
        ({"group_epsilon": 5.0}, "`group_epsilon` is a fraction between 0 and 1, not 5; did you mean 0.05?"),
        ({"group_epsilon": 1.0}, "`group_epsilon` is a fraction between 0 and 1, not 1"),
        ({"min_samples": 0}, "`min_samples` is 1 to 2^53, not 0"),
        ({"noise_floor": 1.0}, "`noise_floor` is a fraction from 0, below 1, not 1"),
        ({"kernel_spread": 10.5}, "`kernel_spread` is a fraction from 0 to 10, not 10.5"),
        ({"min_duration": 0}, "`min_duration` is 1 or more, not 0"),
        ({"seed": -1}, "`seed` is 0 or more, not -1"),
        ({"group_by": "kernel"}, "'kernel' is not a valid GroupBy; give launch, name, "),
    ],
)
def test_what_is_out_of_its_range_is_refused_wherever_it_comes_from(
    values: dict[str, Any], message: str
) -> None:
    for make in (lambda: PlanRequest(**values), lambda: replace(UNSET, **values)):
        with pytest.raises(OptionError) as refused:
            make()
        assert refused.value.text.startswith(message)
    # In a file, too, in the words of msgspec where it is of no kind that there is.
    with pytest.raises(OptionError if "group_by" not in values else msgspec.ValidationError):
        msgspec.convert(values, PlanRequest)


def test_the_ends_of_ranges_are_in_them() -> None:
    assert PlanRequest(confidence=MOST_CONFIDENCE, noise_floor=0, kernel_spread=10, group_epsilon=None)


def test_an_unset_request_is_the_target_of_the_methods() -> None:
    assert (UNSET.target, UNSET.grouping) == (Target(), Grouping(pool_devices=None))
    assert PlanRequest(group_by=GroupBy.PUBLISHED, method="root", each_rank=True).grouping == Grouping(
        GroupBy.NAME
    )
    with pytest.raises(OptionError, match="`pool_devices` and `each_rank` contradict each other"):
        _ = PlanRequest(pool_devices=True, each_rank=True).grouping


def test_a_request_is_read_back_from_json_and_an_unknown_option_is_not() -> None:
    asked = PlanRequest(device=("0", "1:3"), group_by=GroupBy.NAME, group_epsilon=None, number_locale="de_DE")
    assert msgspec.json.decode(msgspec.json.encode(asked), type=PlanRequest) == asked
    assert msgspec.convert({"group_by": "name"}, PlanRequest).grouping.by is GroupBy.NAME
    with pytest.raises(msgspec.ValidationError, match="unknown field `speed`"):
        msgspec.convert({"speed": 1}, PlanRequest)


@pytest.mark.parametrize("name", request.NAMES)
def test_every_option_has_its_help_and_one_flag(name: str) -> None:
    assert request.option(name).help
    assert sum(flag.startswith("--") for flag in request.flags(name)) >= 1
    assert sum(request.flags(other)[0] == request.flags(name)[0] for other in request.NAMES) == 1


@given(st.sampled_from(["epsilon", "group_epsilon", "confidence", "noise_floor"]), st.floats(1e-6, 0.999998))
def test_a_number_is_shown_with_all_digits_that_make_it_another(name: str, value: float) -> None:
    assert parse_value(name, format_value(name, value)) == value


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("group_epsilon", None, "none"),
        ("min_samples", 12, "12"),
        ("pool", False, "yes"),
        ("pool", True, "no"),
        ("each_rank", True, "yes"),
        ("group_by", GroupBy.SHORT_NAME, "short-name"),
        (
            "set",
            ("single-iteration.range=step 3", "root.k_max=2"),
            "'single-iteration.range=step 3' root.k_max=2",
        ),
        ("number_locale", "de_DE", "de_DE"),
        ("method", "root", "root"),
        ("launches", "5:", "5:"),
    ],
)
def test_a_value_is_typed_as_it_is_shown(name: str, value: Any, text: str) -> None:
    assert (format_value(name, value), parse_value(name, text)) == (text, value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("epsilon", "5%", "`epsilon=5%`: fractions are meant, not per cent: 0.05"),
        ("epsilon", "none", "`epsilon=none`: a number is meant, as 0.05"),
        ("group_epsilon", "no", "`group_epsilon=no`: a number is meant, as 0.25, or none"),
        ("min_samples", "2.5", "`min_samples=2.5`: a whole number is meant, as 1"),
        ("min_samples", "5%", "`min_samples=5%`: a whole number is meant, as 1"),
        ("min_duration", "5us", "`min_duration=5us`: a whole number is meant"),
        ("group_by", "nmae", "`group_by=nmae` is not one of launch, name, "),
        ("set", "root.k_max='2", "`set=root.k_max='2`: no closing quotation"),
    ],
)
def test_a_text_that_means_nothing_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse_value(name, text)
    assert refused.value.message.startswith(message)


def test_steps_go_along_the_ladder_and_none_is_above_it() -> None:
    highest = replace(UNSET, group_epsilon=0.7)
    above = step_value(highest, "group_epsilon", 1)
    assert above == replace(UNSET, group_epsilon=None)
    assert step_value(above, "group_epsilon", 1) is None
    assert step_value(above, "group_epsilon", -1) == highest
    assert step_value(replace(UNSET, noise_floor=0.12), "noise_floor", -1) == replace(UNSET, noise_floor=0.1)
    assert step_value(UNSET, "min_samples", -1) is None
    assert step_value(UNSET, "pool", 1) == replace(UNSET, pool=False)
    assert step_value(UNSET, "method", -1) == replace(UNSET, method=method_names()[-1])
    assert step_value(UNSET, "include", 1) is None


def test_the_words_of_a_command_are_those_of_what_is_set() -> None:
    asked = replace(UNSET, pool=False, group_epsilon=None, include=("-x", "b"), device=("0",), epsilon=0.1)
    words = ["--device", "0", "--include=-x", "--include", "b", "--epsilon", "0.1"]
    words += ["--group-epsilon", "none", "--no-pool"]
    assert list(command_words(asked)) == words
    assert list(command_words(asked, ("epsilon", "method"), always=("method",))) == [
        *("--epsilon", "0.1"),
        *("--method", "joint"),
    ]
    assert list(command_words(UNSET, unset=PlanRequest(method="root"))) == ["--method", "joint"]


def test_which_options_a_method_looks_at() -> None:
    root = replace(UNSET, method="root")
    assert [name for name in request.NAMES if not is_used(root, name)] == [
        "group_epsilon",
        "min_samples",
        "pool",
    ]
    picks = replace(UNSET, method="sieve")
    assert not is_used(picks, "noise_floor")
    assert is_used(picks, "epsilon")
    assert is_used(root, "pool", ("root", "joint"))
    # Random launches are as many as the plan of the method that they are like has.
    assert is_used(replace(UNSET, method="random", set=("random.like=joint",)), "pool")
    assert unused_settings(("root",), ("root.k_max=3", "pks.k_max=2")) == ("pks.k_max=2",)
