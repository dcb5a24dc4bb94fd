"""Scores that need no scikit-learn, by its names; larger is better.

Each takes what was right and what was answered: predictions, decision values or probabilities, as
`NEEDS` says, and the classes that the columns of the answers stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._base import accuracy, r2
from ._exceptions import warn
from ._multilabel import indicator_for
from ._targets import listed
from ._validation import check_sample_weight

__all__ = ["METRICS", "OF_NUMBERS", "score_labels"]


def _residuals(y: Any, predicted: Any) -> np.ndarray:
    """Return the differences in double."""
    return np.asarray(y, np.float64) - np.asarray(predicted, np.float64)


def _mean(values: np.ndarray, weight: Any) -> float:
    """Return the weighted mean over rows, and over outputs if there are several."""
    return float(np.mean(np.average(values, axis=0, weights=weight)))


def _squared_error(y: Any, predicted: Any, weight: Any) -> float:
    """Return minus the mean squared error."""
    return -_mean(_residuals(y, predicted) ** 2, weight)


def _root_squared_error(y: Any, predicted: Any, weight: Any) -> float:
    """Return minus the root of the mean squared error, a mean over outputs."""
    squares = np.average(_residuals(y, predicted) ** 2, axis=0, weights=weight)
    return -float(np.mean(np.sqrt(squares)))


def _absolute_error(y: Any, predicted: Any, weight: Any) -> float:
    """Return minus the mean absolute error."""
    return -_mean(np.abs(_residuals(y, predicted)), weight)


def _counts(y: Any, predicted: Any, weight: Any) -> tuple:
    """Return (labels, rows right, rows of each label, rows predicted as each label), weighted."""
    y, predicted = np.asarray(y), np.asarray(predicted)
    # raises where one holds strings and the other numbers
    accuracy(y, predicted)
    labels, codes = np.unique(np.concatenate([y, predicted]), return_inverse=True)
    of, said = codes[: len(y)], codes[len(y) :]
    size = {"minlength": len(labels)}
    right = (of == said) * (1.0 if weight is None else np.asarray(weight, np.float64))
    return (
        labels,
        np.bincount(of, right, **size),
        np.bincount(of, weight, **size),
        np.bincount(said, weight, **size),
    )


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) > 0)


def _balanced_accuracy(y: Any, predicted: Any, weight: Any) -> float:
    """Return the mean of the shares right over the classes that occur in y."""
    _, right, of, _ = _counts(y, predicted, weight)
    return float(np.mean((right[of > 0]) / of[of > 0]))


def _f1(right: np.ndarray, of: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Return the harmonic mean of precision and recall."""
    return _share(2 * right, of + said)


