"""Ridge, RidgeClassifier, RidgeCV and LinearRegression: closed forms in NumPy, every layout,
weights as repetitions, agreement with scikit-learn."""

import pickle

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

import fastlin
from fastlin import ConvergenceWarning, LinearRegression, Ridge, RidgeClassifier, RidgeCV, _cg
from fastlin._centred import Centred
from fastlin._cholesky import rough_inverse
from fastlin._data import as_rows
from fastlin._problem import Problem
from fastlin._solve import PEER_SOLVERS


def closed_form(X, y, alpha, weight=None, fit_intercept=True):
    """(w, b) by the normal equations."""
    s = np.ones(len(y)) if weight is None else weight
    x_mean, y_mean = (s @ X / s.sum(), s @ y / s.sum()) if fit_intercept else (0 * X[0], 0.0)
    A = X - x_mean
    G = A.T @ (A * s[:, None]) + alpha * np.eye(X.shape[1])
    w = np.linalg.solve(G, A.T @ (s * (y - y_mean)))
    return w, y_mean - x_mean @ w


def data(n=60, d=7, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + shift
    return X, X @ rng.normal(size=d) + rng.normal(size=n) + 2, rng.integers(0, 5, n).astype(float)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_layout_has_the_closed_form(layout, fit_intercept, weighted):
    X, dense = layout.make()
    y = dense @ np.arange(dense.shape[1]) + np.sin(np.arange(len(dense)))
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else None
    w, b = closed_form(dense, y, 0.7, weight, fit_intercept)
    atol = 1e-5 if layout.dtype == np.float32 else 1e-10
    for solver in ("auto", "newton"):
        model = Ridge(0.7, fit_intercept=fit_intercept, solver=solver, tol=1e-11)
        model.fit(X, y, weight)
        np.testing.assert_allclose(model.coef_, w, atol=max(atol, 1e-4 * (solver == "newton")))
        np.testing.assert_allclose(model.intercept_, b, atol=1e-3)
        assert model.duality_gap_ <= 1e-11
        assert model.coef_.dtype == layout.dtype


@pytest.mark.parametrize("shape", [(60, 7), (20, 45), (1, 3), (4, 1)])
@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
def test_both_shapes_and_all_strengths(shape, alpha):
    X, y, _ = data(*shape)
    w, b = closed_form(X, y, alpha)
    model = Ridge(alpha).fit(X, y)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-6, atol=1e-9)
    assert model.intercept_ == pytest.approx(b)
    A, s = X, len(y)
    objective = ((y - A @ w - b) ** 2).sum() / (2 * s) + alpha / (2 * s) * w @ w
    assert model.objective_ == pytest.approx(objective, rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("solver", ["auto", "direct", "newton", "dual_cd", *PEER_SOLVERS])
def test_all_solvers_are_ways_to_one_optimum(solver):
    X, y, weight = data()
    w, b = closed_form(X, y, 2.0, weight)
    model = Ridge(2.0, solver=solver, tol=1e-12, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, w, atol=1e-5)
    assert model.intercept_ == pytest.approx(b, abs=1e-4)


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("cls", [Ridge, LinearRegression, RidgeCV, RidgeClassifier])
def test_weights_are_repetitions(cls, build):
    X, y, weight = data()
    if cls is RidgeClassifier:
        y = np.digitize(y, [-1, 3])
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    one = cls().fit(build(X), y, weight)
    other = cls().fit(build(X[repeated]), y[repeated])
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-10)
    np.testing.assert_allclose(one.intercept_, other.intercept_, atol=1e-10)
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=1e-10)
    if cls is RidgeCV:
        assert one.best_score_ == pytest.approx(other.best_score_)


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_weights_of_two_and_twice_the_alpha_change_nothing(build):
    X, y, _ = data()
    plain = Ridge(1.5).fit(X, y)
    double = Ridge(3.0).fit(build(X), y, np.full(len(y), 2.0))
    np.testing.assert_allclose(double.coef_, plain.coef_, rtol=1e-10)
    assert LinearRegression().fit(build(X), y, np.full(len(y), 2.0)).coef_ == pytest.approx(
        LinearRegression().fit(X, y).coef_
    )


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", ["auto", "newton"])
@pytest.mark.parametrize("shift", [10.0, 1e3, 1e6])
def test_a_shift_changes_no_prediction(shift, solver, build):
    X, y, _ = data(shape := 80, 5)
    assert shape == len(y)
    plain = Ridge(1.0).fit(X, y).predict(X)
    moved = Ridge(1.0, solver=solver, tol=1e-9).fit(build(X + shift), y)
    np.testing.assert_allclose(moved.predict(X + shift), plain, atol=1e-3 if shift > 1e3 else 1e-4)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_constant_column(alpha, fit_intercept):
    X, y, _ = data()
    X[:, 2] = 3.0
    coef = Ridge(alpha, fit_intercept=fit_intercept).fit(X, y).coef_
    assert np.isfinite(coef).all()
    if fit_intercept:
        assert coef[2] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("n", "d", "rank"), [(40, 12, 5), (15, 30, 15), (15, 30, 4), (1, 3, 1)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_least_squares_of_least_norm(n, d, rank, fit_intercept, build):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + fit_intercept
    y = rng.normal(size=n)
    A, r = (X - X.mean(axis=0), y - y.mean()) if fit_intercept else (X, y)
    w = np.linalg.lstsq(A, r, rcond=1e-10)[0]
    model = LinearRegression(fit_intercept=fit_intercept).fit(build(X), y)
    np.testing.assert_allclose(model.coef_, w, atol=1e-9)
    values = np.linalg.svd(A, compute_uv=False)
    assert model.rank_ == (values > 1e-9).sum()
    np.testing.assert_allclose(model.singular_, values, atol=1e-9)
    ridge = Ridge(0.0, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(ridge.coef_, w, atol=1e-9)


def test_columns_that_nearly_coincide_keep_their_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 3] = X[:, 2] + 1e-5 * rng.normal(size=200)
    w = np.array([1.0, -2.0, 3.0, 4.0])
    np.testing.assert_allclose(LinearRegression().fit(X, X @ w).coef_, w, atol=1e-6)


def test_conjugate_gradients_end_at_the_solution_of_least_norm():
    rng = np.random.default_rng(0)
    X = sparse.random_array((90, 40), density=0.1, rng=rng, format="csr")
    X = sparse.hstack([X, X], format="csr")
    y = rng.normal(size=90)
    model = Ridge(0.0, solver="newton", tol=1e-12).fit(X, y)
    A = X.toarray() - X.toarray().mean(axis=0)
    w = np.linalg.lstsq(A, y - y.mean(), rcond=1e-10)[0]
    np.testing.assert_allclose(model.coef_, w, atol=1e-5)


def problem_of(X, y, alpha, weight=None, fit_intercept=True):
    s = np.ones(len(y)) if weight is None else weight
    return Problem(as_rows(X), y, "squared_error", l2=alpha / s.sum(),
                   weight=np.empty(0) if weight is None else s, fit_intercept=fit_intercept)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(50, 30), (20, 400)], ids=["columns", "rows"])
