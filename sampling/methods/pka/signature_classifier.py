"""The group of a launch by its name, grid and block alone, learnt from launches whose group is known.

[Principal Kernel Analysis section 3.1, two-level profiling]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.methods.pka.distinct_rows import row_codes
from sampling.methods.pka.launch_clusters import reproducible_learning

Classifier = Literal["sgd", "naive-bayes", "mlp"]

CLASSIFIERS: tuple[Classifier, ...] = ("sgd", "naive-bayes", "mlp")

_HIDDEN_UNITS = 32
# The share of the largest variance that is added to all of them, as scikit-learn has it by default.
_SMOOTHING = 1e-9
# Learning sees about this many rows in all: many rows need fewer passes, for they repeat more.
_MOST_ROWS_SEEN = 2_000_000
# One-hot names make wide rows, so they are made for so many at a time.
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class Inputs:
    """What light profiling tells of kinds of launches; all arrays (kinds, ...).

    Attributes
    ----------
    name : name codes.
    numbers : (kinds, columns) logarithms of grid, block and tensor dimensions.
    """

    name: IntArray
    numbers: FloatArray

    def __len__(self) -> int:
        return len(self.name)

    def __getitem__(self, rows: AnyIntArray | slice) -> Inputs:
        return Inputs(self.name[rows], self.numbers[rows])


class SignatureClassifier:
    """A classifier of kinds of launches, fitted to kinds whose group is known.

    Parameters
    ----------
    kind : which classifier.
    inputs : the kinds to learn from.
    group : (kinds,) their groups.
    count : (kinds,) how many launches each stands for.
    random_state : seed of scikit-learn.
    """

    def __init__(
        self, kind: Classifier, inputs: Inputs, group: IntArray, count: IntArray, random_state: int
    ) -> None:
        from sklearn.preprocessing import StandardScaler

        self._names = np.unique(inputs.name)
        rows = self._one_hot(inputs)
        self._scaler = StandardScaler().fit(rows, sample_weight=count)
        # Steps of gradient descent grow with the weight, so weights are about 1.
        weight = count / count.mean()
        self._only_group = _only_group(kind, rows, group, count)
        self._model = _model(kind, random_state, len(rows))
        if self._only_group is None:
            scaled = self._scaler.transform(rows)
            if kind == "naive-bayes":
                self._model.set_params(var_smoothing=_var_smoothing(scaled, count))
            with reproducible_learning():
                self._model.fit(scaled, group, sample_weight=weight)

    def predict(self, inputs: Inputs) -> IntArray:
        """Return (kinds,) the group of each."""
        if self._only_group is not None:
            return np.full(len(inputs), self._only_group)
        groups = [np.zeros(0, dtype=np.int64)]
        with reproducible_learning():
            for start in range(0, len(inputs), _ROWS_AT_ONCE):
                rows = self._one_hot(inputs[start : start + _ROWS_AT_ONCE])
                groups.append(self._model.predict(self._scaler.transform(rows)))
        return np.concatenate(groups)

    def _one_hot(self, inputs: Inputs) -> FloatArray:
        """Return a column for each name learnt, then the numbers; a name not learnt has no column."""
        names = self._names
        rows = np.zeros((len(inputs), len(names) + inputs.numbers.shape[1]))
        place = np.minimum(np.searchsorted(names, inputs.name), len(names) - 1)
        known = np.flatnonzero(names[place] == inputs.name)
        rows[known, place[known]] = 1
        rows[:, len(names) :] = inputs.numbers
        return rows


def _only_group(kind: Classifier, rows: FloatArray, group: IntArray, count: IntArray) -> int | None:
    """Return the group of whatever is asked, where there is nothing to tell groups apart by; else None."""
    if (group == group[0]).all():
        return int(group[0])
    if kind != "naive-bayes" or not (rows == rows[0]).all():
        return None
    # Equal rows have no variance to divide by, and what is left of naive Bayes is how frequent a group is.
    return int(np.argmax(np.bincount(group, weights=count)))


def _var_smoothing(rows: FloatArray, count: IntArray) -> float:
    """Return what makes scikit-learn smooth as if each launch were a row.

    It takes a share of the largest variance of the rows and leaves their weights out of it.
    """
    mean = np.average(rows, axis=0, weights=count)
    of_launches = np.average((rows - mean) ** 2, axis=0, weights=count).max()
    return float(_SMOOTHING * of_launches / rows.var(axis=0).max())


def _model(kind: Classifier, random_state: int, rows: int) -> Any:
    """Return a classifier of scikit-learn that has learnt nothing yet and will learn from so many rows."""
    passes = max(_MOST_ROWS_SEEN // rows, 10)
    if kind == "sgd":
        from sklearn.linear_model import SGDClassifier

        return SGDClassifier(max_iter=min(passes, 1000), random_state=random_state)
    if kind == "mlp":
        from sklearn.neural_network import MLPClassifier

        return MLPClassifier((_HIDDEN_UNITS,), max_iter=min(passes, 200), random_state=random_state)
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


@dataclass(frozen=True, slots=True)
class LabelledLaunches:
    """Launches, in order, whose kind and group are known.

    Attributes
    ----------
    inputs : of every kind of launch, known group or not.
    kind : (j,) index into ``inputs``.
    group : (j,) the group.
    """

    inputs: Inputs
    kind: IntArray
    group: IntArray

    @property
    def held_out(self) -> int:
        """How many launches the last fifth has: those that a classifier is tried on."""
        return len(self.kind) - max(len(self.kind) * 4 // 5, 1)

    def classifier(self, kind: Classifier, launches: int, random_state: int) -> SignatureClassifier:
        """Return a classifier that learnt from the first launches."""
        code, first = row_codes([self.kind[:launches], self.group[:launches]], launches)
        return SignatureClassifier(
            kind, self.inputs[self.kind[first]], self.group[first], np.bincount(code), random_state
        )

    def accuracy(self, kind: Classifier, random_state: int) -> float:
        """Return the share of the last fifth that a classifier gets right which learnt from those before."""
        learnt = len(self.kind) - self.held_out
        held_out, count_of = np.unique(self.kind[learnt:], return_inverse=True)
        predicted = self.classifier(kind, learnt, random_state).predict(self.inputs[held_out])
        return float(np.mean(predicted[count_of] == self.group[learnt:]))
