"""`LogisticRegression` of several classes as one softmax: its optimum against scikit-learn's, by
every solver and from every storage, weights, classes that aren't there, searches, many classes."""

import pickle
import warnings

import joint_reference as reference
import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import (
    ConvergenceWarning,
    GridSearchCV,
    LogisticRegression,
    LogisticRegressionCV,
    OneHotEncoder,
    StratifiedKFold,
    cross_validate,
    load,
    save,
)
from fastlin.datasets import load_mushrooms

N, D, K = 80, 6, 4
SOLVERS = {"l2": ("auto", "dual_cd", "newton"), "l1": ("auto", "primal_cd")}


def data(seed=0, n=N, d=D, K=K, layout=LAYOUTS[0]):
    X, dense = layout.make(n, d, seed)
    rng = np.random.default_rng(seed + 1)
    z = dense @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K)) + 0.5 * np.arange(K)
    y = z.argmax(axis=1)
    y[:K] = np.arange(K)
    return X, dense, y


def objective(model, X, y, s=None):
    """The objective that the class documents, over C times the sum of the weights."""
    s = np.ones(len(y)) if s is None else s
    ratio, C = model._strength()
    alpha, Q = 1 / (C * s.sum()), (y[:, None] == model.classes_).astype(float)
    return reference.objective(
        "log_loss", model.coef_.astype(float), model.intercept_, X, Q, s, alpha * ratio,
        alpha * (1 - ratio),
    )  # fmt: skip


def assert_optimal(model, X, y, best, tol, s=None):
    assert (model.duality_gap_ <= tol).all()
    assert model.objective_.shape == model.duality_gap_.shape == model.n_iter_.shape == (1,)
    assert objective(model, X, y, s) == pytest.approx(model.objective_[0], rel=1e-9)
    assert model.objective_[0] == pytest.approx(best, rel=2 * tol)
    assert model.intercept_.sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS["l2"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_optimum_is_that_of_scikit_learn(C, intercept, solver):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression as Peer

    _, X, y = data()
    s = np.random.default_rng(3).integers(1, 4, N).astype(float)
    # a weak penalty is not for the dual method
    tol = 1e-10 if solver != "dual_cd" else 1e-6 if C <= 1 else 1e-3
    model = LogisticRegression(C=C, tol=tol, fit_intercept=intercept, solver=solver)
    model.fit(X, y, sample_weight=s)
    peer = Peer(C=C, tol=1e-10, fit_intercept=intercept, solver="newton-cg", max_iter=1000)
    peer.fit(X, y, sample_weight=s)
    assert_optimal(model, X, y, objective(model_like(model, peer), X, y, s), tol, s)
    if solver == "dual_cd" and C > 1:
        return
    close = 5e-3 if solver == "dual_cd" else 1e-4
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=close)
    np.testing.assert_allclose(
        model.intercept_, peer.intercept_ - peer.intercept_.mean(), atol=close
    )
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=close)
    assert intercept or not model.intercept_.any()


def model_like(model, peer):
    """A model with the weights of scikit-learn's."""
    other = pickle.loads(pickle.dumps(model))
    other.coef_, other.intercept_ = peer.coef_, np.broadcast_to(peer.intercept_, len(peer.coef_))
    return other


@pytest.mark.parametrize("solver", SOLVERS["l1"])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_penalties_with_l1(l1_ratio, solver):
    _, X, y = data(n=40)
    Q = np.eye(K)[y]
    for C, intercept in ((0.05, True), (1.0, True), (5.0, False)):
        model = LogisticRegression(
            C=C, l1_ratio=l1_ratio, tol=1e-8, solver=solver, fit_intercept=intercept
        )
        alpha = 1 / (C * len(y))
        terms = {"l1": alpha * l1_ratio, "l2": alpha * (1 - l1_ratio)}
        W, b = reference.least_smooth("log_loss", X, Q, **terms, intercept=intercept)
        best = reference.objective("log_loss", W, b, X, Q, **terms)
        assert_optimal(model.fit(X, y), X, y, best, 1e-7)
        assert model.duality_gap_[0] <= 1e-8
        # with L1 alone weights may move together without a cost
        close = reference.loss("log_loss", X @ W.T + b, Q)[1]
        np.testing.assert_allclose(model.predict_proba(X), close, atol=1e-3)
        if l1_ratio < 1:
            np.testing.assert_allclose(model.coef_, W, atol=1e-3)
    sparse_weights = LogisticRegression(penalty="l1", C=0.01).fit(X, y)
    assert not sparse_weights.coef_.any()
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(sparse_weights.predict_proba(X[:3]), [share] * 3, atol=1e-3)


