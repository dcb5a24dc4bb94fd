"""Coordinate descent over columns: optimality on every loss, layout, penalty and intercept."""

from dataclasses import replace

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import optimize, sparse

import fastlin
from fastlin import _gram, _quadratic, as_rows
from fastlin._core import primal_cd as _primal
from fastlin._primal_cd import Search, solve
from fastlin._problem import Certificate, Problem
from fastlin._quadratic import Model
from fastlin._transpose import Columns, transposed
from fastlin._working_set import largest_l1

LOSSES = ["squared_error", "log_loss", "squared_hinge", "squared_epsilon_insensitive"]
SEED = np.zeros(4, np.uint64)
NONE = np.empty(0)


def problem(X, dense, loss, seed=0, weighted=False, **more):
    rng = np.random.default_rng(seed)
    n, d = dense.shape
    z = dense @ (rng.normal(size=d) * (rng.random(d) < 0.5)) + rng.normal(size=n) + 0.5
    y = z if loss.startswith("squared_e") else np.where(z > 0, 1.0, -1.0)
    weight = rng.integers(1, 4, n).astype(float) if weighted else NONE
    parameter = {"squared_epsilon_insensitive": 0.2, "squared_hinge": 1.0}.get(loss, 0.0)
    return Problem(X=as_rows(X), y=y, loss=loss, weight=weight, loss_parameter=parameter, **more)


def kkt(p, fit, dense):
    """The largest distance of a slope from the subdifferential, beside l1."""
    w = fit.coef
    slope = dense.T @ p.weighted(p.slopes(dense @ w + fit.intercept)) + p.l2 * w
    size = -slope if p.positive else np.abs(slope)
    off = np.where(w == 0, np.maximum(size - p.l1, 0), np.abs(slope + p.l1 * np.sign(w)))
    return off.max() / (p.l1 + p.l2)


def check(p, dense, tol=1e-9, **more):
    fit = solve(p, tol, 5000, SEED, **more)
    assert fit.converged
    assert fit.certificate.relative_gap <= tol
    # the certificate is that of the very weights, and another way to a dual point agrees
    z = dense @ fit.coef + fit.intercept
    assert fit.certificate.objective == pytest.approx(p.primal(z, fit.coef), rel=1e-12)
    other = Certificate.measured(p, fit.coef, fit.intercept)
    assert other.relative_gap <= 3e-5
    assert kkt(p, fit, dense) <= 3e-4
    if p.positive:
        assert (fit.coef >= 0).all()
    if not p.fit_intercept:
        assert fit.intercept == 0
    else:
        assert abs(p.weighted(p.slopes(z)).sum()) < 1e-5
    return fit


