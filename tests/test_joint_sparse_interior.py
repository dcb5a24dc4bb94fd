"""Sparsemax with an L1 penalty from inside: columns of unlike scales, classes hardly overlap."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from test_joint_l1 import K, both_sides

from fastlin import SparsemaxClassifier, as_rows
from fastlin import _joint_newton as newton
from fastlin import _joint_sparse_interior as inside
from fastlin._exceptions import ConvergenceWarning
from fastlin._joint_problem import Distributions, JointProblem
from fastlin._random import spawn_seed

SEED = spawn_seed(0, 1)[0]


def unlike(n=150, d=9, noise=0.0, seed=0):
    """Columns whose sizes are 1e-2 to 1e3, and classes with a little noise, or none: separable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    z = X @ rng.normal(size=(d, K)) + noise * rng.gumbel(size=(n, K))
    return X * np.geomspace(1e-2, 1e3, d), z.argmax(axis=1)


def bound(X, q, l1, l2, p, weight, intercept):
    """What no objective is below, plainly."""
    assert p.min() >= 0 and p.sum(axis=1) == pytest.approx(1, abs=1e-12)
    s = weight / weight.sum()
    if intercept and np.abs(s @ (q - p)).max() > 1e-9:
        return -np.inf  # not yet one
    V = ((q - p) * s[:, None]).T @ X
    if not l2:
        p = q + (p - q) * min(1.0, l1 / np.abs(V).max())
    D = 0.5 * s @ ((q * q).sum(axis=1) - (p * p).sum(axis=1))
    return D - (np.maximum(np.abs(V) - l1, 0) ** 2).sum() / (2 * l2) if l2 else D


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["codes", "table", "weighted", "csr"])
@pytest.mark.parametrize(("C", "l1_ratio"), [(1.0, 0.5), (1e3, 0.1), (1e3, 1.0), (1e6, 1.0)])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_answers_are_optimal(noise, C, l1_ratio, kind, intercept):
    X, y = unlike(noise=noise)
    rng, n = np.random.default_rng(1), len(y)
    weight = rng.choice([0.5, 1.0, 3.0], n) if kind == "weighted" else np.ones(n)
    target = Distributions.of_codes(y.astype(np.int32), K)
    if kind == "table":
        target = Distributions.of_table(0.9 * np.eye(K)[y] + 0.1 * rng.dirichlet(np.ones(K), n))
    l1, l2 = l1_ratio / (C * weight.sum()), (1 - l1_ratio) / (C * weight.sum())
    problem = JointProblem(
        as_rows(sparse.csr_array(X) if kind == "csr" else X), target, "sparsemax", l1, l2,
        weight if kind == "weighted" else np.empty(0), fit_intercept=intercept,
    )
    assert inside.is_for(problem)
    # columns of 1e3 beside an L1 penalty of 4e-9: sums of doubles are no better
    tol = 1e-5 if C == 1e6 else 1e-7
    fit = inside.solve(problem, tol, 100)
    q = target.table(np.arange(n))
    P, _ = both_sides(X, q, "sparsemax", l1, l2, fit.coef, fit.intercept, weight)
    assert fit.converged and fit.n_iter < 60
    assert P == pytest.approx(fit.certificate.objective, rel=1e-9)
    steps, D = inside._Inside(problem), -np.inf
    for _ in range(fit.n_iter):
        steps.step()
        D = max(D, bound(X, q, l1, l2, steps.p, weight, intercept))
    assert D <= P * (1 + 1e-12) and P - D <= 2 * tol * P


def test_newtons_method_comes_to_the_same():
    X, y = unlike(noise=1.0)
    n = len(y)
    problem = JointProblem(as_rows(X), Distributions.of_codes(y.astype(np.int32), K), "sparsemax",
                           0.5 / n, 0.5 / n)
    fit, other = inside.solve(problem, 1e-8, 100), newton.solve(problem, 1e-8, 3000, SEED)
    assert fit.converged and other.converged
    assert fit.certificate.objective == pytest.approx(other.certificate.objective, rel=2e-8)
    np.testing.assert_array_equal(fit.coef == 0, other.coef == 0)
    scale = X.std(axis=0)
    np.testing.assert_allclose(fit.coef * scale, other.coef * scale, atol=2e-4)


@pytest.mark.parametrize("l1_ratio", [0.1, 1.0])
@pytest.mark.parametrize("C", [1e3, 1e5])
def test_weak_penalties_on_columns_as_they_come(C, l1_ratio):
    X, y = unlike()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SparsemaxClassifier(C=C, l1_ratio=l1_ratio).fit(X, y)
    assert model.duality_gap_[0] <= 1e-4 and model.n_iter_[0] < 60
    assert model.score(X, y) > 0.95 and (model.coef_ == 0).any()


def test_few_iterations_are_told_of():
    X, y = unlike()
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model = SparsemaxClassifier(C=1e3, l1_ratio=1.0, max_iter=3).fit(X, y)
    assert model.n_iter_[0] == 3 and np.isfinite(model.coef_).all()


def test_large_problems_are_for_other_methods():
    rows = as_rows(np.zeros((4, 1500)))
    target = Distributions.of_codes(np.arange(4, dtype=np.int32) % 2, 2)
    assert not inside.is_for(JointProblem(rows, target, "sparsemax", 0.1, 0.1))
    few = as_rows(np.ones((4, 3)))
    assert inside.is_for(JointProblem(few, target, "sparsemax", 0.1, 0.1))
    assert not inside.is_for(JointProblem(few, target, "sparsemax", 0.0, 0.1))
    assert not inside.is_for(JointProblem(few, target, "log_loss", 0.1, 0.1))
