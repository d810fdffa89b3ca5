"""The options of the form: texts, steps, and what a typed text means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.methods.registry import method_names
from tui.app.option_form import OPTION_FIELDS, OptionField
from tui.options.plan import SampleOptions

# The fields, without a screen.


def field(name: str) -> OptionField:
    return next(each for each in OPTION_FIELDS if each.name == name)


LADDERS = [each.name for each in OPTION_FIELDS if each.is_typed and each.name != "set"]


@pytest.mark.parametrize("name", LADDERS)
def test_steps_go_up_to_an_end_and_back(name: str) -> None:
    of, options = field(name), SampleOptions()
    seen = [of.text(options)]
    for _ in range(40):
        following = of.stepped(options, 1)
        if following is None:
            break
        back = of.stepped(following, -1)
        assert back is not None
        assert of.text(back) == of.text(options), "one back is where it was"
        options = following
        seen.append(of.text(options))
    assert len(set(seen)) == len(seen)
    numbers = [float(text) for text in seen if text != "none"]
    assert numbers == sorted(numbers)
    assert (seen[-1] == "none") == (name == "group_epsilon")


@pytest.mark.parametrize("name", LADDERS)
def test_steps_go_down_to_a_value_the_engine_takes(name: str) -> None:
    of, options = field(name), SampleOptions()
    while (before := of.stepped(options, -1)) is not None:
        assert float(of.text(before)) < float(of.text(options))
        options = before
    assert of.taken(SampleOptions(), of.text(options)) == options


@given(st.floats(1e-6, 0.999))
def test_a_fraction_between_two_steps_goes_to_the_next(value: float) -> None:
    of = field("epsilon")
    options = of.taken(SampleOptions(), repr(value))
    assert options.request.epsilon == value
    for by in (1, -1):
        stepped = of.stepped(options, by)
        assert stepped is None or (stepped.request.epsilon - value) * by > 0


def test_choices_go_round() -> None:
    of, options = field("method"), SampleOptions()
    seen = []
    for _ in method_names():
        seen.append(of.text(options))
        options = of.stepped(options, 1) or options
    assert seen == list(method_names())
    assert options == SampleOptions()
    assert of.stepped(options, -1) == options.with_request(method=method_names()[-1])


@pytest.mark.parametrize(
    ("name", "text"),
    [("group_epsilon", "0.25"), ("min_samples", "1"), ("noise_floor", ".05"), ("kernel_spread", "0.3")],
)
def test_a_default_is_not_given(name: str, text: str) -> None:
    other = field(name).stepped(SampleOptions(), 1)
    assert other not in {None, SampleOptions()}
    assert field(name).taken(other, text) == SampleOptions()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("epsilon", "5", "epsilon is a fraction between 0 and 1, not "),
        ("epsilon", "5%", "epsilon 5%: fractions are meant, not per cent: 0.05"),
        ("epsilon", " ", "epsilon  : a number is meant, as 0.05"),
        ("epsilon", "0.5e-9", "epsilon is 1e-09 or more, not "),
        ("epsilon", "nan", "epsilon is a fraction between 0 and 1, not nan"),
        ("confidence", "1", "confidence is a fraction between 0 and 1, not "),
        ("group_epsilon", "no", "group-epsilon no: a number is meant, as 0.25, or none"),
        ("min_samples", "0", "min-samples is 1 to 2^53, not 0"),
        ("min_samples", "2.5", "min-samples 2.5: a whole number is meant, as 1"),
        ("seed", "-1", "seed is 0 or more, not -1"),
        ("method", "jiont", "method jiont is not one of joint, "),
        ("set", "root.k_max='2", "set root.k_max='2: no closing quotation"),
        ("set", "root.kmax=3", "root has no option 'kmax'"),
    ],
)
def test_a_wrong_text_is_said_by_the_name_of_its_field(name: str, text: str, said: str) -> None:
    with pytest.raises(OptionError) as error:
        field(name).taken(SampleOptions(), text)
    assert str(error.value).startswith(said)


@given(st.floats(1e-9, 1, exclude_max=True))
def test_a_fraction_is_shown_with_all_digits_that_make_it_another(value: float) -> None:
    of = field("epsilon")
    assert float(of.text(SampleOptions().with_request(epsilon=value))) == value


def test_settings_are_split_as_a_shell_does() -> None:
    of = field("set")
    options = of.taken(SampleOptions(), "single-iteration.range='step 3' root.k_max=2")
    assert options.request.set == ("single-iteration.range=step 3", "root.k_max=2")
    assert of.taken(SampleOptions(), of.text(options)) == options
    assert of.taken(options, "") == SampleOptions()
