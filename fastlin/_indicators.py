"""Column numbers to matrices of ones and signs: CSR, `Rows` or dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._data import canonical_csr

__all__ = ["ones_result", "signed_result"]


def ones_result(numbers: np.ndarray, width: int, dtype: Any, output: str) -> Any:
    """Return the matrix of ones in these columns.

    Parameters
    ----------
    numbers : ndarray of shape (n_samples, n_entries), dtype int32
        Columns increasing along each row but for -1, which stands for no entry.
    width : int
        Number of columns.
    dtype : dtype
    output : {"csr", "rows", "dense"}
    """
    n, d = numbers.shape
    indices, indptr = numbers.reshape(-1), None
    if numbers.size and numbers.min() < 0:
        keep = numbers >= 0
        indices, indptr = numbers[keep], np.zeros(n + 1, np.int64)
        np.cumsum(keep.sum(axis=1), out=indptr[1:])
    if output == "rows":
        return _rows("ones", n, width, None, indices, indptr, dtype)
    if indptr is None:
        indptr = np.arange(0, n * d + 1, max(d, 1), dtype=np.int64)
    if output == "dense":
        result = np.zeros((n, width), dtype)
        result[np.repeat(np.arange(n), np.diff(indptr)), indices] = 1
        return result
    return canonical_csr(np.ones(len(indices), dtype), indices, indptr, width)


def signed_result(
    indices: np.ndarray,
    values: np.ndarray | None,
    indptr: np.ndarray,
    width: int,
    signed: bool,
    dtype: Any,
    output: str,
) -> Any:
    """Return rows whose indices j stand for a value above 0 in column j, ~j for one below.

    Parameters
    ----------
    indices : ndarray of shape (nnz,), dtype int32
        Written to.
    values : ndarray of shape (nnz,) or None
        None if all values are 1 or -1.
    indptr : ndarray of shape (n_samples + 1,), dtype int64
    width : int
        Number of columns.
    signed : bool
        Whether an index may be negative.
    dtype : dtype
    output : {"csr", "rows"}
    """
    n = len(indptr) - 1
    if values is None and output == "rows":
        size = int(indptr[1])
        regular = len(indices) == n * size and bool((np.diff(indptr) == size).all())
        layout = "signed" if signed else "ones"
        return _rows(layout, n, width, None, indices, None if regular else indptr, dtype)
    if values is None:
        values = np.ones(len(indices), dtype)
        if signed:
            values[indices < 0] = -1
    values = values.astype(dtype, copy=False)
    if signed:
        # ~j where j is negative: the sign bit in every place of the second operand
        indices ^= indices >> 31
    if output == "rows":
        return _rows("csr", n, width, values, indices, indptr, dtype)
    return canonical_csr(values, indices, indptr, width)


def _rows(
    layout: str,
    n: int,
    width: int,
    values: np.ndarray | None,
    indices: np.ndarray,
    indptr: np.ndarray | None,
    dtype: Any,
) -> Any:
    """Return `Rows` over arrays that need no check."""
    from ._core.rows import make_rows

    return make_rows(layout, n, width, values, indices, indptr, np.dtype(dtype))
