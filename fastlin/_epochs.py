"""Epochs: in which order rows are visited, when training stops, and what is said about it.

Shared by every learner that visits rows one after another.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._core import order as _order
from ._core.rows import Rows
from ._progress import show_epoch

__all__ = [
    "SHORTER_STEPS", "EpochPlan", "Progress", "Report", "RowOrder", "row_order", "train",
]  # fmt: skip

# Rows that are shuffled together where there are many: a block's rows lie side by side in memory,
# so that an epoch reads memory nearly in order. Against a full permutation blocks of 64 cost no
# accuracy, if there are many of them, and save a factor of 1.5 to 3 in time on data that don't fit
# the cache. The number of rows alone decides: neither storage nor dtype may change a model.
_BLOCK = 64
_SMALLEST_BLOCK = 8
_FEWEST_BLOCKS = 1024
# Bytes of rows between the fetching of a row and its step, unless that is a whole block; rows at
# most
_FETCH_BYTES = 8 << 10
_FETCH_ROWS = 24
_FETCH_BLOCK_BYTES = 512 << 10
# Neighbouring rows whose targets correlate more than this are in some order of the target; blocks
# of them would be visited one class at a time.
_MAX_CORRELATION = 0.2
# Epochs from which on one more pass over the rows is cheaper than what it saves in each
_FEWEST_PUT_OFF = 3
# What to do about steps that are too long.
SHORTER_STEPS = (
    "Scale the columns of X, or take shorter steps: a lower eta0 or C, or a higher alpha where "
    "learning_rate is 'optimal'."
)
# `adaptive`: divide the step by this when the loss no longer falls, down to a floor
_ADAPTIVE_FACTOR = 5.0
_ADAPTIVE_FLOOR = 1e-6


@dataclass(frozen=True)
class EpochPlan:
    """How long to train."""

    max_iter: int
    tol: float | None
    n_iter_no_change: int = 5
    shuffle: bool | str = True
    adaptive: bool = False
    verbose: int = 0
    callback: Callable[[dict[str, Any]], Any] | None = None

    @property
    def sure_epochs(self) -> int:
        """Epochs that will be run whatever is learnt: with `tol` a fit may stop after these."""
        return self.max_iter if self.tol is None else min(self.max_iter, self.n_iter_no_change + 1)

    def puts_off(self, validates: bool) -> bool:
        """Whether learners put off what they can: it takes a pass over the rows in the end, and
        until then there are no averages to validate."""
        return self.max_iter >= _FEWEST_PUT_OFF and not validates


@dataclass
class Report:
    """What happened: epochs run, the objective after each, and whether `tol` was reached."""

    n_iter: int = 0
    trace: list[dict[str, float]] = field(default_factory=list)
    converged: bool = False


class RowOrder:
    """The order of rows, drawn afresh for each epoch.

    Parameters
    ----------
    rows : ndarray of int64
        The rows to visit.
    shuffle : bool or "replacement"
        False keeps their order; "replacement" draws as many rows with replacement.
    seed : ndarray of four uint64
        State of the generator; it is advanced.
    blocks : int
        Rows per block, of which each is shuffled inside; 0 shuffles all rows together.
    ahead : int or None
        How many steps before its own a row is fetched; None: a block before, in the order of
        memory.

    Attributes
    ----------
    fetch : ndarray of int64
        fetch[k] is the row that memory is asked for at step k of the order given last.
    """

    def __init__(
        self,
        rows: np.ndarray,
        shuffle: bool | str,
        seed: np.ndarray,
        blocks: int,
        ahead: int | None = _FETCH_ROWS,
    ):
        self.rows, self.shuffle, self.seed, self.ahead = rows, shuffle, seed, ahead
        self.blocks = 0 if not shuffle or shuffle == "replacement" else blocks
        self.order = rows.copy() if shuffle else rows
        by_block = self.blocks and ahead is None
        self.unshuffled = np.empty(len(rows) if by_block else 0, rows.dtype)
        # none without shuffling: rows in the order of memory are foreseen by the processor
        distance = (ahead or _FETCH_ROWS) if shuffle else len(rows)
        self.fetch = self.unshuffled[self.blocks :] if by_block else self.order[distance:]

    def fork(self) -> RowOrder:
        """Another that goes on from here by itself."""
        return RowOrder(self.rows, self.shuffle, self.seed.copy(), self.blocks, self.ahead)

    def only(self, rows: np.ndarray) -> RowOrder:
        """An order of these rows in place of this one's, which goes on where they are the same."""
        if np.array_equal(rows, self.rows):
            return self
        return RowOrder(rows, self.shuffle, self.seed, self.blocks, self.ahead)

    def next_due(self, pause: np.ndarray, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the next epoch's order whose turn it is, as `_order.due` says, and what is
        fetched at each step."""
        order = self.next()
        if not pause.any():
            return order, self.fetch

        def due(rows: np.ndarray) -> np.ndarray:
            out = np.empty(len(rows), rows.dtype)
            return out[: _order.due(rows, pause, epoch, out)]

        some = due(order)
        if not len(self.unshuffled):
            return some, some[self.ahead or _FETCH_ROWS :]
        return some, due(self.unshuffled)[len(due(order[: self.blocks])) :]

    def next(self) -> np.ndarray:
        """The order of the next epoch, valid until the one after."""
        if self.shuffle == "replacement":
            _order.draw_with_replacement(self.rows, self.order, self.seed)
        elif self.blocks:
            _order.shuffle_blocks(
                self.rows, self.order, self.blocks, self.seed, self.unshuffled
            )
        elif self.shuffle:
            _order.shuffle_all(self.order, self.seed)
        return self.order


def row_order(X: Rows, y: np.ndarray, rows: np.ndarray, shuffle: bool | str, seed: np.ndarray):
    """The order that suits X and y: blocks of many rows that are in no order of y."""
    blocks = min(_BLOCK, len(rows) // _FEWEST_BLOCKS)
    if blocks < _SMALLEST_BLOCK or _is_sorted(y, rows):
        blocks = 0
    row_bytes = max(1, X.nbytes // len(X))
    by_block = blocks * row_bytes <= _FETCH_BLOCK_BYTES
    ahead = min(_FETCH_ROWS, max(1, _FETCH_BYTES // row_bytes))
    return RowOrder(rows, shuffle, seed.copy(), blocks, None if by_block else ahead)


def _is_sorted(y: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the targets of neighbouring rows resemble each other."""
    squares, products = _order.likeness(np.ascontiguousarray(y, np.float64), rows)
    return products > _MAX_CORRELATION * squares


def train(
    learner: Any,
    X: Rows,
    y: np.ndarray,
    weight: np.ndarray,
    order: RowOrder,
    plan: EpochPlan,
    validate: Callable[[], float] | None = None,
) -> Report:
    """Run epochs until `tol` says that there is no more to gain, or `max_iter`.

    The quantity that `tol` watches is the objective (progressive loss plus penalty), or the score
    that `validate` returns for held-out rows.
    """
    progress, puts_off = Progress(plan), plan.puts_off(validate is not None)
    # other orders may have another array, even of another length, for each epoch
    together = validate is None and isinstance(order, RowOrder) and learner.runs_epochs(X)
    while progress.goes_on:
        if puts_off:
            learner.put_off(X)
        if together:
            learner.run_epochs(X, y, weight, order, progress)
        else:
            loss = learner.visit(X, y, weight, order.next(), order.fetch)
            progress.judge(learner, loss, validate)
    if puts_off and learner.has_debts:
        learner.settle(X)
        progress.check_finite(learner, at_end=True)
    return progress.report


class Progress:
    """The report of a training under way, and whether it goes on.

    Attributes
    ----------
    report : Report
    goes_on : bool
        False once `tol` or `max_iter` ends training.
    """

    def __init__(self, plan: EpochPlan):
        self.plan, self.report = plan, Report()
        self.goes_on = True
        self._best, self._waited = np.inf, 0
        self._started = time.perf_counter()

    def judge(
        self, learner: Any, loss: float, validate: Callable[[], float] | None = None
    ) -> None:
        """Enter an epoch of this mean progressive loss."""
        self.check_finite(learner)
        self.enter(learner, loss, learner.penalty(), None if validate is None else validate())

    def enter(
        self, learner: Any, loss: float, penalty: float, score: float | None = None
    ) -> None:
        """Enter an epoch, after which the weights are finite."""
        plan, report = self.plan, self.report
        watched = objective = loss + penalty
        entry = {"epoch": report.n_iter + 1, "loss": loss, "objective": objective}
        if score is not None:
            entry["validation_score"] = score
            watched = -score
        entry["seconds"] = time.perf_counter() - self._started
        report.n_iter += 1
        report.trace.append(entry)
        if plan.tol is not None:
            self._waited = self._waited + 1 if watched > self._best - plan.tol else 0
            self._best = min(self._best, watched)
            if self._waited >= plan.n_iter_no_change:
                if plan.adaptive and learner.rule["eta0"] > _ADAPTIVE_FLOOR:
                    learner.rule["eta0"] /= _ADAPTIVE_FACTOR
                    self._waited = 0
                else:
                    report.converged = True
        self.goes_on = not report.converged and report.n_iter < plan.max_iter
        if plan.callback is not None or plan.verbose:
            _tell(plan, entry, last=not self.goes_on)

    def check_finite(self, learner: Any, at_end: bool = False) -> None:
        """Stop at an overflow: a model of NaN helps nobody."""
        if not learner.is_finite():
            when = "training" if at_end else f"epoch {self.report.n_iter + 1}"
            raise ValueError(
                f"Floating-point overflow in {when}: the steps are too long for these data. "
                + SHORTER_STEPS
            )


def _tell(plan: EpochPlan, entry: dict[str, float], last: bool) -> None:
    """Report an epoch to the caller's function and, if asked for, on standard error."""
    if plan.callback is not None:
        plan.callback(dict(entry))
    if plan.verbose:
        show_epoch(entry, plan.max_iter, last)
