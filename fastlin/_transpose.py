"""The transpose of `Rows`: its rows are the columns, for solvers that go by column.

Values keep their type and ones stay without values, so it takes as much memory as the rows do, and
a buffer of a twelfth of that, at most 32 MB.
"""

from __future__ import annotations

import numpy as np

from ._core import transpose as _transpose
from ._core.rows import Rows, make_rows
from ._parallel import Cancelled, is_cancelled

__all__ = ["transposed"]

# Entries per call of the kernel: enough for runs that fill their lines, 20 ms of work; and at most
# this share of all, down to what fits the cache: 16 bytes of room are needed for each.
_PIECE, _SHARE, _LEAST_PIECE = 1 << 21, 16, 1 << 16
# Columns and rows of the tiles by which dense values are turned round
_TILE = 64


def transposed(X: Rows) -> Rows:
    """X^T, in the layout of X; ones of a fixed width get an indptr."""
    return _dense(X) if X.layout == "dense" else _sparse(X)


def _dense(X: Rows) -> Rows:
    """The values column after column."""
    n, d = X.shape
    values, turned = X.values.reshape(n, d), np.empty((d, n), X.dtype)
    for start in range(0, n, _TILE):
        if is_cancelled():
            raise Cancelled
        for first in range(0, d, _TILE):
            tile = np.s_[first : first + _TILE, start : start + _TILE]
            turned[tile] = values[tile[::-1]].T
    return make_rows("dense", d, n, turned, None, None, X.dtype)


def _sparse(X: Rows) -> Rows:
    """The entries of each column with their rows, in increasing order."""
    n, d = X.shape
    pieces = _pieces(X)
    ends = np.zeros(d + 1, np.int64)
    for start, stop in pieces:
        _transpose.count(X, ends, start, stop)
    np.cumsum(ends, out=ends)
    rows = np.empty(X.nnz, np.int32)
    values = np.empty(0 if X.values is None else X.nnz, X.dtype)
    longest = max((_entries(X, start, stop) for start, stop in pieces), default=0)
    entry = np.empty((longest, 2), np.int32)
    buffer = np.empty(longest if len(values) else 0, X.dtype)
    heads = ends[:-1].copy()
    for start, stop in pieces:
        if is_cancelled():
            raise Cancelled
        _transpose.deal(X, heads, rows, values, entry, buffer, start, stop)
    return make_rows(X.layout, d, n, None if X.values is None else values, rows, ends, X.dtype)


def _entries(X: Rows, start: int, stop: int) -> int:
    """Entries of rows start..stop-1."""
    return (stop - start) * X.width if X.indptr is None else int(X.indptr[stop] - X.indptr[start])


def _pieces(X: Rows) -> list[tuple[int, int]]:
    """Runs of rows with as many entries as a call takes, or one row with more."""
    n, piece = len(X), int(np.clip(X.nnz // _SHARE, _LEAST_PIECE, _PIECE))
    bounds = np.arange(n + 1) * X.width if X.indptr is None else X.indptr
    wanted = np.arange(0, X.nnz, piece)
    starts = np.unique(np.r_[0, np.searchsorted(bounds, wanted, "right") - 1, n])
    return list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))
