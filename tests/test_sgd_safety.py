"""Fits end, and none ends in a bad model without a word."""

import copy
import pickle
import warnings
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from public import ONLINE, ONLINE_CLASSIFIERS, name
from sgd_data import X, Y, risk, same_bits

import fastlin
from fastlin import ConvergenceWarning, Perceptron, SGDClassifier, SGDRegressor
from fastlin._sgd import LOSSES, MARGIN_LOSSES

# Fits that end


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_underflowing_values_end_at_once(cls, quiet):
    x = np.zeros((30, 2))
    x[3] = 3.75e-208
    y = np.repeat([0, 1], 15)
    model = cls(random_state=0).fit(x, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.abs(model.coef_).max() < 1e-100


def test_probabilities_of_data_without_content(quiet):
    x, y = np.zeros((30, 2)), np.repeat([0, 1], 15)
    clf = SGDClassifier(
        "log_loss", learning_rate="invscaling", average=100, tol=None, max_iter=300, random_state=0
    ).fit(x, y)
    np.testing.assert_allclose(clf.predict_proba(x), 0.5, atol=0.02)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 1), (3, 50)])
@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_tiny_data(cls, shape, quiet):
    x = np.arange(np.prod(shape), dtype=float).reshape(shape)
    if cls in ONLINE_CLASSIFIERS and shape[0] == 1:
        with pytest.raises(ValueError, match="class"):
            cls().fit(x, [1])
        return
    model = cls(random_state=0).fit(x, np.arange(shape[0]) % 2)
    assert model.predict(x).shape == (shape[0],)
    assert np.isfinite(model.coef_).all()


# Safety on data that SGD finds hard


