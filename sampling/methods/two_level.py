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
from sampling.methods.method import Method, Picks, setting
from sampling.parallel import Progress
from sampling.reduction import GroupBy
from sampling.reduction.launch_list import LaunchList
from sampling.text import counted

CLASSIFIERS = ("sgd", "naive-bayes", "mlp")
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
    columns, complete, notes = pks.characteristics(launches)
    total, first_gap = len(launches), len(complete) if complete.all() else int(np.argmin(complete))
    detailed = max(first_gap, 1) if options.launches is None else min(options.launches, total)
    if detailed > first_gap:
        have = f"{detailed:,} are asked for, and only the first {first_gap:,} have them"
        needs = "two-level needs metrics of launches from the first on"
        raise NotApplicableError(f"{needs}: {have}", remedy=pks.RECORDING)
    clusters, representative, more_notes, details = pks.select_kernels(
        launches, columns, detailed, options, progress
    )
    group = np.concatenate(
        [clusters, _usual_group(launches.signature, clusters)[launches.signature[detailed:]]]
    )
    unmatched = np.flatnonzero(group < 0)
    learnt: dict[str, Any] = {"classifier": None, "holdout_accuracy": {}, "holdout_launches": None}
    group[unmatched] = clusters[0]
    if len(unmatched) and (clusters != clusters[0]).any():
        group[unmatched], learnt = _classified(
            launches, clusters, unmatched, options.classifier, rng, progress
        )
    name = launches.kernels.signature_rows()[:, 0][launches.signature]
    unseen = float(np.count_nonzero(~np.isin(name, name[:detailed])) / total)
    details |= {
        "launches_in_detail": detailed,
        **learnt,
        "share_in_detail": detailed / total,
        "share_matched_exactly": (total - detailed - len(unmatched)) / total,
        "share_classified": len(unmatched) / total,
        "share_name_unseen": unseen,
    }
    notes += more_notes
    if (classifier := learnt["classifier"]) is not None:
        right, holdout = 100 * learnt["holdout_accuracy"][classifier], learnt["holdout_launches"]
        accuracy = f"right for {right:.1f} % of the {counted(holdout, 'launch', 'launches')} held out"
        classified = f"{100 * len(unmatched) / total:.1f} % of the launches are classified by {classifier}"
        notes.append(f"{classified}, {accuracy}")
    if unseen:
        share = f"{100 * unseen:.1f} % of the launches"
        notes.append(f"{share} have a name that none of the first {detailed:,} has")
    return as_picks(launches, group, representative, notes, details)


def _usual_group(signature: IntArray, group: IntArray) -> IntArray:
    """Return the most frequent group (j,) of each signature among the first j, of equals the earliest.

    (signatures,); -1 for one that none of them has.
    """
    usual = np.full(int(signature.max()) + 1, -1, dtype=np.int64)
    profiled_signatures = signature[: len(group)]
    code, first = row_codes([profiled_signatures, group], len(group))
    # The most frequent group of a signature, of equals the earliest, comes last and overwrites the others.
    order = np.lexsort((-first, np.bincount(code)))
    usual[profiled_signatures[first[order]]] = group[first[order]]
    return usual


def _classified(
    launches: LaunchList,
    clusters: IntArray,
    unprofiled: IntArray,
    choice: str,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[IntArray, dict[str, Any]]:
    """Return the group of the rows asked for, from those (j,) of the first j, and how it was found."""
    kind, inputs = _kinds(launches)
    candidates = CLASSIFIERS if choice == "best" else (choice,)
    random_state = int(rng.integers(2**31))

    def predicted(candidate: str, first: int, rows: IntArray) -> IntArray:
        code, learnt = row_codes([kind[:first], clusters[:first]], first)
        model = classifier(candidate, inputs[kind[learnt]], clusters[learnt], np.bincount(code), random_state)
        kinds, kind_of = np.unique(rows, return_inverse=True)
        return model(inputs[kinds])[kind_of]

    learnt = max(len(clusters) * 4 // 5, 1)
    accuracies: dict[str, float] = {}
    for finished, candidate in enumerate(candidates):
        if progress is not None:
            progress(finished, len(candidates) + 1, "learning from the first launches")
        predictions = predicted(candidate, learnt, kind[learnt : len(clusters)])
        accuracies[candidate] = float(np.mean(predictions == clusters[learnt:]))
    # Of equally good ones the first in the paper's order.
    best = max(candidates, key=accuracies.__getitem__)
    details = {"classifier": best, "holdout_accuracy": accuracies, "holdout_launches": len(clusters) - learnt}
    return predicted(best, len(clusters), kind[unprofiled]), details


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
    tensor_columns = [np.log2(1 + column[first]) for column in tensors]
    return kind, np.column_stack([shapes[:, 0], logarithms, *tensor_columns])


def classifier(
    kind: str, inputs: FloatArray, group: IntArray, count: IntArray, random_state: int
) -> Callable[[FloatArray], IntArray]:
    """Return a classifier, one of ``CLASSIFIERS``, learnt from kinds of launches whose group is known.

    The first column of ``inputs`` (kinds, columns) is a name's code, and becomes a column for each name that
    is learnt; ``count`` (kinds,) is how many launches each stands for.
    """
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    names = np.unique(inputs[:, 0])

    def one_hot(values: FloatArray) -> FloatArray:
        return np.column_stack([values[:, :1] == names, values[:, 1:]]).astype(np.float64)

    rows = one_hot(inputs)
    scaler = StandardScaler().fit(rows, sample_weight=count)
    scaled = scaler.transform(rows)
    passes = max(_MOST_ROWS_SEEN // len(rows), 10)
    if (group == group[0]).all() or (kind == "naive-bayes" and (rows == rows[0]).all()):
        # Equal rows have no variance to divide by; what is left of naive Bayes is how frequent a group is.
        usual = int(np.argmax(np.bincount(group, weights=count)))
        return lambda rows: np.full(len(rows), usual)
    if kind == "sgd":
        model = SGDClassifier(max_iter=min(passes, 1000), random_state=random_state)
    elif kind == "mlp":
        model = MLPClassifier((_HIDDEN_UNITS,), max_iter=min(passes, 200), random_state=random_state)
    else:
        # Scikit-learn smooths by a share of the largest variance of the rows, and leaves their weights out.
        mean = np.average(scaled, axis=0, weights=count)
        of_launches = np.average((scaled - mean) ** 2, axis=0, weights=count).max()
        model = GaussianNB(var_smoothing=float(_SMOOTHING * of_launches / scaled.var(axis=0).max()))
    with reproducible_learning():
        # Steps of gradient descent grow with the weight, so weights are about 1.
        model.fit(scaled, group, sample_weight=count / count.mean())

    def predict(rows: FloatArray) -> IntArray:
        parts = (rows[start : start + _ROWS_AT_ONCE] for start in range(0, len(rows), _ROWS_AT_ONCE))
        with reproducible_learning():
            groups = [model.predict(scaler.transform(one_hot(part))) for part in parts]
        return np.concatenate([np.zeros(0, dtype=np.int64), *groups])

    return predict


METHOD = Method(
    name="two-level",
    source="Principal Kernel Analysis, section 3.1 (two-level profiling)",
    description="The first launches are clustered by their metrics, the others are assigned to the clusters "
    "by what is known of them without metrics; one launch stands for each cluster.",
    needs=("metrics of Nsight Compute of the first launches",),
    published_grouping=GroupBy.LAUNCH,
    options_type=Options,
    pick=pick,
)
