"""Targets: one checked array from whatever the user has, and class labels as codes.

Missing values are found here, with their position, before any kernel sees them. Labels of every
kind become int32 codes in O(n) where that is possible: a table for integers that lie close
together, a dict for strings; `numpy.unique` would sort all rows.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._exceptions import warn
from ._kinds import is_sparse
from ._params import is_nan, shown

__all__ = [
    "check_classification_targets",
    "check_target",
    "encode_known_labels",
    "encode_labels",
    "listed",
    "partial_fit_classes",
    "refuse_lazy",
    "refuse_masked",
]


def check_target(
    y: Any,
    estimator: Any,
    numeric: bool = False,
    n_samples: int | None = None,
    multi_output: bool = False,
) -> np.ndarray:
    """Return a target as a contiguous array without missing values.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The target; a column of shape (n_samples, 1) is taken with a DataConversionWarning.
    estimator : Estimator
        Named in the messages.
    numeric : bool
        True for regression: the result is float64.
    n_samples : int, optional
        Rows of X, with which the length is compared.
    multi_output : bool
        Whether two-dimensional targets are allowed.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Never to be written to: it may be the caller's own array.

    Raises
    ------
    ValueError
        If `y` is None, has another shape or length, or holds NaN, infinity or None.
    TypeError
        If strings and numbers are mixed, or `y` is sparse.
    """
    kind = type(estimator).__name__
    if y is None:
        raise ValueError(f"{kind} requires y to be passed, but the target y is None.")
    array = _as_array(y)
    if array.ndim == 2 and array.shape[1] == 1 and not multi_output:
        warn(
            "DataConversionWarning",
            "A column-vector y was passed when a 1d array was expected. Use y.ravel() to make it "
            "one of shape (n_samples,).",
        )
        array = array.ravel()
    if array.ndim != 1 and not (multi_output and array.ndim == 2):
        raise ValueError(
            f"y should be a 1d array, got an array of shape {array.shape} instead; {kind} takes "
            "one output, so fit one estimator per column."
        )
    if n_samples is not None and len(array) != n_samples:
        raise ValueError(
            f"X and y must have the same number of rows: X has {n_samples} and y has {len(array)}."
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers.")
    array = _as_float64(array, kind) if numeric else array
    _refuse_missing(array)
    return np.ascontiguousarray(array)


def _as_array(y: Any) -> np.ndarray:
    """Convert a list, series or array to an array, without turning numbers into strings."""
    if is_sparse(y):
        raise TypeError("y is a sparse matrix, but a dense target is required; use y.toarray().")
    refuse_masked(y, "y")
    refuse_lazy(y, "y")
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            f"y should be a 1d array, got rows of different lengths: {error}"
        ) from None
    if array.ndim == 0 or array.dtype.kind == "V":
        raise ValueError(f"y should be a 1d array, got {shown(y)} instead.")
    if array.dtype.kind in "US" and isinstance(y, (list, tuple)) and array.ndim == 1:
        # numpy writes [1, "a"] as ["1", "a"].
        _refuse_mixture(set(map(type, y)))
    if array.dtype.kind == "T":
        array = array.astype(object)
    return _narrow_objects(array) if array.dtype.kind == "O" else array


def refuse_masked(values: Any, name: str) -> None:
    """Raise for a masked array that hides values: numpy would silently use what is below."""
    if type(values).__name__ == "MaskedArray" and np.any(values.mask):
        raise ValueError(f"Input {name} contains NaN: some of its values are masked.")


def refuse_lazy(values: Any, name: str) -> None:
    """Raise for a query of polars that has not been run: numpy would see one object."""
    if type(values).__name__ == "LazyFrame" and hasattr(values, "collect"):
        raise TypeError(
            f"{name} is a polars LazyFrame, which holds no data yet; pass {name}.collect()."
        )


def _narrow_objects(array: np.ndarray) -> np.ndarray:
    """Turn an object array of numbers into a numeric one; leave other labels as they are."""
    values = array.ravel().tolist()
    kinds = set(map(type, values))
    if kinds == {str}:
        return array
    if any(issubclass(kind, (list, tuple, set, Mapping, np.ndarray)) for kind in kinds):
        raise ValueError(
            "y should be a 1d array, but its elements are sequences; estimators that take several "
            "labels per row read them as a matrix of zeros and ones or as a list of sets."
        )
    missing = next((place for place, value in enumerate(values) if _is_missing(value)), None)
    if missing is not None:
        raise ValueError(
            f"Input y contains NaN or None: {shown(values[missing])} at position {missing}."
        )
    if not all(issubclass(kind, (numbers.Number, np.bool_)) for kind in kinds):
        _refuse_mixture(kinds)
        return array
    narrow = np.array(values)
    return array if narrow.dtype.kind == "O" else narrow.reshape(array.shape)


def _is_missing(value: Any) -> bool:
    """Say whether an object is None, NaN, NaT or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or is_nan(value)


def _refuse_mixture(kinds: set[type]) -> None:
    """Raise if some labels are strings and others are not."""
    strings = {kind for kind in kinds if issubclass(kind, (str, bytes))}
    if strings and strings != kinds:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"y must hold labels of one kind, all strings or all numbers; got {names}.")


