"""Newton's method for the hinge of K outputs, by the proximal point method on its dual: what
`_dual_newton` is for one, where dual variables are points p_i of the simplex.

Where rows are long, C is large, or rows are many times more numerous than columns, ascent by rows
needs thousands of epochs. The proximal point method maximises

    D(p') - (h / 2) (1/S) sum_i s_i |p'_i - p_i|^2,    then p <- p', h smaller,

whose own dual is smooth: the hinge of a row gives way to

    e_i(z) = max_p' p'.(z + 1 - q_i) - q_i.z - (h / 2) |p' - p_i|^2
           = h (sparsemax loss of (p_i + (z + 1 - q_i) / h) - |p_i - q_i|^2 / 2),
    e_i'(z) = p' - q_i,

so that a step of the method is a sparsemax problem with offsets,

    minimise over (W, b):  (l2/2) |W|^2 + (1/S) sum_i s_i e_i(W x_i + b),

solved by Newton's method (semi-smooth: Li, Sun & Toh 2018, "A highly efficient semismooth Newton
augmented Lagrangian method for solving Lasso problems", SIAM J. Optimization 28). Its curvature
comes from the few rows whose p' has several classes. Columns are counted from their mean.

Sparsemax bends by itself: h is 0, all is as if h were 1, and there is one step of the method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ._blocks import room_for
from ._cholesky import cholesky
from ._class_pairs import joined_pairs, pair
from ._core import joint_blocks as _blocks
from ._joint_length import best_length
from ._joint_problem import JointProblem
from ._problem import LOSS_CODES
from ._row_centre import centre_of
from ._row_slices import rows_taken

__all__ = ["Offer", "ProximalNewton", "price"]

# (W, b, mean loss, p) -> (the gap, not relative, whether it is good)
Offer: TypeAlias = Callable[[np.ndarray, np.ndarray, float, np.ndarray], tuple[float, bool]]


# h falls by the factor after each step of the proximal point method, or less where the gap falls
# much without
_FALL, _QUICK = 5.0, 0.25
# Newton's method ends where what is left of the gradient is worth this share of the gap, ...
_INNER = 0.1
# ... or after so many steps
_MOST_STEPS = 12
# A search ends where the slope is this share of the first, or after so many trials.
_FLAT, _MOST_TRIALS = 0.2, 20
# Weights and intercepts up to which the Hessian is factored
_MOST_FACTORED = 1500
# Responses, of which some ten arrays are kept
_MOST_RESPONSES = 1 << 22
# Epochs of ascent that the whole takes, and what the arithmetic of its factors adds
_STEPS, _EACH, _SPEED = 20.0, 20.0, 4.0
# Intercepts that no row holds are given this share of the curvature of one that all rows hold.
_DAMPING = 1e-4


def price(problem: JointProblem) -> float:
    """Epochs of ascent in the time that the method takes; infinite where it isn't for a problem."""
    K, size = problem.n_classes, problem.n_classes * (problem.X.shape[1] + 1)
    large = size > _MOST_FACTORED or len(problem.target) * K > _MOST_RESPONSES
    if problem.loss not in ("hinge", "sparsemax") or problem.l1 or large:
        return np.inf
    work = size**3 / 3 + problem.X.shape[0] * problem.X.shape[1] ** 2
    return _STEPS * (_EACH + work / (_SPEED * max(1, problem.X.nnz) * K))


@dataclass
class _Point:
    """Weights, with responses Z = W x_i without b, where e_i has its maximum, and the objective."""

    W: np.ndarray  # packed
    b: np.ndarray
    Z: np.ndarray
    p: np.ndarray
    value: float


