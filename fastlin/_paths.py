"""Regularisation paths: one penalty after the other from the strongest on, each from the last
answer, on one transposed copy of the rows or event by event; and the error of each on rows left
out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ._blocks import matvec
from ._gram import MOST_TURNS, GramPath, is_for_products
from ._homotopy import Homotopy, is_for_homotopy
from ._primal_cd import Search
from ._problem import Fit, Problem
from ._quadratic import add_columns
from ._row_slices import rows_taken
from ._transpose import Columns
from ._working_set import largest_l1

__all__ = ["alpha_grid", "fold_errors", "path"]

# An alpha_max below this is rounding: all of y is explained without X.
_LEAST_ALPHA = 1e-15


def alpha_grid(problem: Problem, l1_ratio: float, eps: float, n_alphas: int) -> np.ndarray:
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
    largest = largest_l1(problem) / l1_ratio
    if largest <= _LEAST_ALPHA:
        return np.full(n_alphas, _LEAST_ALPHA)
    return np.geomspace(largest, largest * eps, n_alphas)


def path(problem: Problem, columns: Columns | None, l1_ratio: float, alphas: np.ndarray,
         tol: float, max_iter: int) -> Iterator[Fit]:
    """The answer for each penalty, in the order given, on these columns or a copy that is made when
    it is needed."""
    last, search = None, None
    lasso = problem.loss == "squared_error" and l1_ratio == 1
    steps = Homotopy(problem) if lasso and is_for_homotopy(problem.X) else None
    for alpha in alphas:
        here = replace(problem, l1=float(alpha * l1_ratio), l2=float(alpha * (1 - l1_ratio)))
        turns = 0
        if steps is not None and here.l1 > 0:
            last = steps.run(here, tol, max_iter)
            turns = last.n_iter
            if last.converged:
                yield last
                continue
        search = search or Search(problem, columns)
        last = search.run(here, tol, max_iter, last, turns)
        yield last


def fold_errors(problem: Problem, columns: Columns, train: np.ndarray, test: np.ndarray,
                l1_ratio: float, alphas: np.ndarray, tol: float,
                max_iter: int) -> tuple[np.ndarray, Fit]:
    """(mean squared error on the rows `test` of the answer that the rows `train` give for each
    penalty, the answer with the largest duality gap).

    A fold is a weight of 0: the columns serve all of them as they are.
    """
    n = len(problem.y)
    weight = problem.weight if len(problem.weight) else np.ones(n)
    fold = replace(problem, weight=np.bincount(train, minlength=n) * weight)
    little = is_for_products(problem.X)
    if little:
        few = rows_taken(problem.X, test)
        fits = _by_products(fold, columns, l1_ratio, alphas, tol, max_iter)
    else:
        fits = path(fold, columns, l1_ratio, alphas, tol, max_iter)
    errors, worst = np.empty(len(alphas)), None
    total = float(weight[test].sum())
    for k, fit in enumerate(fits):
        if little:
            z = matvec(few, fit.coef, fit.intercept)
        else:
            # the columns of few weights; a copy of the rows would cost more
            z, support = np.full(n, fit.intercept), np.flatnonzero(fit.coef)
            columns.need(support)
            add_columns(columns.rows, support, fit.coef, z)
            z = z[test]
        left = problem.y[test] - z
        errors[k] = float(weight[test] @ np.square(left)) / total
        if worst is None or fit.certificate.relative_gap > worst.certificate.relative_gap:
            worst = fit
    assert worst is not None
    return errors, worst


def _by_products(problem: Problem, columns: Columns, l1_ratio: float, alphas: np.ndarray,
                 tol: float, max_iter: int) -> Iterator[Fit]:
    """The same as `path` on little data, by the Gram matrix of all columns."""
    # what overflows is left to the search, as what is not good enough
    with np.errstate(over="ignore", invalid="ignore"):
        steps = GramPath(problem, alphas * l1_ratio, alphas * (1 - l1_ratio))
    most, k, w, search = min(max_iter, MOST_TURNS), 0, np.zeros(problem.X.shape[1]), None
    while k < len(alphas):
        first, k = k, steps.go_on(k, w, tol, most)
        done = k if steps.is_good(k - 1, tol) else k - 1
        for i in range(first, done):
            yield steps.fit(i, tol)
        w = steps.coef[k - 1]
        if done == k:
            continue
        # more turns than products of pairs are worth, or a gap that their rounding hides
        search = search or Search(problem, columns)
        l1, l2 = float(alphas[done] * l1_ratio), float(alphas[done] * (1 - l1_ratio))
        start = steps.fit(done, tol)
        fit = search.run(replace(problem, l1=l1, l2=l2), tol, max_iter, start, start.n_iter)
        w = fit.coef
        yield fit
