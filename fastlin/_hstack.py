"""Matrices side by side as one: `Rows.hstack`.

The layout is the smallest that holds all: ONES beside ONES stay ONES (of fixed width, if all are),
with signs among them SIGNED, dense beside dense stays dense, and anything else becomes CSR, from
whose rows zeros are left out. Rows are copied in pieces, block by block, so that what a row gets
from each block is written while the row is in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._core import beside as _beside
from ._core.rows import Rows, all_signs, make_rows
from ._data import as_rows
from ._exceptions import errors_about
from ._params import shown

__all__ = ["hstack", "joined"]

_MAX_COLUMNS = np.iinfo(np.int32).max
# Entries per piece, some milliseconds
_PIECE = 1 << 18


def hstack(blocks: Sequence[Any], dtype: Any = None) -> Rows:
    """Return several matrices side by side as one.

    Parameters
    ----------
    blocks : sequence of array-like, sparse matrix, data frame or Rows
        What `as_rows` takes, each with the same number of rows.
    dtype : {numpy.float32, numpy.float64}, optional
        Type of the values; by default float32 if that is what all blocks have, else float64.

    Returns
    -------
    Rows of shape (n_samples, sum of the columns)

    Raises
    ------
    ValueError
        If there are no blocks, if they have different numbers of rows, more columns together than
        32-bit numbers can tell apart, or if one is no matrix of finite numbers; the message says
        which.
    TypeError
        If the elements of a block are not numbers.
    """
    if isinstance(blocks, Rows) or hasattr(blocks, "shape"):
        raise TypeError(f"blocks must be a list of matrices, got {shown(blocks)}.")
    blocks = list(blocks)
    if not blocks:
        raise ValueError("blocks must hold at least one matrix, got none.")
    return joined(blocks, [f"blocks[{place}]" for place in range(len(blocks))], dtype)


def joined(blocks: Sequence[Any], labels: Sequence[str], dtype: Any = None) -> Rows:
    """`hstack` of at least one block; errors call blocks by their labels."""
    rows = []
    for block, label in zip(blocks, labels, strict=True):
        with errors_about(label):
            rows.append(as_rows(block, dtype))
    n, d = rows[0].shape[0], sum(block.shape[1] for block in rows)
    for block, label in zip(rows, labels, strict=True):
        if block.shape[0] != n:
            raise ValueError(
                f"matrices side by side must have the same number of rows, but {labels[0]} has {n} "
                f"and {label} {block.shape[0]}."
            )
    if d > _MAX_COLUMNS:
        raise ValueError(
            f"the matrices have {d} columns together, more than 32-bit indices can tell apart "
            f"({_MAX_COLUMNS})."
        )
    kind = np.result_type(*[block.dtype for block in rows])
    rows = [as_rows(block, kind) for block in rows]
    if len(rows) == 1:
        return rows[0]
    layouts = {block.layout for block in rows}
    if layouts == {"dense"}:
        values = np.empty((n, d), kind)
        np.concatenate([block.values.reshape(block.shape) for block in rows], axis=1, out=values)
        return make_rows("dense", n, d, values, None, None, kind)
    return _sparse(rows, n, d, _layout(rows, layouts), kind)


def _layout(rows: list[Rows], layouts: set[str]) -> str:
    """Return the smallest layout that holds all blocks, which are not all dense."""
    if layouts == {"ones"}:
        return "ones"
    signs = "dense" not in layouts and all(
        block.values is None or all_signs(block.values) for block in rows
    )
    return "signed" if signs else "csr"


def _sparse(rows: list[Rows], n: int, d: int, layout: str, kind: np.dtype) -> Rows:
    """Join blocks row by row."""
    typed = np.empty(0, kind)
    widths = [block.width if block.values is None else -1 for block in rows]
    indptr = None
    if layout != "csr" and min(widths) >= 0 and n:
        total = n * sum(widths)
        places = np.arange(n, dtype=np.int64) * sum(widths)
    else:
        indptr = np.zeros(n + 1, np.int64)
        for block in rows:
            for start, stop in _pieces(n, block.nnz):
                _beside.count(block, typed, indptr[1:], start, stop)
        np.cumsum(indptr, out=indptr)
        total, places = int(indptr[-1]), indptr[:-1].copy()
    indices = np.empty(total, np.int32)
    values = np.empty(total, kind) if layout == "csr" else typed
    for start, stop in _pieces(n, total):
        offset = 0
        for block in rows:
            _beside.append(block, typed, offset, places, indices, values, start, stop)
            offset += block.shape[1]
    return make_rows(layout, n, d, values if layout == "csr" else None, indices, indptr, kind)


def _pieces(n: int, entries: int) -> list[tuple[int, int]]:
    """Return runs of rows, each of about one piece of entries."""
    step = max(1, n * _PIECE // max(entries, 1))
    return [(start, min(start + step, n)) for start in range(0, n, step)]
