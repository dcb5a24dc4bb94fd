"""What exact models that are solved side by side are made of: the rows that they share, the problem
of each, which row is whose, and memory for their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ._aligned import huge_zeros
from ._core.rows import Rows
from ._epochs import RowOrder
from ._patterns import row_patterns, without_idle
from ._problem import Fit

__all__ = ["Centre", "DualModel", "DualStream", "Room", "Rooms", "Sides"]


class Room:
    """Memory for weights, which descent and certificates use in turns: new pages for each would
    take as long as an epoch."""

    def __init__(self, n_bytes: int):
        self._memory, self._used = huge_zeros(n_bytes, np.dtype(np.uint8)), 0

    def __len__(self) -> int:
        return len(self._memory)

    def zeros(self, size: int, dtype: Any) -> np.ndarray:
        """Zeros in this memory; what was there before is gone."""
        n_bytes = size * np.dtype(dtype).itemsize
        self._memory[: min(n_bytes, self._used)] = 0
        self._used = max(n_bytes, self._used)
        return self._memory[:n_bytes].view(dtype)


class Rooms:
    """As many rooms as threads need at a time."""

    def __init__(self) -> None:
        self._free: list[Room] = []

    @contextmanager
    def taken(self, n_bytes: int) -> Iterator[Room]:
        """A room of at least so many bytes, for one thread."""
        try:
            room = self._free.pop()
        except IndexError:
            room = Room(n_bytes)
        if len(room) < n_bytes:
            room = Room(n_bytes)
        yield room
        self._free.append(room)


@dataclass(frozen=True)
class Centre:
    """|x - c|^2 and x.c of each row, and |c|^2; without an intercept c is 0."""

    q: np.ndarray
    k: np.ndarray
    square: float


@dataclass
class DualStream:
    """The rows that all models share.

    `X` are the user's rows, `work` the float32 rows that descent runs on, and `exact` the user's
    with the column numbers of `work`, `place[j]` for column j unless that is empty; None before
    they are needed, and if their values are too large for that.
    `memberships[f]` says which rows are those of fold f; `codes` are class numbers.
    """

    X: Rows
    work: Rows | None
    exact: Rows | None
    memberships: list[np.ndarray]
    codes: np.ndarray
    n_classes: int
    sample_weight: np.ndarray
    order: RowOrder
    centre: Callable[[bool], Centre]
    place: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))


@dataclass
class DualModel:
    """One output to solve for: `C sum_i s_i loss(y_i (w.x_i + b)) + |w|^2 / 2`."""

    loss: str
    C: float
    fit_intercept: bool
    fold: int
    class_weight: np.ndarray
    class_target: np.ndarray
    test: np.ndarray | None
    tol: float
    max_iter: int
    width: ClassVar[int] = 1
    # memory for its weights
    coef: np.ndarray | None = None
    # what came of it
    state: np.ndarray | None = None
    n_iter: int = 0
    offset: float = 0.0
    intercept: float = 0.0
    target: float = 0.0
    last_gap: float = np.inf
    # another method is to go on from `fit`, or to begin afresh
    is_slow: bool = False
    is_lost: bool = False
    fit: Fit | None = None
    responses: np.ndarray | None = None

    @property
    def kind(self) -> tuple:
        """What the models of a pass have in common."""
        return self.loss, self.fit_intercept


@dataclass
class Sides:
    """Weights and targets of some models, one per lane, by the pattern of a row."""

    pattern: np.ndarray
    weight: np.ndarray
    target: np.ndarray
    total: np.ndarray  # sum of the weights of each lane

    @classmethod
    def of(cls, stream: DualStream, models: list[DualModel], n_lanes: int) -> Sides:
        """Rows that all models treat alike share a pattern."""
        pattern, weight, target = row_patterns(
            stream.memberships, stream.codes, stream.n_classes, models, n_lanes
        )
        own = stream.sample_weight if len(stream.sample_weight) else None
        return cls(pattern, weight, target, np.bincount(pattern, own, len(weight)) @ weight)

    def chosen(self, lanes: list[int], n_lanes: int) -> Sides:
        """Those of some lanes, moved together."""
        weight, target = np.zeros((len(self.weight), n_lanes)), np.ones((len(self.weight), n_lanes))
        total = np.zeros(n_lanes)
        for whole, part in ((self.weight, weight), (self.target, target), (self.total, total)):
            part[..., : len(lanes)] = whole[..., lanes]
        return Sides(self.pattern, weight, target, total)

    def without(self, lanes: list[int]) -> np.ndarray:
        """The pattern of each row, -1 where no lane but the given ones learns from it."""
        self.weight[:, lanes] = 0.0
        return without_idle(self.pattern, self.weight)
