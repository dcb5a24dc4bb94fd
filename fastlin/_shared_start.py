"""Where models of like strength begin on dense rows, and the Hessian that they share there.

The optimum on some rows is so near that on all of them, whichever fold they are without and
whichever of several strengths they have, that the Hessian there is about that of each model: so it
is made once for all of them, and a penalty of their own is added to it before it is factored.
Strengths are rounded for that, so a model begins at the same place whatever its company.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np

from ._blocks import matvec, rmatvec
from ._centred import gram
from ._cholesky import cholesky
from ._core.rows import Rows
from ._problem import Problem
from ._row_slices import rows_taken

__all__ = ["MeanHessian", "Start", "Starts"]

# Rows that tell where to begin, for each column and in all, and how many steps lead there
_ROWS_PER_COLUMN, _LEAST_ROWS, _MOST_STEPS = 16, 1000, 6
# A step that promises less than this share of the objective is the last
_NEAR = 0.01
# One of the sample that promises more than this is not taken unseen
_SHORT = 0.1
# The penalties that are told apart are this factor apart; beside this share of the curvature along
# the shortest column, they make little difference
_APART, _WEAK = 100.0, 3e-3
# Rows that tell how far columns spread
_SPREAD_ROWS = 500
# Spreads of columns whose products float32 holds well
_LEAST_SPREAD, _MOST_SPREAD = 1e-8, 1e8


@dataclass
class MeanHessian:
    """sum_i h_i (x_i - c)(x_i - c)^T, the sum of h_i (0 where there is no intercept), and c."""

    matrix: np.ndarray
    mass: float
    centre: np.ndarray

    def inverse(self, l2: float) -> Callable[[np.ndarray], np.ndarray]:
        """How to solve with it and a penalty, for columns that end with the intercepts."""
        solve, centre = cholesky(self.matrix.copy(), l2)[0], self.centre[:, None]

        def solved(g: np.ndarray) -> np.ndarray:
            """The product, with the intercepts in the last row."""
            if not self.mass > 0:
                return np.vstack([solve(g[:-1]), np.zeros_like(g[-1])])
            w = solve(g[:-1] - centre * g[-1])
            return np.vstack([w, g[-1] / self.mass - self.centre @ w])

        return solved


@dataclass
class Start:
    """Weights, intercept and the Hessian there."""

    w: np.ndarray
    b: float
    hessian: MeanHessian


class Starts:
    """Where models on some dense rows begin, in whichever thread.

    `sample` says which rows a Hessian is made of.
    """

    def __init__(self, X: Rows, sample: np.ndarray, free: bool):
        n, d = X.shape
        self.free, self.sample = free, sample
        self.part = rows_taken(X, sample) if len(sample) < n else X
        self.few = np.arange(0, n, max(1, n // max(_ROWS_PER_COLUMN * d, _LEAST_ROWS)))
        self.rows = rows_taken(X, self.few)
        values = self.rows.values.reshape(self.rows.shape)[:: max(1, len(self.few) // _SPREAD_ROWS)]
        spread = values.std(axis=0, dtype=np.float64)
        self.least = float(spread[spread > 0].min(initial=np.inf))
        self.single = self.least >= _LEAST_SPREAD and float(spread.max()) <= _MOST_SPREAD
        self._found: dict[tuple, Start] = {}
        self._locks: dict[tuple, Lock] = {}

    def of(self, s: np.ndarray, y: np.ndarray, l2: float) -> Start:
        """The start for the weights and targets of the rows and a penalty."""
        weak = 0.25 * _WEAK * self.least**2 if np.isfinite(self.least) else 0.0
        l2 = float(_APART ** np.round(np.log(max(l2, weak)) / np.log(_APART)))
        key = l2, s.tobytes(), y.tobytes()
        # threads that ask for the same at once wait for the first
        with self._locks.setdefault(key, Lock()):
            if key not in self._found:
                self._found[key] = self._start(s, y, l2)
        return self._found[key]

    def hessian(self, s: np.ndarray, z: np.ndarray) -> MeanHessian:
        """That of the rows of the sample, given their weights and responses."""
        there = _Objective(self.part, s, np.ones(len(s)), 0.0, self.free)
        return self._hessian(self.part, there.curvatures(np.ascontiguousarray(z)))

    def _hessian(self, X: Rows, h: np.ndarray) -> MeanHessian:
        """That of rows of these curvatures."""
        mass = float(h.sum()) if self.free else 0.0
        centre = rmatvec(X, h) / mass if mass > 0 else np.zeros(X.shape[1])
        # solutions are mended, so that rounding is no matter
        matrix = gram(X, h, centre, np.float32 if self.single else np.float64)
        return MeanHessian(matrix, mass, centre)

    def _start(self, s: np.ndarray, y: np.ndarray, l2: float) -> Start:
        """About the optimum for the sample: where a few of the rows lead, a step from there by
        their Hessian, and one by that of the sample."""
        few, sample = (
            _Objective(X, s[rows], y[rows], l2, self.free)
            for X, rows in ((self.rows, self.few), (self.part, self.sample))
        )
        u, inverse = self._descended(few)
        value, g, z = sample.at(u)
        if not value < np.log(2.0):
            # no better than weights of 0
            u = np.zeros(len(u))
            value, g, z = sample.at(u)
        change = inverse(g[:, None])[:, 0]
        after = sample.at(u - change)
        if after[0] < value:
            u, (value, g, z) = u - change, after
        hessian = self._hessian(self.part, sample.curvatures(z))
        change = hessian.inverse(l2)(g[:, None])[:, 0]
        if g @ change <= _SHORT * value:
            u = u - change
        return Start(u[:-1], float(u[-1]), hessian)

    def _descended(self, few: _Objective) -> tuple[np.ndarray, Callable]:
        """(where Newton's method leads while the objective falls, the last inverse)"""
        u = np.zeros(self.rows.shape[1] + 1)
        value, g, z = few.at(u)
        for _ in range(_MOST_STEPS):
            inverse = self._hessian(self.rows, few.curvatures(z)).inverse(few.problem.l2)
            change = inverse(g[:, None])[:, 0]
            after = few.at(u - change)
            if not after[0] < value:
                break
            u, (value, g, z) = u - change, after
            # the next step promises about its square
            if g @ inverse(g[:, None])[:, 0] <= _NEAR * value:
                break
        return u, inverse


class _Objective:
    """The penalised mean loss of one model on some rows, as a function of (w, b)."""

    def __init__(self, X: Rows, s: np.ndarray, y: np.ndarray, l2: float, free: bool):
        self.problem = Problem(X, y, "log_loss", l2=l2, fit_intercept=free)
        self.s = s / max(float(s.sum()), 1e-300)

    def at(self, u: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """(value, gradient, responses)"""
        problem, w = self.problem, u[:-1]
        z = matvec(problem.X, w, float(u[-1]))
        values, slopes = problem.evaluated(z)
        slopes *= self.s
        pull = rmatvec(problem.X, slopes) + problem.l2 * w
        slope = slopes.sum() if problem.fit_intercept else 0.0
        return float(self.s @ values) + problem.penalty(w), np.append(pull, slope), z

    def curvatures(self, z: np.ndarray) -> np.ndarray:
        """The rows' weighted curvatures at their responses."""
        return self.s * self.problem.curvatures(z)
