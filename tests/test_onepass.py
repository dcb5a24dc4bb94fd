"""Models trained side by side equal those trained alone, whatever their company."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from compared import CONFIGS, targets
from layouts import LAYOUTS

from fastlin import Perceptron, SGDClassifier, SGDRegressor, as_rows
from fastlin import _onepass
from fastlin._epochs import EpochPlan, row_order, train
from fastlin._isa import choose
from fastlin._learner import make_learner
from fastlin._onepass import fit_together, fits_together
from fastlin._random import spawn_seed
from fastlin._sgd import LOSSES

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.memory]

SEED = 3
N = 60


class PartOfOrder:
    """The order of all rows, without those that a model does not learn from."""

    fetch = np.empty(0, np.int64)

    def __init__(self, order, member):
        self.order, self.member = order, member

    def next(self):
        rows = self.order.next()
        return rows[self.member[rows]]


def alone(model, X, y, rows, visited, weight=None, target=None):
    """(learner, report) of a binary or real-valued model trained by itself.

    `visited` are the rows of the whole search, `y` what decides their order.
    """
    rows_of_x = as_rows(X)
    rule, plan = model._rule(), model._plan(None)
    learner = make_learner(rows_of_x.shape[1], rows_of_x.dtype, rule)
    (seed,) = spawn_seed(SEED, 1)
    order = row_order(rows_of_x, y, visited, plan.shuffle, seed)
    member = np.zeros(len(y), bool)
    member[rows] = True
    if weight is not None:
        member &= weight > 0
    weights = np.empty(0)
    if weight is not None:
        weights = weight * np.count_nonzero(member) / weight[member].sum()
    target = y if target is None else target
    report = train(learner, rows_of_x, target, weights, PartOfOrder(order, member), plan)
    return learner, report


def data(layout="csr", dtype=np.float64, n=N, d=12):
    """(X, dense, y of two classes, real y)"""
    found = next(item for item in LAYOUTS if item.name == layout)
    X, dense = found.make(n=n, d=d)
    rng = np.random.default_rng(5)
    z = dense @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    return X, dense, (z > np.median(z)).astype(int), targets(dense)


def folds(n=N, k=4):
    rows = np.arange(n)
    return [rows[rows % k != f] for f in range(k)], [rows[rows % k == f] for f in range(k)]


def estimator(config, **more):
    """A configuration of `compared` as an estimator."""
    config = dict(config)
    given = {"max_iter": 3, "tol": None, "random_state": SEED, "learning_rate": "constant",
             "penalty": None, "eta0": 1.0, **config, **more}
    loss = LOSSES[config["loss"]]
    return (SGDClassifier if loss.is_margin else SGDRegressor)(**given)


PLAIN = {name: c for name, c in CONFIGS.items() if c.get("batch_size", 1) == 1}


def variants(config):
    """Models of one kind that differ in numbers."""
    alpha, eta0 = config.get("alpha", 1e-4), config.get("eta0", 1.0)
    return [
        estimator(config, alpha=alpha * a, eta0=eta0 * e) for a, e in ((1, 1), (0.5, 1), (1, 0.7))
    ]


def check_equal(models, X, y, order_y, train_rows, test_rows, out, dtype=np.float64, **more):
    tolerance = 1e-10 if dtype == np.float64 else 3e-4
    visited = np.unique(np.concatenate(train_rows))
    for model, rows, held, p in zip(models, train_rows, test_rows, out, strict=True):
        assert not isinstance(p, Exception), p
        learner, report = alone(model, X, order_y, rows, visited, **more)
        W, b = learner.weights()
        scale = max(1.0, np.abs(W).max())
        np.testing.assert_allclose(model.coef_.ravel(), W[0], rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(model.intercept_, b, rtol=0, atol=tolerance * scale)
        assert model.n_iter_ == report.n_iter
        assert model.t_ == learner.state["t"] + 1
        for got, expected in zip(model.trace_, report.trace, strict=True):
            for key in ("loss", "objective"):
                assert got[key] == pytest.approx(expected[key], rel=max(tolerance, 1e-9), abs=1e-12)
        np.testing.assert_allclose(
            p, (model.decision_function if hasattr(model, "classes_") else model.predict)(X[held]),
            rtol=0, atol=tolerance * scale,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", PLAIN)
def test_equals_the_model_trained_alone(name, dtype):
    config = PLAIN[name]
    if dtype == np.float32 and name.startswith("long steps"):
        pytest.skip("rounding decides where such steps end")
    X, _, y, t = data()
    X = X.astype(dtype)
    real = not LOSSES[config["loss"]].is_margin
    some = variants(config)
    models = [m for m in some for _ in range(4)]
    models = [type(m)(**m.get_params()) for m in models]
    train_rows, test_rows = (4 * 3 * [0], 4 * 3 * [0])
    train_rows, test_rows = folds()
    train_rows, test_rows = train_rows * 3, test_rows * 3
    target = t if real else y
    out = fit_together(models, X, target, train_rows, test_rows)
    order_y = t if real else y.astype(float)
    check_equal(models, X, target, order_y, train_rows, test_rows, out, dtype,
                target=None if real else np.where(y == 1, 1.0, -1.0))


@pytest.mark.parametrize("layout", [layout.name for layout in LAYOUTS])
def test_storage_never_changes_a_model(layout):
    X, dense, y, _ = data(layout)
    rows = as_rows(X)
    train_rows, test_rows = folds()
    kinds = {"loss": "log_loss", "eta0": 0.1}
    models = [estimator({**kinds, "alpha": a}, penalty=p, average=v) for a in (1e-3, 1e-1)
              for p in ("l2", "l1") for v in (False, True)]
    twins = [type(m)(**m.get_params()) for m in models]
    out = fit_together(models, rows, y, train_rows * 2, test_rows * 2)
    expected = fit_together(twins, dense.astype(rows.dtype), y, train_rows * 2, test_rows * 2)
    for p, q in zip(out, expected, strict=True):
        np.testing.assert_allclose(p, q, rtol=0, atol=1e-10 if rows.dtype == np.float64 else 1e-4)
