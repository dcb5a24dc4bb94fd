"""What coordinate descent over columns asks of a loss, and the squared error, which is minimised as
it is. `_primal_cd` says what for, and has the other losses."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ._blocks import column_squares, matvec, rmatvec
from ._gram import Gram
from ._problem import Certificate, Problem
from ._quadratic import Descent, Model, add_columns
from ._transpose import Columns

__all__ = ["Part", "Squares"]

_NO_WEIGHTS = np.empty(0)
# Entries of a turn in the time of a call:
_A_CALL = 25_000
# Least variance of a column, as a share of its mean square
_LEAST_SPREAD = 1e-10
# Turns before the working set's own gap is measured, and products of pairs are thought of:
_CHECK = 6
# and at most as many as cost so many looks at all slopes, or so many entries; and never more than
_LOOKS = 2.0
_CHEAP = 1e6
_MOST_IN_A_ROUND = 300


class Part:
    """What `Search` asks of a loss: `begin` at weights, `look` at the slopes, `descend`."""

    # columns of a working set at least, and those of them that are new; the share of l1 that slopes
    # are beyond where their columns may soon be needed
    smallest_set, new_at_least, soon = 100, 0, 0.7
    begins_with_few = False
    w: np.ndarray
    b: float

    def __init__(self, problem: Problem, copied: Columns):
        self.problem, self._copied, self.columns = problem, copied, copied.rows
        # columns of single precision, the user's rows of double: these have the last word
        self.is_rounded = copied.rows.dtype != problem.X.dtype
        self.zero = problem.mean_loss(np.zeros(len(problem.y)))
        s = problem.weight
        # that of the squared error
        self.model = Model(self.columns, s / problem.total_weight if len(s) else _NO_WEIGHTS,
                           1.0 / problem.total_weight, problem.fit_intercept)

    def worth(self, violation: np.ndarray) -> np.ndarray:
        """What tells which columns are the first to join a working set."""
        return violation

    def likely(self, v: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Weights beside the chosen ones that may well be other than 0, given the slopes where all
        are 0; no more entries than theirs."""
        return np.empty(0, np.int64)

    def _slopes(self, r: np.ndarray) -> np.ndarray:
        """X^T r"""
        n, d = self.problem.X.shape
        by_columns = d > n and self.columns.layout == "dense"
        return matvec(self.columns, r) if by_columns else rmatvec(self.problem.X, r)

    def _responses(self) -> np.ndarray:
        """X w + b"""
        if self.is_rounded and self.w.any():
            return matvec(self.problem.X, self.w, self.b)
        z = np.full(len(self.problem.y), self.b)
        add_columns(self.columns, np.flatnonzero(self.w), self.w, z)
        return z

    def _bends(self, chosen: np.ndarray) -> np.ndarray:
        """Curvatures along all weights, known at the chosen ones."""
        self.model.need(chosen)
        return self.model.curvature

    def estimate(self, violation: np.ndarray, objective: float) -> Certificate:
        """Where nothing is penalised there is no feasible dual point: what each weight by itself
        would gain, in sum."""
        bend = self._bends(np.flatnonzero(violation))
        gain = violation * violation
        gap = 0.5 * float((gain[bend > 0] / bend[bend > 0]).sum())
        return Certificate.of(objective, objective - gap, self.zero)

    def intercept(self) -> float:
        """b at the present weights."""
        return float(self.b)

    def certificate(self, found: Certificate) -> Certificate:
        """The certificate with P at the very weights."""
        objective = self.problem.primal(self._responses(), self.w)
        return Certificate.of(objective, found.objective - found.gap, self.zero)


class Squares(Part):
    """The squared error: `r` holds s_i (y_i - z_i) / S."""

    begins_with_few = True

    def __init__(self, problem: Problem, copied: Columns):
        super().__init__(problem, copied)
        self.gram = Gram(problem.X, self.model)
        self.new_at_least = _A_CALL // int(copied.sizes.max(initial=1))

    @cached_property
    def _bend(self) -> np.ndarray:
        """About the curvature along each weight."""
        problem = self.problem
        share = problem.weighted(np.ones(len(problem.y)))
        square = column_squares(problem.X, share)
        if not problem.fit_intercept:
            return square
        return np.maximum(square - rmatvec(problem.X, share) ** 2, _LEAST_SPREAD * square)

    def worth(self, violation: np.ndarray) -> np.ndarray:
        """The root of what a step along a weight would gain: heavy columns are many entries."""
        if np.count_nonzero(violation) <= self.smallest_set:
            return violation
        bend = self._bend + self.problem.l2
        return np.divide(violation, np.sqrt(bend), out=np.zeros_like(bend), where=bend > 0)

    def begin(self, w: np.ndarray, b: float) -> None:
        self.w, self.b = w, b if self.problem.fit_intercept else 0.0
        self.r = self.problem.weighted(self.problem.y - self._responses())

    def look(self) -> np.ndarray:
        self.model.centre(self.r, float(self.r.sum()))
        return self._slopes(self.r)

    def intercept(self) -> float:
        """The mean of what the columns leave of y."""
        if self.problem.fit_intercept:
            self.b = 0.0
            left = self.problem.y - self._responses()
            self.b = float(self.problem.weighted(left).sum())
        return self.b

    def objective(self) -> float:
        self._square = self.model.square(self.r)
        return 0.5 * self._square + self.problem.penalty(self.w)

    def dual(self, v: np.ndarray) -> float:
        return self.problem.dual_of_squares(v, self._square, float(self.r @ self.problem.y))

    def descend(self, chosen: np.ndarray, most: int, gap: float, least: float) -> int:
        """Turns over the chosen weights, until their own duality gap is a share of the whole one
        that is the smaller, the cheaper a turn is beside a look at all slopes."""
        problem, model = self.problem, self.model
        chosen = model.varying(chosen)
        descent = Descent(model, chosen, problem.l1, problem.l2, problem.positive, self.w, self.r,
                          True)
        cost = max(descent.entries, 1) / max(problem.X.nnz, 1)
        goal = max(least, gap * min(1.0, 3 * cost))
        enough = 0.003 * goal
        cheap = max(_LOOKS / cost, _CHEAP / max(descent.entries, 1), _CHECK)
        limit = min(most, int(min(cheap, _MOST_IN_A_ROUND)))
        while True:
            before = descent.turns
            descent.run(min(_CHECK, limit - before), enough)
            self.gram.spent += (descent.turns - before) * descent.entries
            if descent.gap(problem.dual_of_squares, problem.y) <= goal or descent.turns >= most:
                return descent.turns
            if self.gram.admits(chosen):
                return descent.turns + self.gram.descend(
                    chosen, problem.l1, problem.l2, problem.positive, self.w, self.r,
                    most - descent.turns, 0.1 * goal, problem.dual_of_squares,
                )[0]
            if descent.turns >= limit:
                return descent.turns
            if descent.decrease <= enough:
                enough *= 0.1
