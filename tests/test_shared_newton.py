"""Folds of one strength on dense rows, by Newton's method with one Hessian for all."""

import numpy as np
import pytest

from fastlin import LogisticRegressionCV, _parallel, _shared_newton, as_rows
from fastlin._core.rows import make_rows
from fastlin._exceptions import ConvergenceWarning
from fastlin._onepass import fit_together
from fastlin._shared_newton import SharedNewton
from fastlin._shared_start import Starts
from fastlin.logistic import LogisticRegression

N, D, FOLDS = 900, 6, 3


@pytest.fixture
def suited(monkeypatch):
    """Small data counts as much; yields the numbers of models of the passes that have run."""
    monkeypatch.setattr(_shared_newton, "_LEAST_ENTRIES", 1)
    run, done = SharedNewton.__call__, []

    def noted(task):
        done.append(len(task.models))
        return run(task)

    monkeypatch.setattr(SharedNewton, "__call__", noted)
    return done


def problem(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(N, D)) + 0.5).astype(dtype)
    y = np.where(X @ rng.normal(size=D) + 2 * rng.normal(size=N) > 1, 1, -1)
    rows = np.arange(N)
    return X, y, [rows[rows % FOLDS != f] for f in range(FOLDS)], [
        rows[rows % FOLDS == f] for f in range(FOLDS)
    ]


def optimum(X, y, s, C, intercept):
    """(objective as `objective_` states it, w, b) by Newton's method with a whole Hessian."""
    A = np.column_stack([X, np.ones(len(X))]) if intercept else X
    ridge = np.full(A.shape[1], 1.0)
    ridge[X.shape[1] :] = 0.0
    v = np.zeros(A.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-(A @ v)))
        g = C * A.T @ (s * (p - (y > 0))) + ridge * v
        v -= np.linalg.solve(C * (A.T * (s * p * (1 - p))) @ A + np.diag(ridge), g)
    value = s @ np.logaddexp(0, -y * (A @ v)) + 0.5 * (ridge * v) @ v / C
    return value / s.sum(), v


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_model_is_at_its_optimum(suited, intercept, weighted, dtype):
    X, y, train, test = problem(dtype=dtype)
    weight = np.random.default_rng(2).integers(0, 3, N) * 0.5 + 0.0 if weighted else None
    grid = [1e-3, 1.0, 1e4]
    balanced = {"class_weight": "balanced"} if weighted else {}
    models = [LogisticRegression(C=C, tol=1e-8, fit_intercept=intercept, **balanced)
              for C in grid for _ in train]
    out = fit_together(models, X, y, train * 3, test * 3, sample_weight=weight)
    assert suited == [9]
    for m, (model, z) in enumerate(zip(models, out, strict=True)):
        rows, held = train[m % FOLDS], test[m % FOLDS]
        s = np.ones(len(rows)) if weight is None else weight[rows]
        if balanced:
            mass = [weight[rows][y[rows] == label].sum() for label in (-1, 1)]
            s = weight[rows] * np.where(y[rows] > 0, sum(mass) / (2 * mass[1]),
                                        sum(mass) / (2 * mass[0]))
        best, v = optimum(X[rows].astype(float), y[rows], s, model.C, intercept)
        assert model.duality_gap_[0] <= 1e-8
        assert model.coef_.dtype == dtype
        assert model.objective_[0] == pytest.approx(best, rel=2e-8)
        w, b = model.coef_[0].astype(float), model.intercept_[0]
        np.testing.assert_allclose(w, v[:D], atol=1e-3)
        np.testing.assert_allclose(z, X[held] @ w + b, atol=1e-9 if dtype == np.float64 else 1e-5)
        if not intercept:
            assert b == 0


def test_the_gap_is_what_the_dual_says(suited):
    """Against dual variables that are made feasible and valued here."""
    X, y, train, _ = problem()
    C = 0.3
    models = [LogisticRegression(C=C, tol=1e-6) for _ in train]
    fit_together(models, X, y, train)
    assert suited == [3]
    for model, rows in zip(models, train, strict=True):
        Z, sign, n = X[rows], y[rows], len(rows)
        w, b = model.coef_[0], model.intercept_[0]
        a = 1 / (1 + np.exp(sign * (Z @ w + b)))
        assert abs(a @ sign) <= 1e-9 * n
        v = C * Z.T @ (a * sign)
        entropy = a @ np.log(a) + (1 - a) @ np.log(1 - a)
        dual = -C * entropy - 0.5 * v @ v
        primal = C * np.logaddexp(0, -sign * (Z @ w + b)).sum() + 0.5 * w @ w
        assert model.objective_[0] == pytest.approx(primal / (C * n), rel=1e-12)
        assert model.duality_gap_[0] == pytest.approx((primal - dual) / primal, abs=1e-12)


