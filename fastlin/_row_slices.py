"""Some rows of `Rows`, gathered in their own layout: a fold costs no detour over scipy.

A run of neighbouring rows shares the arrays it is cut from; any other choice copies the entries
chosen and nothing else, in blocks, so that no list of their places is as long as they are. What
the door has checked needs no second look.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._core.rows import Rows, make_rows

__all__ = ["columns_taken", "rows_in_single", "rows_taken"]

# Entries per block
_BLOCK = 1 << 15


def rows_taken(X: Rows, rows: np.ndarray) -> Rows:
    """Return rows by their numbers (negative ones count from the end), in the given order."""
    n, d = X.shape
    rows = np.asarray(rows)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    wrong = (rows < -n) | (rows >= n)
    if wrong.any():
        raise IndexError(f"row {rows[wrong][0]} is out of range for {n} rows.")
    rows = np.where(rows < 0, rows + n, rows).astype(np.int64, copy=False)
    run = _run_of(rows)
    if X.layout == "dense":
        values = X.values.reshape(n, d)[rows if run is None else run]
        return make_rows("dense", len(rows), d, np.ascontiguousarray(values), None, None, X.dtype)
    if X.indptr is None:
        indices = X.indices.reshape(n, X.width)[rows if run is None else run].reshape(-1)
        if len(rows):
            return make_rows(X.layout, len(rows), d, None, indices, None, X.dtype)
        return make_rows(X.layout, 0, d, None, indices, np.zeros(1, np.int64), X.dtype)
    values, indices, indptr = _gathered(X, rows, run)
    return make_rows(X.layout, len(rows), d, values, indices, indptr, X.dtype)


def rows_in_single(X: Rows, rows: np.ndarray) -> Rows:
    """Return ascending rows with values of float32, or as they are where one is too large."""
    d = X.shape[1]
    if X.values is None or X.dtype == np.float32:
        return rows_taken(X, rows)
    if X.layout == "dense":
        indptr, indices = np.arange(len(rows) + 1) * d, None
    else:
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(X.indptr[rows + 1] - X.indptr[rows], out=indptr[1:])
        indices = np.empty(int(indptr[-1]), np.int32)
    values = np.empty(int(indptr[-1]), np.float32)
    with np.errstate(over="ignore"):
        for first, stop in _row_blocks(indptr):
            part = rows_taken(X, rows[first:stop])
            place = slice(int(indptr[first]), int(indptr[stop]))
            values[place] = part.values.reshape(-1)
            if indices is not None:
                indices[place] = part.indices
            if not np.isfinite(values[place]).all():
                return rows_taken(X, rows)
    if indices is None:
        values, indptr = values.reshape(-1, d), None
    return make_rows(X.layout, len(rows), d, values, indices, indptr, values.dtype)


def _run_of(rows: np.ndarray) -> slice | None:
    """Return the slice that these rows are, or None."""
    if len(rows) and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return None


def _gathered(X: Rows, rows: np.ndarray, run: slice | None) -> tuple:
    """Return (values, indices, indptr) of some rows; shared for a run of them."""
    if run is not None:
        bounds = X.indptr[run.start : run.stop + 1]
        whole = slice(int(bounds[0]), int(bounds[-1]))
        values = None if X.values is None else X.values[whole]
        return values, X.indices[whole], bounds - bounds[0]
    starts = X.indptr[rows]
    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(X.indptr[rows + 1] - starts, out=indptr[1:])
    shift = starts - indptr[:-1]
    indices = np.empty(int(indptr[-1]), np.int32)
    values = None if X.values is None else np.empty(len(indices), X.dtype)
    for first, stop in _row_blocks(indptr):
        begin, end = int(indptr[first]), int(indptr[stop])
        chosen = np.repeat(shift[first:stop], np.diff(indptr[first : stop + 1]))
        chosen += np.arange(begin, end)
        # every place is one of X: "clip" only spares numpy a buffer
        X.indices.take(chosen, out=indices[begin:end], mode="clip")
        if values is not None:
            X.values.take(chosen, out=values[begin:end], mode="clip")
    return values, indices, indptr


def _row_blocks(indptr: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the bounds of runs of rows with about `_BLOCK` entries, or of one row with more."""
    first, n = 0, len(indptr) - 1
    while first < n:
        stop = int(np.searchsorted(indptr, indptr[first] + _BLOCK, "right")) - 1
        stop = min(max(stop, first + 1), n)
        yield first, stop
        first = stop


def columns_taken(X: Rows, columns: np.ndarray) -> Rows:
    """Return columns by their numbers, which must ascend, in the layout of X; ones of a fixed width
    get an indptr."""
    n, d = X.shape
    if X.layout == "dense":
        values = X.values.reshape(n, d).take(columns, axis=1)
        return make_rows("dense", n, len(columns), values, None, None, X.dtype)
    place = np.full(d, -1, np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    bounds = np.arange(n + 1) * X.width if X.indptr is None else X.indptr
    indptr, numbers, kept = np.zeros(n + 1, np.int64), [], []
    for first, stop in _row_blocks(bounds):
        part = slice(int(bounds[first]), int(bounds[stop]))
        own = X.indices[part]
        new = place.take(np.maximum(own, ~own) if X.layout == "signed" else own)
        at = np.flatnonzero(new >= 0)
        ends = np.searchsorted(at, bounds[first + 1 : stop + 1] - bounds[first])
        indptr[first + 1 : stop + 1] = indptr[first] + ends
        new = new[at]
        numbers.append(np.where(own[at] < 0, ~new, new) if X.layout == "signed" else new)
        if X.values is not None:
            kept.append(X.values[part].take(at))
    indices = np.concatenate(numbers) if numbers else np.empty(0, np.int32)
    values = None if X.values is None else np.concatenate(kept) if kept else np.empty(0, X.dtype)
    return make_rows(X.layout, n, len(columns), values, indices, indptr, X.dtype)