def test_both_systems_of_conjugate_gradients(shape, fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.1) * np.logspace(0, 3, shape[1])
    y, s = rng.normal(size=len(X)) + 3, rng.uniform(0.1, 4, len(X))
    problem = problem_of(sparse.csr_array(X), y, 0.3, s, fit_intercept)
    w, b = closed_form(X, y, 0.3, s, fit_intercept)
    fit = _cg.solve(problem, 1e-12, 10_000)
    assert fit.converged
    np.testing.assert_allclose(X @ fit.coef + fit.intercept, X @ w + b, atol=1e-4)
    best = problem.primal(X @ w + b, w)
    for tol in (1.0, 1e-2, 1e-4):
        fit = _cg.solve(problem, tol, 10_000)
        above = problem.primal(X @ fit.coef + fit.intercept, fit.coef) - best
        assert above <= fit.certificate.gap <= tol * fit.certificate.objective
        assert fit.certificate.objective == pytest.approx(best + above)


def test_conjugate_gradients_know_when_they_are_too_slow():
    X, y, _ = data(400, 300)
    slow = _cg.solve(problem_of(X * np.logspace(0, 2, 300), y, 1e-4), 1e-6, 60, hurry=True)
    assert not slow.converged
    assert slow.n_iter < 40
    quick = _cg.solve(problem_of(X, y, 300.0), 1e-6, 60, hurry=True)
    assert quick.converged
    assert quick.n_iter < 40


