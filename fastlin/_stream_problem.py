"""A learning problem whose rows are in a cache: targets, weights and held-out rows by block.

What `fit` finds in one look at all rows (the scale of the weights, rows to hold out, the score on
them, the loss of the best constant) is found here in sweeps over the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ._multilabel import LabelColumn
from ._reductions import Column
from ._safety import (
    CLEARLY_BETTER,
    EVERY,
    FEWEST,
    best_constant_loss,
    if_worse,
    may_be_worse,
)
from ._scores import mean_loss
from ._split import split_rows
from ._stream_cache import Block, StreamCache
from ._stream_train import StreamTask

__all__ = ["SquareSums", "StreamProblem"]

# Targets of a regression that stand for all, where the best constant is asked for
_SAMPLE = 1 << 20


class StreamProblem:
    """Targets, weights and rows of every task.

    Parameters
    ----------
    cache : StreamCache
        Finished.
    targets : callable
        From the stored targets of a block to those of each task: arrays, or columns of a code.
    lookup : ndarray or None
        The class of each stored number; None for a regression.
    class_weight : ndarray or None
        The factor of each class.
    """

    def __init__(
        self,
        cache: StreamCache,
        targets: Callable[[np.ndarray], list],
        lookup: np.ndarray | None = None,
        class_weight: np.ndarray | None = None,
    ):
        self.cache, self._targets = cache, targets
        self._lookup, self._class_weight = lookup, class_weight
        # targets that hang on the class alone are found in one step from the stored number
        self._by_number = [] if lookup is None else list(targets(lookup))
        if not all(isinstance(target, np.ndarray) for target in self._by_number):
            self._by_number = []
        self._all_rows = np.empty(0, np.int64)
        self._is_weighted = cache.has_weights or class_weight is not None
        self._scales: list[tuple[float, float]] = []
        if self._is_weighted:
            self._scales = self._measure_weights()

    def blocks(self) -> Iterator[Block]:
        """All blocks in the order of the source."""
        n = len(self.cache)
        for index in range(n):
            yield self.cache.load(index, index + 1 if index + 1 < n else None)

    def codes(self, block: Block) -> np.ndarray:
        """Class numbers, or the targets of a regression."""
        return block.y if self._lookup is None else self._lookup[block.y]

    def parts(self, block: Block, held_out: bool = False) -> list[tuple]:
        """(y, weight or None, rows) of each task: rows to train on, or those held out."""
        is_plain = self._lookup is None or self._by_number
        if is_plain and not self._is_weighted and block.held_out is None and not held_out:
            n = len(block.y)
            if len(self._all_rows) != n:
                self._all_rows = np.arange(n)
            return [(target, None, self._all_rows) for target in self._targets_of(block)]
        return [
            (y, weight, np.flatnonzero(chosen))
            for y, weight, chosen in self._chosen(block, held_out)
        ]

    def _targets_of(self, block: Block) -> list:
        """The targets of each task."""
        if self._by_number:
            return [target[block.y] for target in self._by_number]
        return self._targets(self.codes(block))

    def _chosen(self, block: Block, held_out: bool | None) -> Iterator[tuple]:
        """(y, weight, mask of the rows) of each task; held_out None is all rows."""
        given = self._weight(block)
        for k, target in enumerate(self._targets_of(block)):
            y, weight, member = _part(target, given)
            chosen = np.ones(len(y), bool) if weight is None else weight > 0
            if member is not None:
                chosen &= member
            if block.held_out is not None and held_out is not None:
                chosen &= block.held_out if held_out else ~block.held_out
            if weight is not None and self._scales:
                largest, factor = self._scales[k]
                weight = weight / largest * factor
            yield y, weight, chosen

    def _weight(self, block: Block) -> np.ndarray | None:
        """Sample weights with the class weights in them."""
        if not self._is_weighted:
            return None
        n = len(block.y)
        weight = np.ones(n) if block.weight is None else block.weight
        if self._class_weight is None:
            return weight
        return self._class_weight[self.codes(block)] * weight

    def _measure_weights(self) -> list[tuple[float, float]]:
        """(largest weight, number of rows with any over the sum of weights that are divided by it)
        for each task, which brings the mean of the weights to 1."""
        tops = np.max([
            [weight.max(initial=0.0, where=chosen) for _, weight, chosen in
             self._chosen(block, None)]
            for block in self.blocks()
        ], axis=0)  # fmt: skip
        if not tops.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        sums = np.zeros((2, len(tops)))
        for block in self.blocks():
            for k, (_, weight, chosen) in enumerate(self._chosen(block, None)):
                # other rows weigh 0
                sums[:, k] += chosen.sum(), (weight / (tops[k] or 1.0)).sum()
        return [
            (float(top) or 1.0, float(count / mass) if mass else 1.0)
            for top, count, mass in zip(tops, *sums, strict=True)
        ]

    def hold_out(self, fraction: float, seed: np.ndarray) -> None:
        """Hold out a share of the rows of each block, stratified by class."""
        masks, total, refusal = [], 0, None
        for block in self.blocks():
            weight = self._weight(block)
            rows = np.arange(len(block.y)) if weight is None else np.flatnonzero(weight)
            mask = np.zeros(len(block.y), bool)
            codes = None if self._lookup is None else self.codes(block)
            try:
                mask[split_rows(rows, fraction, codes, seed)[1]] = True
            except ValueError as error:
                refusal = error
            total += mask.sum()
            masks.append(mask)
        if not total and refusal is not None:
            raise refusal
        self.cache.hold_out(masks)

    def scores(self, tasks: Sequence[StreamTask], active: list[int], score: Any) -> list[float]:
        """Scores of some tasks on the rows held out: means of `score`, or R^2 if that is None."""
        sums = [SquareSums() if score is None else _Mean() for _ in active]
        for block in self.blocks():
            parts = self.parts(block, held_out=True)
            for k, kept in zip(active, sums, strict=True):
                y, weight, rows = parts[k]
                if not len(rows):
                    continue
                p = tasks[k].learner.responses(block.rows, rows)
                own = np.ones(len(rows)) if weight is None else weight[rows]
                if score is None:
                    kept.add(y[rows], p[:, 0], own)
                else:
                    kept.add(score(y[rows], p, own), own.sum())
        return [kept.value() for kept in sums]

    def worse_than_constant(self, task: StreamTask, k: int, in_order: bool
                            ) -> tuple[float, float] | None:
        """(loss, that of the best constant) if the final weights don't beat it, as in `fit`."""
        learner = task.learner
        rule, last = learner.rule, task.report.trace[-1]["loss"]
        y, weight = self.stand_ins(k, learner.n_outputs)
        constant = best_constant_loss(rule, y, weight, learner.n_outputs)
        doubtful = may_be_worse(rule, last, constant, in_order)
        if not doubtful and constant == 0:
            return None
        if not doubtful and self.cache.n_rows >= EVERY * FEWEST:
            if self._loss(learner, k, EVERY) <= constant * CLEARLY_BETTER:
                return None
        return if_worse(self._loss(learner, k, 1), constant)

    def stand_ins(self, k: int, n_outputs: int) -> tuple[np.ndarray, np.ndarray]:
        """Targets and weights with the best constant of all rows: each class once, with its
        weight, or a sample of numbers."""
        values: list[np.ndarray] = []
        weights: list[np.ndarray] = []
        step = 1 if self._lookup is not None else -(-self.cache.n_rows // _SAMPLE)
        for block in self.blocks():
            y, weight, rows = self.parts(block)[k]
            rows = rows[::step]
            own = np.ones(len(rows)) if weight is None else weight[rows]
            if self._lookup is None:
                values.append(y[rows])
                weights.append(own)
            else:
                found, place = np.unique(y[rows], return_inverse=True)
                values.append(found)
                weights.append(np.bincount(place, own, len(found)))
        y, weight = np.concatenate(values), np.concatenate(weights)
        if self._lookup is None:
            return y, weight
        found, place = np.unique(y, return_inverse=True)
        return found, np.bincount(place, weight, len(found))

    def _loss(self, learner: Any, k: int, step: int) -> float:
        """Mean loss of the final weights over every step-th row."""
        mean = _Mean()
        for block in self.blocks():
            y, weight, rows = self.parts(block)[k]
            rows = np.ascontiguousarray(rows[::step])
            if len(rows):
                own = np.empty(0) if weight is None else weight[rows]
                p = learner.responses(block.rows, rows)
                mean.add(mean_loss(learner.rule, p, y[rows], own), own.sum() or len(rows))
        return mean.value()


def _part(target: Any, weight: np.ndarray | None) -> tuple:
    """(targets, weights, mask of the rows that take part or None)"""
    if isinstance(target, (Column, LabelColumn)):
        return target.part(weight)
    return target, weight, None


class _Mean:
    """A weighted mean."""

    def __init__(self) -> None:
        self._sum = self._mass = 0.0

    def add(self, value: float, mass: float) -> None:
        """Add a mean of its own."""
        self._sum += value * mass
        self._mass += mass

    def value(self) -> float:
        """The mean."""
        return self._sum / self._mass if self._mass else 0.0


class SquareSums:
    """R^2 by sums, with the mean moved along so that nothing cancels."""

    def __init__(self) -> None:
        self._residual = self._total = self._mean = self._mass = 0.0

    def add(self, y: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> None:
        """Add some rows."""
        mass = weight.sum()
        mean = weight @ y / mass
        self._residual += weight @ (y - predicted) ** 2
        self._total += weight @ (y - mean) ** 2
        self._total += (mean - self._mean) ** 2 * mass * self._mass / (mass + self._mass)
        self._mean += (mean - self._mean) * mass / (mass + self._mass)
        self._mass += mass

    def value(self) -> float:
        """R^2; of equal targets 1 for a perfect prediction, else 0."""
        if self._total > 0:
            return float(1 - self._residual / self._total)
        return float(self._residual == 0)
