"""Principal Kernel Selection of the first launches, extended to all others by name, grid and block.

[Principal Kernel Analysis section 3.1, two-level profiling]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.errors import NotApplicableError
from sampling.methods.method import Method, PickRequest
from sampling.methods.picks import Picks
from sampling.methods.pka import pks
from sampling.methods.pka.characteristics import TENSOR_PREFIX, find_characteristics, recording_remedy
from sampling.methods.pka.distinct_rows import row_codes
from sampling.methods.pka.launch_clusters import reproducible_learning
from sampling.methods.pka.represented_groups import as_picks
from sampling.methods.settings import Span, setting
from sampling.progress import Progress
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList
from sampling.text import counted

# An accuracy measured on fewer launches than this says little.
_FEW_HELD_OUT = 5

ClassifierChoice = Literal["best", "sgd", "naive-bayes", "mlp"]


@dataclass(frozen=True, slots=True)
class Options(pks.Options):
    """How the first launches are grouped, by the options of pks, and the others labelled."""

    launches: int | None = setting(
        None,
        "how many launches from the first on count as profiled in detail; none: all up to the first that "
        "lacks metrics",
        span=Span(least=1, words="at least 1"),
    )
    classifier: ClassifierChoice = setting(
        "best",
        "what labels launches of which no equal was profiled in detail; sgd: a linear model; mlp: a small "
        "network; best: the one of the three that does best on the last fifth",
    )


def pick(request: PickRequest[Options]) -> Picks:
    """Return the first launch of each group, for all launches that are or look like the group's.

    Raises
    ------
    NotApplicableError : the first launch, or one of as many as ``launches`` asks for, lacks the metrics.
    """
    launches, options, progress = request.launches, request.options, request.progress
    found = find_characteristics(launches, options.columns)
    detailed = _detailed_launches(len(launches), found.complete_from_start, options.launches)
    selection = pks.select_kernels(launches, found, detailed, options, progress)
    group, details = _label_others(launches, selection.group, options.classifier, request.rng, progress)
    return as_picks(
        launches,
        group,
        selection.representative,
        selection.notes + _classification_notes(detailed, details, options.classifier),
        {**selection.details, "launches_in_detail": detailed, **details},
    )


def _classification_notes(
    detailed: int, details: dict[str, Any], choice: ClassifierChoice
) -> tuple[str, ...]:
    """Return what rests on a classifier, and how far that can be trusted."""
    notes = [*_holdout_notes(details)]
    if details["classifier_unused"] is not None:
        chosen = details["classifier_unused"]
        option = "" if choice == "best" else f", and two-level.classifier={choice} is not used"
        notes.append(f"no classifier is needed, and none has an accuracy: {chosen}{option}")
    unseen = details["share_name_unseen"]
    if unseen:
        notes.append(
            f"{100 * unseen:.1f} % of the launches have a name that none of the first {detailed:,} has"
        )
    return tuple(notes)


def _holdout_notes(details: dict[str, Any]) -> Iterator[str]:
    """Yield how well the classifier did on the launches held out, and whether that says anything."""
    classifier, accuracies, held_out = (
        details[name] for name in ("classifier", "holdout_accuracy", "holdout_launches")
    )
    if classifier is None:
        return
    held = counted(held_out, "launch", "launches")
    yield (
        f"{100 * details['share_classified']:.1f} % of the launches are classified by {classifier}, right "
        f"for {100 * accuracies[classifier]:.1f} % of the {held} held out"
    )
    if held_out < _FEW_HELD_OUT:
        yield f"{held} held out tell little of how well {classifier} does: profile more launches in detail"
    if len(accuracies) > 1 and set(accuracies.values()) == {accuracies[classifier]} != {1.0}:
        yield f"all classifiers did equally well on the launches held out; {classifier} is taken as the first"


def _detailed_launches(launches: int, complete: int, wanted: int | None) -> int:
    """Return how many launches from the first on are profiled in detail."""
    if complete == 0:
        raise NotApplicableError(
            "two-level needs metrics of the first launches, and the first launch lacks them",
            remedy=recording_remedy(),
        )
    wanted = complete if wanted is None else min(wanted, launches)
    if wanted > complete:
        raise NotApplicableError(
            f"two-level.launches asks for metrics of the first {wanted:,} launches; only the first "
            f"{complete:,} have them",
            remedy=f"{recording_remedy()}, or set two-level.launches={complete}",
        )
    return wanted


@dataclass(frozen=True, slots=True)
class _Classified:
    """The groups that a classifier gave, with what it scored on launches held out.

    Attributes
    ----------
    held_out : how many those were; None without a classifier.
    unused : why none was needed; None where one was.
    """

    group: IntArray
    classifier: str | None
    accuracies: dict[str, float]
    held_out: int | None = None
    unused: str | None = None


def _label_others(
    launches: LaunchList,
    known: IntArray,
    choice: ClassifierChoice,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[IntArray, dict[str, Any]]:
    """Return (n,) the group of every launch, from the groups (j,) of the first j, and details.

    A launch is labelled as those of equal name, grid and block, if there are any; else by a classifier.
    """
    total, detailed = len(launches), len(known)
    group_of_signature = _usual_group(launches.signature[:detailed], known, int(launches.signature.max()) + 1)
    group = np.concatenate([known, group_of_signature[launches.signature[detailed:]]])
    unmatched = np.flatnonzero(group < 0)
    classified = _classify(launches, known, unmatched, choice, rng, progress)
    group[unmatched] = classified.group
    return group, {
        "classifier": classified.classifier,
        "classifier_unused": classified.unused,
        "holdout_accuracy": classified.accuracies,
        "holdout_launches": classified.held_out,
        "share_in_detail": detailed / total,
        "share_matched_exactly": (total - detailed - len(unmatched)) / total,
        "share_classified": len(unmatched) / total,
        "share_name_unseen": _share_unseen(launches, detailed),
    }


def _classify(
    launches: LaunchList,
    known: IntArray,
    asked: IntArray,
    choice: ClassifierChoice,
    rng: np.random.Generator,
    progress: Progress | None,
) -> _Classified:
    """Return the group of the launches asked for, by the classifier that does best on the last fifth.

    It learns anew from all j launches, and sees each kind of launch once.
    """
    if len(known) == len(launches):
        return _Classified(known[:0], None, {}, unused="all launches are profiled in detail")
    if len(asked) == 0:
        return _Classified(known[:0], None, {}, unused="every other launch was matched exactly")
    if (known == known[0]).all():
        return _Classified(np.full(len(asked), known[0]), None, {}, unused="there is one group")
    kind, inputs = _kinds(launches)
    learning = LabelledLaunches(inputs, kind[: len(known)], known)
    candidates = CLASSIFIERS if choice == "best" else (choice,)
    random_state = int(rng.integers(2**31))
    accuracies: dict[str, float] = {}
    for done, candidate in enumerate(candidates):
        if progress is not None:
            progress(done, len(candidates) + 1, "learning from the first launches")
        accuracies[candidate] = learning.accuracy(candidate, random_state)
    # Of equally good ones the first in the paper's order.
    best = max(candidates, key=accuracies.__getitem__)
    kinds, kind_of = np.unique(kind[asked], return_inverse=True)
    group = learning.classifier(best, len(known), random_state).predict(inputs[kinds])
    return _Classified(group[kind_of], best, accuracies, learning.held_out)


def _usual_group(signature: IntArray, group: IntArray, signatures: int) -> IntArray:
    """Return (signatures,) the most frequent group of each signature, of equals the earliest; -1 if none."""
    code, first = row_codes([signature, group], len(signature))
    # The most frequent group of a signature, of equals the earliest, comes last and overwrites the others.
    order = np.lexsort((-first, np.bincount(code)))
    usual = np.full(signatures, -1, dtype=np.int64)
    usual[signature[first[order]]] = group[first[order]]
    return usual


def _kinds(launches: LaunchList) -> tuple[IntArray, Inputs]:
    """Return (n,) the kind of each launch and what light profiling tells of each kind.

    Launches of one kind share name, grid, block and tensor dimensions.
    """
    tensors = _tensor_dimensions(launches)
    kind, first = row_codes([launches.signature, *tensors], len(launches))
    shapes = launches.kernels.signature_rows()[launches.signature[first]]
    # Unknown dimensions are 0, and count as 1.
    logarithms = np.log2(np.maximum(shapes[:, 1:], 1))
    numbers = np.column_stack([logarithms, *(np.log2(1 + column[first]) for column in tensors)])
    return kind, Inputs(shapes[:, 0], numbers)


def _tensor_dimensions(launches: LaunchList) -> list[FloatArray]:
    if launches.features is None:
        return []
    return [
        np.where(np.isfinite(values), np.maximum(values, 0), 0)
        for name, values in launches.features.metrics.items()
        if name.startswith(TENSOR_PREFIX)
    ]


def _share_unseen(launches: LaunchList, detailed: int) -> float:
    """Return the share of the launches whose name none of the first has."""
    name_of_signature: IntArray = launches.kernels.signature_rows()[:, 0]
    name = name_of_signature[launches.signature]
    seen = np.zeros(int(name.max()) + 1, dtype=np.bool_)
    seen[name[:detailed]] = True
    return float(np.count_nonzero(~seen[name]) / len(name))


METHOD = Method(
    name="two-level",
    source="Principal Kernel Analysis, section 3.1 (two-level profiling)",
    needs=("metrics of Nsight Compute of the first launches",),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
)


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
