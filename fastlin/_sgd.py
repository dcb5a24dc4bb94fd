"""From the parameters of an SGD-type estimator to the rule that the kernels follow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._core import losses as _losses

__all__ = [
    "JOINT_LOSSES", "LOSSES", "MARGIN_LOSSES", "OPTIMIZERS", "SCHEDULES", "TARGET_LOSSES",
    "is_lazy", "is_smooth", "kept_side_by_side", "loss_values", "make_rule", "n_moments",
]  # fmt: skip


class Loss(NamedTuple):
    """A row of the loss table of fl_losses.h."""

    name: str
    code: int
    is_margin: bool
    is_joint: bool
    has_reach: bool
    parameter: str
    default: float


LOSSES = {row[0]: Loss(*row) for row in _losses.table()}
JOINT_LOSSES = tuple(name for name, loss in LOSSES.items() if loss.is_joint)
MARGIN_LOSSES = tuple(name for name, loss in LOSSES.items() if loss.is_margin)
TARGET_LOSSES = tuple(name for name, loss in LOSSES.items() if not loss.is_margin)


def is_smooth(loss: str) -> bool:
    """Whether the slope of a loss has no jumps."""
    return bool(_losses.bend(LOSSES[loss].code) > 0)


def loss_values(loss: str, responses: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The loss, with its default parameter, at each response and target."""
    value, row = np.empty(len(responses)), LOSSES[loss]
    _losses.evaluate(row.code, row.default, responses, y, value, np.empty_like(value))
    return value


SCHEDULES = {"constant": 0, "adaptive": 0, "optimal": 1, "invscaling": 2}
_STEP_RULES = {"gradient": 0, "pa": 1, "pa1": 2, "pa2": 3}

# The schedule `optimal` is scaled by alpha. Without a penalty alpha must have no effect, so this
# value stands in for it: scikit-learn's default.
_ALPHA_WITHOUT_PENALTY = 1e-4

# More than any run takes; what is larger would not fit the kernel's integers.
_MAX_STEPS = 2**62

_OPTIMIZERS = {"sgd": 0, "adagrad": 1, "adadelta": 2, "rmsprop": 3, "adam": 4}
OPTIMIZERS = tuple(_OPTIMIZERS)
_ONE_MOMENT = (_OPTIMIZERS["adagrad"], _OPTIMIZERS["rmsprop"])
# Decay of the squares, decay of the mean, epsilon: the values of the papers, and for RMSProp, which
# has none, those of Hinton's lecture.
_MOMENT_CONSTANTS = {
    "sgd": (0.0, 0.0, 0.0),
    "adagrad": (0.0, 0.0, 1e-10),
    "adadelta": (0.95, 0.0, 1e-6),
    "rmsprop": (0.9, 0.0, 1e-8),
    "adam": (0.999, 0.9, 1e-8),
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
    optimizer: str = "sgd",
) -> dict[str, Any]:
    """The fields of `fl_sgd_rule` and the constants of the optimizer, from parameters that have
    been checked one by one."""
    l1, l2 = split_penalty(penalty, alpha, l1_ratio)
    row = LOSSES[loss]
    if learning_rate == "optimal" and penalty is not None and alpha <= 0:
        raise ValueError(
            "alpha must be a number > 0 when learning_rate is 'optimal', which is scaled by it, "
            f"got {alpha!r}; set learning_rate to 'invscaling' or penalty to None."
        )
    scale = alpha if penalty is not None else _ALPHA_WITHOUT_PENALTY
    passive_aggressive = learning_rate in ("pa", "pa1", "pa2")
    decay, decay1, epsilon = _MOMENT_CONSTANTS[optimizer]
    return {
        "loss": row.code,
        "loss_parameter": row.default if loss_parameter is None else float(loss_parameter),
        "l1": l1,
        "l2": l2,
        "schedule": SCHEDULES.get(learning_rate, 0),
        "eta0": float(eta0),
        "power_t": float(power_t),
        "alpha": float(scale),
        # Bottou's heuristic, as in scikit-learn: the first steps have the length of a typical
        # weight.
        "t0": scale**-0.75 if learning_rate == "optimal" else 0.0,
        "step_rule": _STEP_RULES[learning_rate if passive_aggressive else "gradient"],
        "aggressiveness": float(eta0) if passive_aggressive else 1.0,
        "fit_intercept": int(fit_intercept),
        "average_from": min(int(average), _MAX_STEPS),
        "batch_size": min(int(batch_size), _MAX_STEPS),
        "longest_square": 0.0,  # that of the rows, where the loss asks for it
        "optimizer": _OPTIMIZERS[optimizer],
        "decay": decay,
        "decay1": decay1,
        "epsilon": epsilon,
    }


def kept_side_by_side(rule: dict[str, Any]) -> int:
    """How many numbers a step of one output needs per column: of adaptive steps those that
    `fl_packed.h` lays out."""
    if not rule["optimizer"]:
        return 1
    return 4 if is_lazy(rule) or n_moments(rule) > 1 else 2


def n_moments(rule: dict[str, Any]) -> int:
    """How many moments of the gradients a rule keeps."""
    return 0 if not rule["optimizer"] else 1 if rule["optimizer"] in _ONE_MOMENT else 2


def is_lazy(rule: dict[str, Any]) -> bool:
    """Whether adaptive steps make up for the penalty of steps that passed a coordinate by."""
    return bool(rule["optimizer"]) and (rule["l1"] > 0 or rule["l2"] > 0)
