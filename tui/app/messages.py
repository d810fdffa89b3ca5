"""What the worker that reads and plans tells the app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

# It brings numpy, which the first paint does not wait for.
if TYPE_CHECKING:
    from sampling.plan.study import Study


@dataclass
class StudyProgress(Message):
    """Where reading or planning stands; a later report takes the place of one not yet handled."""

    generation: int
    done: int
    total: int
    what: str

    def can_replace(self, message: Message) -> bool:
        """Whether this report makes the other needless."""
        return isinstance(message, StudyProgress)


@dataclass
class StudyReady(Message):
    """The workload is read and studied."""

    generation: int
    study: Study


@dataclass
class StudyFailed(Message):
    """The workload cannot be read or planned so."""

    generation: int
    error: Exception
