"""The quadratic models that `_primal_cd` minimises, by coordinate descent on some columns.

A model (see fl_primal.h) is given by the weights h_i of the rows; the columns' means and curvatures
under them are found when a column is first needed. `Descent` adds the extrapolation of the
weights: coordinate descent draws near the optimum of a model along a line, more or less, and the
combination of the last turns with the smallest step between them lies far ahead on it (Anderson
acceleration; Bertrand & Massias 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ._core import primal_cd as _primal
from ._core.rows import Rows
from ._parallel import Cancelled, is_cancelled

__all__ = ["Descent", "Model", "add_columns", "heaviest_first", "in_turn",
           "settle_heaviest", "slopes_along", "within"]  # fmt: skip

_NO_WEIGHTS = np.empty(0)
# Entries per call of a kernel: about 50 ms.
_ENTRIES_PER_CALL = 8_000_000
# Turns between two extrapolations
_MEMORY = 5
_RIDGE = 1e-12
# The heaviest columns have at most this share of all entries; turns over them
_HEAVY, _SETTLING = 0.1, 12
# and those that take their turns first at most this
_FIRST = 0.3


def _pieces(columns: Rows, chosen: np.ndarray) -> list[tuple[int, int]]:
    """Bounds of runs of chosen columns that take about 50 ms each."""
    if not len(chosen):
        return []
    if columns.nnz <= _ENTRIES_PER_CALL:
        return [(0, len(chosen))]
    sizes = (np.full(len(chosen), columns.shape[1]) if columns.indptr is None
             else columns.indptr[chosen + 1] - columns.indptr[chosen])
    run = np.cumsum(sizes) // _ENTRIES_PER_CALL
    bounds = np.r_[0, np.flatnonzero(np.diff(run)) + 1, len(chosen)]
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def in_turn(pieces: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces, until a thread's work is cancelled."""
    for piece in pieces:
        if is_cancelled():
            raise Cancelled
        yield piece


def entries_of(columns: Rows, chosen: np.ndarray) -> int:
    """Stored entries of chosen columns."""
    if columns.indptr is None:
        return len(chosen) * columns.shape[1]
    return int((columns.indptr[chosen + 1] - columns.indptr[chosen]).sum())


