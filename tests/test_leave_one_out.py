"""Leave-one-out in closed form against refits; the approximate one against its own error."""

from dataclasses import replace

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import (
    LeaveOneOut,
    LinearRegression,
    Ridge,
    _folds_run,
    _newton,
    cross_val_predict,
    cross_val_score,
)
from fastlin._data import as_rows
from fastlin._leave_one_out import approximate, held_out
from fastlin._problem import Problem

SEED = np.zeros(4, np.uint64)


def data(n=30, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    return X, X @ rng.normal(size=d) + rng.normal(size=n), rng.integers(1, 4, n).astype(float)


def refitted(model, X, y, weight=None):
    """The answers of fits without each row."""
    out = np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        s = None if weight is None else weight[rest]
        out[i] = model.fit(X[rest], y[rest], s).predict(X[[i]])[0]
    return out


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(30, 5), (12, 20)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_ridge_is_that_of_refits(shape, fit_intercept, weighted, alpha, build):
    X, y, weight = data(*shape)
    weight = weight if weighted else None
    model = Ridge(alpha, fit_intercept=fit_intercept)
    found = cross_val_predict(
        model, build(X), y, cv=LeaveOneOut(), params={"sample_weight": weight} if weighted else None
    )
    np.testing.assert_allclose(found, refitted(model, X, y, weight), atol=1e-8)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_every_layout(layout):
    X, dense = layout.make()
    y = dense @ np.arange(dense.shape[1]) + np.sin(np.arange(len(dense)))
    found = held_out(Problem(as_rows(X), y, "squared_error", l2=1.0 / len(y)))
    np.testing.assert_allclose(found, refitted(Ridge(1.0), dense, y), atol=1e-7)


def test_rows_of_no_weight_are_answered_by_the_others():
    X, y, weight = data()
    weight[[2, 7]] = 0
    found = cross_val_predict(
        Ridge(), X, y, cv=LeaveOneOut(), params={"sample_weight": weight}
    )
    np.testing.assert_allclose(found, refitted(Ridge(), X, y, weight), atol=1e-9)


def test_least_squares_is_that_of_refits():
    X, y, weight = data()
    for model in (LinearRegression(), LinearRegression(fit_intercept=False)):
        found = cross_val_predict(model, X, y, cv=LeaveOneOut())
        np.testing.assert_allclose(found, refitted(model, X, y), atol=1e-9)


def test_columns_that_depend_on_each_other_are_left_to_refits():
    X, y, _ = data()
    X = np.column_stack([X, X[:, 0]])
    assert held_out(Problem(as_rows(X), y, "squared_error")) is None
    found = cross_val_predict(LinearRegression(), X, y, cv=LeaveOneOut())
    np.testing.assert_allclose(found, refitted(LinearRegression(), X, y), atol=1e-9)


def test_a_row_that_alone_holds_a_column():
    X, y, _ = data()
    X[:, 2] = 0
    X[4, 2] = 1
    for model in (Ridge(1e-12), LinearRegression()):
        found = cross_val_predict(model, X, y, cv=LeaveOneOut())
        np.testing.assert_allclose(found, refitted(model, X, y), atol=1e-6)


def test_what_has_no_closed_form_is_none():
    X, y, _ = data()
    problem = Problem(as_rows(X), y, "squared_error", l2=0.1)
    assert held_out(problem) is not None
    for other in ({"l1": 0.1}, {"positive": True}, {"loss": "huber"}):
        assert held_out(replace(problem, **other)) is None


def test_scores_and_fits_are_those_of_refits(monkeypatch):
    X, y, _ = data()
    calls = []
    original = _folds_run.held_out_answers
    monkeypatch.setattr(
        _folds_run, "held_out_answers", lambda *a: calls.append(1) or original(*a)
    )
    options = {"cv": LeaveOneOut(), "scoring": "neg_mean_squared_error"}
    found = cross_val_score(Ridge(), X, y, **options)
    assert len(calls) == 1
    monkeypatch.setattr(_folds_run, "held_out_answers", lambda *a: None)
    np.testing.assert_allclose(found, cross_val_score(Ridge(), X, y, **options), atol=1e-9)
    np.testing.assert_allclose(found, -((y - refitted(Ridge(), X, y)) ** 2), atol=1e-9)


def test_other_splits_are_no_leave_one_out(monkeypatch):
    X, y, _ = data()
    monkeypatch.setattr(_folds_run, "held_out_answers", lambda *a: pytest.fail("asked"))
    n = len(y)
    twice = [(np.delete(np.arange(n), [i, (i + 1) % n]), [i]) for i in range(n)]
    cross_val_score(Ridge(), X, y, cv=twice, scoring="neg_mean_squared_error")
    cross_val_score(Ridge(), X, y, cv=5)


def test_a_wrong_parameter_is_told_by_fit():
    X, y, _ = data()
    with pytest.raises(ValueError, match="alpha must be"):
        cross_val_predict(Ridge(-1.0), X, y, cv=LeaveOneOut())


# approximate


def smooth(loss, n=80, d=4, l2=0.02, weighted=True, fit_intercept=True):
    X, y, weight = data(n, d)
    return Problem(
        as_rows(X), np.where(y > np.median(y), 1.0, -1.0), loss, l2=l2, fit_intercept=fit_intercept,
        weight=weight if weighted else np.empty(0),
        loss_parameter=1.0 if loss == "squared_hinge" else 0.0,
    )  # fmt: skip


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge"])
@pytest.mark.parametrize("shape", [(80, 4), (20, 60)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_approximation_is_near_and_its_error_is_told(loss, shape, fit_intercept):
    problem = smooth(loss, *shape, l2=0.5, fit_intercept=fit_intercept)
    fit = _newton.solve(problem, 1e-10, 100, SEED)
    every = approximate(problem, fit, len(problem.y))
    assert len(every.checked) == len(problem.y)
    few = approximate(problem, fit)
    assert 0 < few.error <= every.error * (1 + 1e-6)
    z = problem.X.toarray() @ fit.coef + fit.intercept
    moved = np.abs(every.exact - z)
    # far nearer to the truth than the responses of the full fit are
    assert np.abs(every.responses - every.exact).mean() < 0.3 * moved.mean()


@pytest.mark.parametrize("shape", [(30, 5), (12, 20)])
def test_one_step_is_exact_for_the_squared_error(shape):
    X, y, weight = data(*shape)
    problem = Problem(as_rows(X), y, "squared_error", l2=0.1, weight=weight)
    fit = _newton.solve(problem, 1e-13, 1000, SEED)
    found = approximate(problem, fit)
    np.testing.assert_allclose(found.responses, held_out(problem), atol=1e-4)
    assert found.error < 1e-4


def test_too_large_matrices_are_refused(monkeypatch):
    from fastlin import _leave_one_out

    monkeypatch.setattr(_leave_one_out, "MOST_ORDER", 3)
    problem = smooth("log_loss")
    fit = _newton.solve(problem, 1e-6, 100, SEED)
    with pytest.raises(ValueError, match="use folds"):
        approximate(problem, fit)
    assert held_out(replace(problem, loss="squared_error")) is None
    with pytest.raises(ValueError, match="cv=5"):
        _leave_one_out.left_out(replace(problem, loss="squared_error"), np.array([0.1]))
