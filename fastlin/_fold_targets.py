"""What the estimators of one call learn from: targets and weights of each of their outputs, as
`fit` would have set them on the rows of a training set alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _parallel
from ._class_counts import members_per_class
from ._core.rows import Rows
from ._epochs import RowOrder, train
from ._labels import absent_classes
from ._lanes import Model, Stream, lane_counts
from ._learner import make_learner
from ._online import relative_weight
from ._present import places_of_present
from ._safety import (
    best_constant_loss,
    confirmed_if_worse,
    loss_if_worse_than_constant,
    may_be_worse,
)
from ._validation import effective_weight

__all__ = ["Alone", "Job", "Targets"]

_NO_WEIGHTS = np.empty(0)


@dataclass
class Job:
    """One estimator of the call and its outputs."""

    estimator: Any
    fold: int
    test: np.ndarray | None
    classes: np.ndarray | None = None
    absent: list = field(default_factory=list)
    # numbers of the classes that a joint learner is trained for, where those are not all
    present: np.ndarray | None = None
    scale: float = 1.0
    outputs: list[Any] = field(default_factory=list)
    coef: np.ndarray | None = None  # weights of the outputs, where these leave them there
    error: Exception | None = None


class Alone(_parallel.Cancellable):
    """A joint model of more classes than there are lanes: trained by itself in the same order."""

    def __init__(self, stream: Stream, rows: Rows, job: Job, y: np.ndarray, weight: np.ndarray):
        self.stream, self.X, self.job, self.y, self.weight = stream, rows, job, y, weight
        self.rule, self.plan = job.estimator._rule(), job.estimator._plan(None)
        self.learner = self.report = self.worse = self.error = self.responses = None

    def cancel(self) -> None:
        """End training soon, from another thread."""
        super().cancel()
        if self.learner is not None:
            self.learner.cancelled = True

    def __call__(self) -> Alone:
        member = self.stream.memberships[self.job.fold]
        active = member & (self.weight > 0) if len(self.weight) else member
        self.learner = make_learner(
            self.X.shape[1], self.X.dtype, self.rule, len(self.job.classes)
        )
        self._look()
        order = _PartOfOrder(self.stream.order(self.plan.shuffle), active)
        try:
            self.report = train(self.learner, self.X, self.y, self.weight, order, self.plan)
            self.worse = loss_if_worse_than_constant(
                self.learner, self.X, self.y, self.weight, np.flatnonzero(active),
                self.report.trace[-1]["loss"], in_order=not self.plan.shuffle,
            )  # fmt: skip
            if self.job.test is not None:
                self.responses = self.learner.responses(self.X, self.job.test)
        except ValueError as error:
            self.error = error
        return self


class _PartOfOrder:
    """Some rows in the order of all."""

    fetch = np.empty(0, np.int64)

    def __init__(self, order: RowOrder, member: np.ndarray):
        self.order, self.member = order, member

    def next(self) -> np.ndarray:
        """The order of the next epoch."""
        rows = self.order.next()
        return rows[self.member[rows]]


class Targets:
    """Targets and weights of each output, as `fit` would have set them on the rows alone."""

    def __init__(self, stream: Stream, rows: Rows, y: np.ndarray, labels: np.ndarray | None):
        self.stream, self.rows, self.y, self.labels = stream, rows, y, labels
        self._known: dict[Any, Any] = {}

    def _once(self, key: Any, make: Any) -> Any:
        """What was made for this key before, or now."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def lay_out(self, job: Job) -> None:
        """Add the outputs of a job."""
        estimator = job.estimator
        if self.labels is None:
            table = self._regression_scale(job.fold)
            job.outputs = [self._model(job, table, np.ones(1))]
            return
        present, table = self._class_weights(job)
        job.classes = self.labels[present]
        if len(present) < 2:
            raise ValueError(
                "The number of classes has to be greater than one; got 1 class: "
                f"{job.classes.tolist()}."
            )
        job.absent = absent_classes(job.classes, (self._mass(job.fold) * table)[present])
        if len(present) > 2 and estimator._is_joint(len(present)):
            if job.absent:
                job.present = places_of_present(len(present), job.absent)
                present = present[job.present]
            if len(present) > 2:
                job.outputs = [self._joint(job, present, table)]
                return
        positive = present[1:] if len(present) == 2 else present
        for k in positive:
            sign = np.full(len(self.labels), -1.0)
            sign[k] = 1.0
            job.outputs.append(self._model(job, table, sign))

    def _model(self, job: Job, table: np.ndarray, target: np.ndarray, width: int = 1) -> Any:
        """One output of a job, or all those of a joint model."""
        rule, plan = job.estimator._rule(), job.estimator._plan(None)
        return Model(rule, plan, job.fold, table, target, job.test, width)

    def _factor(self, total: np.ndarray | None) -> float:
        """What weights are multiplied by: their mean on the training set shall be 1."""
        return _factor(total)

    def _joint(self, job: Job, present: np.ndarray, table: np.ndarray) -> Any:
        """A joint model: in a pass with others if there are lanes for all its classes."""
        stream = self.stream
        number = np.zeros(len(self.labels))
        number[present] = np.arange(len(present))
        if len(present) <= lane_counts(stream.X.dtype)[-1]:
            return self._model(job, table, number, len(present))
        plain = not len(stream.sample_weight) and bool((table[present] == 1).all())
        weight = _NO_WEIGHTS if plain else table[stream.codes]
        if len(stream.sample_weight):
            weight = weight * stream.sample_weight
        return Alone(stream, self.rows, job, number[stream.codes], weight)

    def _fold_codes(self, fold: int) -> np.ndarray:
        """Class numbers of a training set's rows."""
        stream = self.stream
        return self._once(("codes", fold), lambda: stream.codes[stream.memberships[fold]])

    def _fold_weight(self, fold: int) -> np.ndarray | None:
        """Sample weights of a training set's rows."""
        stream = self.stream
        if not len(stream.sample_weight):
            return None
        return self._once(("weight", fold), lambda: stream.sample_weight[stream.memberships[fold]])

    def _counts(self, fold: int) -> np.ndarray:
        """How many rows of each class there are in a training set."""
        stream, K = self.stream, len(self.labels)
        return self._once(
            ("counts", fold), lambda: members_per_class(stream.codes, stream.memberships[fold], K)
        )

    def _mass(self, fold: int) -> np.ndarray:
        """Sum of the sample weights per class in a training set."""
        weight, K = self._fold_weight(fold), len(self.labels)
        if weight is None:
            return self._counts(fold)
        return self._once(
            ("mass", fold), lambda: np.bincount(self._fold_codes(fold), weight, minlength=K)
        )

    def _regression_scale(self, fold: int) -> np.ndarray:
        """What sample weights are multiplied by: their mean on the training set shall be 1."""
        return np.array([self._factor(self._fold_weight(fold))])

    def _class_weights(self, job: Job) -> tuple[np.ndarray, np.ndarray]:
        """(classes in the training set, factor of the sample weight per class)."""
        weight = self._fold_weight(job.fold)
        spec = job.estimator.class_weight
        key = ("weights", job.fold, repr(sorted(spec.items(), key=repr)) if isinstance(spec, dict)
               else spec)

        def make():
            present = np.flatnonzero(self._counts(job.fold))
            table = np.zeros(len(self.labels))
            if spec is None:
                table[present] = self._factor(weight)
                return present, table
            codes = self._fold_codes(job.fold)
            own = np.searchsorted(present, codes)
            combined = effective_weight(spec, self.labels[present], own, weight)
            base = np.ones(len(codes)) if weight is None else weight
            counted = np.flatnonzero(base > 0)
            # of a class whose rows all weigh 0 the factor does not matter
            first = np.full(len(present), -1)
            first[own[counted][::-1]] = counted[::-1]
            known = first >= 0
            table[present[known]] = combined[first[known]] / base[first[known]]
            return present, table * self._factor(combined)

        return self._once(key, make)

    def constant(self, model: Model) -> float:
        """Mean loss of the best constant on the rows of the model."""
        rule, weight = model.rule, self._fold_weight(model.fold)
        parts = ("loss", "loss_parameter", "fit_intercept")
        key = (model.fold, *(rule[part] for part in parts), model.class_weight.tobytes(),
               model.class_target.tobytes())

        def make():
            if self.labels is None:
                y = self.y[self.stream.memberships[model.fold]]
                return best_constant_loss(rule, y, _NO_WEIGHTS if weight is None else weight)
            mass = self._mass(model.fold) * model.class_weight
            if model.width > 1:
                return best_constant_loss(rule, model.class_target, mass, model.width)
            sides = [mass[model.class_target < 0].sum(), mass[model.class_target > 0].sum()]
            return best_constant_loss(rule, np.array([-1.0, 1.0]), np.array(sides))

        return self._once(key, make)

    def may_be_worse(self, model: Model) -> bool:
        """Whether the last epoch leaves it open that the best constant beats a trained model."""
        last = model.report.trace[-1]["loss"]
        return may_be_worse(model.rule, last, self.constant(model), not model.plan.shuffle)

    def worse(self, model: Model, learner: Any) -> tuple[float, float] | None:
        """What `confirmed_if_worse` says of a trained model, whose `weights` `learner` has."""
        stream = self.stream
        member = stream.memberships[model.fold]
        if stream.codes is None:
            y, weight = self.y, stream.sample_weight
        else:
            y, weight = model.class_target[stream.codes], model.class_weight[stream.codes]
            if len(stream.sample_weight):
                weight = weight * stream.sample_weight
        if len(weight):
            member = member & (weight > 0)
        last = model.report.trace[-1]["loss"] if model.plan.shuffle else np.inf
        return confirmed_if_worse(
            learner, self.rows, y, weight, np.flatnonzero(member), self.constant(model), last
        )


def _factor(total: np.ndarray | None) -> float:
    """What weights are multiplied by so that those above 0 have the mean 1."""
    if total is None:
        return 1.0
    relative, _ = relative_weight(total, len(total))
    heaviest = int(total.argmax())
    return float(relative[heaviest] / total[heaviest])