@pytest.mark.parametrize(("spread", "alpha"), [(0, 1e3), (0, 1e-4), (5, 0.1), (5, 1e-4)])
def test_tol_bounds_the_gap_whatever_way_was_taken(spread, alpha):
    X, y, _ = data(330, 260)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(260, 260)))[0]
    X = X @ (turn * np.logspace(0, -spread, 260)) @ turn.T + 100
    w, b = closed_form(X, y, alpha)
    for tol in (1e-2, 1e-6):
        model = Ridge(alpha, tol=tol).fit(X, y)
        assert model.duality_gap_ <= tol
        best = ((y - X @ w - b) ** 2).sum() + alpha * w @ w
        found = ((y - model.predict(X)) ** 2).sum() + alpha * model.coef_ @ model.coef_
        assert found <= best * (1 + 1.1 * tol)


def test_a_factor_in_single_precision_is_near_the_inverse():
    X, y, weight = data(90, 20, shift=50.0)
    X *= np.logspace(-12, 12, 20)
    rows = Centred(problem_of(X, y, 1.0, weight + 0.1))
    matrix = rows.gram() + 1e-3 * np.eye(20)
    scale = np.sqrt(np.diagonal(matrix))
    product = np.column_stack([rough_inverse(rows, 1e-3)(column) for column in matrix])
    np.testing.assert_allclose(scale[:, None] * product / scale, np.eye(20), atol=1e-4)


@pytest.mark.parametrize("solver", ["direct", "cholesky", "svd"])
def test_a_factorisation_that_is_asked_for_leaves_only_rounding(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 300))
    y = X @ rng.standard_normal(300) + rng.standard_normal(500)
    model = Ridge(solver=solver).fit(X, y)
    Z, r = X - X.mean(axis=0), y - y.mean()
    expected = np.linalg.solve(Z.T @ Z + np.eye(300), Z.T @ r)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9, atol=1e-12)
    assert model.duality_gap_ <= 1e-14



def test_targets_of_several_classes_end_at_the_optimum_one_by_one_or_not():
    X, y, _ = data(300, 280)
    y = np.digitize(y, [-5, 5])
    for alpha in (1e-2, 300.0):
        together = RidgeClassifier(alpha, tol=1e-6).fit(X, y)
        assert (together.duality_gap_ <= 1e-6).all()
        for k in range(3):
            w, b = closed_form(X, np.where(y == k, 1.0, -1.0), alpha)
            answers = X @ together.coef_[k] + together.intercept_[k]
            np.testing.assert_allclose(answers, X @ w + b, atol=2e-2)


def test_a_search_that_is_stopped_says_how_far_it_came():
    X, y, _ = data(300, 40)
    X *= np.logspace(0, 4, 40)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model = Ridge(1e-3, solver="newton", max_iter=1, tol=1e-12).fit(sparse.csr_array(X), y)
    assert model.duality_gap_ > 1e-12


def test_the_posterior_is_that_of_bishop():
    X, y, weight = data()
    model = Ridge(2.0, noise_variance=0.5).fit(X, y, weight)
    S = weight.sum()
    A = X - weight @ X / S
    G = A.T @ (A * weight[:, None]) + 2 * np.eye(7)
    inverse = np.linalg.inv(G)
    expected = np.sqrt(0.5 * (1 + 1 / S + np.einsum("ij,jk,ik->i", A, inverse, A)))
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(std, expected)
    np.testing.assert_array_equal(mean, model.predict(X))
    np.testing.assert_allclose(model.predict(sparse.csr_array(X), return_std=True)[1], expected)
    estimated = Ridge(2.0).fit(X, y, weight)
    trace = 8 - 2 * np.trace(inverse)
    noise = weight @ (y - estimated.predict(X)) ** 2 / (S - trace)
    ratio = estimated.predict(X, return_std=True)[1] / std
    np.testing.assert_allclose(ratio, np.sqrt(noise / 0.5))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X, return_std=True)[1], std)


def test_the_posterior_without_intercept_and_for_more_columns_than_rows():
    X, y, _ = data(20, 30)
    model = Ridge(2.0, noise_variance=1.0, fit_intercept=False).fit(X, y)
    variance = 1 + np.einsum("ij,jk,ik->i", X, np.linalg.inv(X.T @ X + 2 * np.eye(30)), X)
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], np.sqrt(variance))


