"""How much of an interval is assumption, in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sampling.estimation.interval import SeenSpread
from sampling.estimation.total import IntervalParts
from sampling.strata.target import Target
from tui.text.estimate import basis_lines, detail_lines

NOISE = 0.05
UNSEEN = SeenSpread(1.0, 0.0, 0.0, 1.0, exceeds=False)


def estimate_of(seen: SeenSpread | None, *, within: float = 0.025, is_warm: bool = True) -> Any:
    """What `estimate` found: its interval, and what it rests on."""
    freedom = None if seen is None else (4 + seen.degrees_of_freedom) / 2
    main = SimpleNamespace(
        metric="cycles", seen=seen, degrees_of_freedom=freedom, is_within=lambda target: within <= target
    )
    return SimpleNamespace(
        main=main,
        parts=None,
        caches=SimpleNamespace(is_of_whole_run=is_warm),
        plan=SimpleNamespace(options=SimpleNamespace(target=Target(noise_floor=NOISE))),
        notes=("what it covers",),
    )


def seen_of(times: float, freedom: float, share: float, *, exceeds: bool = False) -> SeenSpread:
    return SeenSpread(times**2, freedom, share, 4 / (4 + freedom), exceeds)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (
            seen_of(0.6, 3.1, 0.57),
            (
                "Half of this interval is assumption: few launches show how much they vary. "
                "These vary 0.6 times as much as assumed."
            ),
        ),
        (
            seen_of(1.5, 0.2, 0.1),
            (
                "Nearly all of this interval is assumption: few launches show how much they vary. "
                "These vary 1.5 times as much as assumed."
            ),
        ),
        (
            seen_of(1.02, 1.5, 0.8),
            (
                "Most of this interval is assumption: few launches show how much they vary. "
                "These vary as much as assumed."
            ),
        ),
        (
            seen_of(0.31, 12.0, 0.7),
            (
                "Part of this interval is assumption: not all launches show how much they vary. "
                "These vary 0.31 times as much as assumed."
            ),
        ),
        (
            seen_of(0.0, 2.0, 1.0),
            (
                "Most of this interval is assumption: few launches show how much they vary. "
                "These vary hardly at all."
            ),
        ),
        (
            seen_of(0.8, 90.0, 1.0),
            (
                "Hardly any of this interval is assumption: many launches show how much they vary. "
                "These vary 0.8 times as much as assumed."
            ),
        ),
    ],
)
def test_how_much_is_assumption_and_what_was_seen_is_said_without_figures(
    seen: SeenSpread, said: str
) -> None:
    assert list(basis_lines(estimate_of(seen))) == [said]


def test_what_was_simulated_once_checks_nothing_and_the_next_target_does() -> None:
    alone = "All of this interval is assumption: no stratum was simulated twice."
    assert list(basis_lines(estimate_of(UNSEEN))) == [
        f"{alone} `--target 0.02` simulates more and checks it."
    ]
    # One of 4 % is first brought within 3 %; one narrower than any that is offered is not narrowed.
    (wide,) = basis_lines(estimate_of(UNSEEN, within=0.04))
    assert wide == f"{alone} `--target 0.03` simulates more and checks it."
    assert list(basis_lines(estimate_of(UNSEEN, within=0.004))) == [alone]
    assert list(basis_lines(estimate_of(UNSEEN, is_warm=False))) == [alone]


def test_what_refutes_the_declaration_is_said_with_the_plan_to_make() -> None:
    first, second = basis_lines(estimate_of(seen_of(1.9, 3.0, 0.5, exceeds=True)))
    assert first == "Half of this interval is assumption: few launches show how much they vary."
    assert second == (
        "cycles vary 1.9 times as much as declared, more than chance explains: "
        "plan again with --noise-floor 0.095"
    )


def test_an_exact_total_assumes_nothing() -> None:
    assert list(basis_lines(estimate_of(None))) == []
    assert list(detail_lines(estimate_of(None))) == ["what it covers"]


def test_the_details_are_in_figures() -> None:
    assert list(detail_lines(estimate_of(seen_of(0.6, 3.1, 0.57)))) == [
        (
            "Of the variance 57.0 % was seen at least twice, in 3.1 degrees of freedom; there, cycles vary "
            "0.6 times as much as declared. 56.3 % of the interval rests on what was declared."
        ),
        "the interval has 3.5 degrees of freedom",
        "what it covers",
    ]
    assert list(detail_lines(estimate_of(UNSEEN))) == [
        "the interval has 2.0 degrees of freedom",
        "what it covers",
    ]


def test_beside_other_errors_it_is_the_part_of_sampling_that_is_assumption() -> None:
    found = estimate_of(seen_of(0.6, 3.1, 0.57))
    found.parts = IntervalParts(sampling=0.02, projection=0.01, scale_model=0.0, cold_check=0.0, assumed=0.0)
    parts, assumption = basis_lines(found)
    assert parts == "  parts of that: sampling 2.0 %, projection 1.0 %"
    assert assumption.startswith("Half of the part of sampling is assumption: ")
