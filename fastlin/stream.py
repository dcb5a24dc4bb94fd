"""Data larger than memory: files in blocks of rows.

`SGDClassifier.fit_stream`, and that of the other learners which take one step per row, learn from
such blocks for several epochs, in memory that the number of rows does not change.

>>> from fastlin import SGDClassifier
>>> text = b"+1 1:0.5 3:2\\n-1 2:1\\n" * 50
>>> model = SGDClassifier(loss="log_loss", random_state=0).fit_stream(text)
>>> model.predict([[0.5, 0, 2], [0, 1, 0]])
array([ 1., -1.])
>>> [entry["rows"] for entry in model.progressive_loss_]
[1, 2, 4, 8, 16, 32, 64, 100]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._params import Boolean, Either, Integer, OneOf
from ._stream_source import svmlight_blocks as _svmlight_blocks
from ._tables import Table, table_blocks

__all__ = ["Table", "svmlight_blocks", "table_blocks"]


def svmlight_blocks(
    source: Any,
    *,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    dtype: Any = np.float64,
) -> Iterator[tuple]:
    """Read an svmlight (LIBSVM) file in blocks of rows.

    Parameters
    ----------
    source : str, path-like, binary file object, int or bytes
        As for `fastlin.io.load_svmlight_file`; "-" is standard input.
    n_features : int, default=None
        Number of columns; by default the rows of each block have as many as were seen until then.
    zero_based : bool or "auto", default="auto"
        Whether indices start at 0; "auto" lets the first block that has entries decide.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Type of the values.

    Yields
    ------
    X : Rows of shape (n_rows, n_columns)
        Some thousand rows.
    y : ndarray of shape (n_rows,), dtype float64
        Their targets.

    Raises
    ------
    ValueError
        For text that does not follow the format, with the name of the file, the line and the token,
        when the block that holds it is asked for.
    TypeError
        If `source` is nothing of the above, or a file opened in text mode.

    Examples
    --------
    >>> from fastlin.stream import svmlight_blocks
    >>> [(X.toarray().tolist(), y.tolist()) for X, y in svmlight_blocks(b"1 1:0.5 3:2\\n-1 2:1\\n")]
    [([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0])]
    """
    Either(Integer(1, 2**31 - 1), OneOf(None)).check("n_features", n_features)
    Either(Boolean(), OneOf("auto")).check("zero_based", zero_based)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {np.dtype(dtype).name}.")
    return _svmlight_blocks(source, n_features, zero_based, dtype)
