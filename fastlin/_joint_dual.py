"""Dual coordinate ascent for K outputs: softmax, sparsemax and the multi-class hinge with an L2
penalty, or L1 and L2. `fl_joint_dual.h` has the mathematics of a visit, `_dual_cd` the same for one
output.

Where rows are long beside the penalty, p is at first far from the optimum by as much as they are
long, and ascent from nothing does not get there. So the penalty falls in steps: (1/l2) (q - p), and
with it W, is carried over from each to the next, and near the hard margin it hardly changes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._blocks import room_for
from ._core import joint_dual as _joint_dual
from ._dual_watch import LEAP, Watch
from ._epochs import row_order
from ._isa import ISA
from ._joint_dual_newton import ProximalNewton, price
from ._joint_interior import InteriorPoint
from ._joint_problem import JointFit, JointProblem, inverse_of_bend, shrunk, times
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate
from ._row_centre import centre_of, in_single, proximal_weight, seen_from
from ._scores import rows_per_call

__all__ = ["solve"]

_NOTHING = np.empty(0)
# The logarithm of the probability of a class that a row has no share of, before it is visited
_UNTOUCHED = 40.0
# The gap is estimated on every so many rows, where there are many.
_STRIDE, _MANY_ROWS = 8, 4096
# Ascent on a loss that bends gets faster on its way: so many epochs come before a leap, or as many
# as that is worth.
_PATIENCE = 300
# A leap is worth another if it takes the gap below this share.
_MUCH = 0.1
# Rows that are held at a corner by more than this share of the largest violation rest.
_HELD = 0.1
# So many epochs without a smaller estimate are for double precision.
_IDLE = 3
# What is known on the way is rounded: the search goes on until this share of tol.
_WITHIN = 0.9
# A better intercept is looked for if it would take more than this share of the gap that is asked
# for.
_WORTH = 0.05
# |x - c|^2 / (S l2), the length of rows beside the penalty, at the first of its steps, how far they
# go, the gap that ends those before the last, and the gap there from which on they end with none
_LONG, _STEP, _ROUGHLY, _NEAR = 1e3, 10.0, 1e-4, 0.1
# The most that the losses bend in the intercept: (p - p^2 <= 1/2, 1; the hinge has no such number)
_BENDS = {"log_loss": 0.5, "sparsemax": 1.0, "hinge": 1.0}


def solve(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
          start: JointFit | None = None) -> JointFit:
    """Minimise until the relative gap is at most `tol`, or for `max_iter` epochs."""
    epochs, is_near = 0, False
    for l2 in [] if start is not None else _falling(problem):
        # whatever a step leaves undone, the last has half of the epochs
        most = (max_iter - epochs) // 2
        if most < 1:
            break
        if start is not None:
            start = _carried_over(replace(problem, l2=l2), start)
        enough = tol if is_near else max(tol, _ROUGHLY)
        start = _ascend(replace(problem, l2=l2), enough, most, seed, start, epochs > 0)
        epochs += start.n_iter
        if price(problem) < np.inf:
            # near the hard margin that is all
            best = _Best(problem, _WITHIN * tol)
            best.leap(_carried_over(problem, start), 0)
            if best.is_good:
                return best.fit(epochs, tol)
            is_near = best.gap <= _NEAR
            if _is_for_interior(problem, start):
                break
    if epochs and start is not None:
        start = _carried_over(problem, start)
    if not (epochs and start is not None and _is_for_interior(problem, start)):
        start = _ascend(problem, tol, max_iter - epochs, seed, start, epochs > 0)
        epochs += start.n_iter
    if epochs < max_iter and _is_for_interior(problem, start):
        best = _Best(problem, _WITHIN * tol)
        epochs += best.go_inside(start, max_iter - epochs)
        return best.fit(epochs, tol)
    return replace(start, n_iter=epochs)


def _is_for_interior(problem: JointProblem, fit: JointFit) -> bool:
    """Whether ascent and Newton's method left something that an interior point method can do."""
    return not fit.converged and problem.loss == "hinge" and price(problem) < np.inf


