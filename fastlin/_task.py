"""One learner to train: what runs in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._core.rows import Rows
from ._epochs import EpochPlan, Report, row_order, train
from ._learner import make_learner
from ._parallel import Cancelled
from ._prepare import ColumnOrder
from ._safety import loss_if_worse_than_constant

__all__ = ["Task"]

_NOTHING = np.empty(0)


@dataclass
class Task:
    """One learner to train, and what came of it."""

    X: Rows
    y: np.ndarray
    weight: np.ndarray
    rows: np.ndarray
    held_out: np.ndarray
    rule: dict[str, Any]
    plan: EpochPlan
    seed: np.ndarray
    score: Any
    n_outputs: int
    start: tuple[np.ndarray, np.ndarray] | None = None
    columns: ColumnOrder | None = None
    learner: Any = None
    report: Report | None = None
    worse: tuple[float, float] | None = None
    cancelled: bool = False
    # sets y, weight, rows and held_out when the task begins, so that they need not wait in memory
    prepare: Callable[[Task], None] | None = None

    def __call__(self) -> Task:
        learner = self.learner = make_learner(
            self.X.shape[1], self.X.dtype, self.rule, self.n_outputs
        )
        if self.cancelled:
            raise Cancelled
        if self.prepare is not None:
            self.prepare(self)
        if self.start is not None:
            W, b = self.start
            learner.start_from(self.columns.renumbered(W) if self.columns else W, b)
        order = row_order(self.X, self.y, self.rows, self.plan.shuffle, self.seed)
        validate = self._validate if len(self.held_out) else None
        self.report = train(learner, self.X, self.y, self.weight, order, self.plan, validate)
        self.worse = loss_if_worse_than_constant(
            learner, self.X, self.y, self.weight, self.rows, self.report.trace[-1]["loss"],
            in_order=not self.plan.shuffle,
        )
        if self.columns:
            learner.take_columns(self.columns.place)
        if self.prepare is not None:
            self.y = self.weight = self.rows = self.held_out = _NOTHING
        return self

    def cancel(self) -> None:
        """End training soon, from another thread."""
        self.cancelled = True
        if self.learner is not None:
            self.learner.cancelled = True

    def _validate(self) -> float:
        """Score of the current weights on the held-out rows."""
        p = self.learner.responses(self.X, self.held_out)
        weight = self.weight[self.held_out] if len(self.weight) else None
        return self.score(self.y[self.held_out], p, weight)
