"""Splitting data, and scores by cross-validation, with scikit-learn's interface.

The splitters stand in `_splitters`.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _parallel
from ._base import accuracy, r2
from ._clone import clone
from ._exceptions import warn
from ._params import Integer, shown
from ._splitters import KFold, StratifiedKFold, n_rows, take, train_test_split
from ._targets import check_classification_targets, listed

__all__ = ["KFold", "StratifiedKFold", "cross_val_score", "train_test_split"]


def _mean_squared_error(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean of squared residuals."""
    return float(np.mean((np.asarray(y, np.float64) - predicted) ** 2))


def _mean_absolute_error(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean of absolute residuals."""
    return float(np.mean(np.abs(np.asarray(y, np.float64) - predicted)))


_SCORES: dict[str, Callable[[Any, np.ndarray], float]] = {
    "accuracy": accuracy,
    "r2": r2,
    "neg_mean_squared_error": lambda y, predicted: -_mean_squared_error(y, predicted),
    "neg_mean_absolute_error": lambda y, predicted: -_mean_absolute_error(y, predicted),
}


def _scorer(estimator: Any, scoring: Any) -> Callable[[Any, Any, Any], float]:
    """Return a function of a fitted estimator, X and y."""
    if scoring is None:
        if not hasattr(estimator, "score"):
            raise TypeError(f"{shown(estimator)} has no score: pass scoring.")
        return lambda fitted, X, y: fitted.score(X, y)
    if callable(scoring):
        return scoring
    if isinstance(scoring, str) and scoring in _SCORES:
        score = _SCORES[scoring]
        return lambda fitted, X, y: score(np.asarray(y), fitted.predict(X))
    metrics = sys.modules.get("sklearn.metrics")
    if isinstance(scoring, str) and metrics is not None:
        return metrics.get_scorer(scoring)
    raise ValueError(
        "scoring must be None, a function of (estimator, X, y), or one of "
        f"{listed(list(_SCORES))}, got {shown(scoring)}; for others pass "
        "sklearn.metrics.get_scorer(name)."
    )


def is_classifier(estimator: Any) -> bool:
    """Say whether an estimator of fastlin, or any with scikit-learn's tags, is a classifier."""
    kind = getattr(estimator, "_estimator_type", None)
    if kind is None and hasattr(estimator, "__sklearn_tags__"):
        kind = estimator.__sklearn_tags__().estimator_type
    return kind == "classifier"


def _splits(cv: Any, estimator: Any, X: Any, y: Any, groups: Any) -> list:
    """Return the pairs of row numbers that `cv` stands for."""
    if cv is None or isinstance(cv, numbers.Integral):
        cv = 5 if cv is None else cv
        Integer(2).check("cv", cv)
        cv = StratifiedKFold(cv) if is_classifier(estimator) and _has_classes(y) else KFold(cv)
    if hasattr(cv, "split"):
        cv = cv.split(X, y, groups)
    if isinstance(cv, str) or not hasattr(cv, "__iter__"):
        raise ValueError(
            "cv must be a number of folds, a splitter, or an iterable of (train, test) rows, got "
            f"{shown(cv)}."
        )
    return [(_row_numbers(train), _row_numbers(test)) for train, test in cv]


def _row_numbers(rows: Any) -> np.ndarray:
    """Return rows given by their numbers or by a mask as numbers."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _has_classes(y: Any) -> bool:
    """Say whether a target holds one class for each row."""
    y = np.asarray(y)
    if y.ndim != 1 and y.shape[1:] != (1,):
        return False
    try:
        check_classification_targets(y)
    except ValueError:
        return False
    return True


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: str | Callable | None = None,
    cv: Any = None,
    n_jobs: int | None = None,
    params: dict[str, Any] | None = None,
    error_score: float | str = np.nan,
) -> np.ndarray:
    """Fit on each training part and score on the rest.

    Parameters
    ----------
    estimator : estimator
        Of fastlin or any other with scikit-learn's interface; it is cloned and stays as it is.
    X : array, sparse matrix, frame or list of n_samples
        The data.
    y : array-like of shape (n_samples,), default=None
        The target.
    groups : array-like of shape (n_samples,), default=None
        Passed to the splitter.
    scoring : str, callable or None, default=None
        None uses the estimator's `score`: accuracy or R^2. A callable takes (estimator, X, y).
        "accuracy", "r2", "neg_mean_squared_error" and "neg_mean_absolute_error" are known by
        name, and those of scikit-learn once ``sklearn.metrics`` is imported.
    cv : int, splitter, iterable or None, default=None
        Number of folds (None is 5), stratified for classifiers and never shuffled; an object with
        `split`, such as those of scikit-learn; or pairs of row numbers.
    n_jobs : int or None, default=None
        Threads over the folds; -1 is all cores. The scores do not depend on it.
    params : dict, default=None
        Arguments of `fit`; those with one value for each row are split like y.
    error_score : float or "raise", default=nan
        The score of a fold whose fit failed, with a warning; "raise" raises the error.

    Returns
    -------
    ndarray of shape (n_splits,), dtype float64

    Raises
    ------
    ValueError
        If an argument is not valid or every fit failed.

    Warns
    -----
    UserWarning
        If the training part of a fold lacks a class; the message lists the folds. Such rows count
        as errors, since a class that was not seen is never predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDClassifier
    >>> from fastlin.model_selection import cross_val_score
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> y = X[:, 0] > 0
    >>> bool(cross_val_score(SGDClassifier(random_state=0), X, y).mean() > 0.9)
    True
    """
    if error_score != "raise" and not isinstance(error_score, numbers.Real):
        raise ValueError(f"error_score must be a number or 'raise', got {shown(error_score)}.")
    score = _scorer(estimator, scoring)
    n = n_rows(X)
    if y is not None and n_rows(y) != n:
        raise ValueError(f"X and y must have the same number of rows: {n} and {n_rows(y)}.")
    y = y if y is None or hasattr(y, "iloc") else np.asarray(y)
    splits = _splits(cv, estimator, X, y, groups)
    if y is not None and is_classifier(estimator):
        _warn_of_absent_classes(y, splits)
    tasks = [
        _FoldTask(
            clone(estimator),
            X,
            y,
            train,
            test,
            params or {},
            score,
            error_score,
        )
        for train, test in splits
    ]
    scores = _parallel.run(tasks, n_jobs)
    failures = [task.failure for task in tasks if task.failure is not None]
    if failures:
        text = f"{len(failures)} of {len(tasks)} fits failed, the first with: {failures[0]}"
        if len(failures) == len(tasks):
            raise ValueError(text) from failures[0]
        warn("UserWarning", f"{text} Their scores are {error_score!r}.")
    return np.array(scores, dtype=np.float64)


def _warn_of_absent_classes(y: Any, splits: list) -> None:
    """Warn if some training part has no row of a class."""
    labels = np.asarray(y)
    if not _has_classes(labels):
        return
    codes = np.unique(labels, return_inverse=True)[1].ravel()
    n_classes = codes.max() + 1
    lacking = [
        fold for fold, (train, _) in enumerate(splits) if len(np.unique(codes[train])) < n_classes
    ]
    if lacking:
        warn(
            "UserWarning",
            f"The training parts of the folds {listed(lacking)} lack a class; its rows count as "
            "errors. Shuffle the rows, or use StratifiedKFold.",
        )


@dataclass
class _FoldTask:
    """One fold: fitted and scored when called."""

    estimator: Any
    X: Any
    y: Any
    train: np.ndarray
    test: np.ndarray
    params: dict[str, Any]
    score: Callable
    error_score: Any
    failure: Exception | None = None

    def __call__(self) -> float:
        n = n_rows(self.X)
        params = {
            name: take(value, self.train) if _is_per_row(value, n) else value
            for name, value in self.params.items()
        }
        data = (self.X,) if self.y is None else (self.X, self.y)
        try:
            self.estimator.fit(*(take(part, self.train) for part in data), **params)
        except Exception as error:
            if self.error_score == "raise":
                raise
            self.failure = error
            return float(self.error_score)
        return float(self.score(self.estimator, take(self.X, self.test), take(self.y, self.test)))


def _is_per_row(value: Any, n: int) -> bool:
    """Say whether an argument of `fit` has one value for each row."""
    if isinstance(value, (list, tuple)) or hasattr(value, "iloc"):
        return len(value) == n
    return len(getattr(value, "shape", ())) > 0 and n_rows(value) == n