@pytest.mark.parametrize("positive", [False, True], ids=["any", "positive"])
@pytest.mark.parametrize("intercept", [False, True], ids=["origin", "free"])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum(loss, weighted, intercept, positive):
    X, dense = LAYOUTS[0].make(60, 25)
    for l1, l2 in ((0.05, 0.0), (0.003, 0.0), (0.02, 0.05), (0.0, 0.05)):
        p = problem(X, dense, loss, weighted=weighted, fit_intercept=intercept,
                    positive=positive, l1=l1, l2=l2)
        check(p, dense)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_layout(loss, layout):
    X, dense = layout.make(40, 12)
    fit = check(problem(X, dense, loss, l1=0.01, weighted=True), dense)
    dense_fit = solve(problem(dense, dense, loss, l1=0.01, weighted=True), 1e-9, 5000, SEED)
    assert fit.certificate.objective == pytest.approx(dense_fit.certificate.objective, rel=2e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_wide_data(loss):
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(30, 400)) * (rng.random((30, 400)) < 0.2)
    fit = check(problem(sparse.csr_matrix(dense), dense, loss, l1=0.02), dense)
    assert 0 < (fit.coef != 0).sum() <= 30


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_smooth_minimiser_agrees(loss):
    """Split into positive and negative parts the problem is smooth within bounds."""
    X, dense = LAYOUTS[0].make(60, 10)
    p = problem(X, dense, loss, weighted=True, l1=0.02, l2=0.01)

    def f(v):
        w = v[:10] - v[10:20]
        z = dense @ w + v[20]
        g = dense.T @ p.weighted(p.slopes(z)) + p.l2 * w
        value = p.mean_loss(z) + p.l1 * v[:20].sum() + 0.5 * p.l2 * w @ w
        return value, np.r_[g + p.l1, -g + p.l1, p.weighted(p.slopes(z)).sum()]

    best = optimize.minimize(f, np.zeros(21), jac=True, method="L-BFGS-B",
                             bounds=[(0, None)] * 20 + [(None, None)],
                             options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000})
    fit = check(p, dense)
    assert fit.certificate.objective == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(fit.coef, best.x[:10] - best.x[10:20], atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repetitions(loss):
    X, dense = LAYOUTS[0].make(40, 12)
    p = problem(X, dense, loss, weighted=True, l1=0.01)
    times = p.weight.astype(int)
    repeated = replace(p, X=as_rows(np.repeat(dense, times, axis=0)), y=np.repeat(p.y, times),
                       weight=NONE)
    a, b = check(p, dense), check(repeated, np.repeat(dense, times, axis=0))
    np.testing.assert_allclose(a.coef, b.coef, atol=1e-4)
    # rows of weight 0 are not there: what folds rely on
    weight = p.weight * (np.arange(40) % 3 > 0)
    without = replace(p, weight=weight)
    kept = weight > 0
    fewer = replace(p, X=as_rows(dense[kept]), y=p.y[kept], weight=weight[kept])
    c, e = solve(without, 1e-9, 5000, SEED), check(fewer, dense[kept])
    assert c.converged
    assert c.certificate.objective == pytest.approx(e.certificate.objective, rel=2e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_the_largest_penalty(loss, positive, intercept, storage):
    _, dense = LAYOUTS[0].make(50, 12)
    p = problem(storage(dense), dense, loss, weighted=True, fit_intercept=intercept,
                positive=positive)
    most = largest_l1(p)
    b = p.best_intercept(np.zeros(50))
    v = -dense.T @ p.weighted(p.slopes(np.full(50, b)))
    assert most == pytest.approx((v if positive else np.abs(v)).max(), rel=1e-7)
    none = solve(replace(p, l1=most), 1e-4, 1000, SEED)
    assert none.converged
    assert not none.coef.any()
    assert solve(replace(p, l1=0.99 * most), 1e-4, 1000, SEED).coef.any()
    assert not solve(replace(p, l1=2 * most), 1e-4, 1000, SEED).coef.any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shift", [10.0, 1000.0])
def test_shifted_columns(loss, shift):
    """The intercept takes a shift; no more turns are needed for it."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(80, 10))
    p = problem(dense, dense, loss, l1=0.01)
    plain = check(p, dense)
    moved = solve(replace(p, X=as_rows(dense + shift)), 1e-9, 5000, SEED)
    assert moved.converged
    np.testing.assert_allclose(moved.coef, plain.coef, atol=1e-4)
    assert moved.n_iter <= 3 * plain.n_iter + 5


@pytest.mark.parametrize("loss", LOSSES)
def test_units_of_columns(loss):
    """Steps know the curvature along each column."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(80, 10)) * np.geomspace(1e-4, 1e4, 10)
    p = problem(dense, dense / np.geomspace(1e-4, 1e4, 10), loss, l1=1e-3)
    fit = solve(p, 1e-8, 5000, SEED)
    assert fit.converged


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1", [0.0, 0.01])
@pytest.mark.parametrize("value", [0.0, 0.1, 3.0, -1e5])
def test_constant_columns(loss, l1, value):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(40, 5))
    dense[:, 2] = value
    p = problem(dense, dense, loss, l1=l1, l2=0.0 if l1 else 0.01)
    fit = solve(p, 1e-8, 2000, SEED)
    assert fit.converged
    assert fit.coef[2] == 0
    assert np.isfinite(solve(replace(p, fit_intercept=False), 1e-8, 2000, SEED).coef).all()


def test_nothing_but_a_constant_column():
    X = np.full((10, 1), 3.0)
    p = Problem(X=as_rows(X), y=np.arange(10.0), loss="squared_error", l1=0.1)
    fit = solve(p, 1e-9, 100, SEED)
    assert fit.coef == [0.0]
    assert fit.intercept == pytest.approx(4.5)


def test_float32_values_keep_the_state_in_double():
    X, dense = next(x for x in LAYOUTS if x.dtype == np.float32).make(60, 12)
    for loss in LOSSES:
        fit = check(problem(X, dense, loss, l1=0.01), dense)
        assert fit.coef.dtype == np.float64


@pytest.mark.parametrize("loss", LOSSES)
def test_a_good_start_needs_no_turn(loss):
    X, dense = LAYOUTS[0].make(60, 12)
    p = problem(X, dense, loss, l1=0.01)
    first = check(p, dense)
    again = solve(p, 1e-6, 1000, SEED, first)
    assert again.n_iter == 1
    near = solve(replace(p, l1=0.0101), 1e-9, 5000, SEED, first)
    assert near.converged
    assert near.certificate.objective == pytest.approx(
        check(replace(p, l1=0.0101), dense).certificate.objective, rel=2e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_turns_are_bounded(loss):
    X, dense = LAYOUTS[0].make(60, 25)
    for most in (1, 2, 7):
        fit = solve(problem(X, dense, loss, l1=0.001), 1e-14, most, SEED)
        assert fit.n_iter <= most
        assert not fit.converged
        assert fit.certificate.relative_gap > 1e-14


def test_precision_that_cannot_be_reached_ends():
    X, dense = LAYOUTS[0].make(60, 25)
    for loss in LOSSES:
        fit = solve(problem(X, dense, loss, l1=0.01), 1e-30, 300, SEED)
        assert fit.n_iter <= 300
        assert fit.certificate.relative_gap < 1e-6


def test_columns_that_resemble_each_other():
    """Turns alone would need thousands of rounds here: all columns are nearly the same."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 1)) + 1e-3 * rng.normal(size=(60, 20))
    p = problem(dense, dense, "squared_error", l1=1e-4, fit_intercept=False)
    assert check(p, dense, 1e-10).n_iter < 1000


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("columns", [60, 100, 160])
@pytest.mark.parametrize("far", [False, True])
def test_few_rows_of_columns_that_turns_cannot_part(storage, columns, far):
    """Columns far from 0 or of many units, in any storage: non-negative least squares."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(3, columns))
    dense = (1000 + dense * 10.0 ** rng.uniform(-4, -2, columns) if far
             else dense * 10.0 ** rng.integers(-3, 4, columns))
    y = dense @ rng.normal(size=columns) + rng.normal(size=3)
    model = fastlin.Ridge(100.0, positive=True, fit_intercept=False, tol=1e-7)
    model.fit(storage(dense), y)
    w = optimize.nnls(np.r_[dense, 10.0 * np.eye(columns)], np.r_[y, np.zeros(columns)])[0]
    best, found = (np.square(y - dense @ u).sum() + 100 * u @ u for u in (w, model.coef_))
    assert model.duality_gap_ <= 1e-7
    assert found == pytest.approx(best, rel=2e-7)
    assert (model.coef_ >= 0).all()


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_without_a_penalty_the_estimate_is_of_the_slopes(storage):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(50, 6))
    p = problem(storage(dense), dense, "squared_error")
    fit = solve(p, 1e-12, 5000, SEED)
    assert fit.converged
    best = np.linalg.lstsq(np.c_[dense, np.ones(50)], p.y, rcond=None)[0]
    np.testing.assert_allclose(np.r_[fit.coef, fit.intercept], best, rtol=1e-5)
    fit = solve(replace(p, positive=True, fit_intercept=False), 1e-12, 5000, SEED)
    np.testing.assert_allclose(fit.coef, optimize.nnls(dense, p.y)[0], atol=1e-5)


def test_an_orthogonal_design_in_closed_form():
    """Each weight is its product with y, shrunk (Tibshirani 1996)."""
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 8)))
    X = Q * np.sqrt(40)
    y = X @ np.array([3, -2, 1, 0.5, 0.1, 0, 0, -0.05]) + 0.1
    p = Problem(X=as_rows(X), y=y, loss="squared_error", l1=0.3, l2=0.5, fit_intercept=False)
    product = X.T @ y / 40
    expected = np.sign(product) * np.maximum(np.abs(product) - 0.3, 0) / 1.5
    np.testing.assert_allclose(solve(p, 1e-12, 1000, SEED).coef, expected, atol=1e-6)


