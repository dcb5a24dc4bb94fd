"""Products of a whole matrix with a vector in double, in pieces that let Ctrl-C through."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._core import blocks as _blocks
from ._core.rows import Rows
from ._parallel import Cancelled, is_cancelled
from ._scores import rows_per_call

__all__ = ["column_squares", "in_pieces", "matvec", "rmatvec", "room_for", "row_squares"]


def in_pieces(X: Rows, work: Callable[[int, int], None]) -> None:
    """Call `work(start, stop)` over all rows."""
    n, piece = len(X), rows_per_call(X)
    for start in range(0, n, piece):
        if is_cancelled():
            raise Cancelled
        work(start, min(start + piece, n))


def matvec(X: Rows, w: np.ndarray, b: float = 0.0) -> np.ndarray:
    """X w + b"""
    out = np.empty(len(X))
    in_pieces(X, lambda start, stop: _blocks.responses(X, w, b, out, start, stop))
    return out


def rmatvec(X: Rows, c: np.ndarray) -> np.ndarray:
    """X^T c"""
    out = np.zeros(X.shape[1])
    in_pieces(X, lambda start, stop: _blocks.add_rows(X, c, out, start, stop))
    return out


def column_squares(X: Rows, c: np.ndarray) -> np.ndarray:
    """sum_i c_i x_ij^2 of each column j"""
    out = np.zeros(X.shape[1])
    in_pieces(X, lambda start, stop: _blocks.add_squares(X, c, out, start, stop))
    return out


def row_squares(X: Rows) -> np.ndarray:
    """|x_i|^2 of each row"""
    out = np.empty(len(X))
    in_pieces(X, lambda start, stop: _blocks.row_squares(X, out, start, stop))
    return out


def room_for(X: Rows) -> np.ndarray:
    """For the longest row, where kernels in double must widen its values."""
    if X.dtype == np.float64:
        return np.empty(0)
    if X.layout == "dense":
        return np.empty(X.shape[1])
    longest = max(X.width, 0) if X.indptr is None else np.diff(X.indptr).max(initial=0)
    return np.empty(int(longest))
