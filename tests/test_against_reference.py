"""The fast learners of one output equal the slow ones of reference.py on the same order of rows,
for every storage of the same matrix."""

import numpy as np
import pytest
import reference
from compared import (
    CONFIGS,
    NAMES,
    assert_close,
    epochs,
    labels,
    reference_arguments,
    target_of,
    targets,
    trained,
)
from layouts import LAYOUTS
from scipy import sparse

from fastlin import (
    PassiveAggressiveClassifier,
    SGDClassifier,
    SGDRegressor,
    _scores,
    as_rows,
)
from fastlin._learner import make_learner
from fastlin._sgd import MARGIN_LOSSES, make_rule

# Three epochs are not meant to converge.
pytestmark = pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")


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
        late = trained(X, y, orders, make_rule(**config), weight, puts_off=True)
        assert late.weights(averaged=False)[0].tobytes() == learner.weights(False)[0].tobytes()
        assert_close(late.weights()[0][0], slow.mean_w, layout.dtype)


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
    rule = make_rule(
        loss, learning_rate=variant, eta0=0.3, fit_intercept=fit_intercept, average=average
    )
    learner = trained(X, y, orders, rule, weight, puts_off=average)
    slow = reference.passive_aggressive(
        dense,
        y,
        orders,
        variant=variant,
        C=0.3,
        loss=loss,
        fit_intercept=fit_intercept,
        average_from=int(average),
        weight=weight,
    )
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
@pytest.mark.parametrize(
    "layout", [one for one in LAYOUTS if one.base != "any_values"], ids=lambda layout: layout.name
)
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
    slow = reference.sgd(
        dense,
        y,
        orders,
        parameter=config.get("loss_parameter"),
        **reference_arguments({k: v for k, v in config.items() if k != "loss_parameter"}),
    )
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
    config = {
        "loss": "log_loss",
        "penalty": "elasticnet",
        "alpha": 1e-3,
        "l1_ratio": 0.15,
        "learning_rate": "optimal",
    }
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
        dense,
        y,
        [active] * 5,
        weight=weight * len(active) / weight.sum(),
        **reference_arguments(
            {
                "loss": "squared_error",
                "penalty": "l2",
                "alpha": 0.01,
                "learning_rate": "invscaling",
                "eta0": 0.01,
                "power_t": 0.25,
                "average": 10,
            }
        ),
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
        slow = reference.sgd(
            dense, np.where(y == k, 1.0, -1.0), [np.arange(45)] * 3, **reference_arguments(config)
        )
        assert_close(clf.coef_[k], slow.w, np.float64)
        assert_close(clf.intercept_[k], slow.b, np.float64)


def test_passive_aggressive_fits_are_the_reference():
    X, dense = LAYOUTS[0].make()
    y = labels(dense)
    for loss, variant in (("hinge", "pa1"), ("squared_hinge", "pa2")):
        clf = PassiveAggressiveClassifier(C=0.2, loss=loss, shuffle=False, max_iter=2, tol=None)
        clf.fit(X, y)
        slow = reference.passive_aggressive(
            dense, y, [np.arange(len(y))] * 2, variant=variant, C=0.2
        )
        assert_close(clf.coef_[0], slow.w, np.float64)
    plain = PassiveAggressiveClassifier(C=np.inf, shuffle=False, max_iter=2, tol=None).fit(X, y)
    slow = reference.passive_aggressive(dense, y, [np.arange(len(y))] * 2, variant="pa")
    assert_close(plain.coef_[0], slow.w, np.float64)


@pytest.mark.parametrize(
    "config", [CONFIGS[name] for name in ("batches", "elastic net")], ids=["batches", "elastic net"]
)
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
    rule = make_rule("log_loss", eta0=0.5, average=True)
    slow = reference.sgd(X.toarray(), y, orders, loss="log_loss", eta=lambda t: 0.5, average_from=1)
    for puts_off in (False, True):
        learner = trained(X, y, orders, rule, puts_off=puts_off)
        assert_close(learner.weights()[0][0], slow.mean_w, np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_long_rows_equal_the_reference_while_others_are_fetched(loss, dtype):
    # lengths about that from which a row's update fetches the entries of another, and far above
    rng = np.random.default_rng(0)
    dense = np.zeros((80, 700))
    for i, row in enumerate(dense):
        size = 150 + i if i % 4 else 640 - i
        row[rng.choice(700, size, replace=False)] = rng.normal(size=size) / 8
    dense = dense.astype(dtype).astype(np.float64)
    y, orders = labels(dense), epochs(80)
    X = as_rows(sparse.csr_matrix(dense.astype(dtype)))
    rule = make_rule(loss, eta0=0.1)
    w, b = trained(X, y, orders, rule).weights()
    slow = reference.sgd(dense, y, orders, loss=loss, eta=lambda t: 0.1)
    assert_close(w[0], slow.w, dtype)
    assert_close(b[0], slow.b, dtype)
    nothing_fetched = make_learner(700, np.dtype(dtype), rule)
    for order in orders:
        nothing_fetched.visit(X, y, np.empty(0), order)
    assert nothing_fetched.weights()[0].tobytes() == w.tobytes()
