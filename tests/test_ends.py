"""Exact solvers: which starts they take, and what a fit says where it ends."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse

from fastlin import (
    BridgeRegressor,
    ConvergenceWarning,
    ElasticNet,
    Lasso,
    LassoCV,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    SparsemaxClassifier,
    as_rows,
)
from fastlin._primal_cd import Search
from fastlin._problem import Certificate, Fit, Problem

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6))
NUMBERS = X @ np.arange(6.0) + RNG.normal(size=80)
THREE = np.digitize(NUMBERS, [-3.0, 3.0])

REGRESSORS = [
    Lasso(0.1), ElasticNet(0.1), Lasso(0.1, positive=True), Ridge(0.1), Ridge(0.1, positive=True),
    LinearRegression(), LinearSVR(), LinearSVR(loss="squared_epsilon_insensitive"),
    BridgeRegressor(0.1, p=1.5), BridgeRegressor(0.1, p=1),
]  # fmt: skip
CLASSIFIERS = [
    LogisticRegression(), LogisticRegression(solver="dual_cd"), LogisticRegression(l1_ratio=1.0),
    LogisticRegression(l1_ratio=0.5), LinearSVC(), LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1"), LinearSVC(multi_class="crammer_singer"), RidgeClassifier(),
    SparsemaxClassifier(), SparsemaxClassifier(l1_ratio=0.5),
]  # fmt: skip
CASES = [(model, NUMBERS) for model in REGRESSORS] + [
    (model, y) for model in CLASSIFIERS for y in (NUMBERS > 0, THREE)
]
STARTING = [case for case in CASES if hasattr(case[0], "warm_start")]


def named(case):
    return repr(case)[:50] if not isinstance(case, np.ndarray) else str(len(np.unique(case)))


def fresh(model, **params):
    return type(model)(**{**model.get_params(), **params})


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


@pytest.mark.parametrize("tol", [1e-3, 1e-9, 1e-13, 1e-16])
@pytest.mark.parametrize(("model", "y"), CASES, ids=named)
def test_a_warning_stands_for_a_published_gap_above_tol(model, y, tol):
    """And none for one that is not: the gap that is compared is the one that is published."""
    for max_iter in (1, 5, 1000) if hasattr(model, "max_iter") else (None,):
        params = {"max_iter": max_iter} if max_iter else {}
        for scale in (1.0, 1e4 ** np.arange(-1.0, 1.0, 1 / 3)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                fit = fresh(model, tol=tol, **params).fit(X * scale + 10, y)
            gap = float(np.max(fit.duality_gap_))
            assert bool(caught) == (gap > tol)
            if caught:
                said, asked = re.search(
                    r"gap of (\S+) of the objective > tol=(\S+);", str(caught[0].message)
                ).groups()
                assert float(said) > float(asked) and float(said) == pytest.approx(gap, rel=0.06)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e10, 1e15])
@pytest.mark.parametrize(("model", "y"), STARTING, ids=named)
def test_a_start_from_far_away_ends_where_one_from_nothing_does(model, y, far):
    cold = fresh(model, tol=1e-6).fit(X, y)
    warm = fresh(model, tol=1e-6, warm_start=True).fit(X, y)
    warm.coef_ = warm.coef_ * 0 - far
    warm.fit(X, y)
    np.testing.assert_allclose(warm.objective_, cold.objective_, rtol=2e-6)


@pytest.mark.parametrize("model", [LogisticRegression(l1_ratio=1.0), LinearSVC(penalty="l1")],
                         ids=repr)
@pytest.mark.parametrize("k", [1e3, 1e4])
def test_a_start_from_columns_of_another_scale(model, k):
    y = NUMBERS > 0
    cold = fresh(model).fit(X, y)
    warm = quietly(fresh(model, warm_start=True, C=1e6), X / k, y)
    warm.set_params(C=1.0).fit(X, y)
    assert warm.objective_[0] == pytest.approx(cold.objective_[0], rel=2e-4)
    assert np.max(warm.n_iter_) <= np.max(cold.n_iter_)


@pytest.mark.parametrize("model", [Lasso(0.1), ElasticNet(0.1)], ids=repr)
@pytest.mark.parametrize("k", [1e10, 1e12])
def test_a_start_from_targets_of_another_scale(model, k):
    warm = quietly(fresh(model, tol=1e-8, warm_start=True), X, NUMBERS * k).fit(X, NUMBERS)
    cold = fresh(model, tol=1e-8).fit(X, NUMBERS)
    assert warm.duality_gap_ <= 1e-8
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_residuals_of_a_descent_from_far_away_are_found_again(layout, loss):
    """What turns leave of 1e10 is not what the weights leave of y."""
    y = NUMBERS if loss == "squared_error" else np.sign(NUMBERS)
    p = Problem(X=as_rows(layout(X)), y=y, loss=loss, l1=0.1)
    far = 1e10 if loss == "squared_error" else 10.0
    start = Fit(np.full(6, far), 0.0, 0, Certificate(np.inf, np.inf, np.inf), False)
    fit = Search(p).run(p, 1e-9, 1000, start)
    assert fit.converged and fit.certificate.relative_gap <= 1e-9
    best = Search(p).run(p, 1e-12, 1000)
    assert p.value(fit.coef, fit.intercept) <= best.certificate.objective * (1 + 1.1e-9)


def test_objective_without_weights():
    for loss, y in (("squared_error", NUMBERS), ("log_loss", np.sign(NUMBERS + 2))):
        p = Problem(X=as_rows(X), y=y, loss=loss, l1=0.1)
        b, value = p.without_weights()
        around = [p.value(np.zeros(6), b + t) for t in (-1e-3, 0.0, 1e-3)]
        assert value == pytest.approx(around[1]) and value < min(around[0], around[2])


@pytest.mark.parametrize("params", [{}, {"l1_ratio": 1.0}, {"l1_ratio": 0.5}, {"penalty": None},
                                    {"solver": "newton"}, {"solver": "dual_cd"}], ids=str)
@pytest.mark.parametrize("away", [0.0, 100.0, 1e5])
def test_intercepts_of_a_softmax_sum_to_0(params, away):
    model = quietly(LogisticRegression(**params), X + away, THREE)
    b = model.intercept_
    assert abs(b.sum()) <= 1e-14 * np.abs(b).sum()
    z = model.decision_function(X + away)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X + away),
                               p / p.sum(axis=1, keepdims=True), atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("model", [Lasso(), Ridge(), LinearRegression(), BridgeRegressor(),
                                   RidgeCV(), LassoCV(), LinearRegression(positive=True)], ids=repr)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_weights_beyond_single_precision_are_refused(model, layout):
    said = (r"coef_ would hold \S+e\+3\d in float32\. Scale and centre the columns of X, divide y "
            r"by a constant, or pass X as float64\.")
    with pytest.raises(ValueError, match=said):
        model.fit(layout(X.astype(np.float32)), NUMBERS * 2e38)
    assert np.isfinite(quietly(model, layout(X), NUMBERS * 2e38).coef_).all()


def test_classes_are_not_divided():
    tiny = sparse.csr_matrix((X * 1e-39).astype(np.float32))
    assert tiny.count_nonzero()
    with pytest.raises(ValueError, match=r"Scale and centre the columns of X, or pass"):
        RidgeClassifier(alpha=1e-80).fit(tiny, NUMBERS > 0)
