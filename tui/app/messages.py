"""What the worker that reads and plans tells the app, and tables of several views their screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

# It imports numpy, which the first paint must not wait for.
if TYPE_CHECKING:
    from sampling.plan.binding import Relaxation
    from sampling.plan.budget import SimulationHours
    from sampling.plan.study import Study


@dataclass
class StudyProgress(Message):
    """The progress of reading or planning; a later report replaces one that is not yet handled."""

    generation: int
    done: int
    total: int
    what: str

    def can_replace(self, message: Message) -> bool:
        """Whether this report replaces the other."""
        return isinstance(message, StudyProgress)


@dataclass
class StudyReady(Message):
    """The workload is read and studied; ``hours`` is None where no slowdown is known.

    Attributes
    ----------
    notes : in what the plan shown is not that of the plan file that was opened.
    """

    generation: int
    study: Study
    hours: SimulationHours | None = None
    notes: tuple[str, ...] = ()


@dataclass
class StudyFailed(Message):
    """The workload cannot be read or planned so."""

    generation: int
    error: Exception


@dataclass
class BindingFound(Message):
    """What binds the plan of a study is found."""

    study: Study
    binding: tuple[Relaxation, ...]


@dataclass
class LiesBeside(Message):
    """What lies beside the profile, in a line each."""

    lines: tuple[str, ...]


@dataclass
class HeadClicked(Message):
    """The head of a table's column was clicked."""

    heading: str
