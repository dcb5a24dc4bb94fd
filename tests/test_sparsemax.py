"""`SparsemaxClassifier`: its optimum against a naive one, exact zeros, several labels per row."""

import pickle

import joint_reference as reference
import numpy as np
import pytest
from scipy import sparse
from test_multinomial import D, K, N, data

from fastlin import ConvergenceWarning, GridSearchCV, SparsemaxClassifier, load, save

SOLVERS = ("auto", "dual_cd", "newton")


def assert_optimal(model, X, Q, tol, s=None):
    s = np.ones(len(Q)) if s is None else s
    alpha = 1 / (model.C * s.sum())
    terms = {"l1": alpha * model.l1_ratio, "l2": alpha * (1 - model.l1_ratio), "s": s}
    W, b = reference.least_smooth("sparsemax", X, Q, **terms, intercept=model.fit_intercept)
    best = reference.objective("sparsemax", W, b, X, Q, **terms)
    own = reference.objective(
        "sparsemax", model.coef_.astype(float), model.intercept_, X, Q, **terms
    )
    assert model.duality_gap_[0] <= tol
    assert model.objective_[0] == pytest.approx(own, rel=1e-9)
    assert best * (1 - 1e-6) >= own * (1 - tol) * (1 - 2e-6)
    assert own <= best * (1 + tol)
    return W, b


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("C", "intercept"), [(0.1, True), (3.0, True), (1.0, False)])
def test_the_optimum(C, intercept, solver):
    _, X, y = data(n=40)
    s = np.random.default_rng(3).integers(1, 4, 40).astype(float)
    tol = 1e-5 if solver == "dual_cd" else 1e-8
    model = SparsemaxClassifier(C=C, tol=tol, fit_intercept=intercept, solver=solver)
    model.fit(X, y, sample_weight=s)
    W, _ = assert_optimal(model, X, np.eye(K)[y], tol, s)
    np.testing.assert_allclose(model.coef_, W, atol=3e-2 if solver == "dual_cd" else 1e-3)
    assert model.intercept_.sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_penalties_with_l1(ratio):
    _, X, y = data(n=40)
    for solver in ("auto", "primal_cd"):
        model = SparsemaxClassifier(C=0.5, l1_ratio=ratio, tol=1e-6, solver=solver).fit(X, y)
        assert_optimal(model, X, np.eye(K)[y], 1e-6)
        assert (model.coef_ == 0).any()
    # no column is worth its weight: only intercepts are left
    wide = sparse.random_array((40, 1200), density=0.02, rng=np.random.default_rng(0), format="csr")
    none = SparsemaxClassifier(C=1e-4, l1_ratio=1.0).fit(wide, y)
    assert not none.coef_.any()
    assert none.duality_gap_[0] <= 1e-4
    share = np.bincount(y) / 40
    np.testing.assert_allclose(none.predict_proba(wide[:1])[0], share, atol=1e-2)


@pytest.mark.memory
@pytest.mark.parametrize("layout", reference.FORMS, ids=lambda layout: layout.name)
def test_storage_and_solver_do_not_matter(layout):
    X, dense, y = data(n=40, layout=layout)
    best = SparsemaxClassifier(tol=1e-9).fit(dense, y).objective_[0]
    for solver in SOLVERS:
        model = SparsemaxClassifier(tol=1e-5, solver=solver).fit(X, y)
        assert model.duality_gap_[0] <= 1e-5
        assert model.objective_[0] == pytest.approx(best, rel=2e-5)
        assert model.coef_.dtype == layout.dtype


