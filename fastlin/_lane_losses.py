"""Losses of models side by side, given what each responds to the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ._core import multi as _multi
from ._dual_models import DualStream, Sides
from ._isa import ISA

__all__ = ["LaneLosses", "Sums"]

_NO_PULL = np.empty((0, 1))
# Rows per call of a kernel: some milliseconds
_ROWS_PER_CALL = 1 << 20
# Steps for a shift of responses at which slopes sum to 0, and what their sum, in shares of the sum
# of weights, may be as a rounding
_BALANCE_STEPS, _BALANCED = 6, 1e-14


class Sums(NamedTuple):
    """Sums over the rows, by their weights, for each lane: losses, slopes, curvatures, and slopes
    times responses."""

    loss: np.ndarray
    slope: np.ndarray
    bend: np.ndarray
    along: np.ndarray


class LaneLosses:
    """One loss for all lanes, whose rows and targets are those of `sides`."""

    def __init__(self, stream: DualStream, sides: Sides, code: int, look: Callable[[], None]):
        self.stream, self.sides, self.code, self.look = stream, sides, code, look

    def room(self) -> np.ndarray:
        """What `add` adds to, for no rows."""
        sums = np.zeros((5, self.sides.weight.shape[1]))
        sums[1] = 1.0
        return sums

    def add(self, sums: np.ndarray, z: np.ndarray, b: np.ndarray, pull: np.ndarray, start: int,
            stop: int) -> None:
        """Add up some rows at responses z + b; unless it is empty, `pull` gets their slopes by
        their weights. It may be z."""
        sides = self.sides
        _multi.sum_losses(
            ISA, z.shape[1], self.code, z, b, sides.pattern, sides.weight, sides.target,
            self.stream.sample_weight, sums, pull, start, stop,
        )  # fmt: skip

    @staticmethod
    def read(sums: np.ndarray) -> Sums:
        """What has been added."""
        return Sums(sums[0] + np.log(sums[1]), sums[2], sums[3], sums[4])

    def at(self, z: np.ndarray, b: np.ndarray, pull: np.ndarray = _NO_PULL) -> Sums:
        """The sums over all rows."""
        sums = self.room()
        for start in range(0, len(z), _ROWS_PER_CALL):
            self.look()
            self.add(sums, z, b, pull, start, min(start + _ROWS_PER_CALL, len(z)))
        return self.read(sums)

    def balanced(self, z: np.ndarray, b: np.ndarray) -> np.ndarray:
        """b at which slopes sum to 0, unless that takes too long."""
        b, done = b.copy(), np.zeros(len(b), bool)
        for _ in range(_BALANCE_STEPS):
            sums = self.at(z, b)
            step = np.clip(sums.slope / np.maximum(sums.bend, 1e-300), -1.0, 1.0)
            # each lane stops by itself, whatever its company
            b -= np.where(done, 0.0, step)
            # what Newton's method leaves is about the square
            done |= step * step * sums.bend <= 0.1 * _BALANCED * self.sides.total
            if done.all():
                break
        return b

    def is_balanced(self, sums: Sums) -> np.ndarray:
        """For each lane, whether its slopes sum to 0."""
        return np.abs(sums.slope) <= _BALANCED * self.sides.total
