"""An interior point method for the hinge of K outputs: where classes overlap and C is large, ascent
and Newton's method on its dual take thousands of turns.

With t_ik = u_i - z_ik - [k != y_i], which has to be at least 0 of every class, and u_i - z_iy being
the loss of a row, the optimum is where p_ik t_ik = 0 and V = l2 W; here p_ik t_ik = mu, which falls
(Mehrotra 1992, "On the implementation of a primal-dual interior point method", SIAM J. Optimization
2: a step that ignores second-order terms says how far mu may fall and what those terms are). Of a
step everything but what W and b take can be eliminated row by row: with a = p / t, to change p t
by c,

    dp_i = c_i / t_i - a_i (sum_k c_ik / t_ik) / (sum_k a_ik)
           + (diag(a_i) - a_i a_i^T / (sum_k a_ik)) dz_i,

which leaves a system of K (d + 1) equations as of softmax with probabilities a_i / sum a_i.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._blocks import room_for
from ._class_pairs import joined_pairs, pair
from ._joint_dual_newton import Offer
from ._joint_length import best_length
from ._joint_problem import JointProblem
from ._lapack import factored
from ._parallel import Cancelled, is_cancelled
from ._row_centre import centre_of

__all__ = ["LEAST", "LEAST_STEP", "OF_WAY", "InteriorPoint", "refined", "solved", "way"]

# How much of a start is kept of p, the rest being 1/K
_KEPT = 0.9
# The least t at the start, which is that of classes at the margin
LEAST = 0.1
# How much of the way to the boundary a step goes
OF_WAY = 0.995
# What is added to the diagonal of a matrix of unit diagonal that has to be factored, by how much
# more where that was not enough, and how often a solution is corrected
_LEAST_RIDGE, _RISE, _MOST_CORRECTIONS = 1e-15, 10.0, 30
# So many steps without a smaller gap are for nothing.
_IDLE = 10
# Steps shorter than this get nowhere.
LEAST_STEP = 1e-6


def solved(solve: Callable[[np.ndarray], np.ndarray], problem: JointProblem, r: np.ndarray,
           pull: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Changes of the weights, of shape (n_classes, columns), and of the intercepts, given what is
    left of the equations of both and how to solve those whose columns are less their centre."""
    K, d = r.shape
    right = r
    if problem.fit_intercept:
        q = -pull.sum(axis=0)
        right = np.hstack([r - np.multiply.outer(q, centre), q[:, None]])
    found = solve(right.ravel()).reshape(K, -1)
    w, db = np.ascontiguousarray(found[:, :d]), np.zeros(K)
    if problem.fit_intercept:
        db = found[:, d] - w @ centre
    return w, db