def test_two_classes_are_a_quarter_of_the_modified_huber_loss():
    _, X, y = data(n=50, K=2)
    sign = np.where(y == 1, 1, -1)
    for solver in SOLVERS:
        model = SparsemaxClassifier(C=2.0, tol=1e-6, solver=solver).fit(X, y)
        w, b = model.coef_[0], model.intercept_[0]
        assert model.coef_.shape == (1, D)
        m = sign * (X @ w + b)
        huber = np.where(m >= -1, np.maximum(0, 1 - m) ** 2, -4 * m)
        value = huber.mean() / 4 + w @ w / (2 * 2.0 * len(y))
        assert value == pytest.approx(model.objective_[0], rel=1e-9)
        # the gradient is 0
        pull = np.where(m >= -1, -2 * np.maximum(0, 1 - m), -4) * sign / (4 * len(y))
        np.testing.assert_allclose(X.T @ pull + w / (2.0 * len(y)), 0, atol=1e-3)
        assert pull.sum() == pytest.approx(0, abs=1e-3)
        p = model.predict_proba(X)
        np.testing.assert_allclose(p[:, 1], np.clip((1 + X @ w + b) / 2, 0, 1), atol=1e-12)


def test_probabilities_are_projections_with_zeros(tmp_path):
    _, X, y = data()
    names = np.array(["d", "a", "c", "b"])[y]
    model = SparsemaxClassifier(C=10.0).fit(X, names)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p, reference.on_simplex(model.decision_function(X)), atol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert 0.1 < (p == 0).mean() < 0.75
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    log = model.predict_log_proba(X)
    assert (np.isneginf(log) == (p == 0)).all()
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict_proba(X).tobytes() == p.tobytes()
    assert pickle.loads(pickle.dumps(model)).predict_proba(X).tobytes() == p.tobytes()


def test_weights_classes_and_searches():
    _, X, y = data()
    s = np.random.default_rng(5).integers(0, 4, N)
    rows = np.repeat(np.arange(N), s)
    weighted = SparsemaxClassifier(tol=1e-8).fit(X, y, sample_weight=s)
    repeated = SparsemaxClassifier(tol=1e-8).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    by_class = SparsemaxClassifier(tol=1e-8, class_weight={0: 3.0, 1: 1.0, 2: 0.5, 3: 1.0})
    by_row = SparsemaxClassifier(tol=1e-8).fit(X, y, np.array([3.0, 1.0, 0.5, 1.0])[y])
    np.testing.assert_allclose(by_class.fit(X, y).coef_, by_row.coef_, atol=1e-3)
    with pytest.warns(UserWarning, match="weight 0"):
        gone = SparsemaxClassifier(tol=1e-8).fit(X, y, sample_weight=(y != 1).astype(float))
    assert gone.intercept_[1] == -np.inf
    assert not gone.predict_proba(X)[:, 1].any()
    search = GridSearchCV(SparsemaxClassifier(), {"C": [0.01, 1.0]}, cv=3, n_jobs=2).fit(X, y)
    again = SparsemaxClassifier(C=search.best_params_["C"]).fit(X, y)
    assert search.best_estimator_.coef_.tobytes() == again.coef_.tobytes()
    with pytest.raises(ValueError, match="scikit-learn"):
        again.to_sklearn()


def test_without_a_penalty_separated_classes_cost_nothing():
    X, y = np.repeat(np.eye(3), 4, axis=0), np.repeat([0, 1, 2], 4)
    for solver in ("auto", "newton"):
        model = SparsemaxClassifier(C=np.inf, solver=solver).fit(X, y)
        assert model.objective_[0] == pytest.approx(0, abs=1e-9) and model.objective_[0] >= 0
        np.testing.assert_allclose(model.predict_proba(X), np.eye(3)[y], atol=1e-4)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iter"):
        SparsemaxClassifier(C=100.0, tol=1e-9, max_iter=1, solver="newton").fit(*data()[1:])


def test_a_label_that_all_rows_have_is_learnt_with_the_others():
    X, Y = labelled()
    Y[:, 0] = 1
    model = SparsemaxClassifier(C=10.0).fit(X, Y)  # and warns of nothing
    assert len(np.unique(model.predict(30 * X)[:, 0])) == 2


