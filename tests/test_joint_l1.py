"""Softmax and sparsemax with an L1 penalty, or L1 and L2, on wide sparse rows: descent by columns
and ascent by rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from fastlin import LogisticRegression, as_rows
from fastlin import _joint_dual as dual
from fastlin import _joint_newton as newton
from fastlin import _joint_primal as primal
from fastlin import _joint_sets as sets
from fastlin import _joint_solve as joint_solve
from fastlin._core import multi
from fastlin._isa import choose
from fastlin._joint_problem import Distributions, JointProblem
from fastlin._random import spawn_seed

SEED = spawn_seed(0, 1)[0]
K = 5


def wide(n=90, d=140, seed=0, dtype=np.float64):
    """Rows of few entries, columns that are alike, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.08, "csr", random_state=seed, data_rvs=lambda size: rng.random(size))
    X = sparse.hstack([X, 0.5 * X[:, :20], sparse.csr_matrix(np.ones((n, 1)))], "csr")
    z = X @ rng.normal(size=(X.shape[1], K)) * 3
    return X.astype(dtype), (z + rng.gumbel(size=z.shape)).argmax(axis=1)


def problem_of(X, y, loss, l1, l2, **more):
    return JointProblem(as_rows(X), Distributions.of_codes(y, K), loss, l1, l2, **more)


def both_sides(X, q, loss, l1, l2, W, b, weight):
    """(P, how far the slopes are from what the optimum allows), plainly."""
    z = X @ W.T + b
    if loss == "log_loss":
        top = z.max(axis=1, keepdims=True)
        value = np.log(np.exp(z - top).sum(axis=1)) + top[:, 0] - (q * z).sum(axis=1)
        p = np.exp(z - top)
        p /= p.sum(axis=1, keepdims=True)
    else:
        order = -np.sort(-z, axis=1)
        size = np.arange(1, K + 1)
        mean = (order.cumsum(axis=1) - 1) / size
        support = (order > mean).sum(axis=1)
        p = np.maximum(z - mean[np.arange(len(z)), support - 1][:, None], 0)
        value = ((p - q) * z).sum(axis=1) - 0.5 * (p * p).sum(axis=1) + 0.5 * (q * q).sum(axis=1)
    s = weight / weight.sum()
    slope = ((p - q) * s[:, None]).T @ X + l2 * W
    off = np.where(W != 0, np.abs(slope + l1 * np.sign(W)), np.maximum(np.abs(slope) - l1, 0))
    off_b = np.abs(s @ (p - q)).max()
    P = s @ value + l1 * np.abs(W).sum() + 0.5 * l2 * (W * W).sum()
    return P, max(off.max() / l1, off_b)


@pytest.mark.parametrize("loss", ["log_loss", "sparsemax"])
@pytest.mark.parametrize(("l1", "l2"), [(3e-2, 0), (3e-3, 0), (3e-3, 1e-2)])
def test_answers_are_optimal(loss, l1, l2):
    X, y = wide()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    q = np.eye(K)[y]
    problem = problem_of(X, y, loss, l1, l2, weight=weight)
    for solver in [primal, dual] if l2 else [primal]:
        fit = solver.solve(problem, 1e-10, 2000, SEED)
        P, off = both_sides(X.toarray(), q, loss, l1, l2, fit.coef, fit.intercept, weight)
        assert fit.converged
        assert fit.certificate.relative_gap <= 1e-10
        assert fit.certificate.objective == pytest.approx(P, rel=1e-12)
        assert off < 1e-3
        assert 0 < np.count_nonzero(fit.coef) < fit.coef.size / 2
    other = newton.solve(problem, 1e-9, 2000, SEED)
    bound = other.certificate.objective - other.certificate.gap
    assert bound * (1 - 1e-12) <= P <= other.certificate.objective * (1 + 1e-9)


def test_distributions_a_start_and_no_intercept():
    X, y = wide(dtype=np.float32)
    rng = np.random.default_rng(2)
    target = Distributions.of_table(rng.random((len(y), K)) * (rng.random((len(y), K)) < 0.5)
                                    + np.eye(K)[y])
    problem = replace(problem_of(X, y, "log_loss", 2e-3, 0.0, fit_intercept=False), target=target)
    fit = primal.solve(problem, 1e-9, 500, SEED)
    assert fit.converged
    assert not fit.intercept.any()
    q = target.table(np.arange(len(y)))
    P, off = both_sides(X.toarray().astype(float), q, "log_loss", 2e-3, 0.0, fit.coef, 0.0,
                        np.ones(len(y)))
    assert fit.certificate.objective == pytest.approx(P, rel=1e-12)
    again = primal.solve(problem, 1e-8, 500, SEED, fit)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.coef, fit.coef)


def test_ones_without_values_and_a_penalty_that_leaves_nothing():
    X, y = wide()
    X.data[:] = 1
    rows = as_rows(X)
    assert rows.values is None
    problem = problem_of(X, y, "log_loss", 5e-3, 1e-3)
    one, other = (solver.solve(problem, 1e-9, 2000, SEED) for solver in (primal, dual))
    assert one.certificate.objective == pytest.approx(other.certificate.objective, rel=2e-9)
    nothing = primal.solve(replace(problem, l1=10.0, l2=0.0), 1e-12, 10, SEED)
    assert not nothing.coef.any()
    shares = np.bincount(y, minlength=K) / len(y)
    assert nothing.certificate.objective == pytest.approx(-(shares @ np.log(shares)), rel=1e-12)


def test_ascent_has_the_same_bits_under_every_instruction_set(monkeypatch):
    X, y = wide()
    found = {}
    for dtype in (np.float32, np.float64):
        problem = problem_of(X.astype(dtype), y, "log_loss", 3e-3, 1e-2)
        for name, _, here in multi.instruction_sets():
            if here:
                monkeypatch.setattr(dual, "ISA", choose(name))
                fit = dual.solve(problem, 0.0, 5, SEED)
                found.setdefault(dtype, set()).add(fit.coef.tobytes() + fit.intercept.tobytes())
    assert [len(same) for same in found.values()] == [1, 1]


def test_objective_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = wide(n=60, d=40)
    peer = linear_model.LogisticRegression(l1_ratio=1.0, C=1.0, solver="saga", tol=1e-6,
                                           max_iter=3000, random_state=0).fit(X, y)
    fit = primal.solve(problem_of(X, y, "log_loss", 1 / 60, 0.0), 1e-10, 500, SEED)
    P, _ = both_sides(X.toarray(), np.eye(K)[y], "log_loss", 1 / 60, 0.0, peer.coef_,
                      peer.intercept_, np.ones(60))
    assert fit.certificate.objective == pytest.approx(P, rel=1e-6)


def test_which_solver_takes_wide_rows(monkeypatch):
    X, y = wide(n=50, d=1200)
    calls = []

    def noted(module):
        solve = module.solve
        monkeypatch.setattr(module, "solve",
                            lambda *a: calls.append(module.__name__[15:]) or solve(*a))

    for module in (dual, primal, sets):
        noted(module)
    for C, ratio in [(1.0, 1.0), (1.0, 0.5), (1e4, 0.5)]:
        model = LogisticRegression(penalty="elasticnet", l1_ratio=ratio, C=C, tol=1e-6).fit(X, y)
        assert model.duality_gap_[0] <= 1e-6
    monkeypatch.setattr(joint_solve, "_MOST_DUAL_BYTES", 100)
    for solver in ("auto", "primal_cd"):
        LogisticRegression(penalty="l1", tol=1e-6, solver=solver).fit(X, y)
    assert calls == ["primal", "dual", "primal", "sets", "sets"]
