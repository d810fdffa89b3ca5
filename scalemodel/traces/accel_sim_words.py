"""The words of instruction lines in an Accel-Sim trace, and the refusal of a line that is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scalemodel.arrays import BoolArray, IntArray
from scalemodel.errors import InputError
from scalemodel.traces.words import Words, decimal_numbers

# More registers than an instruction has; keeps a damaged number from pointing far away.
_MOST_REGISTERS = 64


@dataclass(frozen=True, slots=True)
class InstructionWords:
    """Some instruction lines of a piece of a trace.

    Attributes
    ----------
    path : the file's, for messages.
    words : of the whole piece.
    first : (i,) int64, the first word of each line.
    count : (i,) int64, how many words it has.
    row : (i,) int64, 1-based, its row in the file.
    """

    path: str
    words: Words
    first: IntArray
    count: IntArray
    row: IntArray

    def __getitem__(self, which: IntArray | BoolArray) -> InstructionWords:
        return InstructionWords(self.path, self.words, self.first[which], self.count[which], self.row[which])

    def at(self, place: IntArray) -> Words:
        """Return the word at this place of each line.

        Raises
        ------
        InputError : a line has not so many words.
        """
        self.refuse(place >= self.count, "the line ends early")
        return self.words[self.first + place]

    def registers(self, place: IntArray, what: str) -> IntArray:
        """Return the number of registers at this place of each line.

        Raises
        ------
        InputError : there is none.
        """
        number, is_number = decimal_numbers(self.at(place))
        self.refuse(~is_number | (number > _MOST_REGISTERS), f"the number of {what} is not one", place)
        return number.view(np.int64)

    def refuse(
        self, wrong: BoolArray, what: str, place: IntArray | None = None, instruction: IntArray | None = None
    ) -> None:
        """Raise for the first that is wrong.

        Parameters
        ----------
        wrong : (i,) bool, or (t,) if ``instruction`` says which line each of them is of.
        what : what is wrong.
        place : of the same length, where the word stands that is to blame.

        Raises
        ------
        InputError : one is wrong.
        """
        if not wrong.any():
            return
        first = int(np.argmax(wrong))
        line = first if instruction is None else int(instruction[first])
        if place is not None:
            what = f"{what} ({self.words.word(int(self.first[line] + place[first]))!r})"
        raise InputError(what, path=self.path, row=int(self.row[line]))
