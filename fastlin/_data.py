"""The door: whatever a user passes as X becomes `Rows`, checked once.

After this file no kernel meets a wrong column, a NaN, a duplicate entry or an unexpected dtype. It
copies values only where dtype, order or structure leave no choice; scans run in pieces, so that
Ctrl-C works on large data. Only this file and `_prepare` convert or check the arrays of X.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._aligned import huge_empty
from ._blocks import row_squares
from ._core import rows as _rows
from ._core.rows import Rows
from ._decimal import as_float64
from ._kinds import is_sparse
from ._memory import check_dense
from ._targets import refuse_lazy, refuse_masked
from ._validation import check_feature_names, check_n_features

__all__ = ["Rows", "as_rows", "canonical_csr", "checked_sparse_rows", "compact_rows", "dense_array",
           "own_rows", "rows_from_parts", "rows_of"]

# Entries per call of a scan: some milliseconds.
_PIECE = 1 << 24
# Entries per call that sorts them
_SORTED_PIECE = 1 << 22
_MAX_COLUMNS = np.iinfo(np.int32).max
# Squares of rows up to this size are of values that float32 holds.
_FITS_SINGLE = 1e76


def as_rows(X: Any, dtype: Any = None) -> Rows:
    """Check a matrix and return it as `Rows`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), data frame or Rows
        Anything numeric with two dimensions. Sparse matrices of any format; the caller's arrays
        are shared where their dtype and order allow, and never written to.
    dtype : {numpy.float32, numpy.float64}, optional
        Type of the values; by default float32 stays float32 and everything else becomes float64.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError
        If X is not two-dimensional, is empty, complex, holds NaN or infinity (the message says
        where), or has an invalid sparse structure.
    TypeError
        If its elements are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import as_rows
    >>> as_rows(np.eye(3, dtype=np.float32))
    <Rows 3 x 3, dense, float32, 9 entries>
    """
    if isinstance(X, Rows):
        return X if dtype is None or X.dtype == dtype else _retype(X, np.dtype(dtype))
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}.")
    if is_sparse(X):
        return _sparse_rows(X, dtype)
    return _dense_rows(X, dtype)


def compact_rows(X: Any, dtype: Any = None) -> Rows:
    """`as_rows` in the smallest layout: values of +1 and -1 become signs in the column numbers."""
    rows = as_rows(X, dtype)
    if rows.layout != "csr":
        return rows
    if not _rows.all_signs(rows.values):
        return rows
    signed = np.where(rows.values < 0, ~rows.indices, rows.indices)
    return _rows.make_rows("signed", *rows.shape, None, signed, rows.indptr, rows.dtype)


def rows_of(estimator: Any, X: Any, reset: bool, dtype: Any = None, measured: bool = False) -> Rows:
    """`as_rows` for an estimator: compares, or with `reset` stores, column names and number. With
    `measured` CSR rows keep their squares, in which NaN and infinity show: no pass looks for them.
    """
    check_feature_names(estimator, X, reset)
    rows = _sparse_rows(X, dtype, True) if measured and is_sparse(X) else as_rows(X, dtype)
    check_n_features(estimator, rows.shape[1], reset)
    return rows


def own_rows(X: Any, dtype: Any = None) -> Rows:
    """`as_rows` with arrays of their own, which the caller cannot change."""
    rows = as_rows(X, dtype)
    parts = (None if part is None else part.copy() for part in
             (rows.values, rows.indices, rows.indptr))
    return _rows.make_rows(rows.layout, *rows.shape, *parts, rows.dtype)


def rows_from_parts(layout: str, n: int, d: int, values: Any, indices: Any, indptr: Any,
                    dtype: Any) -> Rows:
    """The arrays of `Rows` that were checked before, as such again; d may have grown."""
    if layout == "dense":
        values = values.reshape(n, d)
    return _rows.make_rows(layout, n, d, values, indices, indptr, dtype)


def checked_sparse_rows(values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, d: int
                        ) -> Rows:
    """CSR arrays whose maker has checked them: finite values, increasing columns below d. Values
    that are kept are copied, since the maker goes on to use its array."""
    n = len(indptr) - 1
    if indptr[-1] and _rows.all_ones(values):
        return _ones_rows(n, d, indices, indptr, values.dtype)
    return _rows.make_rows("csr", n, d, values.copy(), indices, indptr, values.dtype)


def _value_dtype(found: np.dtype, wanted: Any) -> np.dtype:
    """The type that values are held in."""
    if found.kind == "c":
        raise ValueError(f"Complex data not supported: X is of dtype {found}.")
    if wanted is not None:
        return np.dtype(wanted)
    return np.dtype(np.float32 if found.kind == "f" and found.itemsize <= 4 else np.float64)


def _check_shape(n: int, d: int) -> None:
    """Refuse matrices without rows or columns, and widths that no index can hold."""
    if n == 0:
        raise ValueError(f"0 sample(s) (shape=({n}, {d})) while a minimum of 1 is required.")
    if d == 0:
        raise ValueError(f"0 feature(s) (shape=({n}, {d})) while a minimum of 1 is required.")
    if d > _MAX_COLUMNS:
        raise ValueError(
            f"X has {d} columns, more than 32-bit indices can tell apart ({_MAX_COLUMNS}); hash "
            "them to fewer."
        )


def _number_array(X: Any) -> np.ndarray:
    """The array behind X, of a numeric dtype."""
    refuse_lazy(X, "X")
    refuse_masked(X, "X")
    _refuse_times(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"X must be a 2d array, got rows that don't fit: {reason}.") from None
    if array.dtype.kind in "OUSV" or array.dtype.kind == "T":
        _refuse_complex_objects(array)
        array = _with_nan(array)
        try:
            array = as_float64(array)
        except (TypeError, ValueError, OverflowError) as error:
            # scikit-learn's checks want its conversion errors to keep their class
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"X must hold numbers: {error}{_remedy(array)}.") from None
    if array.dtype.kind in "mM":
        raise TypeError(f"X must hold numbers, got dtype {array.dtype}{_TIMES_TO_NUMBERS}.")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"X must hold numbers, got dtype {array.dtype}.")
    return array


def _with_nan(array: np.ndarray) -> np.ndarray:
    """Objects with NaN where pandas has its NA, which is no number to numpy."""
    pandas = sys.modules.get("pandas")
    if pandas is None or array.dtype.kind != "O":
        return array
    missing = np.array([cell is pandas.NA for cell in array.flat], bool).reshape(array.shape)
    return np.where(missing, np.nan, array) if missing.any() else array


_TIMES_TO_NUMBERS = (
    "; turn times into numbers first, such as the seconds since a start: "
    "(times - start) / np.timedelta64(1, 's')"
)


def _refuse_times(X: Any) -> None:
    """Raise for a data frame with a column of times: beside numbers it would become huge ones."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        columns = zip(X.columns, X.dtypes, strict=True)
    elif hasattr(X, "column_names") and hasattr(X, "schema"):
        columns = zip(X.schema.names, X.schema.types, strict=True)
    else:
        return
    for name, dtype in columns:
        if str(dtype).lower().startswith(("date", "time", "duration", "period")):
            raise TypeError(
                f"X must hold numbers, but its column {name!r} holds times ({dtype}); turn them "
                "into numbers first, such as the seconds since a start: (times - start)"
                ".dt.total_seconds()."
            )


