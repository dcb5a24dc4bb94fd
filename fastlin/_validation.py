"""The door of every estimator except X itself: feature names, targets, weights.

The texts follow scikit-learn where its checks, or its users' warning filters, look for them.
Nothing here writes to an array that the caller owns, though what is returned may be that array.
Targets have a file of their own (`_targets`); their functions are to be imported from here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._exceptions import warn
from ._kinds import is_sparse, names_of_columns
from ._params import shown
from ._targets import (
    check_classification_targets,
    check_target,
    encode_known_labels,
    encode_labels,
    listed,
    partial_fit_classes,
    refuse_masked,
)

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


def _column_names(X: Any) -> np.ndarray | None:
    """Return the column names of a data frame if all are strings, None for anything else."""
    names = names_of_columns(X)
    if not names:
        return None
    strings = sum(isinstance(name, str) for name in names)
    if strings == len(names):
        return np.array(names, dtype=object)
    if strings:
        kinds = ", ".join(sorted({type(name).__name__ for name in names}))
        raise TypeError(
            "Feature names are only supported if all input features have string names, but X has "
            f"column names of the types {kinds}; use X.columns = X.columns.astype(str)."
        )
    return None


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
    if names is not None and fitted is not None:
        if not np.array_equal(names, fitted):
            raise ValueError(_names_differ(names, fitted))
    elif names is not None:
        warn("UserWarning", f"X has feature names, but {kind} was fitted without feature names")
    elif fitted is not None:
        warn(
            "UserWarning",
            f"X does not have valid feature names, but {kind} was fitted with feature names",
        )


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
    if is_sparse(sample_weight):
        raise TypeError("sample_weight must be a dense array, got a sparse matrix.")
    refuse_masked(sample_weight, "sample_weight")
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
        assert codes is not None
        mass = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        present = mass > 0
        weight[present] = mass.sum() / (present.sum() * mass[present])
        return weight
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ValueError(
            f"class_weight names labels that are not in y: {listed(unknown)}; the classes are "
            f"{listed(labels)}."
        )
    for code, label in enumerate(labels):
        if label in class_weight:
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
