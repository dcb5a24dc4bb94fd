"""Turns over most columns far from the optimum: what they keep, that they fall, where they lead."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import _primal_cd, _sweeps, as_rows
from fastlin._primal_cd import solve
from fastlin._problem import Certificate, Problem
from fastlin._quadratic import Model
from fastlin._sweeps import Sweeps, is_for_sweeps
from fastlin._transpose import transposed

SEED = np.zeros(4, np.uint64)
NONE = np.empty(0)


def rows(dtype=np.float64, n=400, d=120):
    """The first columns are nearly full and positive, so that they have much in common."""
    rng = np.random.default_rng(1)
    dense = rng.random((n, d)) * (rng.random((n, d)) < np.geomspace(0.9, 0.02, d))
    return dense.astype(dtype), rng


def some_problem(dense, rng, free, weighted, l1=1e-3, l2=0.0):
    n, d = dense.shape
    z = dense @ rng.normal(size=d) + rng.normal(size=n)
    weight = rng.integers(0, 4, n).astype(float) if weighted else NONE
    return Problem(X=as_rows(sparse.csr_matrix(dense)), y=np.where(z > z.mean() - 0.3, 1.0, -1.0),
                   loss="log_loss", weight=weight, l1=l1, l2=l2, fit_intercept=free)


@pytest.mark.parametrize("sampled", [1, 12], ids=["all rows", "some rows"])
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("free", [False, True], ids=["origin", "free"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_turn_keeps_the_residuals_and_the_model_falls(dtype, free, weighted, l2, sampled,
                                                        monkeypatch):
    monkeypatch.setattr(_sweeps, "_HEAVIEST", 15)
    monkeypatch.setattr(_sweeps, "_ROWS", 1)
    monkeypatch.setattr(_sweeps, "_EVERY", sampled)
    dense, rng = rows(dtype)
    p = some_problem(dense, rng, free, weighted, l2=l2)
    n, d = dense.shape
    dense = dense.astype(np.float64)
    s = p.weight / p.total_weight if weighted else NONE
    even = Model(transposed(p.X), s, 1 / p.total_weight, free)
    h = p.weighted(0.1 + 0.15 * rng.random(n))
    chosen = np.sort(rng.permutation(d)[:100])
    sweeps = Sweeps(p, even, chosen, h)
    w, target, b = np.zeros(d), rng.normal(size=n), 0.0
    r = h * target

    def value():
        left = target - dense @ w - b
        return 0.5 * (h * left) @ left + p.penalty(w)

    last, falls = value(), []
    for _ in range(60 if sampled == 1 else 600):
        b += sweeps.turn(w, r, h)
        left = h * (target - dense @ w - b)
        # of single precision, which whoever takes the turns mends
        np.testing.assert_allclose(r, left, rtol=0, atol=1e-6 * np.abs(left).max())
        r[:] = left
        falls.append(last - value())
        last = value()
    assert min(falls) > -1e-12 and falls[0] > 1e-3
    assert free or b == 0
    assert not w[np.setdiff1d(np.arange(d), chosen)].any()
    # the minimum of the model
    slope = dense[:, chosen].T @ r - l2 * w[chosen]
    # what goes a part of the way to 0 in each turn is never there
    own = np.where(np.abs(w[chosen]) > 1e-12 * np.abs(w).max(), w[chosen], 0.0)
    assert 5 < np.count_nonzero(own) < len(own)
    far = np.where(own == 0, np.abs(slope) - p.l1, np.abs(slope - p.l1 * np.sign(own)))
    assert far.max() < 1e-2 * p.l1
    assert not free or abs(r.sum()) < 1e-4


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("free", [False, True], ids=["origin", "free"])
def test_they_lead_to_the_same_optimum(free, weighted, monkeypatch):
    dense, rng = rows()
    p = some_problem(dense, rng, free, weighted, l1=3e-4)
    plain = solve(p, 1e-10, 5000, SEED)
    monkeypatch.setattr(_sweeps, "_LEAST", 0.0)
    monkeypatch.setattr(_sweeps, "_HEAVIEST", 15)
    taken = []
    monkeypatch.setattr(_primal_cd, "Sweeps", lambda *a: taken.append(a) or Sweeps(*a))
    fit = solve(p, 1e-10, 5000, SEED)
    assert taken
    assert fit.converged and fit.certificate.relative_gap <= 1e-10
    assert fit.certificate.objective == pytest.approx(plain.certificate.objective, rel=1e-9)
    assert Certificate.measured(p, fit.coef, fit.intercept).relative_gap <= 3e-5


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("free", [False, True], ids=["origin", "free"])
def test_the_rows_certify_what_turns_in_single_precision_end_with(free, weighted, monkeypatch):
    dense, rng = rows()
    p = some_problem(dense, rng, free, weighted, l1=3e-4)
    monkeypatch.setattr(_sweeps, "_LEAST", 0.0)
    monkeypatch.setattr(_sweeps, "_HEAVIEST", 15)
    taken = []
    monkeypatch.setattr(_primal_cd, "Sweeps", lambda *a: taken.append(a) or Sweeps(*a))
    fit = solve(p, 1e-6, 2, SEED)
    assert len(taken) == 1 and fit.n_iter == 2 and not fit.converged
    measured = Certificate.measured(p, fit.coef, fit.intercept)
    assert fit.certificate.objective == pytest.approx(measured.objective, rel=1e-13)
    assert fit.certificate.relative_gap == pytest.approx(measured.relative_gap, rel=1e-9)


def test_only_most_of_many_entries_are_for_them(monkeypatch):
    dense, rng = rows()
    p = some_problem(dense, rng, False, False)
    sizes = (dense != 0).sum(axis=0)
    every = np.arange(len(sizes))
    assert not is_for_sweeps(p, every, sizes)
    monkeypatch.setattr(_sweeps, "_LEAST", 0.0)
    assert is_for_sweeps(p, every, sizes)
    assert not is_for_sweeps(p, every[40:], sizes)
    with monkeypatch.context() as patch:
        patch.setattr(_sweeps, "_HEAVIEST", 3)
        assert not is_for_sweeps(p, every, sizes)
    # where all rows but those of no weight are left out of the sample, columns alone take steps
    some = np.zeros(len(p.y))
    some[1::2] = 1.0
    monkeypatch.setattr(_sweeps, "_ROWS", 1)
    monkeypatch.setattr(_sweeps, "_HEAVIEST", 15)
    monkeypatch.setattr(_sweeps, "_EVERY", 2)
    weighted = Problem(X=p.X, y=p.y, loss="log_loss", weight=some, l1=1e-4, fit_intercept=True)
    assert solve(weighted, 1e-8, 5000, SEED).converged


@pytest.mark.parametrize("l1", [1e-2, 1e-4])
def test_columns_of_rows_without_weight_get_none(l1, monkeypatch):
    """Nothing would take it back: no turn moves along a column without curvature."""
    dense, rng = rows(n=200)
    weight = (np.arange(200) < 50).astype(float)
    dense[:, 3] = weight == 0
    p = Problem(X=as_rows(sparse.csr_matrix(dense)), y=np.where(rng.random(200) < 0.85, 1.0, -1.0),
                loss="log_loss", weight=weight, l1=l1, fit_intercept=False)
    monkeypatch.setattr(_sweeps, "_LEAST", 0.0)
    monkeypatch.setattr(_sweeps, "_HEAVIEST", 15)
    taken = []
    monkeypatch.setattr(_primal_cd, "Sweeps", lambda *a: taken.append(a) or Sweeps(*a))
    fit = solve(p, 1e-6, 1000, SEED)
    assert taken and fit.converged and fit.coef[3] == 0


def test_a_constant_column_is_left_to_the_intercept(monkeypatch):
    """Where all are constant there is nothing to sweep over."""
    monkeypatch.setattr(_sweeps, "_LEAST", 0.0)
    y = np.where(np.arange(60) < 40, 1.0, -1.0)
    p = Problem(X=as_rows(sparse.csr_matrix(np.full((60, 2), 3.0))), y=y, loss="log_loss",
                weight=NONE, l1=1e-6, fit_intercept=True)
    fit = solve(p, 1e-8, 50, SEED)
    assert fit.converged and not fit.coef.any()
    assert fit.intercept == pytest.approx(np.log(2))
