"""From the parameters of an SGD-type estimator to the rule that the kernel follows, and the
learner that holds weights between calls.

A learner is one linear function trained by steps. Its state is plain data (arrays and a dict of
numbers), so that it can be pickled, saved and continued bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._core import losses as _losses
from ._core import sgd as _kernel
from ._core.rows import Rows
from ._core.rows import scores as _scores

__all__ = ["LOSSES", "Learner", "Loss", "MARGIN_LOSSES", "TARGET_LOSSES", "make_rule"]


class Loss(NamedTuple):
    """A row of the loss table of fl_losses.h."""

    name: str
    code: int
    is_margin: bool
    parameter: str
    default: float


LOSSES = {row[0]: Loss(*row) for row in _losses.table()}
MARGIN_LOSSES = tuple(name for name, loss in LOSSES.items() if loss.is_margin)
TARGET_LOSSES = tuple(name for name, loss in LOSSES.items() if not loss.is_margin)

_SCHEDULES = {"constant": 0, "adaptive": 0, "optimal": 1, "invscaling": 2}
_STEP_RULES = {"gradient": 0, "pa": 1, "pa1": 2, "pa2": 3}

# The schedule `optimal` is scaled by alpha. Without a penalty alpha must have no effect, so this
# value stands in for it: scikit-learn's default.
_ALPHA_WITHOUT_PENALTY = 1e-4

# Weights that pass this size don't fit the second-level cache, and prefetching those of the next row
# pays; below it costs (measured: -36 % at 4 MB, +24 % at 188 KB).
_PREFETCH_BYTES = 384 * 1024

# Stored entries per call of a kernel: about 50 ms, so that Ctrl-C is seen.
_ENTRIES_PER_CALL = 8_000_000

_ALL = np.empty(0, dtype=np.int64)

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


def split_penalty(penalty: str | None, alpha: float, l1_ratio: float | None) -> tuple[float, float]:
    """(l1, l2) of a penalty given in scikit-learn's words."""
    if penalty is None:
        return 0.0, 0.0
    if penalty == "elasticnet" and l1_ratio is None:
        raise ValueError(
            "l1_ratio must be a number in the range [0, 1] when penalty is 'elasticnet', got None."
        )
    share = {"l2": 0.0, "l1": 1.0}.get(penalty, l1_ratio)
    return alpha * share, alpha * (1.0 - share)


def make_rule(
    loss: str,
    *,
    loss_parameter: float | None = None,
    penalty: str | None = None,
    alpha: float = 0.0,
    l1_ratio: float | None = None,
    learning_rate: str = "constant",
    eta0: float = 1.0,
    power_t: float = 0.5,
    fit_intercept: bool = True,
    average: bool | int = False,
    batch_size: int = 1,
) -> dict[str, Any]:
    """The fields of `fl_sgd_rule`, from parameters that have been checked one by one."""
    l1, l2 = split_penalty(penalty, alpha, l1_ratio)
    row = LOSSES[loss]
    if learning_rate == "optimal" and penalty is not None and alpha <= 0:
        raise ValueError(
            "alpha must be a number > 0 when learning_rate is 'optimal', which is scaled by it, "
            f"got {alpha!r}; set learning_rate to 'invscaling' or penalty to None."
        )
    scale = alpha if penalty is not None else _ALPHA_WITHOUT_PENALTY
    passive_aggressive = learning_rate in ("pa", "pa1", "pa2")
    return {
        "loss": row.code,
        "loss_parameter": row.default if loss_parameter is None else float(loss_parameter),
        "l1": l1,
        "l2": l2,
        "schedule": _SCHEDULES.get(learning_rate, 0),
        "eta0": float(eta0),
        "power_t": float(power_t),
        "alpha": float(scale),
        # Bottou's heuristic, as in scikit-learn: the first steps have the length of a typical weight.
        "t0": scale**-0.75 if learning_rate == "optimal" else 0.0,
        "step_rule": _STEP_RULES[learning_rate if passive_aggressive else "gradient"],
        "aggressiveness": float(eta0) if passive_aggressive else 1.0,
        "fit_intercept": int(fit_intercept),
        "average_from": int(average),
        "batch_size": int(batch_size),
        "prefetch_weights": 0,
    }