def _precision(right: np.ndarray, of: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Return the share right of those predicted."""
    return _share(right, said)


def _recall(right: np.ndarray, of: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Return the share found of those there are."""
    return _share(right, of)


def _f1_macro(y: Any, predicted: Any, weight: Any) -> float:
    """Return the mean of F1 over the classes in y or among the predictions."""
    return float(np.mean(_f1(*_counts(y, predicted, weight)[1:])))


def _of_positive(name: str, measure: Callable) -> Callable:
    """Return a score of the class 1 against one other."""

    def score(y: Any, predicted: Any, weight: Any) -> float:
        """Score the class 1."""
        labels, *counts = _counts(y, predicted, weight)
        numeric = labels.dtype.kind in "biuf"
        if len(labels) > 2 or not numeric or not np.isin(labels, (-1, 0, 1)).all():
            raise ValueError(
                f"scoring={name!r} is for the labels 0 and 1 or -1 and 1, got "
                f"{listed(labels.tolist())}; use 'f1_macro' or 'balanced_accuracy', or pass "
                "sklearn.metrics.make_scorer(f1_score, pos_label=...)."
            )
        positive = [c[labels == 1] for c in counts]
        return float(measure(*positive)[0]) if len(positive[0]) else 0.0

    return score


def _roc_auc(y: Any, decision: np.ndarray, classes: np.ndarray, weight: Any) -> float:
    """Return the share of pairs (a row of each class) that stand in the right order."""
    decision = np.asarray(decision)
    if decision.ndim > 1 or len(classes) > 2:
        raise ValueError(
            f"scoring='roc_auc' is for two classes, got {len(classes)}; pass sklearn's "
            "get_scorer('roc_auc_ovr')."
        )
    y = np.asarray(y)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    is_positive = y == classes[-1]
    total = weight[is_positive].sum() * weight[~is_positive].sum()
    if not total:
        warn("UndefinedMetricWarning", "ROC AUC is not defined where y holds one class only.")
        return float("nan")
    _, level = np.unique(decision, return_inverse=True)
    ups = np.bincount(level, weight * is_positive)
    downs = np.bincount(level, weight * ~is_positive)
    below = np.cumsum(downs) - downs
    return float(ups @ (below + 0.5 * downs) / total)


def _log_loss(y: Any, p: np.ndarray, classes: np.ndarray, weight: Any) -> float:
    """Return the mean log-likelihood; an unknown class has the smallest probability there is."""
    y, p = np.asarray(y), np.asarray(p)
    least = np.finfo(p.dtype).eps
    place = np.searchsorted(classes, y)
    known = classes[np.minimum(place, len(classes) - 1)] == y
    own = p[np.arange(len(y)), np.minimum(place, len(classes) - 1)]
    own = np.where(known, own, 0.0) / p.sum(axis=1)
    return float(np.average(np.log(np.clip(own, least, 1 - least)), weights=weight))


def score_labels(name: str, estimator: Any, X: Any, y: Any, weight: Any) -> float:
    """Score predictions of several labels per row."""
    predicted = np.asarray(estimator.predict(X))
    if name not in ("accuracy", "f1_macro") or predicted.ndim != 2:
        raise ValueError(
            f"scoring={name!r} is not for several labels per row; use 'accuracy' (all labels of a "
            "row are right) or 'f1_macro', or pass sklearn.metrics.make_scorer(f1_score, "
            "average='samples')."
        )
    weight = None if weight is None else check_sample_weight(weight, len(predicted))
    truth = indicator_for(estimator, y, len(predicted))
    if name == "accuracy":
        return accuracy(truth, predicted, weight)
    mass = np.ones(len(truth)) if weight is None else weight
    right, of, said = (mass @ part for part in (
        (truth == 1) & (predicted == 1), truth == 1, predicted == 1
    ))  # fmt: skip
    return float(np.mean(_f1(right, of, said)))


def score_shares(name: str, estimator: Any, X: Any, table: np.ndarray, weight: Any) -> float:
    """Score predictions of rows of which each class has a share."""
    classes = np.asarray(estimator.classes_)
    predicted = np.asarray(estimator.predict(X))
    if table.shape != (len(predicted), len(classes)):
        raise ValueError(
            f"y must hold a share for each of {len(predicted)} rows and {len(classes)} classes, "
            f"got shape {table.shape}."
        )
    weight = None if weight is None else check_sample_weight(weight, len(predicted))
    if name == "accuracy":
        order = np.argsort(classes)  # those of a data frame's columns may come in any order
        own = table[np.arange(len(table)), order[np.searchsorted(classes, predicted, sorter=order)]]
    elif name == "neg_log_loss":
        p = np.asarray(estimator.predict_proba(X))
        least = np.finfo(p.dtype).eps
        own = (table * np.log(np.clip(p, least, 1 - least))).sum(axis=1)
    else:
        raise ValueError(
            f"scoring={name!r} is not for shares of classes; use 'accuracy' (the share of the "
            "class that is predicted) or 'neg_log_loss'."
        )
    return float(np.average(own, weights=weight))


# Scores of numbers, of which a row may have several
OF_NUMBERS = (
    "r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error",
)  # fmt: skip
# Name -> (method of the estimator that answers, score of y, answers, [classes,] weights).
METRICS: dict[str, tuple[str, Callable]] = {
    "accuracy": ("predict", accuracy),
    "balanced_accuracy": ("predict", _balanced_accuracy),
    "f1": ("predict", _of_positive("f1", _f1)),
    "f1_macro": ("predict", _f1_macro),
    "precision": ("predict", _of_positive("precision", _precision)),
    "recall": ("predict", _of_positive("recall", _recall)),
    "roc_auc": ("decision_function", _roc_auc),
    "neg_log_loss": ("predict_proba", _log_loss),
    "r2": ("predict", r2),
    "neg_mean_squared_error": ("predict", _squared_error),
    "neg_root_mean_squared_error": ("predict", _root_squared_error),
    "neg_mean_absolute_error": ("predict", _absolute_error),
}
