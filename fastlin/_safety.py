"""Whether a model trained by steps is any good: it must beat the best constant.

Steps that are too long for unscaled data end in a model that is worse than none. That is found out
here, so that no such model is returned without a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import losses as _losses
from ._core.rows import Rows
from ._scores import mean_loss, score_rows
from ._sgd import LOSSES, SCHEDULES

__all__ = [
    "CLEARLY_BETTER",
    "EVERY",
    "FEWEST",
    "best_constant_loss",
    "confirmed_if_worse",
    "if_worse",
    "loss_if_worse_than_constant",
    "may_be_worse",
]

_NAMES = {loss.code: name for name, loss in LOSSES.items()}
# Steps that shrink as 1/t, without averaging, end near where they were for long; where the mean
# loss of the last epoch then lies below this share of the constant's, little doubt is left.
CLEARLY_BETTER = 0.9
# The mean loss of an epoch is taken before each step, so it is not that of the final weights, and
# in the first epoch not even near it. Unless it is hopeless, a sample of the rows may show that the
# final weights are clearly better than the constant, and only if not so all rows are measured.
# What a sample can't see, a few rows of a huge loss, makes the last epoch hopeless.
_HOPELESS = 2.0
EVERY, FEWEST, _ENOUGH = 8, 1000, 1 << 14
# On targets that nothing predicts the constant is best; a model that comes so near it is no worse.
_EQUAL = 1e-3
# Halvings of the range of b: to a billionth of it.
_BISECTIONS = 30


def best_constant_loss(
    rule: dict[str, Any], y: np.ndarray, weight: np.ndarray, n_outputs: int = 1
) -> float:
    """Mean loss of the best model p = b, or of p = 0 where no intercept is fitted.

    b is the mean for the squared error, a quantile for the quantile loss, and otherwise the point
    where the mean slope changes its sign, found by bisection. Of a joint loss the probabilities at
    b are the shares of the classes, and the hinge either names the most frequent class or none.
    """
    name = _NAMES[rule["loss"]]
    if n_outputs > 1:
        b = _best_joint_constant(rule, y, weight, n_outputs)
        return mean_loss(rule, np.tile(b, (len(y), 1)), y, weight)
    if LOSSES[name].is_margin:
        # Two points stand for all rows
        positive = y > 0
        if len(weight):
            mass = [weight[~positive].sum(), weight[positive].sum()]
        else:
            mass = [len(y) - np.count_nonzero(positive), np.count_nonzero(positive)]
        y, weight = np.array([-1.0, 1.0]), np.array(mass, dtype=np.float64)
    if not rule["fit_intercept"]:
        constant = 0.0
    elif LOSSES[name].is_margin:
        # no sensible response lies outside
        constant = _best_constant(rule, y, weight, -40.0, 40.0)
    elif name == "squared_error":
        constant = np.average(y, weights=weight if len(weight) else None)
    elif name == "quantile":
        constant = _weighted_quantile(y, weight, rule["loss_parameter"])
    else:
        constant = _best_constant(rule, y, weight, y.min(), y.max())
    return mean_loss(rule, np.full((len(y), 1), float(constant)), y, weight)


def _best_joint_constant(
    rule: dict[str, Any], y: np.ndarray, weight: np.ndarray, n_outputs: int
) -> np.ndarray:
    """One b per class."""
    if not rule["fit_intercept"]:
        return np.zeros(n_outputs)
    shares = np.bincount(y.astype(np.intp), weight if len(weight) else None, n_outputs)
    shares = shares / shares.sum()
    name = _NAMES[rule["loss"]]
    if name == "log_loss":
        return np.log(np.maximum(shares, np.finfo(float).tiny))
    if name == "sparsemax":
        return shares
    return np.where(shares == shares.max(), float(shares.max() > 0.5), 0.0)


def _best_constant(
    rule: dict[str, Any], y: np.ndarray, weight: np.ndarray, low: float, high: float
) -> float:
    """The zero of the mean slope, which increases where the loss is convex or a sigmoid."""
    value, slope, point = np.empty(len(y)), np.empty(len(y)), np.empty(len(y))
    for _ in range(_BISECTIONS):
        middle = 0.5 * low + 0.5 * high
        point.fill(middle)
        _losses.evaluate(rule["loss"], rule["loss_parameter"], point, y, value, slope)
        mean = weight @ slope if len(weight) else slope.sum()
        low, high = (middle, high) if mean < 0 else (low, middle)
    return 0.5 * low + 0.5 * high


def _weighted_quantile(y: np.ndarray, weight: np.ndarray, share: float) -> float:
    """The smallest y whose rows up to it hold `share` of the weight."""
    if not len(weight):
        return float(np.quantile(y, share, method="inverted_cdf"))
    order = np.argsort(y)
    reached = np.cumsum(weight[order])
    return float(y[order[np.searchsorted(reached, share * reached[-1])]])


def loss_if_worse_than_constant(
    learner: Any,
    X: Rows,
    y: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray,
    last_epoch_loss: float,
    in_order: bool,
) -> tuple[float, float] | None:
    """(loss, that of the best constant) if the learner's final weights don't beat it.

    The perceptron criterion is 0 for w = 0, so it has none.
    """
    rule = learner.rule
    if _NAMES[rule["loss"]] == "perceptron":
        return None
    constant = best_constant_loss(
        rule, y[rows], weight[rows] if len(weight) else weight, learner.n_outputs
    )
    return confirmed_if_worse(
        learner, X, y, weight, rows, constant, np.inf if in_order else last_epoch_loss
    )


def may_be_worse(
    rule: dict[str, Any], last_epoch_loss: float, constant: float, in_order: bool
) -> bool:
    """Whether the loss of the last epoch leaves it open that the best constant, whose loss is
    `constant`, is better; it does if rows came in the caller's order, since the first ones then say
    nothing about the last."""
    if _NAMES[rule["loss"]] == "perceptron":
        return False
    steady = rule["schedule"] == SCHEDULES["optimal"] and not rule["optimizer"]
    if in_order or not steady or rule["average_from"] > 0:
        return True
    return last_epoch_loss > CLEARLY_BETTER * constant


def confirmed_if_worse(
    learner: Any,
    X: Rows,
    y: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray,
    constant: float,
    last_epoch_loss: float,
) -> tuple[float, float] | None:
    """`measured_if_worse`, where a sample of the rows may say that the weights are clearly better,
    unless the loss of the last epoch forbids it."""
    sample = _one_of_each(rows, max(EVERY, len(rows) // _ENOUGH))
    if len(sample) >= FEWEST and last_epoch_loss <= _HOPELESS * constant:
        bound = CLEARLY_BETTER * constant
        if measured_if_worse(learner, X, y, weight, sample, bound) is None:
            return None
    return measured_if_worse(learner, X, y, weight, rows, constant)


def _one_of_each(rows: np.ndarray, stretch: int) -> np.ndarray:
    """A row of each stretch of so many, at a place of its own: every eighth row of classes that
    take turns would be of one class."""
    start = np.arange(0, len(rows) - stretch + 1, stretch)
    return rows[start + np.random.default_rng(0).integers(stretch, size=len(start))]


def measured_if_worse(
    learner: Any, X: Rows, y: np.ndarray, weight: np.ndarray, rows: np.ndarray, constant: float
) -> tuple[float, float] | None:
    """(loss of the final weights on the rows, `constant`) if it is the larger one."""
    y, weight = y[rows], weight[rows] if len(weight) else weight
    loss = mean_loss(learner.rule, score_rows(X, *learner.weights(), rows), y, weight)
    return if_worse(loss, constant)


def if_worse(loss: float, constant: float) -> tuple[float, float] | None:
    """(loss, constant) if the loss is the larger one, roundings and ties apart."""
    return (loss, constant) if loss > constant * (1 + _EQUAL) + 1e-12 else None