def test_working_sets_of_many_columns():
    X = sparse.random_array((60, 1500), density=0.05, rng=np.random.default_rng(0), format="csr")
    y = np.random.default_rng(1).integers(0, 3, 60)
    for ratio in (1.0, 0.5):
        models = [
            LogisticRegression(C=20.0, l1_ratio=ratio, tol=1e-6, solver=solver).fit(x, y)
            for x, solver in ((X, "auto"), (X, "primal_cd"), (X.toarray(), "auto"))
        ]
        for model in models:
            assert_optimal(model, X.toarray(), y, models[0].objective_[0], 1e-6)
        assert 0 < (models[0].coef_ != 0).sum() < models[0].coef_.size


def test_no_penalty():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression as Peer

    _, X, y = data(n=150, d=3)
    model = LogisticRegression(penalty=None, tol=1e-8).fit(X, y)
    peer = Peer(C=np.inf, solver="newton-cg", tol=1e-10, max_iter=1000).fit(X, y)
    assert model.duality_gap_[0] <= 1e-8
    assert objective(model, X, y) <= objective(model_like(model, peer), X, y) + 1e-9
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-4)
    # what all classes have in common is nothing, in any order of rows
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)
    again = LogisticRegression(penalty=None, tol=1e-8).fit(X[::-1], y[::-1])
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-3)
    # separated classes: no weights are the best
    with pytest.warns(ConvergenceWarning):
        endless = LogisticRegression(penalty=None, solver="newton").fit(np.eye(3), [0, 1, 2])
    assert endless.score(np.eye(3), [0, 1, 2]) == 1


@pytest.mark.memory
@pytest.mark.parametrize(
    ("penalty", "layout"),
    [("l2", layout) for layout in LAYOUTS] + [("l1", layout) for layout in reference.FORMS],
    ids=lambda value: getattr(value, "name", value),
)
def test_storage_and_solver_do_not_matter(penalty, layout):
    X, dense, y = data(n=40, layout=layout)
    best, tol = LogisticRegression(penalty=penalty, C=0.7, tol=1e-8).fit(dense, y), 1e-5
    for solver in SOLVERS[penalty]:
        model = LogisticRegression(penalty=penalty, C=0.7, tol=tol, solver=solver).fit(X, y)
        assert model.duality_gap_[0] <= tol
        assert objective(model, dense, y) == pytest.approx(best.objective_[0], rel=2 * tol)
        assert model.coef_.dtype == layout.dtype
        np.testing.assert_allclose(
            model.decision_function(X), dense @ model.coef_.astype(float).T + model.intercept_,
            atol=1e-5,
        )  # fmt: skip


@pytest.mark.parametrize("solver", ["dual_cd", "newton", "primal_cd"])
def test_weights_are_repetitions_and_none_removes(solver):
    _, X, y = data()
    s = np.random.default_rng(5).integers(0, 4, N)
    rows = np.repeat(np.arange(N), s)
    penalty = "l1" if solver == "primal_cd" else "l2"
    made = {"tol": 1e-7, "solver": solver, "penalty": penalty}
    weighted = LogisticRegression(**made).fit(X, y, sample_weight=s)
    repeated = LogisticRegression(**made).fit(X[rows], y[rows])
    assert weighted.objective_[0] == pytest.approx(repeated.objective_[0], rel=2e-7)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=5e-3)
    # class weights multiply the weights of rows
    own = {k: 0.5 + k for k in range(K)}
    by_class = LogisticRegression(**made, class_weight=own).fit(X, y, sample_weight=s)
    by_row = LogisticRegression(**made).fit(X, y, sample_weight=s * (0.5 + y))
    assert by_class.objective_[0] == pytest.approx(by_row.objective_[0], rel=2e-7)
    balanced = LogisticRegression(**made, class_weight="balanced").fit(X, y)
    by_row = LogisticRegression(**made).fit(X, y, sample_weight=(N / (K * np.bincount(y)))[y])
    assert balanced.objective_[0] == pytest.approx(by_row.objective_[0], rel=2e-7)


def test_classes_without_weight():
    _, X, y = data()
    for gone in ([1], [0, 2]):
        kept = ~np.isin(y, gone)
        with pytest.warns(UserWarning, match="weight 0"):
            model = LogisticRegression(tol=1e-9).fit(X, y, sample_weight=kept.astype(float))
        alone = LogisticRegression(tol=1e-9).fit(X[kept], y[kept])
        assert model.coef_.shape == (K, D)
        assert not model.coef_[gone].any()
        assert (model.intercept_[gone] == -np.inf).all()
        assert model.objective_[0] == pytest.approx(alone.objective_[0], rel=1e-8)
        p, left = model.predict_proba(X), [k for k in range(K) if k not in gone]
        assert not p[:, gone].any()
        np.testing.assert_allclose(p[:, left], alone.predict_proba(X), atol=1e-5)
        assert set(model.predict(X)) <= set(left)
    with pytest.raises(ValueError, match="at least two classes|greater than one"):
        LogisticRegression().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="class"):
        LogisticRegression().fit(X, np.zeros(N))


