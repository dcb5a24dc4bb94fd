"""`leave_one_out`: closed form and Newton step against a fit for each row."""

import warnings

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import (
    ConvergenceWarning,
    Lasso,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    Ridge,
    RidgeClassifier,
    leave_one_out,
)
from fastlin._direct import MOST_ORDER

EXACT = [
    Ridge(2.0), Ridge(0.5, fit_intercept=False), LinearRegression(),
    LinearRegression(fit_intercept=False), RidgeClassifier(1.0),
    RidgeClassifier(3.0, class_weight={0: 2.0, 1: 0.5}, fit_intercept=False),
]  # fmt: skip
APPROXIMATE = [
    LogisticRegression(tol=1e-10), LogisticRegression(C=0.1, tol=1e-10, fit_intercept=False),
    LinearSVC(C=0.1, tol=1e-10), LinearSVR(loss="squared_epsilon_insensitive", C=0.1, tol=1e-10),
]  # fmt: skip


def label(model):
    return repr(model)


def data(model, n=40, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    if model._estimator_type == "classifier":
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    return X, y, rng.integers(1, 4, n).astype(float)


def by_refits(model, X, y, weight=None):
    """The responses of fits without each row, written out."""
    model = type(model)(**model.get_params())
    out = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model.fit(X[rest], y[rest], sample_weight=None if weight is None else weight[rest])
        out.append(getattr(model, "decision_function", model.predict)(X[[i]])[0])
    return np.array(out)


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", EXACT, ids=label)
def test_the_closed_form_is_that_of_refits(model, classes, weighted, build):
    X, y, weight = data(model, classes=classes)
    weight = weight if weighted else None
    expected = by_refits(model, X, y, weight)
    for method in ("auto", "exact", "brute"):
        found, error = leave_one_out(model, build(X), y, weight, method, return_error=True)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, atol=1e-8)
        assert error == 0.0


@pytest.mark.parametrize("model", [Ridge(2.0), RidgeClassifier()], ids=label)
def test_more_columns_than_rows(model):
    X, y, _ = data(model, 15, 40, 3)
    found = leave_one_out(model, X, y, method="exact")
    np.testing.assert_allclose(found, by_refits(model, X, y), atol=1e-8)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_every_layout(layout):
    X, dense = layout.make()
    z = dense @ np.arange(12) + np.sin(np.arange(40))
    y = np.digitize(z, np.quantile(z, [0.3, 0.7]))
    found = leave_one_out(RidgeClassifier(), X, y, method="exact")
    expected = leave_one_out(RidgeClassifier(), dense, y, method="exact")
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", APPROXIMATE, ids=label)
def test_the_newton_step_is_near_refits(model, weighted, build):
    X, y, weight = data(model, 120)
    weight = weight if weighted else None
    found, error = leave_one_out(model, build(X), y, weight, return_error=True)
    np.testing.assert_array_equal(
        leave_one_out(model, build(X), y, weight, "approximate"), found
    )
    expected = leave_one_out(model, X, y, weight, "brute")
    fitted = type(model)(**model.get_params()).fit(X, y, weight)
    moved = np.abs(getattr(fitted, "decision_function", fitted.predict)(X) - expected)
    away = np.abs(found - expected)
    assert away.mean() < 0.1 * moved.mean()
    assert 0 < error <= away.max() + 1e-4


def test_the_step_gets_better_with_more_rows():
    model = LogisticRegression(tol=1e-10)
    errors = [leave_one_out(model, *data(model, n)[:2], return_error=True)[1] for n in (50, 800)]
    assert errors[1] < 0.1 * errors[0]


def test_three_classes_are_approximated_one_by_one():
    model = LogisticRegression(tol=1e-10)
    X, y, _ = data(model, 150, 3, 3)
    found = leave_one_out(model, X, y)
    assert found.shape == (150, 3)
    expected = leave_one_out(model, X, y, method="brute")
    moved = np.abs(LogisticRegression(tol=1e-10).fit(X, y).decision_function(X) - expected)
    assert np.abs(found - expected).mean() < 0.1 * moved.mean()


