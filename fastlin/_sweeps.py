"""Turns over many sparse columns far from the optimum, on quadratic models of the loss.

Under a weak penalty most entries are in columns that get a weight. Coordinate descent settles all
of these in a few turns but for what the heaviest columns have in common: small errors of their many
products are left to each other for long. So a turn here takes the columns one after the other, but

- after every eighth of them, the intercept or, where there is none, all heaviest weights together
  get the best change: no column alone can shift all responses, and what the first ones do about it
  the others would have to undo;
- at last the heaviest columns are settled among themselves. Their products are taken from a sample
  of the rows, so how far to go along what these say follows from all rows: the model falls whatever
  the sample;
- columns without a weight whose slope was well within the penalty when it was last seen are left
  out of every other turn.

The steps go by residuals in single precision, beside the weights of the rows: curvatures along
columns come with the slopes, from the same lines of the cache. What rounding does to the responses
is for whoever takes the turns to mend.
"""

from __future__ import annotations

import numpy as np

from ._core import primal_cd as _primal
from ._gram import add_products
from ._parallel import Cancelled, is_cancelled
from ._problem import Problem
from ._quadratic import Model, add_columns, slopes_along
from ._working_set import joined

__all__ = ["Sweeps", "is_for_sweeps"]

# Share of the entries that makes columns many, that of the heaviest among them which makes these
# worth their while, and entries beside which calls cost little
_MOST, _MUCH, _LEAST = 0.7, 0.3, 1e6
# Heaviest columns, rows per row of the sample at most, and rows of it for each of the columns
_HEAVIEST, _EVERY, _ROWS = 256, 12, 16
# Parts of a turn, and entries of each at most: about 50 ms
_PARTS, _ENTRIES_PER_CALL = 8, 8_000_000
# Share of the penalty from which on slopes are no longer well within it
_DUE = 0.6
# Turns among the heaviest, which end with one that gains this share of what the first did
_SETTLING, _SETTLED = 200, 1e-4


