"""What all learners that take one step per row have in common: `fit` and `partial_fit`.

The flow of one `fit`: parameters are checked; X becomes `Rows`, y codes or numbers, class weights
fold into sample weights; each learner (one for two classes, a regression or a joint loss, one per
class for one-vs-rest) becomes a `Task` with its own seed; the tasks run in threads; their weights
become `coef_` and `intercept_`. `_task` has the task, `_epochs` the loop, `_learner` the step.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np

from . import _parallel
from ._base import Estimator, r2
from ._core.rows import Rows
from ._data import rows_of
from ._epochs import SHORTER_STEPS, EpochPlan
from ._exceptions import warn, warn_convergence
from ._grow import grow_memories
from ._learner import make_learner, weights_in
from ._memory import check_room
from ._params import Boolean, ClassWeight, Either, Integer, OneOf, RandomState, Real, shown
from ._prepare import by_frequency
from ._random import spawn_seed
from ._split import split_rows
from ._task import Task
from ._validation import (
    check_sample_weight,
    check_target,
    effective_weight,
    encode_known_labels,
    encode_labels,
    listed,
    partial_fit_classes,
)

__all__ = [
    "MULTI_CLASS",
    "OnlineClassifierMixin",
    "OnlineEstimator",
    "OnlineRegressorMixin",
    "absent_classes",
    "relative_weight",
]

_NO_WEIGHTS = np.empty(0)
# What `partial_fit` changes in a classifier.
_LEARNT = ("_memories", "_segments", "classes_", "coef_", "intercept_", "t_", "n_iter_")
# Words for the joint form of a loss; the latter two are scikit-learn's.
JOINT = ("joint", "multinomial", "crammer_singer")
MULTI_CLASS = ("ovr", *JOINT)


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
        y = check_target(y, self, numeric=self._estimator_type == "regressor",
                         n_samples=rows.shape[0])
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
        coef = _shaped("coef_init", coef_init, (sum(groups), d))
        intercept = _shaped("intercept_init", intercept_init, (sum(groups),))
        ends = np.cumsum(groups)[:-1]
        return list(zip(np.split(coef, ends), np.split(intercept, ends), strict=True))

    def _weights(self, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) of all outputs: the averaged ones or, for a warm start, the last."""
        pairs = [weights_in(memory, averaged) for memory in self._memories]
        return np.concatenate([w for w, _ in pairs]), np.concatenate([b for _, b in pairs])

    def _train(self, rows: Rows, targets: list, groups: list[int], weight: np.ndarray | None,
               start: list, stratify: np.ndarray | None, score: Any, callback: Any) -> None:
        """Run one task per target and keep what they have learnt."""
        rule, plan = self._rule(), self._plan(callback)
        weight, active = relative_weight(weight, rows.shape[0])
        check_room(rows.shape[1], sum(groups), rows.dtype.itemsize, rule)
        columns = None
        if not rule.get("voted"):  # whose record goes on living with the rows
            rows, columns = by_frequency(rows, max(groups), plan.max_iter)
        seeds = spawn_seed(self.random_state, len(targets) + 1)
        held_out = np.empty(0, dtype=np.int64)
        if getattr(self, "early_stopping", False):
            active, held_out = split_rows(active, self.validation_fraction, stratify, seeds.pop())
        tasks = [
            Task(rows, y, weight, active, held_out, rule, plan, seed, score, n_outputs, first,
                 columns)
            for y, n_outputs, seed, first in zip(targets, groups, seeds, start, strict=False)
        ]
        _parallel.run(
            tasks, getattr(self, "n_jobs", None), lambda: [task.cancel() for task in tasks]
        )
        self._finish(tasks)

    def _finish(self, tasks: list[Task]) -> None:
        """Publish what the tasks have learnt and warn of what went wrong."""
        self._memories = [task.learner.memory for task in tasks]
        self.n_iter_ = max(task.report.n_iter for task in tasks)
        self.t_ = 1.0 + max(task.learner.state["t"] for task in tasks)
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
            partial(learner.visit, rows, y, weights, order)
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