def _falling(problem: JointProblem) -> list[float]:
    """Penalties above that of the problem, each weaker than the one before; none where ascent gets
    along without."""
    if problem.loss == "log_loss" or problem.l1:
        return []
    centre = centre_of(problem.X, problem.weight) if problem.fit_intercept else _NOTHING
    squares, k, cc = seen_from(problem.X, centre)
    squares = squares + cc - 2 * k if problem.fit_intercept else squares
    mean = float(np.maximum(squares, 0.0) @ problem.shares_of(np.arange(len(squares))))
    length = min(mean / (problem.total_weight * problem.l2), 1e300)
    if not length > _STEP * _LONG:
        return []
    steps = int(np.ceil(np.log(length / _LONG) / np.log(_STEP)))
    return (problem.l2 * np.geomspace(length / _LONG, 1.0, steps + 1)[:-1]).tolist()


def _carried_over(problem: JointProblem, fit: JointFit) -> JointFit:
    """An answer to a stronger penalty as the start for this one. W stays, and p goes towards q as
    far as D rises, which at the hard margin leaves (1/l2) (q - p) as it is."""
    assert fit.dual is not None
    p = fit.dual.astype(np.float64)
    own, square = 0.0, 0.0

    def pulls(rows: np.ndarray) -> np.ndarray:
        nonlocal own, square
        q, share = problem.target.table(rows), problem.shares_of(rows)
        p[rows] -= q
        own -= float(share @ np.einsum("ik,ik->i", p[rows], q))
        if problem.loss == "sparsemax":
            square += float(share @ np.einsum("ik,ik->i", p[rows], p[rows]))
        return p[rows] * share[:, None]

    V = problem.added(pulls)
    square += float(V @ V) / problem.l2
    p *= min(1.0, own / max(square, 1e-300))
    for rows in problem.blocks():
        p[rows] += problem.target.table(rows)
    return replace(fit, dual=p)


def _ascend(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
            start: JointFit | None, carried: bool = False) -> JointFit:
    """`solve` for one penalty, from a start, which may be carried over from another."""
    watch, best = Watch(tol), _Best(problem, _WITHIN * tol)
    epoch, leap_price = 0, price(problem)
    patience = 0 if problem.loss == "hinge" else max(_PATIENCE, leap_price)
    if start is not None and carried and leap_price < np.inf:
        # ascent would first go far from what was carried over
        epoch, start = best.leap(start, min(LEAP, max_iter))
        if best.is_good or problem.loss == "hinge":
            return best.fit(epoch, tol)
    ascent = _Ascent(problem, seed, start)
    if start is not None:
        best.offer(ascent)
    while not best.is_good and epoch < max_iter:
        ascent.run_epoch()
        epoch += 1
        due = watch.is_due(epoch, ascent.estimate())
        if watch.idle >= _IDLE:
            ascent.refine()
        last_call = leap_price < np.inf and epoch == max_iter - 2 * LEAP
        if not (due or last_call) and epoch < max_iter:
            continue
        gap = best.offer(ascent)
        if best.is_good:
            break
        if leap_price < np.inf and epoch >= patience and epoch < max_iter and watch.takes_more(
                min(leap_price, max_iter - epoch), epoch, gap):
            epoch += ascent.leap(best, min(LEAP, max_iter - epoch))
            if best.is_good or problem.loss == "hinge":
                break
            # what brought little is not tried again
            leap_price = leap_price if best.gap < _MUCH * gap else np.inf
            gap = best.gap
        ascent.wake_all()
        if watch.note(epoch, gap):
            ascent.refine()
    return best.fit(epoch, tol)


