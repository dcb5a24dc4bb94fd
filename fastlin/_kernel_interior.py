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

_MOST = 100
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
    at, most = _Inside(problem.y[:, None] * gram * problem.y, problem.y, mass), min(most, _MOST)
    for steps in range(1, most + 1):
        if is_cancelled():
            raise Cancelled
        # an overflow shows in the length of the step
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            way = at.move()
        if measure(problem.y * at.rounded() / mass) <= tol or not way > _LEAST_WAY:
            return steps
    return most


class _Inside:
    """A point within the bounds, and the steps from it."""

    def __init__(self, Q: np.ndarray, y: np.ndarray, C: np.ndarray):
        self.Q, self.y, self.C = Q, y, C
        self.u, self.b = 0.5 * C, 0.0
        self.z, self.t = np.ones(len(y)), np.ones(len(y))

    def rounded(self) -> np.ndarray:
        """u, with variables on their way to a bound put there."""
        return np.where(self.u < self.z, 0.0, np.where(self.C - self.u < self.t, self.C, self.u))

    def move(self) -> float:
        """Make a step; returns its length, 0 where there is none."""
        u, z, t = self.u, self.z, self.t
        slack = self.C - u
        factor = _factor(self.Q, z / u + t / slack)
        if factor is None:
            return 0.0
        along = _solved(factor, self.y)
        # straight for m = 0 first: how far that leads says where to aim, and how much it bends
        du, _, dz, dt = self._direction(factor, along, -z, -t)
        way = self._way(du, dz, dt)
        before = float(z @ u + t @ slack)
        after = float((z + way * dz) @ (u + way * du) + (t + way * dt) @ (slack - way * du))
        aim = before / (2 * len(u)) * min(1.0, after / before) ** 3
        low, high = (aim - du * dz) / u - z, (aim + du * dt) / slack - t
        du, db, dz, dt = self._direction(factor, along, low, high)
        way = _SHARE * self._way(du, dz, dt)
        self.u, self.b = u + way * du, self.b + way * db
        self.z, self.t = z + way * dz, t + way * dt
        return way

    def _direction(self, factor: tuple, along: np.ndarray, low: np.ndarray, high: np.ndarray
                   ) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """(du, db, dz, dt), with dz = low and dt = high where u stays; `along` solves for y."""
        u, z, t, y = self.u, self.z, self.t, self.y
        dual = self.Q @ u - 1.0 + self.b * y - z + t
        found = _solved(factor, low - high - dual)
        db = float(y @ found + y @ u) / float(y @ along)
        du = found - db * along
        return du, db, low - z * du / u, high + t * du / (self.C - u)

    def _way(self, du: np.ndarray, dz: np.ndarray, dt: np.ndarray) -> float:
        """How far a step can go, at most 1, until something is 0."""
        shares = -du / self.u, du / (self.C - self.u), -dz / self.z, -dt / self.t
        return 1.0 / max(1.0, *(float(share.max()) for share in shares))


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


def _solved(factor: tuple, side: np.ndarray) -> np.ndarray:
    """The solution of one system."""
    from scipy.linalg import cho_solve

    return cho_solve(factor, side, check_finite=False)
