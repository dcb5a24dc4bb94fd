"""Newton's method to the last digit for losses made of parabolas, on little data.

The squared hinge and the squared epsilon-insensitive loss are parabolas on some rows and 0 on the
others. While the set of the former does not change, the objective is quadratic, and a whole step
ends at its minimum: Newton's method with an exact search along its steps ends after finitely many
(Mangasarian 2002, "A finite Newton method for classification", Optimization Methods and Software
17; Keerthi & DeCoste 2005, "A modified finite Newton method for fast solution of large scale linear
SVMs", JMLR 6). Where rows and columns are so few that the price of a call is most of a step, that
is all that is needed: rows as one dense array with centred columns and a column of ones for b, the
Gram matrix of the rows that count, its Cholesky factor. Problems that differ in their targets share
the array, and the matrix of all rows, which they all begin with.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ._blocks import rmatvec
from ._centred import blocks, is_denselike
from ._core import losses as _losses
from ._core import newton as _newton
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate, Fit, Problem

__all__ = ["Table"]

_LOSSES = ("squared_hinge", "squared_epsilon_insensitive")
# Entries of the array, in double 2 MB, and columns where they are more than rows
_MOST_ENTRIES, _FEW_COLUMNS = 1 << 18, 100
# What a step promises, as a share of the objective, that is rounding
_NOTHING = 1e-16
# Some ten steps are enough, unless rows are too long for the penalty
_MOST_STEPS = 100
# So many steps without a fall by this share are the last
_MOST_STALLS, _NO_FALL = 3, 1e-9


class Table:
    """Rows that several problems may have in common, and their weights."""

    def __init__(self, problem: Problem):
        X, (n, d) = problem.X, problem.X.shape
        self.share = problem.weighted(np.ones(n))
        self.is_even = len(problem.weight) == 0
        free = problem.fit_intercept
        self.centre = rmatvec(X, self.share) if free else np.zeros(d)
        self.A = np.ones((n, d + free))
        for start, block in blocks(X, np.ones(n), self.centre):
            self.A[start : start + len(block), :d] = block

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Whether a problem is one for this method."""
        n, d = problem.X.shape
        return (
            problem.loss in _LOSSES and problem.l1 == 0 and problem.l2 > 0 and not problem.positive
            and n * (d + 1) <= _MOST_ENTRIES and d <= max(n, _FEW_COLUMNS)
            and is_denselike(problem.X)
        )  # fmt: skip

    @cached_property
    def gram(self) -> np.ndarray:
        """sum_i s_i/S a_i a_i^T"""
        return self.A.T @ (self.A * self.share[:, None])

    def hessian(self, h: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """sum_i s_i/S h_i a_i a_i^T, where h is the same on these rows and 0 on all others."""
        if len(rows) == len(h):
            return h[0] * self.gram
        part = self.A[rows]
        if self.is_even:
            return (h[rows[0]] * self.share[0] if len(rows) else 0.0) * (part.T @ part)
        return part.T @ (part * (h * self.share)[rows, None])

    def solve(self, problem: Problem, tol: float, max_iter: int, start: Fit | None) -> Fit:
        """The optimum of a problem on these rows, or what `max_iter` steps lead to; without
        convergence where rounding leaves a gap above `tol`."""
        d, penalty = problem.X.shape[1], np.full(self.A.shape[1], problem.l2)
        penalty[d:] = 0.0
        u = np.zeros(len(penalty))
        if start is not None:
            u[:d], u[d:] = start.coef, start.intercept + float(self.centre @ start.coef)
            if not self._objective(problem, u) < self._objective(problem, np.zeros(len(u))):
                u[:] = 0.0
        u, n_iter = self._descended(problem, u, penalty, max_iter)
        w, b = u[:d], float(u[d] - self.centre @ u[:d]) if problem.fit_intercept else 0.0
        certificate = Certificate.measured(problem, w, b)
        return Fit(w, b, n_iter, certificate, certificate.relative_gap <= tol)

    def _objective(self, problem: Problem, u: np.ndarray) -> float:
        """P"""
        return problem.primal(self.A @ u, u[: len(self.centre)])

    def _descended(self, problem: Problem, u: np.ndarray, penalty: np.ndarray,
                   max_iter: int) -> tuple[np.ndarray, int]:
        """(where the steps lead, how many)"""
        from scipy.linalg.lapack import dpotrf, dpotrs

        code, parameter, y, A, share = (
            problem.code, problem.loss_parameter, problem.y, self.A, self.share)
        z, h, values, slopes = A @ u, *np.empty((3, len(y)))
        last, whole, least, stalls = np.empty(0, np.int64), False, np.inf, 0
        for k in range(min(max_iter, _MOST_STEPS)):
            if is_cancelled():
                raise Cancelled
            _losses.curvatures(code, parameter, z, y, h)
            rows = np.flatnonzero(h)
            if whole and np.array_equal(rows, last):
                return u, k
            _losses.evaluate(code, parameter, z, y, values, slopes)
            slopes *= share
            pull = penalty * u
            gradient = slopes @ A + pull
            H = self.hessian(h, rows)
            diagonal = np.einsum("ii->i", H)
            diagonal += penalty
            # no row counts, and nothing pulls at b
            diagonal[diagonal == 0] = 1.0
            factor, refused = dpotrf(H, lower=1, clean=0, overwrite_a=1)
            if refused:
                return u, k
            d = -dpotrs(factor, gradient, lower=1)[0]
            along = A @ d
            promised = -float(gradient @ d)
            objective = float(share @ values) + 0.5 * float(pull @ u)
            # beside rows that are long for the penalty, a promise is a rounding, too
            stalls = 0 if objective < (1 - _NO_FALL) * least else stalls + 1
            least = min(least, objective)
            if not promised > _NOTHING * objective or stalls == _MOST_STALLS:
                return u, k
            t = _newton.search(code, parameter, z, along, y, share, float(pull @ d),
                               float(penalty @ (d * d)))
            u, z = u + t * d, z + t * along
            last, whole = rows, t == 1.0
        return u, min(max_iter, _MOST_STEPS)
