"""What exact estimators do before and after a solver: the last answer to start from, and the
refusal of one that is not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._sparse_weights import dense_weights

__all__ = ["check_finite", "last_weights"]


def last_weights(estimator: Any, n_outputs: int, d: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(coef of shape (n_outputs, d), intercepts) of the fit before with warm_start, else None."""
    if not getattr(estimator, "warm_start", False) or not hasattr(estimator, "coef_"):
        return None
    coef = dense_weights(estimator).astype(np.float64)
    if coef.shape != (n_outputs, d):
        raise ValueError(
            f"warm_start goes on from coef_ of shape {coef.shape}, but this fit has "
            f"{(n_outputs, d)}; fit with warm_start=False."
        )
    if not estimator.fit_intercept:
        return coef, np.zeros(n_outputs)
    intercept = np.asarray(estimator.intercept_, dtype=np.float64)
    return coef, np.broadcast_to(intercept, (n_outputs,)).copy()


def check_finite(coef: np.ndarray, intercept: Any, dtype: np.dtype, numeric: bool) -> None:
    """Refuse weights that are no numbers of that type; `numeric` targets may be to blame."""
    most = np.finfo(dtype).max
    low, high = coef.min(initial=0.0), coef.max(initial=0.0)
    if -most <= low and high <= most:
        what, value = "intercept_", intercept
    else:
        what, value = "coef_", low if abs(low) > abs(high) else high
    if what == "intercept_" and np.isfinite(intercept).all():
        return
    (worst,) = np.ravel(value)[~(np.abs(np.ravel(value)) <= most)][:1]
    raise ValueError(
        f"Floating-point overflow: {what} would hold {worst:.2g} in {np.dtype(dtype).name}. Scale "
        "and centre the columns of X"
        + (", divide y by a constant" if numeric else "")
        + (", or pass X as float64." if dtype == np.float32 else ".")
    )