def add_columns(columns: Rows, chosen: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
    """out += sum_j w_j x_j over the chosen columns"""
    for start, stop in in_turn(_pieces(columns, chosen)):
        _primal.add_columns(columns, chosen, w, out, start, stop)


def slopes_along(columns: Rows, chosen: np.ndarray, pieces: Iterable[tuple[int, int]],
                 r: np.ndarray) -> np.ndarray:
    """x_j.r of the chosen columns, in these pieces"""
    out = np.empty(len(chosen))
    for start, stop in in_turn(pieces):
        _primal.slopes(columns, chosen, r, out, start, stop)
    return out


class Model:
    """Row weights h_i (or one for all), with what is known of the columns under them."""

    def __init__(self, columns: Rows, h: np.ndarray, each: float, free: bool):
        d, n = columns.shape
        self.columns, self.h, self.each, self.free = columns, h, each, free
        self.total = float(h.sum()) if len(h) else each * n
        self.mean, self.curvature = np.zeros(d), np.zeros(d)
        self._known = np.zeros(d, bool)
        self._trail: np.ndarray | None = None

    def need(self, chosen: np.ndarray) -> None:
        """Find the means and curvatures of columns."""
        new = chosen[~self._known[chosen]]
        for start, stop in in_turn(_pieces(self.columns, new)):
            _primal.moments(self.columns, new, self.h, self.total, self.each, self.free, self.mean,
                            self.curvature, start, stop)
        self._known[new] = True

    def varying(self, chosen: np.ndarray) -> np.ndarray:
        """Those of the columns for which the intercept can't stand, nor a weight of 0."""
        self.need(chosen)
        return chosen[self.curvature[chosen] > 0]

    def pieces(self, chosen: np.ndarray) -> list[tuple[int, int]]:
        """Bounds of runs of chosen columns that take about 50 ms each."""
        return _pieces(self.columns, chosen)

    def over_h(self, r: np.ndarray) -> np.ndarray:
        """r_i / h_i, 0 where both are"""
        if not len(self.h):
            return r / self.each
        return np.divide(r, self.h, out=np.zeros_like(r), where=self.h > 0)

    def square(self, r: np.ndarray) -> float:
        """sum_i r_i^2 / h_i"""
        return float(r @ r) / self.each if not len(self.h) else float(r @ self.over_h(r))

    def trail(self, size: int) -> np.ndarray:
        """Room for so many residual vectors, the same at every call."""
        if self._trail is None:
            self._trail = np.empty((size, self.columns.shape[1]))
        return self._trail

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
        self.entries = entries_of(model.columns, chosen)
        self.turns, self.decrease = 0, 0.0
        self._noted = 0
        self._trail_w = np.empty((_MEMORY + 1, len(chosen) if accelerate else 0))
        self._trail_sum = np.empty(_MEMORY + 1)
        # steps along columns of any unit count alike
        self._scale = np.sqrt(model.curvature[chosen] + l2)
        if accelerate:
            self._note()

    def run(self, most: int, enough: float) -> None:
        """Up to `most` turns, until one lowers the objective by no more than `enough`."""
        last = self.turns + most
        while self.turns < last:
            done = self._turn(1 if self._accelerate else last - self.turns, enough)
            if self._accelerate:
                self._note()
                if self._noted > _MEMORY:
                    self._extrapolate()
                    self._noted = 0
                    self._note()
            if done:
                return

    def _turn(self, turns: int, enough: float) -> bool:
        """Some turns (one, where a turn is cut into pieces): whether the last was enough."""
        decrease, done = 0.0, 1
        if len(self._pieces) > 1:
            turns = 1
        model = self._model
        for start, stop in in_turn(self._pieces):
            done, part, self.r_sum = _primal.descend(
                model.columns, self._chosen, self._l1, self._l2, self._positive, model.free,
                model.h, model.total, model.each, model.mean, model.curvature, self.w, self.r,
                self.r_sum, start, stop, turns, enough if len(self._pieces) == 1 else -1.0,
            )
            decrease += part
        self.turns += done
        self.decrease = decrease
        return decrease <= enough

    def _note(self) -> None:
        """Write down where the weights stand, with their residuals."""
        k = self._noted
        self._trail_w[k], self._trail_sum[k] = self.w[self._chosen], self.r_sum
        self._model.trail(_MEMORY + 1)[k] = self.r
        self._noted += 1

    def gap(self, dual: Callable[[np.ndarray, float, float], float], u: np.ndarray) -> float:
        """The duality gap of the problem on these columns alone; r is centred by it."""
        model, r = self._model, self.r
        if model.free:
            model.centre(r, self.r_sum)
            self.r_sum = 0.0
        v = slopes_along(model.columns, self._chosen, self._pieces, r)
        square = model.square(r)
        return 0.5 * square + self._penalty(self.w[self._chosen]) - dual(v, square, float(r @ u))

    def _penalty(self, w: np.ndarray) -> float:
        """The penalty of the chosen weights."""
        return self._l1 * float(np.abs(w).sum()) + 0.5 * self._l2 * float(w @ w)

    def _objective(self, w: np.ndarray, r: np.ndarray, r_sum: float) -> float:
        """The model with the best intercept, at weights of the chosen columns."""
        fit = 0.5 * self._model.square(r)
        if self._model.free and self._model.total > 0:
            fit -= 0.5 * r_sum * r_sum / self._model.total
        return fit + self._penalty(w)

    def _extrapolate(self) -> None:
        """Go where the last turns lead to, if it is lower there."""
        steps = np.diff(self._trail_w, axis=0) * self._scale
        gram = steps @ steps.T
        gram += (_RIDGE * np.trace(gram) + 1e-300) * np.eye(len(gram))
        try:
            share = np.linalg.solve(gram, np.ones(len(gram)))
        except np.linalg.LinAlgError:
            return
        total = share.sum()
        if not np.isfinite(total) or total == 0:
            return
        share /= total
        w, r_sum = share @ self._trail_w[1:], float(share @ self._trail_sum[1:])
        if self._positive and (w < 0).any():
            return
        r = share @ self._model.trail(_MEMORY + 1)[1:]
        if self._objective(w, r, r_sum) < self._objective(self.w[self._chosen], self.r, self.r_sum):
            self.w[self._chosen], self.r[:], self.r_sum = w, r, r_sum


def within(order: np.ndarray, sizes: np.ndarray, most: float) -> np.ndarray:
    """The first columns in an order that hold no more than `most` entries together; the sizes are
    in the same order."""
    total = np.cumsum(sizes, dtype=np.int64)
    return order[: int(np.searchsorted(total, most, "right"))]


def _heaviest(columns: Rows, chosen: np.ndarray, most: float) -> np.ndarray:
    """Those of the chosen columns with the most entries, `most` in sum, heaviest first."""
    assert columns.indptr is not None
    size = columns.indptr[chosen + 1] - columns.indptr[chosen]
    order = np.argsort(-size, kind="stable")
    return within(chosen[order], size[order], most)


def heaviest_first(columns: Rows, chosen: np.ndarray, nnz: int) -> np.ndarray:
    """The chosen columns in the order of their turns: those with the most entries come first, for
    what they leave is soon explained by others; the many light ones stay in their order, in which
    memory is read."""
    if columns.indptr is None:
        return chosen
    first = _heaviest(columns, chosen, _FIRST * nnz)
    light = np.ones(columns.shape[0], bool)
    light[first] = False
    return np.r_[first, chosen[light[chosen]]]


def settle_heaviest(model: Model, chosen: np.ndarray, nnz: int, l1: float, l2: float,
                    positive: bool, w: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, float]:
    """Turns over those of the chosen columns with the most entries, if some are left out: (they,
    change of the intercept); `w` and `r` change. Small errors of their weights are large ones of
    their slopes, by which all dual variables would have to shrink. `nnz` is the number of entries
    of all columns."""
    columns = model.columns
    heavy = _heaviest(columns, chosen, _HEAVY * nnz)
    if not 0 < len(heavy) < len(chosen):
        return heavy[:0], 0.0
    b = model.centre(r, float(r.sum()))
    descent = Descent(model, heavy, l1, l2, positive, w, r, False)
    descent.run(_SETTLING, 0.0)
    return heavy, b + model.centre(r, descent.r_sum)
