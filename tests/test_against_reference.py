"""The fast learners equal the slow ones of reference.py on the same order of rows, for every
storage of the same matrix."""

import numpy as np
import pytest
import reference
from layouts import LAYOUTS
from scipy import sparse

from fastlin import (
    PassiveAggressiveClassifier,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    _scores,
    as_rows,
)
from fastlin._learner import make_learner
from fastlin._sgd import JOINT_LOSSES, LOSSES, MARGIN_LOSSES, OPTIMIZERS, make_rule

# Three epochs are not meant to converge.
pytestmark = pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")

NAMES = [layout.name for layout in LAYOUTS]
NO_WEIGHT = np.empty(0)


def labels(dense, seed=1):
    """+-1 that a linear function nearly tells."""
    rng = np.random.default_rng(seed)
    z = dense @ rng.normal(size=dense.shape[1]) + 0.3 * rng.normal(size=len(dense))
    return np.where(z > np.median(z), 1.0, -1.0)


def targets(dense, seed=1):
    rng = np.random.default_rng(seed)
    return dense @ rng.normal(size=dense.shape[1]) + 0.5 + 0.1 * rng.normal(size=len(dense))


def target_of(loss, dense):
    return labels(dense) if loss in MARGIN_LOSSES else targets(dense)


def epochs(n, n_epochs=3, seed=2):
    """Orders with repetitions and omissions: as drawn with replacement."""
    return list(np.random.default_rng(seed).integers(0, n, size=(n_epochs, n)))


# What may differ between two runs of SGD: name -> arguments of both make_rule and the reference.
CONFIGS = {loss: {"loss": loss, "learning_rate": "constant", "eta0": 0.05} for loss in LOSSES}
CONFIGS |= {
    "optimal": {"loss": "log_loss", "learning_rate": "optimal", "alpha": 1e-2, "penalty": "l2"},
    "optimal without penalty": {"loss": "hinge", "learning_rate": "optimal"},
    "invscaling 0.5": {"loss": "hinge", "learning_rate": "invscaling", "eta0": 0.3},
    "invscaling 0.25": {"loss": "log_loss", "learning_rate": "invscaling", "eta0": 0.3,
                        "power_t": 0.25},
    "invscaling 0.7": {"loss": "squared_error", "learning_rate": "invscaling", "eta0": 0.3,
                       "power_t": 0.7},
    "l2": {"loss": "squared_error", "penalty": "l2", "alpha": 0.1, "eta0": 0.05},
    "l2 that shrinks to nothing": {"loss": "hinge", "penalty": "l2", "alpha": 9.0, "eta0": 0.2},
    "l2 that folds": {"loss": "hinge", "penalty": "l2", "alpha": 6.0, "eta0": 0.16,
                      "average": True},
    "l1": {"loss": "log_loss", "penalty": "l1", "alpha": 0.02, "eta0": 0.1},
    "elastic net": {"loss": "squared_hinge", "penalty": "elasticnet", "alpha": 0.1,
                    "l1_ratio": 0.4, "eta0": 0.03, "average": 20},
    "average": {"loss": "log_loss", "eta0": 0.2, "average": True},
    "average from step 31": {"loss": "hinge", "eta0": 0.1, "average": 31},
    "average with l2": {"loss": "squared_error", "penalty": "l2", "alpha": 0.2, "eta0": 0.1,
                        "average": 5},
    "average with l1": {"loss": "squared_error", "penalty": "l1", "alpha": 0.1, "eta0": 0.1,
                        "average": True},
    "batches": {"loss": "log_loss", "eta0": 0.5, "batch_size": 7, "penalty": "elasticnet",
                "alpha": 0.05, "l1_ratio": 0.3, "average": True},
    "one batch": {"loss": "squared_error", "eta0": 0.1, "batch_size": 1000},
    "no intercept": {"loss": "squared_hinge", "eta0": 0.1, "fit_intercept": False},
    "long steps": {"loss": "squared_error", "eta0": 1e6},
    "long steps in batches": {"loss": "exponential", "eta0": 10.0, "batch_size": 3},
    "long steps, squared hinge": {"loss": "squared_hinge", "eta0": 1e4},
    "long steps, exponential": {"loss": "exponential", "eta0": 50.0},
    "long steps, epsilon": {"loss": "squared_epsilon_insensitive", "eta0": 1e3},
}


