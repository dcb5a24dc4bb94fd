"""Data and helpers that the tests of SGD share."""

import numpy as np
from public import REGRESSORS
from scipy import optimize

from fastlin._core import losses as core
from fastlin._sgd import LOSSES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
W = np.array([1.0, -2.0, 0.5, 0.0, 1.5])
Y = np.where(X @ W + 0.5 * RNG.normal(size=120) > 0, "yes", "no")
Y3 = np.argmax(X @ RNG.normal(size=(5, 3)), axis=1)
T = X @ W + 1.0 + 0.1 * RNG.normal(size=120)


def target(cls):
    return T if cls in REGRESSORS else Y


def same_bits(a, b):
    return (
        a.coef_.tobytes() == b.coef_.tobytes()
        and np.asarray(a.intercept_).tobytes() == np.asarray(b.intercept_).tobytes()
    )


def objective(model, X, y, weight=None):
    """The objective of DESIGN: mean loss plus penalty, recomputed from the public attributes."""
    loss = LOSSES[model.loss]
    parameter = getattr(model, loss.parameter, loss.default) if loss.parameter else loss.default
    p = X @ model.coef_.ravel().astype(float) + model.intercept_[0]
    return risk(loss.code, parameter, p, y, weight) + penalty_of(model)


def risk(code, parameter, p, y, weight=None):
    value = np.empty(len(y))
    core.evaluate(
        code, parameter, np.ascontiguousarray(p), np.asarray(y, float), value, np.empty(len(y))
    )
    return np.average(value, weights=weight)


def penalty_of(model):
    w = model.coef_.ravel().astype(float)
    share = {"l1": 1.0, "l2": 0.0, "elasticnet": model.l1_ratio, None: 0.0}[model.penalty]
    alpha = model.alpha if model.penalty else 0.0
    return alpha * (share * np.abs(w).sum() + (1 - share) / 2 * w @ w)


def best(loss, y, l2, weight=None, parameter=None):
    """The least objective under an L2 penalty, by a method that shares nothing with ours."""
    code = LOSSES[loss].code
    parameter = LOSSES[loss].default if parameter is None else parameter

    def value(w):
        return risk(code, parameter, X @ w[:5] + w[5], y, weight) + l2 / 2 * w[:5] @ w[:5]

    return min(
        optimize.minimize(value, start, method=method, options={"maxiter": 20_000}).fun
        for start in (np.zeros(6), np.append(W, 1.0))
        for method in ("BFGS", "Powell")
    )
