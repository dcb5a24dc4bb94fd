"""Newton's method for smooth losses: for dense rows, weak penalties, and none at all.

A step solves (H + l2 I) d = -g by preconditioned conjugate gradients, as far as the gradient asks
for (Dembo, Eisenstat & Steihaug 1982, "Inexact Newton methods"), and goes along d as far as the
objective falls: with X d at hand, that costs no pass over the rows. With h_i = s_i/S loss''(z_i),

    H = sum_i h_i (x_i - c)(x_i - c)^T,      c = sum_i h_i x_i / sum_i h_i,

since that c takes the free intercept out of the system exactly: a shift of a column changes
nothing. With few columns the preconditioner is the Cholesky factor of H over some of the rows,
with few rows that of their kernel matrix, else the diagonal; all make the scales of the columns
immaterial. A product with H is one pass over the rows (Hsia, Chiang & Lin 2018, "Preconditioned
conjugate gradient methods in truncated Newton frameworks for large-scale linear classification",
has the diagonal one, mixed with the identity).

For a given gradient the duality gap with a_i = -loss'(z_i) is |g|^2 / (2 l2) where b is optimal: so
a gap is measured when it is likely to be small. Without a penalty `_centred.measured` says what
stands in its place, and separable classes, which have no optimum, end without convergence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from . import _row_newton
from ._blocks import matvec
from ._centred import (
    ROUNDING,
    Centred,
    gram,
    hessian_product,
    kernel_matrix,
    measured,
    moments,
    reach,
    slack,
)
from ._cholesky import cholesky
from ._problem import Certificate, Fit, Problem
from ._row_slices import rows_taken
from ._sgd import MARGIN_LOSSES

__all__ = ["Descent", "solve"]

# Columns up to which the preconditioner is a Cholesky factor, and its rows for each column
_FEW_COLUMNS, _ROWS_PER_COLUMN, _LEAST_ROWS = 500, 12, 2000
# The parts that these rows are taken in
_PARTS = 8
# Rows up to which it is a factor of the kernel matrix, where there are more columns
_FEW_ROWS = 500
# Iterations after which another preconditioner is worth its making, and a factor of all of H or of
# the kernel matrix of all rows, up to this order
_MANY_ITERATIONS, _TOO_MANY_ITERATIONS, _MOST_ORDER = 12, 100, 3000
# What the handling of a product takes, in multiplications; that of a factor takes three times that
_OVERHEAD = 100_000
# Conjugate gradients in one step
_MOST_PRODUCTS = 250
# Losses with rows of no curvature: theirs counts as at least a share of the largest, which falls
# while long steps succeed
_FIRST_FLOOR, _FLOOR_FALL, _LONG = 1e-2, 0.1, 0.1
_MOST_TRIALS = 40
# Steps that are enough unless rows are too long beside the penalty, where `_row_newton` goes on
_MOST_BESIDE_ROWS = 60
# A fall of the objective below this share is a rounding
_NO_FALL = 1e-15


def solve(problem: Problem, tol: float, max_iter: int, seed: np.ndarray,
          start: Fit | None = None) -> Fit:
    """Minimise until the relative gap is at most `tol`, or for `max_iter` steps; the products of
    conjugate gradients count as steps where one step is all there is (squared error)."""
    descent = Descent(problem, max(tol, ROUNDING), start)
    n_iter, stalls = 0, 0
    most = min(max_iter, _MOST_BESIDE_ROWS) if _row_newton.suits(problem) else max_iter
    while n_iter < most and stalls < 2:
        if descent.is_endless() and descent.objective <= descent.tol * descent.zero:
            break
        descent.look()
        if descent.is_near() and descent.measure().relative_gap <= descent.tol:
            break
        products, moved = descent.step(most - n_iter)
        n_iter += products if problem.loss == "squared_error" else 1
        stalls = 0 if moved else stalls + 1
    fit = descent.fit(n_iter)
    if n_iter < max_iter and not fit.converged and _row_newton.suits(problem, fit.certificate):
        return _row_newton.go_on(problem, fit, tol, max_iter - n_iter)
    return fit


class Descent:
    """Weights on their way to the optimum, and what is known about them."""

    def __init__(self, problem: Problem, tol: float, start: Fit | None):
        self.problem, self.tol, d = problem, tol, problem.X.shape[1]
        self.share = problem.weighted(np.ones(len(problem.y)))
        self.w, self.b, self.zero = np.zeros(d), *_begin(problem)
        self.z = np.full(len(problem.y), self.b)
        self._evaluate()
        if start is not None:
            self._try(start)
        self.floor = 0.0 if problem.loss in ("log_loss", "squared_error") else _FIRST_FLOOR
        self.precondition: Callable[[np.ndarray], np.ndarray] | None = None
        self.certificate: Certificate | None = None
        self.kernel: tuple[Centred, np.ndarray] | None = None
        self.largest = 1e-300  # norm of a gradient so far
        self._spread: np.ndarray | None = None
        self.is_hard = False  # whether conjugate gradients need a factor of all of H

    def _try(self, start: Fit) -> None:
        """Begin at an answer, if it is better than w = 0."""
        b = start.intercept if self.problem.fit_intercept else 0.0
        z = matvec(self.problem.X, start.coef, b)
        objective = self.problem.primal(z, start.coef)
        if objective < self.objective:
            self.w, self.b, self.z = start.coef.copy(), b, z
            self._evaluate()

    def _evaluate(self) -> None:
        """Objective and slopes at the responses."""
        value, self.slopes, self.bends = self.problem.expanded(self.z)
        self.objective = value + self.problem.penalty(self.w)

    @property
    def rows(self) -> Centred:
        """The rows, centred; the column scales are found once, and only where they are needed."""
        rows = Centred(self.problem, self.centre)
        if self.problem.l2 == 0:
            if self._spread is None:
                self._spread = Centred(self.problem).spread
            rows.spread = self._spread
        return rows

    def look(self) -> None:
        """Gradient, curvatures and centre at the weights."""
        problem = self.problem
        slopes, self.h = self.slopes, self.bends
        if self.floor:
            # a row of weight 0, which one is left out by, has no say
            curvatures = np.divide(self.bends, self.share, out=np.zeros_like(self.bends),
                                   where=self.share > 0)
            least = self.floor * curvatures.max(initial=1e-3)
            self.h = self.share * np.maximum(curvatures, least, out=curvatures)
        gradient, first, second = moments(problem.X, slopes, self.h)
        self.mass = float(self.h.sum())
        free = problem.fit_intercept and self.mass > 0
        self.centre = first / self.mass if free else np.zeros(len(first))
        self.slope_b = float(slopes.sum()) if problem.fit_intercept else 0.0
        self.gradient = gradient - self.centre * self.slope_b + problem.l2 * self.w
        # rounding must not leave a variance where there is none
        bend = second - self.centre * first
        self.diagonal = np.where(bend > 1e-13 * second, bend, 0.0)

    def gap_of(self, gradient: np.ndarray) -> float:
        """The gap that a gradient stands for where b is optimal."""
        if self.problem.l2 > 0:
            return float(gradient @ gradient) / (2 * self.problem.l2)
        rows = self.rows
        return reach(self.problem, rows, self.w) * slack(rows, gradient)

    def is_near(self) -> bool:
        """Whether the gap is likely to be small enough."""
        return self.gap_of(self.gradient) <= self.tol * self.objective + 1e-300

    def measure(self) -> Certificate:
        """The certificate, after b has gone to its optimum and rounding out of z."""
        problem = self.problem
        # a step of Newton's method does it where rows have a curvature; elsewhere b is searched for
        near = self.mass > 0 and abs(self.slope_b) <= 1e-3 * self.mass and not self.floor
        self.b -= self.slope_b / self.mass if near else 0.0
        self.z = matvec(problem.X, self.w, self.b)
        if not near:
            more = problem.best_intercept(self.z)
            self.b += more
            self.z += more
        self.certificate = measured(problem, self.rows, self.w, self.z, zero=self.zero)
        self._evaluate()
        return self.certificate

    def is_endless(self) -> bool:
        """Whether longer weights are always better: classes separated, and nothing to pay."""
        problem = self.problem
        return (problem.l2 == 0 and problem.loss == "log_loss"
                and bool((problem.y * self.z).min() > 0))

    def fit(self, n_iter: int) -> Fit:
        """The answer."""
        if self.certificate is None:
            self.look()
        certificate = self.measure() if self.certificate is None else self.certificate
        done = certificate.relative_gap <= self.tol and not self.is_endless()
        return Fit(self.w, self.b, n_iter, certificate, done)

    def step(self, most: int) -> tuple[int, bool]:
        """(conjugate gradients' products, whether the objective fell)"""
        self.certificate = None
        if self.precondition is None:
            self.precondition = self._preconditioner()
        d, along, products = self._direction(most)
        # a factor of a few rows is cheap, and good for its own step only
        if products > self._worth_a_factor() or self.kernel is not None:
            self.precondition = None
        self.is_hard |= products > _TOO_MANY_ITERATIONS
        # the intercept's own step
        more = -self.slope_b / self.mass if self.mass > 0 else 0.0
        along += more
        more -= float(self.centre @ d)
        t = self._length(d, along)
        if self.floor:
            self.floor *= _FLOOR_FALL if t >= _LONG else 4
            self.floor = min(self.floor, 1.0)
        before = self.objective
        if t > 0:
            self.w += t * d
            self.b += t * more
            # what the search along d has found there
            self.z, self.slopes, self.bends, self.objective = self.found
        return products, before - self.objective > _NO_FALL * before

    def _direction(self, most: int) -> tuple[np.ndarray, np.ndarray, int]:
        """(d, (X - c) d, products) by preconditioned conjugate gradients."""
        problem, X = self.problem, self.problem.X
        one_step = problem.loss == "squared_error"
        # beyond that many, rounding asks for a new start
        most = min(most, 2 * min(X.shape) + 50) if one_step else _MOST_PRODUCTS
        r, d, along = -self.gradient, np.zeros(X.shape[1]), np.zeros(X.shape[0])
        y = self.precondition(r)
        rho = float(r @ y)
        first, p, k = rho, y.copy(), 0
        # the nearer the optimum, the more exact a step pays
        size = float(np.linalg.norm(self.gradient))
        self.largest = max(self.largest, size)
        accuracy = 0.0 if one_step else min(0.01, size / self.largest)
        while k < most and rho > accuracy * first and rho > 0:
            z, product = hessian_product(X, p, self.centre, self.h)
            product += problem.l2 * p
            curvature = float(p @ product)
            if curvature <= 0:
                break
            alpha = rho / curvature
            d += alpha * p
            along += alpha * z
            r -= alpha * product
            k += 1
            if self.gap_of(r) <= 0.2 * self.tol * self.objective:
                break
            y = self.precondition(r)
            rho, last = float(r @ y), rho
            p *= rho / last
            p += y
        return d, along, k

    def _worth_a_factor(self) -> float:
        """Products of conjugate gradients that take longer than another preconditioner."""
        n, d = self.problem.X.shape
        return min(_MANY_ITERATIONS, (n * d * d + 3 * _OVERHEAD) / (2 * n * d + _OVERHEAD))

    def _preconditioner(self) -> Callable[[np.ndarray], np.ndarray]:
        """v -> M^-1 v"""
        problem, X = self.problem, self.problem.X
        n, d = X.shape
        if problem.l2 == 0 and problem.loss == "squared_error":
            # of several solutions that of least norm: d stays among the rows
            return lambda v: v
        few = _MOST_ORDER if self.is_hard else _FEW_COLUMNS
        if d <= few and n > d:
            h = self.h
            most = max(_LEAST_ROWS, _ROWS_PER_COLUMN * d)
            if n > 2 * most and not self.is_hard:
                rows = np.unique(np.linspace(0, n - 1, most).astype(np.int64))
                h = self.h[rows] * (self.mass / max(float(self.h[rows].sum()), 1e-300))
                # in parts: a copy of them all may be half of the rows
                matrix = np.zeros((d, d))
                for part in np.array_split(np.arange(len(rows)), _PARTS):
                    matrix += gram(rows_taken(X, rows[part]), h[part], self.centre)
            else:
                matrix = gram(X, h, self.centre)
            # a column that only rows left out hold
            seen = np.maximum(np.diagonal(matrix), 0.1 * self.diagonal)
            # a constant column: what it has left is rounding
            none = self.diagonal == 0
            seen[none], matrix[none], matrix[:, none] = 0.0, 0.0, 0.0
            np.einsum("ii->i", matrix)[:] = seen * (1 + 1e-12)
            return cholesky(matrix, problem.l2)[0]
        if n <= max(few, _FEW_ROWS) and n < d and problem.l2 > 0:
            return self._by_rows()
        size = self.diagonal + problem.l2
        inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        return lambda v: inverse * v

    def _by_rows(self) -> Callable[[np.ndarray], np.ndarray]:
        """v -> (H + l2 I)^-1 v = (v - A^T (A A^T + l2 I)^-1 A v) / l2, with the rows of A the roots
        of h times the centred ones; the centre is that of the first step."""
        problem, root = self.problem, np.sqrt(self.h)
        if self.kernel is None:
            rows = Centred(problem, self.centre)
            self.kernel = rows, kernel_matrix(problem.X, np.ones(len(root)), self.centre)
        rows, matrix = self.kernel
        inverse, _ = cholesky(matrix * root * root[:, None], problem.l2)

        def apply(v: np.ndarray) -> np.ndarray:
            """The product."""
            return (v - rows.rmatvec(root * inverse(root * rows.matvec(v)))) / problem.l2

        return apply

    def _length(self, d: np.ndarray, along: np.ndarray) -> float:
        """How far to go along d: the whole way if the objective falls well there, else to where it
        is lowest; 0 where it does not fall."""
        problem = self.problem
        here, flat, steep = float(self.w @ self.w), float(self.w @ d), float(d @ d)
        begin = float(self.slopes @ along) + problem.l2 * flat
        if not begin < 0:
            return 0.0
        t, low, high = 1.0, 0.0, np.inf
        for _ in range(_MOST_TRIALS):
            z = self.z + t * along
            value, slopes, bends = problem.expanded(z)
            value += 0.5 * problem.l2 * (here + t * (2 * flat + t * steep))
            slope = float(slopes @ along) + problem.l2 * (flat + t * steep)
            self.found = z, slopes, bends, value
            falls = value <= self.objective + 1e-4 * t * begin
            if falls and abs(slope) <= 0.9 * abs(begin):
                return t
            # differences of the objective are below rounding here: its slope decides
            same = value <= self.objective * (1 + 1e-14)
            if same and abs(slope) <= 0.5 * abs(begin):
                return t
            low, high = (low, t) if slope > 0 or not falls else (t, high)
            bend = float(bends @ (along * along)) + problem.l2 * steep
            new = t - slope / bend if bend > 0 and np.isfinite(slope) else np.nan
            if not low < new < high:
                new = 0.5 * (low + high) if np.isfinite(high) else 4 * t
            t = new
        if low > 0:
            z = self.z + low * along
            value, slopes, bends = problem.expanded(z)
            self.found = z, slopes, bends, value + problem.penalty(self.w + low * d)
        return low


def _begin(problem: Problem) -> tuple[float, float]:
    """(best intercept at w = 0, mean loss at responses of 0); of classes two rows tell it."""
    if problem.loss in MARGIN_LOSSES:
        up = float(problem.weighted((problem.y > 0).astype(float)).sum())
        problem = replace(problem, y=np.array([1.0, -1.0]), weight=np.array([up, 1 - up]))
    nothing = np.zeros(len(problem.y))
    return problem.best_intercept(nothing), problem.mean_loss(nothing)
