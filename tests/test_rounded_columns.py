"""Columns rounded to single precision: the optimum and its certificate are those of the rows."""

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import _primal_cd, as_rows
from fastlin._primal_cd import Search, solve
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


def searches(monkeypatch):
    """What searches are given and return, as they come: (type of the columns, start, turns,
    answer)."""
    seen, run = [], Search.run

    def noted(self, problem, tol, max_iter, start=None, turns=0):
        fit = run(self, problem, tol, max_iter, start, turns)
        seen.append((self.columns.dtype, start, turns, fit))
        return fit

    monkeypatch.setattr(Search, "run", noted)
    return seen


def test_turns_on_either_copy_count(monkeypatch):
    """A column that varies by less than a rounding, so that the first search comes to its end."""
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.5)
    dense[:, 0] = (1.0 + 1e-9 * np.arange(-30, 30)) * 1e3
    y = np.where(np.arange(60) + 5 * rng.normal(size=60) > 30, 1.0, -1.0)
    p = Problem(X=as_rows(sparse.csr_matrix(dense)), y=y, loss="log_loss", weight=NONE, l1=1e-8)
    seen = searches(monkeypatch)
    max_iter = solve(p, 1e-4, 5000, SEED).n_iter - 1
    assert seen[0][3].n_iter < max_iter
    seen.clear()
    fit = solve(p, 1e-4, max_iter, SEED)
    (first, _, none, begun), (second, start, turns, last) = seen
    assert first == np.float32 and second == np.float64
    assert none == 0 and start is begun and turns == begun.n_iter > 0
    assert fit is last and fit.n_iter == max_iter


def test_no_second_copy_where_no_turn_is_left(monkeypatch):
    dense = sparse.random(80, 40, 0.3, random_state=2).toarray()
    p = problem(sparse.csr_matrix(dense), dense, "log_loss", l1=1e-5)
    seen = kinds_of_columns(monkeypatch)
    for max_iter in (1, 2, 3):
        seen.clear()
        fit = solve(p, 1e-6, max_iter, SEED)
        assert not fit.converged and max_iter <= fit.n_iter <= max_iter + 1
        assert seen == [np.float32]


@pytest.mark.parametrize("max_iter", [1, 2, 5, 200])
@pytest.mark.parametrize("size", [1e39, 1e-60], ids=["infinite", "lost"])
def test_a_start_is_not_given_up_for_a_worse_answer(size, max_iter):
    """It has a weight whose column single precision cannot hold."""
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.5)
    y = np.where(dense[:, 0] + 2 * dense[:, 1] > 0, 1.0, -1.0)
    dense[:, 1] *= size
    p = Problem(X=as_rows(sparse.csr_matrix(dense)), y=y, loss="log_loss", weight=NONE,
                l1=min(1e-2, 1e-2 * size))
    best = Search(p).run(p, 1e-12, 200)
    assert best.coef[1] != 0
    fit = solve(p, 1e-4, max_iter, SEED, best)
    assert fit.certificate.objective <= best.certificate.objective * (1 + 1e-4)


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
def test_slow_searches_are_not_taken_for_lost_ones(loss, monkeypatch):
    """Under a weak penalty the gap stays for several rounds in which the objective still falls."""
    rng = np.random.default_rng(0)
    n, d, length = 300, 3000, 40
    share = 1.0 / np.arange(1, d + 1)
    columns = rng.choice(d, n * length, p=share / share.sum())
    X = sparse.csr_matrix((np.ones(n * length), (np.repeat(np.arange(n), length), columns)), (n, d))
    X.sum_duplicates()
    X = sparse.csr_matrix(X / np.sqrt(np.asarray(X.multiply(X).sum(axis=1))))
    z = X @ (5 * rng.normal(size=d) * (rng.random(d) < 0.05)) + 0.3 * rng.normal(size=n)
    y = z if loss == "squared_epsilon_insensitive" else np.where(z > np.median(z), 1.0, -1.0)
    p = Problem(X=as_rows(X), y=y, loss=loss, weight=NONE, l1=1e-5,
                loss_parameter=0.1 if loss == "squared_epsilon_insensitive" else 1.0)
    seen = kinds_of_columns(monkeypatch)
    fit = solve(p, 1e-5, 2000, SEED)
    assert fit.converged and seen == [np.float32]
    # by the bare number of such rounds it is given up
    monkeypatch.setattr(_primal_cd, "_ROUNDED_FALL", np.inf)
    solve(p, 1e-5, 2000, SEED)
    assert seen[1:] == [np.float32, np.float64]
