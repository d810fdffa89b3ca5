"""What a scale-model prediction has to say beside its numbers: a code, a sentence, a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["note", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; the message is one or two sentences with the measurement and why it matters.

    Codes: ``near-cliff curve-error cliff-between-models cliff-not-placed second-cliff no-curve short-curve
    curve-ignored f-mem-missing f-mem-zero f-mem-unused nothing-to-check``.
    """

    code: str
    severity: Severity
    message: str
    remedy: str