def labelled(n=40):
    _, X, _ = data(n=n)
    rng = np.random.default_rng(7)
    Y = (X @ rng.normal(size=(D, K)) + rng.normal(size=(n, K)) > 0.4).astype(int)
    Y[:3] = 0
    return X, Y


@pytest.mark.parametrize("solver", SOLVERS)
def test_several_labels_share_a_row(solver):
    X, Y = labelled()
    s = np.random.default_rng(3).uniform(0.5, 2, len(Y))
    some = Y.any(axis=1)
    tol = 1e-5 if solver == "dual_cd" else 1e-8
    model = SparsemaxClassifier(C=2.0, tol=tol, solver=solver).fit(X, Y, sample_weight=s)
    assert not some.all() and (Y.sum(axis=1) > 1).any()
    Q = Y[some] / Y[some].sum(axis=1, keepdims=True)
    assert_optimal(model, X[some], Q, tol, s[some])
    alone = SparsemaxClassifier(C=2.0, tol=tol, solver=solver)
    alone.fit(X[some], Y[some], sample_weight=s[some])
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-9)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p, reference.on_simplex(X @ model.coef_.T + model.intercept_),
                               atol=1e-12)  # fmt: skip
    np.testing.assert_array_equal(model.predict(X), p > 0)


def test_forms_of_labels(tmp_path):
    X, Y = labelled()
    names = np.array(["w", "x", "y", "z"])
    sets = [set(names[row == 1]) for row in Y]
    model = SparsemaxClassifier().fit(X, Y)
    for given in (sets, sparse.csr_array(Y)):
        other = SparsemaxClassifier().fit(X, given)
        np.testing.assert_array_equal(other.coef_, model.coef_)
    other.fit(X, sets)
    expected = [set(names[row == 1]) for row in model.predict(X)]
    assert other.predict_labels(X) == expected
    save(other, tmp_path / "model")
    assert load(tmp_path / "model").predict_labels(X) == expected
    # two labels keep an output each
    two = SparsemaxClassifier().fit(X, Y[:, :2])
    assert two.coef_.shape == (2, D)
    # a label that no row has
    with pytest.warns(UserWarning, match="no row has"):
        none = SparsemaxClassifier().fit(X, np.column_stack([Y, np.zeros(len(Y), int)]))
    np.testing.assert_allclose(none.coef_[:K], model.coef_, atol=1e-9)
    assert not none.predict(X)[:, K].any()
    # back to one class per row
    assert model.fit(X, Y[:, 0]).predict(X).shape == (len(Y),)


def test_what_labels_refuse():
    X, Y = labelled()
    with pytest.raises(ValueError, match="class_weight must be None for several labels"):
        SparsemaxClassifier(class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match="at least two labels"):
        SparsemaxClassifier().fit(X, Y * np.array([1, 0, 0, 0]))
    with pytest.raises(ValueError, match="at least two labels"):
        SparsemaxClassifier().fit(X, Y, sample_weight=(~Y.any(axis=1)).astype(float))
    model = SparsemaxClassifier(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X, Y[:, :3])


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_classes_that_hardly_overlap(scale):
    """Where Newton's method alone took a hundred slow steps."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 30)) * np.geomspace(1, scale, 30) + 3
    y = (X @ rng.normal(size=(30, 4)) + rng.normal(size=(300, 4))).argmax(axis=1)
    for C in (1.0, 100.0):
        model = SparsemaxClassifier(C=C, tol=1e-5).fit(X, y)
        named = SparsemaxClassifier(C=C, tol=1e-5, solver="dual_cd", max_iter=20_000).fit(X, y)
        assert model.duality_gap_[0] <= 1e-5 >= named.duality_gap_[0]
        assert model.objective_[0] == pytest.approx(named.objective_[0], rel=2e-5)


@pytest.mark.parametrize("C", [1e9, 1e10])
def test_almost_no_penalty_ends_at_the_optimum(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    model = SparsemaxClassifier(C=C, max_iter=200).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert model.n_iter_[0] <= 200 and model.duality_gap_[0] <= 1e-4