def _remedy(array: np.ndarray) -> str:
    """What to do about the first element of an object array that is no number."""
    for value in array.flat:
        if isinstance(value, (str, bytes)):
            return "; encode strings first (OneHotEncoder, HashingVectorizer)"
        if hasattr(value, "isoformat") or hasattr(value, "total_seconds"):
            return _TIMES_TO_NUMBERS
        if isinstance(value, dict):
            return "; make a data frame of dicts, such as pandas.DataFrame(X)"
    return ""


def _refuse_complex_objects(array: np.ndarray) -> None:
    """An object array of complex numbers would convert with a mere warning."""
    if array.dtype.kind == "O" and any(isinstance(v, complex) for v in array.flat):
        raise ValueError("Complex data not supported: X holds complex numbers.")


def _dense_rows(X: Any, dtype: Any) -> Rows:
    """Rows of a dense matrix."""
    array = X if type(X) is np.ndarray and X.dtype.kind == "f" else _number_array(X)
    if array.ndim != 2:
        hint = (
            "Reshape your data either using X.reshape(-1, 1) if it has a single feature or "
            "X.reshape(1, -1) if it is a single sample"
            if array.ndim < 2
            else "Reshape your data to two dimensions"
        )
        raise ValueError(f"Expected 2D array, got an array of shape {array.shape}. {hint}.")
    n, d = array.shape
    _check_shape(n, d)
    kind = _value_dtype(array.dtype, dtype)
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(array, dtype=kind)
    flat = values.reshape(-1)
    place = _first_non_finite(flat)
    if place >= 0:
        _raise_non_finite(array[place // d, place % d], flat[place], place // d, place % d)
    return _rows.make_rows("dense", n, d, values, None, None, kind)


def _sparse_rows(X: Any, dtype: Any, measured: bool = False) -> Rows:
    """Rows of a scipy sparse matrix or array of any format, and if asked for their squares."""
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(
            f"Expected 2D array, got a sparse array of shape {X.shape}. Reshape your data using "
            "X.reshape(1, -1) if it is a single sample."
        )
    n, d = X.shape
    _check_shape(n, d)
    kind = _value_dtype(X.dtype, dtype)
    if getattr(X, "format", "csr") != "csr":
        X = _to_csr(X)
    values, indices, indptr = _parts(X, n, d, "row", "column")
    if not _columns_in_order(indptr, indices, d):
        values, indices, indptr = _canonical(values, indices, indptr, (n, d))
    with np.errstate(over="ignore"):
        given, values = values, np.ascontiguousarray(values, dtype=kind)
    rows, place = _rows.make_rows("csr", n, d, values, indices, indptr, kind), -1
    squares = row_squares(rows) if measured else None
    longest = -1.0 if squares is None else float(squares.max())
    # squares may overflow where values do not
    if squares is None or not np.isfinite(longest):
        place = _first_non_finite(values)
    if place >= 0:
        row = int(np.searchsorted(indptr, place, side="right")) - 1
        _raise_non_finite(given[place], values[place], row, int(indices[place]))
    if indptr[-1] and _rows.all_ones(values):
        rows = _ones_rows(n, d, indices, indptr, kind)
    if squares is not None:
        squares.flags.writeable = False
        rows._row_squares, rows._longest_square = squares, longest
    return rows


def _ones_rows(n: int, d: int, indices: np.ndarray, indptr: np.ndarray, kind: np.dtype) -> Rows:
    """Rows whose entries are all 1: no values, and no bounds where all rows are equally long."""
    width = int(indptr[1])
    if len(indices) == n * width and (np.diff(indptr) == width).all():
        return _rows.make_rows("ones", n, d, None, indices, None, kind)
    return _rows.make_rows("ones", n, d, None, indices, indptr, kind)


def _to_csr(X: Any) -> Any:
    """X as CSR. scipy converts without looking where an index points to: look first."""
    n, d = X.shape
    if X.format == "csc":
        _, indices, indptr = _parts(X, d, n, "column", "row")
        _columns_in_order(indptr, indices, n, "column", "row")
    if X.format == "bsr":
        rows, columns = X.blocksize
        if X.data.shape[1:] != (rows, columns):
            raise ValueError("X is not a valid sparse matrix: its blocks have several shapes.")
        bounds = n // rows, d // columns
        _, indices, indptr = _parts(X, *bounds, "block row", "block column")
        _columns_in_order(indptr, indices, bounds[1], "block row", "block column")
    if X.format == "coo":
        _check_coordinates(X)
    try:
        return X.tocsr()
    except (ValueError, IndexError) as error:
        raise ValueError(f"X is not a valid sparse matrix: {error}.") from None


def _check_coordinates(X: Any) -> None:
    """Raise for a COO matrix whose coordinates leave it."""
    for name, places, size in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
        if places.shape != X.data.shape or places.dtype.kind not in "iu":
            raise ValueError(
                f"X is not a valid sparse matrix: it has {X.data.shape} values, but {name} "
                f"numbers of shape {places.shape} and dtype {places.dtype}."
            )
        wrong = (places < 0) | (places >= size)
        if wrong.any():
            raise ValueError(
                f"X is not a valid sparse matrix: an entry has {name} {places[wrong][0]}, but "
                f"there are {size} {name}s."
            )


def _parts(X: Any, n: int, d: int, major: str, minor: str) -> tuple:
    """(values, indices, indptr) of CSR, or of CSC with rows and columns exchanged: int32 indices,
    int64 bounds that fit; whether an int32 index is in range `_columns_in_order` tells."""
    values, indices, indptr = np.asarray(X.data), np.asarray(X.indices), np.asarray(X.indptr)
    dimensions = 3 if hasattr(X, "blocksize") else 1
    one_each = values.shape[:1] == indices.shape and values.ndim == dimensions
    if indptr.shape != (n + 1,) or not one_each:
        raise ValueError(
            f"X is not a valid sparse matrix: {major} bounds of shape {indptr.shape}, {minor} "
            f"numbers of shape {indices.shape} and values of shape {values.shape} for {n} {major}s."
        )
    if indptr.dtype.kind not in "iu":
        raise ValueError(f"The {major} bounds of X must be integers, got dtype {indptr.dtype}.")
    indptr = np.ascontiguousarray(indptr, dtype=np.int64)
    bad = _rows.first_bad_row(indptr, len(indices))
    if bad >= 0:
        raise ValueError(
            f"X is not a valid sparse matrix: the bounds of {major} {bad} are wrong."
        )
    # what lies behind the last row is no part of the matrix
    values, indices = values[: indptr[-1]], indices[: indptr[-1]]
    return values, _narrow(indices, indptr, d, major, minor), indptr


def _narrow(indices: np.ndarray, indptr: np.ndarray, d: int, major: str, minor: str) -> np.ndarray:
    """Column numbers as contiguous int32; others are compared with d before they are cut."""
    if indices.dtype == np.int32:
        return np.ascontiguousarray(indices, dtype=np.int32)
    if indices.dtype.kind not in "iu":
        raise ValueError(f"The {minor} numbers of X must be integers, got dtype {indices.dtype}.")
    for start in range(0, len(indices), _PIECE):
        piece = indices[start : start + _PIECE]
        wrong = (piece < 0) | (piece >= d)
        if wrong.any():
            place = start + int(wrong.argmax())
            row = int(np.searchsorted(indptr, place, side="right")) - 1
            _raise_outside(row, int(indices[place]), d, major, minor)
    return indices.astype(np.int32)


def _raise_outside(row: int, column: int, d: int, major: str, minor: str) -> None:
    """Raise for a column number that is not one."""
    raise ValueError(
        f"X is not a valid sparse matrix: {major} {row} has {minor} {column}, but there are {d} "
        f"{minor}s."
    )


def _columns_in_order(
    indptr: np.ndarray, indices: np.ndarray, d: int, major: str = "row", minor: str = "column"
) -> bool:
    """Whether each row has increasing columns; raises if one lies outside the matrix."""
    n = len(indptr) - 1
    ordered, start = True, 0
    while start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + _PIECE))
        stop = min(max(stop, start + 1), n)
        bad, in_order = _rows.scan_columns(indptr, indices, d, start, stop)
        if bad >= 0:
            row = indices[indptr[bad] : indptr[bad + 1]]
            _raise_outside(bad, int(row[(row < 0) | (row >= d)][0]), d, major, minor)
        ordered &= in_order
        start = stop
    return ordered


