"""Newton's method in the space of the rows, for fewer rows than columns: where they are so long
beside the penalty that sums over the columns have no digits for it.

With w = sum_i v_i (x_i - c) a step solves for v with the kernel matrix of the rows, in a form whose
matrix has no eigenvalue below 1 (`_kernel_newton`). Each point is measured with the weights that
follow from its dual variables.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._blocks import matvec
from ._centred import Centred, kernel_matrix, measured
from ._kernel_newton import MOST_ROWS, ascend, step
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate, Fit, Problem
from ._sgd import MARGIN_LOSSES

__all__ = ["go_on", "suits"]

_LOSSES = ("log_loss", "squared_hinge", "squared_error", "squared_epsilon_insensitive")
# A gap below this is near what rounding leaves
_NEAR = 1e-9
# Sets of rows with a loss that are tried: where they settle at all, some ten do
_MOST_SETS = 100


def suits(problem: Problem, reached: Certificate | None = None) -> bool:
    """Whether a fit that does not end, or ended with this certificate, may be bettered here."""
    n, d = problem.X.shape
    few = problem.l2 > 0 and n < d and n <= MOST_ROWS and problem.loss in _LOSSES
    return few and (reached is None or reached.relative_gap > _NEAR)


def go_on(problem: Problem, fit: Fit, tol: float, most: int) -> Fit:
    """The better of the fit and of what at most so many steps from w = 0 lead to."""
    rows = Centred(problem)
    gram = kernel_matrix(problem.X, np.ones(len(problem.y)), rows.centre)
    if problem.fit_intercept:
        # no change where sum_i v_i = 0; else the vector of ones alone has an eigenvalue of 0
        gram += gram.trace() / len(gram)
    mass = rows.share / problem.l2
    best, zero = fit, problem.mean_loss(np.zeros(len(problem.y)))

    def measure(slopes: np.ndarray, v: np.ndarray) -> float:
        """The least gap of dual variables that are minus the slopes, and of those that are the
        weights' own, which keep their digits where slopes are roundings."""
        nonlocal best
        gaps = []
        for a in (slopes, _feasible(problem, v / mass)):
            a = problem.project(a)
            w = rows.rmatvec(problem.weighted(a)) / problem.l2
            z = matvec(problem.X, w)
            b = problem.best_intercept(z)
            certificate = measured(problem, rows, w, z + b, a, zero)
            gaps.append(certificate.relative_gap)
            if gaps[-1] < best.certificate.relative_gap:
                best = Fit(w, b, 0, certificate, gaps[-1] <= tol)
        return min(gaps)

    nothing = np.zeros(len(problem.y))
    b = problem.best_intercept(nothing)
    if problem.loss == "squared_hinge":
        steps = _by_sets(problem, gram, mass, nothing, b, measure, tol, min(most, _MOST_SETS))
    else:
        steps = ascend(problem, gram, mass, nothing, b, measure, tol, most)
    return Fit(best.coef, best.intercept, fit.n_iter + steps, best.certificate, best.converged)


def _feasible(problem: Problem, a: np.ndarray) -> np.ndarray:
    """Dual variables, moved into the domain of the conjugate of a loss of margins."""
    if problem.loss not in MARGIN_LOSSES:
        return a
    return problem.y * np.clip(problem.y * a, 0.0, 1.0 if problem.loss == "log_loss" else None)


def _by_sets(problem: Problem, gram: np.ndarray, mass: np.ndarray, v: np.ndarray, b: float,
             measure: Callable[[np.ndarray, np.ndarray], float], tol: float, most: int) -> int:
    """Steps of a squared hinge, each the optimum for a set of rows with a loss: those that a step
    along their own v would leave above 0. v keeps its digits where 1 - y z is a rounding (primal-
    dual active sets; Hintermueller, Ito & Kunisch 2002). Returns how many steps."""
    y, own, z, last = problem.y, 2.0 * mass, gram @ v + b, None
    for steps in range(1, most + 1):
        if is_cancelled():
            raise Cancelled
        short = 1.0 - y * z
        counts = y * v + (short - y * v / own) / (np.diagonal(gram) + 1.0 / own) > 0
        if last is not None and np.array_equal(counts, last):
            return steps - 1
        slopes, bends = np.where(counts, -2.0 * y * short, 0.0), np.where(counts, 2.0, 0.0)
        v, b = step(problem, gram, mass, z, slopes, bends)
        z, last = gram @ v + b, counts
        if measure(-problem.slopes(z), v) <= tol:
            return steps
    return most
