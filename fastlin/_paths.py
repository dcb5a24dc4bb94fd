"""Regularisation paths: one penalty after the other from the strongest on, each from the last
answer, on one transposed copy of the rows; and the error of each on rows left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ._core.rows import Rows
from ._primal_cd import Search
from ._problem import Fit, Problem
from ._quadratic import add_columns

__all__ = ["alpha_grid", "fold_errors", "path"]

# An alpha_max below this is rounding: all of y is explained without X.
_LEAST_ALPHA = 1e-15


def alpha_grid(search: Search, l1_ratio: float, eps: float, n_alphas: int) -> np.ndarray:
    """Penalties in geometric steps from the smallest that leaves no weight to `eps` times it.

    Raises
    ------
    ValueError
        If `l1_ratio` is 0: no penalty is strong enough then.
    """
    if l1_ratio == 0:
        raise ValueError(
            "alphas must be given where l1_ratio is 0: without L1 no penalty makes all weights 0, "
            "so there is no place for a grid to begin. Pass an array."
        )
    largest = search.largest_l1() / l1_ratio
    if largest <= _LEAST_ALPHA:
        return np.full(n_alphas, _LEAST_ALPHA)
    return np.geomspace(largest, largest * eps, n_alphas)


def path(search: Search, problem: Problem, l1_ratio: float, alphas: np.ndarray, tol: float,
         max_iter: int) -> Iterator[Fit]:
    """The answer for each penalty, in the order given."""
    last = None
    for alpha in alphas:
        l1, l2 = float(alpha * l1_ratio), float(alpha * (1 - l1_ratio))
        last = search.run(replace(problem, l1=l1, l2=l2), tol, max_iter, last)
        yield last


def fold_errors(problem: Problem, columns: Rows, train: np.ndarray, test: np.ndarray,
                l1_ratio: float, alphas: np.ndarray, tol: float,
                max_iter: int) -> tuple[np.ndarray, Fit]:
    """(mean squared error on the rows `test` of the answer that the rows `train` give for each
    penalty, the answer with the largest duality gap).

    A fold is a weight of 0: the columns serve all of them as they are.
    """
    n = len(problem.y)
    weight = problem.weight if len(problem.weight) else np.ones(n)
    fold = replace(problem, weight=np.bincount(train, minlength=n) * weight)
    search, errors = Search(fold, columns), np.empty(len(alphas))
    worst = None
    for k, fit in enumerate(path(search, fold, l1_ratio, alphas, tol, max_iter)):
        z = np.full(n, fit.intercept)
        add_columns(columns, np.flatnonzero(fit.coef), fit.coef, z)
        errors[k] = np.average((problem.y[test] - z[test]) ** 2, weights=weight[test])
        if worst is None or fit.certificate.relative_gap > worst.certificate.relative_gap:
            worst = fit
    assert worst is not None
    return errors, worst