def test_a_posterior_that_is_missing_says_why():
    X, y, _ = data(20, 30)
    for model, why in (
        (Ridge(0.0, noise_variance=1.0), "linearly dependent"),
        (Ridge(1e-8), "degrees of freedom"),
    ):
        with pytest.raises(ValueError, match=why):
            model.fit(X, y).predict(X, return_std=True)
    wide = np.ones((5, 300)) * np.arange(5)[:, None]
    with pytest.raises(ValueError, match="noise_variance is a number"):
        Ridge().fit(wide, np.arange(5)).predict(wide, return_std=True)
    std = Ridge(noise_variance=2.0).fit(wide, np.arange(5)).predict(wide, return_std=True)[1]
    assert (std > 0).all()


def test_a_stored_model_keeps_its_posterior(tmp_path):
    X, y, _ = data()
    model = Ridge().fit(X, y)
    fastlin.save(model, tmp_path / "model")
    again = fastlin.load(tmp_path / "model")
    np.testing.assert_array_equal(
        again.predict(X, return_std=True), model.predict(X, return_std=True)
    )


def test_several_targets_are_refused():
    X, y, _ = data()
    for cls in (Ridge, RidgeCV, LinearRegression):
        with pytest.raises(ValueError, match="y"):
            cls().fit(X, np.column_stack([y, y]))


def test_the_callers_arrays_stay_as_they_are():
    X, y, weight = data()
    before = X.copy(), y.copy(), weight.copy()
    for cls in (Ridge, RidgeCV, LinearRegression):
        cls().fit(X, y, weight)
    for array, copy in zip((X, y, weight), before, strict=True):
        np.testing.assert_array_equal(array, copy)


# RidgeCV


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(40, 6), (15, 30)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_leave_one_out_of_all_alphas_is_that_of_refits(shape, fit_intercept, build):
    X, y, _ = data(*shape, shift=1.0)
    alphas = [1e-3, 1.0, 50.0]
    model = RidgeCV(alphas, fit_intercept=fit_intercept, store_cv_results=True).fit(build(X), y)
    brute = np.empty((len(y), 3))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        for k, alpha in enumerate(alphas):
            w, b = closed_form(X[rest], y[rest], alpha, None, fit_intercept)
            brute[i, k] = (y[i] - X[i] @ w - b) ** 2
    np.testing.assert_allclose(model.cv_results_, brute, rtol=1e-7)
    best = brute.mean(axis=0).argmin()
    assert model.alpha_ == alphas[best]
    assert model.best_score_ == pytest.approx(-brute.mean(axis=0).min())
    w, b = closed_form(X, y, model.alpha_, None, fit_intercept)
    np.testing.assert_allclose(model.coef_, w, atol=1e-9)
    assert model.duality_gap_ < 1e-9


def test_a_row_that_alone_holds_a_column():
    X, y, _ = data(30, 4)
    X[:, 3] = 0
    X[4, 3] = 1
    model = RidgeCV([1e-12, 1e-3], store_cv_results=True).fit(X, y)
    rest = np.delete(np.arange(30), 4)
    w, b = closed_form(X[rest][:, :3], y[rest], 1e-12)
    assert model.cv_results_[4, 0] == pytest.approx((y[4] - X[4, :3] @ w - b) ** 2, rel=1e-6)


def test_rows_of_no_weight_have_no_result():
    X, y, _ = data(20, 3)
    weight = np.ones(20)
    weight[3] = 0
    model = RidgeCV(store_cv_results=True).fit(X, y, weight)
    other = RidgeCV(store_cv_results=True).fit(np.delete(X, 3, 0), np.delete(y, 3))
    assert np.isnan(model.cv_results_[3]).all()
    np.testing.assert_allclose(np.delete(model.cv_results_, 3, 0), other.cv_results_)


def test_ridge_cv_refuses_what_it_has_not():
    X, y, _ = data()
    for params, why in (
        ({"alphas": [0.0, 1.0]}, "alphas must hold numbers > 0"),
        ({"alphas": []}, "alphas must hold numbers > 0"),
        ({"alpha_per_target": True}, "one target"),
        ({"store_cv_results": True, "cv": 3}, "store_cv_results=True needs cv=None"),
    ):
        with pytest.raises(ValueError, match=why):
            RidgeCV(**params).fit(X, y)


# scikit-learn