def canonical_csr(
    values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_columns: int
) -> Any:
    """A CSR matrix of arrays whose columns ascend within rows; they are shared, but for what has
    another type of index: scipy wants one for both, and int32 wherever that suffices."""
    from scipy.sparse import csr_matrix

    kind = np.int32 if len(indices) <= _MAX_COLUMNS else np.int64
    arrays = values, indices.astype(kind, copy=False), indptr.astype(kind, copy=False)
    X = csr_matrix(arrays, shape=(len(indptr) - 1, n_columns))
    X.has_canonical_format = True
    return X


def _canonical(values, indices, indptr, shape):
    """Copies with sorted columns and duplicates added up."""
    n, longest = shape[0], int(np.diff(indptr).max())
    in_order, place = np.empty_like(indices), np.empty(len(indices), np.int64)
    # so many entries hold a column twice, and their places have no room in a key
    distinct, start = longest <= shape[1], 0
    keys = np.empty(2 * longest if distinct else 0, np.uint64)
    while distinct and start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + _SORTED_PIECE))
        stop = min(max(stop, start + 1), n)
        distinct &= _rows.sort_columns(
            indptr, indices, shape[1], in_order, place, keys, start, stop
        )
        start = stop
    if distinct:
        return values[place], in_order, indptr
    from scipy.sparse import csr_matrix

    # scipy adds up in place: give it arrays of its own
    copy = csr_matrix((values.copy(), indices.copy(), indptr.copy()), shape=shape)
    copy.has_sorted_indices = copy.has_canonical_format = False
    copy.sum_duplicates()
    return copy.data, copy.indices.astype(np.int32, copy=False), copy.indptr.astype(np.int64)


