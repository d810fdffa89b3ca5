"""Principal Kernel Selection of the first launches, extended to all others by name, grid and block.

[Principal Kernel Analysis section 3.1, two-level profiling]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import NotApplicableError
from sampling.methods import pks
from sampling.methods.clusters import as_picks, reproducible_learning, row_codes
from sampling.methods.method import Method, Picks
from sampling.methods.options import setting
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import LaunchList
from sampling.text import counted

CLASSIFIERS = ("sgd", "naive-bayes", "mlp")
# An accuracy measured on fewer launches than this says little.
_FEW_HELD_OUT = 5
_HIDDEN_UNITS = 32
# The share of the largest variance that is added to all of them, as scikit-learn has it by default.
_SMOOTHING = 1e-9
# Learning sees about this many rows in all: many rows need fewer passes, for they repeat more.
_MOST_ROWS_SEEN = 2_000_000
# One-hot names make wide rows, so they are made for so many at a time.
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class Options(pks.Options):
    """How the first launches are grouped, by the options of pks, and the others labelled."""

    launches: int | None = setting(
        None,
        "how many launches from the first on count as profiled in detail; none: all up to the first that "
        "lacks metrics",
        ge=1,
    )
    classifier: Literal["best", "sgd", "naive-bayes", "mlp"] = setting(
        "best",
        "what labels launches of which no equal was profiled in detail; sgd: a linear model; mlp: a small "
        "network; best: the one of the three that does best on the last fifth",
    )


def pick(
    launches: LaunchList, options: Options, rng: np.random.Generator, progress: Progress | None
) -> Picks:
    """Return the first launch of each group, for all launches that are or look like the group's.

    A launch that is not profiled in detail is labelled as those of equal name, grid and block, if there are
    any; else by the classifier that does best on the last fifth of the detailed ones.
    """
    columns, complete, notes = pks.characteristics(launches, options.columns)
    total, first_gap = len(launches), len(complete) if complete.all() else int(np.argmin(complete))
    detailed = first_gap if options.launches is None else min(options.launches, total)
    if first_gap == 0:
        raise NotApplicableError(
            "two-level needs metrics of the first launches, and the first launch lacks them",
            remedy=pks.RECORDING,
        )
    if detailed > first_gap:
        raise NotApplicableError(
            f"two-level.launches asks for metrics of the first {detailed:,} launches; only the first "
            f"{first_gap:,} have them",
            remedy=f"{pks.RECORDING}, or set two-level.launches={first_gap}",
        )
    known, representative, more_notes, details = pks.select_kernels(
        launches, columns, detailed, options, progress
    )
    group = np.concatenate([known, _usual_group(launches.signature, known)[launches.signature[detailed:]]])
    unmatched = np.flatnonzero(group < 0)
    details["launches_in_detail"] = detailed
    found: dict[str, Any] = {"classifier": None, "classifier_unused": None}
    found |= {"holdout_accuracy": {}, "holdout_launches": None}
    if detailed == total:
        found["classifier_unused"] = "all launches are profiled in detail"
    elif len(unmatched) == 0:
        found["classifier_unused"] = "every other launch was matched exactly"
    elif (known == known[0]).all():
        found["classifier_unused"] = "there is one group"
        group[unmatched] = known[0]
    else:
        group[unmatched], learnt = _classified(launches, known, unmatched, options.classifier, rng, progress)
        found |= learnt
    details |= found
    name = launches.kernels.signature_rows()[:, 0][launches.signature]
    details["share_in_detail"] = detailed / total
    details["share_matched_exactly"] = (total - detailed - len(unmatched)) / total
    details["share_classified"] = len(unmatched) / total
    details["share_name_unseen"] = float(np.count_nonzero(~np.isin(name, name[:detailed])) / total)
    notes += more_notes + _notes(details, options.classifier)
    return as_picks(launches, group, representative, notes, details)


def _notes(details: dict[str, Any], asked: str) -> tuple[str, ...]:
    """Return what rests on a classifier, and how far that can be trusted."""
    notes, classifier = [], details["classifier"]
    if classifier is None:
        option = "" if asked == "best" else f", and two-level.classifier={asked} is not used"
        why = details["classifier_unused"]
        notes.append(f"no classifier is needed, and none has an accuracy: {why}{option}")
    else:
        held = counted(details["holdout_launches"], "launch", "launches")
        share, right = details["share_classified"], details["holdout_accuracy"][classifier]
        classified = f"{100 * share:.1f} % of the launches are classified by {classifier}"
        notes.append(f"{classified}, right for {100 * right:.1f} % of the {held} held out")
        if details["holdout_launches"] < _FEW_HELD_OUT:
            little = f"{held} held out tell little of how well {classifier} does"
            notes.append(f"{little}: profile more launches in detail")
    if unseen := details["share_name_unseen"]:
        first = details["launches_in_detail"]
        notes.append(f"{100 * unseen:.1f} % of the launches have a name that none of the first {first:,} has")
    return tuple(notes)


def _usual_group(signature: IntArray, group: IntArray) -> IntArray:
    """Return the most frequent group (j,) of each signature among the first j, of equals the earliest.

    (signatures,); -1 for one that none of them has.
    """
    usual = np.full(int(signature.max()) + 1, -1, dtype=np.int64)
    seen = signature[: len(group)]
    code, first = row_codes([seen, group], len(group))
    # The most frequent group of a signature, of equals the earliest, comes last and overwrites the others.
    order = np.lexsort((-first, np.bincount(code)))
    usual[seen[first[order]]] = group[first[order]]
    return usual


def _classified(
    launches: LaunchList,
    known: IntArray,
    asked: IntArray,
    choice: str,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[IntArray, dict[str, Any]]:
    """Return the group of the rows asked for, from those (j,) of the first j, and how it was found."""
    kind, inputs = _kinds(launches)
    candidates = CLASSIFIERS if choice == "best" else (choice,)
    random_state = int(rng.integers(2**31))

    def learnt_from(candidate: str, first: int) -> Callable[[FloatArray], IntArray]:
        code, rows = row_codes([kind[:first], known[:first]], first)
        return classifier(candidate, inputs[kind[rows]], known[rows], np.bincount(code), random_state)

    learnt = max(len(known) * 4 // 5, 1)
    held_out, of_held_out = np.unique(kind[learnt : len(known)], return_inverse=True)
    accuracies: dict[str, float] = {}
    for done, candidate in enumerate(candidates):
        if progress is not None:
            progress(done, len(candidates) + 1, "learning from the first launches")
        predicted = learnt_from(candidate, learnt)(inputs[held_out])[of_held_out]
        accuracies[candidate] = float(np.mean(predicted == known[learnt:]))
    # Of equally good ones the first in the paper's order.
    best = max(candidates, key=accuracies.__getitem__)
    kinds, kind_of = np.unique(kind[asked], return_inverse=True)
    group = learnt_from(best, len(known))(inputs[kinds])[kind_of]
    held = len(known) - learnt
    return group, {"classifier": best, "holdout_accuracy": accuracies, "holdout_launches": held}


def _kinds(launches: LaunchList) -> tuple[IntArray, FloatArray]:
    """Return (n,) the kind of each launch, and (kinds, 1 + numbers) what light profiling tells of each.

    Launches of one kind share name, grid, block and tensor dimensions. The first column is the name's code,
    the others are logarithms of the dimensions.
    """
    metrics = {} if launches.features is None else launches.features.metrics
    tensors = [
        np.where(np.isfinite(values), np.maximum(values, 0), 0)
        for name, values in metrics.items()
        if name.startswith(pks.TENSOR_PREFIX)
    ]
    kind, first = row_codes([launches.signature, *tensors], len(launches))
    shapes = launches.kernels.signature_rows()[launches.signature[first]]
    # Unknown dimensions are 0, and count as 1.
    logarithms = np.log2(np.maximum(shapes[:, 1:], 1))
    return kind, np.column_stack(
        [shapes[:, 0], logarithms, *(np.log2(1 + column[first]) for column in tensors)]
    )


def classifier(
    kind: str, inputs: FloatArray, group: IntArray, count: IntArray, random_state: int
) -> Callable[[FloatArray], IntArray]:
    """Return a classifier of kinds of launches, learnt from kinds whose group is known.

    Parameters
    ----------
    kind : one of ``CLASSIFIERS``.
    inputs : (kinds, columns) the first is a name's code, and becomes a column for each name that is learnt.
    group, count : (kinds,) their groups, and how many launches each stands for.
    """
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    names = np.unique(inputs[:, 0])

    def one_hot(asked: FloatArray) -> FloatArray:
        return np.column_stack([asked[:, :1] == names, asked[:, 1:]]).astype(np.float64)

    def always(only: int) -> Callable[[FloatArray], IntArray]:
        return lambda asked: np.full(len(asked), only)

    rows = one_hot(inputs)
    scaler = StandardScaler().fit(rows, sample_weight=count)
    scaled = scaler.transform(rows)
    if (group == group[0]).all():
        return always(int(group[0]))
    passes = max(_MOST_ROWS_SEEN // len(rows), 10)
    if kind == "sgd":
        model = SGDClassifier(max_iter=min(passes, 1000), random_state=random_state)
    elif kind == "mlp":
        model = MLPClassifier((_HIDDEN_UNITS,), max_iter=min(passes, 200), random_state=random_state)
    elif (rows == rows[0]).all():
        # Equal rows have no variance to divide by; what is left of naive Bayes is how frequent a group is.
        return always(int(np.argmax(np.bincount(group, weights=count))))
    else:
        # Scikit-learn smooths by a share of the largest variance of the rows, and leaves their weights out.
        mean = np.average(scaled, axis=0, weights=count)
        of_launches = np.average((scaled - mean) ** 2, axis=0, weights=count).max()
        model = GaussianNB(var_smoothing=float(_SMOOTHING * of_launches / scaled.var(axis=0).max()))
    with reproducible_learning():
        # Steps of gradient descent grow with the weight, so weights are about 1.
        model.fit(scaled, group, sample_weight=count / count.mean())

    def predict(asked: FloatArray) -> IntArray:
        groups = [np.zeros(0, dtype=np.int64)]
        with reproducible_learning():
            for start in range(0, len(asked), _ROWS_AT_ONCE):
                rows = one_hot(asked[start : start + _ROWS_AT_ONCE])
                groups.append(model.predict(scaler.transform(rows)))
        return np.concatenate(groups)

    return predict


METHOD = Method(
    name="two-level",
    source="Principal Kernel Analysis, section 3.1 (two-level profiling)",
    needs=("metrics of Nsight Compute of the first launches",),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
)
