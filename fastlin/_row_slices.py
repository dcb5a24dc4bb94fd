"""Some rows of `Rows`, gathered in their own layout: a fold costs no detour over scipy.

A run of neighbouring rows shares the arrays it is cut from; any other choice copies the entries
chosen and nothing else. What the door has checked needs no second look.
"""

from __future__ import annotations

import numpy as np

from ._core.rows import Rows, make_rows

__all__ = ["rows_taken"]


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


def _run_of(rows: np.ndarray) -> slice | None:
    """Return the slice that these rows are, or None."""
    if len(rows) and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return None


def _gathered(X: Rows, rows: np.ndarray, run: slice | None) -> tuple:
    """Return (values, indices, indptr) of some rows; shared for a run of them."""
    if run is not None:
        bounds = X.indptr[run.start : run.stop + 1]
        chosen = slice(int(bounds[0]), int(bounds[-1]))
        indptr = bounds - bounds[0]
    else:
        starts = X.indptr[rows]
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(X.indptr[rows + 1] - starts, out=indptr[1:])
        chosen = np.arange(indptr[-1])
        chosen += np.repeat(starts - indptr[:-1], np.diff(indptr))
    values = None if X.values is None else X.values[chosen]
    return values, X.indices[chosen], indptr