class _Best:
    """The best answer and the best bound measured so far, in double on the user's values."""

    def __init__(self, problem: JointProblem, tol: float):
        self.problem, self.tol = problem, tol
        # the hinge has no curvature to find better intercepts by
        self.bends = problem.fit_intercept and problem.loss != "hinge"
        self.objective, self.bound = np.inf, -np.inf
        self.W, self.b, self.dual = _NOTHING, _NOTHING, _NOTHING

    @property
    def is_good(self) -> bool:
        """Whether the gap is at most tol."""
        return self.gap <= self.tol

    @property
    def gap(self) -> float:
        """The relative gap."""
        return self._gap(self.objective, self.bound)

    def _gap(self, objective: float, bound: float) -> float:
        """The relative gap between P and D."""
        return Certificate.progress(objective, bound, self.problem.mean_loss_of_nothing())

    def offer(self, ascent: _Ascent) -> float:
        """Measure what an ascent has reached; returns its relative gap."""
        problem = self.problem
        W, bound = ascent.weights()
        penalty = problem.penalty(W)
        b = ascent.intercept()
        sums = problem.sums(W, b, with_bend=self.bends)
        objective = sums.mean_loss + penalty
        if sums.bend is not None:
            step = -times(inverse_of_bend(sums.bend), sums.slope)
            fall = -0.5 * float(step @ sums.slope)
            if fall > _WORTH * self.tol * objective:
                other = problem.sums(W, b + step).mean_loss + penalty
                if other < objective:
                    b, objective = b + step, other
        if not np.isfinite(objective - bound):
            return np.inf
        if objective < self.objective:
            self.W, self.b, self.objective = W, b, objective
        if bound > self.bound:
            self.bound, self.dual = bound, ascent.state.copy()
        return self._gap(objective, bound)

    def consider(self, W: np.ndarray, b: np.ndarray, mean_loss: float,
                 p: np.ndarray) -> tuple[float, bool]:
        """Measure weights, intercepts and dual variables; returns the gap, not relative, and
        whether it is good."""
        problem = self.problem
        objective = mean_loss + problem.penalty(W)
        mass = problem.shares_of(np.arange(len(p))) @ p
        _, bound = problem.dual_side(lambda rows: p[rows], mass)
        if objective < self.objective:
            self.W, self.b, self.objective = W, b, objective
        if bound > self.bound:
            self.bound, self.dual = bound, p
        return objective - bound, self.is_good

    def leap(self, start: JointFit, most: int) -> tuple[int, JointFit]:
        """Offer a start with dual variables, and go on from it by Newton's method: the number of
        its steps, at most so many, and where they led to."""
        problem, p = self.problem, start.dual
        assert p is not None
        p = p / p.sum(axis=1, keepdims=True, dtype=np.float64)
        newton = ProximalNewton(problem, p, problem.packed(start.coef), start.intercept)
        steps, point = newton.ascend(self.consider, most), newton.point
        return steps, replace(start, coef=problem.unpacked(point.W), intercept=point.b,
                              dual=point.p)

    def go_inside(self, start: JointFit, most: int) -> int:
        """Offer a start, and go on from it by an interior point method; returns the number of its
        steps, at most so many."""
        _, start = self.leap(start, 0)
        assert start.dual is not None
        inside = InteriorPoint(self.problem, start.dual, self.problem.packed(start.coef),
                               start.intercept)
        return inside.ascend(self.consider, most)

    def _consider_nothing(self) -> None:
        """Take W = 0 where what was found is worse, as sums that overflow are."""
        W = np.zeros(self.problem.X.shape[1] * self.problem.width)
        b = self.problem.first_intercept()
        objective = self.problem.sums(W, b).mean_loss
        if not self.objective <= objective:
            self.W, self.b, self.objective = W, b, objective

    def fit(self, n_iter: int, tol: float) -> JointFit:
        """The answer."""
        problem = self.problem
        if not self.objective <= problem.mean_loss_of_nothing():
            self._consider_nothing()
        # W = 0 is dual feasible as well, and bounds P by no less than 0
        certificate = problem.certificate(self.objective, max(self.bound, 0.0))
        return JointFit(problem.unpacked(self.W), self.b - self.b.mean(), n_iter, certificate,
                        certificate.relative_gap <= tol, self.dual)


