"""Models that are trained side by side, one per lane: a pass over the rows for up to 16 of them.

`fl_multi.h` states what a lane is. A pass is a task for a thread. What its models have learnt comes
out as learners (`_learner`), as if each had been trained alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._core import losses as _losses
from ._core import multi as _multi
from ._core import rows as _rows
from ._core.rows import Rows
from ._epochs import EpochPlan, Progress, Report, RowOrder
from ._isa import ISA
from ._learner import make_learner
from ._parallel import Cancelled, is_cancelled
from ._patterns import row_patterns, without_idle
from ._scores import rows_per_call

__all__ = ["LANES", "Model", "Pass", "Stream", "lane_bytes"]

# The numbers of lanes that there are kernels for. One line of 64 bytes per feature is best.
LANES = (4, 8, 16)
_LINE_BYTES = 64
_NOTHING = np.empty(0)
_NO_PLACE = np.empty(0, np.int32)
_FIELD = {name: k for k, name in enumerate(_multi.FIELDS)}
_RULE = ("loss_parameter", "l1", "l2", "eta0", "alpha", "t0", "fit_intercept", "average_from")
_STATE = (
    "scale", "intercept", "t", "sum_scale", "sum_intercept", "n_averaged", "l1_total", "sum_loss",
    "sum_weight",
)  # fmt: skip
# Numbers per call of a kernel that goes over all weights: some milliseconds.
_WEIGHTS_PER_CALL = 1 << 23


@dataclass
class Stream:
    """The rows that all models share.

    `memberships[f]` says which rows are those of fold f. A row has a class number in `codes`, or,
    for a regression, its target in `target`. Columns may be renumbered; `place` leads back.
    """

    X: Rows
    memberships: list[np.ndarray]
    codes: np.ndarray | None
    n_classes: int
    target: np.ndarray
    sample_weight: np.ndarray
    order: Callable[[bool | str], RowOrder]
    place: np.ndarray = field(default_factory=lambda: _NO_PLACE)


@dataclass
class Model:
    """One output to train, and what came of it.

    Row i weighs `class_weight[codes[i]]`, times its sample weight, and has the target
    `class_target[codes[i]]` (regressions: the row's own, and one class).
    """

    rule: dict[str, Any]
    plan: EpochPlan
    fold: int
    class_weight: np.ndarray
    class_target: np.ndarray
    test: np.ndarray | None
    progress: Progress | None = None
    learner: Any = None
    error: Exception | None = None
    responses: np.ndarray | None = None

    @property
    def report(self) -> Report:
        """What happened."""
        return self.progress.report

    @property
    def kind(self) -> tuple:
        """What the models of a pass have in common."""
        rule = self.rule
        power = rule["power_t"] if rule["schedule"] == 2 else 0.0
        return (
            rule["loss"], rule["schedule"], power, rule["average_from"] > 0, rule["l1"] > 0,
            str(self.plan.shuffle),
        )  # fmt: skip


def lane_bytes(model: Model, X: Rows) -> int:
    """Memory of one lane."""
    arrays = 1 + (model.rule["average_from"] > 0) + (model.rule["l1"] > 0)
    return X.shape[1] * X.dtype.itemsize * arrays


def aligned_zeros(size: int, dtype: np.dtype) -> np.ndarray:
    """Zeros that begin at a line of the cache."""
    raw = np.zeros(size * dtype.itemsize + _LINE_BYTES, np.uint8)
    first = -raw.ctypes.data % _LINE_BYTES
    return raw[first : first + size * dtype.itemsize].view(dtype)


class _LaneView:
    """What `Progress` asks of a learner, answered for one lane."""

    def __init__(self, rule: dict[str, Any], finite: bool, penalty: float):
        self.rule, self._finite, self._penalty = rule, finite, penalty

    def is_finite(self) -> bool:
        """Whether no weight has overflowed."""
        return self._finite

    def penalty(self) -> float:
        """l1 |w|_1 + l2/2 |w|^2 of the last weights."""
        return self._penalty


class Pass:
    """Up to 16 models of one kind, trained in one pass over the rows per epoch."""

    def __init__(self, stream: Stream, models: list[Model], n_lanes: int):
        self.stream, self.models, self.n_lanes = stream, models, n_lanes
        self.cancelled = False

    def cancel(self) -> None:
        """End training soon, from another thread."""
        self.cancelled = True

    def __call__(self) -> Pass:
        self._look()
        self._begin()
        order = self.stream.order(self.models[0].plan.shuffle)
        compacted = False
        while self.active:
            self._visit(order.next(), order.fetch)
            done = self._judge()
            if done:
                self._take_out(done)
                compacted |= self._compact()
        self._respond(compacted)
        del self.v, self.u, self.paid
        return self

    def _look(self) -> None:
        """See whether somebody has cancelled."""
        if self.cancelled or is_cancelled():
            raise Cancelled

    def _begin(self) -> None:
        """Lay out lanes and memory; lane l is that of model `lane_of[l]`."""
        X, rule, L = self.stream.X, self.models[0].rule, self.n_lanes
        size = X.shape[1] * L
        self.v = aligned_zeros(size, X.dtype)
        self.u = aligned_zeros(size if rule["average_from"] > 0 else 0, X.dtype)
        self.paid = aligned_zeros(size if rule["l1"] > 0 else 0, X.dtype)
        self.lanes = np.zeros((len(_multi.FIELDS), _multi.MAX_LANES))
        for name in ("scale", "product", "alpha", "t0"):
            self.lanes[_FIELD[name]] = 1.0
        self.lane_of = list(range(len(self.models)))
        self.active = set(self.lane_of)
        for lane, model in enumerate(self.models):
            model.progress = Progress(model.plan)
            for name in _RULE:
                self.lanes[_FIELD[name], lane] = model.rule[name]
        self._lay_out_patterns()
        own = len(self.stream.sample_weight) > 0
        weighted = own or not np.isin(self.pattern_weight, (0.0, 1.0)).all()
        self.plan = {
            "loss": rule["loss"], "schedule": rule["schedule"], "power_t": rule["power_t"],
            "weighted": weighted,
        }  # fmt: skip

    def _lay_out_patterns(self) -> None:
        """Weights and targets of the lanes, by what the rows have in common."""
        stream = self.stream
        self.pattern, self.pattern_weight, self.pattern_target = row_patterns(
            stream.memberships, stream.codes, stream.n_classes, self.models, self.n_lanes
        )
        self._forget_idle_patterns()

    def _forget_idle_patterns(self) -> None:
        """Rows that no lane learns from are passed over."""
        self.pattern = without_idle(self.pattern, self.pattern_weight)

    def _visit(self, order: np.ndarray, fetch: np.ndarray) -> None:
        """One epoch."""
        stream = self.stream
        for name, start in (("sum_loss", 0.0), ("sum_weight", 0.0), ("product", 1.0)):
            self.lanes[_FIELD[name]] = start
        piece = rows_per_call(stream.X, self.n_lanes)
        for first in range(0, len(order), piece):
            self._look()
            _multi.run(
                ISA, self.n_lanes, stream.X, order[first : first + piece],
                fetch[first : first + piece], self.pattern, self.pattern_weight,
                self.pattern_target, stream.sample_weight, stream.target, self.plan, self.lanes,
                self.v, self.u, self.paid,
            )  # fmt: skip

    def _pieces(self) -> list[tuple[int, int]]:
        """(first, last) features of calls that go over all weights."""
        d, step = self.stream.X.shape[1], max(1, _WEIGHTS_PER_CALL // self.n_lanes)
        return [(first, min(first + step, d)) for first in range(0, d, step)]

    def _judge(self) -> list[int]:
        """Enter an epoch for each active lane; returns the lanes that are done."""
        logarithm = np.empty(_multi.MAX_LANES)
        _losses.log1p(self.lanes[_FIELD["product"]] - 1.0, logarithm)
        self.lanes[_FIELD["sum_loss"]] += logarithm
        sizes, squares = np.zeros(_multi.MAX_LANES), np.zeros(_multi.MAX_LANES)
        for first, last in self._pieces():
            self._look()
            _multi.norms(
                ISA, self.n_lanes, self.lanes, self.v, self.u, self.paid, first, last, sizes,
                squares,
            )  # fmt: skip
        done = []
        for lane in sorted(self.active):
            model = self.models[self.lane_of[lane]]
            numbers = {name: float(self.lanes[_FIELD[name], lane]) for name in _STATE}
            rule = dict(model.rule, eta0=float(self.lanes[_FIELD["eta0"], lane]))
            penalty = rule["l1"] * sizes[lane] + 0.5 * rule["l2"] * squares[lane]
            finite = bool(np.isfinite([numbers["intercept"], numbers["sum_loss"]]).all())
            finite = finite and self._has_finite_weights(lane, squares[lane])
            view = _LaneView(rule, finite, float(penalty) if rule["l1"] or rule["l2"] else 0.0)
            loss = numbers["sum_loss"] / max(numbers["sum_weight"], np.finfo(float).tiny)
            try:
                model.progress.judge(view, loss)
            except ValueError as error:
                model.error = error
            self.lanes[_FIELD["eta0"], lane] = view.rule["eta0"]
            model.rule = view.rule
            if model.error is not None or not model.progress.goes_on:
                done.append(lane)
        return done

    def _has_finite_weights(self, lane: int, square: float) -> bool:
        """Whether no weight has overflowed; the sum of finite squares may."""
        if np.isfinite(square):
            return True
        v = self._lane_arrays(self.v, [lane])[0]
        return _rows.first_non_finite(v, 0, len(v)) < 0

    def _lane_arrays(self, v: np.ndarray, lanes: list[int]) -> list[np.ndarray]:
        """The numbers of some lanes by the user's columns."""
        if not len(v):
            return [np.empty(0, v.dtype)] * len(lanes)
        out = [np.empty(len(v) // self.n_lanes, v.dtype) for _ in lanes]
        chosen = np.array(lanes, dtype=np.int64)
        for first, last in self._pieces():
            _multi.gather(v, self.n_lanes, chosen, out, self.stream.place, first, last)
        return out

    def _take_out(self, done: list[int]) -> None:
        """Make learners of the lanes that are done; they learn no more."""
        good = [lane for lane in done if self.models[self.lane_of[lane]].error is None]
        arrays = [self._lane_arrays(kept, good) for kept in (self.v, self.u, self.paid)]
        for lane, v, u, paid in zip(good, *arrays, strict=True):
            model = self.models[self.lane_of[lane]]
            state = {name: float(self.lanes[_FIELD[name], lane]) for name in _STATE}
            memory = {"v": v, "u": u, "paid": paid, "state": state, "rule": dict(model.rule)}
            model.learner = make_learner(len(v), v.dtype, model.rule, memory=memory)
        self.active -= set(done)
        self.pattern_weight[:, done] = 0.0
        if self.active:
            self._forget_idle_patterns()

    def _compact(self) -> bool:
        """Move the lanes that still learn together, once half of them are gone."""
        n = next(lanes for lanes in LANES if lanes >= len(self.active))
        if not self.active or n >= self.n_lanes:
            return False
        kept = sorted(self.active)
        L, d = self.n_lanes, self.stream.X.shape[1]

        def moved(old: np.ndarray) -> np.ndarray:
            new = aligned_zeros(d * n if len(old) else 0, old.dtype)
            if len(old):
                new.reshape(d, n)[:, : len(kept)] = old.reshape(d, L)[:, kept]
            return new

        self.v, self.u, self.paid = moved(self.v), moved(self.u), moved(self.paid)
        idle = [lane for lane in range(_multi.MAX_LANES) if lane not in kept]
        self.lanes = np.ascontiguousarray(self.lanes[:, kept + idle])
        self.pattern_weight = np.ascontiguousarray(self.pattern_weight[:, (kept + idle)[:n]])
        self.pattern_target = np.ascontiguousarray(self.pattern_target[:, (kept + idle)[:n]])
        self.lane_of = [self.lane_of[lane] for lane in kept]
        self.active, self.n_lanes = set(range(len(kept))), n
        return True

    def _respond(self, compacted: bool) -> None:
        """Responses of the final weights for the rows held out, one read per fold."""
        wanted = [m for m in self.models if m.test is not None and m.error is None]
        if not wanted:
            return
        intercept = np.zeros(_multi.MAX_LANES)
        if compacted:
            wanted = self._lay_out_again(wanted, intercept)
        else:
            mean = self.lanes[_FIELD["n_averaged"]] > 0
            share = self.lanes[_FIELD["sum_intercept"]] / np.maximum(
                self.lanes[_FIELD["n_averaged"]], 1
            )
            intercept[:] = np.where(mean, share, self.lanes[_FIELD["intercept"]])
            for first, last in self._pieces():
                _multi.publish(
                    ISA, self.n_lanes, self.lanes, self.v, self.u, self.paid, first, last, self.v
                )
        by_test: dict[int, list[int]] = {}
        for lane, model in enumerate(self.models if not compacted else wanted):
            if model.test is not None and model.error is None:
                by_test.setdefault(id(model.test), []).append(lane)
        models = wanted if compacted else self.models
        for lanes in by_test.values():
            self._respond_to(models[lanes[0]].test, lanes, [models[k] for k in lanes], intercept)

    def _lay_out_again(self, wanted: list[Model], intercept: np.ndarray) -> list[Model]:
        """Put the final weights of all models side by side once more."""
        self.n_lanes = next(lanes for lanes in LANES if lanes >= len(wanted))
        d = self.stream.X.shape[1]
        self.v = aligned_zeros(d * self.n_lanes, self.v.dtype)
        for lane, model in enumerate(wanted):
            W, b = model.learner.weights()
            intercept[lane] = b[0]
            for first, last in self._pieces():
                _multi.scatter(W[0], self.v, self.n_lanes, lane, self.stream.place, first, last)
        return wanted

    def _respond_to(
        self, test: np.ndarray, lanes: list[int], models: list[Model], intercept: np.ndarray
    ) -> None:
        """Responses to the rows `test` of the models in the given lanes."""
        X, out = self.stream.X, np.empty((len(lanes), len(test)))
        chosen = np.array(lanes, dtype=np.int64)
        piece, defined = rows_per_call(X, self.n_lanes), True
        for start in range(0, len(test), piece):
            self._look()
            stop = min(start + piece, len(test))
            defined &= _multi.respond(
                ISA, self.n_lanes, X, test, self.v, intercept, chosen, out, start, stop
            )
        for model, p in zip(models, out, strict=True):
            model.responses = p
            if not defined and np.isnan(p).any():
                model.error = ValueError(
                    f"The response of row {test[np.isnan(p).argmax()]} is not a number: the values "
                    "of X are too large for these weights. Scale the columns of X."
                )
