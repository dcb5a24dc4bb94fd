"""Columns rounded to single precision: the optimum and its certificate are those of the rows."""

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import _primal_cd, as_rows
from fastlin._primal_cd import solve
from fastlin._problem import Problem
from fastlin._transpose import Columns

LOSSES = {"log_loss": 0.0, "squared_hinge": 1.0, "squared_epsilon_insensitive": 0.2}
SEED = np.zeros(4, np.uint64)
NONE = np.empty(0)
SPARSE = [layout for layout in LAYOUTS if layout.kind != "dense"]


def problem(X, dense, loss, **more):
    rng = np.random.default_rng(1)
    z = dense @ rng.normal(size=dense.shape[1]) + rng.normal(size=len(dense))
    y = z if loss.startswith("squared_e") else np.where(z > 0, 1.0, -1.0)
    return Problem(X=as_rows(X), y=y, loss=loss, weight=NONE, loss_parameter=LOSSES[loss], **more)


def kinds_of_columns(monkeypatch):
    """The types of the columns that searches are given, as they come."""
    seen = []

    def noted(X, dtype=None):
        columns = Columns(X, dtype)
        seen.append(columns.rows.dtype)
        return columns

    monkeypatch.setattr(_primal_cd, "Columns", noted)
    return seen


@pytest.mark.parametrize("layout", SPARSE, ids=lambda layout: layout.name)
@pytest.mark.parametrize("all_at_once", [False, True])
def test_the_columns_are_those_of_the_rows_rounded(layout, all_at_once):
    X, dense = layout.make(50, 15)
    columns = Columns(as_rows(X), np.float32)
    if all_at_once:
        columns.need_all()
    else:
        for chosen in ([3, 9], [0, 3, 13], list(range(1, 7)), [8, 10, 11, 12]):
            columns.need(np.array(chosen))
        columns.need(np.array([7, 14]))
    found = columns.rows.toarray()
    assert columns.rows.dtype == found.dtype == np.float32
    np.testing.assert_array_equal(found, dense.T.astype(np.float32))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [False, True], ids=["origin", "free"])
@pytest.mark.parametrize("l2", [0.0, 0.02])
def test_the_certificate_is_that_of_the_rows(loss, free, l2, monkeypatch):
    """Thirds, which no type holds: the objective is the rows' to the last digits, and so the gap to
    an optimum found in double."""
    dense = sparse.random(80, 40, 0.3, random_state=2).toarray()
    dense = np.where(dense != 0, np.round(3e3 * dense) / 3.0, 0.0)
    p = problem(sparse.csr_matrix(dense), dense, loss, l1=2.0, l2=l2, fit_intercept=free)
    best = solve(p, 1e-9, 5000, SEED)
    seen = kinds_of_columns(monkeypatch)
    for tol in (1e-3, 1e-6):
        fit = solve(p, tol, 100_000, SEED)
        assert fit.converged and np.count_nonzero(fit.coef)
        objective = p.primal(dense @ fit.coef + fit.intercept, fit.coef)
        assert fit.certificate.objective == pytest.approx(objective, rel=1e-13)
        gap = fit.certificate.gap
        assert objective - best.certificate.objective <= gap + 1e-10 * objective
        assert gap <= tol * objective
    assert set(seen) == {np.dtype(np.float32)}


@pytest.mark.parametrize("size", [1e-60, 1.0, 1e45], ids=["lost", "near", "infinite"])
def test_what_single_precision_cannot_hold_is_finished_in_double(size, monkeypatch):
    """A column that varies by less than a rounding, of values that may not be numbers there."""
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.5)
    dense[:, 0] = (1.0 + 1e-9 * np.arange(-30, 30)) * 1e3
    dense[:, 1] *= size
    y = np.where(np.arange(60) + 5 * rng.normal(size=60) > 30, 1.0, -1.0)
    p = Problem(X=as_rows(sparse.csr_matrix(dense)), y=y, loss="log_loss", weight=NONE, l1=1e-8)
    seen = kinds_of_columns(monkeypatch)
    fit = solve(p, 1e-4, 5000, SEED)
    assert seen == [np.float32, np.float64]
    monkeypatch.setattr(_primal_cd, "_LEAST_ROUNDED_TOL", np.inf)
    expected = solve(p, 1e-4, 5000, SEED)
    assert seen[2:] == [np.float64]
    assert fit.converged == expected.converged == (size < 1e40)
    assert fit.coef[0] != 0
    assert fit.certificate.objective == pytest.approx(
        expected.certificate.objective, rel=2e-4 if fit.converged else 1e-2)


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_turns_on_either_copy_count(max_iter):
    dense = sparse.random(80, 40, 0.3, random_state=2).toarray()
    p = problem(sparse.csr_matrix(dense), dense, "log_loss", l1=1e-5)
    fit = solve(p, 1e-6, max_iter, SEED)
    assert not fit.converged and fit.n_iter <= max_iter + 1