class _Ascent:
    """The dual variables and all that a visit needs."""

    def __init__(self, problem: JointProblem, seed: np.ndarray, start: JointFit | None):
        self.problem, n, K = problem, len(problem.target), problem.n_classes
        self.X = in_single(problem.X, problem.width)
        self.is_log = problem.loss == "log_loss"
        mass = min(1.0 / (problem.total_weight * problem.l2), 1e300)
        self.mass = mass * problem.weight if len(problem.weight) else np.full(n, mass)
        self.rule = {
            "loss": problem.code, "fit_intercept": problem.fit_intercept, "mass": mass, "nu": 0.0,
            "cc": 0.0, "tau": min(problem.l1 / problem.l2, 1e300), "K": K, "d": problem.X.shape[1],
            "stride": _STRIDE if n > _MANY_ROWS else 1, "slack": np.inf,
        }
        self.sums = dict.fromkeys(("gap", "objective", "violation"), 0.0)
        self.room = np.empty(_joint_dual.ROOM * problem.width)
        self.B, self.s, self.U = np.zeros((3, problem.width))
        self.centre = self._centre() if problem.fit_intercept else _NOTHING
        self._measure()
        self.state = self._begin(start, self.X.dtype)
        self.W = np.zeros(problem.X.shape[1] * problem.width, self.X.dtype)
        if start is None:
            self._set_intercept(problem.first_intercept())
        else:
            self._set_intercept(start.intercept)
            self._sum_up()
        rows = np.arange(n)
        codes = problem.target.classes[problem.target.first[:-1]].astype(np.float64)
        self.order = row_order(self.X, codes, rows, True, seed)
        self.active, self.resting = rows, np.zeros(n, np.uint8)

    def _centre(self) -> np.ndarray:
        """What columns are counted from: with L1 nothing is, or V would be dense."""
        problem = self.problem
        if problem.l1:
            return np.zeros(problem.X.shape[1])
        return centre_of(problem.X, problem.weight)

    def _begin(self, start: JointFit | None, dtype: np.dtype) -> np.ndarray:
        """The dual variables before the first visit: W = 0, or those of a fit."""
        problem = self.problem
        if start is not None and start.dual is not None and len(start.dual) == len(problem.target):
            return self._checked(start.dual).astype(dtype)
        state = np.empty((len(problem.target), problem.n_classes), dtype)
        W = None if start is None else problem.packed(start.coef)
        room = room_for(problem.X)
        for rows in problem.blocks():
            if W is None or start is None:
                p = problem.target.table(rows)
            else:
                p = problem.evaluated(problem.responses(W, start.intercept, rows, room), rows)[1]
            if self.is_log:
                p = np.log(np.maximum(p, np.exp(-_UNTOUCHED)))
            state[rows] = p
        return state

    def _checked(self, dual: np.ndarray) -> np.ndarray:
        """What is kept of rows that another fit left: points of the simplex, or logarithms."""
        if self.is_log:
            return np.clip(dual, -_UNTOUCHED, 0.0)
        p = np.clip(dual, 0.0, 1.0)
        return p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300)

    def _measure(self) -> None:
        """k, and the h of each row."""
        problem = self.problem
        squares, self.k, cc = seen_from(self.X, self.centre)
        if problem.fit_intercept:
            squares = np.maximum(squares + cc - 2 * self.k, 0.0)
            mean = float(squares @ problem.shares_of(np.arange(len(squares))))
            nu = proximal_weight(mean, problem.l2, _BENDS[problem.loss])
            squares += nu
            self.rule.update(cc=cc, nu=nu)
        self.h = squares * self.mass

    def _probabilities(self, rows: np.ndarray) -> np.ndarray:
        """p of some rows, in double."""
        p = self.state[rows].astype(np.float64)
        if self.is_log:
            np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        return p

    def weights(self) -> tuple[np.ndarray, float]:
        """(W, D) of dual variables near ours that are feasible."""
        problem = self.problem
        mass = np.zeros(problem.n_classes)
        if problem.fit_intercept:
            for rows in problem.blocks():
                mass += problem.shares_of(rows) @ self._probabilities(rows)
        V, bound = problem.dual_side(self._probabilities, mass)
        return shrunk(V, problem.l1) / problem.l2, bound

    def _sum_up(self) -> None:
        """W, s and U from the dual variables; b stays."""
        problem, b = self.problem, self.intercept()
        s, U = np.zeros((2, problem.n_classes))

        def pulls(rows: np.ndarray) -> np.ndarray:
            pull = (problem.target.table(rows) - self._probabilities(rows)) * self.mass[rows, None]
            if problem.fit_intercept:
                s[:] += pull.sum(axis=0)
                U[:] += self.k[rows] @ pull
            return pull

        self.W[:] = problem.added(pulls)
        K = problem.n_classes
        self.s[:K], self.U[:K] = s, U
        self._set_intercept(b)

    def _offset(self) -> np.ndarray:
        """b - B"""
        return self.rule["nu"] * self.s - (self.U - self.s * self.rule["cc"])

    def intercept(self) -> np.ndarray:
        """b as of now."""
        return (self.B + self._offset())[: self.problem.n_classes]

    def _set_intercept(self, b: np.ndarray) -> None:
        """Let b be this, by B."""
        if self.problem.fit_intercept:
            K = self.problem.n_classes
            self.B[:K] = b - self._offset()[:K]

    def run_epoch(self) -> None:
        """Visit the active rows once, and move B."""
        problem, order, target = self.problem, self.order.next(), self.problem.target
        fetch, piece = self.order.fetch, rows_per_call(self.X, problem.width)
        self.sums = dict.fromkeys(self.sums, 0.0)
        for start in range(0, len(order), piece):
            if is_cancelled():
                raise Cancelled
            stop = start + piece
            self.sums = _joint_dual.visit(
                ISA, self.X, target.first, target.classes, target.shares, problem.weight, self.h,
                self.k, order[start:stop], fetch[start:stop], self.rule, self.sums, self.state,
                self.B, self.s, self.U, self.W, self.resting, self.room,
            )  # fmt: skip
        if problem.fit_intercept:
            self.B += self.rule["nu"] * self.s
        if not self.is_log:
            self.rule["slack"] = _HELD * self.sums["violation"] or np.inf
            self._visit_only(self.active[self.resting[self.active] == 0])

    def estimate(self) -> float:
        """The relative gap, as the visits of the last epoch saw it."""
        sums, objective = self.sums, self.sums["objective"]
        return max(0.0, sums["gap"]) / max(objective, 1e-300)

    def leap(self, best: _Best, most: int) -> int:
        """Go on by Newton's method from the best that was measured; returns the number of its
        steps, at most so many."""
        before = best.gap
        steps, point = best.leap(best.fit(0, 0.0), most)
        if best.gap < before:
            self.state[:] = point.dual
            self.refine()
            self._sum_up()
            self._set_intercept(point.intercept)
        return steps

    def wake_all(self) -> None:
        """Let every row take part."""
        self._visit_only(np.arange(len(self.resting)))

    def _visit_only(self, active: np.ndarray) -> None:
        """Let these rows take part, or all if there are none."""
        if len(active) == 0:
            active = np.arange(len(self.resting))
        self.order, self.active = self.order.only(active), active

    def refine(self) -> None:
        """Go on in double precision, on the user's own values."""
        if self.X is self.problem.X and self.W.dtype == np.float64:
            return
        if self.X is not self.problem.X:
            self.X = self.problem.X
            self._measure()
        if self.X.dtype == np.float64:
            self.W, self.state = self.W.astype(np.float64), self.state.astype(np.float64)
        self._sum_up()
