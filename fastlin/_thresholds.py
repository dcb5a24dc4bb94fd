"""`tune_thresholds`: above which response each of several labels is predicted.

A learner's loss is not the score that a user wants: of rare labels, F1 is often best where more
rows are predicted than their responses say. The threshold of a label is chosen on responses to rows
that the model has not seen, among all that tell two of them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._cross_val import cross_val_predict
from ._multilabel import is_multilabel, labels_of_rows
from ._params import Callable as CallableGiven
from ._params import Either, OneOf, Real, shown
from ._validation import check_sample_weight

__all__ = ["tune_thresholds"]


def _share(part: Any, whole: Any) -> np.ndarray:
    """part / whole, 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _f1(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    """The harmonic mean of precision and recall."""
    return _share(2 * tp, 2 * tp + fp + fn)


def _accuracy(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    """The share of rows that are right."""
    return _share(tp + tn, tp + fp + fn + tn)


def _balanced(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    """The mean of the shares right of the rows with the label, and of those without."""
    return (_share(tp, tp + fn) + _share(tn, tn + fp)) / 2


# Below this the best F1 of a label is not worth a threshold.
_LEAST_F1 = 0.1
_MEASURES = {"f1": _f1, "accuracy": _accuracy, "balanced_accuracy": _balanced}


def tune_thresholds(estimator: Any, X: Any, y: Any, *, scoring: str | Callable = "f1",
                    cv: Any = 5, sample_weight: Any = None, n_jobs: int | None = None,
                    min_score: float | None = None) -> Any:
    """Fit a classifier to several labels per row, and set the threshold of each label.

    Clones of the estimator respond to each row without having seen it; for each label that
    threshold is taken whose predictions have the best score. Of equally good ones it is the one
    nearest to 0, which is what every model begins with.

    Parameters
    ----------
    estimator : estimator
        A classifier of fastlin that takes several labels per row, or a pipeline that ends in one.
        It is fitted in place on all rows.
    X : array, sparse matrix, Rows, frame or list of n_samples
        The rows.
    y : array-like or sparse matrix of shape (n_samples, n_labels), or list of sets
        Which labels each row has, as `fit` takes them.
    scoring : {"f1", "accuracy", "balanced_accuracy"} or callable, default="f1"
        What each label's threshold maximises. A callable takes four arrays of the weights of true
        positives, false positives, false negatives and true negatives, one entry for each
        threshold, and returns an array of scores.
    cv : int, splitter or iterable of (train, test), default=5
        As in `cross_val_predict`: each row must be in one test part.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights that count as repetitions, in training and in scores.
    n_jobs : int or None, default=None
        Threads over the folds; the result does not depend on it.
    min_score : float or None, default=None
        A label whose best score is lower keeps the threshold 0 [2]_: of a rare label that the model
        can't tell, F1 is best where every row is said to have it. None is 0.1 for "f1", and no
        bound for others.

    Returns
    -------
    estimator
        The one that was given, fitted, with ``thresholds_`` (of the last step of a pipeline).

    Raises
    ------
    ValueError
        If an argument is not valid, or y has one label per row.

    Notes
    -----
    Thresholds change `predict` and `predict_labels`, not `decision_function` nor `predict_proba`.

    References
    ----------
    .. [1] Z. C. Lipton, C. Elkan, B. Naryanaswamy, "Optimal thresholding of classifiers to maximize
       F1 measure", ECML PKDD 2014.
    .. [2] R.-E. Fan, C.-J. Lin, "A study on threshold selection for multi-label classification",
       technical report, National Taiwan University, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LogisticRegression
    >>> from fastlin.model_selection import tune_thresholds
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X + 0.3 * X[:, ::-1] > 1.2).astype(int)
    >>> model = tune_thresholds(LogisticRegression(C=0.1), X, y)
    >>> bool((model.thresholds_ < 0).all())
    True
    """
    Either(OneOf(*_MEASURES), CallableGiven()).check("scoring", scoring)
    Either(Real(finite=False), OneOf(None)).check("min_score", min_score)
    if min_score is None:
        min_score = _LEAST_F1 if scoring == "f1" else -np.inf
    steps = getattr(estimator, "steps", [("", estimator)])
    last, learner = steps[-1][0], steps[-1][1]
    if not hasattr(learner, "_merged_tags") or not learner._merged_tags()["multi_label"]:
        raise ValueError(
            "estimator must be a classifier of fastlin that takes several labels per row, got "
            f"{shown(estimator)}."
        )
    if not is_multilabel(y):
        raise ValueError(
            "y must be a matrix of zeros and ones or a list of sets of labels in tune_thresholds, "
            f"got {shown(y)}."
        )
    labels = labels_of_rows(learner, y)
    weight = check_sample_weight(sample_weight, len(labels))
    name = f"{last}__sample_weight" if last else "sample_weight"
    params = {} if weight is None else {name: weight}
    indicator = labels.indicator()
    z = cross_val_predict(
        estimator, X, indicator, cv=cv, n_jobs=n_jobs, params=params, method="decision_function"
    )
    measure = scoring if callable(scoring) else _MEASURES[scoring]
    weight = np.ones(len(z)) if weight is None else weight
    estimator.fit(X, y, **params)
    learner = estimator.steps[-1][1] if last else estimator
    learner.thresholds_ = np.array([
        _best(z[:, k], indicator[:, k] * weight, (1 - indicator[:, k]) * weight, measure,
              min_score)
        for k in range(z.shape[1])
    ])  # fmt: skip
    return estimator


def _best(z: np.ndarray, having: np.ndarray, lacking: np.ndarray, measure: Callable,
          min_score: float) -> float:
    """The threshold with the best score, from responses and the weights of rows that have the label
    or lack it; 0 where that score is too low."""
    order = np.argsort(-z, kind="stable")
    z = z[order]
    tp, fp = (np.append(0.0, np.cumsum(weight[order])) for weight in (having, lacking))
    # above the first i rows; no threshold parts equals, nor changes what is infinite
    above, below = np.append(np.inf, z), np.append(z, -np.inf)
    cuts = np.flatnonzero((above > below) | (above == np.inf) & (below == -np.inf))
    cuts = cuts[(cuts >= (z == np.inf).sum()) & (cuts <= (z > -np.inf).sum())]
    tp, fp, fn, tn = tp[cuts], fp[cuts], tp[-1] - tp[cuts], fp[-1] - fp[cuts]
    scores = np.asarray(measure(tp, fp, fn, tn), dtype=np.float64)
    if scores.shape != cuts.shape or np.isnan(scores).any():
        raise ValueError(
            f"scoring must return a number for each of {len(cuts)} thresholds, got "
            f"{shown(scores) if scores.shape != cuts.shape else 'NaN for some, perhaps 0 / 0'}."
        )
    if scores.max() < min_score:
        return 0.0
    best = cuts[scores == scores.max()]
    return min((_between(below[i], above[i]) for i in best), key=abs)


def _between(low: float, high: float) -> float:
    """A threshold t with low <= t < high: 0 if it is one, else the middle."""
    if low <= 0 < high:
        return 0.0
    if np.isinf(low):
        return float(np.nextafter(high, -np.inf))
    if np.isinf(high):
        return float(low)
    middle = low + (high - low) / 2
    return float(middle if middle < high else low)
