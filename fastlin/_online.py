"""What all learners that take one step per row have in common: `fit` and `partial_fit`.

The flow of one `fit`: parameters are checked; X becomes `Rows`, y codes or numbers, class weights
fold into sample weights; each learner (one for two classes, a regression or a joint loss, one per
class for one-vs-rest) becomes a `Task` with its own seed; the tasks run in threads; their weights
become `coef_` and `intercept_`. Several classes against the rest with many rows are trained side by
side, in one order of the rows (`_onepass`). `_task` has the task, `_epochs` the loop, `_learner`
the step, `_online_kinds` what is a regressor's or a classifier's own.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np

from . import _parallel
from ._base import Estimator
from ._core.rows import Rows
from ._data import rows_of
from ._epochs import SHORTER_STEPS, EpochPlan
from ._exceptions import warn_convergence
from ._learner import make_learner, weights_in
from ._memory import check_room
from ._multilabel import LabelColumn, target_of
from ._params import Boolean, Either, Integer, OneOf, RandomState, Real, shown
from ._prepare import prepared
from ._random import spawn_seed
from ._reductions import Column
from ._sgd import kept_side_by_side
from ._split import split_rows
from ._task import Task
from ._validation import check_sample_weight

__all__ = ["OnlineEstimator", "relative_weight", "shaped"]

_NO_WEIGHTS = np.empty(0)
# Binary problems whose targets are made when they are needed
_COLUMNS = (Column, LabelColumn)


class OnlineEstimator(Estimator):
    """Shared parameters' meaning; subclasses give `_rule()` and the constructor."""

    _constraints: ClassVar = {
        "fit_intercept": Boolean(),
        "max_iter": Integer(1),
        "tol": Either(Real(0), OneOf(None)),
        "shuffle": Either(Boolean(), OneOf("replacement")),
        "verbose": Either(Integer(0), Boolean()),
        "random_state": RandomState(),
        "early_stopping": Boolean(),
        "validation_fraction": Real(0, 1, closed="neither"),
        "n_iter_no_change": Integer(1),
        "warm_start": Boolean(),
        "average": Either(Boolean(), Integer(1)),
    }
    _fitted_attribute = "coef_"

    def _rule(self) -> dict[str, Any]:
        """The kernel's rule, from the parameters."""
        raise TypeError(f"{type(self).__name__} has no rule.")

    def _check_together(self) -> None:
        """Rules between two parameters."""

    def _plan(self, callback: Any) -> EpochPlan:
        """How long to train, from the parameters."""
        return EpochPlan(
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            shuffle=self.shuffle,
            adaptive=getattr(self, "learning_rate", None) == "adaptive",
            verbose=int(self.verbose),
            callback=callback,
        )

    def _begin(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple:
        """(rows, checked target, weights or None)"""
        self._check_params()
        self._check_together()
        rows = rows_of(self, X, reset, None if reset else self.coef_.dtype)
        y = target_of(self, y, rows.shape[0], numeric=self._estimator_type == "regressor")
        return rows, y, check_sample_weight(sample_weight, rows.shape[0])

    def _start(self, groups: list[int], d: int, coef_init: Any, intercept_init: Any) -> list:
        """Initial (W, b) per learner, or None for zeros; `groups` are their numbers of outputs."""
        if self.warm_start and hasattr(self, "coef_"):
            last = self._weights(averaged=False)
            if last[0].shape[1] != d:
                raise ValueError(
                    f"X has {d} features, but warm_start goes on from weights of "
                    f"{last[0].shape[1]}; fit with warm_start=False."
                )
            coef_init = last[0] if coef_init is None else coef_init
            intercept_init = last[1] if intercept_init is None else intercept_init
        if coef_init is None and intercept_init is None:
            return [None] * len(groups)
        coef = shaped("coef_init", coef_init, (sum(groups), d))
        intercept = shaped("intercept_init", intercept_init, (sum(groups),))
        ends = np.cumsum(groups)[:-1]
        return list(zip(np.split(coef, ends), np.split(intercept, ends), strict=True))

    def _weights(self, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) of all outputs: the averaged ones or, for a warm start, the last."""
        memories = self._memories
        if len(memories) > 1 and all("v" in memory for memory in memories):
            # one after another into their place, which twice the memory would be cleared for
            W, b = None, np.empty(len(memories))
            for k, memory in enumerate(memories):
                w, b[k : k + 1] = weights_in(memory, averaged)
                W = np.empty((len(memories), w.shape[1]), w.dtype) if W is None else W
                W[k] = w[0]
            return W, b
        pairs = [weights_in(memory, averaged) for memory in memories]
        if len(pairs) == 1:
            return pairs[0]
        return np.concatenate([w for w, _ in pairs]), np.concatenate([b for _, b in pairs])

    def _train(self, rows: Rows, targets: list, groups: list[int], weight: np.ndarray | None,
               start: list, stratify: np.ndarray | None, score: Any, callback: Any) -> None:
        """Run one task per target and keep what they have learnt."""
        rule, plan = self._rule(), self._plan(callback)
        given = weight
        weight, active = relative_weight(weight, rows.shape[0])
        check_room(rows.shape[1], sum(groups), rows.dtype.itemsize, rule)
        columns = None
        if not rule.get("voted"):  # whose record goes on living with the rows
            from_zero = all(first is None for first in start)
            n_outputs = max(groups)
            n_kept = kept_side_by_side(rule) if n_outputs == 1 else 1
            rows, columns = prepared(
                rows, n_outputs, plan.sure_epochs, from_zero, n_kept, getattr(self, "n_jobs", None)
            )
        seeds = spawn_seed(self.random_state, len(targets) + 1)
        held_out = np.empty(0, dtype=np.int64)
        if getattr(self, "early_stopping", False):
            active, held_out = split_rows(active, self.validation_fraction, stratify, seeds.pop())
        tasks = [
            Task(rows, y, weight, active, held_out, rule, plan, seed, score, n_outputs, first,
                 columns)
            for y, n_outputs, seed, first in zip(targets, groups, seeds, start, strict=False)
        ]
        for task in tasks:
            if isinstance(task.y, _COLUMNS):
                task.prepare = partial(self._take_part, task.y, given)
        _parallel.run(
            tasks, getattr(self, "n_jobs", None), lambda: [task.cancel() for task in tasks]
        )
        self._finish(tasks)

    def _take_part(self, column: Any, weight: np.ndarray | None, task: Task) -> None:
        """Give a task the targets of a column, the rows that take part in it, and their weights,
        as `fit` would have set them on these rows alone."""
        task.y, weight, member = column.part(weight)
        if weight is not None:
            task.weight, _ = relative_weight(weight, len(weight))
        had_held_out = len(task.held_out) > 0
        if member is not None:
            task.rows, task.held_out = (
                rows[member[rows]] for rows in (task.rows, task.held_out)
            )
        if not len(task.rows) or had_held_out and not len(task.held_out):
            raise ValueError(
                f"validation_fraction={self.validation_fraction!r} leaves a binary problem no "
                f"rows to {'validate' if len(task.rows) else 'train'} on; change it or set "
                "early_stopping=False."
            )

    def _finish(self, tasks: list[Task]) -> None:
        """Publish what the tasks have learnt and warn of what went wrong."""
        vars(self).pop("progressive_loss_", None)  # that of a stream before
        self._memories = [task.learner.memory for task in tasks]
        self.t_ = 1.0 + max(task.learner.state["t"] for task in tasks)
        self._report(tasks)

    def _report(self, tasks: list[Task]) -> None:
        """Publish how training went and warn of what went wrong."""
        self.n_iter_ = max(task.report.n_iter for task in tasks)
        self.trace_ = max((task.report.trace for task in tasks), key=len)
        worse = [task.worse for task in tasks if task.worse]
        if worse:
            warn_convergence(
                f"{type(self).__name__} ended at a mean loss of {worse[0][0]:.4g}, above the "
                f"{worse[0][1]:.4g} of the best constant model: the steps do not suit these data. "
                + SHORTER_STEPS
            )
        elif self.tol is not None and not all(task.report.converged for task in tasks):
            warn_convergence(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} epochs while its "
                f"objective still changed by more than tol={float(self.tol):g}; raise max_iter or "
                "tol."
            )

    def _continue(self, rows: Rows, targets: list, groups: list[int],
                  weight: np.ndarray | None) -> None:
        """One pass over the rows in the caller's order, going on from where training stood."""
        memories = getattr(self, "_memories", None) or [None] * len(targets)
        if len(memories) != len(targets):
            raise ValueError(
                "multi_class can't change while training goes on from what was learnt; use fit."
            )
        # Copies: a step that overflows, or Ctrl-C, leaves what was learnt before as it was.
        memories = copy.deepcopy(memories)
        order = np.arange(rows.shape[0]) if weight is None else np.flatnonzero(weight)
        weights = _NO_WEIGHTS if weight is None else weight
        rule, d = self._rule(), rows.shape[1]
        check_room(d, sum(groups), rows.dtype.itemsize, rule)
        learners = [
            make_learner(d, rows.dtype, rule, n_outputs, memory)
            for n_outputs, memory in zip(groups, memories, strict=True)
        ]
        if [learner.n_outputs for learner in learners] != groups:
            raise ValueError(
                "The state of training is damaged: it has other classes; fit the model again."
            )
        visits = [
            partial(_visit, learner, rows, y, weights, order)
            for learner, y in zip(learners, targets, strict=True)
        ]
        _parallel.run(
            visits,
            getattr(self, "n_jobs", None),
            lambda: [setattr(learner, "cancelled", True) for learner in learners],
        )
        for learner in learners:
            if not learner.is_finite():
                raise ValueError(
                    "Floating-point overflow in partial_fit: the steps are too long for these "
                    "data. " + SHORTER_STEPS
                )
        self._memories = [learner.memory for learner in learners]
        self.t_ = 1.0 + max(learner.state["t"] for learner in learners)
        self.n_iter_ = 1


def _visit(learner: Any, rows: Rows, y: Any, weight: np.ndarray, order: np.ndarray) -> None:
    """One step per row; of a column of a code, per row that takes part."""
    if isinstance(y, _COLUMNS):
        y, own, member = y.part(weight if len(weight) else None)
        weight = _NO_WEIGHTS if own is None else own
        order = order if member is None else order[member[order]]
    learner.visit(rows, y, weight, order)


def shaped(name: str, value: Any, shape: tuple) -> np.ndarray:
    """An initial value of the right shape; None is zeros."""
    if value is None:
        return np.zeros(shape)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}.") from None
    if array.size != int(np.prod(shape)) or not np.isfinite(array).all():
        raise ValueError(
            f"{name} must hold finite numbers of shape {shape}, got {shown(array)}."
        )
    return array.reshape(shape)


def relative_weight(weight: np.ndarray | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(weights over their mean, rows that have any): so a step's length does not depend on the
    unit in which weights are given, and a weight of 0 removes a row."""
    if weight is None:
        return _NO_WEIGHTS, np.arange(n)
    active = np.flatnonzero(weight)
    # over the largest first: a sum of huge weights would overflow, one of tiny ones be lost
    share = weight / weight.max()
    return share * (len(active) / share.sum()), active