# the parts


@pytest.mark.memory
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("free", [False, True])
def test_the_model_of_a_layout(layout, weighted, free):
    X, dense = layout.make(40, 12)
    rows = as_rows(X)
    h = np.random.default_rng(0).random(40) if weighted else NONE
    full = h if weighted else np.full(40, 0.25)
    model = Model(transposed(rows), h, 0.25, free)
    chosen = np.array([0, 3, 4, 11])
    model.need(chosen)
    mean = full @ dense / full.sum() * free
    curvature = full @ (dense - mean) ** 2
    np.testing.assert_allclose(model.mean[chosen], mean[chosen], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(model.curvature[chosen], curvature[chosen], rtol=1e-12)
    gram = _gram.Gram(rows, model)
    for some in ([3, 4], [0, 3], [11]):
        assert gram.admits(np.array(some))
    centred = dense[:, [3, 4, 0, 11]] - mean[[3, 4, 0, 11]]
    np.testing.assert_allclose(gram.matrix, centred.T @ (full[:, None] * centred), atol=1e-10)
    out, w = np.zeros(40), np.arange(12.0)
    _quadratic.add_columns(model.columns, chosen, w, out)
    np.testing.assert_allclose(out, dense[:, chosen] @ w[chosen], atol=1e-12)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_turns_by_rows_and_by_products_are_the_same(free, positive):
    X, dense = LAYOUTS[0].make(40, 8)
    rows = as_rows(X)
    rng = np.random.default_rng(0)
    h, chosen = rng.random(40), np.arange(8)
    model = Model(transposed(rows), h, 0.0, free)
    model.need(chosen)
    gram = _gram.Gram(rows, model)
    assert gram.admits(chosen)
    r = h * rng.normal(size=40)
    model.centre(r, r.sum())
    v, a, b = dense.T @ r, np.zeros(8), np.zeros(8)
    square = r @ (r / h)
    _, fall, _ = _primal.descend(model.columns, chosen, 0.1, 0.2, positive, free, h, model.total,
                                 0.0, model.mean, model.curvature, a, r, float(r.sum()), 0, 8, 3,
                                 -1.0)
    _, other, left = _primal.descend_gram(gram.matrix, chosen, 0.1, 0.2, positive, b, v, square, 3,
                                          -1.0)
    np.testing.assert_allclose(a, b, atol=1e-13)
    assert a.any()
    assert fall == pytest.approx(other)
    model.centre(r, r.sum())
    assert left == pytest.approx(r @ (r / h))


def test_a_gram_matrix_that_does_not_pay_or_loses_digits(monkeypatch):
    rng = np.random.default_rng(0)
    rows = as_rows(rng.normal(size=(50, 6)) + 1e5)
    gram = _gram.Gram(rows, Model(transposed(rows), NONE, 0.02, True))
    assert not gram.admits(np.arange(6))
    rows = as_rows(rng.normal(size=(50, 6)))
    for bound in ("_MOST_COLUMNS", "_MOST_OF_FEW"):
        monkeypatch.setattr(_gram, bound, 4)
    gram = _gram.Gram(rows, Model(transposed(rows), NONE, 0.02, True))
    assert not gram.admits(np.arange(6))
    # beyond its room it begins anew
    assert gram.admits(np.array([0, 1, 2]))
    assert gram.admits(np.array([3, 4]))
    assert len(gram.matrix) == 2
    # it has to have been earned: 50 entries times 3 columns by products, and none to look through
    monkeypatch.setattr(_gram, "_LITTLE", 0)
    gram.spent = 50 * 3 / _gram._DENSE_SPEED - 1
    assert not gram.admits(np.array([5]))
    gram.spent += 1
    assert gram.admits(np.array([5]))
    assert gram.spent == 0


@pytest.mark.parametrize("shape", [(300, 80), (60, 400)])
def test_columns_that_are_not_needed_are_not_transposed(shape):
    """Of many columns a strong penalty needs few, and the answer is that of all."""
    dense = sparse.random(*shape, 0.1, random_state=0).toarray()
    for loss in LOSSES:
        p = problem(sparse.csr_matrix(dense), dense, loss)
        whole_columns = Columns(p.X)
        whole_columns.need_all()
        whole = Search(p, whole_columns)
        p = replace(p, l1=0.6 * largest_l1(p))
        expected, search = whole.run(p, 1e-9, 1000), Search(p)
        found = search.run(p, 1e-9, 1000)
        assert found.converged and np.count_nonzero(found.coef)
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-6)
        columns = search.columns.toarray()
        there = columns.any(axis=1)
        assert there[found.coef != 0].all() and not there.all()
        np.testing.assert_array_equal(columns[there], dense.T[there])
        # weaker penalties need more
        p = replace(p, l1=0.05 * p.l1)
        assert check(p, dense, 1e-6).certificate.objective == pytest.approx(
            search.run(p, 1e-6, 5000, found).certificate.objective, rel=2e-6)


