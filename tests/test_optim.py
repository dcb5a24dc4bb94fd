"""`fastlin.optim`: gradients, where each method ends, what the trace says, what is refused."""

import os
import signal
import threading

import numpy as np
import pytest
from scipy import sparse

from fastlin import (
    Lasso,
    LinearSVC,
    LogisticRegression,
    OneHotEncoder,
    Ridge,
    as_rows,
    optim,
)
from fastlin._joint_problem import Distributions, JointProblem
from fastlin._optim_methods import METHODS
from fastlin._optim_objective import JointObjective, SingleObjective
from fastlin._parallel import run
from fastlin._problem import Problem
from fastlin._sgd import LOSSES, OPTIMIZERS, is_smooth
from fastlin.datasets import load_mushrooms
from fastlin.optim import minimize

DESCENTS = [name for name, method in METHODS.items() if method.needs_smooth]
STEPS = [name for name in METHODS if name not in DESCENTS]
SMOOTH = [name for name in LOSSES if is_smooth(name)]
# How far above the optimum 100 epochs may end, as a share of it
LOOSE = {"sgd": 1e-3, "adagrad": 1e-2, "adam": 1e-2, "rmsprop": 5e-2, "adadelta": 5e-2}


def data(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.arange(1, d + 1) + 1
    return X, X @ rng.normal(size=d) + rng.normal(size=n), rng.uniform(0.5, 2.0, n)


@pytest.fixture(scope="module")
def mushrooms():
    """Every 20th, with 3 attributes that don't separate them, as one-hot rows."""
    X, y = load_mushrooms(return_X_y=True)
    return OneHotEncoder().fit_transform(X[::20, [0, 1, 2, 7, 10]]), y[::20]


def differences(f, theta, h=1e-6):
    steps = np.eye(len(theta)) * h
    return np.array([(f(theta + e)[0] - f(theta - e)[0]) / (2 * h) for e in steps])


@pytest.mark.parametrize("loss", SMOOTH)
def test_gradients_are_those_of_finite_differences(loss):
    X, y, weight = data()
    if LOSSES[loss].is_margin:
        y = np.sign(y)
    for rows, free, l1 in ((X, True, 0.0), (sparse.csr_matrix(X), False, 0.02)):
        problem = Problem(as_rows(rows), y, loss, l1=l1, l2=0.1, weight=weight, fit_intercept=free,
                          loss_parameter=LOSSES[loss].default)  # fmt: skip
        f = SingleObjective(problem)
        theta = np.random.default_rng(1).normal(size=5 + free) * 0.1
        np.testing.assert_allclose(f(theta)[1], differences(f, theta), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("loss", ["log_loss", "sparsemax"])
def test_gradients_of_several_classes(loss):
    X, y, weight = data()
    target = Distributions.of_codes(np.digitize(y, [-3.0, 3.0]), 3)
    f = JointObjective(JointProblem(as_rows(X), target, loss, l2=0.1, weight=weight))
    theta = np.random.default_rng(1).normal(size=18) * 0.1
    np.testing.assert_allclose(f(theta)[1], differences(f, theta), rtol=2e-5, atol=1e-6)
    coef, intercept = f.split(theta)
    np.testing.assert_array_equal(f.joined(coef, intercept), theta)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ends_where_newton_does(method, mushrooms):
    X, y = mushrooms
    n, alpha = len(y), 1e-2
    exact = LogisticRegression(C=1 / (alpha * n), tol=1e-12).fit(X, y)
    found = minimize("log_loss", X, y, method=method, alpha=alpha, random_state=0)
    best = exact.objective_[0]
    if method in LOOSE:
        assert -1e-12 < found.objective / best - 1 < LOOSE[method]
        assert found.n_iter == 100 and not found.converged and "max_iter=100" in found.message
    else:
        assert abs(found.objective / best - 1) < 1e-6
        assert found.converged and found.gradient_norm <= 1e-6
        np.testing.assert_allclose(found.coef, exact.coef_[0], atol=1e-3)
    assert found.classes.tolist() == ["edible", "poisonous"]
    trace = found.trace
    assert len(trace.objective) == len(trace.passes) == len(trace.seconds) == found.n_iter + 1
    assert trace.objective[0] == pytest.approx(np.log(2), rel=1e-2)
    assert trace.objective[-1] == found.objective < trace.objective[0]
    assert (np.diff(trace.passes) >= 1).all() and (np.diff(trace.seconds) > 0).all()
    if method in ("gd", "newton"):
        assert (np.diff(trace.objective) <= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_several_classes(method):
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_iris(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    exact = LogisticRegression(C=1 / (0.1 * len(y)), tol=1e-12).fit(X, y)
    found = minimize("log_loss", X, y, method=method, alpha=0.1, random_state=0)
    bound = LOOSE.get(method, 1e-6)
    assert found.objective / exact.objective_ - 1 < bound
    if method not in LOOSE:
        np.testing.assert_allclose(found.coef, exact.coef_, atol=1e-3)
        np.testing.assert_allclose(found.intercept, exact.intercept_, atol=1e-3)
    assert abs(found.intercept.sum()) < 1e-9 and found.coef.shape == (3, 4)


def test_other_losses_and_weights_end_where_estimators_do():
    X, y, weight = data(200)
    weight = np.floor(3 * weight / 2)
    total, labels = weight.sum(), np.sign(y)
    ridge = Ridge(alpha=0.1 * total).fit(X, y, weight)
    svm = LinearSVC(C=1 / (0.1 * total), tol=1e-12).fit(X, labels, weight)
    for method in DESCENTS:
        for loss, target, exact in (
            ("squared_error", y, ridge), ("squared_hinge", labels, svm),
        ):  # fmt: skip
            found = minimize(loss, X.astype(np.float32), target, method=method, alpha=0.1,
                             sample_weight=weight, tol=1e-8, max_iter=5000)  # fmt: skip
            np.testing.assert_allclose(found.coef, exact.coef_.ravel(), atol=2e-5)
            np.testing.assert_allclose(found.intercept, np.ravel(exact.intercept_)[0], atol=2e-4)


def test_steps_take_l1_and_losses_with_kinks():
    X, y, _ = data(300)
    X, y = X / X.std(0), y / y.std()
    lasso = Lasso(alpha=0.1).fit(X, y)
    best = lasso.objective_
    for method in ("sgd", "adam"):
        found = minimize("squared_error", X, y, method=method, alpha=0.1, l1_ratio=1.0,
                         random_state=0)  # fmt: skip
        assert -1e-9 < found.objective / best - 1 < 2e-3
    exact = LinearSVC(loss="hinge", C=1 / (0.01 * 300)).fit(X, np.sign(y))
    found = minimize("hinge", X, np.sign(y), method="sgd", alpha=0.01, average=True,
                     random_state=0)  # fmt: skip
    assert -1e-4 < found.objective / exact.objective_[0] - 1 < 2e-2


def test_parameters_of_losses_starts_seeds_and_callbacks():
    X, y, _ = data()
    wide = minimize("huber", X, y, loss_parameter=1e3, tol=1e-9)
    plain = minimize("squared_error", X, y, tol=1e-9)
    np.testing.assert_allclose(wide.coef, plain.coef, atol=1e-6)
    again = minimize("squared_error", X, y, tol=1e-8, coef_init=plain.coef,
                     intercept_init=plain.intercept)  # fmt: skip
    assert again.n_iter == 0 and again.converged
    a, b, c = (
        minimize("squared_error", X, y, method="adam", max_iter=3, random_state=seed).objective
        for seed in (1, 1, 2)
    )
    assert a == b != c
    seen = []
    found = minimize("squared_error", X, y, method="gd", max_iter=4, callback=seen.append)
    assert [entry["iteration"] for entry in seen] == [0, 1, 2, 3, 4]
    assert [entry["objective"] for entry in seen] == found.trace.objective.tolist()
    without = minimize("squared_error", X, y, fit_intercept=False)
    assert without.intercept == 0 and without.converged


def test_a_search_can_be_given_up():
    X, y, _ = data()
    seen = []

    def failing():
        while not seen:
            pass
        raise RuntimeError("elsewhere")

    def endless(method):
        minimize("log_loss", X, y > 0, method=method, tol=0.0, alpha=0.0, max_iter=10**9,
                 callback=seen.append)  # fmt: skip
        raise AssertionError("it ended")

    for method in ("gd", "sgd"):
        with pytest.raises(RuntimeError, match="elsewhere"):
            run([lambda method=method: endless(method), failing], 2)
        seen.clear()


@pytest.mark.parametrize("method", ["lbfgs", "cg", "newton", "adam"])
def test_what_a_callback_raises_ends_every_search(method):
    X, y, _ = data()

    def stop(info):
        if info["iteration"] == 2:
            raise StopIteration("mine")

    with pytest.raises(StopIteration, match="mine"):
        minimize("log_loss", X, y > 0, method=method, tol=0, callback=stop)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("method", ["cg", "adam"])
def test_ctrl_c_ends_a_search(method):
    X, y, _ = data()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            while True:
                minimize("log_loss", X, y > 0, method=method, tol=0.0, max_iter=10**6)
    finally:
        timer.cancel()


def test_what_can_not_be_minimised_is_said():
    X, y, _ = data(20)
    for method in DESCENTS:
        with pytest.raises(ValueError, match=f"method '{method}' needs a smooth loss; 'hinge'"):
            minimize("hinge", X, y > 0, method=method)
        with pytest.raises(ValueError, match=f"method '{method}' takes no L1 penalty"):
            minimize("log_loss", X, y > 0, method=method, l1_ratio=0.5)
    cases = [
        (ValueError, "loss must be one of", {"loss": "hinges"}),
        (ValueError, "method must be one of", {"method": "bfgs"}),
        (ValueError, "alpha must be a number >= 0, got -1", {"alpha": -1}),
        (ValueError, "max_iter must be an integer >= 1", {"max_iter": 0}),
        (TypeError, "method 'gd' takes no options, got eta0=1", {"method": "gd", "eta0": 1}),
        (TypeError, "method 'lbfgs' takes only 'memory'", {"eta0": 1}),
        (ValueError, "eta0 has no part in learning_rate 'optimal'", {"method": "sgd", "eta0": 1}),
        (ValueError, "'optimal' is that of method 'sgd'",
         {"method": "adam", "learning_rate": "optimal"}),
        (ValueError, "coef_init must hold finite numbers of shape", {"coef_init": [1.0]}),
        (ValueError, "overflows at the start", {"loss": "exponential", "coef_init": [-1e6] * 5}),
        (ValueError, "intercept_init must be None", {"intercept_init": 1, "fit_intercept": False}),
        (ValueError, "loss_parameter must be None", {"loss_parameter": 1.0}),
        (ValueError, "not for the loss 'exponential'", {"loss": "exponential", "method": "newton"}),
        (ValueError, "at least two classes", {"y": np.zeros(20)}),
        (ValueError, "is for two classes", {"y": np.arange(20) % 3, "loss": "exponential"}),
        (ValueError, "y must hold numbers whose squares", {"y": y * 1e200, "loss": "huber"}),
        (ValueError, "minimize requires y", {"y": None}),
        (ValueError, "overflow", {"loss": "squared_error", "y": y * 1e90, "method": "adam",
                                  "eta0": 1e300}),
    ]  # fmt: skip
    for kind, message, given in cases:
        with pytest.raises(kind, match=message):
            minimize(**{"loss": "log_loss", "X": X, "y": y > 0, **given})
    assert optim.__all__ == ["Minimum", "Trace", "minimize"]
    assert STEPS == list(OPTIMIZERS)
