"""Feature names, targets and weights: everything at the door except X itself.

The texts follow scikit-learn where its checks or its users' warning filters look for them.
Missing values are found here, before any kernel sees them; nothing here writes to an array that
the caller owns, though what is returned may be that array.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._exceptions import warn
from ._params import Real, shown

__all__ = [
    "check_classification_targets",
    "check_feature_names",
    "check_feature_names_in",
    "check_n_features",
    "check_sample_weight",
    "check_target",
    "class_weight_vector",
    "effective_weight",
    "encode_known_labels",
    "encode_labels",
    "partial_fit_classes",
]


# ---------------------------------------------------------------- columns of X


def _column_names(X: Any) -> np.ndarray | None:
    """Return the column names of a data frame if all are strings, None for anything else."""
    # pyarrow's `columns` are the data, its `column_names` the names.
    names = getattr(X, "column_names", None)
    if names is None:
        is_frame = any(hasattr(X, mark) for mark in ("iloc", "__arrow_c_stream__", "get_columns"))
        names = getattr(X, "columns", None) if is_frame else None
    if names is None or len(names) == 0:
        return None
    names = np.array(list(names) + [None], dtype=object)[:-1]
    strings = sum(isinstance(name, str) for name in names)
    if 0 < strings < len(names):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but X has "
            f"column names of the types {', '.join(kinds)}; use X.columns = "
            "X.columns.astype(str)."
        )
    return names if strings else None


def check_feature_names(estimator: Any, X: Any, reset: bool) -> None:
    """Store, or compare with those stored, the column names of a data frame.

    To be called before anything else of X is looked at: a frame with other columns shall be
    refused for its names, whatever it holds.

    Parameters
    ----------
    estimator : Estimator
        Gets ``feature_names_in_``, or loses it, when `reset` is true.
    X : object
        What the user passed; frames of pandas, polars and pyarrow have names.
    reset : bool
        True in `fit` and the first `partial_fit`, False everywhere else.

    Raises
    ------
    ValueError
        If the names are not those seen by `fit`, in the same order.
    TypeError
        If some names are strings and some are not.
    """
    if type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_"):
        return
    names = _column_names(X)
    fitted = getattr(estimator, "feature_names_in_", None)
    if reset:
        if names is not None:
            estimator.feature_names_in_ = names
        elif fitted is not None:
            del estimator.feature_names_in_
        return
    kind = type(estimator).__name__
    if names is None and fitted is not None:
        warn(
            "UserWarning",
            f"X does not have valid feature names, but {kind} was fitted with feature names",
        )
    elif names is not None and fitted is None:
        warn("UserWarning", f"X has feature names, but {kind} was fitted without feature names")
    elif names is not None and not np.array_equal(names, fitted):
        raise ValueError(_names_differ(names, fitted))


def _names_differ(names: np.ndarray, fitted: np.ndarray) -> str:
    """Write how the names of a frame differ from those seen by fit."""
    text = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    if unseen:
        text += "Feature names unseen at fit time:\n" + _bullets(unseen)
    if missing:
        text += "Feature names seen at fit time, yet now missing:\n" + _bullets(missing)
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text


def _bullets(names: list[str], most: int = 5) -> str:
    """List the first few names, one a line."""
    lines = [f"- {name}\n" for name in names[:most]]
    return "".join(lines) + ("- ...\n" if len(names) > most else "")


def check_n_features(estimator: Any, n: int, reset: bool) -> None:
    """Store, or compare with the one stored, the number of columns.

    Parameters
    ----------
    estimator : Estimator
        Gets ``n_features_in_`` when `reset` is true.
    n : int
        Columns of X.
    reset : bool
        True in `fit` and the first `partial_fit`, False everywhere else.

    Raises
    ------
    ValueError
        If the number differs from that seen by `fit`.
    """
    if reset:
        estimator.n_features_in_ = int(n)
    elif n != estimator.n_features_in_:
        raise ValueError(
            f"X has {n} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


def check_feature_names_in(estimator: Any, input_features: Any = None) -> np.ndarray:
    """Return the input names for `get_feature_names_out`, made up if there are none.

    Parameters
    ----------
    estimator : Estimator
        A fitted estimator, or one that is stateless.
    input_features : array-like of str, optional
        Names given by the caller; they must be those seen by `fit`, if it saw any.

    Returns
    -------
    ndarray of str, dtype object

    Raises
    ------
    ValueError
        If the names given do not fit the estimator, or none are known.
    """
    fitted = getattr(estimator, "feature_names_in_", None)
    n = getattr(estimator, "n_features_in_", None)
    if input_features is not None:
        names = np.asarray(input_features, dtype=object)
        if fitted is not None and not np.array_equal(names, fitted):
            raise ValueError("input_features is not equal to feature_names_in_.")
        if n is not None and len(names) != n:
            raise ValueError(
                f"input_features should have length equal to number of features ({n}), "
                f"got {len(names)}."
            )
        return names
    if fitted is not None:
        return fitted
    if n is None:
        raise ValueError(
            f"{type(estimator).__name__} knows no number of features; pass input_features."
        )
    return np.array([f"x{j}" for j in range(n)], dtype=object)


# ---------------------------------------------------------------- targets


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
            f"X and y must have as many rows as each other: X has {n_samples} and y has "
            f"{len(array)}."
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers.")
    array = _as_float64(array, kind) if numeric else array
    _refuse_missing(array)
    return np.ascontiguousarray(array)


def _as_array(y: Any) -> np.ndarray:
    """Convert a list, series or array to an array, without turning numbers into strings."""
    if hasattr(y, "tocsr"):
        raise TypeError("y is a sparse matrix, but a dense target is required; use y.toarray().")
    if isinstance(y, (str, bytes, Mapping)) or np.isscalar(y):
        raise ValueError(f"y should be a 1d array, got {shown(y)} instead.")
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y should be a 1d array, got rows of different lengths: {error}") from None
    if array.ndim == 0:
        raise ValueError(f"y should be a 1d array, got {shown(y)} instead.")
    if array.dtype.kind in "US" and not hasattr(y, "dtype") and array.ndim == 1:
        # numpy writes [1, "a"] as ["1", "a"].
        _refuse_mixture(list(y))
    if array.dtype.kind == "O" and array.ndim == 1:
        return _narrow_objects(array)
    return array


def _narrow_objects(array: np.ndarray) -> np.ndarray:
    """Turn an object array of numbers into a numeric one; leave every other as it is."""
    values = array.tolist()
    if any(isinstance(value, (list, tuple, set, Mapping, np.ndarray)) for value in values):
        raise ValueError(
            "y should be a 1d array, but its elements are sequences; several labels per row are "
            "given as a matrix of zeros and ones."
        )
    missing = np.fromiter(map(_is_missing, values), bool, len(values))
    if missing.any():
        raise ValueError(
            f"Input y contains NaN: {shown(values[missing.argmax()])} at position "
            f"{missing.argmax()}."
        )
    if all(isinstance(value, (numbers.Number, np.bool_)) for value in values):
        narrow = np.array(values)
        return array if narrow.dtype.kind == "O" else narrow
    _refuse_mixture(values)
    return array


def _is_missing(value: Any) -> bool:
    """Say whether an object is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return not isinstance(value, (str, bytes)) and bool(value != value)