def test_company_and_threads_do_not_matter(suited):
    X, y, train, test = problem()
    grid = [0.01, 1.0, 100.0]

    def bits(values, jobs=None):
        models = [LogisticRegression(C=C, tol=1e-7) for C in values for _ in train]
        out = fit_together(models, X, y, train * len(values), test * len(values), n_jobs=jobs)
        return [(m.coef_.tobytes(), m.intercept_.tobytes(), m.n_iter_[0], z.tobytes())
                for m, z in zip(models, out, strict=True)]

    together = bits(grid)
    assert bits(grid, 2) == together
    for k, C in enumerate(grid):
        assert bits([C]) == together[3 * k : 3 * k + 3]
    assert suited == [9, 6, 3, 3, 3, 3]


def test_few_rows_and_curvatures_far_from_the_first(suited, monkeypatch):
    """The Hessian at weights of 0 is made anew before anything is given up."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 20))
    y = np.where(X @ rng.normal(size=20) + 0.7 * rng.normal(size=1200) > 0, 1, -1)
    folds = [np.flatnonzero(np.arange(1200) % 4 != f) for f in range(4)]
    monkeypatch.setattr("fastlin._exact_pass._go_on_alone", None)
    models = [LogisticRegression(C=C, tol=1e-7) for C in (1.0, 30.0) for _ in folds]
    fit_together(models, X, y, folds * 2)
    assert suited == [8]
    for model, rows in zip(models, folds * 2, strict=True):
        best, _ = optimum(X[rows], y[rows], np.ones(len(rows)), model.C, True)
        assert model.duality_gap_[0] <= 1e-7
        assert model.objective_[0] == pytest.approx(best, rel=2e-7)


def test_separated_classes_and_few_steps(suited):
    X, _, train, _ = problem()
    y = np.where(X[:, 0] > 0.5, 1, -1)
    models = [LogisticRegression(C=1e3, tol=1e-6) for _ in train]
    fit_together(models, X, y, train)
    for model, rows in zip(models, train, strict=True):
        s = np.ones(len(rows))
        w, b = model.coef_[0], model.intercept_[0]
        value = np.logaddexp(0, -y[rows] * (X[rows] @ w + b)).sum() + 0.5 * w @ w / 1e3
        assert model.duality_gap_[0] <= 1e-6
        assert model.objective_[0] == pytest.approx(value / s.sum(), rel=1e-9)
    models = [LogisticRegression(C=1.0, tol=1e-8, max_iter=2) for _ in train]
    with pytest.warns(UserWarning, match="duality gap of"):
        fit_together(models, X, y, train)
    assert [m.n_iter_[0] for m in models] == [2] * 3
    assert len(suited) == 2


def test_a_fold_that_one_class_is_nearly_absent_from(suited):
    X, y, _, _ = problem()
    few = np.concatenate([np.flatnonzero(y < 0), np.flatnonzero(y > 0)[:3]])
    models = [LogisticRegression(C=10.0, tol=1e-7) for _ in range(2)]
    fit_together(models, X, y, [np.sort(few), np.arange(N)])
    assert len(suited) == 1
    for model, rows in zip(models, (few, np.arange(N)), strict=True):
        best, _ = optimum(X[rows], y[rows], np.ones(len(rows)), 10.0, True)
        assert model.duality_gap_[0] <= 1e-7
        assert model.objective_[0] == pytest.approx(best, rel=2e-7)


def test_a_column_of_zeros_and_one_of_ones(suited):
    X, y, train, _ = problem()
    wide = np.column_stack([X, np.zeros(N), np.ones(N), X[:, 0]])
    models = [LogisticRegression(C=5.0, tol=1e-8) for _ in train]
    fit_together(models, wide, y, train)
    assert len(suited) == 1
    for model, rows in zip(models, train, strict=True):
        assert model.duality_gap_[0] <= 1e-8
        assert model.coef_[0, D] == 0
        np.testing.assert_allclose(model.coef_[0, D + 2], model.coef_[0, 0], rtol=1e-4)
        np.testing.assert_allclose(model.coef_[0, D + 1], 0, atol=1e-3)
        best, _ = optimum(np.delete(wide, [D, D + 1], axis=1)[rows], y[rows], np.ones(len(rows)),
                          5.0, True)
        assert model.objective_[0] == pytest.approx(best, rel=2e-8)


def test_a_model_that_may_take_one_step_stops_no_other(suited):
    X, y, train, _ = problem()
    alone = [LogisticRegression(tol=1e-8) for _ in train[1:]]
    fit_together(alone, X, y, train[1:])
    models = [LogisticRegression(tol=1e-8, max_iter=1 if f == 0 else 100) for f in range(FOLDS)]
    with pytest.warns(ConvergenceWarning):
        fit_together(models, X, y, train)
    assert models[0].n_iter_[0] == 1 and suited == [2, 2]
    for model, twin in zip(models[1:], alone, strict=True):
        assert model.duality_gap_[0] <= 1e-8
        assert model.coef_.tobytes() == twin.coef_.tobytes()
        assert model.n_iter_ == twin.n_iter_


@pytest.mark.parametrize("tails, noise", [(1.0, 1.0), (1.5, 0.1), (1.0, 1e-3), (3.0, 1e-6)])
@pytest.mark.parametrize("seed", range(4))
def test_starts_are_no_worse_than_nothing(suited, tails, noise, seed):
    """Whatever a few rows say about heavy tails and classes that all but part; and from there the
    optimum is found."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(tails, size=(N, D))
    y = np.where(X @ rng.normal(size=D) + noise * rng.normal(size=N) > 0, 1.0, -1.0)
    rows, l2 = as_rows(X), 1e-4
    start = Starts(rows, np.arange(0, N, 2), True).of(np.full(N, 1 / N), y, l2)
    z = X @ start.w + start.b
    value = np.logaddexp(0, -y * z).mean() + 0.5 * l2 * start.w @ start.w
    assert np.isfinite(value) and value < 2 * np.log(2)
    _, _, train, _ = problem()
    models = [LogisticRegression(C=1.0, tol=1e-7, max_iter=1000) for _ in train]
    fit_together(models, X, (y > 0).astype(int), train)
    for model in models:
        assert model.duality_gap_[0] <= 1e-7
    assert suited == [FOLDS]


