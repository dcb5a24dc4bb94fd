"""The transpose of `Rows`: its rows are the columns, for solvers that go by column.

Values keep their type and ones stay without values, so it takes as much memory as the rows do, and
a buffer of a twelfth of that, at most 32 MB. `Columns` writes only those columns that somebody asks
for, which takes less of both.
"""

from __future__ import annotations

import numpy as np

from ._core import transpose as _transpose
from ._core.rows import Rows, make_rows
from ._parallel import Cancelled, is_cancelled

__all__ = ["Columns", "transposed"]

# Entries per call of the kernel: enough for runs that fill their lines, 20 ms of work; and at most
# this share of all, down to what fits the cache: 16 bytes of room are needed for each.
_PIECE, _SHARE, _LEAST_PIECE = 1 << 21, 16, 1 << 16
# Share of the entries from which on all columns are written together, and how many times some are
# before: each time all of X is looked through
_MOST_AT_ONCE, _FEW_TIMES = 2 / 3, 8
# Columns and rows of the tiles by which dense values are turned round
_TILE = 64


def transposed(X: Rows) -> Rows:
    """X^T, in the layout of X; ones of a fixed width get an indptr."""
    columns = Columns(X)
    columns.need_all()
    return columns.rows


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


class Columns:
    """The transpose of X whose columns are written when they are first needed: under an L1 penalty
    few of many are. All have their places in `rows` from the beginning, and unwritten ones must not
    be read (there is nothing but zeros). Where there is a whole transpose, it is `rows`."""

    def __init__(self, X: Rows, rows: Rows | None = None):
        self._X, self._left = X, _FEW_TIMES
        self._missing: np.ndarray | None = None
        if rows is not None or X.layout == "dense":
            self.rows = _dense(X) if rows is None else rows
            return
        n, d = X.shape
        self._pieces = _pieces(X)
        ends = np.zeros(d + 1, np.int64)
        for start, stop in self._pieces:
            _transpose.count(X, ends, start, stop)
        np.cumsum(ends, out=ends)
        # pages that nobody writes to take no memory
        indices = np.zeros(X.nnz, np.int32)
        values = np.zeros(0 if X.values is None else X.nnz, X.dtype)
        self._arrays = indices, values
        self._missing = np.diff(ends) > 0
        self.rows = make_rows(X.layout, d, n, None if X.values is None else values, indices, ends,
                              X.dtype)

    @property
    def whole(self) -> bool:
        """Whether all columns are there."""
        return self._missing is None

    def need(self, chosen: np.ndarray) -> None:
        """Write columns, if some are not there."""
        if self._missing is None or not self._missing[chosen].any():
            return
        wanted = np.zeros(len(self._missing), bool)
        wanted[chosen] = self._missing[chosen]
        sizes = np.diff(self.rows.indptr)
        self._left -= 1
        if self._left < 0 or sizes[wanted].sum() > _MOST_AT_ONCE * self._X.nnz:
            self.need_all()
            return
        heads = self.rows.indptr[:-1].copy()
        for start, stop in self._pieces:
            if is_cancelled():
                raise Cancelled
            _transpose.pick(self._X, wanted.view(np.uint8), heads, *self._arrays, start, stop)
        self._missing &= ~wanted

    def need_all(self) -> None:
        """Write all columns."""
        if self._missing is None:
            return
        X, pieces = self._X, self._pieces
        heads = self.rows.indptr[:-1].copy()
        longest = max((_entries(X, start, stop) for start, stop in pieces), default=0)
        entry = np.empty((longest, 2), np.int32)
        buffer = np.empty(0 if X.values is None else longest, X.dtype)
        for start, stop in pieces:
            if is_cancelled():
                raise Cancelled
            _transpose.deal(X, heads, *self._arrays, entry, buffer, start, stop)
        self._missing = None


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
