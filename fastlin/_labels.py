"""Class labels on their way into a fit: numbers, weights, and classes that no row stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._exceptions import warn
from ._validation import effective_weight, encode_labels, listed

__all__ = ["absent_classes", "labels_of", "weights_of"]


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
