"""A primal-dual interior point method for the hinge with a kernel, where few rows meet a C so large
that pairs of rows gain little: the steps of pairs grow with C, those of this method don't.

With signed dual variables u_i = C_i a_i y_i the problem is

    minimise  (1/2) u.Q u - sum_i u_i,    0 <= u_i <= C_i,   y.u = 0,    Q_ij = y_i y_j K_ij;

with multipliers z and t of the bounds and b of the constraint, a step solves for

    Q u - 1 + b y - z + t = 0,   y.u = 0,   z_i u_i = m,   t_i (C_i - u_i) = m

with m falling (Mehrotra 1992, "On the implementation of a primal-dual interior point method", SIAM
Journal on Optimization 2; Ferris & Munson 2002, "Interior-point methods for massive support vector
machines", SIAM Journal on Optimization 13). Its matrix is Q with more on the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._lapack import lapack
from ._parallel import Cancelled, is_cancelled
from ._problem import Problem

__all__ = ["ascend_inside"]

_MOST_STEPS = 100
# A step goes so near a bound, as a share of the way
_SHARE = 0.995
# Shorter steps are rounding's
_LEAST_WAY = 1e-6
# What is added to the diagonal where rounding has left a negative eigenvalue, as shares of it
_RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)


def ascend_inside(problem: Problem, gram: np.ndarray, mass: np.ndarray,
                  measure: Callable[[np.ndarray], float], tol: float, most: int) -> int:
    """Take steps until `measure`, given dual variables, returns a gap of at most tol, or steps gain
    no more; returns how many, at most so many."""
    y, C = problem.y, mass
    Q = y[:, None] * gram * y
    u, b, z, t = 0.5 * C, 0.0, np.ones(len(y)), np.ones(len(y))
    for steps in range(1, min(most, _MOST_STEPS) + 1):
        if is_cancelled():
            raise Cancelled
        slack = C - u
        middle = float(z @ u + t @ slack) / (2 * len(u))
        dual, primal = Q @ u - 1.0 + b * y - z + t, float(y @ u)
        factor = _factor(Q, z / u + t / slack)
        if factor is None:
            return steps
        zero = np.zeros_like(u)

        def step(aim: float, more: np.ndarray, less: np.ndarray) -> tuple:
            """(du, db, dz, dt) to products z u = aim - more and t (C - u) = aim - less."""
            low, high = (aim - more) / u - z, (aim - less) / slack - t
            side = np.column_stack([low - high - dual, y])
            found, along = _solved(factor, side).T
            db = (float(y @ found) + primal) / float(y @ along)
            du = found - db * along
            return du, db, low - z * du / u, high + t * du / slack

        du, _, dz, dt = step(0.0, zero, zero)
        way = min(_way(u, du, slack), _way(z, dz), _way(t, dt))
        after = (z + way * dz) @ (u + way * du) + (t + way * dt) @ (slack - way * du)
        aim = middle * min(1.0, float(after) / (2 * len(u) * middle)) ** 3
        du, db, dz, dt = step(aim, du * dz, -du * dt)
        way = _SHARE * min(_way(u, du, slack), _way(z, dz), _way(t, dt))
        u, b, z, t = u + way * du, b + way * db, z + way * dz, t + way * dt
        # variables on their way to a bound are put there
        near = np.where(u < z, 0.0, np.where(C - u < t, C, u))
        gap = measure(y * near / C)
        if gap <= tol:
            return steps
        if way < _LEAST_WAY or not np.isfinite(u).all():
            return steps
    return min(most, _MOST_STEPS)


def _way(at: np.ndarray, step: np.ndarray, slack: np.ndarray | None = None) -> float:
    """How far a step can go, at most 1, with `at` (and what is left up to a bound) above 0."""
    down = float(np.max(-step / at, initial=1.0))
    if slack is not None:
        down = max(down, float(np.max(step / slack, initial=1.0)))
    return 1.0 / down


def _factor(Q: np.ndarray, more: np.ndarray) -> tuple | None:
    """The Cholesky factor of Q with more on its diagonal, None if there is none."""
    from scipy.linalg import LinAlgError, cho_factor

    size = float(np.diagonal(Q).max())
    for ridge in _RIDGES:
        matrix = Q.copy()
        matrix[np.diag_indices_from(matrix)] += more + ridge * size
        try:
            return lapack(cho_factor, matrix, lower=True, overwrite_a=True)
        except LinAlgError:
            continue
    return None


def _solved(factor: tuple, sides: np.ndarray) -> np.ndarray:
    """The solution for each column."""
    from scipy.linalg import cho_solve

    return cho_solve(factor, sides, check_finite=False)
