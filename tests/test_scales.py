"""Exact solvers on long rows, a huge C and exact fits: an end, an optimum, a certificate."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from fastlin import (
    ConvergenceWarning,
    LinearRegression,
    LinearSVC,
    LinearSVR,
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


@pytest.mark.parametrize("seed", [0, 2])
def test_the_scale_of_rows_spoils_no_certificate(seed):
    """The gap was many times the objective at the very optimum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int) + (X[:, 1] > 0)
    least = LogisticRegression(C=1e12, tol=1e-8).fit(X, y).objective_[0]
    for scale in (1e9, 10**10.5):
        model = LogisticRegression().fit(X * scale, y)
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


@pytest.mark.parametrize("scale", [1e5, 1e7, 1e12])
def test_long_rows_and_the_hinge(scale):
    """Newton's steps along directions that hardly bend were too long to be shortened enough."""
    y = NOISY > 0
    least = LinearSVC(loss="hinge", C=1e3, tol=1e-8, max_iter=10**5).fit(A, y).objective_[0]
    model = LinearSVC(loss="hinge").fit(A * scale, y)
    assert model.duality_gap_[0] <= 1e-4 and model.n_iter_ < 1000
    assert model.objective_[0] == pytest.approx(least, rel=1e-3)


def test_rows_so_long_that_squares_vanish():
    """Conjugate gradients divided by 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVR().fit(A * 1e21, A[:, 0] + THREE)
    assert np.isfinite(model.coef_).all() and model.duality_gap_ <= 1


@pytest.mark.parametrize("size", [1e18, 1e24])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("make_model, more", [
    (LogisticRegression, {}), (LinearSVC, {}), (LinearSVC, {"loss": "hinge"}),
])  # fmt: skip
def test_float32_rows_whose_squares_single_precision_does_not_hold(
    make_model, more, n_classes, size
):
    X = sparse.random(200, 5000, density=0.004, random_state=1, format="csr")
    y = np.argmax(X @ np.random.default_rng(0).normal(size=(5000, n_classes)), axis=1)
    X = (X * size).astype(np.float32)
    model = make_model(tol=1e-3, **more).fit(X, y)
    assert model.coef_.dtype == np.float32
    assert np.max(model.duality_gap_) <= model.tol
    assert model.score(X, y) == 1.0
