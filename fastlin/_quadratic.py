"""The quadratic models that `_primal_cd` minimises, by coordinate descent on some columns.

A model (see fl_primal.h) is given by the weights h_i of the rows; the columns' means and curvatures
under them are found when a column is first needed. `Descent` adds the extrapolation of the
weights: coordinate descent draws near the optimum of a model along a line, more or less, and the
combination of the last turns with the smallest step between them lies far ahead on it (Anderson
acceleration; Bertrand & Massias 2021).
"""

from __future__ import annotations

import numpy as np

from ._core import primal_cd as _primal
from ._core.rows import Rows
from ._parallel import Cancelled, is_cancelled

__all__ = ["Descent", "Model", "add_columns"]

_NO_WEIGHTS = np.empty(0)
# Entries per call of a kernel: about 50 ms.
_ENTRIES_PER_CALL = 8_000_000
# Turns between two extrapolations
_MEMORY = 5
_RIDGE = 1e-12


def _pieces(columns: Rows, chosen: np.ndarray) -> list[tuple[int, int]]:
    """Bounds of runs of chosen columns that take about 50 ms each."""
    if not len(chosen):
        return []
    sizes = (np.full(len(chosen), columns.shape[1]) if columns.indptr is None
             else columns.indptr[chosen + 1] - columns.indptr[chosen])
    run = np.cumsum(sizes) // _ENTRIES_PER_CALL
    bounds = np.r_[0, np.flatnonzero(np.diff(run)) + 1, len(chosen)]
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def add_columns(columns: Rows, chosen: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
    """out += sum_j w_j x_j over the chosen columns"""
    for start, stop in _pieces(columns, chosen):
        _primal.add_columns(columns, chosen, w, out, start, stop)


class Model:
    """Row weights h_i (or one for all), with what is known of the columns under them."""

    def __init__(self, columns: Rows, h: np.ndarray, each: float, free: bool):
        d, n = columns.shape
        self.columns, self.h, self.each, self.free = columns, h, each, free
        self.total = float(h.sum()) if len(h) else each * n
        self.mean, self.curvature = np.zeros(d), np.zeros(d)
        self._known = np.zeros(d, bool)

    def need(self, chosen: np.ndarray) -> None:
        """Find the means and curvatures of columns."""
        new = chosen[~self._known[chosen]]
        for start, stop in _pieces(self.columns, new):
            if is_cancelled():
                raise Cancelled
            _primal.moments(self.columns, new, self.h, self.total, self.each, self.free, self.mean,
                            self.curvature, start, stop)
        self._known[new] = True

    def over_h(self, r: np.ndarray) -> np.ndarray:
        """r_i / h_i, 0 where both are"""
        if not len(self.h):
            return r / self.each
        return np.divide(r, self.h, out=np.zeros_like(r), where=self.h > 0)

    def centre(self, r: np.ndarray, r_sum: float) -> float:
        """Let the intercept take what r has too much: its change."""
        if not self.free or self.total <= 0:
            return 0.0
        b = r_sum / self.total
        r -= b * (self.h if len(self.h) else self.each)
        return b


class Descent:
    """Turns over some columns of a model; `w` and `r` are changed in place."""

    def __init__(self, model: Model, chosen: np.ndarray, l1: float, l2: float, positive: bool,
                 w: np.ndarray, r: np.ndarray, accelerate: bool):
        model.need(chosen)
        self._model, self._chosen, self._accelerate = model, chosen, accelerate
        self._l1, self._l2, self._positive = l1, l2, positive
        self.w, self.r, self.r_sum = w, r, float(r.sum())
        self._pieces = _pieces(model.columns, chosen)
        self.turns, self.decrease = 0, 0.0

    def run(self, most: int, enough: float) -> None:
        """Up to `most` turns, until one lowers the objective by no more than `enough`."""
        last = self.turns + most
        trail: list[tuple[np.ndarray, np.ndarray, float]] = []
        if self._accelerate:
            trail = [self._place()]
        while self.turns < last:
            if is_cancelled():
                raise Cancelled
            done = self._turn(1 if self._accelerate else last - self.turns, enough)
            if done:
                return
            if self._accelerate:
                trail.append(self._place())
                if len(trail) > _MEMORY:
                    self._extrapolate(trail)
                    trail = [self._place()]

    def _turn(self, turns: int, enough: float) -> bool:
        """Some turns (one, where a turn is cut into pieces): whether the last was enough."""
        decrease, done = 0.0, 1
        if len(self._pieces) > 1:
            turns = 1
        model = self._model
        for start, stop in self._pieces:
            done, part, self.r_sum = _primal.descend(
                model.columns, self._chosen, self._l1, self._l2, self._positive, model.free,
                model.h, model.total, model.each, model.mean, model.curvature, self.w, self.r,
                self.r_sum, start, stop, turns, enough if len(self._pieces) == 1 else -1.0,
            )
            decrease += part
        self.turns += done
        self.decrease = decrease
        return decrease <= enough

    def _place(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Where the weights stand, with their residuals."""
        return self.w[self._chosen], self.r.copy(), self.r_sum

    def objective(self, w: np.ndarray, r: np.ndarray, r_sum: float) -> float:
        """The model with the best intercept, at weights of the chosen columns."""
        model = self._model
        fit = 0.5 * float(r @ model.over_h(r))
        if model.free and model.total > 0:
            fit -= 0.5 * r_sum * r_sum / model.total
        return fit + self._l1 * float(np.abs(w).sum()) + 0.5 * self._l2 * float(w @ w)

    def _extrapolate(self, trail: list[tuple[np.ndarray, np.ndarray, float]]) -> None:
        """Go where the last turns lead to, if it is lower there."""
        steps = np.array([after[0] - before[0]
                          for before, after in zip(trail[:-1], trail[1:], strict=True)])
        gram = steps @ steps.T
        gram += _RIDGE * np.trace(gram) * np.eye(len(gram))
        try:
            c = np.linalg.solve(gram, np.ones(len(gram)))
        except np.linalg.LinAlgError:
            return
        if not np.isfinite(c).all() or c.sum() == 0:
            return
        c /= c.sum()
        w = sum(share * place[0] for share, place in zip(c, trail[1:], strict=True))
        if self._positive:
            if (w < 0).any():
                return
        r = sum(share * place[1] for share, place in zip(c, trail[1:], strict=True))
        r_sum = float(sum(share * place[2] for share, place in zip(c, trail[1:], strict=True)))
        if self.objective(w, r, r_sum) < self.objective(*trail[-1]):
            self.w[self._chosen], self.r[:], self.r_sum = w, r, r_sum
