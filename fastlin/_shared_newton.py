"""Newton's method on models that differ in their rows alone: the folds of one strength, dense rows.

With many more rows than columns the Hessians of all folds are nearly one matrix, and that of a
sample of the rows is near it. So models begin near the optimum with the mean Hessian of a sample
there (`_shared_start`), which is made anew if need be, and what it lacks of each model's own is
learnt from the model's steps (Liu & Nocedal 1989, "On the limited memory BFGS method for large
scale optimization", Mathematical Programming 45, begun with that factor; Byrd, Chin, Neveitt &
Nocedal 2011, "On the use of stochastic Hessian information in optimization methods for machine
learning", SIAM J. Optimization 21). A step costs two products of the rows with all models side by
side, those of other strengths among them, of float32 numbers until that is too little for a
certificate, which is made in double (`fl_multi.h`), as are further steps.

Steps have their whole length. Models for which what is left does not shrink so are left to Newton's
method with a line search, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._aligned import aligned_zeros
from ._blocks import matvec, room_for
from ._core import multi as _multi
from ._dual_models import DualModel, DualStream, Sides
from ._isa import ISA
from ._lane_losses import LaneLosses
from ._lanes import LANES
from ._parallel import Cancellable, n_threads
from ._problem import LOSS_CODES, Certificate, Fit
from ._shared_start import MeanHessian, Starts

__all__ = ["SharedNewton", "shared_passes"]

# Dense rows that suit: entries, columns, and rows per column
_LEAST_ENTRIES, _MOST_COLUMNS, _ROWS_PER_COLUMN = 1 << 18, 500, 50
# Rows of a Hessian for each column
_SAMPLE_PER_COLUMN = 100
# Entries of the rows that are taken at a time, which stay in the cache
_ENTRIES_AT_ONCE = 1 << 17
# What is left must fall by the factor in the step after a Hessian, and by the other one to keep it
_FALL, _GOOD = 0.5, 0.1
# What is left where roundings of float32 numbers may be why it does not fall
_ROUGH = 1e-4
# A gap estimated to be so much smaller than what is asked for is worth measuring.
_MARGIN = 0.3
_MOST_STEPS = 30


def shared_passes(stream: DualStream, models: list[DualModel],
                  n_jobs: int | None) -> list[SharedNewton]:
    """The models that this method suits. Those of a group hang on nothing but their own problems;
    which groups go together changes no bit."""
    X, (n, d) = stream.X, stream.X.shape
    if (X.layout != "dense" or n * d < _LEAST_ENTRIES or d > _MOST_COLUMNS
            or n < _ROWS_PER_COLUMN * d):
        return []
    found: dict[Any, list[DualModel]] = {}
    for model in models:
        if model.loss == "log_loss":
            key = (model.C, model.fit_intercept, model.tol, model.max_iter,
                   model.class_target.tobytes())
            found.setdefault(key, []).append(model)
    most = LANES[-1]
    groups = [
        group[first : first + most] for group in found.values() if len(group) > 1
        for first in range(0, len(group), most)
    ]  # fmt: skip
    # like strengths take like numbers of steps
    groups.sort(key=lambda group: (group[0].fit_intercept, group[0].C))
    fair = -(-sum(map(len, groups)) // n_threads(n_jobs))
    packs: list[list[list[DualModel]]] = []
    for group in groups:
        size = sum(map(len, packs[-1])) if packs else most
        alike = bool(packs) and packs[-1][0][0].fit_intercept == group[0].fit_intercept
        if not alike or size >= fair or size + len(group) > most:
            packs.append([])
        packs[-1].append(group)
    sample = np.arange(0, n, max(1, n // (_SAMPLE_PER_COLUMN * d)))
    starts = {free: Starts(X, sample, free) for free in {pack[0][0].fit_intercept
                                                         for pack in packs}}
    return [SharedNewton(stream, pack, starts[pack[0][0].fit_intercept]) for pack in packs]


@dataclass
class _Group:
    """Models with one problem but for their rows, and how far they are."""

    models: list[DualModel]
    lanes: slice
    # the last steps and gradients, what these promised, and the gaps there
    change: np.ndarray
    last: np.ndarray | None = None
    left: float = np.inf
    gaps: np.ndarray | float = np.inf
    n_steps: int = 0
    # how to solve with the mean Hessian, its centre, and the steps since
    inverse: Any = None
    is_new: bool = False
    centre: np.ndarray | float = 0.0
    pairs: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    # whether gaps are likely to be small or do not shrink; and whether that is all
    rests: bool = False
    ends: bool = False
    # whether its certificates are the last ones
    is_told: bool = False

    def begin_with(self, hessian: MeanHessian, l2: float) -> None:
        """Solve with another Hessian from here on."""
        self.inverse, self.centre = hessian.inverse(l2), hessian.centre[:, None]
        self.pairs = []

    @property
    def goal(self) -> float:
        """Which gaps are worth measuring."""
        return _MARGIN * self.models[0].tol


class SharedNewton(Cancellable):
    """Models with one loss, each on rows of its own, in groups. A task for a thread.

    Arrays of all models have a row for each column of X, or for each row, and a column per model.
    """

    def __init__(self, stream: DualStream, groups: list[list[DualModel]], starts: Starts):
        self.stream, self.models = stream, [model for group in groups for model in group]
        self.n_lanes = next(n for n in LANES if n >= len(self.models))
        self.free, self.starts = self.models[0].fit_intercept, starts
        self.groups: list[_Group] = []
        first = 0
        for models in groups:
            lanes = slice(first, first + len(models))
            nothing = np.zeros((stream.X.shape[1] + 1, len(models)))
            self.groups.append(_Group(models, lanes, nothing))
            first = lanes.stop

    def __call__(self) -> SharedNewton:
        # an answer that is not finite is refused where it would be published
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._lay_out()
            while not all(group.ends for group in self.groups):
                self._descend()
                self._certify()
                self.single = False
        del self.losses, self.z, self.W, self.values, self.starts, self.groups
        return self

    def _lay_out(self) -> None:
        """Weights and losses of all models, and memory for what rows give."""
        stream, models, L = self.stream, self.models, self.n_lanes
        n, d = stream.X.shape
        sides = Sides.of(stream, models, L)
        self.losses = LaneLosses(stream, sides, LOSS_CODES[models[0].loss], self._look)
        # of lanes without a model
        sides.total[len(models) :] = 1.0
        C = np.array([model.C for model in models] + [1.0] * (L - len(models)))
        self.total, self.l2 = sides.total, 1.0 / (C * sides.total)
        self.z, self.room = np.zeros((n, L)), room_for(stream.X)
        self.values = stream.X.values.reshape(n, d)
        self.W, self.b = aligned_zeros(d * L, np.dtype(np.float64)).reshape(d, L), np.zeros(L)
        # whether products with the rows are those of float32 numbers
        self.single = self.starts.single
        for group in self.groups:
            self._look()
            y = models[group.lanes.start].class_target[stream.codes]
            l2 = float(self.l2[group.lanes].mean())
            start = self.starts.of(self._weights(group), y, l2)
            self.W[:, group.lanes], self.b[group.lanes] = start.w[:, None], start.b
            group.begin_with(start.hessian, l2)

    def _weights(self, group: _Group) -> np.ndarray:
        """The mean weight of each row among the models of a group, whose weights sum to 1."""
        sides, own = self.losses.sides, self.stream.sample_weight
        s = (sides.weight[:, group.lanes] / self.total[group.lanes]).mean(axis=1)[sides.pattern]
        return s * own if len(own) else s

    def _descend(self) -> None:
        """Steps of all groups that do not rest, until all do."""
        for group in self.groups:
            group.rests, group.last = group.ends, None
        while not all(group.rests for group in self.groups):
            g, loss = self._gradients()
            gaps = 2 * self.l2 * (loss + 0.5 * self.l2 * np.square(self.W).sum(axis=0))
            for group in self.groups:
                if not group.rests:
                    self._step(group, g[:, group.lanes], gaps[group.lanes])

    def _step(self, group: _Group, g: np.ndarray, scale: np.ndarray) -> None:
        """A step of a group from where its gradients are g."""
        gaps = np.square(g[:-1] - group.centre * g[-1]).sum(axis=0) / scale
        step, was_new = group.n_steps, group.is_new
        if step == min(_MOST_STEPS, group.models[0].max_iter):
            group.rests = group.ends = True
            return
        group.is_new = step == 0
        if step:
            if group.last is not None:
                group.pairs.append((group.change, group.last - g))
            group.change = _mended(group.inverse, group.pairs, g)
            left = float((g * group.change).sum(axis=0).max())
            group.is_new = not left <= _GOOD * group.left
            if group.is_new and was_new and step > 1 and not left <= _FALL * group.left:
                # near the optimum it may be that float32 numbers have nothing more to tell
                is_rounding = self.single and left <= _ROUGH
                group.rests, group.ends, group.is_new = True, not is_rounding, False
                return
            if group.is_new:
                self._factor(group)
        if group.is_new:
            group.change = group.inverse(g)
            left = float((g * group.change).sum(axis=0).max())
        group.left, group.last = left, g
        self.W[:, group.lanes] -= group.change[:-1]
        self.b[group.lanes] -= group.change[-1]
        group.n_steps += 1
        # the next step shrinks a gap as the last one did
        expected = gaps * np.minimum(1.0, gaps / group.gaps) if step > 1 else gaps
        group.gaps, group.rests = gaps, bool((expected <= group.goal).all())

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

    def _add_single(self, weights: list[np.ndarray], sums: np.ndarray, pull: np.ndarray,
                    start: int, stop: int) -> None:
        """Add what some rows say, by products of float32 numbers. Each group has its own, whose
        sums then hang on nothing else."""
        block, z = self.values[start:stop].astype(np.float32, copy=False), self.z[start:stop]
        for group, w in zip(self.groups, weights, strict=True):
            z[:, group.lanes] = block @ w
        self.losses.add(sums, self.z, self.b, self.z, start, stop)
        for group in self.groups:
            pull[:, group.lanes] += block.T @ z[:, group.lanes].astype(np.float32)

    def _gradients(self) -> tuple[np.ndarray, np.ndarray]:
        """(gradients, those of the intercepts in the last row; mean losses)"""
        losses, pull = self.losses, np.zeros_like(self.W)
        sums = losses.room()
        weights = [self.W[:, group.lanes].astype(np.float32) for group in self.groups]
        for start, stop in self._blocks():
            if self.single:
                self._add_single(weights, sums, pull, start, stop)
                continue
            self._respond(start, stop)
            losses.add(sums, self.z, self.b, self.z, start, stop)
            self._add(start, stop, pull)
        found = losses.read(sums)
        slope = found.slope if self.free else np.zeros(self.n_lanes)
        g = np.vstack([pull, slope]) / self.total
        g[:-1] += self.l2 * self.W
        return g, found.loss / self.total

    def _factor(self, group: _Group) -> None:
        """Another mean Hessian, at the mean responses of the models of a group."""
        part, s = self.starts.part, self._weights(group)[self.starts.sample]
        z = matvec(part, self.W[:, group.lanes].mean(axis=1), float(self.b[group.lanes].mean()))
        group.begin_with(self.starts.hessian(s, z), float(self.l2[group.lanes].mean()))

    def _certify(self) -> None:
        """Best intercepts, gaps and responses of the groups that have not ended, in double."""
        losses, v = self.losses, np.zeros_like(self.W)
        for start, stop in self._blocks():
            self._respond(start, stop)
        if self.free:
            self.b = losses.balanced(self.z, self.b)
        responses = [None if model.test is None else self.z[model.test, lane] + self.b[lane]
                     for lane, model in enumerate(self.models)]
        # minus the slopes are dual variables; with best intercepts they are feasible
        sums = losses.at(self.z, self.b, self.z)
        bounded = losses.is_balanced(sums) | (not self.free)
        for start, stop in self._blocks():
            self._add(start, stop, v)
        v /= self.total
        primal = sums.loss / self.total + 0.5 * self.l2 * np.square(self.W).sum(axis=0)
        dual = (sums.loss - sums.along) / self.total - np.square(v).sum(axis=0) / (2 * self.l2)
        dual = np.where(bounded, dual, -np.inf)
        for group in self.groups:
            if group.is_told:
                continue
            for lane, model in zip(range(group.lanes.start, group.lanes.stop), group.models,
                                   strict=True):
                certificate = Certificate.of(float(primal[lane]), float(dual[lane]), np.log(2.0))
                if not np.isfinite(certificate.relative_gap):
                    model.fit, group.ends = None, True
                    continue
                model.n_iter, model.responses = group.n_steps, responses[lane]
                model.fit = Fit(self.W[:, lane].astype(self.stream.X.dtype), float(self.b[lane]),
                                group.n_steps, certificate, certificate.relative_gap <= model.tol)
            group.ends |= all(m.fit is not None and m.fit.converged for m in group.models)
            group.is_told = group.ends


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