def test_threads_wait_for_a_start_that_another_makes(suited, monkeypatch):
    X, y, train, _ = problem()
    made, begin = [], Starts._start

    def noted(starts, *arguments):
        made.append(arguments[2])
        return begin(starts, *arguments)

    monkeypatch.setattr(Starts, "_start", noted)
    models = [LogisticRegression(C=C) for C in (1.0, 1.1, 1.2, 1.3) for _ in train]
    fit_together(models, X, y, train * 4, n_jobs=2)
    assert suited == [2 * FOLDS] * 2 and len(made) == 1


def test_a_search_takes_it(suited):
    X, y, train, test = problem()
    cv = list(zip(train, test, strict=True))
    found = LogisticRegressionCV(Cs=[0.01, 1.0], cv=cv, tol=1e-8).fit(X, y)
    assert suited == [6]
    for k, (a, b) in enumerate(cv):
        for c, C in enumerate((0.01, 1.0)):
            _, v = optimum(X[a], y[a], np.ones(len(a)), C, True)
            right = np.mean((X[b] @ v[:D] + v[D] > 0) == (y[b] > 0))
            assert found.scores_[k, 0, c] == pytest.approx(right, abs=2e-3)


def test_it_can_be_cancelled(suited, monkeypatch):
    """In the middle of its work."""
    X, y, train, _ = problem()
    gradients, begun = SharedNewton._gradients, []

    def cancelled(task, *arguments):
        begun.append(task)
        task.cancel()
        return gradients(task, *arguments)

    monkeypatch.setattr(SharedNewton, "_gradients", cancelled)
    with pytest.raises(_parallel.Cancelled):
        fit_together([LogisticRegression() for _ in train], X, y, train)
    assert len(begun) == 1


def test_what_suits(monkeypatch):
    """Dense rows, many of them, and more than one fold."""
    def passes(n=N, models=None, X=None):
        X = np.random.default_rng(0).normal(size=(n, D)) if X is None else X
        asked = []
        monkeypatch.setattr(SharedNewton, "__call__", lambda task: asked.append(task))
        y = np.arange(n) % 2
        folds = [np.arange(n), np.arange(n - 1)]
        fit_together(models or [LogisticRegression(), LogisticRegression()], X, y, folds)
        return len(asked)

    assert passes() == 0  # too little
    monkeypatch.setattr(_shared_newton, "_LEAST_ENTRIES", 1)
    assert passes() == 1
    assert passes(60) == 0  # too few rows
    assert passes(models=[LogisticRegression(C=2), LogisticRegression(C=1)]) == 0
    sparse = pytest.importorskip("scipy.sparse")
    assert passes(X=sparse.random(N, D, 0.5, "csr", random_state=0)) == 0


def starts_of(X, free=True):
    rows = make_rows("dense", *X.shape, np.ascontiguousarray(X), None, None, X.dtype)
    return Starts(rows, np.arange(0, len(X), 2), free)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("free", [False, True])