def _as_float64(array: np.ndarray, kind: str) -> np.ndarray:
    """Convert a numeric target to float64."""
    text = array.dtype.kind == "O" and array.size and isinstance(array.flat[0], (str, bytes))
    if text or array.dtype.kind not in "biufO":
        raise ValueError(f"y must hold numbers for {kind}, got {shown(array.flat[0])}.")
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"y must hold numbers for {kind}: {error}.") from None


def _refuse_missing(array: np.ndarray) -> None:
    """Raise ValueError that says what and where, if there is a NaN, NaT or infinity."""
    if array.dtype.kind not in "fmM" or np.isfinite(array).all():
        return
    nan = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
    what = "NaN" if nan.any() else "infinity or a value too large for dtype('float64')"
    wrong = nan if nan.any() else ~np.isfinite(array)
    place = ", ".join(map(str, np.argwhere(wrong)[0].tolist()))
    raise ValueError(f"Input y contains {what}, first at position {place}.")


def check_classification_targets(y: np.ndarray) -> None:
    """Refuse a target that is meant for regression.

    Parameters
    ----------
    y : ndarray
        What `check_target` returned.

    Raises
    ------
    ValueError
        If some of the numbers are not whole.
    """
    if y.dtype.kind != "f":
        return
    fraction = y != np.trunc(y)
    if fraction.any():
        raise ValueError(
            "Unknown label type: continuous. Classes are strings or whole numbers, but y holds "
            f"{shown(y[fraction][0])}; use a regressor, or cut y into classes."
        )


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct labels and, for each row, the index of its label.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        What `check_target` returned: numbers, booleans, strings or other sortable objects.

    Returns
    -------
    classes : ndarray of shape (n_classes,), dtype of y
    codes : ndarray of shape (n_samples,), dtype int32

    Raises
    ------
    ValueError
        If the labels are numbers that are not whole ("Unknown label type: continuous").
    TypeError
        If labels cannot be compared with each other.
    """
    check_classification_targets(y)
    if y.dtype.kind in "OUS":
        return _encode_objects(y)
    if y.dtype.kind in "biuf" and len(y):
        low, high = y.min(), y.max()
        # A table over the range replaces a sort where the labels lie close together.
        if high.item() - low.item() <= 4 * len(y) + 1024:
            return _encode_close(y, low)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int32)


def _encode_close(y: np.ndarray, low: np.generic) -> tuple[np.ndarray, np.ndarray]:
    """Encode whole numbers of a short range."""
    # Differences of a narrow type would overflow: int8 holds no 127 - (-128).
    wide = y.dtype if y.dtype.itemsize >= 8 else np.dtype(f"{'f' if y.dtype.kind == 'f' else 'i'}8")
    place = np.empty(len(y), np.intp)
    np.subtract(y, wide.type(low), out=place, dtype=wide, casting="unsafe")
    table = np.zeros(int(place.max()) + 1, dtype=y.dtype)
    present = np.zeros(len(table), dtype=bool)
    present[place], table[place] = True, y
    rank = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return table[present], rank[place]


def _encode_objects(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Encode strings and objects through a dict: a sort would compare n log n of them."""
    values = y.tolist()
    try:
        distinct = sorted(dict.fromkeys(values))
    except TypeError as error:
        raise TypeError(f"y must hold labels that can be sorted and hashed: {error}.") from None
    classes = np.empty(len(distinct), dtype=y.dtype)
    classes[:] = distinct
    rank = {label: code for code, label in enumerate(distinct)}
    return classes, np.fromiter(map(rank.__getitem__, values), np.int32, len(values))


def encode_known_labels(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the index of each label among known classes.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        What `check_target` returned.
    classes : ndarray of shape (n_classes,)
        The distinct known labels, in any order.

    Returns
    -------
    ndarray of shape (n_samples,), dtype int32

    Raises
    ------
    ValueError
        If a label is not among the classes; the message lists both.
    """
    present, codes = encode_labels(y)
    if present.dtype.kind in "mM" and classes.dtype.kind in "mM":
        # Dates become ints or objects in a list, by their unit.
        present = present.astype(classes.dtype)
    rank = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in present.tolist() if label not in rank]
    if unknown:
        raise ValueError(
            f"y contains labels that are not among the classes: {listed(unknown)}; the classes "
            f"are {listed(classes.tolist())}."
        )
    table = np.array([rank[label] for label in present.tolist()], dtype=np.int32)
    return table[codes]


def listed(values: Sequence, most: int = 10, spell: Callable[[Any], str] = repr) -> str:
    """Write a list of labels or names, shortened if there are many."""
    words = [spell(value) for value in values[:most]]
    return ", ".join(words) + (f", ... ({len(values)} in all)" if len(values) > most else "")


def partial_fit_classes(estimator: Any, classes: Any) -> np.ndarray:
    """Return the classes that `partial_fit` works with.

    Parameters
    ----------
    estimator : Estimator
        ``classes_`` is there from the second call on.
    classes : array-like or None
        The argument of `partial_fit`: needed in the first call, and the same ever after.

    Returns
    -------
    ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If the first call has no classes, or a later one has others; it lists old and new ones.
    """
    known = getattr(estimator, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return known
    given = encode_labels(check_target(classes, estimator))[0]
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes of this call to partial_fit are {listed(given.tolist())}, but those of the "
            f"first call were {listed(known.tolist())}."
        )
    return given if known is None else known