def _first_non_finite(flat: np.ndarray) -> int:
    """Position of the first NaN or infinity, else -1."""
    for start in range(0, len(flat), _PIECE):
        place = _rows.first_non_finite(flat, start, min(start + _PIECE, len(flat)))
        if place >= 0:
            return place
    return -1


def _raise_non_finite(given: Any, held: Any, row: int, column: int) -> None:
    """Raise for a value that is not finite; one that the user's dtype held has overflowed."""
    if np.isnan(held):
        what = "NaN"
    elif np.isfinite(given):
        what = f"a value too large for {held.dtype} ({given})"
    else:
        what = f"infinity or a value too large for {held.dtype}"
    raise ValueError(f"Input X contains {what}, first at row {row}, column {column}.")


def _retype(X: Rows, dtype: np.dtype) -> Rows:
    """The same rows with values of another type."""
    n, d = X.shape
    if X.values is None:
        return _rows.make_rows(X.layout, n, d, None, X.indices, X.indptr, dtype)
    with np.errstate(over="ignore"):
        values = huge_empty(X.values.shape, dtype)
        values[...] = X.values
    fits = 0 <= X._longest_square <= _FITS_SINGLE
    place = -1 if fits else _first_non_finite(values.reshape(-1))
    if place >= 0:
        raise ValueError(f"X holds a value too large for {dtype}: {X.values.reshape(-1)[place]}.")
    return _rows.make_rows(X.layout, n, d, values, X.indices, X.indptr, dtype)


def dense_array(X: Rows, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """What numpy makes of rows: a new array, if memory has room for it."""
    if copy is False:
        raise ValueError("copy must be None or True for Rows, got False: the array is new.")
    check_dense(*X.shape, X.dtype.itemsize)
    dense = X.toarray()
    return dense if dtype is None else dense.astype(dtype, copy=False)
