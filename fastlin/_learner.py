"""Learners: linear functions trained by steps on rows.

A learner's memory is plain data (arrays and a dict of numbers), so that an estimator can be pickled,
saved and continued bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import joint as _joint
from ._core import sgd as _sgd
from ._core.rows import Rows
from ._scores import rows_per_call, score_rows

__all__ = ["JointLearner", "Learner", "make_learner"]

# Weights that pass this size don't fit the second-level cache, and prefetching those of the next row
# pays; below it costs (measured: -36 % at 4 MB, +24 % at 188 KB).
_PREFETCH_BYTES = 384 * 1024

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
    """
    kind = Learner if n_outputs == 1 and not rule["optimizer"] else JointLearner
    if "start" in memory if memory else rule.get("voted"):
        from ._voted import VotedLearner as kind
    return kind(d, dtype, rule, n_outputs, memory)


class _Steps:
    """What both kinds share: state, visits in pieces, the penalty."""

    def __init__(self, rule: dict[str, Any], memory: dict[str, Any], n_weights: int, bytes_: int):
        self.state = dict(memory.get("state", _FRESH_STATE))
        self.rule = dict(rule, prefetch_weights=int(bytes_ > _PREFETCH_BYTES))

    def visit(self, X: Rows, y: np.ndarray, weight: np.ndarray, order: np.ndarray) -> float:
        """Take one step per row (or batch) of `order`; returns the mean progressive loss.

        y holds +-1, real targets or, for a joint loss, class numbers, always as float64.
        """
        self.state.update(sum_loss=0.0, sum_weight=0.0)
        n, piece = len(order), rows_per_call(X, self.n_outputs, self.rule["batch_size"])
        for start in range(0, n, piece):
            self.state = self._run(X, y, weight, order[start : start + piece])
        return self.state["sum_loss"] / max(self.state["sum_weight"], np.finfo(float).tiny)

    def responses(self, X: Rows, rows: np.ndarray) -> np.ndarray:
        """What the learner would say of the given rows, of shape (n, n_outputs)."""
        return score_rows(X, *self.weights(), rows)

    def penalty(self) -> float:
        """l1 |W|_1 + l2/2 |W|^2 of the last weights."""
        l1, l2 = self.rule["l1"], self.rule["l2"]
        if not l1 and not l2:
            return 0.0
        w = self.weights(averaged=False)[0].ravel()
        return float(
            l1 * np.abs(w).sum(dtype=np.float64)
            + 0.5 * l2 * np.einsum("i,i", w, w, dtype=np.float64)
        )


