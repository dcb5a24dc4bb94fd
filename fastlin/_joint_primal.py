"""Coordinate descent over columns for K outputs with an L1 penalty: few of the d K weights of a
solution are other than 0.

As `_primal_cd` has it for one output: the slopes along all weights choose a working set and give a
dual point; on the set the loss is replaced by its quadratic model at the present responses, whose
minimum is looked for in turns over the weights (`_joint_model`), and a line search on the loss
itself makes the step one of Newton's method (Yuan, Ho & Lin 2012, "An improved GLMNET for
l1-regularized logistic regression", JMLR 13; Lee, Sun & Saunders 2014). A set is of weights, not of
columns, and a step costs the entries of one column, not K times as many.

Responses, and what else there is per row and class, are in memory: n K numbers, several times.
"""

from __future__ import annotations

import numpy as np

from ._blocks import room_for
from ._joint_model import Model, WorkingSet
from ._joint_problem import JointFit, JointProblem
from ._problem import Certificate
from ._transpose import Columns

__all__ = ["solve"]

# Weights in the first set, and the most new ones as a share of those that are not 0
_FIRST, _GROWTH = 2000, 1.0
# A set is left when a step gains less than this share of the gap, which falls where sets get
# nowhere.
_SHARE, _SHARE_FALL, _LEAST_SHARE = 0.02, 0.1, 1e-12
_MOST_MODELS = 50
# and a model when a turn gains less than this share of that.
_OF_STEP = 0.01
# A model may be worse than its damping where the loss is nearly a line: it grows where less than a
# quarter of the expected fall comes, and shrinks where three quarters do.
_DAMPING, _LEAST_DAMPING, _DAMPING_FALL, _DAMPING_RISE = 1e-2, 1e-9, 0.1, 5.0
_MOST_TRIALS = 20
# What rounding leaves of the objective: steps that gain less may be the last ones.
_ROUNDING = 1e-15


def solve(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
          start: JointFit | None = None) -> JointFit:
    """Minimise until the relative gap is at most `tol`, or for `max_iter` models."""
    search = _Search(problem, start)
    share, last, n_iter, bound = _SHARE, np.inf, 0, -np.inf
    while True:
        V, dual = search.look()
        bound = max(bound, dual)
        certificate = problem.certificate(search.objective, bound)
        gap = certificate.gap
        if certificate.relative_gap <= tol or n_iter >= max_iter or not np.isfinite(gap):
            break
        if gap > 0.5 * last:
            share *= _SHARE_FALL
            if share < _LEAST_SHARE:
                break
        last = gap
        n_iter += search.descend(search.chosen(V), share * gap, max_iter - n_iter)
    return search.fit(n_iter, certificate, tol)


