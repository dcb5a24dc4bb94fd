"""So do those of several outputs, and the adaptive steps."""

import numpy as np
import pytest
import reference
from compared import (
    NAMES,
    assert_close,
    epochs,
    labels,
    reference_arguments,
    target_of,
    trained,
)
from layouts import LAYOUTS
from scipy import sparse

from fastlin import Perceptron, as_rows
from fastlin._learner import make_learner
from fastlin._sgd import JOINT_LOSSES, OPTIMIZERS, make_rule

# Three epochs are not meant to converge.
pytestmark = pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")


JOINT_CONFIGS = {loss: {"loss": loss, "eta0": 0.1} for loss in JOINT_LOSSES}
JOINT_CONFIGS |= {
    "margin": {"loss": "perceptron", "parameter": 1.0, "eta0": 0.1},
    "softmax, l2": {"loss": "log_loss", "eta0": 0.2, "penalty": "l2", "alpha": 0.1, "average": 9},
    "softmax, l1": {"loss": "log_loss", "eta0": 0.1, "penalty": "l1", "alpha": 0.02},
    "sparsemax, elastic net": {"loss": "sparsemax", "eta0": 0.1, "penalty": "elasticnet",
                               "alpha": 0.05, "l1_ratio": 0.5, "average": True},
    "hinge in batches": {"loss": "hinge", "eta0": 0.3, "batch_size": 4, "average": True},
    "perceptron, averaged": {"loss": "perceptron", "eta0": 0.5, "average": True,
                             "fit_intercept": False},
}  # fmt: skip


def several(n, K=4, seed=4):
    return np.random.default_rng(seed).integers(0, K, n).astype(float)


def assert_joint(learner, slow, average, dtype):
    W, b = learner.weights()
    assert W.dtype == dtype
    assert_close(W, slow.mean_W if average else slow.W, dtype)
    assert_close(b, slow.mean_b if average else slow.b, dtype)


def split(config):
    """(arguments of make_rule, arguments of the reference)"""
    parameter = config.get("parameter")
    config = {key: value for key, value in config.items() if key != "parameter"}
    return (
        {**config, "loss_parameter": parameter},
        {**reference_arguments(config), "parameter": parameter},
    )


