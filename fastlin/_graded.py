"""The kernel matrix of rows in which some columns dominate, which stay apart from the others.

A column of 1e8 beside columns of 1 leaves sums of the products of two rows no digit of the latter,
and no weight of its own but noise: w_j = A_j^T a is a difference of large numbers. Both come from
the coordinates, not from the problem. With A = [D | B], D the dominating columns by falling size,

    [sqrt(p) | D] = Q R          (sqrt(p), a null vector of A^T, only where b is free),

Householder reflections err in each column of D by a rounding of this column (Higham 2002, "Accuracy
and stability of numerical algorithms", section 19.3). In the coordinates Q, without that of
sqrt(p),

    Q^T A A^T Q = [R R^T  0; 0  0] + Q^T B B^T Q,

where large numbers stand in the rows and columns of D alone: scaled to a diagonal of ones, as
`cholesky` does, the matrix has lost nothing. A vector of them gives w_D = R^T times its first part.
"""

from __future__ import annotations

import numpy as np

from ._blocks import rmatvec
from ._centred import Centred, kernel_matrix
from ._core.rows import Rows
from ._lapack import reflected
from ._row_slices import columns_taken

__all__ = ["UNLIKE", "GradedKernel", "dominating"]

# Variances this many times as large leave a sum nine digits of the smaller ones
UNLIKE = 1e7
_EPS = float(np.finfo(np.float64).eps)


def dominating(rows: Centred, l2: float, fit_intercept: bool) -> np.ndarray:
    """The columns that would drown others, or the penalty, in the kernel matrix; largest first."""
    n, d = rows.X.shape
    # more that are independent leave nothing to drown
    most = min(n, d) - 1 - int(fit_intercept)
    if most <= 0:
        return np.empty(0, np.int64)
    square = rows.spread**2
    if square.max() <= UNLIKE * l2:
        return np.empty(0, np.int64)
    order = np.argsort(-square, kind="stable")
    return order[:most][square[order[:most]] > UNLIKE * max(l2, float(square[order[most]]))]


class GradedKernel:
    """A A^T in coordinates that keep these columns apart."""

    def __init__(self, rows: Centred, columns: np.ndarray, fit_intercept: bool):
        from scipy.linalg.lapack import dgeqrf

        n, d = rows.X.shape
        self.columns, self.root = columns, np.sqrt(rows.share)
        self.others = np.setdiff1d(np.arange(d), columns)
        self.rest, self.centre = columns_taken(rows.X, self.others), rows.centre[self.others]
        self.first = int(fit_intercept)  # the coordinate of sqrt(p), which is left out
        apart = _dense(rows.X, columns) - rows.centre[columns]
        apart *= self.root[:, None]
        if fit_intercept:
            apart = np.column_stack([self.root, apart])
        self.reflections, self.tau = dgeqrf(apart)[:2]
        size = apart.shape[1]
        self.R = np.triu(self.reflections[:size])[self.first :, self.first :]
        # roundings, and all that columns have which depend on others
        self.R[np.abs(self.R) <= n * _EPS * np.linalg.norm(apart[:, self.first :], axis=0)] = 0.0
        kernel = kernel_matrix(self.rest, rows.share, self.centre)
        kernel = self._reflected("L", "T", self._reflected("R", "N", kernel))
        self.matrix = kernel[self.first :, self.first :].copy()
        self.matrix[: len(columns), : len(columns)] += self.R @ self.R.T

    def coordinates(self, v: np.ndarray) -> np.ndarray:
        """Q^T v"""
        return self._reflected("L", "T", v[:, None])[self.first :, 0]

    def vector(self, state: np.ndarray) -> np.ndarray:
        """Q times coordinates."""
        whole = np.concatenate([np.zeros(self.first), state])
        return self._reflected("L", "N", whole[:, None])[:, 0]

    def diagonal(self, inverse: np.ndarray) -> np.ndarray:
        """The diagonal of Q M Q^T."""
        whole = np.pad(inverse, ((self.first, 0), (self.first, 0)))
        whole = self._reflected("L", "N", self._reflected("R", "T", whole))
        return np.diagonal(whole).copy()

    def weights(self, state: np.ndarray) -> np.ndarray:
        """A^T Q times coordinates."""
        q = self.root * self.vector(state)
        w = np.empty(len(self.columns) + len(self.others))
        w[self.others] = rmatvec(self.rest, q) - self.centre * q.sum()
        w[self.columns] = self.R.T @ state[: len(self.columns)]
        return w

    def _reflected(self, side: str, trans: str, matrix: np.ndarray) -> np.ndarray:
        """Q or Q^T times a matrix, or a matrix times it."""
        return reflected(side, trans, self.reflections, self.tau, matrix)


def _dense(X: Rows, columns: np.ndarray) -> np.ndarray:
    """These columns as an array in double, in their order."""
    order = np.argsort(columns)
    out = np.empty((X.shape[0], len(columns)))
    out[:, order] = columns_taken(X, columns[order]).toarray()
    return out