@pytest.mark.parametrize("model", [RidgeClassifier(), LogisticRegression(tol=1e-10)], ids=label)
def test_rows_of_no_weight_are_answered_by_the_others(model):
    X, y, weight = data(model, 80)
    weight[[2, 7]] = 0
    found = leave_one_out(model, X, y, weight)
    fit = type(model)(**model.get_params()).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_allclose(found[[2, 7]], fit.decision_function(X[[2, 7]]), atol=1e-7)
    without = leave_one_out(model, X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_allclose(found[weight > 0], without, atol=1e-7)


@pytest.mark.parametrize("method", ["exact", "brute"])
@pytest.mark.filterwarnings("ignore:all rows of the classes:UserWarning")
def test_a_class_that_goes_with_its_row(method):
    X, y, weight = data(RidgeClassifier(), 30)
    y[5] = 2
    found = leave_one_out(RidgeClassifier(), X, y, method=method)
    assert found[5, 2] == -np.inf
    assert np.isfinite(np.delete(found.ravel(), 5 * 3 + 2)).all()
    rest = np.arange(30) != 5
    z = RidgeClassifier().fit(X[rest], y[rest]).decision_function(X[[5]])[0]
    np.testing.assert_allclose(found[5, :2], [-z, z], atol=1e-9)
    weight[5] = 0
    gone = leave_one_out(RidgeClassifier(), X, y, weight, method)
    assert (gone[:, 2] == -np.inf).all()
    assert np.isfinite(gone[:, :2]).all()


def test_other_estimators_are_fitted_for_each_row():
    X, y, weight = data(Perceptron(), 20)
    for model in (
        Perceptron(random_state=0), Lasso(0.1), Ridge(positive=True),
        LinearSVC(loss="hinge", C=0.1), LogisticRegression(l1_ratio=1.0),
        RidgeClassifier(class_weight="balanced"),
    ):  # fmt: skip
        found, error = leave_one_out(model, X, y, weight, return_error=True)
        np.testing.assert_array_equal(found, by_refits(model, X, y, weight))
        assert error == 0.0
        for method in ("exact", "approximate"):
            with pytest.raises(ValueError, match=f"method '{method}' is not available: .*brute"):
                leave_one_out(model, X, y, weight, method)


def test_columns_that_depend_on_each_other_are_left_to_fits():
    X, y, _ = data(Ridge())
    X = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match=f"depend on each other.*{MOST_ORDER}"):
        leave_one_out(LinearRegression(), X, y, method="exact")
    found = leave_one_out(LinearRegression(), X, y)
    np.testing.assert_allclose(found, by_refits(LinearRegression(), X, y), atol=1e-9)


def test_what_scikit_learn_fits_is_fitted_too():
    peers = pytest.importorskip("sklearn.linear_model")
    X, y, _ = data(Ridge())
    found = leave_one_out(peers.Ridge(2.0), X, y)
    np.testing.assert_allclose(found, leave_one_out(Ridge(2.0), X, y), atol=1e-9)


def test_refusals():
    X, y, weight = data(LogisticRegression(), 20)
    for model, arguments, why in (
        (Ridge(), (X, y, None, "quick"), "method must be"),
        (Ridge(-1.0), (X, y), "alpha must be"),
        (Ridge(), (X, y, None, "approximate"), "Ridge has the method 'exact'"),
        (LogisticRegression(), (X, y, None, "exact"), "has the method 'approximate'"),
        (LogisticRegressionCV(), (X, y, None, "approximate"), "has no such form"),
        (Ridge(), (X[:1], y[:1]), "at least 2 rows, got n_samples=1"),
        (Ridge(), (X, y, -weight), "sample_weight"),
        (Ridge(), (X, y[1:]), "rows|samples"),
        (LogisticRegression(penalty=None), (X[:3], [0, 1, 0]), "two classes without any one row"),
        (RidgeClassifier(), (X, np.arange(20) == 3, None, "brute"), "1 rows of weight above 0"),
    ):
        with pytest.raises(ValueError, match=why):
            leave_one_out(model, *arguments)
    with pytest.raises(ValueError, match="return_error must be"):
        leave_one_out(Ridge(), X, y, return_error="yes")


def test_a_fit_that_is_stopped_is_told():
    X, y, _ = data(LogisticRegression(), 60)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        leave_one_out(LogisticRegression(C=1e4, tol=1e-12, max_iter=1), X, y)


def test_nothing_of_the_callers_changes():
    model = Ridge(2.0)
    X, y, weight = data(model)
    before = X.copy(), y.copy(), weight.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leave_one_out(model, X, y, weight)
    assert not hasattr(model, "coef_")
    for array, copy in zip((X, y, weight), before, strict=True):
        np.testing.assert_array_equal(array, copy)
