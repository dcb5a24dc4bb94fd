"""Ridge regression by preconditioned conjugate gradients, with a certificate.

With rows centred by their weighted mean c where b is free, p_i = s_i/S, A = sqrt(p_i) (x_i - c) and
r_i = sqrt(p_i) (y_i - mean), either of

    (A^T A + l2 I) w = A^T r,        (A A^T + l2 I) a = r  and  w = A^T a

is solved (Hestenes & Stiefel 1952; Golub & Van Loan 2013, section 11.3). The first has a vector for
each column and scales the columns to equal length; a product with its matrix visits each row once.
The second has vectors of rows: where columns are so many that vectors of them would cost more than
the entries do. The residual q of either tells the duality gap at no cost,

    |q|^2 / (2 l2) of the first with the dual variables r - A w,        |q|^2 / 2 of the second,

and each step tells how far the objective falls: so the search ends where `tol` says, and one visit
of the rows certifies it. Where the gap falls too slowly for the steps allowed, the search ends
early: something else is tried then.

What this costs beside scikit-learn's solvers on sparse rows is fewer steps, thanks to the scales,
and no pass over the rows but those. An extrapolated or smoothed dual point would end it earlier
where columns have many common factors; renumbering columns gains less than it costs (measured).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from ._blocks import matvec, rmatvec
from ._centred import NO_VARIANCE, ROUNDING, hessian_product, moments
from ._problem import Certificate, Fit, Problem

__all__ = ["solve"]

# The gap of a step is that of its recurrence: what it may be off
_SAFETY = 0.9
# Steps before the speed is judged
_EARLIEST = 10
# Entries for each column below which vectors of columns cost more than the entries
_FEW_ENTRIES = 4


def solve(problem: Problem, tol: float, most: int, hurry: bool = False,
          inverse: Callable[[np.ndarray], np.ndarray] | None = None) -> Fit:
    """The optimum to a relative gap of `tol`, or where `most` steps end; in a hurry, where it
    becomes clear that they will not do. `inverse` stands for about (A^T A + l2 I)^-1."""
    n, d = problem.X.shape
    wide = d > n and problem.X.nnz < _FEW_ENTRIES * d and inverse is None
    system = _Rows(problem) if wide else _Columns(problem)
    if inverse is not None:
        system.inverse = inverse
    tol, steps, gap = max(tol, ROUNDING), 0, np.inf
    while True:
        steps += system.descend(_SAFETY * tol, most - steps, hurry)
        fit = system.fit(steps, tol)
        # what is left of the gap is rounding if a new start from the true residual does not help
        if fit.converged or steps >= most or hurry or not fit.certificate.gap < 0.5 * gap:
            return fit
        gap = fit.certificate.gap


class _System(ABC):
    """A positive matrix with its right side, and what solves them."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.share = problem.weighted(np.ones(len(problem.y)))
        self.mean = float(self.share @ problem.y) if problem.fit_intercept else 0.0
        self.target = problem.y - self.mean
        self.fall = 0.0  # half the square of x in the norm of the matrix
        # what is solved for, what it leaves of the right side, the inverse of the preconditioner
        self.inverse: Callable[[np.ndarray], np.ndarray]
        self.x, self.residual, self.inverse = self.begin()

    @abstractmethod
    def begin(self) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """x = 0, its residual, the inverse of the preconditioner."""

    @abstractmethod
    def product(self, v: np.ndarray) -> np.ndarray:
        """The matrix times v."""

    @abstractmethod
    def gap(self) -> tuple[float, float]:
        """(gap, objective) of x, as far as the steps can tell."""

    @abstractmethod
    def answer(self) -> tuple[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray]:
        """(w, c.w, (X - 1 c^T) w, dual variables, their v); the residual becomes the true one."""

    def descend(self, tol: float, most: int, hurry: bool) -> int:
        """Steps until the gap seems to be a share `tol` of the objective: how many."""
        r, k, last, p = self.residual, 0, 1.0, np.zeros_like(self.x)
        gap, objective = self.gap()
        least = [gap]
        while k < most and gap > tol * objective:
            y = self.inverse(r)
            rho = float(r @ y)
            p *= rho / last
            p += y
            product = self.product(p)
            length = rho / float(p @ product)
            if not 0 < length < np.inf:
                break
            self.x += length * p
            r -= length * product
            self.fall += 0.5 * length * rho
            last, k = rho, k + 1
            gap, objective = self.gap()
            least.append(min(least[-1], gap))
            if hurry and k >= _EARLIEST and gap > tol * objective:
                # at the speed of the later half of the steps
                speed = np.log(least[k // 2] / least[k]) / (k - k // 2)
                if np.log(least[k] / (tol * objective)) > speed * (most - k):
                    break
        return k

    def fit(self, steps: int, tol: float) -> Fit:
        """The answer with its certificate."""
        problem = self.problem
        w, shift, z, a, v = self.answer()
        objective = problem.primal(z + self.mean, w)
        zero = problem.mean_loss(np.zeros(len(z)))
        certificate = Certificate.of(objective, problem.dual(problem.project(a), v), zero)
        return Fit(w, self.mean - shift, steps, certificate, certificate.relative_gap <= tol)


class _Columns(_System):
    """The system of w."""

    def begin(self) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        problem = self.problem
        right, first, second = moments(problem.X, self.share * self.target, self.share)
        self.centre = first.copy() if problem.fit_intercept else np.zeros(len(first))
        bend = second - self.centre * first
        # rounding must not leave a variance where there is none
        scale = np.where(bend > NO_VARIANCE * second, bend, 0.0) + problem.l2
        self.right, self.nothing = right.copy(), 0.5 * float(self.share @ self.target**2)
        return np.zeros(len(right)), right.copy(), lambda r: r / scale

    def product(self, v: np.ndarray) -> np.ndarray:
        out = hessian_product(self.problem.X, v, self.centre, self.share)[1]
        out += self.problem.l2 * v
        return out

    def gap(self) -> tuple[float, float]:
        r = self.residual
        return float(r @ r) / (2 * self.problem.l2), self.nothing - self.fall

    def answer(self) -> tuple[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray]:
        w = self.x
        z, product = hessian_product(self.problem.X, w, self.centre, self.share)
        v = self.right - product
        self.residual[:] = v - self.problem.l2 * w
        return w, float(self.centre @ w), z, self.target - z, v


class _Rows(_System):
    """The system of a, for the dual variables l2 a / sqrt(p)."""

    def begin(self) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        self.root = np.sqrt(self.share)
        return np.zeros_like(self.target), self.root * self.target, lambda r: r

    def _through(self, a: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """(w, c.w, (X - 1 c^T) w) for w = A^T a; sqrt(p) is orthogonal to every a"""
        w = rmatvec(self.problem.X, self.root * a)
        z = matvec(self.problem.X, w)
        shift = float(self.share @ z) if self.problem.fit_intercept else 0.0
        return w, shift, z - shift

    def product(self, v: np.ndarray) -> np.ndarray:
        return self.root * self._through(v)[2] + self.problem.l2 * v

    def gap(self) -> tuple[float, float]:
        gap = 0.5 * float(self.residual @ self.residual)
        return gap, self.problem.l2 * self.fall + gap

    def answer(self) -> tuple[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray]:
        l2 = self.problem.l2
        w, shift, z = self._through(self.x)
        self.residual[:] = self.root * (self.target - z) - l2 * self.x
        return w, shift, z, l2 * self.x / self.root, l2 * w
