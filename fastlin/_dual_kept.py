"""Dual variables that a model keeps with warm_start=True: an ascent on losses made of lines can't
tell them from the weights."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["keep_duals", "kept_dual"]


def keep_duals(estimator: Any, duals: list[np.ndarray | None]) -> None:
    """Keep those of all outputs, if they are wanted and each has as many."""
    vars(estimator).pop("_duals", None)
    known = [dual for dual in duals if dual is not None and len(dual)]
    alike = len(known) == len(duals) and len({dual.shape for dual in known}) == 1
    if getattr(estimator, "warm_start", False) and alike:
        estimator._duals = np.array(known, dtype=np.float64)


def kept_dual(estimator: Any, at: int, n_outputs: int) -> np.ndarray | None:
    """Those of an output, if there are as many outputs as there were."""
    duals = getattr(estimator, "_duals", None)
    if duals is None or len(duals) != n_outputs or not np.isfinite(duals[at]).all():
        return None
    return duals[at]