class InteriorPoint:
    """Weights, intercepts and dual variables on their way to the optimum."""

    def __init__(self, problem: JointProblem, p: np.ndarray, W: np.ndarray, b: np.ndarray):
        self.problem, self.room = problem, room_for(problem.X)
        n, K = p.shape
        self.rows = np.arange(n)
        self.share = problem.shares_of(self.rows)
        self.q = problem.target.table(self.rows)
        self.centre = centre_of(problem.X, problem.weight)
        if not problem.fit_intercept:
            self.centre = np.zeros_like(self.centre)
        coef = problem.unpacked(W)
        self.W, self.b = problem.packed(coef - coef.mean(axis=0)), b - b.mean()
        self.p = _KEPT * p + (1.0 - _KEPT) / K
        z = problem.responses_of_all(self.W, self.b, self.room) + 1.0 - self.q
        self.t = z.max(axis=1, keepdims=True) - z + LEAST

    def ascend(self, offer: Offer, most: int) -> int:
        """Go on until an offer of (W, b, mean loss, p) is good; returns the steps, at most so
        many."""
        least, idle = np.inf, 0
        for step in range(most):
            if is_cancelled():
                raise Cancelled
            if not self._step():
                return step + 1
            z = self.problem.responses_of_all(self.W, self.b, self.room)
            size, mean_loss = best_length(self.problem, z, float(self.W @ self.W))
            gap, good = offer(size * self.W, size * self.b, mean_loss, self.p)
            idle = 0 if gap < least else idle + 1
            least = min(gap, least)
            if good or idle >= _IDLE:
                return step + 1
        return most

    def _step(self) -> bool:
        """A step; whether it got anywhere."""
        problem, share, p, t = self.problem, self.share, self.p, self.t
        a = p / t
        total = a.sum(axis=1, keepdims=True)
        solve = self._factor(a, total)
        mu = float(share @ np.einsum("ik,ik->i", p, t)) / problem.n_classes
        dW, db, dp, dt = self._direction(solve, a, total, -p * t)
        size = way((dp, p), (dt, t))
        after = np.einsum("ik,ik->i", p + size * dp, t + size * dt)
        left = float(share @ after) / problem.n_classes
        aim = mu * (left / mu) ** 3
        dW, db, dp, dt = self._direction(solve, a, total, aim - p * t - dp * dt)
        size = min(1.0, OF_WAY * way((dp, p), (dt, t)))
        if not size > LEAST_STEP:
            return False
        self.W, self.b = self.W + size * dW, self.b + size * db
        self.p = p + size * dp
        self.p /= self.p.sum(axis=1, keepdims=True)
        self.t = t + size * dt
        return True

    def _direction(self, solve: Callable[[np.ndarray], np.ndarray], a: np.ndarray,
                   total: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
        """The step in W, b, p and t after which p t is c more."""
        problem = self.problem
        change = c / self.t
        sums = change.sum(axis=1, keepdims=True)
        pull = (self.p - self.q + change - a * (sums / total)) * self.share[:, None]
        r = -problem.unpacked(problem.added(lambda rows: pull[rows]) + problem.l2 * self.W)
        w, db = solved(solve, problem, r, pull, self.centre)
        dW = problem.packed(w)
        dz = problem.responses_of_all(dW, db, self.room)
        du = (sums + np.einsum("ik,ik->i", a, dz)[:, None]) / total
        dt = du - dz
        return dW, db, change - a * dt, dt

    def _factor(self, a: np.ndarray, total: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """How to solve with the Hessian in the weights, columns counted from their mean, and the
        intercepts."""
        problem, K, d = self.problem, self.problem.n_classes, self.problem.X.shape[1]
        size = d + problem.fit_intercept
        scaled = a * (self.share[:, None] / total)

        def part_of(k: int, other: int) -> np.ndarray:
            return pair(problem.X, scaled[:, k] * a[:, other], self.centre, problem.fit_intercept)

        H = joined_pairs(K, size, problem.l2, d, part_of)
        # all classes by the same makes no difference to the loss, and steps have none of it
        place = np.arange(size)
        common = np.einsum("kjkj->j", H) / K**2
        H[:, place, :, place] += np.where(common > 0, common, 1.0)[:, None, None]
        return refined(H.reshape(K * size, K * size))


def refined(H: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """How to solve with a matrix that is all but singular: D is charged for what is left of the
    gradient along the weakest direction, so that a factor of H with a little more on its diagonal
    is used to correct its own solution."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    scale = 1.0 / np.sqrt(np.maximum(np.einsum("ii->i", H), 1e-300))
    H *= scale[:, None]
    H *= scale
    diagonal, more = np.einsum("ii->i", H), _LEAST_RIDGE
    kept = diagonal.copy()
    while True:
        diagonal += more
        factor, refused = factored(dpotrf, H.copy())
        diagonal[:] = kept
        if not refused or more > 1.0:
            break
        more *= _RISE

    def solve(g: np.ndarray) -> np.ndarray:
        right = scale * g
        found = np.zeros_like(right)
        rest, size = right, np.inf
        for _ in range(_MOST_CORRECTIONS):
            other = found + dpotrs(factor, rest, lower=1)[0]
            rest = right - H @ other
            before, size = size, float(rest @ rest)
            if not size < before:
                break
            found = other
        return scale * found

    return solve


def way(*pairs: tuple[np.ndarray, np.ndarray]) -> float:
    """How far steps may go, up to 1, before something is below 0; given (changes, what changes)."""
    least = min(float((change / now).min()) for change, now in pairs)
    return min(1.0, -1.0 / least) if least < 0 else 1.0
