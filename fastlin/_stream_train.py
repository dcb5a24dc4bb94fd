"""Training on the blocks of a cache: epochs whose order, stopping and reports are those of `fit`.

An epoch visits every block once, in an order drawn afresh, and the rows of a block as `fit` visits
those of all its data (`_epochs.row_order`). Each learner (of one-vs-rest, or of a code) draws its
own order of rows, and stops by itself; a block is loaded once for all of them. In the first epoch
each row is predicted before it is learnt, so that the mean loss so far is an honest estimate of
that on new rows [1]_: it is reported when 1, 2, 4, 8, ... rows have been seen.

.. [1] A. Blum, A. Kalai, J. Langford, "Beating the hold-out: bounds for k-fold and progressive
   cross-validation", COLT 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import _parallel
from ._core.rows import Rows
from ._epochs import EpochPlan, Progress, Report, RowOrder, row_order
from ._progress import show_progressive
from ._stream_cache import Block

__all__ = ["Meter", "StreamTask", "run_epochs"]

_NO_WEIGHTS = np.empty(0)


class StreamTask:
    """One learner, where it stands, and what came of it.

    Attributes
    ----------
    learner, report, worse
        As of `_task.Task`.
    n_steps : int
        How many rows of the block at hand it visits.
    """

    def __init__(self, learner: Any, plan: EpochPlan, seed: np.ndarray):
        self.learner, self.plan, self.seed = learner, plan, seed.copy()
        self.progress = Progress(plan)
        self.worse: tuple[float, float] | None = None
        self._order: RowOrder | None = None
        # per block: rows that are shuffled together, and how far ahead they are fetched
        self._forms: dict[int, tuple[int, int | None]] = {}
        self._index = -1
        self.n_steps = 0

    @property
    def report(self) -> Report:
        """Epochs run, and what they came to."""
        return self.progress.report

    def begin(self, index: int, X: Rows, y: np.ndarray, weight: np.ndarray | None,
              rows: np.ndarray) -> None:
        """Take up the given rows of a block."""
        self._X, self._y = X, y
        self._weight = _NO_WEIGHTS if weight is None else weight
        self.n_steps = len(rows)
        if not self.n_steps:
            return
        if self._order is None or self._index != index:
            form = self._forms.get(index)
            if form is None:
                order = row_order(X, y, rows, self.plan.shuffle, self.seed)
                self._forms[index] = (order.blocks, order.ahead)
            else:
                order = RowOrder(rows, self.plan.shuffle, self.seed.copy(), *form)
            self._order, self._index = order, index
        self._steps = self._order.next()
        self.seed[:] = self._order.seed

    def step(self, start: int, stop: int) -> None:
        """Learn from rows start ... stop - 1 of the order."""
        if start < min(stop, self.n_steps):
            self.learner.go_on(
                self._X, self._y, self._weight, self._steps[start:stop],
                self._order.fetch[start:stop],
            )

    def cancel(self) -> None:
        """End training soon, from another thread."""
        self.learner.cancelled = True


class Meter:
    """The progressive loss: the mean loss of rows just before they were learnt.

    Attributes
    ----------
    entries : list of dict
        "rows" that were seen, "loss" their mean loss, "recent_loss" that since the entry before.
    """

    def __init__(self, plan: EpochPlan):
        self.plan = plan
        self.entries: list[dict[str, float]] = []
        self._rows, self._seen, self._next = 0, 0, 1
        self._before: list[tuple[float, float]] = []

    def cuts(self, n: int, batch: int, exact: bool) -> Iterator[int]:
        """Where to stop and look among the next n rows: at powers of two and at the end."""
        mark, before = self._next, self._rows
        while exact and mark < before + n:
            cut = -(-(mark - before) // batch) * batch
            if cut >= n:
                break
            yield cut
            mark = 2 * mark
        yield n

    def note(self, n: int, tasks: Sequence[StreamTask], last: bool = False) -> None:
        """n more rows were learnt."""
        self._rows += n
        if self._rows < self._next and not last or self.entries and self._rows == self._seen:
            return
        sums = [
            (task.learner.state["sum_loss"], task.learner.state["sum_weight"]) for task in tasks
        ]
        before = self._before or [(0.0, 0.0)] * len(sums)
        tiny = np.finfo(float).tiny
        entry = {
            "rows": self._rows,
            "loss": float(np.mean([loss / max(mass, tiny) for loss, mass in sums])),
            "recent_loss": float(
                np.mean([
                    (loss - old) / max(mass - old_mass, tiny)
                    for (loss, mass), (old, old_mass) in zip(sums, before, strict=True)
                ])
            ),
        }  # fmt: skip
        self.entries.append(entry)
        self._before, self._seen = sums, self._rows
        while self._next <= self._rows:
            self._next *= 2
        if self.plan.callback is not None:
            self.plan.callback(dict(entry))
        if self.plan.verbose:
            show_progressive(entry)


def run_epochs(
    tasks: Sequence[StreamTask],
    load: Callable[[int, int | None], Block],
    parts: Callable[[Block], list[tuple]],
    blocks: RowOrder,
    n_jobs: int | None,
    validate: Callable[[list[int]], list[float]] | None,
    batch: int,
    exact: bool,
    puts_off: bool,
) -> list[dict[str, float]]:
    """Train all tasks; returns the entries of the progressive loss.

    Parameters
    ----------
    tasks : sequence of StreamTask
    load : callable
        From the number of a block, and that of the next, to the block.
    parts : callable
        From a block to (y, weight, rows to visit) for each task.
    blocks : RowOrder
        The order of blocks.
    n_jobs : int or None
        Threads over tasks.
    validate : callable or None
        From the numbers of tasks to their scores on held-out rows.
    batch : int
        Rows per step.
    exact : bool
        Whether all tasks visit the same rows, so that they are counted one by one.
    puts_off : bool
        Whether learners put off what they can.
    """
    meter: Meter | None = Meter(tasks[0].plan)
    active = list(range(len(tasks)))
    while active:
        for k in active:
            tasks[k].learner.begin_mean()
        sequence = blocks.next().tolist()
        for place, index in enumerate(sequence):
            then = sequence[place + 1] if place + 1 < len(sequence) else None
            block = load(index, then)
            own = parts(block)
            for k in active:
                tasks[k].begin(index, block.rows, *own[k])
                if puts_off:
                    tasks[k].learner.put_off(block.rows, index)
            _visit([tasks[k] for k in active], meter, n_jobs, batch, exact)
        if meter is not None:
            meter.note(0, tasks, last=True)
            entries, meter = meter.entries, None
        scores = validate(active) if validate is not None else None
        for place, k in enumerate(active):
            score = None if scores is None else partial(scores.__getitem__, place)
            learner = tasks[k].learner
            tasks[k].progress.judge(learner, learner.mean_loss(), score)
        active = [k for k in active if tasks[k].progress.goes_on]
    if puts_off and any(task.learner.has_debts for task in tasks):
        _settle(tasks, load, len(sequence), n_jobs)
        for task in tasks:
            task.progress.check_finite(task.learner, at_end=True)
    return entries


def _settle(tasks: Sequence[StreamTask], load: Callable[[int, int | None], Block], n_blocks: int,
            n_jobs: int | None) -> None:
    """Catch up on what the learners have put off."""
    for index in range(n_blocks):
        block = load(index, index + 1 if index + 1 < n_blocks else None)
        _parallel.run(
            [partial(task.learner.settle, block.rows, index) for task in tasks],
            n_jobs,
            lambda: [task.cancel() for task in tasks],
        )


def _visit(
    tasks: list[StreamTask], meter: Meter | None, n_jobs: int | None, batch: int, exact: bool
) -> None:
    """All steps on the block at hand."""
    n, start = max(task.n_steps for task in tasks), 0
    for stop in meter.cuts(n, batch, exact) if meter is not None else (n,):
        _parallel.run(
            [partial(task.step, start, stop) for task in tasks],
            n_jobs,
            lambda: [task.cancel() for task in tasks],
        )
        if meter is not None:
            meter.note(stop - start, tasks)
        start = stop
