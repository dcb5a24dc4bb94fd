"""Perceptrons with a kernel: w = sum_i a_i phi(x_i), where a_i changes with mistakes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._core import kernel_dual as _kernel_dual
from ._core import order as _order
from ._gram_rows import GramRows
from ._parallel import Cancelled, is_cancelled

__all__ = ["Mistakes", "learn_by_mistakes"]

# Multiplications per call of the kernel: some 20 ms
_PER_CALL = 1 << 24


@dataclass(frozen=True)
class Mistakes:
    """What is learnt, and how."""

    a: np.ndarray  # of shape (n_outputs, n)
    b: np.ndarray
    n_iter: int
    n_mistakes: int
    converged: bool


def learn_by_mistakes(gram: GramRows, codes: np.ndarray, weight: np.ndarray, n_outputs: int,
                      fit_intercept: bool, averaged: bool, max_iter: int, tol: float | None,
                      patience: int, shuffle: bool, seed: np.ndarray) -> Mistakes:
    """Visit the rows until an epoch has no mistake, or the mean loss of an epoch has not fallen by
    `tol` for `patience` epochs."""
    n, codes = len(codes), codes.astype(np.int64)
    a, late = np.zeros((n_outputs, n)), np.zeros((n_outputs, n))
    f, b = np.zeros((n_outputs, n)), np.zeros((2, n_outputs))
    order, best, waited, total, epoch = np.arange(n), np.inf, 0, 0, 0
    converged = tol is None
    while epoch < max_iter:
        if shuffle:
            _order.shuffle_all(order, seed)
        loss, wrong = _epoch(gram, codes, weight, fit_intercept, order, epoch * n, a, late, f, b)
        epoch, total = epoch + 1, total + wrong
        if tol is not None:
            mean = loss / float(weight.sum())
            waited = waited + 1 if mean > best - tol else 0
            best = min(best, mean)
            converged = waited >= patience or wrong == 0
            if converged:
                break
    if averaged:
        # step t counts in all means from the one after it on
        steps = float(epoch * n)
        return Mistakes(a - late / steps, b[0] - b[1] / steps, epoch, total, converged)
    return Mistakes(a, b[0], epoch, total, converged)


def _epoch(gram: GramRows, codes: np.ndarray, weight: np.ndarray, fit_intercept: bool,
           order: np.ndarray, t: int, a: np.ndarray, late: np.ndarray, f: np.ndarray,
           b: np.ndarray) -> tuple[float, int]:
    """(sum of losses, mistakes) of one pass over the rows."""
    n, start, loss, wrong = len(codes), 0, 0.0, 0
    piece = max(1, _PER_CALL // (n * len(f)))
    while start < n:
        if is_cancelled():
            raise Cancelled
        stop = min(start + piece, n)
        end, more_loss, more_wrong = _kernel_dual.mistakes(
            codes, weight, fit_intercept, gram.rows, gram.place, order, start, stop, t + start, a,
            late, f, b, gram.stamp,
        )
        loss, wrong = loss + more_loss, wrong + more_wrong
        if end < stop:
            gram.clock = t + start + end
            gram.load(order[end : end + 1])
        start = end
    return loss, wrong
