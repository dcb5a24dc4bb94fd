"""Learners: linear functions trained by steps on rows.

A learner's memory is plain data (arrays and a dict of numbers), so that an estimator can be
pickled, saved and continued bit for bit.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ._aligned import aligned_zeros
from ._core import joint as _joint
from ._core import rows as _rows
from ._core import sgd as _sgd
from ._core.rows import Rows
from ._isa import ISA
from ._kept import kept_array, kept_weights
from ._parallel import Cancelled, is_cancelled
from ._scores import check_dtype, longest_square, rows_per_call, score_rows
from ._sgd import LOSSES, is_lazy, kept_side_by_side, n_moments

__all__ = ["JointLearner", "Learner", "make_learner", "weights_in"]

# Losses whose steps are shortened where they would pass the minimum of the row
_WITH_REACH = {loss.code for loss in LOSSES.values() if loss.has_reach}
# Steps that a 32-bit integer can count
_MOST_STEPS = 2**31
_TINY = float(np.finfo(float).tiny)
_NOTHING = np.empty(0, dtype=np.int64)
_NOTHING_OWED = np.empty(0)
_FRESH_STATE = {
    "scale": 1.0,
    "intercept": 0.0,
    "t": 0.0,
    "sum_scale": 0.0,
    "sum_intercept": 0.0,
    "n_averaged": 0.0,
    "l1_total": 0.0,
    "sum_loss": 0.0,
    "sum_weight": 0.0,
}


def make_learner(
    d: int, dtype: Any, rule: dict[str, Any], n_outputs: int = 1, memory: dict | None = None
) -> Any:
    """The learner that a rule needs, fresh or going on from the memory of another.

    Parameters
    ----------
    d : int
        Columns.
    dtype : numpy.dtype
        float32 or float64: that of the weights and of every `Rows` to come.
    rule : dict
        What `make_rule` returned.
    n_outputs : int
        More than one for a joint loss.
    memory : dict, optional
        `memory` of an earlier learner; its arrays are taken over.

    Raises
    ------
    ValueError
        If the rule has another optimizer than the memory, whose moments would mean nothing to it.
    """
    if memory is not None and memory["rule"]["optimizer"] != rule["optimizer"]:
        raise ValueError(
            "optimizer can't change while training goes on from what was learnt; use fit."
        )
    single = n_outputs == 1 and not rule["optimizer"]
    kind = Learner if single and "V" not in (memory or ()) else JointLearner
    if "start" in memory if memory else rule.get("voted"):
        from ._voted import VotedLearner as kind
    return kind(d, dtype, rule, n_outputs, memory)


def weights_in(memory: dict[str, Any], averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """(W, b) of the learner that left this memory."""
    return make_learner(0, None, memory["rule"], memory=memory).weights(averaged)


class _Steps:
    """What both kinds share: state, visits in pieces, the penalty."""

    # Set from another thread, it ends a visit at the next piece.
    cancelled = False

    def __init__(self, rule: dict[str, Any], memory: dict[str, Any], scaled: np.ndarray):
        self.n_weights, self.dtype = len(scaled), scaled.dtype
        self.state = dict(memory.get("state", _FRESH_STATE))
        self.rule = dict(rule)
        if rule["step_rule"] and self.state["scale"] != 1:
            self._fold(scaled)

    def _fold(self, scaled: np.ndarray) -> None:
        """Bring the scale to 1, which passive-aggressive steps take for granted."""
        if len(self.u):
            self.u -= self.state["sum_scale"] * scaled
        scaled *= self.state["scale"]
        self.state.update(scale=1.0, sum_scale=0.0)

    def visit(
        self,
        X: Rows,
        y: np.ndarray,
        weight: np.ndarray,
        order: np.ndarray,
        fetch: np.ndarray = _NOTHING,
    ) -> float:
        """Take one step per row (or batch) of `order`; returns the mean progressive loss.

        y holds +-1, real targets or, for a joint loss, class numbers, always as float64. fetch[k]
        is the row that memory is asked for at step k; none where `order` is that of memory.
        """
        self.begin_mean()
        self.go_on(X, y, weight, order, fetch)
        return self.mean_loss()

    def begin_mean(self) -> None:
        """Let `mean_loss` be that of the steps from here on."""
        self.state.update(sum_loss=0.0, sum_weight=0.0)

    def mean_loss(self) -> float:
        """The mean progressive loss of the steps since `begin_mean`."""
        return self.state["sum_loss"] / max(self.state["sum_weight"], _TINY)

    def go_on(
        self,
        X: Rows,
        y: np.ndarray,
        weight: np.ndarray,
        order: np.ndarray,
        fetch: np.ndarray = _NOTHING,
    ) -> None:
        """The steps of `visit`, whose losses join those before."""
        self._check_fit(X, y)
        n = len(order)
        batch = max(1, min(self.rule["batch_size"], n))
        piece, rule = rows_per_call(X, self.n_outputs, batch), self._rule_for(X, batch)
        for start in range(0, n, piece):
            self._look()
            stop = start + piece
            self.state = self._run(rule, X, y, weight, order[start:stop], fetch[start:stop])

    def _check_fit(self, X: Rows, y: np.ndarray) -> None:
        """Refuse rows that are not for these weights."""
        if X.shape[1] * self.n_outputs != self.n_weights or len(y) != len(X):
            raise ValueError(
                f"X has {X.shape[1]} columns and {len(X)} rows, but there are "
                f"{self.n_weights // self.n_outputs} weights and {len(y)} targets."
            )
        check_dtype(X, self.dtype)

    def _rule_for(self, X: Rows, batch: int) -> dict[str, Any]:
        """The rule, with what the kernel must know of the rows."""
        longest = longest_square(X) if self.rule["loss"] in _WITH_REACH else 0.0
        return dict(self.rule, batch_size=batch, longest_square=longest)

    def _look(self) -> None:
        """See whether somebody has cancelled."""
        if self.cancelled or is_cancelled():
            raise Cancelled

    def runs_epochs(self, X: Rows) -> bool:
        """Whether there is a `run_epochs` for these rows."""
        return False

    def put_off(self, X: Rows, part: int = 0) -> None:
        """The visits that follow are to rows of X, a part of the data with a number: what can be
        summed up by row may be left until `settle` gets the same part again."""

    @property
    def has_debts(self) -> bool:
        """Whether anything waits for `settle`."""
        return False

    def settle(self, X: Rows, part: int = 0) -> None:
        """Catch up on what visits to a part have put off. Only then averages are right."""

    def _has_mean(self) -> bool:
        """Whether averaging is on and some step has counted."""
        return bool(self.rule["average_from"] and self.state["n_averaged"])

    def take_columns(self, columns: np.ndarray) -> None:
        """Let column j be what was column `columns[j]`."""
        K = self.n_outputs
        for name in self._per_column:
            kept = getattr(self, name)
            if kept.shape[-1]:
                by_column = kept.reshape(*kept.shape[:-1], self.n_weights // K, K)
                moved = by_column.take(columns, axis=-2)
                setattr(self, name, moved.reshape(*kept.shape[:-1], len(columns) * K))
        self.n_weights = len(columns) * K

    def responses(self, X: Rows, rows: np.ndarray) -> np.ndarray:
        """What the learner would say of the given rows, of shape (n, n_outputs)."""
        return score_rows(X, *self.weights(), rows)

    def penalty(self) -> float:
        """l1 |W|_1 + l2/2 |W|^2 of the last weights."""
        l1, l2 = self.rule["l1"], self.rule["l2"]
        if not l1 and not l2:
            return 0.0
        size, squares = self._norms()
        return float((l1 * size if l1 else 0.0) + (0.5 * l2 * squares if l2 else 0.0))

    def _norms(self) -> tuple[float, float]:
        """|W|_1 and |W|^2 of the last weights; 0 for what is not in the penalty."""
        l1, l2 = self.rule["l1"], self.rule["l2"]
        if not l1 and not self.rule["optimizer"]:
            # what the weights are over the scale will do: no copy of a million of them per epoch
            return 0.0, self.state["scale"] ** 2 * _sgd.squares(self.scaled)
        w = self.weights(averaged=False)[0].ravel()
        return np.abs(w).sum(dtype=np.float64) if l1 else 0.0, _sgd.squares(w) if l2 else 0.0

    def is_finite(self) -> bool:
        """Whether no weight has overflowed, nor what steps hang on."""
        numbers = np.isfinite(self.intercepts).all() and np.isfinite(self.state["sum_loss"])
        return bool(numbers) and self._has_finite_weights()

    def _has_finite_weights(self) -> bool:
        w = self.scaled
        return bool(_rows.first_non_finite(w, 0, len(w)) < 0)


class Learner(_Steps):
    """One output: plain and passive-aggressive steps (`fl_sgd.h`)."""

    n_outputs = 1
    _per_column = ("v", "paid", "u")

    def __init__(self, d, dtype, rule, n_outputs=1, memory=None):
        memory = memory or {}
        self.v = kept_weights(memory, "v", d, dtype)
        shape = self.v.shape
        self.paid = kept_array(memory, "paid", shape, rule["l1"] > 0, self.v.dtype)
        self.u = kept_array(memory, "u", shape, rule["average_from"] > 0, self.v.dtype)
        self._owed = _NOTHING_OWED
        self._debts: dict[int, np.ndarray] = {}
        super().__init__(rule, memory, self.v)

    def put_off(self, X: Rows, part: int = 0) -> None:
        """Let u wait. A step adds a multiple of its row to u, and however many epochs there are,
        the sum of the multiples is one number per row: u costs one pass over the rows in all."""
        if self.rule["average_from"] and not self.rule["l1"]:
            if part not in self._debts:
                self._debts[part] = np.zeros(len(X))
            self._owed = self._debts[part]

    @property
    def has_debts(self) -> bool:
        """Whether anything waits for `settle`."""
        return bool(self._debts)

    def settle(self, X: Rows, part: int = 0) -> None:
        """Give u what the rows of a part owe it."""
        owed = self._debts.pop(part, _NOTHING_OWED)
        self._owed = _NOTHING_OWED
        piece = rows_per_call(X)
        for start in range(0, len(owed), piece):
            self._look()
            _sgd.settle(X, owed, self.u, start, min(start + piece, len(owed)))

    @property
    def memory(self) -> dict[str, Any]:
        """All that a later learner needs to go on bit for bit."""
        arrays = {"v": self.v, "paid": self.paid, "u": self.u}
        return {**arrays, "state": dict(self.state), "rule": dict(self.rule)}

    def start_from(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Begin at given weights of shape (1, d) and intercepts of shape (1,)."""
        self.v[:] = coef[0]
        self.state["intercept"] = float(intercept[0])

    def _run(self, rule, X, y, weight, order, fetch):
        gradients = np.empty(rule["batch_size"])
        return _sgd.run(
            X, y, weight, order, fetch, rule, self.state, self.v, self.u, self._owed, self.paid,
            gradients,
        )

    def runs_epochs(self, X: Rows) -> bool:
        """Whether `run_epochs` is for these rows: few enough for a call, and a penalty that needs
        no weights but v."""
        return not self.rule["l1"] and len(X) <= rows_per_call(X)

    def run_epochs(
        self, X: Rows, y: np.ndarray, weight: np.ndarray, order: Any, progress: Any
    ) -> None:
        """`visit` in the next orders, each entered in `progress`, until training ends or the rule
        changes."""
        self._check_fit(X, y)
        rows, l2, eta0 = order.next(), self.rule["l2"], self.rule["eta0"]
        rule = self._rule_for(X, max(1, min(self.rule["batch_size"], len(rows))))

        def between(
            sum_loss: float, sum_weight: float, intercept: float, scale: float, squares: float
        ) -> bool:
            """Judge an epoch; whether another follows, in whose order the rows are then."""
            self._look()
            if not isfinite(sum_loss + intercept + squares):
                self.state.update(sum_loss=sum_loss, intercept=intercept)
                progress.check_finite(self)
            penalty = 0.5 * l2 * (scale**2 * squares) if l2 else 0.0
            progress.enter(self, sum_loss / max(sum_weight, _TINY), penalty)
            if not progress.goes_on or self.rule["eta0"] != eta0:
                return False
            order.next()
            return True

        self.state = _sgd.run_epochs(
            X, y, weight, rows, order.fetch, rule, self.state, self.v, self.u, self._owed,
            self.paid, np.empty(rule["batch_size"]), between,
        )

    def weights(self, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(W, b) of shapes (1, d) and (1,): the averages, if there are any and they are wanted."""
        w, state = np.empty_like(self.v), self.state
        if averaged and self._has_mean():
            _sgd.publish_mean(state, self.v, self.u, w)
            return w[None], np.array([state["sum_intercept"] / state["n_averaged"]])
        _sgd.publish(state, self.v, self.paid, w)
        return w[None], np.array([state["intercept"]])

    @property
    def scaled(self) -> np.ndarray:
        """All weights, over the scale."""
        return self.v

    @property
    def intercepts(self) -> np.ndarray:
        """The intercept after the last step."""
        return np.array([self.state["intercept"]])


class JointLearner(_Steps):
    """K outputs at once, or adaptive steps of one (`fl_joint.h`)."""

    _per_column = ("V", "u", "paid", "moments", "last")

    def __init__(self, d, dtype, rule, n_outputs=1, memory=None):
        memory = memory or {}
        self.V = kept_weights(memory, "V", d * n_outputs, dtype)
        shape, dtype = self.V.shape, self.V.dtype
        if memory:
            n_outputs = np.shape(memory["b"])[-1] if np.ndim(memory["b"]) == 2 else 0
        if n_outputs < 1 or len(self.V) % n_outputs:
            raise ValueError("The state of training is damaged: 'b' does not fit the weights.")
        # rows: the intercepts, their sum for averaging, their two moments
        self.b = kept_array(memory, "b", (4, n_outputs), True)
        optimizer, lazy = rule["optimizer"], is_lazy(rule)
        self.u = kept_array(memory, "u", shape, rule["average_from"] > 0, dtype)
        self.paid = kept_array(memory, "paid", shape, rule["l1"] > 0 and not optimizer, dtype)
        self.moments = kept_array(memory, "moments", (n_moments(rule), *shape), True, dtype)
        self.last = kept_array(memory, "last", shape, lazy)
        self.n_outputs = n_outputs
        super().__init__(rule, memory, self.V)
        if memory and lazy and len(memory["last"]) == 0:
            self.last[:] = self.state["t"]  # a penalty that begins now is not owed for the past
        batched = optimizer and rule["batch_size"] > 1
        self._collected = np.zeros(len(self.V) if batched else 0)
        self._packed: np.ndarray | None = None
        self._sums = np.empty(_joint.PACKED_SUMS, self.dtype)

    def put_off(self, X: Rows, part: int = 0) -> None:
        """Lay each weight beside all that is kept with it where that saves misses of the cache: in
        adaptive steps of one output on sparse rows. V is a view until `settle`."""
        one = self.n_outputs == 1 and self.rule["optimizer"] and self.rule["batch_size"] == 1
        counted = self.state["t"] + len(X) < _MOST_STEPS
        if not (one and counted) or X.layout == "dense":
            self.settle(X)
            return
        if self._packed is not None:
            return
        n_kept = kept_side_by_side(self.rule)
        packed = aligned_zeros(len(self.V) * n_kept, self.dtype).reshape(-1, n_kept)
        packed[:, 0] = self.V
        packed[:, 1 : 1 + len(self.moments)] = self.moments.T
        if len(self.last):
            self._visits(packed)[:] = self.last
        self._packed, self.V = packed, packed[:, 0]
        self._sums.fill(np.nan)  # nobody has looked yet

    def _visits(self, packed: np.ndarray) -> np.ndarray:
        """The last visits in a packed array, as `fl_packed.h` has them: beside float32 integers."""
        return packed.view(np.int32 if packed.itemsize == 4 else packed.dtype)[:, 3]

    @property
    def has_debts(self) -> bool:
        """Whether anything waits for `settle`."""
        return self._packed is not None

    def settle(self, X: Rows, part: int = 0) -> None:
        """Lay out apart what `memory` keeps apart."""
        packed = self._packed
        if packed is None:
            return
        self.V = np.ascontiguousarray(packed[:, 0])
        self.moments = np.ascontiguousarray(packed[:, 1 : 1 + len(self.moments)].T)
        if len(self.last):
            self.last = self._visits(packed).astype(np.float64)
        self._packed = None

    @property
    def memory(self) -> dict[str, Any]:
        """All that a later learner needs to go on bit for bit."""
        names = ("V", "b", "u", "paid", "moments", "last")
        arrays = {name: getattr(self, name) for name in names}
        return {**arrays, "state": dict(self.state), "rule": dict(self.rule)}

    @property
    def _optimizer(self) -> tuple:
        """Code and constants of the optimizer, as the kernels take them."""
        return tuple(self.rule[name] for name in ("optimizer", "decay", "decay1", "epsilon"))

    def start_from(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Begin at given weights of shape (K, d) and intercepts of shape (K,)."""
        self.V[:] = coef.T.ravel()
        self.b[0] = intercept

    def _run(self, rule, X, y, weight, order, fetch):
        if rule["step_rule"]:
            return _joint.run_passive_aggressive(
                X, y, weight, order, fetch, rule, self.state, self.b, self.V, self.u
            )
        if self._packed is not None:
            return _joint.run_packed(
                ISA, X, y, weight, order, fetch, rule, *self._optimizer, self.state, self.b,
                self._packed, self.u, self._sums,
            )
        return _joint.run(
            X, y, weight, order, fetch, rule, *self._optimizer, self.state, self.b, self.V, self.u,
            self.paid, self.moments, self.last, self._collected,
        )

    def _norms(self) -> tuple[float, float]:
        if self._packed is None:
            return super()._norms()
        return _joint.packed_norms(ISA, self.rule, *self._optimizer, self.state["t"], self._packed)

    def _has_finite_weights(self) -> bool:
        if self._packed is not None and np.isfinite(self._sums).all():
            return True
        finite = super()._has_finite_weights() and self._has_finite_moments()
        if finite:
            self._sums.fill(0)
        return finite

    def _has_finite_moments(self) -> bool:
        """Whether no square of a gradient has overflowed: the weights of its column would stay as
        they are for ever. Steps on packed arrays don't look, so that it shows at their end."""
        if self._packed is not None:
            return bool(np.isfinite(self._packed[:, 1 : 1 + len(self.moments)]).all())
        flat = self.moments.ravel()
        return bool(_rows.first_non_finite(flat, 0, len(flat)) < 0)

    def weights(self, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(W, b) of shapes (K, d) and (K,): the averages, if there are any and they are wanted."""
        w, b, state = np.empty(self.V.shape, self.dtype), self.b[0].copy(), self.state
        if averaged and self._has_mean():
            _sgd.publish_mean(state, self.scaled, self.u, w)
            b = self.b[1] / state["n_averaged"]
        elif self._packed is not None and len(self.last):
            _joint.publish_packed(ISA, self.rule, *self._optimizer, state["t"], self._packed, w)
        elif self.rule["optimizer"]:
            _joint.publish_adaptive(
                self.rule, *self._optimizer, state["t"], self.scaled, self.moments, self.last, w
            )
        else:
            _sgd.publish(state, self.V, self.paid, w)
        return np.ascontiguousarray(w.reshape(-1, self.n_outputs).T), b

    @property
    def scaled(self) -> np.ndarray:
        """All weights, over the scale."""
        return np.ascontiguousarray(self.V)

    @property
    def intercepts(self) -> np.ndarray:
        """The intercepts after the last step."""
        return self.b[0]
