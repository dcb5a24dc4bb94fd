"""Rows so long beside the penalty that Newton's method has no digits left over the columns."""

import numpy as np
import pytest
from scipy.optimize import nnls

from fastlin import LinearSVC, LinearSVR, LogisticRegression
from fastlin._kernel_newton import _solved

# n, d, factor of all columns, whether columns differ by seven orders of magnitude, C
CASES = [
    (40, 100, 1e5, False, 1e3),
    (40, 100, 1e7, False, 1.0),
    (40, 100, 1e3, False, 1e8),
    (38, 40, 1e5, False, 1e3),
    (72, 2000, 1e7, False, 1e3),
    (40, 100, 1.0, True, 1e3),
]


def make(n, d, factor, is_mixed):
    """X and y of two classes."""
    rng = np.random.default_rng(n + d)
    X = factor * rng.normal(size=(n, d))
    if is_mixed:
        X *= 10 ** rng.uniform(0, 7, d)
    return X, np.where(rng.random(n) > 0.5, 1.0, -1.0)


def reach(tol, least, at_zero):
    """How far weights of a certified objective are from the best: P is strongly convex."""
    return np.sqrt(2 * tol * max(least, 1e-12 * at_zero))


@pytest.mark.parametrize("n, d, factor, is_mixed, C", CASES)
def test_squared_hinge_is_that_of_nonnegative_least_squares(n, d, factor, is_mixed, C):
    X, y = make(n, d, factor, is_mixed)
    model = LinearSVC(C=C, fit_intercept=False).fit(X, y)
    # max sum a - a^T (Q + I/2C) a / 2 over a >= 0 is |L^T a - L^-1 1|^2, up to a constant
    Z = X * y[:, None]
    L = np.linalg.cholesky(Z @ Z.T + np.eye(n) / (2 * C))
    a = nnls(L.T, np.linalg.solve(L, np.ones(n)))[0]
    best = Z.T @ a
    least = 0.5 * best @ best + C * np.maximum(0, 1 - Z @ best) @ np.maximum(0, 1 - Z @ best)
    assert np.linalg.norm(model.coef_[0] - best) <= reach(model.tol, least, C * n)
    assert model.duality_gap_[0] <= model.tol


@pytest.mark.parametrize("n, d, factor, is_mixed, C", CASES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_squared_errors_are_those_of_the_kernel_matrix(n, d, factor, is_mixed, C, fit_intercept):
    X, y = make(n, d, factor, is_mixed)
    model = LinearSVR(C=C, epsilon=0.0, loss="squared_epsilon_insensitive",
                      fit_intercept=fit_intercept).fit(X, y)
    K = X @ X.T + np.eye(n) / (2 * C)
    if fit_intercept:
        # K v + b = y, sum v = 0
        units = np.full((1, n), K.trace() / n)
        v = np.linalg.solve(np.block([[K, units.T], [units, 0.0]]), np.append(y, 0.0))[:n]
    else:
        v = np.linalg.solve(K, y)
    best = X.T @ v
    # 2C e = v
    least = 0.5 * best @ best + v @ v / (4 * C)
    assert np.linalg.norm(model.coef_ - best) <= reach(model.tol, least, C * n)
    assert model.duality_gap_ <= model.tol


@pytest.mark.parametrize("n, d, factor, is_mixed, C", CASES)
@pytest.mark.parametrize("make_model", [LogisticRegression, LinearSVC])
def test_separable_classes_are_separated(n, d, factor, is_mixed, C, make_model):
    X, y = make(n, d, factor, is_mixed)
    model = make_model(C=C).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.duality_gap_[0] <= model.tol


def test_logistic_regression_is_what_coordinates_find():
    X, y = make(40, 100, 1e5, False)
    model = LogisticRegression(C=1e3, tol=1e-8).fit(X, y)
    other = LogisticRegression(C=1e3, tol=1e-8, solver="dual_cd", max_iter=10_000).fit(X, y)
    assert model.score(X, y) == 1.0
    # each is within sqrt(tol) or so; their objective is below 1e-12 of that at w = 0
    size = np.linalg.norm(other.coef_)
    assert np.linalg.norm(model.coef_ - other.coef_) <= 1e-3 * size


@pytest.mark.parametrize("make_model", [LinearSVC, LogisticRegression])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("factor", [1e5, 1e8])
def test_equal_rows_are_solved_too(make_model, fit_intercept, factor):
    X = np.eye(4, 6)[[0, 1, 2, 0]] * factor
    model = make_model(fit_intercept=fit_intercept).fit(X, [0, 1, 0, 0])
    assert model.score(X, [0, 1, 0, 0]) == 1.0 and model.duality_gap_[0] <= model.tol
    # what is said of the objective is so
    sign = np.array([-1.0, 1.0, -1.0, -1.0])
    m = sign * model.decision_function(X)
    loss = np.maximum(0, 1 - m) ** 2 if make_model is LinearSVC else np.logaddexp(0, -m)
    objective = 0.5 * model.coef_[0] @ model.coef_[0] + loss.sum()
    assert model.objective_[0] == pytest.approx(objective / len(X), rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_systems_beside_which_the_identity_vanishes(seed):
    rng = np.random.default_rng(seed)
    X, right = 1e9 * rng.normal(size=(6, 20)), rng.normal(size=(6, 2))
    rows = np.array([0, 0, 1, 2, 3, 4, 5, 5])
    found = _solved((X @ X.T)[np.ix_(rows, rows)], right[rows])
    # Equal rows with equal sides have together what one of as many times the weight has; how it is
    # split between them is below rounding, and cancels in the weights.
    times = np.bincount(rows)
    root = np.sqrt(times)[:, None]
    once = root * np.linalg.solve(np.eye(6) + root * (X @ X.T) * root.T, root * right)
    together = np.array([found[rows == row].sum(axis=0) for row in range(6)])
    np.testing.assert_allclose(together, once, atol=1e-8 * np.abs(once).max())