def _shaped(name: str, value: Any, shape: tuple) -> np.ndarray:
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


class OnlineRegressorMixin:
    """`fit` and `partial_fit` of regressors."""

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None,
            sample_weight: Any = None, callback: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            The targets.
        coef_init : array-like of shape (n_features,), optional
            Weights to start from.
        intercept_init : array-like of shape (1,), optional
            Intercept to start from.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions; 0 removes a row.
        callback : callable, optional
            Called after each epoch with its entry of `trace_`; what it raises ends training.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid; the message says which and where.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` ended training, or the best constant would predict better.
        """
        rows, y, weight = self._begin(X, y, sample_weight, reset=True)
        start = self._start([1], rows.shape[1], coef_init, intercept_init)
        self._train(rows, [y], [1], weight, start, None, _r2_of_column, callback)
        self._set_weights()
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Take one step per row, in the given order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights relative to 1, since those of rows to come are not known.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid.
        """
        first = not hasattr(self, "coef_")
        rows, y, weight = self._begin(X, y, sample_weight, reset=first)
        self._continue(rows, [y], [1], weight)
        self._set_weights()
        return self

    def _set_weights(self) -> None:
        """Set the public attributes."""
        coef, self.intercept_ = self._weights()
        self.coef_ = coef[0]


class OnlineClassifierMixin:
    """`fit` and `partial_fit` of classifiers."""

    _constraints: ClassVar = {
        "n_jobs": Either(Integer(), OneOf(None)),
        "multi_class": OneOf(*MULTI_CLASS),
        "class_weight": ClassWeight(),
    }

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None,
            sample_weight: Any = None, callback: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            Class labels of any type that can be sorted.
        coef_init : array-like of shape (n_outputs, n_features), optional
            Weights to start from; n_outputs is 1 for two classes.
        intercept_init : array-like of shape (n_outputs,), optional
            Intercepts to start from.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions; 0 removes a row. Class weights multiply them.
        callback : callable, optional
            Called after each epoch of each learner with its entry of `trace_`; what it raises ends
            training.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid, or if fewer than two classes are left;
            the message says which and where.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` ended training, or the best constant would predict better.
        """
        old = getattr(self, "classes_", None) if self.warm_start else None
        rows, y, sample_weight = self._begin(X, y, sample_weight, reset=True)
        classes, codes = encode_labels(y)
        if old is not None and not np.array_equal(old, classes):
            raise ValueError(
                f"warm_start goes on from the classes {listed(old.tolist())}, but y holds "
                f"{listed(classes.tolist())}; fit with warm_start=False."
            )
        weight = effective_weight(self.class_weight, classes, codes, sample_weight)
        absent = absent_classes(classes, np.bincount(codes, weight, len(classes)))
        targets, groups = self._targets(classes, codes)
        start = self._start(groups, rows.shape[1], coef_init, intercept_init)
        self._train(rows, targets, groups, weight, start, codes, _share_right, callback)
        self.classes_ = classes
        self._set_weights(absent)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None,
                    grow: bool = False) -> Any:
        """Take one step per row, in the given order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Weights relative to 1, since those of rows to come are not known.
        grow : bool, default=False
            Whether labels that were not announced become new classes, whose weights begin at zero;
            otherwise they are an error.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid, `classes` is missing or changes, or
            class_weight is "balanced", which needs all rows at once.
        """
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight must be a dict or None in partial_fit, got 'balanced', which needs "
                "all rows at once; pass the weights of the classes as a dict."
            )
        first = not hasattr(self, "coef_")
        rows, y, sample_weight = self._begin(X, y, sample_weight, reset=first)
        learnt = {name: vars(self)[name] for name in _LEARNT if name in vars(self)}
        try:
            known = self._grow(y, classes) if grow else partial_fit_classes(self, classes)
            if len(known) < 2:
                raise ValueError(
                    f"classes must hold at least two classes, got {listed(known.tolist())}."
                )
            codes = encode_known_labels(y, known)
            weight = effective_weight(self.class_weight, known, codes, sample_weight)
            self._continue(rows, *self._targets(known, codes), weight)
            self.classes_ = known
            self._set_weights(())
        except BaseException:
            # whatever went wrong, Ctrl-C included, the model stays the one before this call
            for name in _LEARNT:
                vars(self).pop(name, None)
            vars(self).update(learnt)
            raise
        return self

    def _grow(self, y: np.ndarray, classes: Any) -> np.ndarray:
        """The classes known so far, announced now, and found in y; memories follow them."""
        old = getattr(self, "classes_", None)
        found = [encode_labels(y)[0]] + ([] if old is None else [old])
        if classes is not None:
            found.append(encode_labels(check_target(classes, self))[0])
        if len({_label_kind(labels) for labels in found}) > 1:
            raise TypeError(
                "y must hold labels of one kind, all strings, all numbers or all booleans; it and "
                f"the classes known so far are of dtypes {', '.join(str(f.dtype) for f in found)}."
            )
        known = encode_labels(np.concatenate(found))[0]
        if old is not None and len(known) > len(old):
            joint, signed = self._is_joint(len(known)), getattr(self, "optimizer", "") == "adam"
            self._memories = grow_memories(self._memories, old, known, joint, signed)
        return known

    def _is_joint(self, n_classes: int) -> bool:
        """Whether all classes are trained together, by the loss's joint form."""
        return n_classes > 2 and self.multi_class in JOINT

    def _targets(self, classes: np.ndarray, codes: np.ndarray) -> tuple[list, list[int]]:
        """Targets of the learners, and how many outputs each has: class numbers for a joint loss,
        else +-1 for two classes or for each class against the rest."""
        if self._is_joint(len(classes)):
            return [codes.astype(np.float64)], [len(classes)]
        positive = [1] if len(classes) == 2 else range(len(classes))
        return [np.where(codes == k, 1.0, -1.0) for k in positive], [1] * len(positive)

    def _set_weights(self, absent: Any) -> None:
        """Set the public attributes; classes that no row stood for can't be predicted."""
        self.coef_, self.intercept_ = self._weights()
        for k in absent:
            self.coef_[k], self.intercept_[k] = 0.0, -np.inf


