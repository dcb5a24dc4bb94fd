"""Dual coordinate ascent: the default wherever there is an L2 penalty. `fl_dual.h` has the
mathematics of a visit; here is what stands around the visits: how an ascent begins, when its
duality gap is worth measuring, which rows may rest, and when single precision has done its part.

Measuring the gap costs as much as an epoch, since w must be summed up from the dual variables and
every row's response computed. So an epoch estimates the gap on a sample of its rows, each before
its own step; the ratio of the measured gap to the estimate, known from the last measurement, says
when `tol` is likely to be reached.
"""

from __future__ import annotations

import numpy as np

from ._blocks import matvec, rmatvec
from ._core import dual_cd as _dual_cd
from ._core import losses as _losses
from ._core.rows import Rows
from ._data import as_rows
from ._epochs import RowOrder, row_order
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate, Fit, Problem
from ._scores import rows_per_call

__all__ = ["solve"]

_NOTHING = np.empty(0)
_NO_MARKS = np.empty(0, np.uint8)
# Losses made of lines: variables settle at corners, and their rows may rest.
_OF_LINES = ("hinge", "epsilon_insensitive")
# nu over the mean of |x - c|^2: ten times more costs two to three times as many epochs, ten times
# less lets B lag behind.
_NU = 0.01
# Rows that the centre is the mean of: any vector is exact, one near the mean is fast.
_CENTRE_ROWS = 4096
# The gap is estimated on every so many rows, where there are many.
_STRIDE, _MANY_ROWS = 8, 4096
# Gap over its estimate before the first is measured, and the least that is believed
_RATIO, _LEAST_RATIO = 0.3, 0.02
# The gap is measured at the latest when so many times the epochs of the last time have run.
_PATIENCE = 2
# A gap of this size asks for double precision, and so does one that no longer falls by the factor.
_SINGLE_GAP, _PROGRESS = 1e-6, 0.5


def solve(problem: Problem, tol: float, max_iter: int, seed: np.ndarray,
          start: Fit | None = None) -> Fit:
    """Minimise until the relative gap is at most `tol`, or for `max_iter` epochs."""
    best = _Best(problem)
    ascent = _Ascent(problem, seed, start, best.intercept)
    watch = _Watch(tol)
    for epoch in range(1, max_iter + 1):
        ascent.run_epoch()
        if epoch < max_iter and not watch.is_due(epoch, ascent.estimate(best.objective)):
            continue
        gap = best.offer(ascent.a, ascent.intercept())
        if best.gap <= tol:
            break
        ascent.wake()
        if watch.note(epoch, gap):
            ascent.refine()
    return best.fit(epoch, tol)


class _Watch:
    """When the gap is worth measuring."""

    def __init__(self, tol: float):
        self.tol, self.ratio = tol, _RATIO
        self.last, self.gap, self.estimate = 0, np.inf, np.inf

    def is_due(self, epoch: int, estimate: float) -> bool:
        """Whether the gap of this epoch's end is likely to be below tol."""
        self.estimate = estimate
        return self.ratio * estimate <= self.tol or epoch >= _PATIENCE * self.last + 10

    def note(self, epoch: int, gap: float) -> bool:
        """Take down a gap above tol; whether it asks for double precision."""
        stalls = gap > _PROGRESS * self.gap
        if np.isfinite(self.estimate) and self.estimate > 0:
            self.ratio = max(_LEAST_RATIO, min(gap / self.estimate, 1 / _LEAST_RATIO))
        self.last, self.gap = epoch, gap
        return stalls or gap <= _SINGLE_GAP


class _Best:
    """The best answer measured so far: at first that without weights."""

    def __init__(self, problem: Problem):
        self.problem = problem
        nothing = np.zeros(len(problem.y))
        self.coef = np.zeros(problem.X.shape[1])
        self.intercept = problem.best_intercept(nothing)
        self.zero = problem.mean_loss(nothing)
        self.objective = problem.mean_loss(nothing + self.intercept)
        self.bound = problem.dual(nothing, self.coef)
        self.dual: np.ndarray | None = None

    @property
    def certificate(self) -> Certificate:
        """P of the best weights against the best bound."""
        return Certificate.of(self.objective, self.bound, self.zero)

    @property
    def gap(self) -> float:
        """The relative gap."""
        return self.certificate.relative_gap

    def offer(self, a: np.ndarray, b: float) -> float:
        """Measure the weights that follow from the dual variables a; returns their relative gap. b
        is near the best intercept."""
        problem = self.problem
        a = problem.project(a)
        v = rmatvec(problem.X, problem.weighted(a))
        w = v / problem.l2
        b = b if problem.fit_intercept and np.isfinite(b) else 0.0
        z = matvec(problem.X, w, b)
        if not np.isfinite(z).all():
            return np.inf
        more = problem.best_intercept(z)
        z += more
        objective, bound = problem.primal(z, w), problem.dual(a, v)
        if objective < self.objective:
            self.coef, self.intercept, self.objective = w, b + more, objective
        if bound >= self.bound:
            self.bound, self.dual = bound, a
        return Certificate.of(objective, bound, self.zero).relative_gap

    def fit(self, n_iter: int, tol: float) -> Fit:
        """The answer."""
        dual = np.zeros(len(self.problem.y)) if self.dual is None else self.dual
        return Fit(self.coef, self.intercept, n_iter, self.certificate, self.gap <= tol, dual)


