"""`LogisticRegression` and `LogisticRegressionCV`."""

import math
import pickle
import warnings

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import optimize, sparse

from fastlin import (
    ConvergenceWarning,
    InvalidParameterError,
    KFold,
    LogisticRegression,
    LogisticRegressionCV,
    StratifiedKFold,
    load,
    save,
)

N, D = 120, 12


def data(seed=0, n=N, d=D, layout=LAYOUTS[0]):
    X, dense = layout.make(n, d, seed)
    rng = np.random.default_rng(seed + 1)
    y = np.where(dense @ rng.normal(size=d) + rng.normal(size=n) > 0.3, "yes", "no")
    return X, dense, y


def objective(model, X, y, s=None):
    """The objective that the class documents, over C times the sum of the weights."""
    w, b = model.coef_[0].astype(float), model.intercept_[0]
    s = np.ones(len(y)) if s is None else s
    m = np.where(y == model.classes_[1], 1, -1) * (X @ w + b)
    C, r = model.C, model.l1_ratio
    penalty = r * np.abs(w).sum() + (1 - r) / 2 * w @ w
    return (C * s @ np.logaddexp(0, -m) + penalty) / (C * s.sum())


def least(X, y, C, s=None, intercept=True):
    """The least L2-penalised objective, by BFGS."""
    sign = np.where(y == np.unique(y)[1], 1, -1)
    s = np.ones(len(y)) if s is None else s

    def f(v):
        w, b = v[:-1], v[-1] * intercept
        m = sign * (X @ w + b)
        g = -s * sign / (1 + np.exp(m)) / s.sum()
        value = (s @ np.logaddexp(0, -m) + w @ w / (2 * C)) / s.sum()
        return value, np.append(X.T @ g + w / (C * s.sum()), intercept * g.sum())

    options = {"gtol": 1e-10, "maxiter": 10_000}
    return optimize.minimize(f, np.zeros(X.shape[1] + 1), jac=True, options=options)


@pytest.mark.parametrize("solver", ["auto", "dual_cd", "newton"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_optimum(C, intercept, solver):
    _, X, y = data()
    s = np.random.default_rng(3).integers(1, 4, N).astype(float)
    # so weak a penalty is not for the dual method
    tol = 1e-6 if solver == "dual_cd" and C > 1 else 1e-9
    model = LogisticRegression(C=C, tol=tol, fit_intercept=intercept, solver=solver)
    model.fit(X, y, sample_weight=s)
    best = least(X, y, C, s, intercept)
    assert model.duality_gap_[0] <= tol
    assert objective(model, X, y, s) == pytest.approx(model.objective_[0], rel=1e-11)
    assert model.objective_[0] == pytest.approx(best.fun, rel=2 * tol)
    np.testing.assert_allclose(model.coef_[0], best.x[:-1], atol=5e-3 * np.abs(best.x).max())


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("solver", ["dual_cd", "newton"])
def test_storage_and_solver_do_not_matter(layout, solver):
    X, dense, y = data(n=60, layout=layout)
    model = LogisticRegression(tol=1e-6, solver=solver).fit(X, y)
    assert model.duality_gap_[0] <= 1e-6
    assert model.objective_[0] == pytest.approx(least(dense, y, 1.0).fun, rel=2e-6)
    assert model.coef_.dtype == layout.dtype
    np.testing.assert_allclose(
        model.decision_function(X), dense @ model.coef_[0].astype(float) + model.intercept_,
        atol=1e-5,
    )  # fmt: skip


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_penalties_with_l1(l1_ratio):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression as Peer

    _, X, y = data()
    for C in (0.02, 0.3, 5.0):
        model = LogisticRegression(C=C, l1_ratio=l1_ratio, tol=1e-9).fit(X, y)
        peer = Peer(C=C, l1_ratio=l1_ratio, solver="saga", tol=1e-12, max_iter=100_000)
        peer.fit(X, y)
        assert model.duality_gap_[0] <= 1e-9
        peer.l1_ratio = l1_ratio
        assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-11)
        assert model.objective_[0] <= objective(peer, X, y) * (1 + 1e-9)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)
    assert (LogisticRegression(C=1e-3, penalty="l1").fit(X, y).coef_ == 0).all()


