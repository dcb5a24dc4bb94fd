"""Ridge, RidgeClassifier, RidgeCV and leave_one_out where some columns are far larger than others,
against the normal equations in extended precision with the columns scaled."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import (
    ConvergenceWarning,
    LeaveOneOut,
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    _graded,
    _leave_one_out,
    cross_val_predict,
    leave_one_out,
)
from fastlin._centred import Centred
from fastlin._data import as_rows
from fastlin._problem import Problem

BUILDS = pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
SHAPES = pytest.mark.parametrize("shape", [(30, 8), (14, 12), (14, 25)])
# of some columns, the others are about 1
SCALES = pytest.mark.parametrize(
    "scales", [[2.0**20], [2.0**30], [2.0**34], [2.0**34, 2.0**33, 2.0**16, 2.0**12]], ids=len
)
FREE = pytest.mark.parametrize("fit_intercept", [True, False])


def data(shape, scales):
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape)
    y = X[:, -1] * 2 - X[:, -2] + X[:, 0] + 0.3 * rng.normal(size=shape[0])
    size = np.ones(shape[1])
    size[: len(scales)] = scales
    # of the small columns, half of the entries
    X[:, len(scales) :] *= rng.random((shape[0], shape[1] - len(scales))) < 0.5
    return X * size, y, size, rng.integers(1, 4, shape[0]).astype(float)


def solved(G, right):
    """G^-1 right by elimination with pivots, in the precision of G."""
    G, right = G.copy(), right.copy()
    for k in range(len(G)):
        pivot = k + int(np.abs(G[k:, k]).argmax())
        G[[k, pivot]], right[[k, pivot]] = G[[pivot, k]], right[[pivot, k]]
        ratio = G[k + 1 :, k] / G[k, k]
        G[k + 1 :] -= ratio[:, None] * G[k]
        right[k + 1 :] -= ratio * right[k]
    for k in range(len(G))[::-1]:
        right[k] = (right[k] - G[k, k + 1 :] @ right[k + 1 :]) / G[k, k]
    return right


def extended(X, y, size, alpha, weight=None, fit_intercept=True):
    """(w, b) of ridge regression."""
    A, y = (X / size).astype(np.longdouble), y.astype(np.longdouble)
    s = np.ones(len(y), np.longdouble) if weight is None else weight.astype(np.longdouble)
    centre, mean = (s @ A / s.sum(), s @ y / s.sum()) if fit_intercept else (0 * A[0], 0 * y[0])
    A = A - centre
    G = A.T @ (A * s[:, None]) + np.diag(alpha / size.astype(np.longdouble) ** 2)
    v = solved(G, A.T @ (s * (y - mean)))
    return v / size, mean - centre @ v


def refitted(X, y, size, alpha, weight=None, fit_intercept=True, unit=False):
    """The answers to each row of models without it, or with one unit of its weight less."""
    out = np.empty(len(y))
    for i in range(len(y)):
        s = np.ones(len(y)) if weight is None else weight.copy()
        s[i] = max(0.0, s[i] - 1) if unit else 0.0
        w, b = extended(X, y, size, alpha, s, fit_intercept)
        out[i] = X[i] @ w + b
    return out


@BUILDS
@SHAPES
@SCALES
@FREE
def test_ridge_is_that_of_extended_precision(shape, scales, fit_intercept, build):
    X, y, size, weight = data(shape, scales)
    for alpha in (1e-3, 1.0):
        model = Ridge(alpha, fit_intercept=fit_intercept).fit(build(X), y, weight)
        w, b = extended(X, y, size, alpha, weight, fit_intercept)
        np.testing.assert_allclose(model.coef_ * size, (w * size).astype(float), atol=1e-8)
        assert model.intercept_ == pytest.approx(float(b), abs=1e-8)
        # the gradient of a large column, whose square the gap has, is rounding in as many digits
        assert model.duality_gap_ < 1e-4


@SCALES
def test_classes_share_the_factor(scales):
    X, y, size, _ = data((14, 25), scales)
    labels = np.digitize(y, [-1.0, 1.0])
    model = RidgeClassifier().fit(X, labels)
    for k in range(3):
        w, b = extended(X, np.where(labels == k, 1.0, -1.0), size, 1.0)
        np.testing.assert_allclose(model.coef_[k] * size, (w * size).astype(float), atol=1e-9)
    out = leave_one_out(RidgeClassifier(), X, labels)
    for k in range(3):
        ref = refitted(X, np.where(labels == k, 1.0, -1.0), size, 1.0)
        np.testing.assert_allclose(out[:, k], ref, atol=1e-7)


@BUILDS
@SHAPES
@SCALES
@FREE
def test_leave_one_out_is_that_of_extended_precision(shape, scales, fit_intercept, build):
    X, y, size, weight = data(shape, scales)
    model = Ridge(0.5, fit_intercept=fit_intercept)
    for s in (None, weight):
        ref = refitted(X, y, size, 0.5, s, fit_intercept)
        found, error = leave_one_out(model, build(X), y, s, return_error=True)
        np.testing.assert_allclose(found, ref, atol=1e-7)
        assert error == 0
    params = {"sample_weight": weight}
    found = cross_val_predict(model, build(X), y, cv=LeaveOneOut(), params=params)
    np.testing.assert_allclose(found, ref, atol=1e-7)


@SCALES
def test_least_squares_without_each_row(scales):
    X, y, size, _ = data((30, 8), scales)
    ref = refitted(X, y, size, 0.0)
    np.testing.assert_allclose(leave_one_out(LinearRegression(), X, y), ref, atol=1e-7)


@BUILDS
@SHAPES
@SCALES
@FREE
def test_ridge_cv_is_that_of_extended_precision(shape, scales, fit_intercept, build):
    X, y, size, weight = data(shape, scales)
    alphas = [0.01, 1.0, 30.0]
    model = RidgeCV(alphas, fit_intercept=fit_intercept, store_cv_results=True)
    model.fit(build(X), y, weight)
    ref = np.column_stack([
        (y - refitted(X, y, size, alpha, weight, fit_intercept, unit=True)) ** 2
        for alpha in alphas
    ])  # fmt: skip
    np.testing.assert_allclose(model.cv_results_, ref, rtol=1e-6, atol=1e-7)
    scores = -weight @ ref / weight.sum()
    assert model.alpha_ == alphas[scores.argmax()]
    assert model.best_score_ == pytest.approx(scores.max(), rel=1e-7)
    w, _ = extended(X, y, size, model.alpha_, weight, fit_intercept)
    np.testing.assert_allclose(model.coef_ * size, (w * size).astype(float), atol=1e-8)
    assert model.duality_gap_ < 1e-4


@pytest.mark.parametrize("shape", [(30, 8), (14, 25)])
def test_what_rounding_spoils_is_told_or_fitted_again(shape, monkeypatch):
    X, y, size, _ = data(shape, [2.0**30])
    # as if no columns were unlike
    monkeypatch.setattr(_leave_one_out, "_UNLIKE", np.inf)
    monkeypatch.setattr(_leave_one_out, "dominating", lambda *_: np.empty(0, np.int64))
    with pytest.warns(ConvergenceWarning, match="duality gap of .* rounding errors"):
        RidgeCV(1.0).fit(X, y)
    with pytest.raises(ValueError, match="not available"):
        leave_one_out(Ridge(), X, y, method="exact")
    np.testing.assert_allclose(leave_one_out(Ridge(), X, y), refitted(X, y, size, 1.0), atol=1e-7)


@FREE
def test_the_coordinates_are_those_of_the_kernel(fit_intercept):
    X, y, _, weight = data((14, 25), [2.0**14, 2.0**12])
    problem = Problem(as_rows(X), y, "squared_error", weight=weight, fit_intercept=fit_intercept)
    rows = Centred(problem)
    columns = _graded.dominating(rows, 1e-3, fit_intercept)
    assert columns.tolist() == [0, 1]
    kernel = _graded.GradedKernel(rows, columns, fit_intercept)
    state = np.random.default_rng(0).normal(size=14 - fit_intercept)
    A = rows.dense()
    a = kernel.vector(state)
    np.testing.assert_allclose(kernel.coordinates(a), state, atol=1e-12)
    np.testing.assert_allclose(kernel.weights(state), A.T @ a, rtol=1e-9, atol=1e-9)
    product = kernel.coordinates(A @ (A.T @ a))
    np.testing.assert_allclose(kernel.matrix @ state, product, rtol=1e-9, atol=1e-6)
    if fit_intercept:
        assert abs(a @ np.sqrt(rows.share)) < 1e-12


@FREE
def test_columns_that_depend_on_each_other(fit_intercept):
    """What R holds of them beside others is rounding; c_k x with the weights c_k t are |c| x with
    the weight |c| t."""
    c = np.array([1.0, 1.0, 2.0])
    for power in (20, 25, 30):
        one, y, size, _ = data((8, 12), [2.0**power])
        X = np.hstack([one[:, :1] * c, one[:, 1:]])
        one[:, 0] *= np.linalg.norm(c)
        model = Ridge(1.0, fit_intercept=fit_intercept).fit(X, y)
        w, _ = extended(one, y, size, 1.0, None, fit_intercept)
        w = (w * size).astype(float)
        np.testing.assert_allclose(model.coef_[3:], w[1:], atol=1e-9)
        np.testing.assert_allclose(model.coef_[:3] * size[0], w[0] * c / np.linalg.norm(c),
                                   atol=1e-9)
        found = leave_one_out(Ridge(1.0, fit_intercept=fit_intercept), X, y)
        ref = refitted(one, y, size, 1.0, None, fit_intercept)
        np.testing.assert_allclose(found, ref, atol=1e-7)


@FREE
@pytest.mark.parametrize("many", [5, 6, 7])
def test_nearly_as_many_large_columns_as_rows(many, fit_intercept):
    X, y, size, _ = data((8, 14), 2.0 ** (30 - np.arange(many - fit_intercept)))
    model = Ridge(1.0, fit_intercept=fit_intercept).fit(X, y)
    w, _ = extended(X, y, size, 1.0, None, fit_intercept)
    np.testing.assert_allclose(model.coef_ * size, (w * size).astype(float), atol=1e-7)
    found = leave_one_out(Ridge(1.0, fit_intercept=fit_intercept), X, y)
    np.testing.assert_allclose(found, refitted(X, y, size, 1.0, None, fit_intercept), atol=1e-6)


@pytest.mark.parametrize("place", [0, 4, 7])
def test_eigenvalues_serve_columns_that_are_not_standardised(place):
    X, y, _, _ = data((30, 8), [1.0])
    size = np.ones(8)
    size[place] = 2.0**15
    X *= size
    alphas = [0.01, 1.0]
    model = RidgeCV(alphas, store_cv_results=True).fit(X, y)
    problem = Problem(as_rows(X), y, "squared_error")
    assert type(_leave_one_out.left_out(problem, np.array([1e-3]))) is _leave_one_out.Spectrum
    ref = np.column_stack([(y - refitted(X, y, size, alpha)) ** 2 for alpha in alphas])
    np.testing.assert_allclose(model.cv_results_, ref, rtol=1e-8, atol=1e-10)


def test_like_columns_stay_together():
    X, y, _, _ = data((14, 25), [2.0**8])
    rows = Centred(Problem(as_rows(X), y, "squared_error"))
    assert not len(_graded.dominating(rows, 1e-3, True))
    # nor does a column matter beside a penalty that is larger
    X[:, 0] *= 2.0**20
    rows = Centred(Problem(as_rows(X), y, "squared_error"))
    assert not len(_graded.dominating(rows, 1e12, True))
    assert _graded.dominating(rows, 1e-3, True).tolist() == [0]
