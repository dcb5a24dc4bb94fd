"""Newton's method: a certified optimum of every smooth loss, on every layout, whatever the scale
and the shift of the columns; closed forms, weights as repetitions, scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import _centred, _newton
from fastlin._cholesky import cholesky
from fastlin._data import as_rows
from fastlin._problem import Certificate, Problem
from fastlin._solve import solve as solve_by_name

SEED = np.zeros(4, np.uint64)
PARAMETERS = {
    "log_loss": 0.0, "squared_hinge": 1.0, "modified_huber": 0.0, "squared_error": 0.0,
    "huber": 0.3, "squared_epsilon_insensitive": 0.2,
}  # fmt: skip
CLASSES = ("log_loss", "squared_hinge", "modified_huber")


def problem_of(X, dense, loss, l2=1e-2, weighted=False, **more):
    rng = np.random.default_rng(3)
    n, d = dense.shape
    z = dense @ rng.normal(size=d) / np.maximum(1e-9, np.abs(dense).max()) + rng.normal(size=n)
    y = np.where(z > np.median(z), 1.0, -1.0) if loss in CLASSES else z + 0.3
    weight = rng.uniform(0.2, 3, n) if weighted else np.empty(0)
    return Problem(
        as_rows(X), y, loss, l2=l2, weight=weight, loss_parameter=PARAMETERS[loss], **more
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_the_logistic_loss_far_from_the_boundary(weighted):
    """Also where 1 - sigma, or 1 + e^-m, is 1 when rounded."""
    m = np.concatenate([-np.arange(1.0, 400.0, 7.0)[::-1], np.linspace(-40, 40, 161), [500.0]])
    y = np.where(np.arange(len(m)) % 2, 1.0, -1.0)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(m)) if weighted else np.empty(0)
    share = weight / weight.sum() if weighted else np.full(len(m), 1 / len(m))
    problem = Problem(as_rows(np.zeros((len(m), 1))), y, "log_loss", weight=weight)
    slope, e = np.exp(-np.logaddexp(0, m)), np.exp(-np.abs(m))
    found = problem.expanded(y * m)
    np.testing.assert_allclose(found[0], share @ np.logaddexp(0, -m), rtol=1e-14)
    np.testing.assert_allclose(found[1], -share * y * slope, rtol=1e-13)
    near = np.abs(m) < 38
    np.testing.assert_allclose(found[2][near], (share * e / (1 + e) ** 2)[near], rtol=1e-13)
    # beyond, a floor for steps of Newton's method
    assert np.all((found[2] > 0) & (found[2] < 1e-16) | near)
    far = np.flatnonzero(m >= 20)
    right = replace(problem, y=y[far], weight=weight[far] if weighted else weight)
    expected = np.average(np.log1p(np.exp(-m[far])), weights=share[far])
    np.testing.assert_allclose(right.mean_loss((y * m)[far]), expected, rtol=1e-14)


def solve(problem, tol=1e-8, max_iter=500, start=None):
    return _newton.solve(problem, tol, max_iter, SEED, start)


def objective(problem, w, b):
    dense = problem.X.toarray().astype(np.float64)
    return problem.primal(dense @ w + b, w)


@pytest.mark.memory
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("loss", PARAMETERS)
def test_every_layout(layout, loss):
    X, dense = layout.make()
    for weighted in (False, True):
        for fit_intercept in (False, True):
            problem = problem_of(X, dense, loss, weighted=weighted, fit_intercept=fit_intercept)
            fit = solve(problem)
            assert fit.converged
            assert fit.certificate.relative_gap <= 1e-8
            value = objective(problem, fit.coef, fit.intercept)
            assert value == pytest.approx(fit.certificate.objective, rel=1e-12)
            assert fit_intercept or fit.intercept == 0
            # nothing nearby is better
            for step in (1e-4, -1e-4):
                assert objective(problem, fit.coef * (1 + step), fit.intercept) > value - 1e-12
                moved = fit.intercept + step * fit_intercept
                assert objective(problem, fit.coef, moved) > value - 1e-12


@pytest.mark.parametrize("loss", PARAMETERS)
@pytest.mark.parametrize("n_columns", [3, 200])
def test_the_gradient_vanishes(loss, n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, n_columns)) * np.logspace(-1, 1, n_columns)
    problem = problem_of(X, X, loss, l2=1e-3)
    fit = solve(problem, 1e-11)
    step = 1e-6
    size = np.linalg.norm(fit.coef) + 1
    for direction in rng.normal(size=(5, n_columns)) / np.sqrt(n_columns):
        up = objective(problem, fit.coef + step * direction, fit.intercept)
        down = objective(problem, fit.coef - step * direction, fit.intercept)
        assert abs(up - down) / (2 * step) < 1e-4 * size * max(1, np.abs(X).max())
        assert min(up, down) >= fit.certificate.objective * (1 - 1e-10)


@pytest.mark.parametrize("shape", [(80, 6), (25, 60)])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_squared_error_has_a_closed_form(shape, fit_intercept):
    X = np.random.default_rng(0).normal(size=shape) + 3
    problem = problem_of(X, X, "squared_error", 0.1, weighted=True, fit_intercept=fit_intercept)
    p = problem.weight / problem.weight.sum()
    c, mean = (p @ X, p @ problem.y) if fit_intercept else (0 * X[0], 0.0)
    A = X - c
    G = A.T @ (A * p[:, None]) + 0.1 * np.eye(shape[1])
    w = np.linalg.solve(G, A.T @ (p * (problem.y - mean)))
    for name in ("newton", "direct"):
        fit = solve_by_name(problem, name, 1e-12, 1000, SEED)
        np.testing.assert_allclose(fit.coef, w, atol=1e-6)
        assert fit.intercept == pytest.approx(mean - c @ w, abs=1e-5)
        assert fit.certificate.relative_gap <= 1e-12


@pytest.mark.parametrize("loss", PARAMETERS)
def test_weights_are_repetitions(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    plain = problem_of(X, X, loss)
    weight = rng.integers(1, 5, 60)
    rows = np.repeat(np.arange(60), weight)
    one = solve(
        Problem(plain.X, plain.y, loss, 0.0, 1e-2, weight.astype(float), PARAMETERS[loss]), 1e-12
    )
    other = solve(
        Problem(as_rows(X[rows]), plain.y[rows], loss, 0.0, 1e-2, np.empty(0), PARAMETERS[loss]),
        1e-12,
    )
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-5)
    assert one.certificate.objective == pytest.approx(other.certificate.objective, rel=1e-10)


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shift", [10.0, 100.0, 1000.0])
@pytest.mark.parametrize("loss", PARAMETERS)
def test_a_shift_costs_neither_digits_nor_steps(loss, shift, build):
    X = np.random.default_rng(0).normal(size=(50, 3))
    plain = problem_of(X, X, loss)
    moved = Problem(
        as_rows(build(X + shift)), plain.y, loss, l2=1e-2, loss_parameter=PARAMETERS[loss]
    )
    one, other = solve(plain, 1e-10), solve(moved, 1e-9)
    assert other.converged
    np.testing.assert_allclose(
        (X + shift) @ other.coef + other.intercept, X @ one.coef + one.intercept, atol=1e-3
    )
    assert other.n_iter <= one.n_iter + 5


def test_the_scale_of_a_column_costs_no_steps():
    X = np.random.default_rng(0).normal(size=(300, 8))
    plain = solve(problem_of(X, X, "log_loss", l2=0.0))
    scale = np.logspace(-6, 6, 8)
    scaled = problem_of(X, X, "log_loss", l2=0.0)
    other = solve(Problem(as_rows(X * scale), scaled.y, "log_loss"))
    assert plain.converged
    assert other.converged
    np.testing.assert_allclose(other.coef * scale, plain.coef, rtol=1e-3, atol=1e-5)
    assert other.n_iter <= plain.n_iter + 2


def test_the_intercept_of_noise_is_that_of_the_counts():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.where(np.arange(50) < 45, 1.0, -1.0)
    fit = solve(Problem(as_rows(X), y, "log_loss", l2=1 / (1e-3 * 50)))
    assert fit.intercept == pytest.approx(np.log(45 / 5), abs=1e-2)


@pytest.mark.parametrize("l2", [0.0, 1e-2])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", PARAMETERS)
def test_a_constant_column(loss, fit_intercept, l2):
    X = np.random.default_rng(0).normal(size=(80, 3))
    X[:, 1] = 5.0
    fit = solve(problem_of(X, X, loss, l2, fit_intercept=fit_intercept))
    assert np.isfinite(fit.coef).all()
    assert fit.converged
    if fit_intercept:
        assert fit.coef[1] == pytest.approx(0, abs=1e-9)


def test_columns_that_coincide():
    X = np.random.default_rng(0).normal(size=(100, 3))
    X = np.column_stack([X, X])
    for l2 in (0.0, 1e-3):
        fit = solve(problem_of(X, X, "log_loss", l2), 1e-11)
        assert fit.converged
        if l2 > 0:
            np.testing.assert_allclose(fit.coef[:3], fit.coef[3:], atol=1e-4)


def test_separable_classes_have_no_optimum_without_a_penalty():
    X = np.linspace(-1, 1, 20)[:, None]
    problem = Problem(as_rows(X), np.sign(X[:, 0]), "log_loss")
    fit = solve(problem, 1e-4, max_iter=1000)
    assert np.isfinite(fit.coef).all()
    assert np.isfinite(fit.certificate.relative_gap)
    assert not fit.converged
    assert fit.n_iter < 100


@pytest.mark.parametrize("loss", PARAMETERS)
def test_one_row_and_underflow(loss):
    for X in (np.array([[3.0, -1.0]]), np.vstack([np.zeros((29, 2)), np.full((1, 2), 3.75e-208)])):
        y = np.where(np.arange(len(X)) < len(X) / 2, -1.0, 1.0)
        fit = solve(
            Problem(as_rows(X), y, loss, l2=1e-2, loss_parameter=PARAMETERS[loss]), 1e-6
        )
        assert np.isfinite(fit.coef).all()
        assert fit.converged


def test_a_start_near_the_optimum_saves_steps():
    X = np.random.default_rng(0).normal(size=(200, 10))
    problem = problem_of(X, X, "log_loss")
    first = solve(problem, 1e-6)
    assert first.n_iter > 1
    again = solve(problem, 1e-6, start=first)
    assert again.n_iter == 0
    assert again.converged


def test_too_few_steps_are_no_convergence():
    X = np.random.default_rng(0).normal(size=(200, 10))
    fit = solve(problem_of(X, X, "log_loss", 1e-6), 1e-10, max_iter=1)
    assert fit.n_iter == 1
    assert not fit.converged
    assert fit.certificate.relative_gap > 1e-10


def test_a_preconditioner_of_some_rows_leads_to_the_same_optimum(monkeypatch):
    X = np.random.default_rng(0).normal(size=(3000, 12)) @ np.diag(np.logspace(0, 3, 12))
    problem = problem_of(X, X, "log_loss", 1e-4)
    one = solve(problem, 1e-10)
    monkeypatch.setattr(_newton, "_LEAST_ROWS", 100)
    some = solve(problem, 1e-10)
    monkeypatch.setattr(_newton, "_FEW_COLUMNS", 0)
    diagonal = solve(problem, 1e-10)
    for other in (some, diagonal):
        assert other.converged
        assert other.certificate.objective == pytest.approx(one.certificate.objective, rel=1e-9)


@pytest.mark.memory
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_products_gram_and_kernel_matrices(layout):
    given, dense = layout.make()
    X, rng = as_rows(given), np.random.default_rng(0)
    n, d = dense.shape
    h, s, v, c = rng.random(n), rng.normal(size=n), rng.normal(size=d), rng.normal(size=d)
    A = dense - c
    np.testing.assert_allclose(_centred.gram(X, h, c), A.T @ (A * h[:, None]), atol=1e-9)
    uncentred = dense.T @ (dense * h[:, None])
    np.testing.assert_allclose(_centred.gram(X, h, 0 * c), uncentred, atol=1e-9)
    K = np.sqrt(np.outer(h, h)) * (A @ A.T)
    np.testing.assert_allclose(_centred.kernel_matrix(X, h, c), K, atol=1e-9)
    z, product = _centred.hessian_product(X, v, c, h)
    np.testing.assert_allclose(z, A @ v, atol=1e-9)
    np.testing.assert_allclose(product, A.T @ (h * (A @ v)), atol=1e-9)
    expected = s @ dense, h @ dense, h @ dense**2
    np.testing.assert_allclose(_centred.moments(X, s, h), expected, atol=1e-9)
    blocks = [block for _, block in _centred.blocks(X, h, c)]
    np.testing.assert_allclose(np.concatenate(blocks), A * np.sqrt(h)[:, None], atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_go_by_blocks_of_rows(dtype):
    # several blocks, some of a single row with more entries than a block has, some rows empty
    rng = np.random.default_rng(0)
    X = sparse.random_array((3000, 9000), density=1e-3, rng=rng, format="lil")
    X[[5, 6, 2000]] = rng.normal(size=(3, 9000))
    X = X.tocsr().astype(dtype)
    h, v, c = rng.random(3000), rng.normal(size=9000), rng.normal(size=9000)
    h[7] = 0
    z, product = _centred.hessian_product(as_rows(X), v, c, h)
    expected = X.astype(np.float64) @ v - c @ v
    np.testing.assert_allclose(z, expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(product, X.astype(np.float64).T @ (h * expected)
                               - c * (h @ expected), rtol=1e-11, atol=1e-8)


def test_thin_rows_are_multiplied_pair_by_pair():
    dense = sparse.random_array((70, 200), density=0.03, rng=np.random.default_rng(0)).toarray()
    # more entries than one piece of a row holds
    dense[5] = np.arange(200)
    X = as_rows(sparse.csr_array(dense))
    assert not _centred.is_denselike(X)
    h, c = np.linspace(0, 1, 70), np.full(200, 0.1)
    A = dense - c
    np.testing.assert_allclose(_centred.gram(X, h, c), A.T @ (A * h[:, None]), atol=1e-8)
    K = np.sqrt(np.outer(h, h)) * (A @ A.T)
    np.testing.assert_allclose(_centred.kernel_matrix(X, h, c), K, atol=1e-8)


def test_a_singular_matrix_is_solved_where_it_can_be():
    A = np.random.default_rng(0).normal(size=(6, 3)) @ np.random.default_rng(1).normal(size=(3, 6))
    G = A.T @ A * np.outer(np.logspace(-4, 4, 6), np.logspace(-4, 4, 6))
    right = G @ np.ones(6)
    solve_scaled, rcond = cholesky(G.copy(), 0.0)
    assert rcond < 1e-12
    np.testing.assert_allclose(G @ solve_scaled(right), right, rtol=1e-6)
    solve_scaled, rcond = cholesky(G.copy(), 1e3)
    expected = np.linalg.solve(G + 1e3 * np.eye(6), right)
    np.testing.assert_allclose(solve_scaled(right), expected, rtol=1e-6)


def test_agreement_with_scikit_learn():
    peers = pytest.importorskip("sklearn.linear_model")
    X = np.random.default_rng(0).normal(size=(200, 6)) + 1
    for C in (0.01, 1.0, 100.0):
        problem = problem_of(X, X, "log_loss", 1 / (C * 200))
        peer = peers.LogisticRegression(C=C, tol=1e-12, max_iter=10_000).fit(X, problem.y)
        fit = solve(problem, 1e-12)
        np.testing.assert_allclose(fit.coef, peer.coef_[0], atol=1e-5)
        assert fit.intercept == pytest.approx(peer.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("shape", [(400, 250), (250, 400)], ids=["columns", "rows"])
def test_weights_and_columns_over_many_decades(shape, monkeypatch):
    # as if columns and rows were many: the diagonal alone leaves conjugate gradients too slow
    monkeypatch.setattr(_newton, "_FEW_COLUMNS", 0)
    monkeypatch.setattr(_newton, "_FEW_ROWS", 0)
    rng = np.random.default_rng(5)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.1) * 10 ** rng.uniform(-2, 2, shape[1])
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, 1.0, -1.0)
    weight = 10 ** rng.uniform(-4, 4, len(X))
    problem = Problem(as_rows(X), y, "squared_hinge", l2=5 / weight.sum(), weight=weight,
                      loss_parameter=1.0)
    fit = _newton.solve(problem, 1e-6, 60, np.zeros(4, np.uint64))
    assert fit.converged
    assert Certificate.measured(problem, fit.coef, fit.intercept).relative_gap <= 2e-6
