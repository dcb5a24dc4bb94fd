"""The lasso with few dense rows along its path: exact, and with as many steps as weights change.

The support is no larger than the number of rows, so that the optimum of a face is cheap, and from
the penalty at which all weights are 0 down the optima change along lines (`homotopy.pyx`). Slopes
along all columns are looked at only where the penalty has fallen to a share: until then the path is
followed among those columns whose slopes are the largest, and if others would have joined, it is
followed once more with them (Tibshirani et al. 2012, "Strong rules for discarding predictors in
lasso-type problems", have the same check). The last look gives the duality gap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ._blocks import rmatvec
from ._centred import Centred, is_denselike
from ._core import homotopy as _homotopy
from ._core.rows import Rows
from ._gram import MOST_TURNS, GramPath, is_for_products
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate, Fit, Problem
from ._row_slices import columns_taken

__all__ = ["Homotopy", "beginning", "is_for_homotopy"]

# An event costs the more, the more rows there are, and there are more of them.
_MOST_ROWS = 128
# Columns among which the path is followed, in numbers of rows; and the share to which the penalty
# falls before all are looked at
_AMONG, _NEXT = 4, 0.4
# Events for each row after which turns over the weights are to do better
_EVENTS_PER_ROW = 20
# Multiplications per call of the kernel: some 20 ms
_PER_CALL = 2e7
# Beginnings by products of pairs end at this share of tol: a search finds the same gap, but for
# roundings.
_WITHIN = 0.9
# A slope further than this above the penalty, relative to it, is no rounding.
_ROUNDING = 1e-9


def is_for_homotopy(X: Rows) -> bool:
    """Whether the path is the best way to one penalty, too."""
    return len(X) <= _MOST_ROWS and is_denselike(X)


def beginning(problem: Problem, tol: float, max_iter: int) -> Fit | None:
    """Where the squared error with an L1 penalty is nearly or wholly at its optimum before there is
    a search, if there is a way: on little data, where most of what a search takes is the price of
    calls, turns by products of pairs, and the path, which columns that are nearly the same don't
    slow down. What is converged needs no search."""
    begun, events = None, 0
    if is_for_products(problem.X):
        steps = GramPath(problem, np.array([problem.l1]), np.array([problem.l2]))
        steps.go_on(0, np.zeros(problem.X.shape[1]), _WITHIN * tol, min(max_iter, MOST_TURNS))
        begun = steps.fit(0, tol)
        if begun.converged:
            return replace(begun, converged=False)  # but for P at the very weights
        events = begun.n_iter
    if events >= max_iter or not is_for_homotopy(problem.X):
        return begun
    along = Homotopy(problem).run(problem, tol, max_iter - events)
    events += along.n_iter
    if begun is None or along.converged or (
            along.certificate.objective < begun.certificate.objective):
        begun = along
    return replace(begun, n_iter=events)


class _Place(NamedTuple):
    """An optimum: its penalty, the active columns, their signs, weights and Cholesky factor."""

    penalty: float
    chosen: np.ndarray
    sign: np.ndarray
    w: np.ndarray
    factor: np.ndarray


class Homotopy:
    """The path of the squared error, for one penalty after the other."""

    def __init__(self, problem: Problem):
        self._rows = Centred(problem)
        n = len(problem.y)
        self._root = np.sqrt(self._rows.share)
        mean = float(self._rows.share @ problem.y) if problem.fit_intercept else 0.0
        self._y, self._u, self._r = self._root * (problem.y - mean), np.empty(n), np.empty(n)
        self._zero = problem.mean_loss(np.zeros(n))
        self._problem, self._l2 = problem, np.nan

    def _begin(self) -> None:
        """Go to where all weights are 0."""
        problem = self._problem
        self._l2 = problem.l2
        # more weights than rows need an L2 penalty
        room = len(self._y) if not self._l2 else _AMONG * len(self._y)
        self._d, self._sign, self._w = np.empty((3, room))
        self._places, self._factor = np.empty(room, np.int64), np.empty((room, room))
        self._r[:] = self._y
        self._look()
        size = self._v if problem.positive else np.abs(self._v)
        none = np.empty(0)
        self._place = _Place(float(size.max(initial=0.0)), none.astype(np.int64), none, none,
                             np.empty((0, 0)))
        self._among = none.astype(np.int64)
        self._gathered_at = np.inf

    def _look(self) -> None:
        """The slopes along all weights."""
        pull = self._root * self._r
        if self._problem.fit_intercept:
            pull -= self._rows.share * pull.sum()
        self._pull, self._v = pull, rmatvec(self._rows.X, pull)

    def run(self, problem: Problem, tol: float, max_iter: int) -> Fit:
        """The optimum for the penalty of `problem`, which has the data of this path, or how far
        half of `max_iter` events have come."""
        # an answer that is not finite is not good, and turns over the weights are to do better
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._problem = problem
            return self._run(tol, max_iter)

    def _run(self, tol: float, max_iter: int) -> Fit:
        """`run`, whatever numbers come up on the way."""
        problem = self._problem
        if problem.l2 != self._l2 or problem.l1 > self._place.penalty:
            self._begin()
        left = most = min(_EVENTS_PER_ROW * len(self._y), max_iter // 2)
        while True:
            certificate = self._certificate()
            good = certificate.relative_gap <= tol and (
                len(self._place.chosen) > 0 or self._place.penalty <= problem.l1 * (1 + _ROUNDING))
            if good or left <= 0 or not problem.l1 < self._place.penalty < np.inf:
                return self._fit(certificate, tol if good else 0.0, most - left)
            left = self._go_on(left)

    def _go_on(self, left: int) -> int:
        """To the next penalty where all slopes are looked at: events left."""
        problem, place, v = self._problem, self._place, self._v
        target = max(problem.l1, _NEXT * place.penalty)
        if target < _NEXT * self._gathered_at:
            self._gather(self._best(place.chosen, v))
            self._gathered_at = place.penalty
        while True:
            left = self._follow(place, v, target, left)
            reached = self._place.penalty
            self._look()
            size = self._v.copy() if problem.positive else np.abs(self._v)
            size[self._among] = 0.0
            missed = np.flatnonzero(size > reached * (1 + _ROUNDING))
            if left <= 0 or not len(missed):
                return left
            most = _AMONG * len(self._y)
            if len(missed) > most:
                missed = missed[np.argpartition(-size[missed], most)[:most]]
            self._gather(np.union1d(self._among, missed))

    def _best(self, kept: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The columns with the largest slopes, and those kept, ascending."""
        size, most = v.copy() if self._problem.positive else np.abs(v), _AMONG * len(self._y)
        size[kept] = np.inf
        if len(size) <= most:
            return np.arange(len(size))
        return np.sort(np.argpartition(-size, most)[:most])

    def _gather(self, among: np.ndarray) -> None:
        """Copy columns, centred and scaled by the rows' weights."""
        self._among = among
        self._raw = columns_taken(self._rows.X, among).toarray()
        columns = np.subtract(self._raw.T, self._rows.centre[among, None], dtype=np.float64)
        columns *= self._root
        self._columns = np.ascontiguousarray(columns)
        self._a, self._active = np.empty(len(among)), np.empty(len(among), np.uint8)

    def _follow(self, place: _Place, v: np.ndarray, target: float, left: int) -> int:
        """Follow the path from a place: events left."""
        problem, count, penalty, n = self._problem, len(place.chosen), place.penalty, len(self._y)
        self._places[:count] = np.searchsorted(self._among, place.chosen)
        self._sign[:count], self._w[:count] = place.sign, place.w
        self._factor[:count, :count] = place.factor
        v = v[self._among]
        self._active[:] = 0
        self._active[self._places[:count]] = 1
        per_call = max(1, int(_PER_CALL / max(1, n * (n + len(v)))))
        while left > 0 and penalty > target:
            if is_cancelled():
                raise Cancelled
            events, count, penalty = _homotopy.follow(
                self._columns, problem.l2, problem.positive, penalty, target, count, self._places,
                self._sign, self._w, self._factor, v, self._active, min(left, per_call), self._d,
                self._u, self._a,
            )
            left -= events
        _homotopy.polish(self._columns, problem.l2, penalty, count, self._places, self._sign,
                         self._w, self._factor, self._y, self._r, self._d)
        self._place = _Place(penalty, self._among[self._places[:count]], self._sign[:count].copy(),
                             self._w[:count].copy(), self._factor[:count, :count].copy())
        return left

    def _certificate(self) -> Certificate:
        """That of the present weights for the present penalty."""
        problem = self._problem
        square = float(self._r @ self._r)
        objective = 0.5 * square + problem.penalty(self._place.w)
        dual = problem.dual_of_squares(self._v, square, float(self._pull @ problem.y))
        return Certificate.of(objective, dual, self._zero)

    def _fit(self, found: Certificate, tol: float, events: int) -> Fit:
        """The present weights, with P at the very weights, which `tol` then is for."""
        place, problem = self._place, self._problem
        w, z, b = np.zeros(problem.X.shape[1]), np.zeros(len(problem.y)), 0.0
        w[place.chosen] = place.w
        if len(place.chosen):
            z = self._raw[:, np.searchsorted(self._among, place.chosen)] @ place.w
        if problem.fit_intercept:
            b = float(problem.weighted(problem.y - z).sum())
        objective = problem.primal(z + b, w)
        certificate = Certificate.of(objective, found.objective - found.gap, self._zero)
        good = certificate.relative_gap <= tol
        return Fit(w, b, max(1, events) if good else events, certificate, good)
