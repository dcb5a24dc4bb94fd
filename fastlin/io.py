"""Files of data: svmlight (LIBSVM) matrices, CSV, TSV and JSON-lines tables.

>>> from fastlin.io import dump_svmlight_file, load_svmlight_file
>>> X, y = load_svmlight_file(b"1 1:0.5 3:2 # first\\n-1 2:1\\n")
>>> X.toarray()
array([[0.5, 0. , 2. ],
       [0. , 1. , 0. ]])
>>> y
array([ 1., -1.])
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._files import opened_for_reading, opened_for_writing
from ._params import Boolean, Either, Integer, OneOf
from ._svmlight import Contents, SvmlightReader
from ._svmlight_writer import checked_labels, checked_query_ids, checked_rows, header, lines_of
from ._tables import Table, detect_format, read_table

__all__ = [
    "Table",
    "detect_format",
    "dump_svmlight_file",
    "load_svmlight_file",
    "load_svmlight_files",
    "read_table",
]

_LARGEST_INT32 = 2**31 - 1
_CONSTRAINTS = {
    "n_features": Either(Integer(1, _LARGEST_INT32), OneOf(None)),
    "multilabel": Boolean(),
    "zero_based": Either(Boolean(), OneOf("auto")),
    "query_id": Boolean(),
    "offset": Integer(0),
    "length": Integer(),
}


def load_svmlight_file(
    f: Any,
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    multilabel: bool = False,
    zero_based: bool | str = "auto",
    query_id: bool = False,
    offset: int = 0,
    length: int = -1,
) -> tuple:
    """Read an svmlight (LIBSVM) file into a CSR matrix.

    Each line holds a target, features as ``index:value`` and perhaps a comment after ``#``;
    lines with nothing but a comment are skipped. The features of a line may come in any order.
    The text is read in blocks, so memory holds little more than the result. Every number becomes
    the double that is nearest to what is written, as with Python's `float`.

    Parameters
    ----------
    f : str, path-like, binary file object, int or bytes
        Where to read: a path (decompressed if it ends in .gz, .bz2 or .xz), an open file, a file
        descriptor, the text itself, or "-" for standard input. Files and descriptors that were
        passed in are left open.
    n_features : int, default=None
        Number of columns of X; by default one more than the largest index found. Needed together
        with `offset` or `length`.
    dtype : dtype, default=numpy.float64
        Type of the values of X: floating or integer. y is always float64.
    multilabel : bool, default=False
        Whether a target is a list of numbers with commas between them; it may then be missing.
    zero_based : bool or "auto", default="auto"
        Whether indices start at 0. "auto" takes them to start at 1 unless a 0 is found (or
        `offset` or `length` is used, since a part of a file cannot tell).
    query_id : bool, default=False
        Whether to return the query ids too. Otherwise ``qid:`` entries are ignored.
    offset : int, default=0
        Start with the first line that begins after this many bytes.
    length : int, default=-1
        If positive, read only lines that begin up to this many bytes after `offset`. The parts
        (0, a), (a, b), (a + b, c), ... of a file hold every line exactly once.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n_samples, n_features)
        Values of type `dtype`; indices are int32, sorted within each row. Zeros that are written
        in the file are kept.
    y : ndarray of shape (n_samples,), dtype float64
        The targets; with `multilabel` a list of n_samples sorted tuples of floats.
    query_id : ndarray of shape (n_samples,), dtype int64
        Only with ``query_id=True``.

    Raises
    ------
    ValueError
        For text that does not follow the format, with the name of the file, the line and the
        token: words that are no numbers, infinite and NaN values, indices below 0, above
        2147483647 or twice in one line, lines without query id where one is asked for. Also when
        `n_features` is smaller than what the file needs, and for damaged compressed files.
    TypeError
        If `f` is nothing of the above, or a file opened in text mode.

    See Also
    --------
    load_svmlight_files : Several files with one number of columns.
    dump_svmlight_file : The opposite.

    Examples
    --------
    >>> from fastlin.io import load_svmlight_file
    >>> X, y, qid = load_svmlight_file(b"2 qid:7 0:1.5\\n", query_id=True)
    >>> X.toarray(), y, qid
    (array([[1.5]]), array([2.]), array([7]))
    """
    return tuple(
        load_svmlight_files(
            [f],
            n_features=n_features,
            dtype=dtype,
            multilabel=multilabel,
            zero_based=zero_based,
            query_id=query_id,
            offset=offset,
            length=length,
        )
    )


def load_svmlight_files(
    files: Iterable[Any],
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    multilabel: bool = False,
    zero_based: bool | str = "auto",
    query_id: bool = False,
    offset: int = 0,
    length: int = -1,
) -> list:
    """Read several svmlight files, such as training and test data, with one number of columns.

    Parameters
    ----------
    files : iterable
        What `load_svmlight_file` takes as `f`, one after the other.
    n_features, dtype, multilabel, zero_based, query_id, offset, length
        As in `load_svmlight_file`, for every file. ``zero_based="auto"`` decides once for all
        files, and `n_features` defaults to what the widest file needs.

    Returns
    -------
    list
        X1, y1, X2, y2, ...; with ``query_id=True`` X1, y1, query_id1, X2, ...

    Raises
    ------
    ValueError, TypeError
        As `load_svmlight_file`.

    Examples
    --------
    >>> from fastlin.io import load_svmlight_files
    >>> X, y, X_test, y_test = load_svmlight_files([b"1 5:1\\n", b"0 2:1\\n"])
    >>> X.shape, X_test.shape
    ((1, 5), (1, 5))
    """
    given = {
        "n_features": n_features,
        "multilabel": multilabel,
        "zero_based": zero_based,
        "query_id": query_id,
        "offset": offset,
        "length": length,
    }
    for name, value in given.items():
        _CONSTRAINTS[name].check(name, value)
    dtype = _checked_dtype(dtype)
    if isinstance(files, (str, bytes, os.PathLike)):
        raise TypeError("files must be a list of files; for one file call load_svmlight_file.")
    if offset or length > 0:
        if n_features is None:
            raise ValueError(
                "offset and length read a part of a file, which does not tell the "
                "number of columns: set n_features."
            )
        zero_based = bool(zero_based)  # "auto" counts from 0 here
    lowest = 0 if zero_based == "auto" or zero_based else 1
    parts = []
    for f in files:
        with opened_for_reading(f) as (stream, name):
            reader = SvmlightReader(
                stream,
                name,
                multilabel=bool(multilabel),
                query_id=bool(query_id),
                lowest_index=lowest,
                offset=int(offset),
                length=int(length),
            )
            parts.append(Contents(reader, dtype))
    if zero_based == "auto":
        lowest = int(all(len(part.columns) and part.min_index > 0 for part in parts))
    n_features = _width(n_features, lowest, parts)
    result = []
    for part in parts:
        result += [
            part.matrix(lowest, n_features),
            part.label_sets() if multilabel else part.labels,
        ]
        if query_id:
            result.append(part.query_ids)
    return result


def _checked_dtype(dtype: Any) -> np.dtype:
    """Return the dtype of the values, which must be real."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "fiu":
        raise TypeError(f"dtype must be a floating or integer type, got {dtype.name}.")
    return dtype


