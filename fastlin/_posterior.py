"""The Gaussian posterior of ridge regression.

With noise of variance v and the prior N(0, v/alpha I) of the weights, a flat prior of b, and rows
centred by their weighted mean c where b is free, the weights have the covariance v G^-1 with

    G = sum_i s_i (x_i - c)(x_i - c)^T + alpha I,

and an answer at x has the variance v (1 + 1/S + (x - c)^T G^-1 (x - c)), 1/S for b. The trace of
the map from y to its fit is d - alpha trace(G^-1), and 1 for b.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._centred import Centred, blocks
from ._cholesky import cholesky
from ._data import rows_of
from ._problem import Fit, Problem

__all__ = ["FEW_COLUMNS", "covariance", "kept_posterior", "standard_deviation"]

# Columns up to which the matrix is kept unasked: it costs less than the fit
FEW_COLUMNS = 256
# G^-1 of more columns is refused: 800 MB
_MOST_COLUMNS = 10_000
_SINGULAR = 1e-14


def kept_posterior(problem: Problem, fit: Fit, noise_variance: float | str | None
                   ) -> dict[str, Any]:
    """What the standard deviations need, or why it is not there under the key "missing"."""
    n, d = problem.X.shape
    factor = getattr(fit, "factor", None)
    if problem.positive:
        return {"missing": "the posterior under positive=True is not Gaussian"}
    if noise_variance is None and (d > FEW_COLUMNS or factor is None and n >= d):
        return {"missing": f"for more than {FEW_COLUMNS} columns, or without a factorisation, fit "
                           "keeps the posterior only if noise_variance is a number or 'estimate'"}
    if d > _MOST_COLUMNS:
        return {"missing": f"{d} columns are more than {_MOST_COLUMNS}, whose posterior fits into "
                           "memory"}
    total = problem.total_weight
    if factor is None:
        rows = Centred(problem)
        solve, rcond = cholesky(rows.gram(), problem.l2)
    else:
        rows, solve, rcond = factor.rows, factor.solve_scaled, factor.rcond
    if rcond < _SINGULAR:
        return {"missing": "the columns of X are linearly dependent and alpha is too small to tell "
                           "them apart"}
    inverse = solve(np.eye(d))
    inverse = 0.5 * (inverse + inverse.T)
    if noise_variance in (None, "estimate"):
        used = d - problem.l2 * float(np.trace(inverse)) + problem.fit_intercept
        free = total - used
        if not free > 1e-9 * total:
            return {"missing": f"{used:g} of {total:g} degrees of freedom are used, which leaves "
                               "none to estimate the noise from: give noise_variance"}
        errors = 2 * total * (fit.certificate.objective - problem.penalty(fit.coef))
        noise_variance = max(0.0, errors) / free
    return {
        "covariance": inverse * (noise_variance / total), "centre": rows.centre,
        "constant": noise_variance * (1 + (1 / total if problem.fit_intercept else 0.0)),
    }  # fmt: skip


def _kept(estimator: Any, what: str) -> dict[str, Any]:
    """What `fit` kept, if it did."""
    kept: dict[str, Any] = estimator._posterior
    if "missing" in kept:
        raise ValueError(f"{what} is not available: {kept['missing']}.")
    return kept


def covariance(estimator: Any) -> np.ndarray:
    """The covariance of the weights."""
    return np.array(_kept(estimator, "posterior_covariance()")["covariance"])


def standard_deviation(estimator: Any, X: Any) -> np.ndarray:
    """The standard deviation of y at each row of X."""
    kept = _kept(estimator, "return_std=True")
    rows = rows_of(estimator, X, reset=False)
    out = np.empty(len(rows))
    for start, block in blocks(rows, np.ones(len(rows)), kept["centre"]):
        along = ((block @ kept["covariance"]) * block).sum(axis=1)
        out[start : start + len(block)] = np.sqrt(kept["constant"] + np.maximum(along, 0.0))
    return out
