"""Words that sentences of this engine are made of."""

from __future__ import annotations

from collections.abc import Sequence


def listed(words: Sequence[str]) -> str:
    """Return words as in a sentence.

    >>> listed(["8"]), listed(["8", "16", "32"])
    ('8', '8, 16 and 32')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