def test_agreement_with_scikit_learn():
    peers = pytest.importorskip("sklearn.linear_model")
    X, y, weight = data(80, 6, shift=2.0)
    y_class = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    for ours, theirs, target in (
        (Ridge(3.0), peers.Ridge(3.0), y),
        (Ridge(3.0, fit_intercept=False), peers.Ridge(3.0, fit_intercept=False), y),
        (LinearRegression(), peers.LinearRegression(), y),
        (RidgeClassifier(3.0), peers.RidgeClassifier(3.0), y_class),
        (RidgeClassifier(3.0), peers.RidgeClassifier(3.0), y_class > 0),
        (
            RidgeClassifier(class_weight="balanced"),
            peers.RidgeClassifier(class_weight="balanced"),
            y_class > 0,
        ),
    ):
        # scikit-learn balances classes by their rows, whatever those weigh
        for s in (None,) if getattr(ours, "class_weight", None) else (None, weight):
            ours.fit(X, target, s), theirs.fit(X, target, s)
            # of two classes scikit-learn's coef_ is flat
            np.testing.assert_allclose(np.ravel(ours.coef_), np.ravel(theirs.coef_), atol=1e-9)
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
            np.testing.assert_array_equal(ours.predict(X).shape, theirs.predict(X).shape)


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
@pytest.mark.parametrize("shape", [(50, 6), (20, 40)])
def test_ridge_cv_agrees_with_scikit_learn(shape, scoring):
    peers = pytest.importorskip("sklearn.linear_model")
    X, y, _ = data(*shape)
    options = {"alphas": [0.01, 1.0, 30.0], "scoring": scoring, "store_cv_results": True}
    ours, theirs = RidgeCV(**options).fit(X, y), peers.RidgeCV(**options).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    folds = {"alphas": [0.01, 1.0, 30.0], "scoring": scoring, "cv": 4}
    ours, theirs = RidgeCV(**folds).fit(X, y), peers.RidgeCV(**folds).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)


def test_least_squares_of_sparse_rows_needs_no_factorisation():
    rng = np.random.default_rng(1)
    part = sparse.random(900, 280, 0.01, random_state=1)
    X = sparse.hstack([part, part.tocsc()[:, :30], 2 * part.tocsc()[:, 30:40]]).tocsr()
    y = rng.normal(size=900)
    model = LinearRegression().fit(X, y)
    assert model.n_iter_ > 1 and not hasattr(model, "singular_")
    table = X.toarray()
    # columns are repeated: of all solutions the shortest
    shortest = np.linalg.lstsq(table - table.mean(axis=0), y - y.mean(), rcond=1e-10)[0]
    np.testing.assert_allclose(model.coef_, shortest, atol=1e-5)


def test_the_solver_used_is_named_and_gives_the_same_when_asked_for():
    rng = np.random.default_rng(3)
    small, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    wide = sparse.random(3000, 9000, 0.002, format="csr", random_state=0)
    for rows, target, options, name in (
        (small, y, {}, "direct"),
        (small, y, {"solver": "cholesky"}, "direct"),
        (small, y, {"solver": "newton"}, "newton"),
        (small, y, {"solver": "dual_cd"}, "dual_cd"),
        (small, y, {"positive": True}, "primal_cd"),
        (wide, rng.normal(size=3000), {}, "newton"),
        (wide, rng.normal(size=3000), {"solver": "sag"}, "newton"),
    ):
        model = Ridge(**options).fit(rows, target)
        assert model.solver_ == name
        again = Ridge(**{**options, "solver": model.solver_}).fit(rows, target)
        np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-2)
    assert RidgeClassifier().fit(small, np.arange(40) % 3).solver_ == "direct"


@pytest.mark.parametrize("shape", [(115, 189), (189, 115)])
@pytest.mark.parametrize("far", [1e4, 1e6])
def test_a_column_far_from_zero_in_sparse_single_precision(shape, far):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=shape) * (rng.random(shape) < 0.05)).astype(np.float32)
    y = X[:, 0] + 0.3 * rng.normal(size=len(X))
    X[:, 5] = far
    dense = Ridge(solver="direct").fit(X, y)
    for solver in ("auto", "direct"):
        model = Ridge(solver=solver, tol=1e-9).fit(sparse.csr_matrix(X), y)
        assert model.duality_gap_ <= 1e-6
        assert model.objective_ == pytest.approx(dense.objective_, rel=1e-6)