def test_columns_in_pieces(monkeypatch):
    """A turn over many entries is cut, which changes nothing."""
    X, dense = LAYOUTS[0].make(60, 25)
    for loss in LOSSES:
        p = problem(X, dense, loss, l1=0.003)
        whole = solve(p, 1e-9, 5000, SEED)
        with monkeypatch.context() as patch:
            patch.setattr(_quadratic, "_ENTRIES_PER_CALL", 40)
            cut = solve(p, 1e-9, 5000, SEED)
        assert cut.converged
        assert cut.certificate.objective == pytest.approx(whole.certificate.objective, rel=2e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("loss", "strength"), [
    ("squared_hinge", 1e-2), ("squared_hinge", 1e-6), ("log_loss", 1e-6),
])  # fmt: skip
def test_weak_penalties_on_columns_that_depend_on_each_other(loss, strength, intercept):
    # the columns of each category sum to 1, and rare ones are held by few rows
    rng = np.random.default_rng(0)
    levels = np.minimum(rng.geometric(0.25, size=(800, 6)) - 1, 11)
    X = np.zeros((800, 72))
    X[np.arange(800)[:, None], 12 * np.arange(6) + levels] = 1
    y = np.where(X @ rng.normal(size=72) + 1.5 * rng.normal(size=800) > 0, 1.0, -1.0)
    p = Problem(X=as_rows(sparse.csr_array(X)), y=y, loss=loss, loss_parameter=1.0, l1=1e-3,
                fit_intercept=intercept)
    p = replace(p, l1=strength * largest_l1(p))
    fit = solve(p, 1e-5, 1000, SEED)
    assert fit.converged
    # and what it promises can be found again
    z = X @ fit.coef + fit.intercept
    assert fit.certificate.objective == pytest.approx(p.primal(z, fit.coef), rel=1e-12)
    assert kkt(p, fit, X) < 0.05
    assert (fit.coef == 0).any()