def test_words_for_the_penalty():
    _, X, y = data()
    fits = {
        name: LogisticRegression(penalty=name, l1_ratio=0.3, C=0.1, tol=1e-9).fit(X, y).coef_
        for name in ("auto", "elasticnet", "l2", "l1")
    }
    np.testing.assert_allclose(fits["auto"], fits["elasticnet"])
    ridge = LogisticRegression(C=0.1, tol=1e-9).fit(X, y).coef_
    np.testing.assert_allclose(fits["l2"], ridge, atol=1e-4)
    assert (fits["l1"] == 0).sum() > (fits["auto"] == 0).sum() > 0
    free = LogisticRegression(penalty=None, tol=1e-9).fit(X, y)
    infinite = LogisticRegression(C=math.inf, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(free.coef_, infinite.coef_, rtol=1e-4)
    assert np.abs(free.coef_).sum() > np.abs(ridge).sum()


def test_separable_data_without_a_penalty_have_no_optimum():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(penalty=None, tol=1e-10, max_iter=50).fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.coef_).all()
    assert model.objective_[0] < 1e-4
    assert model.score(X, [0, 0, 1, 1]) == 1


def test_the_intercept_is_free():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.r_[np.ones(45), np.zeros(5)]
    for solver in ("dual_cd", "newton"):
        model = LogisticRegression(C=1e-3, tol=1e-9, solver=solver).fit(X, y)
        assert model.intercept_[0] == pytest.approx(np.log(9), abs=1e-2)


@pytest.mark.parametrize("shift", [10.0, 100.0, 1000.0])
@pytest.mark.parametrize("solver", ["dual_cd", "newton"])
def test_a_shift_of_the_columns_changes_nothing(solver, shift):
    _, X, y = data()
    plain, moved = [
        LogisticRegression(tol=1e-10, solver=solver, max_iter=5000).fit(Z, y)
        for Z in (X, X + shift)
    ]
    np.testing.assert_allclose(
        moved.decision_function(X + shift), plain.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize("solver", ["dual_cd", "newton"])
def test_weights_are_repetitions(solver):
    _, X, y = data()
    s = np.random.default_rng(5).integers(0, 4, N)
    rows = np.repeat(np.arange(N), s)
    kept = {"C": 0.7, "tol": 1e-12, "solver": solver}
    weighted = LogisticRegression(**kept).fit(X, y, sample_weight=s)
    repeated = LogisticRegression(**kept).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-5)
    heavier = LogisticRegression(class_weight={"yes": 3}, **kept).fit(X, y)
    by_weight = LogisticRegression(**kept).fit(X, y, np.where(y == "yes", 3.0, 1.0))
    np.testing.assert_allclose(heavier.coef_, by_weight.coef_, atol=1e-5)


def test_nothing_waits_for_what_underflows():
    X = np.zeros((30, 2))
    X[3] = 3.75e-208
    y = np.repeat([0, 1], 15)
    for solver in ("auto", "dual_cd", "newton"):
        model = LogisticRegression(solver=solver).fit(X, y)
        assert np.abs(model.coef_).max() < 1e-100
        np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=1e-6)


def test_several_classes_one_against_the_rest():
    _, X, _ = data()
    y = (X @ np.random.default_rng(2).normal(size=(D, 4))).argmax(axis=1)
    model = LogisticRegression(C=0.5, tol=1e-9, multi_class="ovr").fit(X, y)
    assert model.coef_.shape == (4, D)
    assert model.n_iter_.shape == model.duality_gap_.shape == model.objective_.shape == (4,)
    for k in range(4):
        one = LogisticRegression(C=0.5, tol=1e-9).fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], one.coef_[0], atol=1e-3)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))


def test_a_class_of_weight_zero_keeps_its_place():
    _, X, _ = data()
    y = np.arange(N) % 3
    with pytest.warns(UserWarning, match="weight 0"):
        model = LogisticRegression().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.coef_.shape == (3, D)
    assert (model.coef_[1] == 0).all()
    assert model.intercept_[1] == -np.inf
    assert set(model.predict(X)) <= {0, 2}