def _refuse_mixture(values: list) -> None:
    """Raise if some labels are strings and others are not."""
    kinds = {type(value) for value in values}
    strings = {kind for kind in kinds if issubclass(kind, (str, bytes))}
    if strings and strings != kinds:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"y must hold labels of one kind, all strings or all numbers; got {names}.")


def _as_float64(array: np.ndarray, kind: str) -> np.ndarray:
    """Convert a numeric target to float64."""
    if array.dtype.kind in "USmM":
        raise ValueError(f"y must hold numbers for {kind}, got values of dtype {array.dtype}.")
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"y must hold numbers for {kind}: {error}.") from None


def _refuse_missing(array: np.ndarray) -> None:
    """Raise ValueError that says where, if there is a NaN, NaT or infinity."""
    if array.dtype.kind in "mM":
        if np.isnat(array).any():
            raise ValueError("Input y contains NaN: NaT among dates.")
        return
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    place = np.argwhere(~np.isfinite(array))[0]
    where = ", ".join(map(str, place.tolist()))
    if np.isnan(array).any():
        place = ", ".join(map(str, np.argwhere(np.isnan(array))[0].tolist()))
        raise ValueError(f"Input y contains NaN, first at position {place}.")
    raise ValueError(
        f"Input y contains infinity or a value too large for dtype('float64'), first at "
        f"position {where}."
    )


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
        low, high = y.min().item(), y.max().item()
        # A table over the range replaces a sort where the labels lie close together.
        if high - low <= 4 * len(y) + 1024:
            place = (y.astype(np.int64) if y.dtype.kind in "bf" else y - y.dtype.type(low))
            place = place.astype(np.intp) - (int(low) if y.dtype.kind in "bf" else 0)
            present = np.zeros(int(high - low) + 1, dtype=bool)
            present[place] = True
            rank = np.cumsum(present, dtype=np.int32) - np.int32(1)
            return (np.flatnonzero(present) + int(low)).astype(y.dtype), rank[place]
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int32)


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
    rank = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in present.tolist() if label not in rank]
    if unknown:
        raise ValueError(
            f"y contains labels that are not among the classes: {_listed(unknown)}; the classes "
            f"are {_listed(classes.tolist())}."
        )
    table = np.array([rank[label] for label in present.tolist()], dtype=np.int32)
    return table[codes]


