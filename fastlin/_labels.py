"""Class labels on their way into a fit: numbers, weights, and classes that no row stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._exceptions import warn
from ._kinds import is_sparse
from ._validation import effective_weight, encode_labels, listed

__all__ = ["absent_classes", "check_all_know", "fractions", "labels_of", "weights_of"]


def labels_of(estimator: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(classes, number of each row's class); under warm_start the classes must be those of the fit
    before."""
    old = getattr(estimator, "classes_", None) if getattr(estimator, "warm_start", False) else None
    classes, codes = encode_labels(y)
    if old is not None and not np.array_equal(old, classes):
        raise ValueError(
            f"warm_start goes on from the classes {listed(old.tolist())}, but y holds "
            f"{listed(classes.tolist())}; fit with warm_start=False."
        )
    return classes, codes


def weights_of(estimator: Any, classes: np.ndarray, codes: np.ndarray,
               sample_weight: np.ndarray | None) -> tuple[np.ndarray | None, list]:
    """(sample weights with the class weights in them or None, numbers of the absent classes)."""
    weight = effective_weight(estimator.class_weight, classes, codes, sample_weight)
    return weight, absent_classes(classes, np.bincount(codes, weight, len(classes)))


def absent_classes(classes: np.ndarray, mass: np.ndarray) -> list:
    """Classes whose rows all weigh 0, with a warning; fewer than two others are an error."""
    absent = np.flatnonzero(mass == 0).tolist()
    if len(classes) - len(absent) < 2:
        left = listed(classes[mass > 0].tolist())
        raise ValueError(
            f"The number of classes has to be greater than one; got 1 class "
            f"with a sample_weight above 0: {left}."
        )
    if absent:
        warn(
            "UserWarning",
            f"all rows of the classes {listed(classes[absent].tolist())} have weight 0: they keep "
            "their places in classes_ and are never predicted.",
        )
    return absent


def check_all_know(models: list[Any], classes: np.ndarray) -> None:
    """Refuse models of folds some of which have not seen a class."""
    for k, model in enumerate(models):
        if len(model.classes_) < len(classes):
            missing = np.setdiff1d(classes, model.classes_).tolist()
            raise ValueError(
                "refit=False averages the weights of all folds, but the training rows of fold "
                f"{k} have no row of class {listed(missing)}; use refit=True, or a cv that keeps "
                "all classes in each fold, such as StratifiedKFold."
            )


def fractions(y: Any) -> np.ndarray | None:
    """A matrix of numbers in [0, 1], some of them neither 0 nor 1, which labels would be; None for
    any other target."""
    if isinstance(y, (list, tuple)):
        if not len(y) or not isinstance(y[0], (list, tuple, np.ndarray)):
            return None
    elif len(getattr(y, "shape", ())) != 2:
        return None
    sparse = is_sparse(y)
    try:
        table = y if sparse else np.asarray(y)
    except ValueError:
        return None  # rows of different lengths
    if table.dtype.kind != "f" or table.ndim != 2 or table.shape[1] < 2:
        return None
    # a sparse matrix of labels, of which there may be many, is not filled up to find that out
    stored = y.tocoo().data if sparse else table
    within = (((stored >= 0) & (stored <= 1)) | np.isnan(stored)).all()
    if not within or not ((stored > 0) & (stored < 1)).any():
        return None
    table = y.toarray() if sparse else table
    undefined = np.isnan(table)
    if undefined.any():
        row, column = np.argwhere(undefined)[0]
        raise ValueError(f"Input y contains NaN, in row {row} and column {column}.")
    return table.astype(np.float64)
