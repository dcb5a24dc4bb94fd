"""Newton's method on models that differ in their rows alone: the folds of one strength, dense rows.

With many more rows than columns the Hessians of all folds are nearly one matrix, and that of a
sample of the rows is near it. So the mean Hessian of the folds on a sample is factored once or
twice for all of them, and what it lacks of each model's own is learnt from the model's steps
(Liu & Nocedal 1989, "On the limited memory BFGS method for large scale optimization", Mathematical
Programming 45, begun with that factor; Byrd, Chin, Neveitt & Nocedal 2011, "On the use of
stochastic Hessian information in optimization methods for machine learning", SIAM J. Optimization
21). A step costs two products of the rows with all models side by side (`fl_multi.h`).

Steps have their whole length. Models for which what is left does not shrink so are left to Newton's
method with a line search, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._blocks import rmatvec, room_for
from ._centred import gram
from ._cholesky import cholesky
from ._core import multi as _multi
from ._dual_models import DualModel, DualStream, Sides
from ._isa import ISA
from ._lane_losses import LaneLosses
from ._lanes import LANES, aligned_zeros
from ._parallel import Cancelled, is_cancelled
from ._problem import LOSS_CODES, Certificate, Fit
from ._row_slices import rows_taken

__all__ = ["SharedNewton", "shared_passes"]

# Dense rows that suit: entries, columns, and rows per column
_LEAST_ENTRIES, _MOST_COLUMNS, _ROWS_PER_COLUMN = 1 << 18, 500, 50
# Rows of a Hessian for each column
_SAMPLE_PER_COLUMN = 100
# Entries of the rows that are taken at a time, which stay in the cache
_ENTRIES_AT_ONCE = 1 << 17
# What is left must fall by the factor in a step, and by the other one to keep the Hessian
_FALL, _GOOD = 0.5, 0.1
# A gap estimated to be so much smaller than what is asked for is worth measuring.
_MARGIN = 0.3
_MOST_STEPS = 30


def shared_passes(stream: DualStream, models: list[DualModel]) -> list[SharedNewton]:
    """The models that this method suits, in groups that hang on nothing but their own problems."""
    X, (n, d) = stream.X, stream.X.shape
    if (X.layout != "dense" or n * d < _LEAST_ENTRIES or d > _MOST_COLUMNS
            or n < _ROWS_PER_COLUMN * d):
        return []
    groups: dict[Any, list[DualModel]] = {}
    for model in models:
        if model.loss == "log_loss":
            key = model.C, model.fit_intercept, model.tol, model.class_target.tobytes()
            groups.setdefault(key, []).append(model)
    most = LANES[-1]
    return [
        SharedNewton(stream, group[first : first + most])
        for group in groups.values() if len(group) > 1 for first in range(0, len(group), most)
    ]  # fmt: skip


class SharedNewton:
    """Models with one loss, strength and target, each on rows of its own. A task for a thread.

    Arrays of all models have a row for each column of X, or for each row, and a column per model.
    """

    def __init__(self, stream: DualStream, models: list[DualModel]):
        self.stream, self.models = stream, models
        self.n_lanes = next(n for n in LANES if n >= len(models))
        self.free = models[0].fit_intercept
        self.cancelled = False

    def cancel(self) -> None:
        """End soon, from another thread."""
        self.cancelled = True

    def _look(self) -> None:
        """See whether somebody has cancelled."""
        if self.cancelled or is_cancelled():
            raise Cancelled

    def __call__(self) -> SharedNewton:
        # an answer that is not finite is refused where it would be published
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._lay_out()
            goes_on = True
            while goes_on:
                goes_on = self._descend()
                self._certify()
                goes_on &= any(m.fit is not None and not m.fit.converged for m in self.models)
        for name in ("losses", "z", "W", "pairs", "inverse"):
            delattr(self, name)
        return self

    def _lay_out(self) -> None:
        """Weights and losses of all models, and memory for what rows give."""
        stream, models, L = self.stream, self.models, self.n_lanes
        n, d = stream.X.shape
        sides = Sides.of(stream, models, L)
        self.losses = LaneLosses(stream, sides, LOSS_CODES[models[0].loss], self._look)
        # of lanes without a model
        sides.total[len(models) :] = 1.0
        self.total, self.l2 = sides.total, 1.0 / (models[0].C * sides.total)
        self.z, self.room = np.empty((n, L)), room_for(stream.X)
        self.W, self.b = aligned_zeros(d * L, np.dtype(np.float64)).reshape(d, L), np.zeros(L)
        # the last step and gradients, what they promised, and the gaps there
        self.change = self.last = np.zeros((d + 1, L))
        self.left, self.gaps, self.n_steps = np.inf, np.full(L, np.inf), 0
        # how to solve with the mean Hessian, its centre, and the steps since
        self.inverse: Any = None
        self.centre, self.pairs = np.zeros((d, 1)), []

    def _descend(self) -> bool:
        """Steps until the gaps are likely to be small; False where they do not shrink."""
        goal = _MARGIN * self.models[0].tol
        while self.n_steps < min(_MOST_STEPS, *(model.max_iter for model in self.models)):
            step, (g, loss) = self.n_steps, self._gradients()
            gaps = np.square(g[:-1] - self.centre * g[-1]).sum(axis=0) / (2 * self.l2)
            gaps /= loss + 0.5 * self.l2 * np.square(self.W).sum(axis=0)
            if step:
                self.pairs.append((self.change, self.last - g))
                self.change = _mended(self.inverse, self.pairs, g)
            left = float((g * self.change).sum(axis=0).max()) if step else np.inf
            if self.inverse is None or not left <= _GOOD * self.left:
                if step > 1 and not left <= _FALL * self.left:
                    return False
                self.inverse, self.centre = self._factor()
                self.pairs, self.change = [], self.inverse(g)
                left = float((g * self.change).sum(axis=0).max())
            self.left, self.last = left, g
            self.W -= self.change[:-1]
            self.b -= self.change[-1]
            self.n_steps += 1
            # the next step shrinks a gap as the last one did
            expected = gaps * np.minimum(1.0, gaps / self.gaps) if step > 1 else gaps
            self.gaps = gaps
            if (expected <= goal).all():
                return True
        return False

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """(first row, last) of blocks that stay in the cache."""
        n, d = self.stream.X.shape
        size = max(1, _ENTRIES_AT_ONCE // d)
        for start in range(0, n, size):
            self._look()
            yield start, min(start + size, n)

    def _respond(self, start: int, stop: int) -> None:
        """`z` gets the responses of some rows, without intercepts."""
        _multi.respond_rows(ISA, self.n_lanes, self.stream.X, self.W.reshape(-1), self.z,
                            self.room, start, stop)

    def _add(self, start: int, stop: int, out: np.ndarray) -> None:
        """Add some rows times what `z` has for them."""
        _multi.add_rows(ISA, self.n_lanes, self.stream.X, self.z, out.reshape(-1), self.room,
                        start, stop)

    def _gradients(self) -> tuple[np.ndarray, np.ndarray]:
        """(gradients, those of the intercepts in the last row; mean losses)"""
        losses, pull = self.losses, np.zeros_like(self.W)
        sums = losses.room()
        for start, stop in self._blocks():
            self._respond(start, stop)
            losses.add(sums, self.z, self.b, self.z, start, stop)
            self._add(start, stop, pull)
        found = losses.read(sums)
        slope = found.slope if self.free else np.zeros(self.n_lanes)
        g = np.vstack([pull, slope]) / self.total
        g[:-1] += self.l2 * self.W
        return g, found.loss / self.total

    def _factor(self) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
        """(how to solve with the mean Hessian, the mean row by its curvatures), of a sample"""
        stream, sides, K = self.stream, self.losses.sides, len(self.models)
        n, d = stream.X.shape
        rows = np.arange(0, n, max(1, n // (_SAMPLE_PER_COLUMN * d)))
        X, pattern = rows_taken(stream.X, rows), sides.pattern[rows]
        z = np.empty((len(rows), self.n_lanes))
        _multi.respond_rows(ISA, self.n_lanes, X, self.W.reshape(-1), z, self.room, 0, len(rows))
        a = 1.0 / (1.0 + np.exp(np.abs(z + self.b)))
        s = sides.weight[pattern]
        if len(stream.sample_weight):
            s *= stream.sample_weight[rows, None]
        h = (s * a * (1.0 - a) / np.maximum(s.sum(axis=0), 1e-300)).sum(axis=1) / K
        mass = float(h.sum())
        centre = rmatvec(X, h)[:, None] / mass if self.free else np.zeros((d, 1))
        solve = cholesky(gram(X, h, centre[:, 0]), float(self.l2[:K].mean()))[0]

        def inverse(g: np.ndarray) -> np.ndarray:
            """The product, with the intercepts in the last row."""
            w = solve(g[:-1] - centre * g[-1])
            more = g[-1] / mass if self.free else 0.0
            return np.vstack([w, more - (centre * w).sum(axis=0)])

        return inverse, centre

    def _certify(self) -> None:
        """Best intercepts, gaps and responses of all models, in double."""
        losses, v = self.losses, np.zeros_like(self.W)
        for start, stop in self._blocks():
            self._respond(start, stop)
        if self.free:
            self.b = losses.balanced(self.z, self.b)
        responses = [None if model.test is None else self.z[model.test, lane] + self.b[lane]
                     for lane, model in enumerate(self.models)]
        # minus the slopes are dual variables; with best intercepts they are feasible
        sums = losses.at(self.z, self.b, self.z)
        balanced = losses.is_balanced(sums) | (not self.free)
        for start, stop in self._blocks():
            self._add(start, stop, v)
        v /= self.total
        loss, conjugate = sums.loss / self.total, (sums.along - sums.loss) / self.total
        for lane, model in enumerate(self.models):
            w, l2 = np.ascontiguousarray(self.W[:, lane]), float(self.l2[lane])
            dual = -conjugate[lane] - float(v[:, lane] @ v[:, lane]) / (2 * l2)
            certificate = Certificate.of(loss[lane] + 0.5 * l2 * float(w @ w),
                                         dual if balanced[lane] else -np.inf, np.log(2.0))
            if not np.isfinite(certificate.relative_gap):
                model.fit = None
                continue
            model.n_iter = self.n_steps
            model.fit = Fit(w.astype(self.stream.X.dtype, copy=False), float(self.b[lane]),
                            self.n_steps, certificate, certificate.relative_gap <= model.tol)
            model.responses = responses[lane]


def _mended(inverse: Callable[[np.ndarray], np.ndarray], pairs: list[tuple], g: np.ndarray
            ) -> np.ndarray:
    """The step that the factored Hessian and the (step, fall of the gradient) since then make."""
    q, kept = g.copy(), []
    for s, t in reversed(pairs):
        curve = (s * t).sum(axis=0)
        rho = np.divide(1.0, curve, out=np.zeros_like(curve), where=curve > 0)
        alpha = rho * (s * q).sum(axis=0)
        q -= alpha * t
        kept.append((s, t, rho, alpha))
    r = inverse(q)
    for s, t, rho, alpha in reversed(kept):
        r += s * (alpha - rho * (t * r).sum(axis=0))
    return r
