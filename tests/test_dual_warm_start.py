"""Where ascents on the dual begin and how they end: warm starts, overflow, what a warning says."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse

from fastlin import (
    ConvergenceWarning,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    SparsemaxClassifier,
    load,
    save,
)
from fastlin._dual_watch import Watch


def data(n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X @ rng.normal(size=(4, 3)) + 0.3 * rng.normal(size=(n, 3))).argmax(axis=1)


LEARNERS = [
    LinearSVC(multi_class="crammer_singer", C=0.1), LinearSVC(loss="hinge", C=0.1),
    LinearSVC(), LinearSVR(), LogisticRegression(solver="dual_cd"),
    SparsemaxClassifier(solver="dual_cd"), LogisticRegression(solver="dual_cd", multi_class="ovr"),
]  # fmt: skip


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: repr(model)[:60])
def test_a_second_fit_begins_at_the_optimum(model, tmp_path):
    X, y = data()
    cold = model.set_params(warm_start=False).fit(X, y)
    assert "_duals" not in vars(cold)
    objective, n_iter = cold.objective_, np.max(cold.n_iter_)
    model.set_params(warm_start=True).fit(X, y).fit(X, y)
    assert n_iter > 2 >= np.max(model.n_iter_)
    save(model, tmp_path / "model")
    for twin in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        # one pass from the optimum is no worse than the optimum
        assert np.max(twin.set_params(max_iter=2).fit(X, y).n_iter_) <= 2
        np.testing.assert_allclose(twin.objective_, objective, rtol=2e-4)
    # what other targets, another C and other rows leave is not feasible, or another number
    other = type(model)(**{**model.get_params(), "warm_start": False, "C": 1.0})
    for rows, target in ((X, (y + 1) % 3), (X[:100], y[:100]), (X, y)):
        model.set_params(C=1.0).fit(rows, target)
        other.fit(rows, target)
        np.testing.assert_allclose(model.objective_, other.objective_, rtol=3e-4)
        assert (np.asarray(model.duality_gap_) <= 1e-4).all()


@pytest.mark.parametrize("C", [1e100, 1e160, 1e300])
@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: repr(model)[:60])
def test_nothing_overflows_to_nan(model, C):
    X, y = data(60)
    twin = type(model)(**{**model.get_params(), "C": C, "warm_start": False, "max_iter": 30})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        twin.fit(X, y)
    # no worse than no model
    nothing = {"LinearSVR": np.abs(y).mean()}.get(type(model).__name__, np.log(3))
    assert (np.asarray(twin.objective_) <= nothing).all()
    assert not np.isnan(twin.duality_gap_).any() and np.isfinite(twin.coef_).all()


def test_a_warning_says_what_ended_the_search():
    pytest.importorskip("sklearn")
    X, y = data(60)
    with pytest.warns(ConvergenceWarning, match="after 1 iterations .*raise max_iter or tol, or"):
        LogisticRegression(max_iter=1, C=100.0).fit(X, y)
    from sklearn.datasets import load_digits

    digits, labels = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="no optimum without a penalty") as caught:
        LogisticRegression(penalty=None).fit(digits[:300], labels[:300])
    assert "max_iter" not in str(caught[0].message)


@pytest.mark.parametrize("by_rest", [False, True])
def test_a_surprise_by_resting_rows_says_nothing_of_estimates_to_come(by_rest):
    """A gap far above its estimate delays the next measurement, unless the rows that hid it take
    part from now on."""
    watch = Watch(1e-3)
    assert not watch.is_due(1, 1.0)
    assert watch.is_due(2, 1e-3)
    watch.note(2, 0.1, by_rest)
    assert not watch.is_due(3, 0.1)
    assert watch.is_due(4, 1e-3) == by_rest
    assert watch.is_due(5, 1e-5)


def test_ascents_with_resting_rows_end_soon_after_their_gap_is_reached():
    """Rows of many columns that a strong loss separates: most rest early, some of them wrongly."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((6000, 40_000), density=1e-3, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=X.shape[1]) + 0.3 * rng.normal(size=6000) > 0, 1, -1)
    ends = {}
    for tol in (1e-1, 1e-2, 1e-4):
        model = LinearSVC(loss="hinge", C=30.0, tol=tol, fit_intercept=False).fit(X, y)
        w = model.coef_.ravel()
        primal = 30 * np.maximum(0, 1 - y * (X @ w)).sum() + w @ w / 2
        assert np.max(model.duality_gap_) <= tol
        ends[tol] = primal
    assert ends[1e-1] <= 1.1 * ends[1e-4] * 1.01
    assert ends[1e-2] <= 1.01 * ends[1e-4] * 1.01
