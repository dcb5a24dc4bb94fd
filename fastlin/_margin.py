"""Margin of a linear separator, and how many mistakes a perceptron makes at most.

Both are read off the weights of any fitted linear classifier, ours or scikit-learn's, in one pass
over the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._data import as_rows
from ._scores import longest_square, score_rows
from ._sparse_weights import dense_weights
from ._validation import check_feature_names, check_target, encode_known_labels

__all__ = ["margin", "mistake_bound"]


def margin(estimator: Any, X: Any, y: Any) -> float:
    """Return by how much a linear classifier separates rows from the other classes.

    Of two classes it is ``min_i y_i (w.x_i + b) / |w|`` with y = +-1: the distance of the
    hyperplane from the nearest row. Of more it is the least lead of a row's own class,
    ``min_i (w_y - w_k).x_i + b_y - b_k`` over k != y, with all weights together scaled to
    ``|W|_F = 1``. Intercepts count in responses, not in these norms.

    Parameters
    ----------
    estimator : classifier
        Fitted, with `coef_`, `intercept_` and `classes_`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    float
        Above 0 where all rows are separated, below where one is on the wrong side.

    Raises
    ------
    NotFittedError
        Before `fit`.
    TypeError
        If the estimator is no linear classifier.
    ValueError
        If all weights are 0, so that there is no hyperplane, or X or y doesn't fit the estimator.

    See Also
    --------
    mistake_bound : How many mistakes a perceptron makes at most.

    References
    ----------
    .. [1] V. N. Vapnik, A. Y. Chervonenkis, "Theory of pattern recognition", Nauka, 1974.
    .. [2] K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based
       vector machines", Journal of Machine Learning Research 2, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LinearSVC, margin
    >>> X, y = np.array([[1.0, 0.0], [3.0, 1.0]]), [0, 1]
    >>> model = LinearSVC(loss="hinge", C=100.0).fit(X, y)
    >>> bool(abs(margin(model, X, y) - np.sqrt(5) / 2) < 1e-3)
    True
    """
    found = _separator(estimator)
    norm = _norm(found.W)
    if norm == 0:
        raise ValueError(
            f"All weights of this {type(estimator).__name__} are 0: there is no hyperplane to be "
            "at a distance from."
        )
    return _least_lead(estimator, found, X, y)[0] / norm


def mistake_bound(estimator: Any, X: Any, y: Any) -> float:
    """Return how many mistakes a perceptron makes on rows at most, in any order.

    The number is Novikoff's: ``(R / g)^2`` with ``R = max_i |x_i|`` and the margin g of a separator
    without intercept [1]_, whose weights the estimator brings: the larger their margin, the better
    the bound. An intercept is one more weight, of a feature that is always 1: ``(R^2 + 1) / g^2``,
    where b counts in the norm of the weights too. The joint rule for several classes, which moves
    two weight vectors at a time, makes twice as many at most. All this is said of perceptrons that
    start from 0 and move on mistakes only (`margin` 0, no penalty).

    Parameters
    ----------
    estimator : classifier
        Fitted, with `coef_`, `intercept_` and `classes_`. Its `fit_intercept`, or an intercept
        other than 0, says whether the perceptron has one.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    float
        Infinity if the estimator does not separate the rows; others may.

    Raises
    ------
    NotFittedError
        Before `fit`.
    TypeError
        If the estimator is no linear classifier.
    ValueError
        If X or y doesn't fit the estimator.

    See Also
    --------
    margin : By how much a classifier separates rows.

    References
    ----------
    .. [1] A. B. J. Novikoff, "On convergence proofs on perceptrons", Symposium on the Mathematical
       Theory of Automata, 1962.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import Perceptron, mistake_bound
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), [0, 1]
    >>> model = Perceptron(fit_intercept=False).fit(X, y)
    >>> round(mistake_bound(model, X, y), 6)
    2.0
    """
    found = _separator(estimator)
    lead, square = _least_lead(estimator, found, X, y)
    intercepts = found.b[np.isfinite(found.b)]
    free = bool(getattr(estimator, "fit_intercept", False)) or bool(intercepts.any())
    if not lead > 0:
        return float("inf")
    inverse = _norm(np.append(found.W, intercepts)) / lead
    moved = 1.0 if len(found.W) == 1 else 2.0
    return moved * (square + free) * inverse * inverse


class _Separator(NamedTuple):
    """Weights of shape (1, d) or (n_classes, d), intercepts of as many, classes."""

    W: np.ndarray
    b: np.ndarray
    classes: np.ndarray


def _separator(estimator: Any) -> _Separator:
    """The weights of an estimator, checked. A class that no row stood for has an intercept of
    -inf."""
    kind = type(estimator).__name__
    if hasattr(estimator, "_check_fitted"):
        estimator._check_fitted()
    if hasattr(estimator, "thresholds_"):
        raise ValueError(f"margin is for one class per row, but this {kind} has several labels.")
    missing = [a for a in ("coef_", "intercept_", "classes_") if not hasattr(estimator, a)]
    if missing:
        raise TypeError(
            f"estimator must be a fitted linear classifier, but this {kind} has no {missing[0]}."
        )
    W = dense_weights(estimator).astype(np.float64)
    classes = np.asarray(estimator.classes_)
    if hasattr(estimator, "n_support_") and len(classes) > 2:
        raise TypeError(
            f"estimator must have weights for each class, but this {kind} has them for pairs of "
            "classes."
        )
    if getattr(estimator, "code_", None) is not None:
        raise ValueError(
            f"margin needs weights for each class, but this {kind} has them for the {len(W)} "
            f"columns of a code (multi_class={estimator.multi_class!r})."
        )
    if W.ndim != 2 or len(W) != (1 if len(W) == 1 and len(classes) == 2 else len(classes)):
        raise ValueError(
            f"coef_ of this {kind} is of shape {W.shape}, which are no weights of {len(classes)} "
            "classes."
        )
    b = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), (len(W),))
    if not np.isfinite(W).all() or not (b < np.inf).all():
        raise ValueError(f"coef_ and intercept_ of this {kind} must be finite.")
    return _Separator(W, b, classes)


def _norm(values: np.ndarray) -> float:
    """The Euclidean norm, also of numbers whose squares are no numbers."""
    largest = float(np.abs(values).max())
    return largest * float(np.linalg.norm(values / largest)) if largest > 0 else 0.0


def _least_lead(estimator: Any, found: _Separator, X: Any, y: Any) -> tuple[float, float]:
    """(least lead of a row's own class over the others, largest |x_i|^2)"""
    check_feature_names(estimator, X, reset=False)
    rows = as_rows(X, np.float64)
    if rows.shape[1] != found.W.shape[1]:
        raise ValueError(
            f"X has {rows.shape[1]} features, but coef_ has {found.W.shape[1]} columns."
        )
    y = check_target(y, estimator, n_samples=rows.shape[0])
    codes = encode_known_labels(y, found.classes)
    z = score_rows(rows, np.ascontiguousarray(found.W), found.b)
    if len(found.W) == 1:
        lead = np.where(codes == 1, z[:, 0], -z[:, 0])
    else:
        at = np.arange(len(z)), codes
        own = z[at]
        z = z.copy()
        z[at] = -np.inf
        other = z.max(axis=1)
        lead = np.where(own == -np.inf, -np.inf, own - np.where(own == -np.inf, 0.0, other))
    return float(lead.min()), longest_square(rows)
