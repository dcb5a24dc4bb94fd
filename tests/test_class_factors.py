"""The blocks of a Hessian of K outputs, against those of the whole one, made entry by entry; what
products of dense rows by BLAS add up to."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import LogisticRegression, _joint_newton
from fastlin import _class_factors as factors
from fastlin._blocks import room_for
from fastlin._data import as_rows
from fastlin._joint_problem import Distributions, JointProblem

SEED = np.zeros(4, np.uint64)


def problem_of(n=60, d=5, K=4, l2=1e-2, build=np.asarray, weighted=False, **more):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * np.logspace(-1, 1, d) + 2.0
    codes = np.argmax(X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)), axis=1)
    codes[:K] = np.arange(K)
    weight = rng.uniform(0.2, 3, n) if weighted else np.empty(0)
    return JointProblem(as_rows(build(X)), Distributions.of_codes(codes, K), "log_loss", l2=l2,
                        weight=weight, **more)


def whole(problem, share, centre, p):
    """H + l2 I over ((feature, class), then intercepts), from its definition."""
    X, (n, K) = problem.X.toarray() - centre, p.shape
    A = np.hstack([X, np.full((n, 1), float(problem.fit_intercept))])
    H = np.zeros((A.shape[1] * K,) * 2)
    for a, q, s in zip(A, p, share, strict=True):
        H += s * np.kron(np.outer(a, a), np.diag(q) - np.outer(q, q))
    H[np.arange(X.shape[1] * K), np.arange(X.shape[1] * K)] += problem.l2
    return H


@pytest.mark.parametrize("build", [np.asarray, sparse.csr_array, np.float32], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("even", [False, True])
def test_blocks_of_one_class(build, weighted, free, even, monkeypatch):
    monkeypatch.setattr(factors, "_LEFT_OUT", 0.0)
    problem = problem_of(build=build, weighted=weighted, fit_intercept=free)
    rng = np.random.default_rng(1)
    n, d, K = 60, 5, 4
    p = rng.dirichlet(np.ones(K), 1 if even else n).repeat(n if even else 1, axis=0)
    share = problem.shares_of(np.arange(n))
    X = problem.X.toarray().astype(float)
    centre = share @ X if free else np.zeros(d)
    squares = np.square(X - centre).sum(axis=1)
    made = factors.ClassFactors(problem, share, centre, squares, p)
    V, v = rng.normal(size=(K, d)), rng.normal(size=K) * free
    v -= v.mean()
    H = whole(problem, share, centre, p)
    got, got_b = made.solve(problem.packed(V), v)
    got = np.column_stack([problem.unpacked(got), got_b])
    right, wanted = np.column_stack([V, v]), np.zeros((K, d + 1))
    common = right.mean(axis=0)
    for k in range(K):
        block = H[k::K, k::K]
        part = (right - common)[k]
        size = d + free
        wanted[k, :size] = np.linalg.solve(block[:size, :size], part[:size])
    wanted -= wanted.mean(axis=0)
    wanted[:, :d] += common[:d] / problem.l2
    tolerance = 1e-4 if build is np.float32 else 1e-8
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def test_the_product_is_symmetric_and_positive():
    problem = problem_of()
    rng = np.random.default_rng(1)
    p, share = rng.dirichlet(np.full(4, 0.1), 60), problem.shares_of(np.arange(60))
    X = problem.X.toarray()
    centre = share @ X
    made = factors.ClassFactors(problem, share, centre, np.square(X - centre).sum(axis=1), p)
    vectors = [(problem.packed(rng.normal(size=(4, 5))), rng.normal(size=4)) for _ in range(6)]
    images = [made.solve(*each) for each in vectors]
    G = np.array([[a @ x + q @ y for x, y in images] for a, q in vectors])
    np.testing.assert_allclose(G, G.T, rtol=1e-9, atol=1e-9 * np.abs(G).max())
    assert np.linalg.eigvalsh(G).min() > 0


def test_rows_left_out_add_little():
    problem = problem_of(n=300, l2=1e-2)
    rng = np.random.default_rng(1)
    z = rng.normal(size=(300, 4)) * 20  # most rows of one class only
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    share, X = problem.shares_of(np.arange(300)), problem.X.toarray()
    centre = share @ X
    made = factors.ClassFactors(problem, share, centre, np.square(X - centre).sum(axis=1), p)
    H = whole(problem, share, centre, p)
    for k in range(4):
        lowest = np.linalg.eigvalsh(np.linalg.cholesky(made.inverses[k]).T @ H[k::4, k::4]
                                    @ np.linalg.cholesky(made.inverses[k]))
        assert 1 - 1e-8 <= lowest.min()
        assert lowest.max() <= 1 + factors._LEFT_OUT


def test_a_singular_block_is_solved_as_far_as_it_goes():
    matrix = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    factors._invert(matrix)
    v = matrix @ np.array([1.0, 1.0, 0.0])
    np.testing.assert_allclose(v, [0.5, 0.5, 0.0], atol=1e-9)


@pytest.mark.parametrize("K", [3, 7, 16, 20])
def test_products_of_dense_rows(K):
    problem = problem_of(n=200, K=K)
    other = problem_of(n=200, K=K, build=sparse.csr_array)
    assert (problem.values is not None) == (K <= 16)
    assert other.values is None
    rng = np.random.default_rng(1)
    W, b = problem.packed(rng.normal(size=(K, 5))), rng.normal(size=K)
    rows = np.arange(20, 90)
    z = problem.responses(W, b, rows, room_for(problem.X))
    np.testing.assert_allclose(z, other.responses(W, b, rows, room_for(other.X)), atol=1e-12)
    assert not z[:, K:].any()
    one, two = np.zeros((2, len(W)))
    problem.add(z, rows, one, room_for(problem.X))
    other.add(z, rows, two, room_for(other.X))
    np.testing.assert_allclose(one, two, atol=1e-10)


@pytest.mark.parametrize("l2", [1e-8, 1e-4, 1e-1, 0.0])
def test_they_lead_to_the_optimum(l2, monkeypatch):
    problem = problem_of(n=400, d=30, l2=l2)
    fit = _joint_newton.solve(problem, 1e-9, 300, SEED)
    assert fit.converged
    # the diagonal alone does not get so far with weak penalties
    monkeypatch.setattr(_joint_newton, "_MOST_FACTOR_BYTES", 0)
    other = _joint_newton.solve(problem, 1e-9, 50, SEED).certificate
    assert other.relative_gap < 0.1
    assert -1e-9 < other.objective / fit.certificate.objective - 1 < other.relative_gap + 1e-9


def test_a_few_products_per_step(monkeypatch):
    """Columns that are alike, and classes far apart: with the diagonal it is hundreds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) @ rng.normal(size=(3, 40)) * 3 + 0.1 * rng.normal(size=(600, 40))
    codes = np.argmax(X[:, :5] + rng.normal(size=(600, 5)), axis=1)
    counts = []
    real = _joint_newton.Descent._product

    def counted(self, V, v):
        counts[-1] += 1
        return real(self, V, v)

    monkeypatch.setattr(_joint_newton.Descent, "_product", counted)
    for most in (1 << 26, 0):
        monkeypatch.setattr(_joint_newton, "_MOST_FACTOR_BYTES", most)
        counts.append(0)
        model = LogisticRegression(C=10.0).fit(X, codes)
        assert model.duality_gap_[0] <= 1e-4
    assert 0 < 3 * counts[0] < counts[1]


def test_rows_that_all_count_for_nothing_beside_the_penalty_are_left_out():
    rng = np.random.default_rng(0)
    X, y = 1e-3 * rng.normal(size=(15, 30)), np.arange(15) % 3
    dense = LogisticRegression().fit(X, y)
    thin = LogisticRegression().fit(sparse.csr_array(np.where(X > 1.3e-3, X, 0.0)), y)
    full = LogisticRegression().fit(np.where(X > 1.3e-3, X, 0.0), y)
    np.testing.assert_allclose(thin.coef_, full.coef_, rtol=1e-7)
    assert max(thin.duality_gap_[0], dense.duality_gap_[0]) <= 1e-12
