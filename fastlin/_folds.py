"""Which rows train and which test, from whatever a user passes as `cv`."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._class_counts import rows_per_class
from ._exceptions import warn
from ._kinds import is_sparse
from ._multilabel import as_array, is_multilabel
from ._params import Integer, shown
from ._splitters import KFold, StratifiedKFold, n_rows
from ._targets import check_classification_targets, encode_labels, listed

__all__ = ["Splits", "checked_data", "has_classes", "is_classifier", "is_pairwise", "kind_of",
           "order_of", "row_numbers", "splits_of", "warn_of_absent_classes"]  # fmt: skip

Splits = list[tuple[np.ndarray, np.ndarray]]


def kind_of(estimator: Any) -> str | None:
    """Return "classifier", "regressor" ... of an estimator of fastlin or one with such tags."""
    kind = getattr(estimator, "_estimator_type", None)
    if kind is None and "sklearn" in sys.modules and hasattr(estimator, "__sklearn_tags__"):
        kind = estimator.__sklearn_tags__().estimator_type
    return kind


def is_classifier(estimator: Any) -> bool:
    """Say whether an estimator is a classifier."""
    return kind_of(estimator) == "classifier"


def is_pairwise(estimator: Any) -> bool:
    """Say whether the columns of X are rows of the training data (a precomputed kernel)."""
    if hasattr(estimator, "_merged_tags"):
        return bool(estimator._merged_tags()["pairwise"])
    if "sklearn" in sys.modules and hasattr(estimator, "__sklearn_tags__"):
        return bool(estimator.__sklearn_tags__().input_tags.pairwise)
    return False


def checked_data(X: Any, y: Any) -> tuple[Any, Any]:
    """Return X and y that can be split by row."""
    if hasattr(X, "__next__"):
        raise TypeError(f"X must have rows that can be chosen, got {shown(X)}; pass a list of it.")
    if not hasattr(X, "__len__") and not hasattr(X, "shape") and hasattr(X, "__array__"):
        X = X.__array__()
    n = n_rows(X)
    if n == 0:
        raise ValueError("X has 0 sample(s) while a minimum of 1 is required.")
    if y is not None:
        y = y if hasattr(y, "iloc") or is_sparse(y) else as_array(y)
        if n_rows(y) != n:
            raise ValueError(f"X and y must have the same number of rows: {n} and {n_rows(y)}.")
    return X, y


def splits_of(cv: Any, estimator: Any, X: Any, y: Any, params: dict[str, Any]) -> Splits:
    """Return the pairs of row numbers that `cv` stands for; `params` go to its `split`."""
    if cv is None or isinstance(cv, numbers.Integral):
        cv = 5 if cv is None else cv
        Integer(2).check("cv", cv)
        cv = StratifiedKFold(cv) if is_classifier(estimator) and has_classes(y) else KFold(cv)
    wrong = isinstance(cv, (str, bytes, bytearray)) or getattr(cv, "ndim", 1) == 0
    if hasattr(cv, "split") and not wrong:
        cv = cv.split(X, y, **params)
    if wrong or not hasattr(cv, "__iter__"):
        raise ValueError(
            "cv must be a number of folds, a splitter, or an iterable of (train, test) rows, got "
            f"{shown(cv)}."
        )
    n = n_rows(X)
    splits = [_checked_pair(pair, n) for pair in cv]
    if not splits:
        raise ValueError("cv must give at least one (train, test) pair, got none.")
    return splits


def splits_by(cv: Any, estimator: Any, X: Any, y: Any, groups: Any) -> Splits:
    """The same for an estimator that chooses by folds, whose `fit` takes `groups`."""
    splits = splits_of(cv, estimator, X, y, {} if groups is None else {"groups": groups})
    for fold, (_, test) in enumerate(splits):
        if not len(test):
            raise ValueError(f"cv must give each fold rows to test on; fold {fold} has none.")
    return splits


def trained_on(splits: Splits, chosen: Iterable[int], n: int) -> np.ndarray:
    """A mask of the n rows that any of the chosen splits trains on."""
    member = np.zeros(n, bool)
    for fold in chosen:
        member[splits[fold][0]] = True
    return member


def _checked_pair(pair: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of one split as numbers."""
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise ValueError(f"cv must give pairs (train, test) of rows, got {shown(pair)}.") from None
    return _row_numbers(train, n), _row_numbers(test, n)


def _row_numbers(rows: Any, n: int) -> np.ndarray:
    """Return rows given by their numbers or by a mask as numbers."""
    rows = np.asarray(rows)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and rows.size):
        raise ValueError(
            f"cv must give rows as numbers or as a mask of {n} booleans, got an array of dtype "
            f"{rows.dtype} and shape {rows.shape}."
        )
    rows = np.array(rows, np.int64)  # a splitter may change its own later on
    if not len(rows) or (rows.min() >= 0 and rows.max() < n):
        return rows
    outside = (rows < -n) | (rows >= n)
    if outside.any():
        raise ValueError(f"cv gave the row {rows[outside][0]}, but X has {n} rows.")
    return np.where(rows < 0, rows + n, rows)


def order_of(rows: np.ndarray) -> str:
    """Say whether row numbers are "rising", in some other "mixed" order, "repeated" or "none"."""
    if not len(rows):
        return "none"
    if (rows[1:] > rows[:-1]).all():
        return "rising"
    return "repeated" if (np.diff(np.sort(rows)) == 0).any() else "mixed"


def has_classes(y: Any) -> bool:
    """Say whether a target holds one class for each row."""
    if y is None or is_sparse(y) or is_multilabel(y):
        return False
    y = np.asarray(y)
    if y.ndim != 1 and y.shape[1:] != (1,):
        return False
    try:
        check_classification_targets(y)
    except ValueError:
        return False
    return True


def warn_of_absent_classes(y: Any, splits: Splits, names: list[str] | None = None) -> None:
    """Warn once if training parts have no row of a class, and list the folds."""
    if not has_classes(y):
        return
    try:
        labels, codes = encode_labels(np.asarray(y).ravel())
    except TypeError:
        return  # labels that can't be sorted: fit says so
    lacking = [
        fold if names is None else names[fold]
        for fold, (train, _) in enumerate(splits)
        if not rows_per_class(codes, train, len(labels)).all()
    ]
    if lacking:
        which = listed(lacking).replace("'", "")
        who = f"part of fold {which} lacks" if len(lacking) == 1 else f"parts of folds {which} lack"
        warn(
            "UserWarning",
            f"The training {who} a class; its rows count as errors. Shuffle the rows, or use "
            "StratifiedKFold.",
        )


def row_numbers(name: str, m: int, value: Any, n: int) -> np.ndarray:
    """Row numbers, checked."""
    rows = np.asarray(value)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) == 0:
        raise ValueError(
            f"{name}[{m}] must be a vector of at least one row number, got {shown(value)}."
        )
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"{name}[{m}] must hold row numbers from 0 to {n - 1}, got {shown(rows)}.")
    return np.ascontiguousarray(rows, dtype=np.int64)
