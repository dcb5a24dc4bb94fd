"""Columns of categories: any table as integer codes and the distinct values behind them.

Everything that looks at a value more than once looks at the distinct values only, so the work per
cell is one lookup: in a table for integers of a small range, in the frame library's own
dictionary for its categoricals and strings, in a dict (from compiled code) for objects. Sorting
every column, as `numpy.unique` does, takes five to ten times as long.

Each column keeps its own type. Missing values are None or NaN; what pandas calls NA counts as NaN.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._core.encode import number_objects
from ._core.strings import ArrowStrings
from ._exceptions import errors_about
from ._kinds import is_sparse
from ._parallel import run
from ._params import is_nan
from ._targets import refuse_lazy, refuse_masked

__all__ = [
    "Coded",
    "as_table",
    "coded_columns",
    "is_frame",
    "is_missing",
    "missing_mask",
    "missing_values",
    "raise_missing",
    "table_shape",
    "table_width",
    "without_missing",
]

# Integers that span no more than this, or than a few times their number, are looked up in a table.
_SMALL_SPAN = 1 << 16
# Cells that are numbered in one go, some milliseconds.
_PIECE = 1 << 18
_NEVER_MISSING = {str, bytes, int, bool}
_KINDS = "biufUSOMm"


class Coded(NamedTuple):
    """One column: row i holds values[codes[i]].

    `values` are distinct, in no particular order, and each occurs; at most one is NaN and, in
    object columns, one is None.
    """

    codes: np.ndarray
    values: np.ndarray


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN, NaT or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or is_nan(value)


def missing_mask(cells: list) -> np.ndarray:
    """Say of each object whether it is missing; quick where the types rule it out."""
    if set(map(type, cells)) <= _NEVER_MISSING:
        return np.zeros(len(cells), bool)
    return np.fromiter(map(is_missing, cells), bool, len(cells))


def missing_values(values: np.ndarray) -> np.ndarray:
    """Say of each value of a column whether it is missing."""
    kind = values.dtype.kind
    if kind == "f":
        return np.isnan(values)
    if kind in "mM":
        return np.isnat(values)
    return missing_mask(values.tolist()) if kind == "O" else np.zeros(len(values), bool)


def raise_missing(column: Coded, lost: np.ndarray, j: int, name: str | None) -> None:
    """Raise for the first missing value of a column."""
    row = int(lost[column.codes].argmax())
    shown = "" if name is None else f" ({name!r})"
    raise ValueError(
        f"column {j} of X{shown} has a missing value in row {row}; handle_missing='category' makes "
        "it a category of its own, 'ignore' encodes it as zeros."
    )


def without_missing(column: Coded, refuses: bool, j: int, name: str | None) -> Coded:
    """Return a column without its missing values, whose rows get the code -1.

    Parameters
    ----------
    column : Coded
    refuses : bool
        Whether a missing value is a ValueError instead.
    j, name : int, str or None
        Number and name of the column, for the error.
    """
    lost = missing_values(column.values)
    if not lost.any():
        return column
    if refuses:
        raise_missing(column, lost, j, name)
    codes = np.where(lost, -1, np.cumsum(~lost) - 1).astype(np.int32)
    return Coded(codes[column.codes], column.values[~lost])


def table_shape(X: Any) -> tuple[int, int]:
    """Check that X is a table; its numbers of rows and columns."""
    if is_sparse(X):
        raise TypeError(
            "Sparse data was passed for X, but categories need dense data; use X.toarray()."
        )
    shape = getattr(X, "shape", None)
    if shape is None:
        raise ValueError("X must be a table with two dimensions.")
    if len(shape) != 2:
        raise ValueError(
            f"Expected 2D array, got an array of shape {tuple(shape)}. Reshape your data either "
            "using X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it is a "
            "single sample."
        )
    n, d = map(int, shape)
    for number, noun in ((n, "sample"), (d, "feature")):
        if number == 0:
            raise ValueError(f"0 {noun}(s) (shape=({n}, {d})) while a minimum of 1 is required.")
    return n, d


def is_frame(X: Any) -> bool:
    """Say whether X is a data frame of pandas or polars, or a table of pyarrow."""
    return any(hasattr(X, name) for name in ("iloc", "get_columns", "column_names"))


def table_width(X: Any) -> int:
    """Return the number of columns of a table, whose cells are not looked at."""
    return table_shape(X if is_frame(X) else as_table(X))[1]


def coded_columns(X: Any, n_jobs: int | None = None) -> list[Coded]:
    """Return every column of a table as codes and values.

    Parameters
    ----------
    X : array-like or data frame
    n_jobs : int or None
        Threads; what does not look at Python objects runs beside each other.

    Raises
    ------
    ValueError
        If X is no table, is empty, or holds complex numbers or infinities.
    TypeError
        If X is sparse, or a cell cannot be a category (it is not hashable).
    """
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" and hasattr(X, "iloc"):
        column, code = (lambda j: X.iloc[:, j]), _pandas_column
    elif library == "polars" and hasattr(X, "to_series"):
        column, code = X.to_series, _polars_column
    elif library == "pyarrow" and hasattr(X, "column_names"):
        column, code = X.column, _arrow_column
    else:
        X = as_table(X)
        column, code = (lambda j: X[:, j]), _coded
    _, d = table_shape(X)
    return run([lambda j=j: _named_errors(code, column, j) for j in range(d)], n_jobs)


def _named_errors(code: Callable, column: Callable, j: int) -> Coded:
    """Code column j; errors say which column they are about."""
    with errors_about(f"column {j} of X"):
        return code(column(j))


def as_table(X: Any) -> np.ndarray:
    """Return what is no frame as an array; lists that mix types keep their objects."""
    if is_sparse(X):
        table_shape(X)
    refuse_masked(X, "X")
    refuse_lazy(X, "X")
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US" and not hasattr(X, "dtype"):
            # numpy would turn the numbers of a mixed list into text.
            array = np.array(X, dtype=object)
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"X must be a table, got rows that don't fit: {reason}.") from None
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers.")
    if array.dtype.kind not in _KINDS:
        raise ValueError(f"X must hold numbers, strings or objects, got dtype {array.dtype}.")
    return array


def _coded(column: np.ndarray) -> Coded:
    """Code a one-dimensional array."""
    kind = column.dtype.kind
    if kind not in "OUS":
        # One pass over a strided column, not one per operation.
        column = np.ascontiguousarray(column)
    if kind in "biu":
        return _coded_integers(column)
    if kind == "f":
        return _coded_floats(column)
    if kind in "Mm":
        values, codes = np.unique(column, return_inverse=True)
        return Coded(codes, values)
    codes, cells = _numbered(column)
    if kind != "O":
        return Coded(codes, np.array(cells, dtype=column.dtype))
    return _with_one_nan(codes, cells)


def _coded_integers(column: np.ndarray) -> Coded:
    """Code integers or booleans, by a table where their span allows."""
    if column.dtype == bool:
        coded = _coded_integers(column.view(np.uint8))
        return Coded(coded.codes, coded.values.astype(bool))
    low, high = int(column.min()), int(column.max())
    if high - low > max(_SMALL_SPAN, 4 * len(column)):
        values, codes = np.unique(column, return_inverse=True)
        return Coded(codes, values)
    # 64-bit differences: those of int8 would overflow, and a small span fits anyway.
    wide = np.uint64 if column.dtype.kind == "u" else np.int64
    places = (column.astype(wide, copy=False) - wide(low)).view(np.int64)
    occurs = np.zeros(high - low + 1, bool)
    occurs[places] = True
    present = np.flatnonzero(occurs)
    # One more code than there are values: a missing one may come.
    kind = np.min_scalar_type(-len(present) - 1)
    table = np.zeros(high - low + 1, kind)
    table[present] = np.arange(len(present), dtype=kind)
    return Coded(table[places], (present.astype(wide) + wide(low)).astype(column.dtype))


def _coded_floats(column: np.ndarray) -> Coded:
    """Code floats: NaN is a value, infinity is an error."""
    if np.isinf(column).any():
        raise ValueError("Input X contains infinity, which is no category.")
    nan = np.isnan(column)
    has_nan = bool(nan.any())
    filled = np.where(nan, column.dtype.type(0), column) if has_nan else column
    # Codes and counts often come as floats, and integers are faster to tell apart.
    if float(np.abs(filled).max()) < 2**53 and (filled == np.trunc(filled)).all():
        codes, values = _coded_integers(filled.astype(np.int64))
    else:
        values, codes = np.unique(filled, return_inverse=True)
    values = values.astype(column.dtype)
    if not has_nan:
        return Coded(codes, values)
    codes[nan] = len(values)
    return _only_present(codes, np.append(values, column.dtype.type(np.nan)))


def _only_present(codes: np.ndarray, values: np.ndarray) -> Coded:
    """Drop the values that no row holds."""
    present = np.zeros(len(values), bool)
    present[codes] = True
    if present.all():
        return Coded(codes, values)
    return Coded((np.cumsum(present) - 1)[codes], values[present])


def _numbered(column: np.ndarray) -> tuple[np.ndarray, list]:
    """Number the distinct objects of a column in the order of their first occurrence."""
    numbers: dict = {}
    codes = np.empty(len(column), np.int32)
    try:
        for start in range(0, len(column), _PIECE):
            cells = column[start : start + _PIECE]
            if column.dtype != object:
                cells = cells.astype(object)
            number_objects(cells, numbers, codes[start : start + _PIECE])
    except TypeError:
        unhashable = [type(cell).__name__ for cell in column.tolist() if not _is_hashable(cell)]
        if not unhashable:
            raise
        raise TypeError(
            "argument must be a string, a number or another hashable object, got a "
            f"cell of type {unhashable[0]}."
        ) from None
    return codes, list(numbers)


def _is_hashable(cell: Any) -> bool:
    """Say whether a cell can be looked up; a tuple of lists cannot."""
    try:
        hash(cell)
    except TypeError:
        return False
    return True


def _object_array(values: list) -> np.ndarray:
    """Put objects into an array as they are, also such as numpy would unpack."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _with_one_nan(codes: np.ndarray, cells: list) -> Coded:
    """Merge all values that are NaN (they differ from each other) and let them be numpy's."""
    values = _object_array(cells)
    nan = missing_mask(cells)
    nan[nan] = [cells[i] is not None for i in np.flatnonzero(nan)]
    if not nan.any():
        return Coded(codes, values)
    new = np.cumsum(~nan) - 1
    new[nan] = len(values) - nan.sum()
    return Coded(new[codes], _object_array([*values[~nan].tolist(), np.nan]))


