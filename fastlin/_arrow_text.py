"""Columns of text in Arrow's layout, as offsets and bytes.

pyarrow is never imported here: a column is known by what it has, and only a user of pyarrow, or of
a pandas or polars built on it, can have one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["ArrowText", "arrow_text"]

_OFFSETS = {"string": np.int32, "large_string": np.int64}


class ArrowText(NamedTuple):
    """A piece of a column: document i is ``data[offsets[i]:offsets[i + 1]]``, in UTF-8."""

    offsets: np.ndarray
    data: np.ndarray


def arrow_text(X: Any) -> list[ArrowText] | None:
    """Return the pieces of a column of strings of pyarrow, or of pandas or polars in Arrow's
    layout; None for anything else.

    Raises
    ------
    TypeError
        If a value is missing; the message has its row.
    """
    column = _arrow_column(X)
    if column is None:
        return None
    found, first = [], 0
    for chunk in getattr(column, "chunks", [column]):
        strings = _as_strings(chunk)
        if strings is None:
            return None
        if strings.null_count:
            row = first + int(np.argmax(strings.is_null().to_numpy(zero_copy_only=False)))
            raise TypeError(
                f"Row {row}: a document must be str or bytes, got None; replace missing ones by ''."
            )
        found.append(_text_of(strings))
        first += len(strings)
    return found


def _arrow_column(X: Any) -> Any:
    """Return the Array or ChunkedArray behind a column, None if there is none."""
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow":
        return X if hasattr(X, "type") and (hasattr(X, "chunks") or hasattr(X, "buffers")) else None
    dtype = getattr(X, "dtype", None)
    if library == "polars" and hasattr(X, "to_arrow"):
        if str(dtype) not in ("String", "Categorical"):
            return None
        try:
            return X.to_arrow()
        except ImportError:
            return None
    values = getattr(X, "array", X)
    in_arrow = getattr(dtype, "storage", None) == "pyarrow" or type(dtype).__name__ == "ArrowDtype"
    return values.__arrow_array__() if in_arrow and hasattr(values, "__arrow_array__") else None


def _as_strings(chunk: Any) -> Any:
    """Return an array of strings in offsets and bytes; None if it holds anything else."""
    if str(chunk.type).startswith("dictionary<"):
        chunk = chunk.dictionary_decode()
    if str(chunk.type) == "string_view":
        chunk = chunk.cast("large_string")
    return chunk if str(chunk.type) in _OFFSETS else None


def _text_of(strings: Any) -> ArrowText:
    """Return the buffers of an array of strings; nothing is copied."""
    dtype = _OFFSETS[str(strings.type)]
    _, offsets, data = strings.buffers()
    if len(strings) == 0 or offsets is None:
        return ArrowText(np.zeros(1, dtype), np.zeros(0, np.uint8))
    first = strings.offset
    return ArrowText(
        np.frombuffer(offsets, dtype)[first : first + len(strings) + 1],
        np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8),
    )
