"""What could make a kernel read or write where it must not: shapes that change between calls,
parameters that change between calls, attributes that the user sets. Run under sanitizers in CI."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from layouts import LAYOUTS
from public import CLASSIFIERS, LEARNERS, ONLINE, REGRESSORS, made, name
from scipy import sparse

from fastlin import Perceptron, SGDClassifier, SGDRegressor, as_rows
from fastlin._learner import make_learner
from fastlin._params import constraints_of
from fastlin._scores import score_rows
from fastlin._sgd import LOSSES, MARGIN_LOSSES, OPTIMIZERS, make_rule

pytestmark = [pytest.mark.memory, pytest.mark.usefixtures("quiet")]

NAMES = [layout.name for layout in LAYOUTS]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 6))
Y = np.arange(30) % 2
Y3 = np.arange(30) % 3
WIDE = RNG.normal(size=(30, 5000))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_every_kernel_stays_inside_every_layout(layout, optimizer):
    """Rows of every length around the unrolled loops, at the edges of the weights."""
    order, none = np.array([8, 0, 3, 3, 8, 7, 1]), np.empty(0)
    for d in (1, 3, 4, 5, 15, 16, 17, 33):
        if (layout.base == "fixed" and d < 3) or (layout.name == "bsr" and d % 3):
            continue
        rows = as_rows(layout.make(n=10, d=d)[0])
        for K in (1, 3):
            y = np.arange(10.0) % 3 if K > 1 else np.where(np.arange(10) % 2, 1.0, -1.0)
            for extra in (
                {},
                {
                    "average": True,
                    "batch_size": 4,
                    "penalty": "elasticnet",
                    "alpha": 0.1,
                    "l1_ratio": 0.5,
                },
            ):
                rule = make_rule("log_loss", optimizer=optimizer, eta0=0.1, **extra)
                learner = make_learner(d, rows.dtype, rule, K)
                learner.visit(rows, y, none, order)
                learner.put_off(rows)
                learner.visit(rows, y, none, order)
                learner.settle(rows)
                W, b = learner.weights()
                assert np.isfinite(score_rows(rows, W, b)).all()
                assert np.isfinite(score_rows(rows, W, b, order)).all()


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_a_fit_that_failed_after_the_columns_were_counted(cls):
    model = made(cls, max_iter=2).fit(X, Y)
    with pytest.raises(ValueError):
        model.fit(WIDE, Y[:7])
    for method in ("predict", "decision_function"):
        if hasattr(model, method):
            with pytest.raises(ValueError, match="the last call of fit did not end"):
                getattr(model, method)(WIDE)
    if cls in ONLINE:
        with pytest.raises(ValueError, match="columns"):
            model.partial_fit(WIDE, Y)
    with pytest.raises(ValueError, match="columns|expecting"):
        model.score(WIDE, Y)
    assert model.fit(X, Y).predict(X).shape == (30,)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
@pytest.mark.parametrize("shape", [(1, 2), (1, 0), (1, 5000), (3, 2), (7,), ()])
def test_weights_set_by_the_user_are_compared_with_the_columns(cls, shape):
    model = made(cls, max_iter=2).fit(X, Y)
    model.coef_ = np.zeros(shape)
    with pytest.raises((ValueError, IndexError)):
        model.predict(X)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int32, np.longdouble, bool]
)
def test_weights_set_by_the_user_may_have_any_type(dtype):
    model = SGDClassifier(max_iter=2).fit(X, Y)
    model.coef_ = np.arange(6).reshape(1, 6).astype(dtype)
    model.intercept_ = [0]
    expected = X @ np.arange(6).astype(dtype).astype(float)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-6)
    model.coef_ = np.asfortranarray(np.vstack([np.arange(6.0)] * 3))[1:2]
    assert model.predict(X).shape == (30,)


CHANGES = [
    {"penalty": None}, {"penalty": "l2", "alpha": 0.1}, {"penalty": "l1", "alpha": 0.1},
    {"penalty": "elasticnet", "alpha": 0.1}, {"average": True}, {"average": 40}, {"average": False},
    {"batch_size": 7}, {"batch_size": 10**12}, {"learning_rate": "constant", "eta0": 0.1},
    {"learning_rate": "optimal"}, {"learning_rate": "invscaling"}, {"fit_intercept": False},
    {"loss": "log_loss"}, {"loss": "hinge"}, {"margin": 1.0}, {"C": 0.1},
    {"learning_rate": "pa1", "penalty": None, "loss": "hinge", "batch_size": 1},
    {"learning_rate": "pa2", "penalty": None, "loss": "epsilon_insensitive", "batch_size": 1},
    {"optimizer": "adam"}, {"optimizer": "adagrad"}, {"optimizer": "sgd"},
    {"multi_class": "joint"}, {"multi_class": "ovr"},
]  # fmt: skip


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_parameters_may_change_between_calls(cls, several):
    """Each change from each state either works with finite weights or is refused."""
    y = Y3 if several and cls in CLASSIFIERS else Y
    known = constraints_of(cls)
    changes = [
        change
        for change in CHANGES
        if all(key in known and known[key].accepts(value) for key, value in change.items())
    ]
    rng = np.random.default_rng(1)
    for _ in range(30):
        model = cls()
        first = {"classes": np.unique(y)} if cls in CLASSIFIERS else {}
        for _ in range(6):
            model.set_params(**changes[rng.integers(len(changes))])
            try:
                model.partial_fit(X, y, **first)
                first = {}
            except ValueError as error:
                text = str(error)
                assert any(
                    word in text
                    for word in (
                        "optimizer",
                        "multi_class",
                        "learning_rate",
                        "overflow",
                        "alpha",
                        "loss",
                    )
                ), text
                continue
            assert np.isfinite(model.coef_).all()
            assert np.isfinite(model.intercept_).all()
            assert model.predict(X).shape == (30,)


def stream(model, **later):
    model.partial_fit(X, Y, **({"classes": [0, 1]} if hasattr(model, "decision_function") else {}))
    return model.set_params(**later).partial_fit(X, Y)


def test_averaging_that_begins_late_is_the_mean_since_then():
    params = {"learning_rate": "constant", "eta0": 0.1, "alpha": 0.3}
    late = stream(SGDClassifier(**params), average=True)
    step = SGDClassifier(**params).partial_fit(X, Y, classes=[0, 1])
    seen = []
    for i in range(30):
        step.partial_fit(X[[i]], Y[[i]])
        seen.append(step.coef_[0].copy())
    np.testing.assert_allclose(late.coef_[0], np.mean(seen, axis=0), rtol=1e-12)
    # and ends when it is switched off
    off = late.set_params(average=False).partial_fit(X[[0]], Y[[0]])
    step.partial_fit(X[[0]], Y[[0]])
    np.testing.assert_allclose(off.coef_, step.coef_, rtol=1e-12)


def test_a_penalty_that_begins_late_is_not_owed_for_the_past():
    for optimizer in OPTIMIZERS:
        params = {
            "learning_rate": "constant",
            "eta0": 0.01,
            "penalty": None,
            "optimizer": optimizer,
        }
        reg = SGDRegressor(**params)
        for _ in range(50):
            reg.partial_fit(X, Y.astype(float))
        before = reg.coef_.copy()
        reg.set_params(penalty="l1", alpha=0.01).partial_fit(X[[0]], [0.5])
        np.testing.assert_allclose(reg.coef_, before, atol=0.05)
        assert np.count_nonzero(reg.coef_) > 0


def test_passive_aggressive_steps_go_on_from_decayed_weights():
    clf = SGDClassifier("hinge", alpha=0.5, learning_rate="constant", eta0=0.1, average=True)
    clf.partial_fit(X, Y, classes=[0, 1])
    clf.set_params(average=False)
    plain = SGDClassifier("hinge", alpha=0.5, learning_rate="constant", eta0=0.1)
    w = plain.partial_fit(X, Y, classes=[0, 1]).coef_[0]
    b = plain.intercept_[0]
    clf.set_params(learning_rate="pa1", penalty=None, eta0=10.0).partial_fit(X[[0]], Y[[0]])
    sign = 2 * Y[0] - 1
    loss = max(0.0, 1 - sign * (w @ X[0] + b))
    tau = sign * loss / (X[0] @ X[0] + 1)
    np.testing.assert_allclose(clf.coef_[0], w + tau * X[0], rtol=1e-12)
    np.testing.assert_allclose(clf.intercept_[0], b + tau, rtol=1e-12)


def test_the_optimizer_of_a_stream_is_fixed():
    for one, other in (("sgd", "adam"), ("adam", "sgd"), ("adagrad", "adam"), ("adam", "adadelta")):
        clf = SGDClassifier(optimizer=one).partial_fit(X, Y, classes=[0, 1])
        with pytest.raises(ValueError, match="optimizer can't change"):
            clf.set_params(optimizer=other).partial_fit(X, Y)
        # a new fit may have any, also from a warm start
        clf.set_params(warm_start=True, max_iter=2).fit(X, Y)


@pytest.mark.parametrize(
    "params",
    [{}, {"average": True}, {"optimizer": "adam"}, {"multi_class": "joint"}, {"penalty": "l1"}],
    ids=str,
)
def test_copies_learn_apart(params):
    clf = SGDClassifier("log_loss", **params).partial_fit(X, Y3, classes=[0, 1, 2])
    for make in (copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))):
        twin = make(clf)
        before = clf.coef_.copy()
        twin.partial_fit(X[::-1], Y3[::-1])
        np.testing.assert_array_equal(clf.coef_, before)
        again = make(clf).partial_fit(X[::-1], Y3[::-1])
        np.testing.assert_array_equal(twin.coef_, again.coef_)


def test_learners_refuse_rows_that_do_not_fit():
    for n_outputs in (1, 3):
        learner = make_learner(6, np.float64, make_rule("hinge"), n_outputs)
        order, none = np.arange(30), np.empty(0)
        for rows, y in (
            (as_rows(WIDE), Y * 1.0),
            (as_rows(X[:, :5]), Y * 1.0),
            (as_rows(X), np.ones(7)),
        ):
            with pytest.raises(ValueError, match="columns and .* rows, but there are"):
                learner.visit(rows, y, none, order)
        with pytest.raises(ValueError, match="float32, but the weights are float64"):
            learner.visit(as_rows(X, dtype=np.float32), Y * 1.0, none, order)
    with pytest.raises(ValueError, match="float32, but the weights are float64"):
        score_rows(as_rows(X, dtype=np.float32), np.ones((1, 6)), np.zeros(1))


@pytest.mark.parametrize("loss", LOSSES)
def test_huge_values_end_in_an_error_or_in_finite_weights(loss):
    for scale in (1e150, 1e300):
        for storage in (np.asarray, sparse.csr_array):
            y = Y * 2 - 1.0 if loss in MARGIN_LOSSES else Y * scale
            cls = SGDClassifier if loss in MARGIN_LOSSES else SGDRegressor
            model = cls(loss, max_iter=3, tol=None)
            try:
                model.fit(storage(X * scale), y)
                model.predict(storage(X * scale))
            except ValueError as error:
                assert "overflow" in str(error) or "too large" in str(error)
            if hasattr(model, "coef_"):
                assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("cls", REGRESSORS, ids=name)
def test_targets_of_every_size(cls):
    for scale in (5e-324, 1e-300, 1e154, 1e300, 1.7e308):
        model = made(cls, max_iter=3, tol=None)
        try:
            model.fit(X, Y * scale)
        except ValueError as error:
            assert "overflow" in str(error)
        else:
            assert np.isfinite(model.coef_).all()


def test_many_classes_and_few_rows():
    y = np.arange(30)
    for model in (
        SGDClassifier(max_iter=2),
        Perceptron(max_iter=2),
        SGDClassifier("log_loss", multi_class="joint", max_iter=2, batch_size=64),
    ):
        assert model.fit(WIDE[:, :300], y).coef_.shape == (30, 300)
        assert model.predict(WIDE[:, :300]).shape == (30,)


def test_single_rows_of_wide_data():
    x = sparse.random_array((1, 2_000_000), density=1e-5, rng=RNG, format="csr")
    clf = SGDClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.partial_fit(x, [1], classes=[0, 1])
    assert clf.predict(x).tolist() == [1]