@pytest.mark.parametrize("config", JOINT_CONFIGS.values(), ids=JOINT_CONFIGS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_joint_learner_equals_the_reference(layout, config):
    X, dense = layout.make()
    y = several(len(dense))
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    orders = epochs(len(y), 2)
    for_rule, for_reference = split(config)
    learner = trained(X, y, orders, make_rule(**for_rule), weight, n_outputs=4)
    slow = reference.joint_sgd(dense, y, 4, orders, weight=weight, **for_reference)
    assert_joint(learner, slow, config.get("average"), layout.dtype)


@pytest.mark.parametrize("layout", LAYOUTS[::5], ids=NAMES[::5])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("variant", ["pa", "pa1", "pa2"])
def test_joint_passive_aggressive_equals_the_reference(layout, variant, fit_intercept):
    X, dense = layout.make()
    y = several(len(dense))
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    orders = epochs(len(y))
    for average in (False, True):
        rule = make_rule(
            "hinge", learning_rate=variant, eta0=0.3, fit_intercept=fit_intercept, average=average
        )
        learner = trained(X, y, orders, rule, weight, n_outputs=4)
        slow = reference.joint_passive_aggressive(
            dense,
            y,
            4,
            orders,
            variant=variant,
            C=0.3,
            fit_intercept=fit_intercept,
            average_from=int(average),
            weight=weight,
        )
        assert_joint(learner, slow, average, layout.dtype)


ADAPTIVE_CONFIGS = {
    "plain": {"loss": "log_loss", "eta0": 0.1},
    "elastic net": {"loss": "squared_error", "eta0": 0.05, "penalty": "elasticnet", "alpha": 0.02,
                    "l1_ratio": 0.5},
    "l2, averaged, batches": {"loss": "squared_hinge", "eta0": 0.05, "penalty": "l2",
                              "alpha": 0.05, "average": 5, "batch_size": 3},
    "invscaling, no intercept": {"loss": "hinge", "eta0": 0.2, "learning_rate": "invscaling",
                                 "fit_intercept": False},
    "averaged": {"loss": "log_loss", "eta0": 0.1, "average": True},
    "joint softmax": {"loss": "log_loss", "eta0": 0.1, "K": 4, "penalty": "l1", "alpha": 0.01},
    "joint sparsemax in batches": {"loss": "sparsemax", "eta0": 0.1, "K": 4, "batch_size": 6,
                               "average": True},
}  # fmt: skip


@pytest.mark.parametrize("config", ADAPTIVE_CONFIGS.values(), ids=ADAPTIVE_CONFIGS)
@pytest.mark.parametrize("optimizer", [name for name in OPTIMIZERS if name != "sgd"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_adaptive_learner_equals_the_reference(layout, optimizer, config):
    X, dense = layout.make()
    K = config.get("K", 1)
    config = {key: value for key, value in config.items() if key != "K"}
    y = several(len(dense)) if K > 1 else target_of(config["loss"], dense)
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    orders = epochs(len(y), 2)
    learner = trained(X, y, orders, make_rule(**config, optimizer=optimizer), weight, K)
    slow = reference.adaptive(
        dense, y, K, orders, optimizer=optimizer, weight=weight, **reference_arguments(config)
    )
    assert_joint(learner, slow, config.get("average"), layout.dtype)
    beside = trained(
        X, y, orders, make_rule(**config, optimizer=optimizer), weight, K, puts_off=True
    )
    for name, kept in learner.memory.items():
        assert np.array_equal(beside.memory[name], kept), name


@pytest.mark.parametrize("config", [
    {"loss": "log_loss", "eta0": 0.1},
    {"loss": "hinge", "eta0": 0.1, "penalty": "l2", "alpha": 0.01},  # not every row has an update
], ids=["log loss", "hinge with l2"])  # fmt: skip
@pytest.mark.parametrize("optimizer", ["adagrad", "adam"])
def test_adaptive_steps_of_long_rows_with_columns_out_of_the_cache(optimizer, config):
    # lengths about that from which an update fetches the columns of the next row, and far above
    rng = np.random.default_rng(0)
    dense = np.zeros((40, 70_000))
    for i, row in enumerate(dense):
        size = 170 + i if i % 4 else 640 - i
        row[rng.choice(70_000, size, replace=False)] = rng.normal(size=size) / 8
    y, orders = labels(dense), epochs(40)
    slow = reference.adaptive(
        dense, y, 1, orders, optimizer=optimizer, **reference_arguments(config)
    )
    learner = trained(
        sparse.csr_matrix(dense), y, orders, make_rule(**config, optimizer=optimizer),
        puts_off=True,
    )
    assert_joint(learner, slow, False, np.float64)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_the_joint_perceptron_is_the_obvious_one(layout, average):
    X, dense = layout.make()
    y = several(len(dense), 3)
    clf = Perceptron(shuffle=False, max_iter=3, tol=None, average=average).fit(X, y)
    slow = reference.joint_perceptron(dense, y.astype(int), 3, [np.arange(len(y))] * 3)
    assert_close(clf.coef_, slow.mean_W if average else slow.W, layout.dtype)
    assert_close(clf.intercept_, slow.mean_b if average else slow.b, layout.dtype)


# Adaptive steps whose weights lie beside what is kept with them

SPARSE = [layout for layout in LAYOUTS if layout.kind != "dense"]
ADAPTIVE = [name for name in OPTIMIZERS if name != "sgd"]


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("optimizer", ADAPTIVE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_penalty_is_that_of_the_weights(dtype, optimizer, penalty):
    dense = np.random.default_rng(0).normal(size=(40, 334)).astype(dtype)
    dense[:, ::3] = 0
    dense[:, 60:200] = 0  # among them the columns of a whole chunk
    rows = as_rows(sparse.csr_matrix(dense))
    rule = make_rule(
        "log_loss", penalty=penalty, alpha=0.01, l1_ratio=0.3, eta0=0.1, optimizer=optimizer
    )
    learner = make_learner(rows.shape[1], rows.dtype, rule)
    learner.put_off(rows)
    learner.visit(rows, labels(dense), np.empty(0), np.arange(40))
    assert learner.has_debts
    w = learner.weights()[0].astype(np.float64)
    expected = rule["l1"] * np.abs(w).sum() + rule["l2"] / 2 * (w**2).sum()
    assert expected > 0
    np.testing.assert_allclose(learner.penalty(), expected, rtol=1e-13)


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_an_l1_penalty_takes_no_squares_that_overflow(optimizer):
    rule = make_rule("log_loss", penalty="l1", alpha=0.01, eta0=0.1, optimizer=optimizer)
    learner = make_learner(3, np.float64, rule)
    learner.scaled[:] = [1e200, -1e200, 0.0]
    assert learner.penalty() == pytest.approx(0.01 * 2e200)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("penalty", [None, "l2"])
@pytest.mark.parametrize("optimizer", ADAPTIVE)
@pytest.mark.parametrize("layout", SPARSE, ids=[layout.name for layout in SPARSE])
def test_an_overflow_of_the_last_step_is_seen(layout, optimizer, penalty, average):
    X, dense = layout.make()
    y, rows, nothing = labels(dense), as_rows(X), np.empty(0)
    last = np.flatnonzero(np.abs(dense).sum(axis=1))[-1:]
    rule = make_rule("log_loss", penalty=penalty, eta0=0.1, average=average, optimizer=optimizer)
    learner = make_learner(rows.shape[1], rows.dtype, rule)
    learner.put_off(rows)
    for _ in range(2):
        learner.visit(rows, y, nothing, np.arange(len(y)))
        assert learner.has_debts and learner.is_finite()
    learner._sums.fill(np.inf)  # sums of weights that are finite may overflow
    assert learner.is_finite() and learner.is_finite()
    learner.rule["eta0"] = np.inf
    assert np.isfinite(learner.visit(rows, y, nothing, last))
    assert not np.isfinite(learner.weights(averaged=False)[0]).all()
    assert not learner.is_finite() and not learner.is_finite()
    learner.settle(rows)
    assert not learner.is_finite()
