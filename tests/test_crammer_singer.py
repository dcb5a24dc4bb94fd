"""`LinearSVC(multi_class="crammer_singer")`: its optimum against a quadratic program and against
scikit-learn's, weights, two classes, storage."""

import joint_reference as reference
import numpy as np
import pytest
from test_multinomial import K, N, data

from fastlin import (
    ConvergenceWarning,
    LinearSVC,
    LinearSVR,
    OneHotEncoder,
    SparsemaxClassifier,
    load,
    save,
)
from fastlin._data import as_rows
from fastlin._joint_dual import _Best
from fastlin._joint_interior import InteriorPoint
from fastlin._joint_problem import Distributions, JointProblem
from fastlin.datasets import load_mushrooms


def made(**params):
    return LinearSVC(multi_class="crammer_singer", **params)


def objective(model, X, y, s=None, loss="hinge"):
    """What the class documents, over C times the sum of the weights."""
    s = np.ones(len(y)) if s is None else s
    Q = (np.asarray(y)[:, None] == model.classes_).astype(float)
    return reference.objective(loss, model.coef_.astype(float), model.intercept_, X, Q, s,
                               l2=1 / (model.C * s.sum()))  # fmt: skip


@pytest.mark.parametrize(("C", "intercept"), [(0.05, True), (0.5, True), (0.5, False)])
def test_the_optimum_is_that_of_the_quadratic_program(C, intercept):
    _, X, y = data(n=16, K=3)
    s = np.random.default_rng(3).integers(1, 4, 16).astype(float)
    model = made(C=C, tol=1e-5, fit_intercept=intercept, max_iter=20_000)
    model.fit(X, y, sample_weight=s)
    best, W = reference.least_hinge(X, y, 3, C, s, intercept)
    assert isinstance(model.n_iter_, int) and model.n_iter_ > 0
    assert model.duality_gap_.shape == (1,) and model.duality_gap_[0] <= 1e-5
    assert objective(model, X, y, s) == pytest.approx(model.objective_[0], rel=1e-9)
    assert model.objective_[0] == pytest.approx(best / (C * s.sum()), rel=2e-5)
    np.testing.assert_allclose(model.coef_, W, atol=0.02)
    assert model.intercept_.sum() == pytest.approx(0, abs=1e-9)
    assert intercept or not model.intercept_.any()


@pytest.mark.memory
@pytest.mark.parametrize("layout", reference.FORMS, ids=lambda layout: layout.name)
def test_storage_does_not_matter(layout):
    X, dense, y = data(n=40, layout=layout)
    model = made(C=0.1, tol=1e-4).fit(X, y)
    twin = made(C=0.1, tol=1e-4).fit(dense, y)
    assert model.duality_gap_[0] <= 1e-4
    assert model.objective_[0] == pytest.approx(twin.objective_[0], rel=2e-4)
    assert objective(model, dense, y) == pytest.approx(model.objective_[0], rel=1e-6)
    assert model.coef_.dtype == layout.dtype