def test_weights_of_any_size():
    _, X, y = data()
    for size in (1e-200, 1e200):
        heavy = LogisticRegression(C=1 / size, tol=1e-8).fit(X, y, sample_weight=np.full(N, size))
        plain = LogisticRegression(tol=1e-8).fit(X, y)
        np.testing.assert_allclose(heavy.coef_, plain.coef_, atol=1e-5)
    s = np.where(y == 1, 5e-324, 1.0)
    model = LogisticRegression(tol=1e-6).fit(X, y, sample_weight=s)
    assert np.isfinite(model.coef_).all() and model.predict_proba(X)[:, 1].max() < 1e-6


def test_the_shift_of_a_column_changes_nothing():
    _, X, y = data()
    for solver in ("dual_cd", "newton"):
        model = LogisticRegression(tol=1e-8, solver=solver).fit(X, y)
        moved = X + 100.0 * (np.arange(D) == 2)
        other = LogisticRegression(tol=1e-8, solver=solver).fit(moved, y)
        np.testing.assert_allclose(other.predict_proba(moved), model.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("solver", ["auto", "dual_cd", "newton", "primal_cd"])
def test_columns_that_say_nothing_leave_the_priors(solver):
    y = np.repeat([0, 1, 2], [5, 10, 25])
    X = np.full((40, 2), 3.0)
    penalty = "l1" if solver == "primal_cd" else "l2"
    model = LogisticRegression(tol=1e-9, solver=solver, penalty=penalty).fit(X, y)
    logs = np.log([5, 10, 25])
    assert np.abs(model.coef_).max() < 1e-9
    np.testing.assert_allclose(model.intercept_, logs - logs.mean(), atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.125, 0.25, 0.625]], atol=1e-5)


def test_searches_equal_fits_of_their_folds():
    _, X, y = data(n=120)
    cv, grid = StratifiedKFold(3), [0.01, 0.3, 10.0]
    folds = list(cv.split(X, y))
    expected = np.array([
        [LogisticRegression(C=C).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds] for C in grid
    ])  # fmt: skip
    found = [
        GridSearchCV(LogisticRegression(), {"C": grid}, cv=cv, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    ]
    for search in found:
        scores = [search.cv_results_[f"split{f}_test_score"] for f in range(3)]
        np.testing.assert_array_equal(np.transpose(scores), expected)
    first, second = (search.best_estimator_ for search in found)
    assert first.coef_.tobytes() == second.coef_.tobytes()
    assert first.duality_gap_.shape == (1,)
    for n_jobs in (1, 2):
        out = cross_validate(LogisticRegression(C=0.3), X, y, cv=cv, n_jobs=n_jobs)
        np.testing.assert_array_equal(out["test_score"], expected[1])


def test_a_fold_that_lacks_a_class():
    _, X, y = data()
    y = np.where(np.arange(N) < N // 2, y, y % 2)
    train = [np.arange(N // 2), np.arange(N // 2, N)]
    with pytest.warns(UserWarning, match="lacks? a class"):
        out = cross_validate(LogisticRegression(), X, y, cv=list(zip(train, train[::-1])))
    for score, rows, held in zip(out["test_score"], train, train[::-1], strict=True):
        assert score == LogisticRegression().fit(X[rows], y[rows]).score(X[held], y[held])


def test_cross_validated_strength():
    _, X, y = data(n=150)
    model = LogisticRegressionCV(Cs=[1e-4, 0.1, 10.0], l1_ratios=(0.0, 1.0), cv=3).fit(X, y)
    assert model.scores_.shape == (3, 2, 3)
    assert model.coef_.shape == (K, D)
    again = LogisticRegression(C=model.C_, l1_ratio=model.l1_ratio_).fit(X, y)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-6)
    assert model.C_ > 1e-4


def test_warm_start_goes_on():
    _, X, y = data()
    for solver in ("dual_cd", "newton", "primal_cd"):
        penalty = "l1" if solver == "primal_cd" else "l2"
        model = LogisticRegression(tol=1e-7, warm_start=True, solver=solver, penalty=penalty)
        cold = model.fit(X, y).n_iter_[0]
        value = model.objective_[0]
        assert model.fit(X, y).n_iter_[0] < max(cold, 2)
        assert model.objective_[0] == pytest.approx(value, rel=2e-7)
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X[:, :5], y)
    with pytest.raises(ValueError, match="classes"):
        model.fit(X, y % 3)
    with pytest.warns(UserWarning, match="weight 0"):
        model.fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.fit(X, y).objective_[0] == pytest.approx(value, rel=2e-7)


@pytest.mark.memory
@pytest.mark.parametrize("solver", ["auto", "newton", "dual_cd"])
def test_thousands_of_classes(solver):
    n, d, K = 1500, 20, 1100
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, d), density=0.1, rng=rng, format="csr")
    y = np.arange(n) % K
    model = LogisticRegression(tol=1e-2, solver=solver).fit(X, y)
    assert model.coef_.shape == (K, d)
    assert model.duality_gap_[0] <= 1e-2
    p = model.predict_proba(X[:50])
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X[:50]), p.argmax(axis=1))