def _from_dictionary(codes: np.ndarray, values: np.ndarray, missing: Any = np.nan) -> Coded:
    """Take over a dictionary-encoded column, whose missing cells have the code -1."""
    inner = _coded(values) if len(values) else Coded(np.empty(0, np.int32), values)
    values, lost = inner.values, codes < 0
    if not lost.any():
        return _only_present(inner.codes[codes], values)
    if values.dtype.kind == "f" or values.dtype.kind in "iu" and _are_floats(values):
        values = values.astype(np.float64, copy=False)
    # Arrow's dictionaries may hold a null of their own, and what has no index is the same.
    missing_ones = np.flatnonzero(missing_values(values))
    place = int(missing_ones[0]) if len(missing_ones) else len(values)
    if place == len(values):
        values = _with_missing(values, missing)
    # The code -1 finds the last of the inner codes.
    return _only_present(np.append(inner.codes, place)[codes], values)


def _with_missing(values: np.ndarray, missing: Any) -> np.ndarray:
    """Append a missing value, in objects the one given."""
    if values.dtype.kind in "mM":
        return np.append(values, values.dtype.type("NaT"))
    if values.dtype.kind == "f":
        return np.append(values, np.nan)
    return _object_array([*values.tolist(), missing])


def _are_floats(values: np.ndarray) -> bool:
    """Whether float64 tells integers apart."""
    exact = 2**53
    return bool(((values >= -exact) & (values <= exact)).all())


