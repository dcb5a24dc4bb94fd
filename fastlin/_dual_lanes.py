"""Exact models side by side: interleaved dual coordinate descent on up to 24 of them.

`fl_multi.h` states problem, symbols and recurrences. Descent runs on a float32 copy of the rows,
which costs nothing where they are float32 already; each answer is rebuilt from its dual variables,
and its certificate taken, in double on the user's own values. These passes give the responses of
held-out rows as well, so that a cross-validated score costs no further pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from ._aligned import huge_empty, huge_zeros
from ._blocks import room_for
from ._class_counts import members_per_class
from ._core import losses as _losses
from ._core import multi as _multi
from ._core.rows import Rows
from ._dual_models import Centre, DualModel, DualStream, Room, Rooms, Sides
from ._dual_watch import TRIAL, epochs_to
from ._epochs import RowOrder
from ._isa import ISA
from ._lane_losses import LaneLosses
from ._lanes import LANES, hand_out
from ._parallel import Cancellable
from ._problem import LOSS_CODES, Certificate, Fit, Problem
from ._scores import rows_per_call
from ._solve import FAR

__all__ = ["SPARE_LANES", "DualPass"]

# More lanes than a line holds cost as much per model, and less than a further pass of few models.
SPARE_LANES = 24

_FIELD = {name: k for k, name in enumerate(_multi.DUAL_FIELDS)}
_N_NUMBERS = len(_multi.DUAL_FIELDS)
# Dual variables of rows not yet visited, as logits: nothing beside 1 in any sum.
_UNTOUCHED = -40.0
# Lanes whose weights are doubles in one line of 64 bytes
_FEW_LANES = 8
# A gap estimated to be so much smaller than what is asked for is worth measuring.
_MARGIN = 0.5
# The estimate is that of rows before their steps: since then the gap has fallen by about this power
# of what it falls by in an epoch (measured: 0.8).
_LAG = 0.7
# Rounds of epochs and a certificate, of which one is enough as a rule, and the share of its gap
# that a model must lose in one to have another, once rounds are long: they double.
_MOST_ROUNDS = 12
_STALLED = 0.7
_PATIENT = 5
# nu over the mean of |x_i - c|^2; ten times as much takes two to three times the epochs. Where the
# penalty is so strong that an epoch would hardly move the intercept, nu times the most that the
# loss bends in it.
_NU = 0.01
_STIFF = 8.0
# Newton steps for the intercept that ends a fit; the first of them start within the tolerance.
_INTERCEPT_STEPS = 50
# Responses that take less memory than this are no matter.
_FEW_BYTES = 1 << 24
# Columns per call of a kernel that goes over all weights: some milliseconds.
_COLUMNS_PER_CALL = 1 << 19


def _lanes_of(n_models: int) -> int:
    """The fewest lanes that hold so many models."""
    return next(n for n in (*LANES, SPARE_LANES) if n >= n_models)


def _certified_at_once(X: Rows, n_models: int) -> int:
    """Models whose certificates share their passes over the rows: all where these fill most lanes,
    unless their responses in double would take more memory than the rows do."""
    small = 8 * SPARE_LANES * len(X) <= max(X.nbytes, _FEW_BYTES)
    return SPARE_LANES if n_models > LANES[-1] and small else _FEW_LANES


def _quietly(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that may overflow: an answer that is not finite is refused where it is published."""

    @wraps(step)
    def quiet(self: DualPass, *values: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return step(self, *values)

    return quiet


class DualPass(Cancellable):
    """Up to 24 models of one kind: a task for `_parallel.spread`, which goes on to others. Descent
    is one task of a thread; the certificates that follow it are one for each group of models."""

    def __init__(self, stream: DualStream, models: list[DualModel], rooms: Rooms):
        self.stream, self.models, self.rooms = stream, models, rooms
        self.at_once = _certified_at_once(stream.X, len(models))

    @property
    def widest(self) -> int:
        """The most tasks that this makes at a time."""
        return -(-len(self.models) // self.at_once)

    @_quietly
    def __call__(self) -> list[Callable[[], Any]]:
        """Begin."""
        first = self.models[0]
        self.code, self.is_log = LOSS_CODES[first.loss], first.loss == "log_loss"
        self.centre = self.stream.centre(first.fit_intercept)
        n, d = self.stream.X.shape
        # side by side, as they are published where the models are the classes of one estimator
        coefs = huge_empty((len(self.models), d), self.stream.X.dtype)
        for model, coef in zip(self.models, coefs, strict=True):
            model.coef = coef
            if model.state is None:
                model.offset = self._first_offset(model)
            model.target = _MARGIN * model.tol
        n_lanes = _lanes_of(len(self.models))
        self.sides = Sides.of(self.stream, self.models, n_lanes)
        self.lane_of = {id(model): lane for lane, model in enumerate(self.models)}
        self.room_bytes = d * max(4 * n_lanes, 8 * min(n_lanes, _lanes_of(self.at_once)))
        self.rounds = 0
        return self._round(list(self.models))

    @_quietly
    def _round(self, todo: list[DualModel]) -> list[Callable[[], Any]]:
        """Epochs of some models; what remains is to certify them."""
        # each round has orders of its own, so that nothing depends on how long others took
        order = self.stream.order.fork()
        for _ in range(self.rounds):
            order.next()
        with self.rooms.taken(self.room_bytes) as room:
            self._descend(todo, order, 1 << max(self.rounds - 1, 0), room)
        groups = [todo[k : k + self.at_once] for k in range(0, len(todo), self.at_once)]
        # one for each group that is under way; the last to end finds True
        left = [True, *[False] * (len(groups) - 1)]
        return [partial(self._certified, group, todo, left) for group in groups]

    @_quietly
    def _certified(self, group: list[DualModel], todo: list[DualModel],
                   left: list[bool]) -> list[Callable[[], Any]]:
        """Certify some models; once all are, those that are not near enough have another round."""
        with self.rooms.taken(self.room_bytes) as room:
            self._certify(group, room)
        if not left.pop():
            return []
        again = [model for model in todo if self._goes_on(model, self.rounds)]
        self.rounds += 1
        return [partial(self._round, again)] if again and self.rounds < _MOST_ROUNDS else []

    def _sides_of(self, models: list[DualModel], n_lanes: int) -> Sides:
        """Weights and targets of some of the models."""
        return self.sides.chosen([self.lane_of[id(model)] for model in models], n_lanes)

    def _goes_on(self, model: DualModel, begun: int) -> bool:
        """Whether more epochs are worth while: not at the limit of float32 weights."""
        used = model.is_slow or model.n_iter >= min(model.max_iter, FAR)
        if model.is_lost or model.fit.converged or used:
            return False
        gap = model.fit.certificate.relative_gap
        stalled = begun >= _PATIENT and gap > _STALLED * model.last_gap
        model.last_gap = gap
        model.target *= min(0.5, _MARGIN * model.tol / gap)
        return not stalled

    def _first_offset(self, model: DualModel) -> float:
        """The intercept of a model without columns."""
        if not (self.is_log and model.fit_intercept):
            return 0.0
        stream, member = self.stream, self.stream.memberships[model.fold]
        if len(stream.sample_weight):
            counts = np.bincount(stream.codes[member], stream.sample_weight[member],
                                 stream.n_classes)
        else:
            counts = members_per_class(stream.codes, member, stream.n_classes)
        mass = counts * model.class_weight
        up, down = mass[model.class_target > 0].sum(), mass[model.class_target < 0].sum()
        return float(np.log(up / down)) if up > 0 and down > 0 else 0.0

    # descent

    def _descend(self, models: list[DualModel], order: RowOrder, least: int, room: Room) -> None:
        """Epochs until each model's estimated gap is below its target, or its epochs are used; at
        least so many."""
        lanes = self._lanes_for(models, room)
        active = dict(enumerate(models))
        gaps: dict[int, list[float]] = {
            lane: [] if model.fit is None else [model.fit.certificate.relative_gap]
            for lane, model in active.items()
        }
        epochs = 0
        while active:
            self._epoch(lanes, order)
            epochs += 1
            done = []
            for lane, model in active.items():
                model.n_iter += 1
                estimate = float(lanes.numbers[_FIELD["estimate"], lane])
                gap = estimate / (lanes.total[lane] * lanes.value[lane])
                last = gaps[lane][-1] if gaps[lane] else None
                gaps[lane].append(gap)
                # columns of too unlike scales for float32 weights
                model.is_lost |= not np.isfinite(gap)
                # the first epoch begins with most rows untouched and says nothing
                near = last is not None and gap * min(1.0, gap / max(last, 1e-300)) ** _LAG
                enough = last is not None and epochs >= least
                enough = enough and near <= model.target
                used = model.n_iter >= min(model.max_iter, FAR)
                if epochs >= TRIAL and not enough:
                    used |= epochs_to(model.target, gaps[lane]) > FAR
                    model.is_slow |= used
                if enough or used or model.is_lost:
                    done.append(lane)
            self._keep(lanes, done, [active.pop(lane) for lane in done])
            if done and active:
                lanes = self._drop(lanes, done, active, gaps)

    def _lanes_for(self, models: list[DualModel], room: Room) -> _Lanes:
        """Memory for these models, filled with what they know."""
        stream = self.stream
        n_lanes = _lanes_of(len(models))
        u = room.zeros(stream.work.shape[1] * n_lanes, np.float32)
        fresh = _UNTOUCHED if self.is_log else 0.0
        sides = self._sides_of(models, n_lanes)
        lanes = _Lanes(stream, models, n_lanes, sides, self.centre.q, u, fresh)
        if any(model.n_iter for model in models):
            lanes.rebuild(self.is_log, self.centre, self._look)
        return lanes

    def _epoch(self, lanes: _Lanes, order: RowOrder) -> None:
        """One step of each lane on each of its rows."""
        stream, centre = self.stream, self.centre
        numbers = lanes.numbers
        for name in ("estimate", "value", "weight"):
            numbers[_FIELD[name]] = 0.0
        plan = {"loss": self.code, "centre_square": centre.square}
        rows, fetch = order.next(), order.fetch
        piece = rows_per_call(stream.work, lanes.n_lanes)
        for first in range(0, len(rows), piece):
            self._look()
            _multi.run_dual(
                ISA, lanes.n_lanes, stream.work, rows[first : first + piece],
                fetch[first : first + piece], lanes.pattern, lanes.sides.weight,
                lanes.sides.target, stream.sample_weight, plan, numbers, centre.q, centre.k,
                lanes.state, lanes.u,
            )  # fmt: skip
        weight = numbers[_FIELD["weight"], : lanes.n_lanes]
        value = numbers[_FIELD["value"], : lanes.n_lanes]
        lanes.value = np.where(weight > 0, value / np.maximum(weight, 1e-300), 1.0)
        numbers[_FIELD["offset"]] += numbers[_FIELD["nu"]] * numbers[_FIELD["sum"]]

    def _keep(self, lanes: _Lanes, done: list[int], models: list[DualModel]) -> None:
        """What some models have come to."""
        states = [np.empty(len(lanes.state), np.float32) for _ in done]
        hand_out(self._look, lanes.state.reshape(-1), lanes.n_lanes, done, states)
        for lane, model, state in zip(done, models, states, strict=True):
            at = {name: float(lanes.numbers[_FIELD[name], lane]) for name in _FIELD}
            model.state, model.offset = state, at["offset"]
            model.intercept = at["offset"] + self.centre.square * at["sum"] - at["centre_sum"]

    def _drop(self, lanes: _Lanes, done: list[int], active: dict[int, DualModel],
              gaps: dict[int, list[float]]) -> _Lanes:
        """Lanes that are done learn no more; the others move together once half are gone."""
        lanes.pattern = lanes.sides.without(done)
        n_lanes = _lanes_of(len(active))
        if n_lanes >= lanes.n_lanes:
            return lanes
        kept = sorted(active)
        moved = lanes.taken(kept, n_lanes)
        models = [active[lane] for lane in kept]
        kept_gaps = [gaps[lane] for lane in kept]
        active.clear()
        gaps.clear()
        active.update(enumerate(models))
        gaps.update(enumerate(kept_gaps))
        return moved

    # certificates

    def _certify(self, models: list[DualModel], space: Room) -> None:
        """Weights, intercepts, gaps and responses of some models, in double."""
        stream, X = self.stream, self.stream.exact
        models = [model for model in models if not model.is_lost]
        if not models:
            return
        L = _lanes_of(len(models))
        sides = self._sides_of(models, L)
        by = huge_zeros(len(X) * L, np.dtype(np.float64)).reshape(-1, L)
        conjugates = self._dual_sides(models, sides, by)
        w = space.zeros(X.shape[1] * L, np.float64)
        room = room_for(X)
        for start, stop in self._pieces(L):
            _multi.add_rows(ISA, L, X, by, w, room, start, stop)
        for start, stop in self._pieces(L):
            _multi.respond_rows(ISA, L, X, w, by, room, start, stop)
        coefs, squares = [model.coef for model in models], np.zeros(len(models))
        hand_out(self._look, w, L, list(range(len(models))), coefs, stream.place, squares)
        b, mean = self._intercepts(models, sides, by)
        for lane, model in enumerate(models):
            total = float(sides.total[lane])
            l2 = 1.0 / (model.C * total)
            penalty = 0.5 * l2 * float(squares[lane])
            zero = np.log(2.0) if self.is_log else 1.0
            certificate = Certificate.of(
                mean[lane] + penalty, -conjugates[lane] / total - penalty, zero
            )
            if not np.isfinite(certificate.relative_gap):
                # what an earlier one was about has been overwritten
                model.is_lost, model.fit = True, None
                continue
            model.fit = Fit(model.coef, float(b[lane]), model.n_iter, certificate,
                            certificate.relative_gap <= model.tol)
            if model.test is not None:
                model.responses = by[model.test, lane] + b[lane]

    def _dual_sides(self, models: list[DualModel], sides: Sides, by: np.ndarray) -> np.ndarray:
        """Sets `by` to C s a y of dual variables that are feasible; returns sum s conj(-a)."""
        strength, conjugates = np.ones(by.shape[1]), np.zeros(by.shape[1])
        strength[: len(models)] = [model.C for model in models]
        if self.is_log:
            # a = sigmoid(t) is minus the slope at the margin -t, and its conjugate a t less the
            # loss there; a shift of all responses makes it feasible
            for lane, model in enumerate(models):
                self._look()
                y = sides.target[:, lane].take(sides.pattern)
                np.multiply(y, model.state, out=by[:, lane])
            np.negative(by, out=by)
            free, b = models[0].fit_intercept, conjugates
            losses = LaneLosses(self.stream, sides, self.code, self._look)
            sums = losses.at(by, losses.balanced(by, b) if free else b, by)
            # without one there is no bound, and the model is another method's
            bounded = losses.is_balanced(sums) | (not free)
            conjugates = np.where(bounded, sums.along - sums.loss, np.inf)
            np.negative(by, out=by)
            by *= strength
            return conjugates
        of_rows = sides.pattern, sides.weight, sides.target, self.stream.sample_weight
        up, down = np.ones(len(models)), np.ones(len(models))
        for lane, model in enumerate(models):
            if model.fit_intercept:
                # those of the larger side are scaled down
                self._look()
                mass = _multi.side_masses(model.state, lane, *of_rows)
                up[lane], down[lane] = (min(mass) / max(size, 1e-300) for size in mass)
        states = [model.state for model in models]
        for start, stop in self._pieces(by.shape[1]):
            _multi.dual_sides(self.code, states, *of_rows, up, down, strength, conjugates, by,
                              start, stop)
        return conjugates

    def _pieces(self, n_lanes: int) -> Any:
        """(start, stop) of calls that go over all rows."""
        n, piece = len(self.stream.X), rows_per_call(self.stream.X, n_lanes)
        for start in range(0, n, piece):
            self._look()
            yield start, min(start + piece, n)

    def _intercepts(self, models: list[DualModel], sides: Sides, z: np.ndarray) -> tuple:
        """(best intercepts, mean losses there), given the responses without intercept."""
        free, b, total = models[0].fit_intercept, np.zeros(z.shape[1]), np.ones(z.shape[1])
        total[: len(models)] = sides.total[: len(models)]
        if free:
            b[: len(models)] = [model.intercept for model in models]
        losses = LaneLosses(self.stream, sides, self.code, self._look)
        for _ in range(_INTERCEPT_STEPS):
            sums = losses.at(z, b)
            step = sums.slope / np.maximum(sums.bend, 1e-300)
            # a last step changes the loss by half its square times the curvature
            small = step * step * sums.bend <= 1e-11 * sums.loss
            if not free or small.all():
                break
            b -= np.clip(np.where(small, 0.0, step), -1.0, 1.0)
        else:
            for lane, model in enumerate(models):
                b[lane] = self._exact_intercept(model, sides, lane, z)
            sums = losses.at(z, b)
        return b, sums.loss / total

    def _exact_intercept(self, model: DualModel, sides: Sides, lane: int, z: np.ndarray) -> float:
        """`Problem.best_intercept` of one model."""
        s = sides.weight[sides.pattern, lane]
        if len(self.stream.sample_weight):
            s = s * self.stream.sample_weight
        rows = np.flatnonzero(s)
        y = sides.target[sides.pattern[rows], lane]
        problem = Problem(self.stream.X, y, model.loss, weight=s[rows], loss_parameter=1.0)
        return problem.best_intercept(np.ascontiguousarray(z[rows, lane]))


class _Lanes:
    """The memory of some models under way."""

    def __init__(self, stream: DualStream, models: list[DualModel], n_lanes: int, sides: Sides,
                 q: np.ndarray, u: np.ndarray, fresh: float):
        """`u` is memory for the weights, all zeros, `fresh` the state of rows not yet visited."""
        self.stream, self.models, self.n_lanes = stream, models, n_lanes
        self.sides = sides
        self.pattern = self.sides.without([])
        self.numbers = np.zeros((_N_NUMBERS, _multi.MAX_LANES))
        # sums of weights, and about what the objective is
        self.total, self.value = np.ones(n_lanes), np.ones(n_lanes)
        self.u = u
        self.state = np.full((len(stream.X), n_lanes), fresh, np.float32)
        for lane, model in enumerate(models):
            self.numbers[_FIELD["bound"], lane] = model.C
            self.numbers[_FIELD["offset"], lane] = model.offset
            if model.fit_intercept:
                bend = _losses.bend(LOSS_CODES[model.loss]) * model.C * self.sides.total[lane]
                self.numbers[_FIELD["nu"], lane] = max(_NU * float(q.mean()), _STIFF / bend)
            self.total[lane] = float(self.sides.total[lane])
            if model.state is not None:
                self.state[:, lane] = model.state

    def rebuild(self, is_log: bool, centre: Centre, look: Callable[[], None]) -> None:
        """u, sum and centre_sum from the dual variables."""
        stream, sides = self.stream, self.sides
        s = sides.weight[sides.pattern]
        if len(stream.sample_weight):
            s = s * stream.sample_weight[:, None]
        a = self.state.astype(np.float64)
        if is_log:
            _losses.sigmoid(a.ravel().copy(), a.reshape(-1))
        by = a * s * sides.target[sides.pattern] * self.numbers[_FIELD["bound"], : self.n_lanes]
        self.numbers[_FIELD["sum"], : self.n_lanes] = by.sum(axis=0)
        self.numbers[_FIELD["centre_sum"], : self.n_lanes] = centre.k @ by
        n, piece = len(by), rows_per_call(stream.work, self.n_lanes)
        for start in range(0, n, piece):
            look()
            _multi.add_rows(
                ISA, self.n_lanes, stream.work, by, self.u, np.empty(0), start,
                min(start + piece, n),
            )  # fmt: skip

    def taken(self, kept: list[int], n_lanes: int) -> _Lanes:
        """Some of the lanes, in their order, moved together where they are; lanes beyond them hold
        what was there, which nothing reads."""
        new = _Lanes.__new__(_Lanes)
        new.stream, new.n_lanes = self.stream, n_lanes
        new.models = [self.models[lane] for lane in kept]
        L, d = self.n_lanes, self.stream.work.shape[1]
        new.u = self.u[: d * n_lanes]
        chosen = np.array(kept, dtype=np.int64)
        for first in range(0, d, _COLUMNS_PER_CALL):
            _multi.compact(self.u, L, chosen, new.u, n_lanes, first,
                           min(first + _COLUMNS_PER_CALL, d))
        new.state = np.zeros((len(self.state), n_lanes), np.float32)
        new.state[:, : len(kept)] = self.state[:, kept]
        new.numbers = np.zeros_like(self.numbers)
        new.numbers[:, : len(kept)] = self.numbers[:, kept]
        new.total, new.value = np.ones(n_lanes), np.ones(n_lanes)
        new.total[: len(kept)], new.value[: len(kept)] = self.total[kept], self.value[kept]
        new.sides = self.sides.chosen(kept, n_lanes)
        new.pattern = new.sides.without([])
        return new
