"""Rows with their columns centred, without a copy: what second-order solvers work on.

Where b is free, every quantity that a solver needs is one of the rows x_i - c with c a weighted
mean. The products below take c off afterwards, so that sparse rows stay sparse. Gram and kernel
matrices of dense rows are summed from blocks whose columns are centred before they are multiplied:
a large shift of a column then costs no digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ._blocks import column_squares, in_pieces, matvec, rmatvec
from ._core import newton as _newton
from ._core.rows import Rows
from ._lapack import matmul
from ._parallel import Cancelled, is_cancelled
from ._problem import LEAST_WITHOUT_PENALTY, Certificate, Problem
from ._row_slices import rows_taken
from ._scores import rows_per_call

__all__ = [
    "DENSE_SHARE", "NO_VARIANCE", "ROUNDING", "Centred", "blocks", "gram", "hessian_product",
    "is_denselike", "kernel_matrix", "measured", "moments", "reach", "slack", "squares_about",
]  # fmt: skip

# Bytes of a block of dense rows in double: it passes through the cache twice
_BLOCK_BYTES = 1 << 20
_MOST_BYTES = 1 << 26
# Share of entries stored from which sparse rows are multiplied as dense ones
DENSE_SHARE = 0.15
# A relative gap below it is rounding
ROUNDING = 1e-12
# A variance below this share of the mean square is none
NO_VARIANCE = 1e-13


class Centred:
    """X - 1 c^T and its products, for rows with weights that sum to 1."""

    def __init__(self, problem: Problem, centre: np.ndarray | None = None):
        self.X, n = problem.X, len(problem.y)
        self.share = problem.weighted(np.ones(n))
        # p_i = s_i/S over s_i
        self.scale_of_share = 1.0 / problem.total_weight
        if centre is None:
            free = problem.fit_intercept
            centre = rmatvec(self.X, self.share) if free else np.zeros(self.X.shape[1])
        self.centre = centre

    def matvec(self, w: np.ndarray) -> np.ndarray:
        """(X - 1 c^T) w"""
        return matvec(self.X, w, -float(self.centre @ w))

    def rmatvec(self, q: np.ndarray) -> np.ndarray:
        """(X - 1 c^T)^T q"""
        return rmatvec(self.X, q) - self.centre * q.sum()

    @cached_property
    def spread(self) -> np.ndarray:
        """The root mean square of each column of X - 1 c^T; 0 where that is a rounding."""
        raw = column_squares(self.X, self.share)
        square = raw - self.centre * self.centre
        return np.sqrt(np.where(square > NO_VARIANCE * raw, square, 0.0))

    def gram(self) -> np.ndarray:
        """sum_i s_i/S (x_i - c)(x_i - c)^T"""
        return gram(self.X, self.share, self.centre)

    def kernel(self) -> np.ndarray:
        """sqrt(s_i s_k)/S (x_i - c).(x_k - c)"""
        return kernel_matrix(self.X, self.share, self.centre)

    def dense(self) -> np.ndarray:
        """The rows sqrt(s_i/S) (x_i - c) as one array."""
        out = np.empty(self.X.shape)
        for start, block in blocks(self.X, self.share, self.centre):
            out[start : start + len(block)] = block
        return out


def is_denselike(X: Rows) -> bool:
    """Whether the rows are dense, or so full that they may as well be."""
    return X.layout == "dense" or X.nnz > DENSE_SHARE * X.shape[0] * X.shape[1]


def blocks(X: Rows, h: np.ndarray, c: np.ndarray,
           dtype: Any = np.float64) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (first row, sqrt(h_i) (x_i - c) as an array) for blocks of rows."""
    n, d = X.shape
    # as many rows as columns, so that a sum of d x d products is cheap beside the products
    size = max(16, _BLOCK_BYTES // (8 * d), min(d, _MOST_BYTES // (8 * d)))
    root = np.sqrt(h)[:, None].astype(dtype, copy=False)
    values = X.values.reshape(n, d) if X.layout == "dense" else None
    # what float32 numbers would lose of differences of doubles
    wide = np.result_type(X.dtype, dtype)
    for start in range(0, n, size):
        if is_cancelled():
            raise Cancelled
        stop = min(start + size, n)
        if values is None:
            block = rows_taken(X, np.arange(start, stop)).toarray()
        else:
            block = values[start:stop]
        block = np.subtract(block, c, dtype=wide).astype(dtype, copy=False)
        block *= root[start:stop]
        yield start, block


def squares_about(X: Rows, c: np.ndarray) -> np.ndarray:
    """|x_i - c|^2 of each row, from differences."""
    n, d = X.shape
    out = np.empty(n)
    if is_denselike(X):
        for start, block in blocks(X, np.ones(n), c):
            np.einsum("ij,ij->i", block, block, out=out[start : start + len(block)])
        return out
    csr = X.to_csr()
    # what a column adds to rows without it; a column of all rows, perhaps far from 0, adds nothing
    apart = np.where(np.bincount(csr.indices, minlength=d) < n, c * c, 0.0)
    piece = rows_per_call(X)
    for start in range(0, n, piece):
        if is_cancelled():
            raise Cancelled
        part = csr[start : start + piece]
        owner = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        square = np.square(part.data - c[part.indices]) - apart[part.indices]
        out[start : start + piece] = np.bincount(owner, square, part.shape[0]) + apart.sum()
    return out


def gram(X: Rows, h: np.ndarray, c: np.ndarray, dtype: Any = np.float64) -> np.ndarray:
    """sum_i h_i (x_i - c)(x_i - c)^T for h >= 0; products of dense rows are those of `dtype`"""
    d = X.shape[1]
    out = np.zeros((d, d))
    if not len(h):
        return out
    if is_denselike(X):
        for _, block in blocks(X, h, c, dtype):
            out += matmul(block.T, block)
        return out
    n, mean_size = X.shape[0], max(1.0, X.nnz / X.shape[0])
    piece = max(1, int(rows_per_call(X) / mean_size))
    for start in range(0, n, piece):
        if is_cancelled():
            raise Cancelled
        _newton.add_outer(X, h, out, start, min(start + piece, n))
    out += np.tril(out.T, -1) + np.triu(out.T, 1)
    if c.any():
        cross = np.outer(rmatvec(X, h), c)
        out -= cross + cross.T - h.sum() * np.outer(c, c)
    return out


def kernel_matrix(X: Rows, h: np.ndarray, c: np.ndarray) -> np.ndarray:
    """sqrt(h_i h_k) (x_i - c).(x_k - c) of all pairs of rows"""
    n, d = X.shape
    root = np.sqrt(h)
    if X.layout == "dense":
        values, out = X.values.reshape(n, d), np.zeros((n, n))
        size = max(16, _BLOCK_BYTES // (8 * n))
        for start in range(0, d, size):
            if is_cancelled():
                raise Cancelled
            columns = slice(start, start + size)
            block = np.subtract(values[:, columns], c[columns], dtype=np.float64)
            block *= root[:, None]
            out += matmul(block, block.T)
        return out
    if is_denselike(X):
        full = np.concatenate([block for _, block in blocks(X, h, c)])
        return matmul(full, full.T)
    csr = X.to_csr()
    # products in double: a column far from 0 leaves those in single precision no digits
    out = (csr @ csr.T.astype(np.float64)).toarray()
    if c.any():
        along = matvec(X, c)
        out += float(c @ c) - along[:, None] - along
    out *= root[:, None]
    out *= root
    return out


def moments(X: Rows, s: np.ndarray, h: np.ndarray) -> np.ndarray:
    """sum_i s_i x_i, sum_i h_i x_i and sum_i h_i x_i^2, as three rows"""
    d = X.shape[1]
    out = np.zeros(3 * d)
    in_pieces(X, lambda start, stop: _newton.add_moments(X, s, h, out, start, stop))
    return out.reshape(3, d) if X.layout == "dense" else out.reshape(d, 3).T


def hessian_product(X: Rows, v: np.ndarray, c: np.ndarray, h: np.ndarray
                    ) -> tuple[np.ndarray, np.ndarray]:
    """(z, sum_i h_i z_i (x_i - c)) with z_i = (x_i - c).v"""
    n, d = X.shape
    z, out, shift = np.empty(n), np.zeros(d), float(c @ v)
    if X.layout == "dense" and X.dtype == np.float64:
        # what BLAS makes of a block that stays in the cache
        values, size = X.values.reshape(n, d), max(1, _BLOCK_BYTES // (8 * d))
        for start in range(0, n, size):
            block = slice(start, start + size)
            z[block] = values[block] @ v - shift
            out += (h[block] * z[block]) @ values[block]
    else:
        in_pieces(X, lambda first, last: _newton.hessian_product(X, v, shift, h, z, out, first,
                                                                 last))
    out -= c * float(h @ z)
    return z, out


def measured(problem: Problem, rows: Centred, w: np.ndarray, z: np.ndarray,
             a: np.ndarray | None = None, zero: float | None = None) -> Certificate:
    """The certificate of w at its responses z, whose intercept must be the best one; with a, of the
    w that follows from these dual variables. `zero` is the mean loss at responses of 0, if known.

    Without any penalty the dual variables a = minus the slopes are feasible only where the gradient
    v vanishes; what is bounded then is the distance to the best among the weights w' with
    |w'|_t <= r = 2 |w|_t + r0, and P - D(a) + r max_j |v_j|/t_j bounds it. |w|_t is sum_j t_j |w_j|
    with t_j the root mean square of column j, and r0 that of the target.
    """
    if a is None:
        a = problem.project(-problem.slopes(z))
        v = rows.rmatvec(problem.weighted(a))
    else:
        v = problem.l2 * w
    if zero is None:
        zero = problem.mean_loss(np.zeros(len(problem.y)))
    primal = problem.primal(z, w)
    if problem.l2 > 0:
        return Certificate.of(primal, problem.dual(a, v), zero)
    dual = problem.dual(a, np.zeros_like(v)) - reach(problem, rows, w) * slack(rows, v)
    return Certificate.of(primal, dual, zero, LEAST_WITHOUT_PENALTY)


def reach(problem: Problem, rows: Centred, w: np.ndarray) -> float:
    """2 |w|_t + r0"""
    scale = float(np.sqrt(problem.weighted(problem.y * problem.y).sum()))
    return 2 * float(rows.spread @ np.abs(w)) + scale


def slack(rows: Centred, v: np.ndarray) -> float:
    """max_j |v_j| / t_j"""
    t = rows.spread
    return float(np.divide(np.abs(v), t, out=np.zeros_like(t), where=t > 0).max(initial=0.0))