class Learner:
    """One linear function p = w.x + b under training.

    Parameters
    ----------
    d : int
        Columns.
    dtype : numpy.dtype
        float32 or float64: that of the weights and of every `Rows` to come.
    rule : dict
        What `make_rule` returned.
    memory : dict, optional
        The `memory` of an earlier learner, which goes on here; its arrays are taken over.
    """

    def __init__(self, d: int, dtype: np.dtype, rule: dict[str, Any], memory: dict | None = None):
        memory = memory or {}
        self.v = memory.get("v", np.zeros(d, dtype))
        self.paid = memory.get("paid", np.zeros(d if rule["l1"] > 0 else 0, dtype))
        self.u = memory.get("u", np.zeros(d if rule["average_from"] else 0))
        self.state = dict(memory.get("state", _FRESH_STATE))
        self.rule = dict(rule, prefetch_weights=int(self.v.nbytes > _PREFETCH_BYTES))

    @property
    def memory(self) -> dict[str, Any]:
        """All that a later `Learner` needs to go on bit for bit."""
        return {"v": self.v, "paid": self.paid, "u": self.u, "state": dict(self.state)}

    def start_from(self, coef: np.ndarray, intercept: float) -> None:
        """Begin at given weights."""
        self.v[:] = coef
        self.state["intercept"] = float(intercept)

    def visit(self, X: Rows, y: np.ndarray, weight: np.ndarray, order: np.ndarray) -> float:
        """Take one step per row (or batch) of `order`; returns the mean progressive loss."""
        rule, batch = self.rule, self.rule["batch_size"]
        self.state.update(sum_loss=0.0, sum_weight=0.0)
        n, piece = len(order), _rows_per_call(X, batch)
        gradients = np.empty(batch)
        for start in range(0, n, piece):
            part = order[start : start + piece]
            if rule["step_rule"]:
                self.state = _kernel.run_passive_aggressive(
                    X, y, weight, part, rule, self.state, self.v, self.u
                )
            else:
                self.state = _kernel.run(
                    X, y, weight, part, rule, self.state, self.v, self.u, self.paid, gradients
                )
        return self.state["sum_loss"] / max(self.state["sum_weight"], np.finfo(float).tiny)

    def weights(self, averaged: bool = True) -> tuple[np.ndarray, float]:
        """(w, b): the averaged ones if any have been averaged and are wanted."""
        w = np.empty_like(self.v)
        if averaged and self.state["n_averaged"]:
            _kernel.publish_mean(self.state, self.v, self.u, w)
            return w, self.state["sum_intercept"] / self.state["n_averaged"]
        _kernel.publish(self.state, self.v, self.paid, w)
        return w, self.state["intercept"]

    def is_finite(self) -> bool:
        """Whether no weight has overflowed."""
        # A sum is finite only if all its terms are
        total = float(self.v.sum(dtype=np.float64)) + self.state["intercept"]
        return bool(np.isfinite(total)) and bool(np.isfinite(self.state["sum_loss"]))

    def penalty(self) -> float:
        """l1 |w|_1 + l2/2 |w|^2 of the last weights."""
        rule = self.rule
        if not rule["l1"] and not rule["l2"]:
            return 0.0
        w = self.weights(averaged=False)[0]
        return float(
            rule["l1"] * np.abs(w).sum(dtype=np.float64)
            + 0.5 * rule["l2"] * np.einsum("i,i", w, w, dtype=np.float64)
        )


def mean_loss(rule: dict[str, Any], p: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean of the rule's loss."""
    total = _losses.total(rule["loss"], rule["loss_parameter"], p, y, weight)
    return total / (weight.sum() if len(weight) else len(y))


def _rows_per_call(X: Rows, batch: int = 1) -> int:
    """Rows whose entries take about 50 ms, a multiple of the batch."""
    n = X.shape[0]
    rows = max(1, int(_ENTRIES_PER_CALL / max(1.0, X.nnz / n)))
    return max(1, rows // batch) * batch


def score_rows(X: Rows, w: np.ndarray, b: float, rows: np.ndarray = _ALL) -> np.ndarray:
    """w.x + b in double, of each row or of the given ones."""
    n, piece = len(rows) or X.shape[0], _rows_per_call(X)
    out = np.empty(n)
    for start in range(0, n, piece):
        _scores(X, w, b, rows, out, start, min(start + piece, n))
    return out