def _coded_strings(column: Any, missing: Any) -> Coded | None:
    """Code a column of strings that can be had as Arrow's; None for any other."""
    try:
        strings = ArrowStrings(column.__arrow_c_stream__())
    except (ImportError, AttributeError, NotImplementedError):
        return None  # no pyarrow, or one that has no such type
    if strings.length < 0:
        return None
    codes = np.empty(strings.length, np.int32)
    for start in range(0, len(codes), _PIECE):
        strings.number(codes, start, min(start + _PIECE, len(codes)))
    values = strings.values()
    lost = codes < 0
    if lost.any():
        codes[lost] = len(values)
        values.append(missing)
    return Coded(codes, _object_array(values))


def _pandas_column(column: Any) -> Coded:
    """Code a pandas Series."""
    if hasattr(column, "cat"):
        return _from_dictionary(column.cat.codes.to_numpy(), column.cat.categories.to_numpy())
    if isinstance(column.dtype, np.dtype):
        return _coded(column.to_numpy())
    if str(column.dtype).startswith("str"):
        coded = _coded_strings(column, np.nan)
        if coded is not None:
            return coded
    codes, values = column.factorize()
    return _from_dictionary(codes, values.to_numpy())


def _polars_column(column: Any) -> Coded:
    """Code a polars Series."""
    polars = sys.modules["polars"]
    name = str(column.dtype.base_type())
    if name in ("Categorical", "Enum"):
        known = column.unique().drop_nulls()
        # Physical codes may be shared with other columns: number those of this one.
        numbers = {code: i for i, code in enumerate(known.to_physical().to_list())}
        physical = _coded_integers(_filled(column.to_physical(), polars))
        codes = np.array([numbers.get(code, -1) for code in physical.values.tolist()])
        return _from_dictionary(
            codes[physical.codes], _object_array(known.cast(str).to_list()), None
        )
    coded = _coded_strings(column, None) if name == "String" else None
    if coded is None and column.null_count() and column.dtype.is_integer():
        inner = _coded(column.fill_null(0).to_numpy())
        codes = np.where(column.is_null().to_numpy(), -1, inner.codes)
        return _from_dictionary(codes, inner.values, None)
    return _coded(column.to_numpy()) if coded is None else coded


def _filled(codes: Any, polars: Any) -> np.ndarray:
    """Return polars' codes with -1 for null."""
    return codes.cast(polars.Int32).fill_null(-1).to_numpy()


def _arrow_column(column: Any) -> Coded:
    """Code a pyarrow ChunkedArray."""
    coded = _coded_strings(column, None)
    if coded is not None:
        return coded
    if not hasattr(column.type, "value_type") or not hasattr(column.type, "index_type"):
        column = column.dictionary_encode()
    array = column.unify_dictionaries().combine_chunks()
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return _from_dictionary(codes, array.dictionary.to_numpy(zero_copy_only=False), None)