def _width(n_features: int | None, lowest: int, parts: list[Contents]) -> int:
    """Return the number of columns: as asked for, else what the widest part needs."""
    if not parts:
        return 1 if n_features is None else n_features
    widest = max(parts, key=lambda part: part.max_index)
    needed = max(widest.max_index + 1 - lowest, 1)
    if n_features is not None and n_features < needed:
        raise ValueError(f"n_features is {n_features}, but {widest.name} has {needed} features.")
    if needed > _LARGEST_INT32:
        raise ValueError(
            f"{widest.name} has the index {widest.max_index}; with indices that "
            f"start at 0 the largest is {_LARGEST_INT32 - 1}."
        )
    return needed if n_features is None else int(n_features)


def dump_svmlight_file(
    X: Any,
    y: Any,
    f: Any,
    *,
    zero_based: bool = True,
    comment: str | bytes | None = None,
    query_id: Any = None,
    multilabel: bool = False,
) -> None:
    """Write a matrix and its targets as an svmlight (LIBSVM) file.

    Numbers are written with as many digits as it takes to read back the same double.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Real and finite values. Zeros are left out, except those stored in a sparse matrix.
    y : array-like of shape (n_samples,)
        Numbers. With `multilabel` a matrix of shape (n_samples, n_labels), dense or sparse, whose
        non-zeros mark the labels of a row by their column number, or a list of tuples of numbers.
    f : str, path-like or binary file object
        Where to write. A path is compressed if it ends in .gz, .bz2 or .xz, and replaced in one
        step when all is written: after an error the old file, or none, is there.
    zero_based : bool, default=True
        Whether the first column gets the index 0 or 1. Readers that look for a 0 to tell the two
        apart (``zero_based="auto"``) err when the first column is empty, so pass the same value
        to both.
    comment : str or bytes, default=None
        Lines to put at the top after ``# ``; UTF-8.
    query_id : array-like of int of shape (n_samples,), default=None
        Query ids to write as ``qid:``.
    multilabel : bool, default=False
        Whether rows have several labels. A row with neither labels nor features gets one zero
        entry, since readers skip empty lines.

    Raises
    ------
    ValueError
        If shapes do not fit, a value is NaN or infinite, or the comment has a NUL.
    TypeError
        If `f` is no place to write to or X is not numeric.

    See Also
    --------
    load_svmlight_file : The opposite.

    Examples
    --------
    >>> import io
    >>> from fastlin.io import dump_svmlight_file
    >>> file = io.BytesIO()
    >>> dump_svmlight_file([[0.5, 0, 2], [0, 1, 0]], [1, -1], file, zero_based=False)
    >>> print(file.getvalue().decode(), end="")
    1 1:0.5 3:2
    -1 2:1
    """
    Boolean().check("zero_based", zero_based)
    Boolean().check("multilabel", multilabel)
    head = header(comment, zero_based)
    rows = checked_rows(X)
    labels = checked_labels(y, rows.shape[0], multilabel)
    if query_id is not None:
        query_id = checked_query_ids(query_id, rows.shape[0])
    with opened_for_writing(f) as stream:
        stream.write(head)
        for text in lines_of(rows, labels, query_id, 0 if zero_based else 1):
            stream.write(text.encode())
