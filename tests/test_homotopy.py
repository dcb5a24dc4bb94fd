"""The path of the lasso with few rows, against optimality conditions and coordinate descent."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix

from fastlin import (
    ConvergenceWarning,
    ElasticNet,
    Lasso,
    LassoCV,
    _homotopy,
    _primal_cd,
    as_rows,
    regularization_path,
)
from fastlin._homotopy import Homotopy, is_for_homotopy
from fastlin._primal_cd import Search
from fastlin._problem import Problem


def wide(n=40, d=600, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + rng.normal(size=(n, d)) + 3.0
    y = X[:, :10].sum(axis=1) + rng.normal(size=n)
    return X.astype(dtype), y


def alpha_max(X, y, weight, centred=True, positive=False):
    share = weight / weight.sum()
    if centred:
        X, y = X - share @ X, y - share @ y
    v = X.T @ (share * y)
    return (v if positive else np.abs(v)).max()


def kkt(X, y, share, w, b, l1, l2, positive):
    """How far the slopes are from what optimality asks for, by naive NumPy."""
    v = X.T @ (share * (y - X @ w - b)) - l2 * w
    size = v if positive else np.abs(v)
    at = w != 0
    inside = np.maximum(size - l1, 0)[~at].max(initial=0.0)
    return max(inside, np.abs(v - l1 * np.sign(w))[at].max(initial=0.0))


def problem_of(X, y, **more):
    return Problem(X=as_rows(X), y=y, loss="squared_error", **more)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_meets_the_conditions_of_the_optimum(dtype, intercept, positive, weighted, l2):
    X, y = wide(dtype=dtype)
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else np.ones(len(y))
    X64 = X.astype(np.float64)
    most = alpha_max(X64, y, weight, intercept, positive)
    steps = None
    for share in (1.5, 5, 60):
        problem = problem_of(X, y, l1=most / share, l2=l2, positive=positive,
                             fit_intercept=intercept, weight=weight if weighted else np.empty(0))
        steps = steps or Homotopy(problem)
        fit = steps.run(problem, 1e-9, 10_000)
        assert fit.converged
        assert np.count_nonzero(fit.coef) > 0
        assert not positive or fit.coef.min() >= 0
        assert kkt(X64, y, weight / weight.sum(), fit.coef, fit.intercept, problem.l1, l2,
                   positive) < 1e-6 * most
        again = Search(problem).run(problem, 1e-9, 100_000)
        assert fit.certificate.objective == pytest.approx(again.certificate.objective, rel=1e-8)
        z = X64 @ fit.coef + fit.intercept
        P = 0.5 * np.average((y - z) ** 2, weights=weight) + problem.penalty(fit.coef)
        assert fit.certificate.objective == pytest.approx(P, rel=1e-12)


def test_the_gap_bounds_the_distance_from_the_optimum():
    X, y = wide(seed=2)
    most = alpha_max(X, y, np.ones(len(y)))
    problem = problem_of(X, y, l1=most / 50)
    best = Homotopy(problem).run(problem, 1e-12, 10_000).certificate.objective
    for tol in (0.5, 0.1, 1e-2):
        found = Homotopy(problem).run(problem, tol, 10_000).certificate
        assert found.relative_gap <= tol
        assert -1e-12 * best <= found.objective - best <= found.gap + 1e-12 * best


def test_few_events_end_where_they_are_and_turns_go_on():
    X, y = wide(seed=3)
    problem = problem_of(X, y, l1=alpha_max(X, y, np.ones(len(y))) / 50)
    fit = Homotopy(problem).run(problem, 1e-6, 10)
    assert not fit.converged
    assert fit.n_iter == 5
    assert 0 < np.count_nonzero(fit.coef) <= 5


@pytest.mark.parametrize("max_iter", [1, 2, 3, 50, 100_000])
def test_turns_go_on_where_events_end(max_iter, monkeypatch):
    X, y = wide(seed=3)
    problem = problem_of(X, y, l1=alpha_max(X, y, np.ones(len(y))) / 50)
    best = Homotopy(problem).run(problem, 1e-9, 100_000).certificate.objective
    monkeypatch.setattr(_homotopy, "_EVENTS_PER_ROW", 1)
    ran, run = [], Search.run
    monkeypatch.setattr(Search, "run", lambda *args: ran.append(args[-1]) or run(*args))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Lasso(problem.l1, tol=1e-6, max_iter=max_iter).fit(X, y)
        path = regularization_path(X, y, alphas=[problem.l1], tol=1e-6, max_iter=max_iter)
    events = min(len(y), max_iter // 2)
    assert ran == [events, events]
    for n_iter, objective in ((model.n_iter_, model.objective_),
                              (path.n_iters[0], path.objectives[0])):
        assert events < n_iter <= max_iter
        # a turn at least has been taken, which brings more than half of the way
        assert objective - best < 0.5 * (0.5 * y.var() - best)
        assert objective - best <= 1e-6 * best or max_iter < 100_000


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix])
def test_sparse_rows_with_many_entries_are_chosen_for_as_dense_ones(kind, n_jobs):
    X, y = wide(n=60, d=1000)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, X, 0.0)
    assert is_for_homotopy(as_rows(csr_matrix(X)))
    dense = LassoCV(tol=1e-8, max_iter=100_000).fit(X, y)
    sparse = LassoCV(tol=1e-8, max_iter=100_000, n_jobs=n_jobs).fit(kind(X), y)
    np.testing.assert_allclose(sparse.mse_path_, dense.mse_path_, rtol=1e-6)
    assert sparse.alpha_ == pytest.approx(dense.alpha_, rel=1e-12)


def test_a_path_to_no_penalty_goes_on_to_it():
    X, y = wide(n=10, d=600)
    path = regularization_path(X, y, alphas=[0.1, 0.0], tol=1e-6, max_iter=100_000)
    assert path.objectives[1] < 1e-6 * path.objectives[0]


def test_targets_whose_squares_overflow_are_refused():
    X, y = wide()
    for call in (lambda y: regularization_path(X * 1e50, y), lambda y: Lasso().fit(X, y),
                 lambda y: regularization_path(X * 1e50, y, alphas=[1.0])):
        with pytest.raises(ValueError, match="squares do not overflow"):
            call(y * 1e300)
    # and what overflows all the same ends, and is not called good
    problem = problem_of(X, y * 1e300, l1=1.0)
    assert not Homotopy(problem).run(problem, 1e-3, 1000).converged


def test_columns_that_depend_on_each_other():
    X, y = wide(seed=4)
    X = np.c_[X, X, 2 * X[:, :50], np.full((len(X), 5), 7.0), np.zeros((len(X), 3))]
    most = alpha_max(X, y, np.ones(len(y)))
    for share in (2, 10, 200):
        model = Lasso(most / share, tol=1e-8, max_iter=100_000).fit(X, y)
        assert model.duality_gap_ <= 1e-8
        assert (model.coef_[-8:] == 0).all()
        w = model.coef_
        assert kkt(X, y, 1 / len(y), w, model.intercept_, most / share, 0.0, False) < 1e-4 * most


def test_whole_numbers_with_many_ties():
    X = np.random.default_rng(5).integers(0, 2, size=(30, 700)).astype(float)
    y = np.random.default_rng(6).integers(0, 3, size=30).astype(float)
    most = alpha_max(X, y, np.ones(30))
    for share in (1.01, 3, 30, 1000):
        model = Lasso(most / share, tol=1e-8, max_iter=100_000).fit(X, y)
        assert model.duality_gap_ <= 1e-8
        assert kkt(X, y, 1 / 30, model.coef_, model.intercept_, most / share, 0.0,
                   False) < 1e-3 * most / share


def test_paths_and_searches_go_the_same_way():
    X, y = wide(seed=7)
    found = regularization_path(X, y, alphas=30, tol=1e-9, max_iter=10_000)
    for k in (0, 7, 29):
        problem = problem_of(X, y, l1=found.alphas[k])
        fit = Search(problem).run(problem, 1e-10, 100_000)
        assert found.objectives[k] == pytest.approx(fit.certificate.objective, rel=1e-8)
    # alphas that rise begin anew
    both = problem_of(X, y, l1=found.alphas[20])
    steps = Homotopy(both)
    low = steps.run(both, 1e-9, 10_000)
    high = problem_of(X, y, l1=found.alphas[3])
    assert np.allclose(steps.run(high, 1e-9, 10_000).coef, found.coefs[:, 3], atol=1e-7)
    assert np.allclose(steps.run(both, 1e-9, 10_000).coef, low.coef, atol=1e-7)
    model = LassoCV(cv=3, alphas=20, tol=1e-8).fit(X, y)
    alone = Lasso(model.alpha_, tol=1e-8).fit(X, y)
    assert np.allclose(model.coef_, alone.coef_, atol=1e-4)


def test_sees_only_few_dense_rows():
    X, _ = wide()
    assert is_for_homotopy(as_rows(X))
    assert not is_for_homotopy(as_rows(np.ones((200, 3))))


def test_a_target_that_nothing_explains():
    X, _ = wide(seed=8)
    model = ElasticNet(0.1).fit(X, np.full(len(X), 2.0))
    assert (model.coef_ == 0).all()
    assert model.intercept_ == pytest.approx(2.0)


@pytest.mark.parametrize("n, is_copied", [(40, False), (200, True)])
def test_a_path_of_few_rows_needs_no_transpose(n, is_copied, monkeypatch):
    X, y = wide(n)
    copies, columns = [], _primal_cd.Columns
    monkeypatch.setattr(_primal_cd, "Columns", lambda X: copies.append(1) or columns(X))
    path = regularization_path(X, y, alphas=20, eps=0.05)
    assert path.alphas[0] == pytest.approx(alpha_max(X, y, np.ones(n)), rel=1e-9)
    assert bool(copies) == is_copied


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("layout", [np.asarray, csr_matrix])
def test_columns_that_are_nearly_the_same(k, layout):
    """Turns over weights hardly move along their difference, nor do products of pairs know it."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 8))
    y = np.where(A[:, 5] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    A[:, :k] += 1e5
    model = Lasso(alpha=0.01, fit_intercept=False).fit(layout(A), y)
    assert model.duality_gap_ <= 1e-4 and model.n_iter_ < 500
    A, w = A.astype(np.longdouble), model.coef_.astype(np.longdouble)
    v = A.T @ (y - A @ w) / 60
    assert np.abs(v).max() <= 0.01 * (1 + 1e-3)
    np.testing.assert_allclose(v[w != 0].astype(float), 0.01 * np.sign(model.coef_[w != 0]),
                               rtol=1e-3)  # fmt: skip