def test_two_classes_are_the_binary_machine():
    _, X, y = data(n=60, K=2)
    pair = made(C=0.5, tol=1e-6).fit(X, y)
    binary = LinearSVC(loss="hinge", C=0.5, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(pair.coef_, binary.coef_)
    # and so is one problem of two classes left of three: the third has no weight
    y3 = np.concatenate([y, [2]])
    with pytest.warns(UserWarning, match="weight 0"):
        left = made(C=0.5, tol=1e-6, max_iter=20_000)
        left.fit(np.vstack([X, X[:1]]), y3, sample_weight=(y3 < 2).astype(float))
    assert left.objective_[0] == pytest.approx(binary.objective_[0], rel=1e-5)
    np.testing.assert_allclose(left.coef_[1] - left.coef_[0], binary.coef_[0], atol=0.01)
    assert left.intercept_[2] == -np.inf


def test_weights_are_repetitions():
    _, X, y = data()
    s = np.random.default_rng(5).integers(0, 4, N)
    rows = np.repeat(np.arange(N), s)
    params = {"C": 0.1, "tol": 1e-5, "max_iter": 10_000}
    weighted = made(**params).fit(X, y, sample_weight=s)
    repeated = made(**params).fit(X[rows], y[rows])
    assert weighted.objective_[0] == pytest.approx(repeated.objective_[0], rel=2e-5)
    by_class = made(**params, class_weight={0: 2.0, 3: 0.5}).fit(X, y)
    by_row = made(**params).fit(X, y, sample_weight=np.array([2.0, 1.0, 1.0, 0.5])[y])
    assert by_class.objective_[0] == pytest.approx(by_row.objective_[0], rel=2e-5)


def test_other_parameters(tmp_path):
    _, X, y = data()
    model = made(C=0.1, penalty="l1", loss="hinge").fit(X, y)
    other = LinearSVC(C=0.1, multi_class="joint").fit(X, y)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    save(model, tmp_path / "model")
    assert (load(tmp_path / "model").predict(X) == model.predict(X)).all()
    warm = made(C=0.1, warm_start=True, tol=1e-5, max_iter=10_000).fit(X, y)
    cold = warm.n_iter_
    assert warm.fit(X, y).n_iter_ <= cold
    with pytest.warns(ConvergenceWarning, match="LinearSVC stopped after 2 iterations"):
        made(C=10.0, max_iter=2).fit(X, y)
    for learner in (made(C=1e308), LinearSVC(C=1e308, loss="hinge"), LinearSVR(C=1e308)):
        with pytest.raises(ValueError, match=r"C must be .* does not overflow, got 1e\+308"):
            learner.fit(X, y)


def test_real_data():
    """Against scikit-learn without intercepts, which it would penalise."""
    pytest.importorskip("sklearn")
    from sklearn.svm import LinearSVC as Peer

    columns, _ = load_mushrooms(return_X_y=True)
    table = np.asarray(columns, dtype=object)[::16]
    y = table[:, 4].astype(str)
    X = OneHotEncoder(output="rows").fit_transform(np.delete(table, 4, axis=1))
    model = made(C=0.1, tol=1e-4, fit_intercept=False).fit(X, y)
    peer = Peer(C=0.1, multi_class="crammer_singer", fit_intercept=False, tol=1e-3,
                max_iter=10_000)  # fmt: skip
    dense = X.toarray()
    peer.fit(dense, y)
    own = objective(model, dense, y)
    model.coef_ = peer.coef_
    best = objective(model, dense, y)
    assert own == pytest.approx(model.objective_[0], rel=1e-9)
    assert own == pytest.approx(best, rel=2e-4)
    assert len(model.classes_) == 9 > K


@pytest.mark.parametrize(("C", "intercept"), [(0.1, True), (1.0, False), (100.0, True)])
def test_ill_conditioned_columns(C, intercept):
    """Ascent by rows alone needs many thousands of passes."""
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(120, 5))
    X = Z * [1, 100, 1e3, 0.1, 10] + [10, 0, 700, 0, -50]
    y = (Z @ rng.normal(size=(5, 4)) + rng.normal(size=(120, 4))).argmax(axis=1)
    s = rng.integers(1, 3, 120).astype(float)
    model = made(C=C, tol=1e-6, fit_intercept=intercept).fit(X, y, sample_weight=s)
    assert model.duality_gap_[0] <= 1e-6
    assert objective(model, X, y, s) == pytest.approx(model.objective_[0], rel=1e-9)
    few = made(C=C, tol=1e-3, fit_intercept=intercept).fit(X, y, sample_weight=s)
    assert few.objective_[0] == pytest.approx(model.objective_[0], rel=1e-3)


def test_known_data():
    """Data on which thousands of passes were not enough; the optimum is that of a smoothed
    objective, annealed."""
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_iris(return_X_y=True)
    model = made(C=0.1).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    assert model.objective_[0] == pytest.approx(0.28924, rel=1e-4)
    assert made(C=0.1).fit(X, y).objective_[0] == pytest.approx(0.26486, rel=1e-4)
    X, y = datasets.load_wine(return_X_y=True)
    assert made().fit(X, y).duality_gap_[0] <= 1e-4


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
def test_raw_columns_and_weak_penalties(C):
    """Rows 1e5 and more as long as the penalty allows for: the hard margin, but for rounding."""
    X, y = pytest.importorskip("sklearn.datasets").load_wine(return_X_y=True)
    model = made(C=C).fit(X, y)
    assert model.duality_gap_[0] <= model.tol and model.n_iter_ < model.max_iter
    assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-6)
    # as C grows the weights stay: 0.5 |W|^2 over C times the sum of the weights
    assert C * model.objective_[0] == pytest.approx(0.0232781 if C > 1 else 0.0222451, rel=2e-4)


