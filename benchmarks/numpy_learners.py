"""The learners in plain NumPy: one row after another, as one would write them without a library.

They are not careless: weights are kept as scale * v so that the L2 decay is one product, the L1
penalty is paid by the columns of the row only, and the average takes one addition per entry. What
remains is a handful of array operations a row, of a microsecond each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .measure import cpu_seconds

__all__ = ["perceptron_epoch", "seconds_per_entry", "sgd_epoch"]

# Enough entries for a steady figure, few enough not to wait for
_ENTRIES = 200_000


def _log_slope(p: float, y: float) -> float:
    """Derivative of log(1 + e^(-y p))."""
    return float(-y / (1.0 + np.exp(min(y * p, 700.0))))


SLOPES: dict[str, Callable[[float, float], float]] = {
    "log_loss": _log_slope,
    "hinge": lambda p, y: -y if y * p <= 1 else 0.0,
    "squared_error": lambda p, y: p - y,
}


def _rows(X: Any, n: int) -> Callable[[int], tuple[Any, np.ndarray]]:
    """A function from a row number to its columns and values; all columns of dense rows."""
    if isinstance(X, np.ndarray):
        return lambda i: (slice(None), X[i])
    values, indices, indptr = X.data, X.indices, X.indptr

    def row(i: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(indptr[i], indptr[i + 1])
        return indices[part], values[part]

    return row


def sgd_epoch(X: Any, y: np.ndarray, loss: str, penalty: str, eta: Callable[[int], float],
              alpha: float, average: bool = False) -> np.ndarray:
    """Weights after one epoch in random order; `eta` gives the length of step t = 1, 2, ..."""
    n, d = X.shape
    row, slope = _rows(X, n), SLOPES[loss]
    l1, l2 = (alpha, 0.0) if penalty == "l1" else (0.0, alpha)
    v, scale = np.zeros(d, X.dtype), 1.0
    due, paid = 0.0, np.zeros(d, X.dtype)
    u, sum_scale = np.zeros(d), 0.0
    for t, i in enumerate(np.random.default_rng(0).permutation(n), start=1):
        columns, values = row(i)
        g = slope(scale * float(v[columns] @ values), y[i])
        scale *= 1.0 - eta(t) * l2
        change = (-eta(t) * g / scale) * values
        if average:
            u[columns] += sum_scale * change
            sum_scale += scale
        v[columns] += change
        if l1:
            due += eta(t) * l1
            w = v[columns]
            shrunk = np.where(w > 0, np.maximum(0, w - (due + paid[columns])),
                              np.minimum(0, w + (due - paid[columns])))
            paid[columns] += shrunk - w
            v[columns] = shrunk
    return (sum_scale * v - u) / n if average else scale * v


def perceptron_epoch(X: Any, y: np.ndarray) -> np.ndarray:
    """Weights after one epoch of Rosenblatt's rule in random order."""
    row, w = _rows(X, len(y)), np.zeros(X.shape[1], X.dtype)
    for i in np.random.default_rng(0).permutation(len(y)):
        columns, values = row(i)
        if y[i] * (w[columns] @ values) <= 0:
            w[columns] += y[i] * values
    return w


def seconds_per_entry(
    X: Any, y: np.ndarray, learner: Callable[..., Any], **arguments: Any
) -> float:
    """CPU seconds of a learner's epoch per entry, taken on the first rows."""
    n, d = X.shape
    entries = X.size if isinstance(X, np.ndarray) else X.nnz
    few = min(n, max(50, _ENTRIES * n // max(entries, 1)))
    part, labels = X[:few], y[:few]
    learner(part[:10], labels[:10], **arguments)
    seconds = min(cpu_seconds(lambda: learner(part, labels, **arguments)) for _ in range(2))
    return seconds / (part.size if isinstance(X, np.ndarray) else part.nnz)
