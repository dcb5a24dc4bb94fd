"""Newton's method on losses made of parabolas: the search along a step against a fine grid, optima
against their gradient and another solver, shared rows, what it leaves to others."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar

from fastlin import LinearSVC, LinearSVR, _newton
from fastlin._core import newton as _kernel
from fastlin._data import as_rows
from fastlin._problem import LOSS_CODES, Problem
from fastlin._solve import solve, solve_all
from fastlin._square_newton import Table

SEED = np.zeros(4, np.uint64)
LOSSES = ("squared_hinge", "squared_epsilon_insensitive")


def problem_of(loss, n=80, d=6, l2=1e-3, weighted=False, scales=None, seed=0, **more):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    z = (X - 3.0) @ rng.normal(size=d) + rng.normal(size=n)
    if scales is not None:
        X = X * scales
    y = np.where(z > 0, 1.0, -1.0) if loss == "squared_hinge" else z + 5.0
    weight = rng.uniform(0.1, 4.0, n) if weighted else np.empty(0)
    parameter = 1.0 if loss == "squared_hinge" else 0.3
    return Problem(as_rows(X), y, loss, l2=l2, weight=weight, loss_parameter=parameter, **more)


def value(problem, w, b):
    """P, from its definition."""
    z = problem.X.toarray() @ w + b
    if problem.loss == "squared_hinge":
        losses = np.maximum(0.0, 1 - problem.y * z) ** 2
    else:
        losses = np.maximum(0.0, np.abs(problem.y - z) - problem.loss_parameter) ** 2
    weight = problem.weight if len(problem.weight) else np.ones(len(z))
    return weight @ losses / weight.sum() + 0.5 * problem.l2 * (w @ w)


def gradient(problem, w, b):
    """dP/dw and dP/db."""
    X, y, e = problem.X.toarray(), problem.y, problem.loss_parameter
    z = X @ w + b
    if problem.loss == "squared_hinge":
        slopes = -2 * y * np.maximum(0.0, 1 - y * z)
    else:
        slopes = 2 * np.sign(z - y) * np.maximum(0.0, np.abs(y - z) - e)
    weight = problem.weight if len(problem.weight) else np.ones(len(z))
    slopes *= weight / weight.sum()
    return X.T @ slopes + problem.l2 * w, slopes.sum()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("loss", LOSSES)
def test_the_search_ends_at_the_minimum(loss, seed):
    problem = problem_of(loss, seed=seed, weighted=True)
    rng = np.random.default_rng(seed)
    share = problem.weighted(np.ones(80))
    z, along = rng.normal(size=(2, 80)) * 10 ** rng.uniform(-2, 2)

    def height(t):
        return share @ problem.evaluated(z + t * along)[0] + 0.1 * t * t

    if height(1e-6) > height(0.0):
        along = -along
    t = _kernel.search(LOSS_CODES[loss], problem.loss_parameter, z, along, problem.y, share, 0.0,
                       0.2)
    best = minimize_scalar(height, bounds=(0, 3 * t + 1), method="bounded",
                           options={"xatol": 1e-10})
    assert t > 0
    assert height(t) <= best.fun * (1 + 1e-12)


def test_a_whole_step_is_one():
    # rows that all count: a parabola, with its minimum at t = 1
    y, z, along = np.ones(3), np.zeros(3), np.array([0.5, 0.2, 0.3])
    linear = -float(2 * along.sum()) * -1 - 2 * float(along @ along)
    args = (LOSS_CODES["squared_hinge"], 1.0, z, along, y, np.ones(3), linear, 0.0)
    assert _kernel.search(*args) == 1.0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("l2", [1e-8, 1e-3, 10.0])
def test_the_gradient_vanishes(loss, weighted, free, l2):
    problem = problem_of(loss, l2=l2, weighted=weighted, fit_intercept=free)
    fit = Table(problem).solve(problem, 1e-10, 100, None)
    assert fit.converged
    assert 0 < fit.n_iter < 40
    assert value(problem, fit.coef, fit.intercept) == pytest.approx(
        fit.certificate.objective, rel=1e-12)
    by_w, by_b = gradient(problem, fit.coef, fit.intercept)
    size = np.abs(gradient(problem, 0 * fit.coef, 0.0)[0]).max()
    assert np.abs(by_w).max() <= 1e-11 * size
    assert abs(by_b) <= 1e-11 * size if free else fit.intercept == 0
    other = _newton.solve(problem, 1e-9, 1000, SEED)
    assert fit.certificate.objective <= other.certificate.objective * (1 + 1e-14)


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_of_any_scale_and_shift(loss):
    problem = problem_of(loss, l2=1e-12, scales=np.logspace(-6, 6, 6))
    fit = Table(problem).solve(problem, 1e-6, 100, None)
    assert fit.converged
    other = _newton.solve(problem, 1e-6, 1000, SEED)
    assert fit.certificate.objective <= other.certificate.objective * (1 + 1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_that_repeat_and_that_stand_still(loss):
    rng = np.random.default_rng(0)
    column = rng.normal(size=60)
    X = np.stack([column, column, np.full(60, 7.0), np.zeros(60)], axis=1)
    y = np.where(column + rng.normal(size=60) > 0, 1.0, -1.0)
    problem = Problem(as_rows(X), y, loss, l2=1e-6, loss_parameter=1.0)
    fit = Table(problem).solve(problem, 1e-9, 100, None)
    assert fit.converged
    assert fit.coef[0] == pytest.approx(fit.coef[1], rel=1e-6)
    assert fit.coef[2:] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_problems_share_their_rows():
    problems = [problem_of("squared_hinge", weighted=True)]
    rng = np.random.default_rng(1)
    for _ in range(3):
        y = np.where(rng.random(80) < 0.3, 1.0, -1.0)
        problems.append(Problem(problems[0].X, y, "squared_hinge", l2=1e-3, loss_parameter=1.0,
                                weight=problems[0].weight))
    together = solve_all(problems, "auto", 1e-9, 100, [SEED] * 4, [None] * 4)
    for problem, fit in zip(problems, together, strict=True):
        alone = solve(problem, "auto", 1e-9, 100, SEED)
        np.testing.assert_array_equal(fit.coef, alone.coef)
        assert fit.certificate.relative_gap <= 1e-12


def test_it_goes_on_from_a_start():
    problem = problem_of("squared_hinge")
    table = Table(problem)
    fit = table.solve(problem, 1e-9, 100, None)
    again = table.solve(problem, 1e-9, 100, fit)
    assert again.n_iter <= 1
    np.testing.assert_allclose(again.coef, fit.coef, rtol=1e-9)
    worse = table.solve(problem, 1e-9, 100, fit.__class__(
        fit.coef * 1e6, fit.intercept, 0, fit.certificate, False))
    np.testing.assert_allclose(worse.coef, fit.coef, rtol=1e-9)


def test_the_last_step_allowed():
    problem = problem_of("squared_hinge", l2=1e-8)
    fit = solve(problem, "auto", 1e-9, 1, SEED)
    assert fit.n_iter == 1
    assert not fit.converged
    assert solve(problem, "auto", 1e-9, 100, SEED).converged


def test_which_problems_it_suits():
    def suits(loss="squared_hinge", n=80, d=6, build=np.asarray, **more):
        X = as_rows(build(np.ones((n, d))))
        return Table.suits(Problem(X, np.ones(n), loss, **{"l2": 1.0, **more}))

    assert suits()
    assert suits("squared_epsilon_insensitive", build=sparse.csr_array)
    assert not suits("log_loss")
    assert not suits(l2=0.0)
    assert not suits(l1=1.0)
    assert not suits(positive=True)
    assert not suits(n=20, d=200)
    assert not suits(n=1 << 14, d=20)
    thin = sparse.csr_array(np.eye(80))
    assert not Table.suits(Problem(as_rows(thin), np.ones(80), "squared_hinge", l2=1.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_estimators_have_its_optimum(dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(150, 5)) + 1e4).astype(dtype)
    codes = np.argmax(X[:, :3] + 0.5 * rng.normal(size=(150, 3)), axis=1)
    model = LinearSVC().fit(X, codes)
    assert model.coef_.dtype == dtype
    for k in range(3):
        y = np.where(codes == k, 1.0, -1.0)
        problem = Problem(as_rows(X.astype(np.float64)), y, "squared_hinge", l2=1 / 150,
                          loss_parameter=1.0)
        found = value(problem, model.coef_[k].astype(float), model.intercept_[k])
        best = _newton.solve(problem, 1e-9, 1000, SEED).certificate.objective
        assert found <= best * (1 + 1e-6)
    target = X[:, 0].astype(float) + rng.normal(size=150)
    model = LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.2).fit(X, target)
    assert model.duality_gap_ <= 1e-12
