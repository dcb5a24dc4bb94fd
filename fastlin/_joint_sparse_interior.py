"""An interior point method for sparsemax with an L1 penalty on little data: where columns are of
unlike scales or classes hardly overlap, steps within an orthant take thousands to find which
weights are 0.

A row's probabilities are p_i with t_ik = p_ik + u_i - z_ik >= 0 and p_ik t_ik = 0; W is the
difference of two parts that are not below 0, times which l1 - v and l1 + v are 0, v being what the
gradient lacks: (1/S) sum_i s_i (p_i - q_i) x_i^T + l2 W + v = 0. Here all these products are shares
of mu, which falls as `_joint_interior` has it (Mehrotra 1992). Of a step everything but what W and
b take is eliminated: with a = p / (p + t), to change p t by c,

    dp = c / (p + t) - a (du_i - dz),    du_i = sum_k (c / (p + t) + a dz)_ik / sum_k a_ik,

and with theta = plus / (l1 - v) + minus / (l1 + v), to change plus (l1 - v) by c+ and minus
(l1 + v) by c-,

    dv = (dW - e) / theta,    e = c+ / (l1 - v) - c- / (l1 + v),

which adds 1 / theta to the diagonal of a system of K (d + 1) equations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ._blocks import column_squares, rmatvec, room_for
from ._class_pairs import joined_pairs, pair
from ._joint_interior import LEAST, LEAST_STEP, OF_WAY, refined, solved, way
from ._joint_problem import JointFit, JointProblem
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate

__all__ = ["is_for", "solve"]

# So many steps without such a fall of mu, or after those that should be enough, are for nothing.
_IDLE, _BETTER = 8, 0.9
# Multiplications of a step, equations and numbers per row and class, up to which it is taken
_MOST_WORK, _MOST_EQUATIONS, _MOST_RESPONSES = 1e9, 2000, 1 << 21


def is_for(problem: JointProblem) -> bool:
    """Whether the method is for a problem."""
    (n, d), K = problem.X.shape, problem.n_classes
    equations = K * (d + 1)
    work = 0.5 * n * equations**2 + equations**3 / 3
    large = equations > _MOST_EQUATIONS or n * K > _MOST_RESPONSES or work > _MOST_WORK
    return problem.loss == "sparsemax" and problem.l1 > 0 and not large


def solve(problem: JointProblem, tol: float, max_iter: int) -> JointFit:
    """Minimise until the relative gap is at most `tol`, or for `max_iter` steps."""
    inside, zero = _Inside(problem), problem.mean_loss_of_nothing()
    # with weights that are 0, which come right last, and as they are: in place of the others where
    # these never do
    best, gaps = [(np.inf, inside.W, inside.b)] * 2, [np.inf, np.inf]
    bound, least, idle, n_iter = -np.inf, np.inf, 0, 0
    while n_iter < max_iter and idle < _IDLE:
        if is_cancelled():
            raise Cancelled
        moved = inside.step()
        n_iter += 1
        p = inside.p
        bound = max(bound, problem.dual_side(p.__getitem__, inside.share @ p)[1])
        for k, W in enumerate((inside.sparse(), inside.W)):
            objective = problem.sums(W, inside.b).mean_loss + problem.penalty(W)
            if objective < best[k][0]:
                best[k] = objective, W, inside.b
            gaps[k] = Certificate.progress(best[k][0], bound, zero)
        if gaps[0] <= tol or not moved:
            break
        # the bound comes last; that it does not where mu is small enough is rounding
        wanted = tol * best[1][0] / (2 * problem.n_classes)
        idle = 0 if wanted < inside.mu < _BETTER * least else idle + 1
        least = min(inside.mu, least)
    objective, W, b = best[0 if gaps[0] <= max(tol, gaps[1]) else 1]
    certificate = problem.certificate(objective, bound)
    return JointFit(problem.unpacked(W), b - b.mean(), n_iter, certificate,
                    certificate.relative_gap <= tol)


class _Step(NamedTuple):
    """Changes, of arrays of [class][feature] but for b and those of [row][class]."""

    W: np.ndarray
    b: np.ndarray
    p: np.ndarray
    t: np.ndarray
    v: np.ndarray
    plus: np.ndarray
    minus: np.ndarray


class _Inside:
    """Weights, intercepts, dual variables and multipliers on their way to the optimum."""

    def __init__(self, problem: JointProblem):
        self.problem, self.room, X = problem, room_for(problem.X), problem.X
        (n, d), K = X.shape, problem.n_classes
        rows = np.arange(n)
        self.share, self.q = problem.shares_of(rows), problem.target.table(rows)
        self.centre = rmatvec(X, self.share) if problem.fit_intercept else np.zeros(d)
        variance = column_squares(X, self.share) - self.centre**2
        self.deviation = np.sqrt(np.maximum(variance, 0.0))
        self.W, self.b = np.zeros(d * problem.width), np.zeros(K)
        self.p = 0.5 * self.q + 0.5 / K
        self.t = LEAST + self.p - self.p.min(axis=1, keepdims=True)
        # l1 - v and l1 + v by themselves: what is left of them would cancel
        self.low, self.high = np.full((K, d), problem.l1), np.full((K, d), problem.l1)
        # so that the parts of W have as large a share of mu as the rows
        self.each = 1.0 / (2 * d)
        self.mu = float(self.share @ np.einsum("ik,ik->i", self.p, self.t)) / K
        self.plus = np.full((K, d), self.each * self.mu / problem.l1)
        self.minus = self.plus.copy()

    def sparse(self) -> np.ndarray:
        """The weights, 0 where multipliers are nearer to l1 than weights to the largest one, which
        costs no more than mu."""
        l1, problem = self.problem.l1, self.problem
        w = problem.unpacked(self.W)
        largest = max(float(np.abs(w * self.deviation).max()), 1e-300)
        over = np.maximum(self.plus / self.low, self.minus / self.high)
        return problem.packed(np.where(over * self.deviation * l1 > largest, w, 0.0))

    def step(self) -> bool:
        """A step; whether it got anywhere."""
        each, p, t = self.each, self.p, self.t
        plus, minus = self.plus * self.low, self.minus * self.high
        solve = self._factor()
        mu = self.mu = self._mean(p, t, plus, minus)
        d = self._direction(solve, -p * t, -plus, -minus)
        size = self._way(d)
        left = self._mean(
            p + size * d.p, t + size * d.t,
            (self.plus + size * d.plus) * (self.low - size * d.v),
            (self.minus + size * d.minus) * (self.high + size * d.v),
        )  # fmt: skip
        aim = mu * (left / mu) ** 3
        d = self._direction(solve, aim - p * t - d.p * d.t, each * aim - plus + d.plus * d.v,
                            each * aim - minus - d.minus * d.v)
        size = min(1.0, OF_WAY * self._way(d))
        if not (size > LEAST_STEP and np.isfinite(d.W @ d.W)):
            return False
        self.W, self.b = self.W + size * d.W, self.b + size * d.b
        self.p = p + size * d.p
        self.p /= self.p.sum(axis=1, keepdims=True)
        self.t = t + size * d.t
        self.low, self.high = self.low - size * d.v, self.high + size * d.v
        self.plus, self.minus = self.plus + size * d.plus, self.minus + size * d.minus
        return True

    def _mean(self, p: np.ndarray, t: np.ndarray, plus: np.ndarray, minus: np.ndarray) -> float:
        """The mean of the products, those of W given."""
        of_rows = float(self.share @ np.einsum("ik,ik->i", p, t))
        return (of_rows + float(plus.sum() + minus.sum())) / (2 * self.problem.n_classes)

    def _way(self, d: _Step) -> float:
        """How far steps may go, up to 1, before something is below 0."""
        return way((d.p, self.p), (d.t, self.t), (-d.v, self.low), (d.v, self.high),
                   (d.plus, self.plus), (d.minus, self.minus))

    def _direction(self, solve: Callable[[np.ndarray], np.ndarray], c: np.ndarray,
                   c_plus: np.ndarray, c_minus: np.ndarray) -> _Step:
        """The step after which the products are c more."""
        problem = self.problem
        change = c / (self.p + self.t)
        sums = change.sum(axis=1, keepdims=True)
        pull = (self.p - self.q + change - self.a * (sums / self.total)) * self.share[:, None]
        e = c_plus / self.low - c_minus / self.high
        r = -problem.unpacked(problem.added(lambda rows: pull[rows]) + problem.l2 * self.W)
        r += e / self.theta - 0.5 * (self.high - self.low)
        w, db = solved(solve, problem, r, pull, self.centre)
        dW = problem.packed(w)
        dz = problem.responses_of_all(dW, db, self.room)
        du = (sums + np.einsum("ik,ik->i", self.a, dz)[:, None]) / self.total
        dp, dv = change - self.a * (du - dz), (w - e) / self.theta
        return _Step(dW, db, dp, dp + du - dz, dv, (c_plus + self.plus * dv) / self.low,
                     (c_minus - self.minus * dv) / self.high)

    def _factor(self) -> Callable[[np.ndarray], np.ndarray]:
        """How to solve with the Hessian in the weights, columns counted from their mean, and the
        intercepts."""
        problem, K, d = self.problem, self.problem.n_classes, self.problem.X.shape[1]
        size = d + problem.fit_intercept
        self.a = self.p / (self.p + self.t)
        self.total = self.a.sum(axis=1, keepdims=True)
        self.theta = self.plus / self.low + self.minus / self.high
        scaled = self.a * (self.share[:, None] / self.total)

        def part_of(k: int, other: int) -> np.ndarray:
            return pair(problem.X, scaled[:, k] * self.a[:, other], self.centre,
                        problem.fit_intercept)

        H = joined_pairs(K, size, problem.l2, d, part_of)
        k, j = np.arange(K)[:, None], np.arange(d)
        H[k, j, k, j] += 1.0 / self.theta
        if problem.fit_intercept:
            # all intercepts by the same make no difference, and steps have none of it
            common = float(np.einsum("kk->", H[:, d, :, d])) / K**2
            H[:, d, :, d] += common if common > 0 else 1.0
        return refined(H.reshape(K * size, K * size))