class ProximalNewton:
    """The proximal point method from dual variables p, (W, b) being near what they lead to."""

    def __init__(self, problem: JointProblem, p: np.ndarray, W: np.ndarray, b: np.ndarray):
        self.problem, self.room = problem, room_for(problem.X)
        self.rows = np.arange(len(problem.target))
        self.share = problem.shares_of(self.rows)
        self.code = LOSS_CODES["sparsemax"]
        self.q = problem.target.table(self.rows)
        # how much the loss's own Omega bends, and what rivals have more in the loss
        self.bend = 1.0 if problem.loss == "sparsemax" else 0.0
        self.margin = 0.0 if self.bend else 1.0 - self.q
        self.centre = centre_of(problem.X, problem.weight)
        if not problem.fit_intercept:
            self.centre = np.zeros_like(self.centre)
        self.p = p
        Z = self._responses(W)
        # far from the optimum weights are too long for numbers to tell which way is down
        t = min(1.0, best_length(problem, Z + b, float(W @ W))[0])
        W, b, Z = t * W, t * b, t * Z
        self.h = 0.0
        if not self.bend:
            top = np.sort(Z + b + self.margin, axis=1)
            self.h = float(np.median(top[:, -1] - top[:, -2])) or 1.0
        self.point = self._at(W, b, Z)

    def ascend(self, offer: Offer, most: int) -> int:
        """Go on until an offer of (W, b, mean loss, p) is good; returns the steps of Newton's
        method, at most `most`. An offer returns its gap and whether it is good."""
        steps, failed = 0, False
        gap, good = self._offered(offer, self.p)
        last = np.inf
        if good:
            return steps
        while steps < most:
            near, turns = False, 0
            while not near and turns < min(_MOST_STEPS if self.h else most, most - steps):
                r, q = self._slopes()
                near = float(r @ r) / self.problem.l2 + self._cost(q) <= _INNER * last
                if not near:
                    turns += 1
                    if not self._step(r, q):
                        break
            steps += max(turns, 1)  # an offer in vain is one too, or they would never end
            point = self.point
            gap, good = self._offered(offer, point.p)
            if good or (failed and not near):
                break
            failed = not near
            if failed:
                self.h *= _FALL
            elif not gap < _QUICK * last:
                self.h /= _FALL
            last = min(gap, last)
            self.p = point.p
            self.point = self._at(point.W, point.b, point.Z)
        return steps

    def _offered(self, offer: Offer, p: np.ndarray) -> tuple[float, bool]:
        """Offer the weights at their best length, with dual variables."""
        W, b, Z = self.point.W, self.point.b, self.point.Z
        t, mean_loss = best_length(self.problem, Z + b, float(W @ W))
        return offer(t * W, t * b, mean_loss, p)

    # a point

    def _responses(self, W: np.ndarray) -> np.ndarray:
        """W x_i of all rows."""
        nothing = np.zeros(self.problem.n_classes)
        return self.problem.responses_of_all(W, nothing, self.room)

    def _at(self, W: np.ndarray, b: np.ndarray, Z: np.ndarray) -> _Point:
        """The point of some weights, given their responses."""
        problem, target = self.problem, self.problem.target
        u = (self.h * self.p + Z + b + self.margin) / (self.h + self.bend)
        value, p = np.empty(len(u)), np.empty_like(u)
        _blocks.losses(self.code, u, problem.n_classes, self.rows, target.first, target.classes,
                       target.shares, value, p)
        size = self.h + self.bend
        return _Point(W, b, Z, p, size * float(self.share @ value) + problem.penalty(W))

    def _slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """The gradient in the weights, columns counted from their mean, and in the intercepts."""
        problem, point = self.problem, self.point
        pull = point.p - self.q
        pull *= self.share[:, None]
        r = problem.l2 * point.W + problem.added(lambda rows: pull[rows])
        q = np.zeros(problem.n_classes)
        if problem.fit_intercept:
            q = pull.sum(axis=0)
            self._add_outer(r, -q)
        return r, q

    def _add_outer(self, W: np.ndarray, by: np.ndarray) -> None:
        """Add the product of what the classes have and the centre to packed weights."""
        for start, view in self.problem.groups(W):
            part = by[start : start + view.shape[1]]
            view[:, : len(part)] += np.multiply.outer(self.centre, part)

    def _at_centre(self, W: np.ndarray) -> np.ndarray:
        """The responses of the centre."""
        parts = [self.centre @ view for _, view in self.problem.groups(W)]
        return np.concatenate(parts)[: self.problem.n_classes]

    def _cost(self, q: np.ndarray) -> float:
        """What an unbalanced p' costs D, roughly: rows are moved to other classes."""
        if not q.any():
            return 0.0
        Z = self.point.Z + self.point.b
        loss = float(np.abs(q).sum()) * float((Z.max(axis=1) - Z.min(axis=1)).mean())
        return loss + float(q @ q) * float(self.centre @ self.centre) / self.problem.l2

    # a step

    def _step(self, r: np.ndarray, q: np.ndarray) -> bool:
        """A step of Newton's method; whether the objective fell."""
        inside = self.point.p > 0
        free = np.flatnonzero(inside.sum(axis=1) > 1)
        bends = self.share[free] / (self.h + self.bend)
        V, v = self._factored(free, inside[free], bends, -r, -q)
        fall = float(r @ V) + float(q @ v)
        if self.problem.fit_intercept:
            v = v - self._at_centre(V)
        return fall < 0 and self._search(V, v, fall)

    def _search(self, V: np.ndarray, v: np.ndarray, fall: float) -> bool:
        """Go along a direction to where the objective, which bends at corners, is about flat;
        whether it fell."""
        problem, point, change = self.problem, self.point, self._responses(V)
        along = change + v
        square, linear = problem.l2 * float(V @ V), problem.l2 * float(V @ point.W)
        low, high, at_low, at_high, length = 0.0, np.inf, fall, np.nan, 1.0
        best = point
        for k in range(_MOST_TRIALS):
            other = self._at(point.W + length * V, point.b + length * v, point.Z + length * change)
            slope = linear + length * square + float(
                self.share @ np.einsum("ik,ik->i", other.p - self.q, along))
            if other.value < best.value + 1e-15 * abs(best.value):
                best = other
            if abs(slope) <= -_FLAT * fall and best is other:
                break
            if slope < 0:
                low, at_low = length, slope
            else:
                high, at_high = length, slope
            if high == np.inf:
                length *= 2.0
                if k >= 3:
                    break
            else:
                share = at_low / (at_low - at_high)
                length = low + (high - low) * min(max(share, 0.1), 0.9)
        self.point = best
        return best is not point

    def _factored(self, free: np.ndarray, inside: np.ndarray, bends: np.ndarray, r: np.ndarray,
                  q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The direction from a factor of the Hessian, put together of pairs of classes."""
        problem, K, d = self.problem, self.problem.n_classes, self.problem.X.shape[1]
        with_b = problem.fit_intercept
        size = d + with_b
        each = bends / inside.sum(axis=1)

        def part_of(k: int, other: int) -> np.ndarray | None:
            both = np.flatnonzero(inside[:, k] & inside[:, other])
            if not len(both):
                return None
            return pair(rows_taken(problem.X, free[both]), each[both], self.centre, with_b)

        H = joined_pairs(K, size, problem.l2, d, part_of)
        if with_b:
            place = np.arange(K)
            H[place, d, place, d] += _DAMPING / ((self.h + self.bend) * K)
        right = np.zeros((K, size))
        right[:, :d] = problem.unpacked(r)
        right[:, d:] = q[:, None] if with_b else 0.0
        solve, _ = cholesky(H.reshape(K * size, K * size), 0.0)
        found = solve(right.ravel()).reshape(K, size)
        return problem.packed(found[:, :d]), found[:, d] if with_b else np.zeros(K)
