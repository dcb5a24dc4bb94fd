"""Rows that pause while their steps gain little, and ascents that end before they have found it."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp

from fastlin import LogisticRegression, _dual_cd, as_rows
from fastlin._core import dual_cd as kernel
from fastlin._problem import Problem
from fastlin._random import spawn_seed
from fastlin._solve import solve

SEED = spawn_seed(0, 1)[0]


@functools.cache
def data():
    rng = np.random.default_rng(0)
    X = sp.random(5000, 300, 0.03, format="csr", random_state=1, data_rvs=rng.standard_normal)
    return X, X @ rng.normal(size=300) + 0.3 * rng.normal(size=5000)


def problem_of(loss, C, **more):
    X, z = data()
    y = z if loss == "squared_epsilon_insensitive" else np.where(z > 0, 1.0, -1.0)
    parameter = {"log_loss": 0.0, "squared_hinge": 1.0, "squared_epsilon_insensitive": 0.1}[loss]
    return Problem(as_rows(X), y, loss, l2=1.0 / (C * len(y)), loss_parameter=parameter, **more)


def value(problem, w, b):
    """P by plain numpy."""
    z, y = data()[0] @ w + b, problem.y
    losses = {
        "log_loss": lambda: np.logaddexp(0, -y * z),
        "squared_hinge": lambda: np.maximum(0, 1 - y * z) ** 2,
        "squared_epsilon_insensitive": lambda: np.maximum(0, abs(y - z) - 0.1) ** 2,
    }[problem.loss]()
    return losses.mean() + 0.5 * problem.l2 * w @ w


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "squared_epsilon_insensitive"])
def test_they_save_visits_and_cost_no_precision(loss, fit_intercept, monkeypatch):
    problem = problem_of(loss, 10.0 if loss == "log_loss" else 0.3, fit_intercept=fit_intercept)
    fit = _dual_cd.solve(problem, 1e-6, 1000, SEED)
    monkeypatch.setattr(_dual_cd, "_MANY_LEFT", np.inf)
    every = _dual_cd.solve(problem, 1e-6, 1000, SEED)
    assert fit.converged and fit.certificate.relative_gap <= 1e-6
    assert fit.certificate.objective == pytest.approx(every.certificate.objective, rel=2e-6)
    assert fit.certificate.objective == pytest.approx(
        value(problem, fit.coef, fit.intercept), rel=1e-9
    )
    assert fit.n_iter < every.n_iter


@pytest.mark.parametrize("max_iter", [1, 2, 4, 7, 20])
def test_no_more_visits_than_asked_for(max_iter, monkeypatch):
    visit, visited = kernel.visit, []

    def counted(*values):
        visited.append(len(values[5]))
        return visit(*values)

    monkeypatch.setattr(kernel, "visit", counted)
    fit = _dual_cd.solve(problem_of("log_loss", 1e4), 1e-12, max_iter, SEED)
    assert fit.n_iter == max_iter and not fit.converged
    assert sum(visited) == max_iter * len(data()[1])
    assert max_iter < 20 or min(visited) < max(visited)


def test_a_trial_ends_where_too_much_is_left():
    problem = problem_of("log_loss", 1e5, fit_intercept=False)
    tried = _dual_cd.solve(problem, 1e-9, 60, SEED, is_trial=True)
    assert 5 < tried.n_iter < 30 and not tried.converged
    whole = solve(problem, "auto", 1e-9, 1000, SEED)
    assert whole.converged and whole.certificate.relative_gap <= 1e-9


@pytest.mark.parametrize("is_trial", [False, True])
def test_a_tolerance_of_0_is_never_near(is_trial):
    fit = _dual_cd.solve(problem_of("log_loss", 1.0), 0.0, 40, SEED, is_trial=is_trial)
    assert fit.n_iter <= 40 and fit.certificate.relative_gap < (0.1 if is_trial else 1e-5)


@pytest.mark.parametrize("max_iter", [3, 61, 62, 70])
def test_no_method_goes_beyond_max_iter(max_iter):
    X, z = data()
    model = LogisticRegression(C=1e6, tol=1e-13, max_iter=max_iter, fit_intercept=False)
    with pytest.warns(UserWarning, match="gap"):
        model.fit(sp.csr_matrix((X.data, X.indices, X.indptr), (5000, 3000)), z > 0)
    assert model.n_iter_[0] <= max_iter
