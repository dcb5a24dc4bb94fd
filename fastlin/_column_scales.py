"""Columns of very unlike spread, brought to like spread.

A hyperplane separates the same rows whatever the columns are multiplied by; a search in floating
point sees next to nothing of columns that are small beside others. Factors are powers of two, so
that no digit changes.
"""

from __future__ import annotations

import numpy as np

from ._blocks import column_squares
from ._centred import NO_VARIANCE
from ._core.rows import Rows, make_rows

__all__ = ["columns_times", "largest_entries", "unlike_spreads"]

# A spread below this share of the rows' size is easily overlooked
_SMALL = 1e-4


def unlike_spreads(X: Rows, centre: np.ndarray, size: float) -> np.ndarray | None:
    """The factors that bring the columns to a spread of about 1; None where all are alike enough,
    or so far apart that there are no such factors."""
    if X.values is None or not len(X):
        return None
    raw = column_squares(X, np.full(len(X), 1 / len(X)))
    square = raw - centre * centre
    varying = square > NO_VARIANCE * raw
    spread = np.sqrt(square[varying])
    if not len(spread) or not spread.min() < _SMALL * size or not np.isfinite(spread).all():
        return None
    factors = np.ones(X.shape[1])
    factors[varying] = 0.5 ** np.round(np.log2(spread))
    return factors if np.isfinite(factors).all() else None


def columns_times(X: Rows, factors: np.ndarray) -> Rows:
    """X with its columns multiplied, in double: values are copied, places shared."""
    n, d = X.shape
    if X.layout == "dense":
        values = X.values.reshape(n, d) * factors
        return make_rows("dense", n, d, values, None, None, values.dtype)
    csr = X.to_csr()
    values, indptr = csr.data * factors[csr.indices], csr.indptr.astype(np.int64, copy=False)
    return make_rows("csr", n, d, values, csr.indices, indptr, values.dtype)


def largest_entries(X: Rows) -> np.ndarray:
    """max_i |x_ij| of each column j"""
    out = np.zeros(X.shape[1])
    if X.layout == "dense":
        return np.abs(X.values.reshape(X.shape)).max(axis=0, initial=0.0)
    np.maximum.at(out, X.indices, np.abs(X.values))
    return out
