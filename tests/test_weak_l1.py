"""A weak L1 penalty on a loss that is flat beyond a point: stronger ones come first."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from fastlin import _working_set, as_rows
from fastlin._primal_cd import solve
from fastlin._problem import Certificate, Problem
from fastlin._working_set import largest_l1, stronger

SEED = np.zeros(4, np.uint64)


def wide(loss, layout, dtype=np.float64):
    """More columns than rows, so that rows may all be fitted."""
    rng = np.random.default_rng(0)
    dense = (rng.normal(size=(60, 500)) * (rng.random((60, 500)) < 0.5)).astype(dtype)
    z = dense[:, :5].sum(axis=1) + 0.5 * rng.normal(size=60)
    y = np.sign(z) if loss == "squared_hinge" else z
    return dense.astype(np.float64), Problem(
        X=as_rows(layout(dense)), y=y, loss=loss, weight=np.empty(0),
        loss_parameter=1.0 if loss == "squared_hinge" else 0.1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("share", [300, 3000])
def test_the_optimum(loss, layout, dtype, share):
    dense, p = wide(loss, layout, dtype)
    p = replace(p, l1=largest_l1(p) / share)
    for tol in (1e-4, 1e-8):
        fit = solve(p, tol, 20_000, SEED)
        assert fit.converged and 0 < np.count_nonzero(fit.coef) <= 70
        # by naive NumPy: no slope is further from what optimality allows than the gap lets it be
        z = dense @ fit.coef + fit.intercept
        assert fit.certificate.objective == pytest.approx(p.primal(z, fit.coef), rel=1e-12)
        assert Certificate.measured(p, fit.coef, fit.intercept).relative_gap <= 50 * tol**0.5
        slope = dense.T @ p.weighted(p.slopes(z))
        assert np.abs(slope).max() <= p.l1 * (1 + 20 * tol**0.5)


def test_turns_on_the_way_count_and_pay(monkeypatch):
    """With them an optimum is reached that turns from 0 on do not reach."""
    _, p = wide("squared_hinge", sparse.csr_matrix)
    p = replace(p, l1=largest_l1(p) / 1e5)
    fit = solve(p, 1e-4, 1000, SEED)
    assert fit.converged
    for most in (1, 5, 20):
        assert solve(p, 1e-4, most, SEED).n_iter <= most + 1
    monkeypatch.setattr(_working_set, "_WEAK", 0.0)
    straight = solve(p, 1e-4, 1000, SEED)
    assert straight.n_iter > fit.n_iter
    assert straight.certificate.objective > 0.9 * fit.certificate.objective


def test_penalties_on_the_way():
    for largest, l1 in ((1.0, 0.1), (1.0, 1.0), (0.5, 1.0), (0.0, 1.0), (np.inf, 1.0)):
        assert stronger(largest, l1) == []
    for l1, count in ((4e-3, 1), (1e-4, 3), (3e-6, 4)):
        found = np.array(stronger(2.0, 2 * l1))
        assert len(found) == count
        np.testing.assert_allclose(found, 2 * l1 ** (np.arange(1, count + 1) / (count + 1)))