def _listed(values: list, most: int = 10) -> str:
    """Write a list of labels, shortened if there are many."""
    words = [repr(value) for value in values[:most]]
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
            f"classes of this call to partial_fit are {_listed(given.tolist())}, but those of the "
            f"first call were {_listed(known.tolist())}."
        )
    return given if known is None else known


# ---------------------------------------------------------------- weights


def check_sample_weight(sample_weight: Any, n_samples: int) -> np.ndarray | None:
    """Return sample weights as contiguous float64, or None if there are none.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), number or None
        A number is the weight of every row.
    n_samples : int
        Rows of X.

    Returns
    -------
    ndarray of shape (n_samples,), dtype float64, or None
        Never to be written to: it may be the caller's own array.

    Raises
    ------
    ValueError
        If a weight is negative, NaN or infinite, if all are zero, or if the shape is wrong.
    """
    if sample_weight is None:
        return None
    if hasattr(sample_weight, "tocsr"):
        raise TypeError("sample_weight must be a dense array, got a sparse matrix.")
    try:
        weight = np.asarray(sample_weight)
        if weight.dtype.kind not in "biufO":
            raise ValueError(f"its dtype is {weight.dtype}")
        weight = np.ascontiguousarray(weight, dtype=np.float64).reshape(weight.shape)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers: {error}.") from None
    if weight.ndim == 0:
        weight = np.full(n_samples, weight)
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array.")
    if len(weight) != n_samples:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(n_samples,)}: one weight per row."
        )
    wrong = ~((weight >= 0) & (weight < np.inf))
    if wrong.any():
        place = int(wrong.argmax())
        raise ValueError(
            f"sample_weight must be finite numbers >= 0, got {shown(weight[place])} at position "
            f"{place}."
        )
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weight


def class_weight_vector(
    class_weight: Any,
    classes: np.ndarray,
    codes: np.ndarray | None,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return the weight of each class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        A dict maps labels to weights; labels that it does not name weigh 1. "balanced" is
        S / (K * S_k), where S is the sum of all sample weights, S_k that of class k, and K the
        number of classes with S_k > 0. Sample weights count as repetitions.
    classes : ndarray of shape (n_classes,)
        The labels.
    codes : ndarray of shape (n_samples,) or None
        Index of each row's label; only "balanced" looks at it.
    sample_weight : ndarray of shape (n_samples,), optional
        What `check_sample_weight` returned.

    Returns
    -------
    ndarray of shape (n_classes,), dtype float64

    Raises
    ------
    ValueError
        If the dict names labels that do not occur; the message lists them.
    """
    weight = np.ones(len(classes))
    if class_weight is None:
        return weight
    if isinstance(class_weight, str):
        mass = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        present = mass > 0
        weight[present] = mass.sum() / (present.sum() * mass[present])
        return weight
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ValueError(
            f"class_weight names labels that are not in y: {_listed(unknown)}; the classes are "
            f"{_listed(labels)}."
        )
    for code, label in enumerate(labels):
        if label in class_weight:
            Real(0).check(f"class_weight[{label!r}]", class_weight[label])
            weight[code] = class_weight[label]
    return weight


def effective_weight(
    class_weight: Any,
    classes: np.ndarray,
    codes: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray | None:
    """Fold class weights into sample weights.

    Parameters
    ----------
    class_weight, classes, codes, sample_weight
        As in `class_weight_vector`.

    Returns
    -------
    ndarray of shape (n_samples,), dtype float64, or None
        None if every row weighs 1.

    Raises
    ------
    ValueError
        If nothing is left: class weights of 0 have met sample weights of 0.
    """
    if class_weight is None:
        return sample_weight
    weight = class_weight_vector(class_weight, classes, codes, sample_weight)[codes]
    if sample_weight is not None:
        weight *= sample_weight
    if not weight.any():
        raise ValueError(
            "class_weight and sample_weight leave no row with a weight; at least one must be > 0."
        )
    return weight