class _Ascent:
    """The dual variables and all that a visit needs."""

    def __init__(self, problem: Problem, seed: np.ndarray, start: Fit | None, b: float):
        self.problem, X, n = problem, problem.X, len(problem.y)
        self.X = _single(X) if _SINGLE_COPY else X
        self.of_lines = problem.loss in _OF_LINES
        single = self.X.dtype == np.float32 and not self.of_lines
        mass = min(1.0 / (problem.total_weight * problem.l2), 1e300)
        self.mass = mass * problem.weight if len(problem.weight) else np.full(n, mass)
        self.rule = {
            "loss": problem.code, "loss_parameter": problem.loss_parameter, "mass": mass,
            "fit_intercept": problem.fit_intercept, "nu": 0.0, "cc": 0.0,
            "stride": _STRIDE if n > _MANY_ROWS else 1, "slack": np.inf,
        }
        self.state = dict.fromkeys(("B", "s", "U", "gap", "objective", "violation"), 0.0)
        self.centre = self._find_centre() if problem.fit_intercept else _NOTHING
        self._measure()
        self.a = np.zeros(n) if start is None else _dual_of(problem, start)
        self.u = np.zeros(X.shape[1], np.float32 if single else np.float64)
        self._sum_up()
        if problem.fit_intercept:
            self.state["B"] = b if start is None else start.intercept - self._offset()
        self.logit = _NOTHING
        if problem.loss == "log_loss":
            self.logit = np.empty(n)
            _dual_cd.logits(self.a * problem.y, self.logit)
        rows = np.arange(n)
        self.order = row_order(self.X, problem.y, rows, True, seed)
        self.all_rows, self.active = self.order, rows
        self.resting = np.zeros(n, np.uint8) if self.of_lines else _NO_MARKS

    def _find_centre(self) -> np.ndarray:
        """The mean of some rows."""
        n = len(self.X)
        chosen = np.zeros(n)
        chosen[:: max(1, n // _CENTRE_ROWS)] = 1.0
        if len(self.problem.weight):
            chosen *= self.problem.weight
        return rmatvec(self.X, chosen / chosen.sum())

    def _measure(self) -> None:
        """k, and the h of each row."""
        n, piece = len(self.X), rows_per_call(self.X)
        centred = self.problem.fit_intercept
        squares, self.k = np.empty(n), np.empty(n if centred else 0)
        for start in range(0, n, piece):
            if is_cancelled():
                raise Cancelled
            _dual_cd.measure(
                self.X, self.centre, squares, self.k, start, min(start + piece, n)
            )
        if centred:
            cc = float(self.centre @ self.centre)
            squares = np.maximum(squares + cc - 2 * self.k, 0.0)
            # where rows are short beside l2, b would lag behind
            nu = max(_NU * float(self.problem.weighted(squares).sum()), self.problem.l2)
            squares += nu
            self.rule.update(cc=cc, nu=nu)
        self.h = squares * self.mass

    def _sum_up(self) -> None:
        """u, s and U from the dual variables."""
        pull = self.mass * self.a
        self.u[:] = rmatvec(self.X, pull) if self.a.any() else 0.0
        if self.problem.fit_intercept:
            self.state.update(s=float(pull.sum()), U=float(pull @ self.k))

    def _offset(self) -> float:
        """b - B"""
        rule, state = self.rule, self.state
        return rule["nu"] * state["s"] - (state["U"] - state["s"] * rule["cc"])

    def intercept(self) -> float:
        """b as of now."""
        return self.state["B"] + self._offset()

    def run_epoch(self) -> None:
        """Visit the active rows once, and move B."""
        problem, order = self.problem, self.order.next()
        fetch, piece = self.order.fetch, rows_per_call(self.X)
        self.state.update(gap=0.0, objective=0.0, violation=0.0)
        for start in range(0, len(order), piece):
            if is_cancelled():
                raise Cancelled
            stop = start + piece
            self.state = _dual_cd.visit(
                self.X, problem.y, problem.weight, self.h, self.k, order[start:stop],
                fetch[start:stop], self.rule, self.state, self.a, self.logit, self.u, self.resting,
            )
        if problem.fit_intercept:
            self.state["B"] += self.rule["nu"] * self.state["s"]
        if self.of_lines:
            self._rest()

    def estimate(self, objective: float) -> float:
        """The relative gap, as the visits of the last epoch saw it."""
        total = self.rule["stride"] * self.problem.l2
        if len(self.active) == len(self.X):
            objective = min(objective, total * self.state["objective"])
        return total * self.state["gap"] / max(objective, 1e-300)

    def _rest(self) -> None:
        """Leave out the rows that were marked, and set what marks them in the next epoch."""
        self.rule["slack"] = self.state["violation"] or np.inf
        active = self.active[self.resting[self.active] == 0]
        if len(active) == len(self.active):
            return
        if len(active) == 0:
            self.wake()
            return
        order = self.all_rows
        self.active = active
        self.order = RowOrder(active, True, order.seed, order.blocks, order.ahead)

    def wake(self) -> None:
        """Let every row take part again."""
        if self.of_lines:
            self.resting[:] = 0
            self.rule["slack"] = np.inf
            self.order = self.all_rows
            self.active = self.order.rows

    def refine(self) -> None:
        """Go on in double precision, on the user's own values."""
        if self.X is self.problem.X and self.u.dtype == np.float64:
            return
        if self.X is not self.problem.X:
            self.X = self.problem.X
            self._measure()
        self.u = self.u.astype(np.float64)
        b = self.intercept()
        self._sum_up()
        if self.problem.fit_intercept:
            self.state["B"] = b - self._offset()


_SINGLE_COPY = False


def _single(X: Rows) -> Rows:
    return as_rows(X, np.float32)


def _dual_of(problem: Problem, start: Fit) -> np.ndarray:
    """Dual variables to begin with: those of a fit, or the slopes at its weights."""
    if start.dual is not None and len(start.dual) == len(problem.y):
        return start.dual.copy()
    return -problem.slopes(matvec(problem.X, start.coef, start.intercept))