def test_what_ends_early_says_so():
    _, X, y = data()
    for solver in ("dual_cd", "newton"):
        with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations with a duality ga"):
            model = LogisticRegression(C=1e4, tol=1e-9, max_iter=1, solver=solver).fit(X, y)
        assert model.n_iter_[0] == 1
        # the gap that is told is true
        best = LogisticRegression(C=1e4, tol=1e-9).fit(X, y).objective_[0]
        assert model.objective_[0] * (1 - model.duality_gap_[0]) <= best * (1 + 1e-9)
        assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-9)
    for params, message in (
        ({"solver": "dual_cd", "penalty": "l1"}, "solver 'dual_cd' needs an L2 penalty: use"),
        ({"solver": "primal_cd"}, "needs an L1 penalty: use solver 'auto' or 'dual_cd' or 'newt"),
        ({"solver": "newton", "l1_ratio": 0.5}, "takes no L1 penalty"),
        ({"solver": "dual_cd", "penalty": None}, "needs an L2 penalty"),
        ({"solver": "direct"}, "is not for the loss 'log_loss'"),
    ):
        with pytest.raises(ValueError, match=message):
            LogisticRegression(**params).fit(X, y)


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e6, 1e90])
def test_any_scale_of_the_columns(scale):
    _, X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for penalty in ("l2", "l1"):
            model = LogisticRegression(penalty=penalty).fit(scale * X, y)
            p = model.predict_proba(scale * X)
            assert np.isfinite(model.coef_).all()
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
            if scale < 1:
                share = np.bincount(y) / N
                np.testing.assert_allclose(p[0], share, atol=0.1 if scale == 1e-3 else 1e-3)


def test_probabilities_names_and_files(tmp_path):
    _, X, y = data()
    names = np.array(["d", "a", "c", "b"])[y]
    model = LogisticRegression().fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(X), atol=1e-12)
    np.testing.assert_allclose(p, reference.loss("log_loss", model.decision_function(X), p)[1])
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict_proba(X).tobytes() == p.tobytes()
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()


def test_as_scikit_learns():
    pytest.importorskip("sklearn")
    _, X, y = data()
    model = LogisticRegression(C=0.3).fit(X, y)
    twin = model.to_sklearn()
    np.testing.assert_allclose(twin.predict_proba(X), model.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


def test_real_data():
    """Which of nine odours a mushroom has, from all else that is known of it."""
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression as Peer

    columns, poisonous = load_mushrooms(return_X_y=True)
    table = np.column_stack([np.asarray(columns, dtype=object), poisonous])[::16]
    y = table[:, 4].astype(str)
    X = OneHotEncoder(output="rows").fit_transform(np.delete(table, 4, axis=1))
    model = LogisticRegression(tol=1e-6).fit(X, y)
    peer = Peer(tol=1e-8, solver="newton-cg").fit(X.toarray(), y)
    assert_optimal(model, X.toarray(), y, objective(model_like(model, peer), X.toarray(), y), 1e-6)
    assert len(model.classes_) == 9
    assert model.score(X, y) == peer.score(X.toarray(), y) > 0.8


@pytest.mark.parametrize("params", [{}, {"solver": "newton"}, {"penalty": "l1", "C": 3.0}])
def test_a_warm_start_without_the_intercept_of_before(params):
    _, X, y = data()
    model = LogisticRegression(tol=1e-9, warm_start=True, **params).fit(X, y)
    model.set_params(fit_intercept=False).fit(X, y)
    fresh = LogisticRegression(tol=1e-9, fit_intercept=False, **params).fit(X, y)
    np.testing.assert_array_equal(model.intercept_, 0)
    assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=1e-8)


def test_a_class_of_next_to_no_weight_with_l1():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1200)), np.arange(60) % 3
    weight = np.where(y == 2, 1e-320, 1.0)
    model = LogisticRegression(penalty="l1", C=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(sparse.csr_array(X), y, sample_weight=weight)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()
