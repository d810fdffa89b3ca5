"""scikit-learn so that equal seeds give equal results, and without warnings nobody could act on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reproducible_learning() -> Iterator[None]:
    """Run scikit-learn on one thread, its notes on convergence unsaid.

    On several threads k-means adds up each thread's part in the order they finish, and so may round, and
    then choose, otherwise from run to run.
    """
    # Only the threads of libraries that are loaded can be held back, so scikit-learn is loaded first.
    import sklearn.cluster  # noqa: F401
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