def test_sparsemax_on_raw_columns_with_a_weak_penalty():
    X, y = pytest.importorskip("sklearn.datasets").load_wine(return_X_y=True)
    model = SparsemaxClassifier(C=1e4).fit(X, y)
    assert model.duality_gap_[0] <= model.tol and model.score(X, y) == 1.0


@pytest.mark.parametrize("max_iter", [1, 2, 3, 7])
def test_few_iterations_with_a_weak_penalty(max_iter):
    """The penalty falls in steps, which share the iterations."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = made(C=1e8, max_iter=max_iter)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert model.n_iter_ <= max_iter and np.isfinite(model.coef_).all()


@pytest.mark.parametrize(("make", "loss"), [(made, "hinge"), (SparsemaxClassifier, "sparsemax")])
def test_classes_that_columns_separate_with_any_weak_penalty(make, loss):
    """Pixels from 0 to 16. No W that separates with margin 1 is shorter than that of the hard
    margin, which C |loss| + |W|^2/2 approaches from below: each loss bounds the other's answer."""
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_digits(return_X_y=True)
    shortest = 1.707514
    for C, tol in ((100.0, 1e-4), (1e4, 1e-6 if make is made else 1e-4), (1e6, 1e-4)):
        model = make(C=C, tol=tol, random_state=0).fit(X, y)
        assert model.duality_gap_[0] <= tol
        assert 2 * objective(model, X, y, loss=loss) * C * len(y) <= shortest * (1 + 1.1 * tol)
        z = X @ model.coef_.T + model.intercept_
        own = z[np.arange(len(y)), y]
        z[np.arange(len(y)), y] = -np.inf
        margin = (own - z.max(axis=1)).min()
        square = (model.coef_**2).sum()
        assert square / margin**2 >= shortest * (1 - 1e-6)
    assert square / margin**2 == pytest.approx(shortest, rel=1e-3)
    assert square == pytest.approx(shortest, rel=2e-4)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e6])
def test_the_interior_point_method_alone(C, intercept):
    _, X, y = data(n=60, K=4)
    s = np.random.default_rng(3).integers(1, 4, 60).astype(float)
    problem = JointProblem(as_rows(X), Distributions.of_codes(y, 4), "hinge", l2=1 / (C * s.sum()),
                           weight=s, fit_intercept=intercept)
    best, offers = _Best(problem, 1e-8), []

    def offer(W, b, mean_loss, p):
        assert (p > 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        coef = problem.unpacked(W)
        assert mean_loss == pytest.approx(
            reference.objective("hinge", coef, b, X, np.eye(4)[y], s), rel=1e-9, abs=1e-14)
        assert intercept or not b.any()
        offers.append(best.consider(W, b, mean_loss, p))
        return offers[-1]

    W = np.zeros(X.shape[1] * problem.width)
    inside = InteriorPoint(problem, np.full((60, 4), 0.25), W, np.zeros(4))
    assert inside.ascend(offer, 100) == len(offers) < 60
    assert offers[-1][1] and best.gap <= 1e-8
    other = made(C=C, tol=1e-5, fit_intercept=intercept, max_iter=20_000)
    other.fit(X, y, sample_weight=s)
    assert best.objective == pytest.approx(other.objective_[0], rel=2e-5)
    few = InteriorPoint(problem, np.full((60, 4), 0.25), W, np.zeros(4))
    assert few.ascend(lambda *offered: (offer(*offered)[0], False), 3) == 3


@pytest.mark.parametrize(("C", "intercept"), [(1.0, False), (1e6, True)])
def test_classes_that_overlap_with_a_weak_penalty(C, intercept):
    """Pixels from 0 to 16 where some labels are wrong, and hardly any W is short."""
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_digits(return_X_y=True)
    X, y = X[::3], y[::3]
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.2, (y + 1) % 10, y)
    model = made(C=C, fit_intercept=intercept, random_state=0).fit(X, y)
    assert model.duality_gap_[0] <= 1e-4 and model.n_iter_ < 600
    assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-9)