class _Search:
    """Weights and responses on their way to the optimum."""

    def __init__(self, problem: JointProblem, start: JointFit | None):
        self.problem = problem
        n, d = problem.X.shape
        K = problem.n_classes
        self.columns = Columns(problem.X)
        self.share = problem.shares_of(np.arange(n))
        self.coef, self.b = np.zeros((d, K)), problem.first_intercept()
        self.z, self.p = np.zeros((n, problem.width)), np.empty((n, K))
        self.z[:, :K] = self.b
        if start is not None:
            self.coef[:], self.b = start.coef.T, start.intercept.copy()
            W, room = problem.packed(start.coef), room_for(problem.X)
            for rows in problem.blocks():
                self.z[rows] = problem.responses(W, self.b, rows, room)
        self.damping = _DAMPING
        self.loss = self._evaluate(self.z, self.p)
        self.objective = self.loss + problem.penalty(self.coef.ravel())

    def _evaluate(self, z: np.ndarray, p: np.ndarray) -> float:
        """The mean loss at responses z; p gets where the maximum is."""
        mean = 0.0
        for rows in self.problem.blocks():
            value, p[rows] = self.problem.evaluated(z[rows[0] : rows[-1] + 1], rows)
            mean += float(self.share[rows] @ value)
        return mean

    def look(self) -> tuple[np.ndarray, float]:
        """(minus the slopes of the loss along all weights, but for the intercepts; D)"""
        return self.problem.dual_side(self.p.__getitem__, self.share @ self.p)

    def chosen(self, V: np.ndarray) -> WorkingSet:
        """The weights that are not 0, and those whose slopes are the furthest beyond l1."""
        problem = self.problem
        wanted = self.coef != 0
        room = max(_FIRST, int(_GROWTH * wanted.sum()))
        size = np.empty(self.coef.shape)
        for start, view in problem.groups(V):
            stop = min(start + view.shape[1], problem.n_classes)
            np.abs(view[:, : stop - start], out=size[:, start:stop])
        beyond = np.flatnonzero((size > problem.l1) & ~wanted)
        if len(beyond) > room:
            size = size.ravel()[beyond]
            beyond = beyond[np.argpartition(-size, room)[:room]]
        wanted.ravel()[beyond] = True
        self.columns.need(np.flatnonzero(wanted.any(axis=1)))
        return WorkingSet(self.columns.rows, *np.nonzero(wanted.T), problem.n_classes)

    def descend(self, part: WorkingSet, enough: float, most: int) -> int:
        """Newton steps on a set of weights, at most so many, until one gains no more than `enough`:
        how many."""
        n_iter, fall = 0, np.inf
        while n_iter < min(most, _MOST_MODELS) and fall > enough:
            before = self.objective
            self._step(part, _OF_STEP * enough)
            n_iter, fall = n_iter + 1, before - self.objective
        return n_iter

    def _step(self, part: WorkingSet, enough: float) -> None:
        """To the minimum of a model, where turns gain no more than `enough`."""
        problem = self.problem
        bends = self.p if problem.loss == "log_loss" else (self.p > 0).astype(np.float64)
        r = self.p.copy()
        for rows in problem.blocks():
            r[rows] -= problem.target.table(rows)
        r, h = (np.ascontiguousarray((each * self.share[:, None]).T) for each in (r, bends))
        # sparsemax is flat where a class is not in the support, until it is
        sizes = r if problem.loss == "log_loss" else np.repeat(self.share[None], len(r), axis=0)
        model = Model(problem, part, r, h, sizes, self.coef[part.chosen, part.of], self.damping)
        model.descend(enough)
        before = self.objective
        expected = self._search_line(model)
        fall = before - self.objective
        if fall + _ROUNDING * before >= 0.75 * expected:
            self.damping = max(_LEAST_DAMPING, self.damping * _DAMPING_FALL)
        elif fall < 0.25 * expected:
            self.damping *= _DAMPING_RISE

    def _search_line(self, model: Model) -> float:
        """Go towards the minimum of a model as far as the objective falls well; returns what fall
        the slope promised."""
        problem, part, K = self.problem, model.part, self.problem.n_classes
        old = problem.penalty(model.begun)
        change = model.w - model.begun
        promised = old - problem.penalty(model.w) - float(model.g @ change)
        promised -= float(model.g_b @ model.b)
        along, size, p = np.ascontiguousarray(model.t.T), 1.0, np.empty_like(self.p)
        noise = _ROUNDING * self.objective
        for _ in range(_MOST_TRIALS if promised > -noise else 0):
            z = self.z.copy()
            z[:, :K] += size * along
            w = model.w if size == 1 else model.begun + size * change
            loss = self._evaluate(z, p)
            fall = self.loss - loss + old - problem.penalty(w)
            if fall + noise >= 1e-3 * size * promised:
                self.z, self.p, self.loss = z, p, loss
                self.coef[part.chosen, part.of] = w
                self.b = self.b + size * model.b
                self.objective -= fall
                break
            size *= 0.5
        return promised

    def fit(self, n_iter: int, certificate: Certificate, tol: float) -> JointFit:
        """The answer."""
        coef = np.ascontiguousarray(self.coef.T)
        return JointFit(coef, self.b - self.b.mean(), n_iter, certificate,
                        certificate.relative_gap <= tol)