def reference_arguments(config):
    """The same configuration for the reference."""
    config = {"learning_rate": "constant", "eta0": 1.0, "power_t": 0.5, "alpha": 0.0,
              "penalty": None, "average": 0, **config}
    alpha = config["alpha"] if config["penalty"] else 1e-4
    share = {"l1": 1.0, "l2": 0.0, None: 0.0}.get(config["penalty"], config.get("l1_ratio"))
    strength = config["alpha"] if config["penalty"] else 0.0
    return {
        "loss": config["loss"],
        "eta": reference.schedule(config["learning_rate"], config["eta0"], config["power_t"],
                                  alpha),
        "l1": strength * share,
        "l2": strength * (1 - share),
        "fit_intercept": config.get("fit_intercept", True),
        "average_from": int(config["average"]),
        "batch_size": config.get("batch_size", 1),
    }


def assert_close(got, expected, dtype):
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    expected = np.asarray(expected)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * scale)


def trained(X, y, orders, rule, weight=NO_WEIGHT, n_outputs=1):
    rows = as_rows(X)
    learner = make_learner(rows.shape[1], rows.dtype, rule, n_outputs)
    for order in orders:
        learner.last_loss = learner.visit(rows, y, weight, order, order[3:])
    return learner


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_learner_equals_the_reference(layout, config):
    X, dense = layout.make()
    y = target_of(config["loss"], dense)
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    orders = epochs(len(y))
    learner = trained(X, y, orders, make_rule(**config), weight)
    slow = reference.sgd(dense, y, orders, weight=weight, **reference_arguments(config))
    w, b = learner.weights(averaged=False)
    assert w.dtype == layout.dtype
    assert_close(w[0], slow.w, layout.dtype)
    assert_close(b[0], slow.b, layout.dtype)
    assert_close(learner.last_loss, slow.loss, layout.dtype)
    assert learner.state["t"] == slow.t
    if config.get("average"):
        w, b = learner.weights()
        assert_close(w[0], slow.mean_w, layout.dtype)
        assert_close(b[0], slow.mean_b, layout.dtype)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("variant", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_passive_aggressive_equals_the_reference(layout, loss, variant, fit_intercept, average):
    X, dense = layout.make()
    y = target_of(loss, dense)
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    orders = epochs(len(y))
    rule = make_rule(loss, learning_rate=variant, eta0=0.3, fit_intercept=fit_intercept,
                     average=average)
    learner = trained(X, y, orders, rule, weight)
    slow = reference.passive_aggressive(dense, y, orders, variant=variant, C=0.3, loss=loss,
                                        fit_intercept=fit_intercept, average_from=int(average),
                                        weight=weight)
    w, b = learner.weights()
    assert_close(w[0], slow.mean_w if average else slow.w, layout.dtype)
    assert_close(b[0], slow.mean_b if average else slow.b, layout.dtype)


# On whole numbers and steps that are powers of two nothing is ever rounded, so each margin that is
# exactly at the kink must be seen as such, and the bits must be the same.
DYADIC = {
    "perceptron": {"loss": "perceptron", "eta0": 1.0},
    "perceptron, eta 1/4": {"loss": "perceptron", "eta0": 0.25},
    "hinge": {"loss": "hinge", "eta0": 0.5},
    "hinge, decay 1/2": {"loss": "hinge", "eta0": 0.5, "penalty": "l2", "alpha": 1.0},
    "absolute error": {"loss": "quantile", "eta0": 0.125},
    "epsilon": {"loss": "epsilon_insensitive", "loss_parameter": 1.0, "eta0": 0.25},
    "modified huber": {"loss": "modified_huber", "eta0": 0.5, "fit_intercept": False},
}


@pytest.mark.parametrize("config", DYADIC.values(), ids=DYADIC)
@pytest.mark.parametrize("layout", [one for one in LAYOUTS if one.base != "any_values"],
                         ids=lambda layout: layout.name)
def test_ties_are_ties_in_every_layout(layout, config):
    X, dense = layout.make(n=24, d=5, seed=5)
    if config["loss"] in MARGIN_LOSSES:
        y = np.where(np.arange(24) % 3 == 0, 1.0, -1.0)
    else:
        y = np.random.default_rng(0).integers(-2, 3, 24).astype(float)
    orders = epochs(24, n_epochs=1 if config.get("penalty") else 4)
    if config["loss"] == "modified_huber":
        orders = [orders[0][:6]]
    learner = trained(X, y, orders, make_rule(**config))
    slow = reference.sgd(dense, y, orders, parameter=config.get("loss_parameter"),
                         **reference_arguments({k: v for k, v in config.items()
                                                if k != "loss_parameter"}))
    w, b = learner.weights()
    assert np.array_equal(w[0], slow.w)
    assert b[0] == slow.b


def test_the_dyadic_data_do_hit_the_kink():
    layout = next(one for one in LAYOUTS if one.name == "dense int8")
    dense = layout.make(n=24, d=5, seed=5)[1]
    y = np.where(np.arange(24) % 3 == 0, 1.0, -1.0)
    ties = 0
    order = np.concatenate(epochs(24, 4))
    w, b = np.zeros(5), 0.0
    for i in order:
        m = y[i] * (dense[i] @ w + b)
        ties += m == 0
        if m <= 0:
            w, b = w + y[i] * dense[i], b + y[i]
    assert ties > 5


@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_layouts_become_the_rows_they_should(layout):
    X, dense = layout.make()
    rows = as_rows(X)
    assert rows.layout == layout.kind
    assert rows.dtype == layout.dtype
    assert rows.shape == dense.shape
    assert len(rows) == len(dense)
    assert rows.ndim == 2
    # scores with unit vectors read the matrix back, entry by entry
    for j in range(dense.shape[1]):
        unit = np.zeros((1, dense.shape[1]), layout.dtype)
        unit[0, j] = 1
        assert np.array_equal(_scores.score_rows(rows, unit, np.zeros(1))[:, 0], dense[:, j])
    # all at once go another way
    together = _scores.score_rows(rows, np.eye(dense.shape[1], dtype=layout.dtype), np.zeros(12))
    assert np.array_equal(together, dense)
    assert np.array_equal(rows.toarray(), dense)
    assert np.array_equal(rows.to_csr().toarray(), dense)


@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_fit_in_file_order_equals_the_reference(layout):
    X, dense = layout.make(n=30)
    y = labels(dense)
    config = {"loss": "log_loss", "penalty": "elasticnet", "alpha": 1e-3, "l1_ratio": 0.15,
              "learning_rate": "optimal"}
    clf = SGDClassifier(**config, shuffle=False, max_iter=4, tol=None).fit(X, y)
    slow = reference.sgd(dense, y, [np.arange(30)] * 4, **reference_arguments(config))
    assert_close(clf.coef_[0], slow.w, layout.dtype)
    assert_close(clf.intercept_[0], slow.b, layout.dtype)
    assert clf.coef_.dtype == layout.dtype
    assert clf.n_iter_ == 4
    assert clf.t_ == 4 * 30 + 1
    margin = dense @ clf.coef_[0].astype(float) + clf.intercept_[0]
    assert_close(clf.decision_function(X), margin, layout.dtype)
    assert_close(clf.predict_proba(X)[:, 1], 1 / (1 + np.exp(-margin)), layout.dtype)
    assert np.array_equal(clf.predict(X), np.where(clf.decision_function(X) > 0, 1.0, -1.0))


@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_regression_fit_in_file_order_equals_the_reference(layout):
    X, dense = layout.make(n=30)
    y = targets(dense)
    weight = np.random.default_rng(0).integers(0, 4, 30).astype(float)
    reg = SGDRegressor(shuffle=False, max_iter=5, tol=None, alpha=0.01, average=10)
    reg.fit(X, y, sample_weight=weight)
    active = np.flatnonzero(weight)
    slow = reference.sgd(
        dense, y, [active] * 5, weight=weight * len(active) / weight.sum(),
        **reference_arguments({"loss": "squared_error", "penalty": "l2", "alpha": 0.01,
                               "learning_rate": "invscaling", "eta0": 0.01, "power_t": 0.25,
                               "average": 10}),
    )
    assert_close(reg.coef_, slow.mean_w, layout.dtype)
    assert_close(reg.intercept_, slow.mean_b, layout.dtype)
    assert_close(reg.predict(X), dense @ reg.coef_.astype(float) + reg.intercept_, layout.dtype)


def test_one_against_the_rest_is_one_binary_fit_per_class():
    X, dense = LAYOUTS[0].make(n=45)
    y = np.arange(45) % 3
    config = {"loss": "hinge", "penalty": "l2", "alpha": 1e-3, "learning_rate": "optimal"}
    clf = SGDClassifier(**config, shuffle=False, max_iter=3, tol=None).fit(X, y)
    assert clf.coef_.shape == (3, 12)
    for k in range(3):
        slow = reference.sgd(dense, np.where(y == k, 1.0, -1.0), [np.arange(45)] * 3,
                             **reference_arguments(config))
        assert_close(clf.coef_[k], slow.w, np.float64)
        assert_close(clf.intercept_[k], slow.b, np.float64)


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
    return ({**config, "loss_parameter": parameter},
            {**reference_arguments(config), "parameter": parameter})


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
        rule = make_rule("hinge", learning_rate=variant, eta0=0.3, fit_intercept=fit_intercept,
                         average=average)
        learner = trained(X, y, orders, rule, weight, n_outputs=4)
        slow = reference.joint_passive_aggressive(
            dense, y, 4, orders, variant=variant, C=0.3, fit_intercept=fit_intercept,
            average_from=int(average), weight=weight,
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
    slow = reference.adaptive(dense, y, K, orders, optimizer=optimizer, weight=weight,
                              **reference_arguments(config))
    assert_joint(learner, slow, config.get("average"), layout.dtype)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_the_joint_perceptron_is_the_obvious_one(layout, average):
    X, dense = layout.make()
    y = several(len(dense), 3)
    clf = Perceptron(shuffle=False, max_iter=3, tol=None, average=average).fit(X, y)
    slow = reference.joint_perceptron(dense, y.astype(int), 3, [np.arange(len(y))] * 3)
    assert_close(clf.coef_, slow.mean_W if average else slow.W, layout.dtype)
    assert_close(clf.intercept_, slow.mean_b if average else slow.b, layout.dtype)


def test_passive_aggressive_fits_are_the_reference():
    X, dense = LAYOUTS[0].make()
    y = labels(dense)
    for loss, variant in (("hinge", "pa1"), ("squared_hinge", "pa2")):
        clf = PassiveAggressiveClassifier(C=0.2, loss=loss, shuffle=False, max_iter=2, tol=None)
        clf.fit(X, y)
        slow = reference.passive_aggressive(dense, y, [np.arange(len(y))] * 2, variant=variant,
                                            C=0.2)
        assert_close(clf.coef_[0], slow.w, np.float64)
    plain = PassiveAggressiveClassifier(C=np.inf, shuffle=False, max_iter=2, tol=None).fit(X, y)
    slow = reference.passive_aggressive(dense, y, [np.arange(len(y))] * 2, variant="pa")
    assert_close(plain.coef_[0], slow.w, np.float64)


@pytest.mark.parametrize("config", [CONFIGS[name] for name in ("batches", "elastic net")],
                         ids=["batches", "elastic net"])
def test_pieces_of_an_epoch_change_no_bit(config, monkeypatch):
    X, dense = LAYOUTS[0].make(n=60)
    y = labels(dense)
    orders = epochs(60)
    whole = trained(X, y, orders, make_rule(**config))
    monkeypatch.setattr(_scores, "_ENTRIES_PER_CALL", 12 * 9)
    pieces = trained(X, y, orders, make_rule(**config))
    assert whole.weights()[0].tobytes() == pieces.weights()[0].tobytes()
    for name, value in whole.state.items():
        assert pieces.state[name] == pytest.approx(value, rel=1e-14 if name == "sum_loss" else 0)


def test_wide_rows_take_the_prefetching_path():
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 70_000), density=1e-3, rng=rng, format="csr")
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    orders = epochs(60)
    learner = trained(X, y, orders, make_rule("log_loss", eta0=0.5, average=True))
    assert learner._weights_ahead(as_rows(X)) == 2
    slow = reference.sgd(X.toarray(), y, orders, loss="log_loss", eta=lambda t: 0.5,
                         average_from=1)
    assert_close(learner.weights()[0][0], slow.mean_w, np.float64)

