"""The transpose of `Rows`: its rows are the columns, for solvers that go by column.

Values keep their type, or are rounded to single precision where that is asked for, and ones stay
without values, so it takes at most as much memory as the rows do, and a buffer of a fiftieth of
that, at most 32 MB. `Columns` holds only those columns that somebody asks for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import transpose as _transpose
from ._core.rows import Rows, hold, make_rows
from ._parallel import Cancelled, is_cancelled

__all__ = ["Columns", "transposed"]

# Entries per call of the kernel: enough for runs that fill their lines, 20 ms of work; and at most
# this share of all, down to what fits the cache: 16 bytes of room are needed for each.
_PIECE, _SHARE, _LEAST_PIECE = 1 << 21, 64, 1 << 15
# Groups of columns that entries are first written to hold at most this share of all; bits for the
# row and the column within its group
_GROUPS, _BITS = 128, 31
# Share of the entries from which on all columns are written together, and how many times some are
# before: each time all of X is looked through
_MOST_AT_ONCE, _FEW_TIMES = 0.7, 24
# Room is made for more entries than asked for, this share of all; a share of the new ones that is
# little to copy
_SPARE, _LITTLE = 24, 4
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
    few of many are, and no others take memory. Unwritten ones must not be read from `rows` (there
    they hold nothing). Rows stay the same object while columns join, but no view of their arrays
    outlives it; so threads may share the columns only if all are there. Values of sparse rows are
    rounded to `dtype`."""

    def __init__(self, X: Rows, dtype: Any = None):
        self._X, self._left, self._dtype = X, _FEW_TIMES, np.dtype(dtype or X.dtype)
        self._missing: np.ndarray | None = None
        n, d = X.shape
        if X.layout == "dense":
            self.rows, self.sizes = _dense(X), np.full(d, n, np.int32)
            return
        self._pieces = _pieces(X)
        ends = np.zeros(d + 1, np.int64)
        for start, stop in self._pieces:
            _transpose.count(X, ends, start, stop)
        self.sizes = ends[1:].astype(np.int32)
        self._missing = self.sizes > 0
        ends[:] = 0
        self._ends = ends
        self._arrays = indices, values = np.empty(0, np.int32), np.empty(0, self._dtype)
        self.rows = make_rows(X.layout, d, n, None if X.values is None else values, indices, ends,
                              self._dtype)

    def need(self, chosen: np.ndarray, likely: np.ndarray | None = None) -> None:
        """Write columns, if some are not there, and with them what is `likely` (a mask) to be
        needed next."""
        if self._missing is None or not self._missing[chosen].any():
            return
        wanted = np.zeros(len(self._missing), bool)
        wanted[chosen] = True
        if likely is not None:
            wanted |= likely
        wanted &= self._missing
        more = int(self.sizes[wanted].sum())
        self._left -= 1
        if self._left < 0 or more > _MOST_AT_ONCE * self._X.nnz:
            self.need_all()
            return
        self._grow(int(self._ends[-1]) + more)
        _transpose.spread(self._ends, wanted.view(np.uint8), self.sizes, *self._arrays)
        heads = self._ends[:-1].copy()
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
        self._missing = self.sizes > 0  # also those that were there
        self._grow(X.nnz)
        np.cumsum(self.sizes, out=self._ends[1:])
        if self._by_groups():
            self._missing = None
            return
        heads = self._ends[:-1].copy()
        longest = max((_entries(X, start, stop) for start, stop in pieces), default=0)
        entry = np.empty((longest, 2), np.int32)
        buffer = np.empty(0 if X.values is None else longest, self._dtype)
        for start, stop in pieces:
            if is_cancelled():
                raise Cancelled
            _transpose.deal(X, heads, *self._arrays, entry, buffer, start, stop)
        self._missing = None

    def _by_groups(self) -> bool:
        """Write all columns, if entries have room for both numbers: first by groups of them, to
        few places at a time, and then each group, which the cache holds."""
        X, bits = self._X, max(1, (len(self._X) - 1).bit_length())
        room = 1 << max(0, _BITS - bits)
        found = None
        if X.values is not None:
            found = _transpose.groups(self.sizes, max(X.nnz // _GROUPS, 1), room)
        if found is None:
            return False
        group, first = found
        heads = self._ends[first[:-1]]
        for start, stop in self._pieces:
            if is_cancelled():
                raise Cancelled
            _transpose.scatter(X, group, first, heads, bits, *self._arrays, start, stop)
        several = np.diff(first) > 1
        longest = int(np.diff(self._ends[first])[several].max(initial=0))
        entry, buffer = np.empty(longest, np.int32), np.empty(longest, self._dtype)
        heads = np.empty(int(np.diff(first).max()), np.int64)
        full = np.arange(_PIECE, X.nnz, _PIECE)
        bounds = np.unique(
            np.r_[0, np.searchsorted(self._ends[first], full, "right"), len(several)])
        for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            if is_cancelled():
                raise Cancelled
            _transpose.gather(self._ends, first, bits, *self._arrays, entry, buffer, heads, start,
                              stop)
        return True

    def _grow(self, size: int) -> None:
        """Let the arrays have room for so many entries, in place where they can if they hold much:
        a copy would take as much again."""
        X, (indices, values), held = self._X, self._arrays, int(self._ends[-1])
        if size <= len(indices):
            return
        size = min(size + X.nnz // _SPARE, max(size, X.nnz))
        entries = 0 if X.values is None else size
        hold(self.rows, None, None)
        if held <= size // _LITTLE:
            # new arrays of this size may have huge pages
            self._arrays = np.empty(size, np.int32), np.empty(entries, self._dtype)
            for new, old in zip(self._arrays, (indices, values), strict=True):
                new[:held] = old[:held]
        else:
            indices.resize(size, refcheck=False)
            values.resize(entries, refcheck=False)
        indices, values = self._arrays
        hold(self.rows, None if X.values is None else values, indices)


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
