"""The centre that dual coordinate ascent counts rows from, and how they lie about it: see
`fl_dual.h`."""

from __future__ import annotations

import numpy as np

from ._blocks import rmatvec
from ._core import dual_cd as _dual_cd
from ._core.rows import NEAR_BYTES, Rows
from ._data import as_rows
from ._parallel import Cancelled, is_cancelled
from ._scores import longest_square, rows_per_call

__all__ = ["centre_of", "fits_single", "in_single", "proximal_weight", "seen_from"]

# Squares of rows up to this size
_MOST_SINGLE = 1e30
# Rows that the centre is the mean of: any vector is exact, one near the mean is fast.
_ROWS = 4096
# nu over the mean of |x - c|^2: ten times more costs two to three times as many epochs, ten times
# less lets B lag behind.
_NU = 0.01


def centre_of(X: Rows, weight: np.ndarray) -> np.ndarray:
    """The mean of some rows."""
    n = len(X)
    chosen = np.zeros(n)
    chosen[:: max(1, n // _ROWS)] = 1.0
    if len(weight):
        chosen *= weight
    return rmatvec(X, chosen / chosen.sum())


def seen_from(X: Rows, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(|x_i|^2, x_i.c, |c|^2); an empty centre: there is none, and no x_i.c. Nothing of it is to be
    written to."""
    if len(centre) == 0 and X._row_squares is not None:
        return X._row_squares, np.empty(0), 0.0
    n, piece = len(X), rows_per_call(X)
    # of the rows' own type: any vector is exact
    centre = centre.astype(X.dtype)
    squares, k = np.empty(n), np.empty(n if len(centre) else 0)
    for start in range(0, n, piece):
        if is_cancelled():
            raise Cancelled
        _dual_cd.measure(X, centre, squares, k, start, min(start + piece, n))
    return squares, k, float(np.square(centre, dtype=np.float64).sum())


def proximal_weight(mean_square: float, l2: float, bend: float) -> float:
    """nu, from the mean of |x - c|^2. Where rows are short beside l2, b would lag behind: then it
    is what Newton's method would take for the step of b on a loss that bends so much."""
    return max(_NU * mean_square, 2.0 * l2 / bend)


def fits_single(X: Rows) -> bool:
    """Whether in single precision squares of rows are far from overflow, and steps along them from
    vanishing."""
    return longest_square(X) <= _MOST_SINGLE


def in_single(X: Rows, n_outputs: int = 1) -> Rows:
    """X with values of float32 where weights would not fit the cache in double."""
    if X.dtype == np.float32 or X.shape[1] * n_outputs * 8 <= NEAR_BYTES or not fits_single(X):
        return X
    try:
        single = as_rows(X, np.float32)
        single._row_squares = X._row_squares
        return single
    except ValueError:
        # a value is too large
        return X
