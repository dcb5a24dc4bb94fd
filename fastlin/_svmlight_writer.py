"""Writing svmlight text: checks of what is written, and its lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["checked_labels", "checked_query_ids", "checked_rows", "header", "lines_of"]

_ROWS_AT_ONCE = 1000
# Below it repr writes a whole number with all its digits.
_MOST_WHOLE = 1e16


def header(comment: str | bytes | None, zero_based: bool) -> bytes:
    """Return the comment as lines of the file, after one that tells where indices start."""
    if comment is None:
        return b""
    if not isinstance(comment, (str, bytes)):
        raise TypeError(f"comment must be a str, bytes or None, got {type(comment).__name__}.")
    try:
        text = comment if isinstance(comment, str) else comment.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"comment must be UTF-8: {error}.") from None
    if "\0" in text:
        raise ValueError("comment must not hold a NUL character.")
    lines = [f"Column indices are {'zero' if zero_based else 'one'}-based", "", *text.splitlines()]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines).encode()


def checked_rows(X: Any) -> Any:
    """Return X as a CSR matrix in canonical form with finite real values."""
    from scipy.sparse import csr_matrix, issparse

    rows = X if issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, got shape {rows.shape}.")
    if rows.dtype.kind not in "biuf":
        if issparse(rows) or rows.dtype.kind != "O":
            raise TypeError(f"X must be numeric and real, got dtype {rows.dtype}.")
        rows = rows.astype(np.float64)
    if rows.dtype.itemsize > 8:
        rows = rows.astype(np.float64)
    rows = csr_matrix(rows)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        raise ValueError(
            f"X has the value {rows.data[bad[0]]} in row {row}, column "
            f"{rows.indices[bad[0]]}; only finite values can be written."
        )
    return rows


def checked_query_ids(query_id: Any, n_rows: int) -> list[int]:
    """Return the query ids as Python integers."""
    ids = np.asarray(query_id)
    if ids.shape != (n_rows,) or ids.dtype.kind not in "iu":
        raise ValueError(
            f"query_id must hold {n_rows} integers, one per row of X, got an array "
            f"of shape {ids.shape} and dtype {ids.dtype}."
        )
    return ids.tolist()


def checked_labels(y: Any, n_rows: int, multilabel: bool) -> list[str]:
    """Return the target of every row as text."""
    if not multilabel:
        return _single_labels(y, n_rows)
    if not hasattr(y, "shape") and len(y) and all(isinstance(row, tuple) for row in y):
        _check_length(len(y), n_rows)
        return [",".join(_numbers(np.array(row))) for row in y]
    return _indicated_labels(y, n_rows)


def _single_labels(y: Any, n_rows: int) -> list[str]:
    """Return one number per row as text."""
    y = np.asarray(y.todense()) if hasattr(y, "todense") else np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(
            f"y must have the shape (n_samples,), got {y.shape}; for several labels "
            "per row set multilabel=True."
        )
    _check_length(len(y), n_rows)
    return _numbers(y)


def _indicated_labels(y: Any, n_rows: int) -> list[str]:
    """Return the columns of the non-zeros of each row as text."""
    from scipy.sparse import csr_matrix, issparse

    try:
        y = y if issparse(y) else np.asarray(y)
    except ValueError:
        raise ValueError(
            "with multilabel=True y must be a matrix or a list of tuples, got rows "
            "of different lengths that are no tuples."
        ) from None
    if y.ndim != 2 or y.dtype.kind not in "biuf":
        raise ValueError(
            "with multilabel=True y must be a numeric matrix of shape (n_samples, "
            f"n_labels) or a list of tuples, got shape {y.shape}, dtype {y.dtype}."
        )
    _check_length(y.shape[0], n_rows)
    y = csr_matrix(y, copy=True)
    y.sum_duplicates()
    y.eliminate_zeros()
    names = list(map(str, y.indices.tolist()))
    ends = y.indptr.tolist()
    return [",".join(names[i:j]) for i, j in itertools.pairwise(ends)]


def _check_length(found: int, n_rows: int) -> None:
    """Refuse targets that are not as many as the rows."""
    if found != n_rows:
        raise ValueError(f"X has {n_rows} rows but y has {found}.")


def _numbers(array: np.ndarray) -> list[str]:
    """Write real, finite numbers so that they read back to the same bits."""
    if array.dtype.kind in "biu":
        return list(map(str, (array + 0).tolist() if array.dtype.kind == "b" else array.tolist()))
    if array.dtype.kind != "f":
        raise ValueError(f"y must be numeric, got dtype {array.dtype}.")
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise ValueError("y must be finite, but it has NaN or infinite values.")
    # Whole numbers without a point, in half the time; but -0 is none that an integer holds.
    whole = (np.rint(array) == array) & (np.abs(array) < _MOST_WHOLE)
    whole &= (array != 0) | ~np.signbit(array)
    texts = np.empty(len(array), object)
    texts[whole] = list(map(str, array[whole].astype(np.int64).tolist()))
    # repr gives the fewest digits that make the same double.
    texts[~whole] = [text.removesuffix(".0") for text in map(repr, array[~whole].tolist())]
    return texts.tolist()


def lines_of(
    rows: Any, labels: Sequence[str], query_ids: Sequence[int] | None, lowest_index: int
) -> Iterator[str]:
    """Yield the text of some rows after the other."""
    for start in range(0, rows.shape[0], _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, rows.shape[0])
        ends = rows.indptr[start : stop + 1].tolist()
        entries = slice(ends[0], ends[-1])
        columns = (rows.indices[entries].astype(np.int64) + lowest_index).tolist()
        pairs = zip(columns, _numbers(rows.data[entries]), strict=True)
        tokens = [f"{column}:{number}" for column, number in pairs]
        lines = []
        for i in range(stop - start):
            head = [labels[start + i]] if labels[start + i] else []
            if query_ids is not None:
                head.append(f"qid:{query_ids[start + i]}")
            words = head + tokens[ends[i] - ends[0] : ends[i + 1] - ends[0]]
            lines.append(" ".join(words or [f"{lowest_index}:0"]))
        lines.append("")
        yield "\n".join(lines)
