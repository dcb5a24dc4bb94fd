"""Models that are trained side by side, one per lane: a pass over the rows for up to 16 of them.

`fl_multi.h` states what a lane is; a joint model takes one per class. A pass is a task for a
thread. What its models have learnt comes out as learners (`_learner`), as if each had been trained
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._aligned import LINE_BYTES, aligned_zeros, huge_zeros
from ._core import losses as _losses
from ._core import multi as _multi
from ._core import rows as _rows
from ._core.rows import Rows
from ._epochs import EpochPlan, Progress, Report, RowOrder
from ._isa import ISA
from ._learner import make_learner
from ._parallel import Cancellable
from ._patterns import reads, row_patterns, without_idle
from ._scores import rows_per_call, undefined

__all__ = ["LANES", "Model", "Pass", "Stream", "hand_out", "lane_bytes", "lane_counts"]

# The numbers of lanes that there are kernels for. One line of 64 bytes per feature is best.
LANES = (4, 8, 16)
_NOTHING = np.empty(0)
_NO_PLACE = np.empty(0, np.int32)
_FIELD = {name: k for k, name in enumerate(_multi.FIELDS)}
_RULE = ("loss_parameter", "l1", "l2", "eta0", "alpha", "t0", "fit_intercept", "average_from")
_STATE = (
    "scale", "intercept", "t", "sum_scale", "sum_intercept", "n_averaged", "l1_total", "sum_loss",
    "sum_weight",
)  # fmt: skip
_MEAN = ("intercept", "sum_intercept", "n_averaged")
# Bytes of a table of which a huge page more is a small part
_HUGE_TABLE = 1 << 25
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

    @property
    def n_columns(self) -> int:
        """How many columns the user's rows have."""
        return len(self.place) or self.X.shape[1]


@dataclass
class Model:
    """One output to train, or the outputs of a joint model, and what came of it.

    Row i weighs `class_weight[codes[i]]`, times its sample weight, and has the target
    `class_target[codes[i]]` (regressions: the row's own, and one class). A joint model is `width`
    lanes wide, one per class; its targets are class numbers.
    """

    rule: dict[str, Any]
    plan: EpochPlan
    fold: int
    class_weight: np.ndarray
    class_target: np.ndarray
    test: np.ndarray | None
    width: int = 1
    start: tuple[np.ndarray, np.ndarray] | None = None  # (W, b); zeros by default
    progress: Progress | None = None
    learner: Any = None
    error: Exception | None = None
    responses: np.ndarray | None = None
    # where the weights that the user sees go, if that is all that training goes on from
    weights: np.ndarray | None = None
    worse: tuple[float, float] | None = None  # `_safety.if_worse` of the final weights

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
            str(self.plan.shuffle), self.width,
        )  # fmt: skip


def lane_counts(dtype: np.dtype) -> list[int]:
    """The numbers of lanes for weights of this type: no more than stand in one line."""
    return [n for n in LANES if n * dtype.itemsize <= LINE_BYTES]


def lane_bytes(model: Model, X: Rows) -> int:
    """Memory of one lane."""
    arrays = 1 + (model.rule["average_from"] > 0) + (model.rule["l1"] > 0)
    return X.shape[1] * X.dtype.itemsize * arrays


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


class _Published:
    """The final weights of some lanes, by the user's columns."""

    def __init__(self, rule: dict[str, Any], W: list[np.ndarray], b: np.ndarray):
        self.rule, self._weights = rule, (np.stack(W), b)

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """(W, b) of shapes (width, d) and (width,)."""
        return self._weights


def _zeros(size: int, dtype: np.dtype) -> np.ndarray:
    """A table of zeros, that begins at a huge page if it is large: frequent columns come first, and
    shall not be in small pages."""
    return (huge_zeros if size * dtype.itemsize >= _HUGE_TABLE else aligned_zeros)(size, dtype)


def hand_out(look: Callable[[], None], table: np.ndarray, n_lanes: int, lanes: list[int],
             out: list[Any], place: np.ndarray = _NO_PLACE, squares: np.ndarray = _NOTHING,
             scale: np.ndarray = _NOTHING) -> None:
    """Fill a vector for each of some lanes of a table, in the order of `place`, times the `scale`
    of its lane unless that is empty; `squares`, unless it is, adds up those of each. `look` is
    called between the calls of the kernel."""
    chosen, size = np.array(lanes, dtype=np.int64), len(out[0]) if lanes else 0
    step = _WEIGHTS_PER_CALL // n_lanes // LINE_BYTES * LINE_BYTES  # whole lines of each vector
    for first in range(0, size, step):
        look()
        _multi.gather(
            table, n_lanes, chosen, out, place, first, min(first + step, size), squares, scale
        )


