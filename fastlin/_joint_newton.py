"""Newton's method for K outputs: softmax and sparsemax with any mixture of L1 and L2 penalties, or
none, in blocks of rows, so that no array of n x K is needed; one that is small beside the rows
holds their probabilities, which products with the Hessian would else work out again.

A step solves (H + l2 I) d = -g by preconditioned conjugate gradients, as far as the gradient asks
for (Dembo, Eisenstat & Steihaug 1982, "Inexact Newton methods", SIAM J. Numer. Anal. 19). With an
L1 penalty it moves within the orthant that the weights and the least subgradient point into, on the
coordinates that are not held at 0, where the objective is smooth, and stops at its faces (Andrew &
Gao 2007, "Scalable training of L1-regularized log-linear models", ICML; Byrd, Chin, Nocedal &
Oztoprak 2016, "A family of second-order methods for convex l1-regularized optimization", Math.
Program. 159). Where such a step gains little, one of proximal gradients finds another orthant.

Columns are counted from their mean, which takes out most of what ties the weights to the
intercepts; the intercepts are K more coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._blocks import column_squares, rmatvec, room_for
from ._centred import squares_about
from ._class_factors import ClassFactors
from ._joint_problem import (
    JointFit,
    JointProblem,
    inverse_of_bend,
    least_subgradient,
    shrunk,
    times,
)
from ._problem import LEAST_WITHOUT_PENALTY, Certificate
from ._solve import is_little

__all__ = ["Descent", "solve"]

_MOST_PRODUCTS = 100
# The probabilities of all rows are kept where they take no more than this or a quarter of the rows.
_SMALL_BYTES = 1 << 21
# Multiplications for all entries of a Hessian, twice, up to which it is summed up
_LITTLE = 2e6
# and weights beyond the number of rows
_FEW_WEIGHTS = 64
# Products of a step, at least and for so many columns, from which factors of the blocks of one
# output are worth their making, and the memory up to which they are
_MANY_PRODUCTS, _COLUMNS_PER_PRODUCT, _MOST_FACTOR_BYTES = 6, 8, 1 << 26
_MOST_TRIALS = 30
# A residual below this share of the first is rounding, which steps along flat directions blow up.
_FINEST = 1e-7
# A fall of the objective below this share is a rounding
_NO_FALL = 1e-15
# Gaps below this share of the objective are roundings of it.
_ROUNDING = 1e-14
# Where they are asked for, a step is solved to this share of them.
_SHARE_OF_ROUNDING = 1e-3
# The gap is measured when a step gains less than this share of what is asked for, and less
# after a measurement in vain.
_NEAR = 0.8
# With L1 the smooth part may be flat where the penalty is not: to add the same to the weights of
# all classes changes no loss. A share of the diagonal keeps such steps finite; it falls while whole
# steps succeed.
_DAMPING, _DAMPING_FALL, _DAMPING_RISE = 1e-2, 0.3, 4.0


# (r, q), in the weights and in the intercepts, to a product of the same shapes
_Inverse = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def solve(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
          start: JointFit | None = None) -> JointFit:
    """Minimise until the relative gap is at most `tol`, or for `max_iter` steps."""
    descent = Descent(problem, max(tol, _ROUNDING), start)
    n_iter, stalls = 0, 0
    while n_iter < max_iter and stalls < 2:
        if descent.is_near():
            if descent.measure().relative_gap <= descent.tol:
                break
            descent.near *= 0.3
        if descent.is_endless():
            break
        before = descent.point
        stalls = 0 if descent.step() else stalls + 1
        n_iter += 1
        if descent.point is before and not descent.damping:
            # the same step would come out again
            break
    return descent.fit(n_iter)


@dataclass
class _Point:
    """Weights and what one pass over the rows says of them."""

    W: np.ndarray  # packed
    b: np.ndarray
    objective: float
    gradient: np.ndarray  # of the smooth part, packed
    slope: np.ndarray
    bend: np.ndarray
    inverse_bend: np.ndarray
    p: np.ndarray | None  # of all rows, where there is room for them


class Descent:
    """Weights on their way to the optimum, and what is known about them."""

    def __init__(self, problem: JointProblem, tol: float, start: JointFit | None):
        self.problem, self.tol, X = problem, tol, problem.X
        n, self.d = X.shape
        self.share = problem.shares_of(np.arange(n))
        self.room, self.ones = room_for(X), np.ones(problem.n_classes)
        self.dense: np.ndarray | None = None  # centred rows, and a column of ones
        self.factors: ClassFactors | None = None
        self.products = 0  # of the last step
        self.centre = rmatvec(X, self.share)
        squares = column_squares(X, self.share)
        variance = squares - self.centre**2
        self.variance = np.where(variance > 1e-13 * squares, variance, 0.0)
        if not problem.fit_intercept:
            self.centre, self.variance = np.zeros(self.d), squares
        self.keeps_p = 8 * n * problem.n_classes <= max(_SMALL_BYTES, X.nbytes // 4)
        self.point = self._at(np.zeros(self.d * problem.width), problem.first_intercept())
        if start is not None:
            other = self._at(problem.packed(start.coef), start.intercept)
            if other.objective < self.point.objective:
                self.point = other
        self.certificate: Certificate | None = None
        self.largest = 1e-300
        self.expected = self.gain = np.inf
        self.step_size, self.near = 1.0, _NEAR
        self.damping = _DAMPING if problem.l1 else 0.0

    def _at(self, W: np.ndarray, b: np.ndarray) -> _Point:
        """One pass over the rows."""
        problem = self.problem
        p = np.empty((len(self.share), problem.n_classes)) if self.keeps_p else None
        sums = problem.sums(W, b, with_bend=True, with_gradient=True, p_of_rows=p)
        gradient = sums.gradient
        if problem.l2:
            gradient += problem.l2 * W
        slope = sums.slope if problem.fit_intercept else np.zeros_like(b)
        return _Point(W, b, sums.mean_loss + problem.penalty(W), gradient, slope, sums.bend,
                      inverse_of_bend(sums.bend), p)

    def move_to(self, W: np.ndarray, b: np.ndarray) -> None:
        """Go on from other weights."""
        self.point, self.certificate = self._at(W, b), None

    @cached_property
    def squares(self) -> np.ndarray:
        """|x_i - c|^2 of each row"""
        return squares_about(self.problem.X, self.centre)

    # packed arrays

    def _by_column(self, each: np.ndarray, by: np.ndarray) -> np.ndarray:
        """The packed outer product: each_j by_k."""
        out = np.zeros(self.d * self.problem.width)
        for start, view in self.problem.groups(out):
            part = by[start : start + view.shape[1]]
            np.multiply.outer(each, part, out=view[:, : len(part)])
        return out

    def _sums_by_output(self, each: np.ndarray, V: np.ndarray) -> np.ndarray:
        """sum_j each_j V_jk for each output."""
        out = np.zeros(self.problem.width)
        for start, view in self.problem.groups(V):
            out[start : start + view.shape[1]] = each @ view
        return out[: self.problem.n_classes]

    # the direction

    def _hessian(self) -> np.ndarray | None:
        """H + l2 I on the packed weights and the intercepts, where it costs less than some products
        with it; None elsewhere. The price of a call is most of such a product on little data."""
        problem, p, (n, d) = self.problem, self.point.p, self.problem.X.shape
        K, width = problem.n_classes, problem.width
        one_group = next(problem.groups(self.point.W))[1].shape[1] == width
        cheap = n * (d + 1.0) ** 2 * K * K <= _LITTLE and d * K <= n + _FEW_WEIGHTS
        if p is None or not cheap or not one_group:
            return None
        if self.dense is None:
            self.dense = np.ones((n, d + 1))
            np.subtract(problem.X.toarray(), self.centre, out=self.dense[:, :d])
        by, each = problem.bend_parts(p, self.share)
        blocks = np.empty((d + 1, K, d + 1, K))
        for k in range(K):
            for j in range(k + 1):
                h = -each * by[:, k] * by[:, j]
                if j == k:
                    h += self.share * by[:, k]
                blocks[:, k, :, j] = blocks[:, j, :, k] = (self.dense.T * h) @ self.dense
        place = np.add.outer(np.arange(d + 1) * width, np.arange(K)).ravel()
        H = np.zeros((d * width + K, d * width + K))
        H[np.ix_(place, place)] = blocks.reshape(len(place), len(place))
        weights = np.arange(d * width)
        H[weights, weights] += problem.l2
        return H

    def _product(self, V: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(H + l2 I) (V, v), with columns counted from their mean."""
        problem, point, K = self.problem, self.point, self.problem.n_classes
        shift = v - self._sums_by_output(self.centre, V)
        out, total = problem.l2 * V, np.zeros(K)
        for rows in problem.blocks():
            if point.p is None:
                z = problem.responses(point.W, point.b, rows, self.room)
                _, p = problem.evaluated(z, rows)
            else:
                p = point.p[rows[0] : rows[-1] + 1]
            along = problem.responses(V, shift, rows, self.room)
            t = problem.bent(p, along[:, :K])
            t *= self.share[rows, None]
            total += t.sum(axis=0)
            along[:, :K], along[:, K:] = t, 0.0
            problem.add(along, rows, out, self.room)
        if problem.fit_intercept:
            out -= self._by_column(self.centre, total)
        return out, total

    def _diagonal(self) -> tuple[np.ndarray, np.ndarray]:
        """The diagonal of H + l2 I, roughly, and its inverse, 0 where there is none."""
        problem = self.problem
        bend = self.point.bend
        bend = bend if bend.ndim == 1 else np.diagonal(bend)
        diagonal = self._by_column(self.variance, np.maximum(bend, 1e-8))
        diagonal += problem.l2
        inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
        return diagonal, inverse

    def _inverse_bend(self) -> np.ndarray:
        """That of the Hessian in the intercepts, 0 where these are not free."""
        inverse = self.point.inverse_bend
        return inverse if self.problem.fit_intercept else np.zeros_like(inverse)

    def _preconditioner(self, mask: np.ndarray | None, H: np.ndarray | None
                        ) -> tuple[np.ndarray, _Inverse]:
        """(the diagonal, (r, q) to about their (d, d_b)): by the diagonal, or where products are
        dearer and it takes many, or factors cost next to nothing, by the blocks of one output
        each."""
        problem, p = self.problem, self.point.p
        diagonal, inverse = self._diagonal()
        n, d = problem.X.shape
        smooth = problem.loss == "log_loss" and not problem.l1
        small = 8.0 * problem.n_classes * (d + 1.0) ** 2 <= _MOST_FACTOR_BYTES
        if H is None and p is not None and smooth and small:
            most = max(_MANY_PRODUCTS, d / _COLUMNS_PER_PRODUCT)
            if self.products > most or (self.factors is None and is_little(n, d)):
                self.factors = ClassFactors(problem, self.share, self.centre, self.squares, p)
        if self.factors is not None:
            return diagonal, self.factors.solve
        if mask is not None:
            inverse = inverse * mask
        inverse_b = self._inverse_bend()
        return diagonal, lambda r, q: (inverse * r, times(inverse_b, q))

    def _direction(self, r: np.ndarray, q: np.ndarray, mask: np.ndarray | None
                   ) -> tuple[np.ndarray, np.ndarray, float]:
        """(d, d_b, expected fall) by preconditioned conjugate gradients for the right side (r, q);
        d_b belongs to columns counted from their mean."""
        problem, inverse_b = self.problem, self._inverse_bend()
        H = self._hessian()
        diagonal, precondition = self._preconditioner(mask, H)
        self.products = 0
        d, d_b = np.zeros_like(r), np.zeros_like(q)
        y, y_b = precondition(r, q)
        rho = float(r @ y) + float(q @ y_b)
        first, V, v, fall = rho, y.copy(), y_b.copy(), 0.0
        objective = self.point.objective
        size = float(np.sqrt(max(rho, 0.0)))
        self.largest = max(self.largest, size)
        # the nearer the optimum, the more exact a step pays
        accuracy = min(0.05, max(_FINEST, size / self.largest))
        while self.products < _MOST_PRODUCTS:
            if not rho > accuracy * accuracy * first:
                break
            if H is None:
                product, product_b = self._product(V, v)
            else:
                product, product_b = np.split(H @ np.concatenate([V, v]), [len(V)])
            self.products += 1
            if self.damping:
                product += self.damping * (diagonal * V)
            if mask is not None:
                product *= mask
            curvature = float(V @ product) + float(v @ product_b)
            if not curvature > 0:
                break
            alpha = rho / curvature
            fall += 0.5 * alpha * rho
            d += alpha * V
            d_b += alpha * v
            r = r - alpha * product
            q = q - alpha * product_b
            # where the last digits are asked for, a gap is too coarse to say that they are there
            share = 0.2 if self.tol > _ROUNDING else _SHARE_OF_ROUNDING
            if problem.l2 and self._gap_of(
                    r, float(q @ times(inverse_b, q))) <= share * self.tol * objective:
                break
            y, y_b = precondition(r, q)
            rho, last = float(r @ y) + float(q @ y_b), rho
            V = y + (rho / last) * V
            v = y_b + (rho / last) * v
        return d, d_b, fall

    def _gap_of(self, r: np.ndarray, by_intercepts: float) -> float:
        """The gap that a gradient stands for, in the weights and in the intercepts, where there is
        an L2 penalty."""
        return float(r @ r) / (2 * self.problem.l2) + 0.5 * by_intercepts

    def _common(self, V: np.ndarray) -> np.ndarray:
        """The mean over the outputs for each column. The losses do not change if the weights of all
        outputs do, so that it is a rounding in what they pull: with long rows the penalty alone
        would let a step go far after it."""
        return sum(view.sum(axis=1) for _, view in self.problem.groups(V)) / len(self.ones)

    # steps

    def step(self) -> bool:
        """One step; whether the objective fell."""
        begin, before, self.certificate = self.point, self.point.objective, None
        pull = -least_subgradient(self.point.W, self.point.gradient, self.problem.l1)
        mask = None
        if self.problem.l1:
            mask = ((self.point.W != 0) | (pull != 0)).astype(np.float64)
        pull_b = -(self.point.slope)
        # columns counted from their mean: the weights' pull less what the intercepts would do
        r = pull - self._by_column(self.centre, pull_b) if self.problem.fit_intercept else pull
        if mask is not None:
            r = r * mask
        elif self.problem.l2:
            r = r - self._by_column(self._common(r + self.problem.l2 * self.point.W), self.ones)
        d, d_b, self.expected = self._direction(r, pull_b, mask)
        t = self._search(d, d_b - self._sums_by_output(self.centre, d), pull)
        if self.problem.l1:
            self.damping *= _DAMPING_FALL if t == 1 else _DAMPING_RISE
            if before - self.point.objective < 0.5 * self.expected:
                self._proximal_step()
        self.gain = before - self.point.objective
        return self.gain > _NO_FALL * before or self._is_steadier(self.point, begin, pull)

    def _search(self, d: np.ndarray, d_b: np.ndarray, pull: np.ndarray) -> float:
        """Go along d as far as the objective falls well, within the orthant; returns how far."""
        point, t = self.point, 1.0
        orthant = np.where(point.W != 0, np.sign(point.W), np.sign(pull)) if (
            self.problem.l1) else None
        for _ in range(_MOST_TRIALS):
            W = point.W + t * d
            if orthant is not None:
                W[W * orthant < 0] = 0.0
            moved = W - point.W
            slope = -float(moved @ pull) + t * float(point.slope @ d_b)
            if not slope < 0:
                return 0.0
            other = self._at(W, point.b + t * d_b)
            is_rounding = -slope <= _ROUNDING * point.objective
            if is_rounding and self.problem.l2 and not self.problem.l1:
                # a fall of the objective would be luck, and no shorter step is steadier
                if not self._is_steadier(other, point, pull):
                    return 0.0
                self.point = other
                return t
            if other.objective <= point.objective + 1e-4 * slope or (
                    is_rounding and self._is_steadier(other, point, pull)):
                self.point = other
                return t
            # the minimum of the parabola through both
            rise = other.objective - point.objective - slope
            t *= min(max(-slope / (2 * rise), 0.1), 0.5) if rise > 0 else 0.5
        return 0.0

    def _is_steadier(self, other: _Point, point: _Point, pull: np.ndarray) -> bool:
        """Whether the pull is less than at a point, where differences of the objective are
        roundings: without L2 the dual side takes its first power, with L2 alone its square, which
        long rows make large."""
        if self.problem.l2 and not self.problem.l1:
            return self._gap_at(other) < 0.25 * self._gap_at(point)
        if self.problem.l2:
            return False
        rest = np.abs(least_subgradient(other.W, other.gradient, self.problem.l1)).max(initial=0.0)
        return bool(rest < 0.5 * np.abs(pull).max(initial=0.0))

    def _proximal_step(self) -> bool:
        """A step of proximal gradients, scaled by the columns; whether the objective fell."""
        problem, point = self.problem, self.point
        _, inverse = self._diagonal()
        g = point.gradient
        if problem.fit_intercept:
            g = g - self._by_column(self.centre, point.slope)
        step_b = times(point.inverse_bend, point.slope)  # 0 where b is not free
        for _ in range(_MOST_TRIALS):
            size = self.step_size * inverse
            W = shrunk(point.W - size * g, size * problem.l1)
            d = W - point.W
            b = point.b - self.step_size * step_b - self._sums_by_output(self.centre, d)
            other = self._at(W, b)
            if other.objective < point.objective:
                self.step_size = min(1.0, 2 * self.step_size)
                self.point = other
                return True
            self.step_size *= 0.5
        return False

    # certificates

    def is_near(self) -> bool:
        """Whether the gap is likely to be small enough."""
        problem, point = self.problem, self.point
        if problem.l1 or not problem.l2:
            return self.gain <= self.near * self.tol * point.objective
        return self._gap_at(point) <= self.near * self.tol * point.objective + 1e-300

    def _gap_at(self, point: _Point) -> float:
        """The gap that the gradient of a point stands for, where there is an L2 penalty alone."""
        r, by_intercepts = point.gradient, 0.0
        if self.problem.fit_intercept:
            r = r - self._by_column(self.centre, point.slope)
            by_intercepts = float(point.slope @ times(point.inverse_bend, point.slope))
        return self._gap_of(r, by_intercepts)

    def is_endless(self) -> bool:
        """Whether longer weights are always better: classes separated, and nothing to pay."""
        problem, point = self.problem, self.point
        free = problem.l1 == 0 and problem.l2 == 0 and problem.loss == "log_loss"
        return free and point.objective <= self.tol * problem.mean_loss_of_nothing()

    def _settle_intercepts(self) -> None:
        """A Newton step for the intercepts alone: what they are short of costs the dual side more
        than it costs the objective."""
        point = self.point
        if self.problem.fit_intercept and point.slope.any():
            step = -times(point.inverse_bend, point.slope)
            other = self._at(point.W, point.b + step)
            if np.abs(other.slope).sum() < np.abs(point.slope).sum():
                self.point = other

    def measure(self) -> Certificate:
        """The certificate, from a pass of its own: dual variables that are feasible."""
        self._settle_intercepts()
        problem, point = self.problem, self.point

        def near(rows: np.ndarray) -> np.ndarray:
            z = problem.responses(point.W, point.b, rows, self.room)
            return problem.evaluated(z, rows)[1]

        V, bound = problem.dual_side(near, problem.class_shares() + point.slope)
        if not (problem.l1 or problem.l2):
            return self._measured_without_penalty(V, bound)
        self.certificate = problem.certificate(point.objective, bound)
        return self.certificate

    def _measured_without_penalty(self, V: np.ndarray, bound: float) -> Certificate:
        """As `_centred.measured` bounds the distance to the best among weights about as long."""
        point, zero = self.point, self.problem.mean_loss_of_nothing()
        t = np.sqrt(self.variance)
        inverse = np.divide(1.0, t, out=np.zeros_like(t), where=t > 0)
        slack = float(np.abs(V * self._by_column(inverse, self.ones)).max(initial=0.0))
        reach = 2 * float(self._by_column(t, self.ones) @ np.abs(point.W)) + 1.0
        self.certificate = Certificate.of(
            point.objective, bound - reach * slack, zero, LEAST_WITHOUT_PENALTY
        )
        return self.certificate

    def fit(self, n_iter: int) -> JointFit:
        """The answer."""
        certificate = self.measure() if self.certificate is None else self.certificate
        point = self.point
        done = certificate.relative_gap <= self.tol and not self.is_endless()
        coef = self.problem.unpacked(point.W)
        return JointFit(coef, point.b - point.b.mean(), n_iter, certificate, done)
