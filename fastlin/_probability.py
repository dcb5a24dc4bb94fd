"""From responses to class probabilities.

The largest response is taken out before the exponential, or logarithms are, so that responses of
-1000 for every class still give a distribution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import respond as _respond

__all__ = ["PROBABILITIES", "of_each_label", "sparsemax", "sparsemax_threshold"]


# Numbers per call of a kernel: about 50 ms.
_NUMBERS_PER_CALL = 1 << 22


def _by_rows(kernel: Any, z: np.ndarray, n_classes: int) -> np.ndarray:
    """What a kernel of `respond` makes of z."""
    n, out = len(z), np.empty((len(z), n_classes))
    z, piece = np.ascontiguousarray(z), 1 + _NUMBERS_PER_CALL // n_classes
    for start in range(0, n, piece):
        kernel(z, out, start, min(start + piece, n))
    return out


def _log_sigmoid(z: np.ndarray) -> np.ndarray:
    """log(1 / (1 + e^-z))"""
    return np.minimum(z, 0.0) - np.log1p(np.exp(-np.abs(z)))


def _log_normalised(log_p: np.ndarray) -> np.ndarray:
    """log_p less the logarithm of the row sums of its exponentials; rows of -inf become uniform."""
    top = log_p.max(axis=1, keepdims=True)
    shifted = np.where(log_p == top, 0.0, log_p - np.where(np.isinf(top), 0.0, top))
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _favoured(p: np.ndarray, best: np.ndarray) -> np.ndarray:
    """p with a rounding error taken from classes that tie with the predicted one and come before
    it, so that it has the largest probability, as its response says."""
    own = np.take_along_axis(p, best.astype(np.intp)[:, None], axis=1)
    ties = (p >= own) & (np.arange(p.shape[1]) < best[:, None])
    return np.where(ties, own * (1 - np.finfo(np.float64).eps), p)


def sigmoid(z: np.ndarray, log: bool) -> np.ndarray:
    """Two classes: sigma(z). More: one-vs-rest sigmoids, normalised."""
    if z.ndim == 1:
        if log:
            return np.column_stack([_log_sigmoid(-z), _log_sigmoid(z)])
        return _by_rows(_respond.sigmoid_pairs, z, 2)
    if log:
        return _log_normalised(_log_sigmoid(z))
    return _by_rows(_respond.sigmoid_rows, z, z.shape[1])


def softmax(z: np.ndarray, log: bool) -> np.ndarray:
    """exp(z_k) / sum exp(z); of two classes z is the difference."""
    if z.ndim == 1:
        return sigmoid(z, log)
    return _log_normalised(z) if log else _by_rows(_respond.softmax_rows, z, z.shape[1])


def clipped(z: np.ndarray, log: bool) -> np.ndarray:
    """(1 + clip(z, -1, 1)) / 2, the probability that the modified Huber loss estimates (Zhang 2004,
    "Statistical behavior and consistency of classification methods based on convex risk
    minimization", Annals of Statistics 32). Rows of zeros become uniform."""
    p = (np.clip(z, -1, 1) + 1) / 2
    if z.ndim == 1:
        p = _favoured(np.column_stack([1 - p, p]), z > 0)
    else:
        total = p.sum(axis=1, keepdims=True)
        p = np.where(total > 0, p, 1.0) / np.where(total > 0, total, p.shape[1])
        p = _favoured(p, z.argmax(axis=1))
    if not log:
        return p
    with np.errstate(divide="ignore"):
        return np.log(p)


def _below_top(z: np.ndarray) -> np.ndarray:
    """z less its largest of each row, so that the 1 does not vanish beside large responses; what
    lies more than 1 below it has no share, however far."""
    top = z.max(axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(z == top, 0.0, np.maximum(z - top, -2.0))


def sparsemax_threshold(z: np.ndarray) -> np.ndarray:
    """tau with sum_k max(0, z_k - tau) = 1, for each row."""
    return z.max(axis=1) + _threshold(_below_top(z))


def _threshold(z: np.ndarray) -> np.ndarray:
    """The same where the largest of each row is 0."""
    ordered = -np.sort(-z, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    size = np.arange(1, z.shape[1] + 1)
    support = (ordered * size > excess).sum(axis=1)
    return np.take_along_axis(excess, support[:, None] - 1, axis=1)[:, 0] / support


def sparsemax(z: np.ndarray, log: bool) -> np.ndarray:
    """The Euclidean projection of z on the simplex (Martins & Astudillo 2016, "From softmax to
    sparsemax", ICML); of two classes z is the difference."""
    if z.ndim == 1:
        return clipped(z, log)
    z = _below_top(z)
    p = np.maximum(z - _threshold(z)[:, None], 0.0)
    p = _favoured(p / p.sum(axis=1, keepdims=True), z.argmax(axis=1))
    if not log:
        return p
    with np.errstate(divide="ignore"):
        return np.log(p)


def of_each_label(kind: str, z: np.ndarray, log: bool) -> np.ndarray:
    """The probability of each label by itself; 0 and 1 only where a response is infinite."""
    p = PROBABILITIES[kind](z.ravel(), log)[:, 1].reshape(z.shape)
    if log:
        return p
    inside = np.clip(p, np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0))
    return np.where(np.isinf(z), p, inside)


PROBABILITIES = {"sigmoid": sigmoid, "softmax": softmax, "clipped": clipped, "sparsemax": sparsemax}
