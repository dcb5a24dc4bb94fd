"""From responses to class probabilities.

All in the log domain until the last step, so that responses of -1000 for every class still give a
distribution.
"""

from __future__ import annotations

import numpy as np

__all__ = ["PROBABILITIES"]


def _log_sigmoid(z: np.ndarray) -> np.ndarray:
    """log(1 / (1 + e^-z))"""
    return np.minimum(z, 0.0) - np.log1p(np.exp(-np.abs(z)))


def _normalised(log_p: np.ndarray, log: bool) -> np.ndarray:
    """exp(log_p) over its row sums, or the log of that."""
    top = log_p.max(axis=1, keepdims=True)
    # a row of -inf only (classes of zero weight): uniform
    shifted = np.where(np.isneginf(top), 0.0, log_p - np.where(np.isneginf(top), 0.0, top))
    if log:
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    p = np.exp(shifted)
    p /= p.sum(axis=1, keepdims=True)
    return p


def sigmoid(z: np.ndarray, log: bool) -> np.ndarray:
    """Two classes: sigma(z). More: one-vs-rest sigmoids, normalised."""
    if z.ndim == 1:
        log_p = np.column_stack([_log_sigmoid(-z), _log_sigmoid(z)])
        if log:
            return log_p
        p = np.exp(log_p)
        return p / p.sum(axis=1, keepdims=True)
    return _normalised(_log_sigmoid(z), log)


def softmax(z: np.ndarray, log: bool) -> np.ndarray:
    """exp(z_k) / sum exp(z); of two classes z is the difference."""
    return sigmoid(z, log) if z.ndim == 1 else _normalised(z, log)


def clipped(z: np.ndarray, log: bool) -> np.ndarray:
    """(1 + clip(z, -1, 1)) / 2, the probability that the modified Huber loss estimates (Zhang 2004,
    "Statistical behavior and consistency of classification methods based on convex risk
    minimization", Annals of Statistics 32). Rows of zeros become uniform."""
    p = (np.clip(z, -1, 1) + 1) / 2
    if z.ndim == 1:
        p = np.column_stack([1 - p, p])
    else:
        total = p.sum(axis=1, keepdims=True)
        p = np.where(total > 0, p, 1.0) / np.where(total > 0, total, p.shape[1])
    if not log:
        return p
    with np.errstate(divide="ignore"):
        return np.log(p)


def sparsemax(z: np.ndarray, log: bool) -> np.ndarray:
    """The Euclidean projection of z on the simplex (Martins & Astudillo 2016, "From softmax to
    sparsemax", ICML); of two classes z is the difference."""
    if z.ndim == 1:
        return clipped(z, log)
    ordered = -np.sort(-z, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    size = np.arange(1, z.shape[1] + 1)
    support = (ordered * size > excess).sum(axis=1)
    tau = np.take_along_axis(excess, support[:, None] - 1, axis=1) / support[:, None]
    p = np.maximum(z - tau, 0.0)
    p /= p.sum(axis=1, keepdims=True)
    if not log:
        return p
    with np.errstate(divide="ignore"):
        return np.log(p)


PROBABILITIES = {"sigmoid": sigmoid, "softmax": softmax, "clipped": clipped, "sparsemax": sparsemax}