def test_warm_start_goes_on():
    _, X, y = data()
    model = LogisticRegression(C=1.0, tol=1e-9, warm_start=True, solver="dual_cd").fit(X, y)
    cold = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] < cold
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X[:, :5], y)
    with pytest.raises(ValueError, match="classes"):
        model.fit(X, y == "yes")


def test_every_legal_name_of_a_solver_leads_to_the_same_optimum():
    _, X, y = data()
    names = ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "newton"]
    best = LogisticRegression(tol=1e-10).fit(X, y).coef_
    for name in names:
        other = LogisticRegression(tol=1e-10, solver=name, dual=False).fit(X, y).coef_
        np.testing.assert_allclose(other, best, atol=1e-3)
    with pytest.raises(ValueError, match="solver 'dual_cd' takes no L1 penalty"):
        LogisticRegression(solver="dual_cd", l1_ratio=1.0).fit(X, y)
    with pytest.raises(InvalidParameterError, match="solver"):
        LogisticRegression(solver="magic").fit(X, y)


def test_an_unfinished_fit_says_how_far_it_came():
    _, X, y = data()
    with pytest.warns(ConvergenceWarning, match=r"duality gap of \S+ of the objective > tol=1e-12"):
        LogisticRegression(tol=1e-12, max_iter=1, solver="dual_cd").fit(X, y)
    with pytest.warns(UserWarning, match="intercept_scaling"):
        LogisticRegression(intercept_scaling=2).fit(X, y)


def test_verbose_tells_of_each_optimum(capsys):
    _, X, y = data()
    LogisticRegression(verbose=1).fit(X, y)
    LogisticRegressionCV(Cs=2, cv=3, verbose=1).fit(X, y)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all("relative duality gap" in line for line in told)


def test_files_pickles_and_the_peer(tmp_path):
    pytest.importorskip("sklearn")
    _, X, y = data()
    model = LogisticRegression().fit(X, y)
    save(model, tmp_path / "model")
    for twin in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(twin.duality_gap_, model.duality_gap_)
    peer = model.to_sklearn()
    np.testing.assert_allclose(peer.predict_proba(X), model.predict_proba(X), rtol=1e-12)


# LogisticRegressionCV


def test_cross_validation_equals_a_loop():
    _, X, y = data()
    Cs, cv = [0.01, 0.1, 1.0], StratifiedKFold(4)
    model = LogisticRegressionCV(Cs=Cs, cv=cv, tol=1e-8).fit(sparse.csr_array(X), y)
    scores = np.array([
        [
            LogisticRegression(C=C, tol=1e-8).fit(X[train], y[train]).score(X[test], y[test])
            for C in Cs
        ]
        for train, test in cv.split(X, y)
    ])
    np.testing.assert_allclose(model.scores_[:, 0], scores)
    assert model.C_ == Cs[scores.mean(axis=0).argmax()]
    alone = LogisticRegression(C=model.C_, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-3)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))


def test_a_grid_of_ratios_and_the_mean_of_the_folds():
    _, X, y = data()
    model = LogisticRegressionCV(Cs=4, l1_ratios=(0.0, 0.5, 1.0), cv=3, refit=False).fit(X, y)
    assert model.scores_.shape == (3, 3, 4)
    np.testing.assert_allclose(model.Cs_, np.logspace(-4, 4, 4))
    assert model.l1_ratio_ in (0.0, 0.5, 1.0)
    folds = [
        LogisticRegression(C=model.C_, l1_ratio=model.l1_ratio_).fit(X[rows], y[rows]).coef_
        for rows, _ in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_allclose(model.coef_, np.mean(folds, axis=0), atol=2e-2)
    for wrong in ({"Cs": [0.0, 1.0]}, {"Cs": []}, {"l1_ratios": [1.5]}, {"l1_ratios": [-0.1]}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LogisticRegressionCV(**wrong).fit(X, y)


def test_folds_that_lack_a_class_have_no_mean_weights():
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = np.where(np.arange(60) == 0, 2, X[:, 0] > 0)
    with (
        pytest.warns(UserWarning, match="lacks? a class"),
        pytest.raises(ValueError, match="fold 0 have no row of class 2; use refit=True"),
    ):
        LogisticRegressionCV(Cs=2, refit=False, cv=KFold(3)).fit(X, y)
