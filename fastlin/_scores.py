"""Responses W x + b and mean losses over rows, in pieces that let Ctrl-C through."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import joint as _joint
from ._core import losses as _losses
from ._core import rows as _rows
from ._core.rows import Rows

__all__ = [
    "check_dtype", "longest_square", "mean_loss", "rows_per_call", "score_rows", "undefined",
]  # fmt: skip

# Stored entries per call of a kernel: about 50 ms.
_ENTRIES_PER_CALL = 8_000_000
_ALL = np.empty(0, dtype=np.int64)


def rows_per_call(X: Rows, n_outputs: int = 1, batch: int = 1) -> int:
    """Rows whose entries take about 50 ms, a multiple of the batch."""
    entries = max(1.0, X.nnz / max(1, X.shape[0])) * n_outputs
    rows = max(1, int(_ENTRIES_PER_CALL / entries))
    return max(1, rows // batch) * batch


def longest_square(X: Rows) -> float:
    """The largest |x_i|^2, measured once."""
    if X._longest_square < 0:
        n, piece, dtype = len(X), rows_per_call(X), np.empty(0, X.dtype)
        X._longest_square = max(
            _rows.longest_square(X, dtype, start, min(start + piece, n))
            for start in range(0, n, piece)
        )
    return X._longest_square


def check_dtype(X: Rows, dtype: np.dtype) -> None:
    """Refuse rows of another type than the weights': kernels read both as one."""
    if X.dtype != dtype:
        raise ValueError(f"The rows of X are {X.dtype}, but the weights are {dtype}.")


def score_rows(X: Rows, W: np.ndarray, b: np.ndarray, rows: np.ndarray = _ALL) -> np.ndarray:
    """W x + b of shape (n, n_outputs), in double, of each row or of the given ones.

    W must have the dtype of X. Several outputs go over the rows together, unless turning W round
    would cost more than the rows. A sum of +inf and -inf raises: the values of a row and the
    weights are too large for each other.
    """
    check_dtype(X, W.dtype)
    n, K = len(rows) or X.shape[0], len(W)
    if K == 1 or X.nnz * n < W.shape[1] * X.shape[0]:
        out, piece, defined = np.empty((K, n)), rows_per_call(X), True
        for k in range(K):
            w = np.ascontiguousarray(W[k])
            for start in range(0, n, piece):
                stop = min(start + piece, n)
                defined &= _rows.scores(X, w, float(b[k]), rows, out[k], start, stop)
        return _checked(out.T, rows, defined, W, b)
    together = np.ascontiguousarray(W.T).ravel()
    out, piece, defined = np.empty((n, K)), rows_per_call(X, K), True
    intercept = np.ascontiguousarray(b, dtype=np.float64)
    for start in range(0, n, piece):
        stop = min(start + piece, n)
        defined &= _joint.scores(X, together, intercept, rows, out, start, stop)
    return _checked(out, rows, defined, W, b)


def _checked(p: np.ndarray, rows: np.ndarray, defined: bool, W: np.ndarray,
             b: np.ndarray) -> np.ndarray:
    """The responses p, if all of them are defined."""
    error = None if defined else undefined(p, rows)
    if error is None:
        return p
    # weights set by hand: no fit ends like this, but with an intercept of -inf
    if not np.isfinite(W).all() or np.isnan(b).any():
        name = "intercept_" if np.isfinite(W).all() else "coef_"
        raise ValueError(f"{name} holds nan or inf; set it anew, or fit again.")
    raise error


def undefined(p: np.ndarray, rows: np.ndarray) -> ValueError | None:
    """What there is to say of responses p, of shape (n, n_outputs), to rows of X, or if there are
    none to all, if one is not a number."""
    lost = np.isnan(p).any(axis=1)
    if not lost.any():
        return None
    place = int(lost.argmax())
    return ValueError(
        f"The response of row {rows[place] if len(rows) else place} is not a number: the values of "
        "X are too large for these weights. Scale the columns of X."
    )


def mean_loss(rule: dict[str, Any], p: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean of the rule's loss at responses p of shape (n, n_outputs)."""
    if p.shape[1] == 1:
        p = np.ascontiguousarray(p[:, 0])
        total = _losses.total(rule["loss"], rule["loss_parameter"], p, y, weight)
    else:
        p, value = np.ascontiguousarray(p), np.empty(len(y))
        _joint.joint_loss(rule["loss"], rule["loss_parameter"], p, y, value, np.empty_like(p))
        total = value @ weight if len(weight) else value.sum()
    return float(total / (weight.sum() if len(weight) else len(y)))