def test_a_weak_penalty_on_separable_words_ends_at_the_optimum():
    """Nearly the hard margin: coordinate descent alone crawls, and Newton steps must have room."""
    rng = np.random.default_rng(0)
    n, d, k = 2500, 5000, 8
    columns = (d * rng.random((n, k)) ** 3).astype(int).ravel()
    X = sparse.csr_matrix((np.ones(n * k), (np.repeat(np.arange(n), k), columns)), shape=(n, d))
    y = X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) > 0
    model = fastlin.LogisticRegression(C=1e4, l1_ratio=1.0).fit(X, y)
    assert model.duality_gap_[0] <= model.tol and model.n_iter_[0] < model.max_iter
    assert model.score(X, y) == 1.0
    z = X @ model.coef_[0] + model.intercept_[0]
    loss = np.logaddexp(0, np.where(y, -z, z)).mean() + np.abs(model.coef_).sum() / (1e4 * n)
    assert loss == pytest.approx(model.objective_[0], rel=1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_heavy_columns_are_settled_and_no_others(free, positive, monkeypatch):
    """As many of the fullest as hold a tenth of the entries end at their optimum."""
    monkeypatch.setattr(_quadratic, "_SETTLING", 2000)
    rng = np.random.default_rng(3)
    n, d, l1, l2 = 300, 200, 0.02, 0.01
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < np.linspace(0.02, 0.3, d))
    h = rng.random(n) / n
    model = Model(transposed(as_rows(sparse.csr_matrix(dense))), h, 0.0, free)
    chosen = rng.permutation(d)[:120]
    size = (dense != 0).sum(axis=0)
    by_size = sorted(chosen.tolist(), key=lambda j: -size[j])
    many = int((np.cumsum(size[by_size]) <= 0.1 * size.sum()).sum())
    assert 2 < many < 40
    w, z = rng.normal(size=d) * (0.1 if not positive else 0.0), rng.normal(size=n)
    begun, r = w.copy(), h * z
    heavy, b = _quadratic.settle_heaviest(model, np.sort(chosen), size.sum(), l1, l2, positive,
                                          w, r)
    assert size[heavy].sum() == size[by_size[:many]].sum()
    others = np.setdiff1d(np.arange(d), heavy)
    np.testing.assert_array_equal(w[others], begun[others])
    np.testing.assert_allclose(r, h * (z - dense @ (w - begun) - b), atol=1e-14)
    assert free or b == 0
    assert not free or abs(r.sum()) < 1e-14
    slope = dense[:, heavy].T @ r - l2 * w[heavy]
    stands = w[heavy] == 0
    assert stands.any() and not stands.all()
    assert np.all((slope if positive else np.abs(slope))[stands] <= l1 + 1e-12)
    np.testing.assert_allclose(slope[~stands], l1 * np.sign(w[heavy][~stands]), atol=1e-12)
    few = _quadratic.settle_heaviest(model, heavy, size.sum(), l1, l2, positive, w, r)
    assert len(few[0]) == 0 and few[1] == 0
