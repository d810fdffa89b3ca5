"""Two costs whose difference a reader sees."""

from __future__ import annotations

import pytest

from sampling.splitting.tree import costs_in_words


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (1200.0, 900.0, ("1,200 ns", "900 ns")),
        (686_647.4, 686_647.2, ("686,647.4 ns", "686,647.2 ns")),
        (686_647.1234, 686_647.1231, ("686,647.1234 ns", "686,647.1231 ns")),
        (5.0, 5.0, ("5 ns", "5 ns")),
        (5.0, 5.0 + 1e-12, ("5 ns", "5 ns")),
    ],
)
def test_they_have_the_digits_that_tell_them_apart(one: float, other: float, words: tuple[str, str]) -> None:
    assert costs_in_words(one, other) == words