def _label_kind(labels: np.ndarray) -> str:
    """Strings (and other objects), booleans or numbers."""
    return {"b": "boolean", **dict.fromkeys("OUST", "text")}.get(labels.dtype.kind, "number")


def absent_classes(classes: np.ndarray, mass: np.ndarray) -> list:
    """Classes whose rows all weigh 0, with a warning; fewer than two others are an error."""
    absent = np.flatnonzero(mass == 0).tolist()
    if len(classes) - len(absent) < 2:
        left = listed(classes[mass > 0].tolist())
        raise ValueError(
            f"The number of classes has to be greater than one; got 1 class with a weight: {left}."
        )
    if absent:
        warn(
            "UserWarning",
            f"all rows of the classes {listed(classes[absent].tolist())} have weight 0: they keep "
            "their places in classes_ and are never predicted.",
        )
    return absent


def _share_right(y: np.ndarray, p: np.ndarray, weight: np.ndarray | None) -> float:
    """Share of rows whose response is right: in sign, or as the largest of several."""
    right = (p[:, 0] > 0) == (y > 0) if p.shape[1] == 1 else p.argmax(axis=1) == y
    return float(np.average(right, weights=weight))


def _r2_of_column(y: np.ndarray, p: np.ndarray, weight: np.ndarray | None) -> float:
    """R^2 of the one output."""
    return r2(y, p[:, 0], weight)