class Pass(Cancellable):
    """Up to 16 models of one kind, trained in one pass over the rows per epoch.

    Parameters
    ----------
    stream : Stream
    models : list of Model
        Each gets its responses, and with `keep` a learner.
    n_lanes : int
    targets : _fold_targets.Targets
        Says whether a model is worse than the best constant.
    keep : bool
        Whether the models get learners. Weights that are only asked for responses need not be taken
        out of the lanes, which costs some 10 to 20 % of 5 epochs.
    """

    def __init__(self, stream: Stream, models: list[Model], n_lanes: int, targets: Any, keep: bool):
        self.stream, self.models, self.n_lanes = stream, models, n_lanes
        self.targets, self.keep = targets, keep

    def __call__(self) -> Pass:
        self._look()
        self._begin()
        order = self.stream.order(self.models[0].plan.shuffle)
        while self.active:
            self._visit(order.next(), order.fetch)
            done = self._judge()
            if done:
                self._take_out(done)
                self._compact()
        self._answer(range(len(self.placed)))
        del self.v, self.u, self.paid
        return self

    def _begin(self) -> None:
        """Lay out lanes and memory; place p, which is `width` lanes, holds model `placed[p]`."""
        X, rule, L = self.stream.X, self.models[0].rule, self.n_lanes
        self.width = self.models[0].width
        size = X.shape[1] * L
        self.v = _zeros(size, X.dtype)
        self.u = _zeros(size if rule["average_from"] > 0 else 0, X.dtype)
        self.paid = _zeros(size if rule["l1"] > 0 else 0, X.dtype)
        self.lanes = np.zeros((len(_multi.FIELDS), _multi.MAX_LANES))
        for name in ("scale", "product", "alpha", "t0"):
            self.lanes[_FIELD[name]] = 1.0
        self.placed = list(range(len(self.models)))
        self.active = set(self.placed)
        for place, model in enumerate(self.models):
            model.progress = Progress(model.plan)
            for name in _RULE:
                self.lanes[_FIELD[name], self._span(place)] = model.rule[name]
            if model.start is not None:
                W, self.lanes[_FIELD["intercept"], self._span(place)] = model.start
                self._set_weights(place, W)
        self._lay_out_patterns()
        own = len(self.stream.sample_weight) > 0
        weighted = own or not np.isin(self.pattern_weight, (0.0, 1.0)).all()
        self.plan = {
            "loss": rule["loss"], "schedule": rule["schedule"], "power_t": rule["power_t"],
            "weighted": weighted, "classes": self.width,
        }  # fmt: skip

    def _span(self, place: int) -> slice:
        """The lanes of a place."""
        return slice(place * self.width, (place + 1) * self.width)

    def _lanes_at(self, places: list[int]) -> list[int]:
        """The lanes of some places, one after another."""
        return [place * self.width + k for place in places for k in range(self.width)]

    def _lay_out_patterns(self) -> None:
        """Weights and targets of the lanes, by what the rows have in common."""
        stream = self.stream
        by_lane = [model for model in self.models for _ in range(self.width)]
        self.pattern, self.pattern_weight, self.pattern_target = row_patterns(
            stream.memberships, stream.codes, stream.n_classes, by_lane, self.n_lanes
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

    def _pieces(self, d: int = 0) -> list[tuple[int, int]]:
        """(first, last) of calls that go over d columns, by default all that have weights here."""
        d, step = d or self.stream.X.shape[1], max(1, _WEIGHTS_PER_CALL // self.n_lanes)
        return [(first, min(first + step, d)) for first in range(0, d, step)]

    def _judge(self) -> list[int]:
        """Enter an epoch for each active model; returns the places that are done."""
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
        for place in sorted(self.active):
            model, span = self.models[self.placed[place]], self._span(place)
            rule = dict(model.rule, eta0=float(self.lanes[_FIELD["eta0"], span.start]))
            penalty = rule["l1"] * sizes[span].sum() + 0.5 * rule["l2"] * squares[span].sum()
            sum_loss, mass = (
                float(self.lanes[_FIELD[name], span.start]) for name in ("sum_loss", "sum_weight")
            )
            finite = bool(np.isfinite([*self.lanes[_FIELD["intercept"], span], sum_loss]).all())
            finite = finite and self._has_finite_weights(span, squares[span])
            view = _LaneView(rule, finite, float(penalty) if rule["l1"] or rule["l2"] else 0.0)
            loss = sum_loss / max(mass, np.finfo(float).tiny)
            try:
                model.progress.judge(view, loss)
            except ValueError as error:
                model.error = error
            self.lanes[_FIELD["eta0"], span] = view.rule["eta0"]
            model.rule = view.rule
            if model.error is not None or not model.progress.goes_on:
                done.append(place)
        return done

    def _has_finite_weights(self, span: slice, squares: np.ndarray) -> bool:
        """Whether no weight has overflowed; the sum of finite squares may."""
        if np.isfinite(squares).all():
            return True
        arrays = self._lane_arrays(self.v, list(range(span.start, span.stop)))
        return all(_rows.first_non_finite(v, 0, len(v)) < 0 for v in arrays)

    def _lane_arrays(self, v: np.ndarray, lanes: list[int]) -> list[np.ndarray]:
        """The numbers of some lanes by the user's columns."""
        if not len(v):
            return [np.empty(0, v.dtype)] * len(lanes)
        out = [np.empty(self.stream.n_columns, v.dtype) for _ in lanes]
        hand_out(self._look, v, self.n_lanes, lanes, out, self.stream.place)
        return out

    def _take_out(self, done: list[int]) -> None:
        """End training at the places that are done, and make learners of their models."""
        if self.keep:
            self._make_learners([k for k in done if self.models[self.placed[k]].error is None])
        self.active -= set(done)
        self.pattern_weight[:, self._lanes_at(done)] = 0.0
        if self.active:
            self._forget_idle_patterns()

    def _make_learners(self, places: list[int]) -> None:
        """Make learners of the models at some places."""
        published = [k for k in places if self.models[self.placed[k]].weights is not None]
        self._publish(published)
        places = [k for k in places if k not in published]
        if not places:
            return
        X, d = self.stream.X, self.stream.n_columns
        lanes = self._lanes_at(places)
        arrays = [self._lane_arrays(kept, lanes) for kept in (self.v, self.u, self.paid)]
        for k, place in enumerate(places):
            model = self.models[self.placed[place]]
            own = [kept[self._span(k)] for kept in arrays]
            memory = self._memory(self._span(place), model.rule, *own)
            model.learner = make_learner(d, X.dtype, model.rule, self.width, memory=memory)

    def _publish(self, places: list[int]) -> None:
        """Write the weights that the user sees where they stay; learners go on from these. So they
        are taken out of the lanes once, and memory for them is cleared once: a quarter of 5 epochs
        on bags of words with 1.3 million columns."""
        X, lanes = self.stream.X, self._lanes_at(places)
        models = [self.models[self.placed[place]] for place in places]
        out, scale = [model.weights for model in models], self.lanes[_FIELD["scale"]]
        hand_out(self._look, self.v, self.n_lanes, lanes, out, self.stream.place, scale=scale)
        for model, place, w in zip(models, places, out, strict=True):
            memory = self._memory(self._span(place), model.rule, [w], [self.u], [self.paid])
            memory["state"]["scale"] = 1.0
            model.learner = make_learner(len(w), X.dtype, model.rule, memory=memory)

    def _memory(self, span: slice, rule: dict[str, Any], v: list[np.ndarray],
                u: list[np.ndarray], paid: list[np.ndarray]) -> dict[str, Any]:
        """The memory of the learner that some lanes make, given their arrays."""
        state = {name: float(self.lanes[_FIELD[name], span.start]) for name in _STATE}
        rest = {"state": state, "rule": dict(rule)}
        if self.width == 1:
            return {"v": v[0], "u": u[0], "paid": paid[0], **rest}
        b = np.zeros((4, self.width))
        b[0] = self.lanes[_FIELD["intercept"], span]
        b[1] = self.lanes[_FIELD["sum_intercept"], span]
        state.update(intercept=0.0, sum_intercept=0.0)
        flat = [np.stack(arrays, axis=1).ravel() for arrays in (v, u, paid)]
        return {"V": flat[0], "b": b, "u": flat[1], "paid": flat[2], **rest}

    def _compact(self) -> None:
        """Move the lanes that still learn together, once half of them are gone."""
        n = next(lanes for lanes in LANES if lanes >= len(self.active) * self.width)
        if not self.active or n >= self.n_lanes:
            return
        kept = self._lanes_at(sorted(self.active))
        L, d = self.n_lanes, self.stream.X.shape[1]

        def moved(old: np.ndarray) -> np.ndarray:
            new = _zeros(d * n if len(old) else 0, old.dtype)
            if len(old):
                new.reshape(d, n)[:, : len(kept)] = old.reshape(d, L)[:, kept]
            return new

        arrays = moved(self.v), moved(self.u), moved(self.paid)
        self._answer([k for k in range(len(self.placed)) if k not in self.active])
        self.v, self.u, self.paid = arrays
        idle = [lane for lane in range(_multi.MAX_LANES) if lane not in kept]
        self.lanes = np.ascontiguousarray(self.lanes[:, kept + idle])
        self.pattern_weight = np.ascontiguousarray(self.pattern_weight[:, (kept + idle)[:n]])
        self.pattern_target = np.ascontiguousarray(self.pattern_target[:, (kept + idle)[:n]])
        self.placed = [self.placed[place] for place in sorted(self.active)]
        self.active, self.n_lanes = set(range(len(self.placed))), n

    def _answer(self, places: Iterable[int]) -> None:
        """Responses of the final weights at some places for the rows held out, and whether a
        constant beats them. Nothing can be learnt in these lanes afterwards."""
        asked: dict[int, list[int]] = {}
        doubted = []
        for place in places:
            model = self.models[self.placed[place]]
            if model.error is not None:
                continue
            if model.test is not None:
                asked.setdefault(id(model.test), []).append(place)
            if self.targets.may_be_worse(model):
                doubted.append(place)
        if not asked and not doubted:
            return
        lanes = {name: self.lanes[_FIELD[name]] for name in _MEAN}
        mean = lanes["sum_intercept"] / np.maximum(lanes["n_averaged"], 1)
        intercept = np.where(lanes["n_averaged"] > 0, mean, lanes["intercept"])
        for first, last in self._pieces():
            _multi.publish(
                ISA, self.n_lanes, self.lanes, self.v, self.u, self.paid, first, last, self.v
            )
        if asked:
            self._respond(list(asked.values()), intercept)
        for place in doubted:
            self._confirm(place, intercept)

    def _confirm(self, place: int, intercept: np.ndarray) -> None:
        """See whether a constant beats the final weights at a place."""
        model, span = self.models[self.placed[place]], self._span(place)
        if model.error is not None:
            return
        self._look()
        W = self._lane_arrays(self.v, self._lanes_at([place]))
        try:
            model.worse = self.targets.worse(model, _Published(model.rule, W, intercept[span]))
        except ValueError as error:
            model.error = error

    def _set_weights(self, place: int, W: np.ndarray) -> None:
        """Give the lanes of a place the weights W of shape (width, columns of the user)."""
        for lane, w in zip(self._lanes_at([place]), W.astype(self.v.dtype), strict=True):
            for first, last in self._pieces(self.stream.n_columns):
                _multi.scatter(w, self.v, self.n_lanes, lane, self.stream.place, first, last)

    def _respond(self, groups: list[list[int]], intercept: np.ndarray) -> None:
        """Responses of the models at some places, each group of which holds out the same rows."""
        tests = [self.models[self.placed[places[0]]].test for places in groups]
        lanes = [np.array(self._lanes_at(places), dtype=np.int64) for places in groups]
        outs = [np.empty((len(own), len(test))) for own, test in zip(lanes, tests, strict=True)]
        X, defined = self.stream.X, True
        piece = rows_per_call(X, self.n_lanes)
        for rows, runs in reads(tests, len(X), _multi.MOST_RUNS):
            heads = np.zeros(len(runs), np.int64)
            asking = [(tests[g][a:b], lanes[g], outs[g], a) for g, a, b in runs]
            for start in range(0, len(rows), piece):
                self._look()
                defined &= _multi.respond(
                    ISA, self.n_lanes, X, rows, self.v, intercept, asking, heads, start,
                    min(start + piece, len(rows)),
                )  # fmt: skip
        for places, test, out in zip(groups, tests, outs, strict=True):
            for k, place in enumerate(places):
                self._set_responses(self.models[self.placed[place]], test, out[self._span(k)],
                                    defined)

    def _set_responses(self, model: Model, test: np.ndarray, p: np.ndarray, defined: bool) -> None:
        """Give a model its responses p, a row per lane."""
        model.responses = p[0] if self.width == 1 else np.ascontiguousarray(p.T)
        if not defined:
            model.error = undefined(p.T, test)
