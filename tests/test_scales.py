"""Exact solvers on long rows, a huge C and exact fits: an end, an optimum, a certificate."""

import warnings

import numpy as np
import pytest

from fastlin import (
    ConvergenceWarning,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    SparsemaxClassifier,
)

RNG = np.random.default_rng(0)
A = RNG.normal(size=(80, 4))
NOISY = A[:, 0] + RNG.normal(size=80)
THREE = (NOISY > 0).astype(int) + (A[:, 1] > 0)


@pytest.mark.parametrize("C", [1e10, 1e30])
def test_a_huge_C_ends(C):
    """It went on for ever, whatever max_iter said."""
    y = np.digitize(A[:, 0], [-0.5, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SparsemaxClassifier(C=C, max_iter=200).fit(A, y)
    assert model.n_iter_[0] <= 200
    assert model.score(A, y) > 0.95


def test_the_scale_of_rows_spoils_no_certificate():
    """The gap was many times the objective at the very optimum."""
    least = LogisticRegression(C=1e12, tol=1e-8).fit(A, THREE).objective_[0]
    for scale in (1e9, 10**10.5, 1e12):
        model = LogisticRegression().fit(A * scale, THREE)
        assert model.duality_gap_[0] <= 1e-4
        assert model.objective_[0] == pytest.approx(least, rel=1e-9)


def test_no_gap_is_above_the_objective():
    """An objective is never below 0, which bounds what others can gain."""
    separable = A @ [1.0, 2.0, -1.0, 0.5] > 0
    for scale in (1e9, 1e12, 1e20):
        assert LinearSVC().fit(A * scale, separable).duality_gap_[0] <= 1e-4


def test_rows_that_are_met_exactly():
    """No weights can gain more than a sum of squares of 1e-22."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(19, 25)) * 10 ** rng.uniform(-4, 4, 25) + 100
    X[:, 1], X[:, 2] = X[:, 0], 5.0
    y = X @ (rng.normal(size=25) / np.abs(X).max(axis=0)) + rng.normal(size=19)
    model = LinearRegression().fit(X, y)
    assert np.abs(model.predict(X) - y).max() <= 1e-8
    assert model.duality_gap_ <= 1e-9