def is_for_sweeps(problem: Problem, columns: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether these columns are most of many, and few hold much."""
    if (problem.loss != "log_loss" or problem.positive or not problem.l1
            or problem.X.layout == "dense"):
        return False
    held, nnz = sizes[columns], problem.X.nnz
    if int(held.sum()) <= max(_LEAST, _MOST * nnz):
        return False
    few = min(_HEAVIEST, len(held))
    return int(np.partition(held, len(held) - few)[len(held) - few :].sum()) >= _MUCH * nnz


class Sweeps:
    """Turns over some columns of a model's; the row weights of those that turns are taken on are
    about h. `seen` are slopes along all columns, if they are known."""

    def __init__(self, problem: Problem, model: Model, chosen: np.ndarray, h: np.ndarray,
                 seen: np.ndarray | None = None):
        self._problem, self._model, self._columns = problem, model, model.columns
        self._sizes, n = np.diff(model.columns.indptr), len(h)
        chosen = self._without_constants(chosen)
        order = np.argsort(-self._sizes[chosen], kind="stable")
        self._heavy = np.sort(chosen[order[:_HEAVIEST]])
        self._light = np.sort(chosen[order[_HEAVIEST:]])
        self._seen = np.full(len(self._sizes), np.inf) if seen is None else seen.copy()
        self._turns = 0
        self._gram = self._sampled(h)
        known = np.diagonal(self._gram) > 0
        if not known.all():
            # what the sample knows nothing of takes steps as the others do
            self._light = joined(self._light, self._heavy[~known], len(self._sizes))
            self._heavy, self._gram = self._heavy[known], self._gram[np.ix_(known, known)].copy()
        # r and h of each row; room for vectors of every turn
        self._rows = np.empty((n, 2), np.float32)
        self._along, self._bent, self._whole = np.empty(n), np.empty(n), np.zeros(len(self._sizes))
        self._common = np.ones(n)
        if not problem.fit_intercept:
            self._common[:] = 0.0
            self._whole[self._heavy] = 1.0
            add_columns(self._columns, self._heavy, self._whole, self._common)

    def _without_constants(self, chosen: np.ndarray) -> np.ndarray:
        """The columns for which the intercept can't stand."""
        problem = self._problem
        if not problem.fit_intercept:
            return chosen
        rows = np.count_nonzero(problem.weight) if len(problem.weight) else len(problem.y)
        full = self._sizes[chosen] >= rows
        return joined(chosen[~full], self._model.varying(chosen[full]), len(self._sizes))

    def _due(self, w: np.ndarray) -> np.ndarray:
        """The light columns of this turn."""
        light = self._light
        if self._turns % 2 == 1:
            return light
        within = np.abs(self._seen[light]) <= _DUE * self._problem.l1
        return light[~within | (w[light] != 0)]

    def _cut(self, light: np.ndarray) -> list[tuple[int, int]]:
        """Bounds of parts of light columns with as many entries each."""
        total = np.cumsum(self._sizes[light], dtype=np.int64)
        if not len(total):
            return []
        parts = max(_PARTS, int(total[-1]) // _ENTRIES_PER_CALL + 1)
        inner = np.searchsorted(total, total[-1] * np.arange(1, parts) // parts, "right")
        bounds = np.unique(np.r_[0, inner, len(total)])
        return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))

    def _sampled(self, h: np.ndarray) -> np.ndarray:
        """The products of the heaviest columns, from some rows, if row weights like h add up to
        1."""
        n, heavy = len(h), self._heavy
        some = np.arange(0, n, min(_EVERY, max(1, n // (_ROWS * _HEAVIEST))))
        slot = np.full(len(self._sizes), -1, np.int32)
        slot[heavy] = np.arange(len(heavy))
        out = np.zeros((len(heavy), len(heavy)))
        total = float(h[some].sum())
        if total > 0:
            add_products(self._problem.X, slot, h, 0.0, 0, out, some)
            out += np.tril(out.T, -1) + np.triu(out.T, 1)
            out /= total
            if self._problem.fit_intercept:
                only = np.zeros(n)
                only[some] = h[some] / total
                mean = self._slopes(only)
                out -= np.outer(mean, mean)
        return out

    def _slopes(self, r: np.ndarray) -> np.ndarray:
        """x_j.r of the heaviest columns"""
        return slopes_along(self._columns, self._heavy, self._model.pieces(self._heavy), r)

    def turn(self, w: np.ndarray, r: np.ndarray, h: np.ndarray) -> float:
        """One turn on the model with the residuals r and the row weights h, from the weights w;
        both change. The change of the intercept."""
        problem, rows, common, b = self._problem, self._rows, self._common, 0.0
        rows[:, 0], rows[:, 1] = r, h
        # what they are rounded to leaves r, and what becomes of it comes back
        r -= rows[:, 0]
        bend = float(np.multiply(h, common, out=self._bent) @ common)
        light = self._due(w)
        for start, stop in self._cut(light):
            if is_cancelled():
                raise Cancelled
            _primal.descend_floats(self._columns, light, problem.l1, problem.l2, w, rows,
                                   self._seen, start, stop)
            change = self._best_common(w, _primal.pull_of_floats(rows, common), bend)
            if change != 0:
                _primal.shift_floats(rows, common, change)
                if problem.fit_intercept:
                    b += change
                else:
                    w[self._heavy] += change
        r += rows[:, 0]
        self._turns += 1
        return b + self._settle(w, r, h)

    def _best_common(self, w: np.ndarray, pull: float, bend: float) -> float:
        """The best change of the intercept, or of all heaviest weights, if none changes sign; 0
        where the model would rise since some do."""
        if not bend > 0:
            return 0.0
        if self._problem.fit_intercept:
            return pull / bend
        l1, l2, own = self._problem.l1, self._problem.l2, w[self._heavy]
        slope = pull - l1 * float(np.sign(own).sum()) - l2 * float(own.sum())
        # those at 0 cost either way
        size = max(abs(slope) - l1 * float(np.count_nonzero(own == 0)), 0.0)
        change = float(np.sign(slope)) * size / (bend + l2 * len(own))
        new = own + change
        fall = (pull * change - 0.5 * bend * change * change
                - l1 * float(np.abs(new).sum() - np.abs(own).sum())
                - 0.5 * l2 * float(new @ new - own @ own))
        return change if fall > 0 else 0.0

    def _settle(self, w: np.ndarray, r: np.ndarray, h: np.ndarray) -> float:
        """Turns over the heaviest columns by their products: the change of the intercept."""
        problem, heavy, total = self._problem, self._heavy, float(h.sum())
        l1, l2 = problem.l1, problem.l2
        pull = self._slopes(r)
        old, v = w[heavy], pull.copy()
        new, places = old.copy(), np.arange(len(heavy))
        gram = self._gram * total
        _, first, square = _primal.descend_gram(gram, places, l1, l2, False, new, v, 0.0, 1, 0.0)
        _primal.descend_gram(gram, places, l1, l2, False, new, v, square, _SETTLING,
                             _SETTLED * first)
        change = new - old
        along, bent = self._along, self._bent
        along[:] = 0.0
        self._whole[heavy] = change
        add_columns(self._columns, heavy, self._whole, along)
        b = -float(h @ along) / total if problem.fit_intercept else 0.0
        along += b
        np.multiply(h, along, out=bent)
        bend = float(bent @ along) + l2 * float(change @ change)
        fall = (float(r @ along) - l2 * float(old @ change)
                - l1 * float(np.abs(new).sum() - np.abs(old).sum()))
        if not (fall > 0 and bend > 0):
            return 0.0
        t = min(1.0, fall / bend)
        w[heavy] = old + t * change
        bent *= t
        r -= bent
        return t * b
