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

__all__ = ["SHORTER_STEPS", "EpochPlan", "Report", "RowOrder", "row_order", "train"]

# Rows that are shuffled together where memory order matters: so many, or fewer where they are long,
# since a block and the next share the cache with the weights. Against a full permutation 64 cost no
# accuracy and save a factor of 1.5 to 3 in time on data that don't fit the cache.
_BLOCK = 64
_SMALLEST_BLOCK = 8
_BLOCK_BYTES = 64 << 10
# Bytes of rows, and rows at most, between the fetching of a row and its step, without blocks
_FETCH_BYTES = 8 << 10
_FETCH_ROWS = 24
# Data up to this size lie in a cache, where a full permutation costs nothing.
_CACHED_BYTES = 8 << 20
# Neighbouring rows whose targets correlate more than this are in some order of the target; blocks of
# them would be visited one class at a time.
_MAX_CORRELATION = 0.2
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
    ahead : int
        Without blocks, how many steps before its own a row is fetched.

    Attributes
    ----------
    fetch : ndarray of int64
        fetch[k] is the row that memory is asked for at step k of the order given last. A block is
        fetched in the order of memory, while the steps go through the one before it.
    """

    def __init__(
        self,
        rows: np.ndarray,
        shuffle: bool | str,
        seed: np.ndarray,
        blocks: int,
        ahead: int = _FETCH_ROWS,
    ):
        self.rows, self.shuffle, self.seed = rows, shuffle, seed
        self.blocks = 0 if not shuffle or shuffle == "replacement" else blocks
        self.order = rows.copy() if shuffle else rows
        self.unshuffled = np.empty_like(rows) if self.blocks else self.order
        # as many as there are: rows in the order of memory are foreseen by the processor
        self.fetch = self.unshuffled[self.blocks or (ahead if shuffle else len(rows)) :]

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
    """The order that suits X and y: blocks for large data whose rows are in no order of y."""
    row_bytes = max(1, X.nbytes // len(X))
    blocks = 0
    if X.nbytes > _CACHED_BYTES and not _is_sorted(y[rows]):
        blocks = min(_BLOCK, max(_SMALLEST_BLOCK, _BLOCK_BYTES // row_bytes))
    ahead = min(_FETCH_ROWS, max(1, _FETCH_BYTES // row_bytes))
    return RowOrder(rows, shuffle, seed.copy(), blocks, ahead)


def _is_sorted(y: np.ndarray) -> bool:
    """Whether neighbours in y resemble each other."""
    if len(y) < 3:
        return False
    deviation = y - y.mean()
    # sums, since a product would wake the threads of BLAS
    variance = np.square(deviation).sum()
    return bool((deviation[1:] * deviation[:-1]).sum() > _MAX_CORRELATION * variance)


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
    report = Report()
    best, waited = np.inf, 0
    started = time.perf_counter()
    for epoch in range(plan.max_iter):
        loss = learner.visit(X, y, weight, order.next(), order.fetch)
        _check_finite(learner, epoch)
        entry = {"epoch": epoch + 1, "loss": loss, "objective": loss + learner.penalty()}
        watched = entry["objective"]
        if validate is not None:
            entry["validation_score"] = validate()
            watched = -entry["validation_score"]
        entry["seconds"] = time.perf_counter() - started
        report.n_iter = epoch + 1
        report.trace.append(entry)
        if plan.tol is not None:
            waited = waited + 1 if watched > best - plan.tol else 0
            best = min(best, watched)
            if waited >= plan.n_iter_no_change:
                if plan.adaptive and learner.rule["eta0"] > _ADAPTIVE_FLOOR:
                    learner.rule["eta0"] /= _ADAPTIVE_FACTOR
                    waited = 0
                else:
                    report.converged = True
        _tell(plan, entry, last=report.converged or epoch + 1 == plan.max_iter)
        if report.converged:
            break
    return report


def _check_finite(learner: Any, epoch: int) -> None:
    """Stop at an overflow: a model of NaN helps nobody."""
    if not learner.is_finite():
        raise ValueError(
            f"Floating-point overflow in epoch {epoch + 1}: the steps are too long for these "
            "data. " + SHORTER_STEPS
        )


def _tell(plan: EpochPlan, entry: dict[str, float], last: bool) -> None:
    """Report an epoch to the caller's function and, if asked for, on standard error."""
    if plan.callback is not None:
        plan.callback(dict(entry))
    if plan.verbose:
        show_epoch(entry, plan.max_iter, last)