class Learner(_Steps):
    """One output: plain and passive-aggressive steps (`fl_sgd.h`)."""

    n_outputs = 1

    def __init__(self, d, dtype, rule, n_outputs=1, memory=None):
        memory = memory or {}
        self.v = memory.get("v", np.zeros(d, dtype))
        self.paid = memory.get("paid", np.zeros(d if rule["l1"] > 0 else 0, dtype))
        self.u = memory.get("u", np.zeros(d if rule["average_from"] else 0))
        super().__init__(rule, memory, len(self.v), self.v.nbytes)

    @property
    def memory(self) -> dict[str, Any]:
        """All that a later learner needs to go on bit for bit."""
        return {"v": self.v, "paid": self.paid, "u": self.u, "state": dict(self.state)}

    def start_from(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Begin at given weights of shape (1, d) and intercepts of shape (1,)."""
        self.v[:] = coef[0]
        self.state["intercept"] = float(intercept[0])

    def _run(self, X, y, weight, order):
        if self.rule["step_rule"]:
            return _sgd.run_passive_aggressive(
                X, y, weight, order, self.rule, self.state, self.v, self.u
            )
        gradients = np.empty(self.rule["batch_size"])
        return _sgd.run(
            X, y, weight, order, self.rule, self.state, self.v, self.u, self.paid, gradients
        )

    def weights(self, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(W, b) of shapes (1, d) and (1,): the averages, if there are any and they are wanted."""
        w, state = np.empty_like(self.v), self.state
        if averaged and state["n_averaged"]:
            _sgd.publish_mean(state, self.v, self.u, w)
            return w[None], np.array([state["sum_intercept"] / state["n_averaged"]])
        _sgd.publish(state, self.v, self.paid, w)
        return w[None], np.array([state["intercept"]])

    def is_finite(self) -> bool:
        """Whether no weight has overflowed: a sum is finite only if all its terms are."""
        total = float(self.v.sum(dtype=np.float64)) + self.state["intercept"]
        return bool(np.isfinite(total)) and bool(np.isfinite(self.state["sum_loss"]))


class JointLearner(_Steps):
    """K outputs at once, or adaptive steps of one (`fl_joint.h`)."""

    def __init__(self, d, dtype, rule, n_outputs=1, memory=None):
        memory = memory or {}
        size = d * n_outputs
        penalised, optimizer = rule["l1"] > 0 or rule["l2"] > 0, rule["optimizer"]
        n_moments = 0 if not optimizer else 1 if optimizer in _ONE_MOMENT else 2
        lazy = optimizer and penalised
        self.V = memory.get("V", np.zeros(size, dtype))
        # rows: the intercepts, their sum for averaging, their two moments
        self.b = memory.get("b", np.zeros((4, n_outputs)))
        self.u = memory.get("u", np.zeros(size if rule["average_from"] else 0))
        owes = rule["l1"] > 0 and not optimizer
        self.paid = memory.get("paid", np.zeros(size if owes else 0, dtype))
        self.moments = memory.get("moments", np.zeros((n_moments, size), dtype))
        self.last = memory.get("last", np.zeros(size if lazy else 0))
        self.n_outputs = self.b.shape[1]
        super().__init__(rule, memory, len(self.V), self.V.nbytes)
        batched = optimizer and rule["batch_size"] > 1
        self._collected = np.zeros(len(self.V) if batched else 0)

    @property
    def memory(self) -> dict[str, Any]:
        """All that a later learner needs to go on bit for bit."""
        names = ("V", "b", "u", "paid", "moments", "last")
        return {**{name: getattr(self, name) for name in names}, "state": dict(self.state)}

    @property
    def _optimizer(self) -> tuple:
        """Code and constants of the optimizer, as the kernels take them."""
        return tuple(self.rule[name] for name in ("optimizer", "decay", "decay1", "epsilon"))

    def start_from(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Begin at given weights of shape (K, d) and intercepts of shape (K,)."""
        self.V[:] = coef.T.ravel()
        self.b[0] = intercept

    def _run(self, X, y, weight, order):
        if self.rule["step_rule"]:
            return _joint.run_passive_aggressive(
                X, y, weight, order, self.rule, self.state, self.b, self.V, self.u
            )
        return _joint.run(
            X, y, weight, order, self.rule, *self._optimizer, self.state, self.b, self.V, self.u,
            self.paid, self.moments, self.last, self._collected,
        )

    def weights(self, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(W, b) of shapes (K, d) and (K,): the averages, if there are any and they are wanted."""
        w, state = np.empty_like(self.V), self.state
        b = self.b[0].copy()
        if averaged and state["n_averaged"]:
            _sgd.publish_mean(state, self.V, self.u, w)
            b = self.b[1] / state["n_averaged"]
        elif self.rule["optimizer"]:
            _joint.publish_adaptive(
                self.rule, *self._optimizer, state["t"], self.V, self.moments, self.last, w
            )
        else:
            _sgd.publish(state, self.V, self.paid, w)
        return np.ascontiguousarray(w.reshape(-1, self.n_outputs).T), b

    def is_finite(self) -> bool:
        """Whether no weight has overflowed: a sum is finite only if all its terms are."""
        total = float(self.V.sum(dtype=np.float64)) + float(self.b[0].sum())
        return bool(np.isfinite(total)) and bool(np.isfinite(self.state["sum_loss"]))


_ONE_MOMENT = (1, 3)  # AdaGrad and RMSProp
