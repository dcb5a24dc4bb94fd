"""Newton's method on the dual of losses made of lines: the search for the intercept, and the step
where columns are few."""

import numpy as np
import pytest

from fastlin import _dual_cd, _dual_newton, as_rows
from fastlin._core import dual_cd as kernel
from fastlin._problem import LOSS_CODES, Certificate, Problem
from fastlin._row_slices import rows_in_single

SEED = np.arange(4, dtype=np.uint64)
LOSSES = ("hinge", "epsilon_insensitive")


def targets(loss, X):
    z = X @ np.arange(1.0, 5.0) + np.random.default_rng(1).normal(size=len(X))
    return np.where(z > 0, 1.0, -1.0) if loss == "hinge" else z + 2.0


@pytest.mark.parametrize("start", [0.0, -50.0, 1e4])
@pytest.mark.parametrize("h", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_intercept_balances_the_steps(loss, h, start):
    X = np.random.default_rng(0).normal(size=(200, 4))
    rng = np.random.default_rng(2)
    y, z, share = targets(loss, X), rng.normal(size=200), rng.dirichlet(np.ones(200))
    code, parameter = LOSS_CODES[loss], 1.0 if loss == "hinge" else 0.1
    a = rng.uniform(0, 1, 200) * (np.sign(y))
    moved, there = np.empty(200), np.empty(200)
    bracket = np.array([-np.inf, np.inf, h])
    b, found = kernel.balance(code, parameter, z, start, y, a, share, h, moved, bracket, 100)
    assert found and bracket[0] <= b <= bracket[1]
    # trial by trial the same comes out
    again, found, bracket = start, False, np.array([-np.inf, np.inf, h])
    while not found:
        again, found = kernel.balance(code, parameter, z, again, y, a, share, h, there, bracket, 1)
    assert again == b
    assert abs(share @ moved) < 1e-12
    kernel.steps(code, parameter, z + b, y, a, h, there)
    np.testing.assert_array_equal(moved, there)
    # the sum falls in b
    for other, sign in ((b - 1e-3, 1), (b + 1e-3, -1)):
        kernel.steps(code, parameter, z + other, y, a, h, there)
        assert sign * (share @ there) >= -1e-12


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_free", [0, 3, 50])
def test_the_step_for_few_columns_is_that_of_conjugate_gradients(fit_intercept, n_free):
    X = np.random.default_rng(0).normal(size=(200, 4))
    problem = Problem(as_rows(X), targets("hinge", X), "hinge", l2=0.01, loss_parameter=1.0,
                      fit_intercept=fit_intercept)
    rng = np.random.default_rng(3)
    free, right = np.sort(rng.permutation(200)[:n_free]), rng.normal(size=4)
    bends = rng.uniform(0.1, 1.0, n_free)
    d = _dual_newton._solve_few(problem, free, bends, right)
    other = _dual_newton._solve(problem, rows_in_single(problem.X, free), bends, right)
    np.testing.assert_allclose(d, other, rtol=1e-2, atol=1e-2 * np.abs(other).max())
    A = X[free] - (bends @ X[free] / bends.sum() if fit_intercept and n_free else 0.0)
    image = problem.l2 * d + A.T @ (bends * (A @ d))
    np.testing.assert_allclose(image, right, atol=1e-9)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_free", [0, 1, 3, 20])
def test_the_step_for_few_rows_solves_the_system_of_all_columns(fit_intercept, n_free, layout):
    from scipy import sparse

    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 60)) * (rng.random((40, 60)) < 0.5) + 1.0
    problem = Problem(as_rows(X if layout == "dense" else sparse.csr_array(X)),
                      np.sign(X[:, 0]), "hinge", l2=0.01, loss_parameter=1.0,
                      fit_intercept=fit_intercept)
    free, right = np.sort(rng.permutation(40)[:n_free]), rng.normal(size=60)
    bends = rng.uniform(0.1, 1.0, n_free)
    d = _dual_newton._solve_few_rows(problem, free, bends, right)
    A = X[free] - (bends @ X[free] / bends.sum() if fit_intercept and n_free else 0.0)
    np.testing.assert_allclose(problem.l2 * d + A.T @ (bends * (A @ d)), right, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n, d", [(2, 101), (6, 300), (60, 400), (60, 40_000)])
def test_newton_ends_what_a_long_column_slows_down_where_columns_are_many(
        loss, is_sparse, fit_intercept, n, d):
    """Against libsvm: a column a thousand times the others, in few rows."""
    from scipy import sparse
    from sklearn.svm import SVC, SVR

    rng = np.random.default_rng(0)
    X, y = np.zeros((n, d)), np.where(np.arange(n) % 2, 1.0, -1.0)
    X[:, :90] = rng.normal(size=(n, 90))
    X[:, 0] = 1e3 + 300 * X[:, 0]
    problem = Problem(as_rows(sparse.csr_array(X) if is_sparse else X), y, loss, l2=1.0 / n,
                      loss_parameter=1.0 if loss == "hinge" else 0.1,
                      fit_intercept=fit_intercept)
    fit = _dual_cd.solve(problem, 1e-6, 1000, SEED)
    assert fit.converged
    again = Certificate.measured(problem, fit.coef, fit.intercept, fit.dual)
    assert again.relative_gap <= 1.01e-6
    if fit_intercept:
        # libsvm keeps products in single precision: it may be above, and the gap bounds from below
        peer = SVC(kernel="linear", tol=1e-8) if loss == "hinge" else SVR(
            kernel="linear", epsilon=0.1, tol=1e-8)
        peer.fit(X, y)
        theirs = problem.primal(X @ peer.coef_[0] + peer.intercept_[0], peer.coef_[0])
        assert fit.certificate.objective <= theirs * (1 + 1e-6)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_columns_that_do_not_occur_change_no_fit(loss, warm):
    from scipy import sparse

    from fastlin import LinearSVC

    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 40)) < 0.2, 1.0, 0.0)
    y = np.where(X @ rng.normal(size=40) + rng.normal(size=300) > 0, 1, -1)
    X[:, -1] = rng.integers(0, 900, 300)
    places = np.sort(rng.choice(100_000, 40, replace=False))
    csr = sparse.csr_array(X)
    wide = sparse.csr_array((csr.data, places[csr.indices], csr.indptr), (300, 100_000))
    models = [LinearSVC(loss=loss, tol=1e-8, warm_start=warm).fit(rows, y) for rows in (X, wide)]
    if warm:
        for model, rows in zip(models, (X, wide), strict=True):
            model.set_params(C=2.0).fit(rows, y)
    narrow, other = models
    assert other.coef_.shape == (1, 100_000) and np.count_nonzero(other.coef_) <= 40
    assert other.duality_gap_[0] <= 1e-8
    np.testing.assert_allclose(other.coef_[0, places], narrow.coef_[0], atol=2e-3)
    np.testing.assert_allclose(other.objective_, narrow.objective_, rtol=1e-7)