@pytest.mark.parametrize("seed", range(5))
def test_an_exact_line_is_fitted_or_owned_up_to(seed):
    x, y = np.arange(0.0, 600.0, 6.0)[:, None], np.arange(100.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reg = SGDRegressor(random_state=seed).fit(x, y)
    told = any(issubclass(w.category, fastlin.ConvergenceWarning) for w in caught)
    assert told or np.abs(reg.predict(x) - y).max() < 1
    assert np.abs(reg.coef_).max() < 10


HARD = {
    "unscaled": lambda n: np.random.default_rng(1).normal(size=(n, 3)) * [1e-3, 1.0, 1e4],
    "shifted": lambda n: np.random.default_rng(1).normal(size=(n, 3)) + 500,
    "huge": lambda n: np.random.default_rng(1).normal(size=(n, 3)) * 1e8,
    "huge beyond squares": lambda n: np.random.default_rng(1).normal(size=(n, 3)) * 1e200,
    "tiny": lambda n: np.random.default_rng(1).normal(size=(n, 3)) * 1e-12,
    "one outlier": lambda n: np.vstack(
        [np.random.default_rng(1).normal(size=(n - 1, 3)), [[1e6, -1e6, 1e6]]]
    ),
}


@pytest.mark.parametrize("data", HARD)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "params",
    [{}, {"learning_rate": "constant", "eta0": 1.0}, {"average": True}, {"batch_size": 10}],
    ids=str,
)
def test_no_model_is_worse_than_a_constant_without_a_word(loss, data, params):
    x = HARD[data](60)
    rng = np.random.default_rng(2)
    margin = loss in MARGIN_LOSSES
    y = np.where(rng.random(60) < 0.7, 1.0, -1.0) if margin else rng.normal(size=60) * 3 + 5
    model = (SGDClassifier if margin else SGDRegressor)(loss, random_state=0, max_iter=30, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(x, y)
        except ValueError as error:
            assert "overflow" in str(error) or "too large" in str(error)
            return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    told = any(issubclass(w.category, fastlin.ConvergenceWarning) for w in caught)
    if loss == "perceptron" or told:
        return
    parameter = LOSSES[loss].default
    p = x @ model.coef_.ravel() + model.intercept_[0]
    code = LOSSES[loss].code
    constant = min(
        risk(code, parameter, np.full(60, b), y)
        for b in np.concatenate([np.linspace(-10, 15, 501), [y.mean()]])
    )
    assert risk(code, parameter, p, y) <= constant * (1 + 1e-5) + 1e-9


def test_overflow_is_an_error_that_says_what_to_do():
    message = r"overflow in epoch 1: .*Scale the columns of X, or take shorter steps"
    with pytest.raises(ValueError, match=message):
        SGDClassifier("log_loss", learning_rate="constant", eta0=1e300).fit(X * 1e200, Y)
    model = SGDClassifier("log_loss", learning_rate="constant", eta0=1e300)
    with pytest.raises(ValueError, match="overflow in partial_fit"):
        model.partial_fit(X * 1e200, Y, classes=["no", "yes"])
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("penalty", [None, "l2"])
@pytest.mark.parametrize("optimizer", ["adagrad", "rmsprop", "adam", "adadelta"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype, huge", [(np.float32, 1e25), (np.float64, 1e170)])
def test_squares_of_gradients_that_overflow_are_an_error(dtype, huge, kind, optimizer, penalty):
    """A column whose sum of squares is infinite would never move again."""
    rows, y = kind(np.full((4, 3), huge, dtype)), [1, 0, 1, 0]
    model = SGDClassifier("log_loss", penalty=penalty, optimizer=optimizer, max_iter=3, tol=None)
    with pytest.raises(ValueError, match="overflow in (training|epoch 1): .*Scale the columns"):
        model.fit(rows, y)
    with pytest.raises(ValueError, match="overflow in partial_fit"):
        model.partial_fit(rows, y, classes=[0, 1])


def test_an_overflow_in_partial_fit_leaves_the_model_as_it_was():
    model = SGDClassifier("log_loss", learning_rate="constant", eta0=0.1)
    model.partial_fit(X, Y, classes=["no", "yes"])
    before, twin = pickle.dumps(model._memories), copy.deepcopy(model)
    model.set_params(eta0=1e300)
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(X * 1e200, Y)
    assert pickle.dumps(model._memories) == before
    model.set_params(eta0=0.1)
    assert same_bits(model.partial_fit(X, Y), twin.partial_fit(X, Y))


def mean_loss(model, X, y):
    return np.mean(0.5 * (y - model.predict(X)) ** 2)


def mean_loss_of_constant(y):
    return np.mean(0.5 * (y - y.mean()) ** 2)


def test_an_average_that_is_worse_than_the_constant_warns_though_its_last_epoch_was_good():
    X = np.random.default_rng(0).standard_normal((400, 12)) * 1e3
    y = np.where(X[:, 0] > 0, 1.0, 0.0)
    model = SGDRegressor(optimizer="adagrad", learning_rate="constant", eta0=0.1, average=True,
                         max_iter=15, tol=None, random_state=0)
    with pytest.warns(ConvergenceWarning, match="above the .* of the best constant"):
        model.fit(X, y)
    assert mean_loss(model, X, y) > mean_loss_of_constant(y)


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad", "adadelta", "rmsprop", "adam"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("learning_rate", ["constant", "invscaling", "optimal"])
def test_a_model_without_a_warning_beats_the_constant(optimizer, average, learning_rate):
    rng = np.random.default_rng(1)
    for scale in (1.0, 1e3):
        X = rng.standard_normal((300, 8)) * scale
        y = X[:, 0] / scale + 0.5 * rng.standard_normal(300) + 3
        model = SGDRegressor(optimizer=optimizer, learning_rate=learning_rate, eta0=0.1,
                             average=average, max_iter=5, tol=None, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model.fit(X, y)
            except ValueError as error:
                assert "overflow" in str(error)
                continue
        worse = mean_loss(model, X, y) > 1.001 * mean_loss_of_constant(y)
        assert worse == any("best constant" in str(warning.message) for warning in caught)


def test_more_columns_than_memory_holds_are_refused():
    X = sp.csr_matrix(([1.0, 1.0], ([0, 1], [0, 2**31 - 2])), shape=(2, 2**31 - 1))
    with mock.patch("fastlin._memory.available_memory", lambda: 10 * 10**9):
        for train in (SGDClassifier().fit, Perceptron().fit):
            with pytest.raises(ValueError, match=r"X has 2,147,483,647 columns: .* GB .*; hash"):
                train(X, [0, 1])
        with pytest.raises(ValueError, match="10.0 GB are available"):
            SGDClassifier().partial_fit(X, [0, 1], classes=[0, 1])


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_good_last_epoch_is_confirmed_on_a_sample(confirmed, monkeypatch):
    measured = []
    real = fastlin._safety.measured_if_worse

    def seen(learner, X, y, weight, rows, constant):
        measured.append(len(rows))
        result = real(learner, X, y, weight, rows, constant)
        return result if confirmed or len(measured) > 1 else (1.0, constant)

    monkeypatch.setattr("fastlin._safety.measured_if_worse", seen)
    X = np.random.default_rng(0).standard_normal((9000, 6))
    SGDClassifier(loss="log_loss", max_iter=5, tol=None, random_state=0).fit(X, X[:, 0] > 0)
    assert measured == ([1125] if confirmed else [1125, 9000])


@pytest.mark.parametrize("seed", [0, 1])
def test_classes_that_take_turns_are_warned_of_too(seed):
    """A sample of every eighth row would be of one class, of which a large intercept is right."""
    X = np.random.default_rng(0).normal(0.0, 0.01, (16000, 3))
    model = SGDClassifier("log_loss", alpha=0, learning_rate="constant", eta0=2.0, max_iter=3,
                          tol=None, random_state=seed)  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="best constant"):
        model.fit(X, np.arange(16000) % 2)
