"""Newton's method on the dual of losses made of lines: the search for the intercept, and the step
where columns are few."""

import numpy as np
import pytest

from fastlin import _dual_newton, as_rows
from fastlin._core import dual_cd as kernel
from fastlin._problem import LOSS_CODES, Problem
from fastlin._row_slices import rows_in_single

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
