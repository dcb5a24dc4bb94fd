"""Newton steps on the weights that are not 0, where an L1 penalty keeps the others there.

As long as no weight changes its sign the objective is smooth, and coordinate descent, which takes
long where columns resemble each other, is not the best way down: so between its turns a step d is
taken that solves, by conjugate gradients and roughly,

    (H + l2 I + damping) d = -g        over the weights that are not 0,

H being the Hessian of the loss, freed from the intercept as in `_newton`, and the damping a share
of its diagonal. The step is shortened until the objective falls; weights that it would take through
0 stay there. Where columns depend on each other, d may be long along directions in which only the
penalty changes, and a weight that is cut off at 0 spoils it: then the step goes as far as the first
weight that gets to 0 (Byrd, Chin, Nocedal & Oztoprak 2016, "A family of second-order methods for
convex l1-regularized optimization"; Chen, Curtis & Robinson 2017 alternate with coordinate steps as
here).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._parallel import Cancelled, is_cancelled
from ._problem import Problem
from ._quadratic import Model, add_columns, slopes_along

__all__ = ["Face"]

# So many dense columns are solved for directly
_FEW = 64
# Conjugate gradients end when the gradient has shrunk to this share
_ROUGHLY = 0.1
# Curvature of a column, as a share of what it would be if all rows had the same, below which only
# rows that count for nothing hold it
_CURVED = 1e-5
# The line search: share of the fall that the slope promises, rounding of the objective, steps from
# one trial to the next, trials before and after the first weight that gets to 0
_SUFFICIENT, _NOISE, _SHORTER = 1e-4, 1e-14, 0.25
_MOST_TRIALS, _MORE_TRIALS = 8, 5


class Face:
    """The weights that are not 0, and the quadratic model of the loss at the present responses: r
    are minus the slopes of the rows, h their curvatures, `even` is the model with equal ones."""

    def __init__(self, problem: Problem, even: Model, w: np.ndarray, r: np.ndarray, h: np.ndarray):
        columns = even.columns
        self.problem, self.columns, self.w, self.r, self.h = problem, columns, w, r, h
        model = Model(columns, h, 0.0, problem.fit_intercept)
        chosen = even.varying(np.flatnonzero(w))
        model.need(chosen)
        # what rows without curvature hold alone goes straight to 0 by itself
        least = 0.0 if problem.loss == "log_loss" else _CURVED
        curved = model.curvature[chosen] > least * even.curvature[chosen]
        self.chosen = chosen[curved]
        # the model's vectors of all columns are not kept
        self.mean, self.curvature = model.mean[self.chosen], model.curvature[self.chosen]
        self.pieces, total = model.pieces(self.chosen), model.total
        self.more = float(r.sum()) / total if problem.fit_intercept and total > 0 else 0.0

    def _along(self, d: np.ndarray) -> np.ndarray:
        """(X - 1 c^T) d for changes d of the chosen weights"""
        whole = np.zeros(len(self.w))
        whole[self.chosen] = d
        out = np.full(len(self.r), -float(self.mean @ d))
        add_columns(self.columns, self.chosen, whole, out)
        return out

    def _slopes(self, r: np.ndarray) -> np.ndarray:
        """(X - 1 c^T)^T r of the chosen weights"""
        out = slopes_along(self.columns, self.chosen, self.pieces, r)
        return out - self.mean * float(r.sum())

    def direction(self, most: int, damping: float) -> tuple[np.ndarray, int]:
        """(d, products with the Hessian)"""
        problem, w = self.problem, self.w[self.chosen]
        r = self._slopes(self.r) - problem.l2 * w - problem.l1 * np.sign(w)
        damped = problem.l2 + damping * self.curvature
        if self.columns.layout == "dense" and len(r) <= _FEW:
            return self._solved(r, damped), 1
        size = self.curvature + damped
        d, y = np.zeros_like(r), r / size
        p, rho = y.copy(), float(r @ y)
        first, k = rho, 0
        while k < most and rho > _ROUGHLY * _ROUGHLY * first:
            if is_cancelled():
                raise Cancelled
            product = self._slopes(self.h * self._along(p)) + damped * p
            bend = float(p @ product)
            if not bend > 0:
                break
            d += rho / bend * p
            r -= rho / bend * product
            k += 1
            y = r / size
            rho, last = float(r @ y), rho
            p = y + rho / last * p
        return d, k

    def _solved(self, r: np.ndarray, damped: np.ndarray) -> np.ndarray:
        """d by the Hessian of dense columns itself."""
        values = self.columns.values.reshape(self.columns.shape)[self.chosen]
        values = values.astype(np.float64, copy=False) - self.mean[:, None]
        hessian = (values * self.h) @ values.T
        hessian[np.diag_indices(len(r))] += damped
        try:
            d = np.linalg.solve(hessian, r)
        except np.linalg.LinAlgError:
            return np.zeros_like(r)
        return d if np.isfinite(d).all() else np.zeros_like(r)

    def step(self, d: np.ndarray, z: np.ndarray, before: float,
             expand: Callable[[np.ndarray, np.ndarray, np.ndarray], float]
             ) -> tuple[np.ndarray, float, float] | None:
        """Go along d as far as the objective falls: (responses, change of the intercept, mean
        loss); w, r and h become those of the place. None where it does not fall, and nothing has
        changed."""
        problem, old = self.problem, self.w[self.chosen]
        r, h = np.empty_like(z), np.empty_like(z)
        penalty = problem.penalty(old)
        first = min(1.0, _reach(old, d))
        larger = _SHORTER ** np.arange(_MOST_TRIALS)
        for t in (*larger[larger > first], *(first * larger[:_MORE_TRIALS])):
            new = old + t * d
            new[new * old <= 1e-12 * old * old] = 0.0
            change = new - old
            along = self._along(change) + t * self.more
            rise = problem.penalty(new) - penalty
            slope = rise - float(self.r @ along)
            loss = expand(z + along, r, h)
            value = loss + rise + penalty
            same = (value <= before * (1 + _NOISE)
                    and abs(rise - float(r @ along)) <= 0.5 * abs(slope))
            if slope < 0 and (value <= before + _SUFFICIENT * slope or same):
                self.w[self.chosen], self.r[:], self.h[:] = new, r, h
                return z + along, t * self.more - float(self.mean @ change), loss
        return None


def _reach(w: np.ndarray, d: np.ndarray) -> float:
    """How far along d the first weight gets to 0."""
    towards = w * d < 0
    return float((-w[towards] / d[towards]).min(initial=np.inf)) if towards.any() else np.inf