def test_a_start_is_near_the_optimum_with_the_hessian_about_there(free, dtype):
    X, y, _, _ = problem(dtype=dtype)
    s = np.random.default_rng(3).integers(0, 3, N) / N
    start = starts_of(X, free).of(s, y.astype(float), 1e-4)
    half, value = slice(0, N, 2), lambda w, b: (
        s @ np.logaddexp(0, -y * (X @ w + b)) / s.sum() + 0.5e-4 * w @ w)
    _, v = optimum(X.astype(float), y, s / s.sum(), 1e4, free)
    best, zero = value(v[:D], v[D] if free else 0.0), value(np.zeros(D), 0.0)
    assert value(start.w, start.b) - best <= 0.05 * (zero - best)
    # the Hessian of half of the rows, a step before
    p = 1 / (1 + np.exp(-(X @ start.w + start.b)))
    h = (s * p * (1 - p))[half] / s[half].sum()
    c = h @ X[half] / h.sum() if free else np.zeros(D)
    naive = ((X[half] - c).T * h) @ (X[half] - c)
    assert np.abs(start.hessian.matrix - naive).max() <= 0.1 * np.abs(naive).max()
    g = np.random.default_rng(4).normal(size=(D + 1, 2))
    if not free:
        g[D] = 0
    step, hessian = start.hessian.inverse(0.5)(g), start.hessian
    # [[H + m c c^T + l2 I, m c], [m c^T, m]] with rows of the intercepts last
    m, c = hessian.mass, hessian.centre
    full = np.zeros((D + 1, D + 1))
    full[:D, :D] = hessian.matrix + m * np.outer(c, c) + 0.5 * np.eye(D)
    full[:D, D] = full[D, :D] = m * c
    full[D, D] = m
    np.testing.assert_allclose(full @ step, g, atol=1e-6)
    assert (m > 0) == free


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e12])
def test_the_hessian_of_float32_numbers(scale):
    """Columns that float32 products can't hold are taken in double."""
    X, _, _, _ = problem()
    X[:, 0] *= scale
    starts, s = starts_of(X), np.full(N, 1.0)
    assert starts.single == (scale == 1.0)
    z = np.random.default_rng(1).normal(size=N)
    part, h = X[::2], 1 / (2 + 2 * np.cosh(z[::2])) / (N // 2)
    found = starts.hessian(s[::2], z[::2])
    c = h @ part / h.sum()
    naive = ((part - c).T * h) @ (part - c)
    size = np.sqrt(np.diagonal(naive))
    np.testing.assert_allclose(found.matrix / size / size[:, None], naive / size / size[:, None],
                               atol=1e-5)


def test_like_strengths_begin_together(suited, monkeypatch):
    """Also those of different passes."""
    asked, start = [], Starts._start
    monkeypatch.setattr(Starts, "_start", lambda self, s, y, l2: (
        asked.append(l2), start(self, s, y, l2))[1])
    X, y, train, _ = problem()
    models = [LogisticRegression(C=C, tol=1e-7) for C in (1e-5, 2e-5, 10.0, 20.0, 100.0, 1e3)
              for _ in train]
    fit_together(models, X, y, train * 6)
    assert suited == [15, 3]
    assert len(asked) == len(set(asked)) == 2
    for m, model in enumerate(models):
        rows = train[m % FOLDS]
        best, _ = optimum(X[rows], y[rows], np.ones(len(rows)), model.C, True)
        assert model.objective_[0] == pytest.approx(best, rel=2e-7)


@pytest.mark.parametrize("scale, is_rough", [(1e-46, False), (1.0, True)])
def test_steps_in_double(suited, monkeypatch, scale, is_rough):
    """They find what those of float32 numbers can't: all where these hold no value, else what
    their roundings, here made larger, leave."""
    asked, add = [], SharedNewton._add_single

    def rough(self, weights, sums, pull, *rows):
        asked.append(1)
        add(self, weights, sums, pull, *rows)
        pull *= 1.0 + 1e-3 * np.cos(np.arange(pull.size)).reshape(pull.shape)

    monkeypatch.setattr(SharedNewton, "_add_single", rough)
    monkeypatch.setattr("fastlin._exact_pass._go_on_alone", None)
    X, y, train, _ = problem()
    models = [LogisticRegression(C=C / scale**2, tol=1e-7) for C in (0.01, 10.0) for _ in train]
    fit_together(models, X * scale, y, train * 2)
    assert suited == [6]
    assert bool(asked) == is_rough
    for m, model in enumerate(models):
        rows = train[m % FOLDS]
        best, v = optimum(X[rows], y[rows], np.ones(len(rows)), model.C * scale**2, True)
        assert model.duality_gap_[0] <= 1e-7
        assert model.objective_[0] == pytest.approx(best, rel=2e-7)
        np.testing.assert_allclose(model.coef_[0] * scale, v[:D], atol=1e-3)
