"""Columns far from 0 beside their spread: the optimum is that of the columns near 0."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import fastlin
from fastlin._data import as_rows
from fastlin._far_columns import Shift

N, D = 200, 5
_RNG = np.random.default_rng(0)
NEAR = _RNG.standard_normal((N, D))
TARGET = NEAR @ _RNG.standard_normal(D) + 0.3 * _RNG.standard_normal(N)
TWO, THREE = (TARGET > 0.2).astype(int), np.digitize(TARGET, [-1, 1])
LEARNERS = {
    "lasso": (fastlin.Lasso(alpha=0.05), TARGET),
    "elastic net": (fastlin.ElasticNet(alpha=0.05), TARGET),
    "ridge": (fastlin.Ridge(), TARGET),
    "least squares": (fastlin.LinearRegression(), TARGET),
    "svr": (fastlin.LinearSVR(C=1.0, epsilon=0.1, tol=1e-6), TARGET),
    "bridge": (fastlin.BridgeRegressor(p=1.5, alpha=0.05), TARGET),
    "logistic": (fastlin.LogisticRegression(), TWO),
    "l1 logistic": (fastlin.LogisticRegression(l1_ratio=1.0, tol=1e-6), TWO),
    "hinge": (fastlin.LinearSVC(loss="hinge", tol=1e-6), TWO),
    "squared hinge": (fastlin.LinearSVC(), TWO),
    "one against the rest": (fastlin.LinearSVC(multi_class="ovr"), THREE),
    "softmax": (fastlin.LogisticRegression(), THREE),
    "l1 softmax": (fastlin.LogisticRegression(l1_ratio=1.0, tol=1e-6), THREE),
    "crammer-singer": (fastlin.LinearSVC(multi_class="crammer_singer", tol=1e-6), THREE),
    "sparsemax": (fastlin.SparsemaxClassifier(), THREE),
}


def far(shift):
    """(the rows with a column shifted, what is left of them when it is shifted back)"""
    X = NEAR.copy()
    X[:, 1] += shift
    back = X.copy()
    back[:, 1] -= shift
    return X, back


def answers(model, X):
    """What a model responds, but for what all classes have in common."""
    if not hasattr(model, "classes_"):
        return model.predict(X)
    z = model.decision_function(X)
    return z if z.ndim == 1 else z - z.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("shift", [1e6, 1e8])
def test_a_far_column_changes_the_intercept_alone(name, shift):
    model, y = LEARNERS[name]
    X, near = far(shift)
    model.fit(near, y)
    weights, expected = model.coef_, answers(model, near)
    for data in (X, sp.csr_matrix(X)):
        model.fit(data, y)
        assert np.max(model.duality_gap_) <= model.tol
        np.testing.assert_allclose(model.coef_, weights, atol=1e-5 * np.abs(weights).max())
        np.testing.assert_allclose(answers(model, data), expected, atol=1e-4)


def test_lasso_on_a_far_column_is_that_of_scikit_learn():
    peer = pytest.importorskip("sklearn.linear_model").Lasso(alpha=0.05, tol=1e-12)
    X, near = far(1e8)
    model = fastlin.Lasso(alpha=0.05, tol=1e-10).fit(X, TARGET)
    np.testing.assert_allclose(model.coef_, peer.fit(near, TARGET).coef_, atol=1e-9)


def test_paths_and_their_search_take_far_columns():
    X, near = far(1e8)
    (alphas, coefs, *_), expected = (fastlin.regularization_path(Z, TARGET) for Z in (X, near))
    np.testing.assert_allclose(alphas, expected[0])
    np.testing.assert_allclose(coefs, expected[1], atol=1e-9)
    fitted, other = (fastlin.LassoCV(cv=3).fit(Z, TARGET) for Z in (X, near))
    assert fitted.alpha_ == pytest.approx(other.alpha_)
    np.testing.assert_allclose(fitted.predict(X), other.predict(near), atol=1e-6)


@pytest.mark.parametrize("model", [
    fastlin.Lasso(alpha=0.05), fastlin.Ridge(), fastlin.RidgeCV((1.0,)), fastlin.LinearRegression(),
], ids=lambda model: type(model).__name__)
def test_single_precision_weights_are_made_up_for_by_the_intercept(model):
    X, near = (Z.astype(np.float32) for Z in far(2.0**20))
    model = copy.deepcopy(model).fit(X, TARGET)
    assert model.coef_.dtype == np.float32
    near = X.astype(np.float64)
    responses = near @ model.coef_.astype(np.float64) + model.intercept_
    near[:, 1] -= 2.0**20
    np.testing.assert_allclose(responses, copy.deepcopy(model).fit(near, TARGET).predict(near),
                               atol=1e-5)


def test_conjugate_gradients_make_up_for_them_too():
    # too many columns for a factorisation
    n, d = 1000, 6000
    rng = np.random.default_rng(0)
    words = sp.random(n, d, 0.002, format="csr", random_state=1)
    years = 1e5 + rng.normal(size=(n, 1))
    X = sp.hstack([sp.csr_matrix(years), words]).tocsr()
    X = X.astype(np.float32).astype(np.float64)
    y = 7 * X[:, [0]].toarray().ravel() + words @ rng.normal(size=d)
    model = fastlin.Ridge(10.0).fit(X.astype(np.float32), y)
    assert model.solver_ == "newton" and model.coef_.dtype == np.float32
    # responses are to have the mean of the target, as those of the optimum have
    assert abs((y - X @ model.coef_.astype(np.float64) - model.intercept_).mean()) < 1e-5


def test_what_counts_as_far():
    X = NEAR.copy()
    X[:, 0] += 100  # near enough
    X[:, 1] = 1.0  # a column of ones
    X[:, 2] = 1e8 * (np.arange(N) % 5 > 0)  # not everywhere
    X[:, 3] += 1e5
    for data in (X, sp.csr_matrix(X)):
        assert Shift.of(as_rows(data)).columns.tolist() == [0, 3]  # a copy there is, so both
    assert Shift.of(as_rows(X[:, :3])) is None
    assert Shift.of(as_rows(X[:1])) is None
    assert Shift.of(as_rows(np.zeros((4, 2)))) is None


def test_the_rows_stay_as_they_were():
    X, _ = far(1e8)
    for data in (X.copy(), sp.csr_matrix(X)):
        fastlin.Lasso().fit(data, TARGET)
        assert (np.asarray(data if isinstance(data, np.ndarray) else data.toarray()) == X).all()


def test_a_path_over_values_whose_squares_overflow_is_refused():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 1e160, 1.0]
    with pytest.raises(ValueError, match="squares of its values overflow"):
        fastlin.regularization_path(X, X[:, 0])
