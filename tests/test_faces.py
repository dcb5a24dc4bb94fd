"""Minima of the lasso's quadratic model among the weights that are not 0, by its Gram matrix."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import _gram, as_rows
from fastlin._core import primal_cd as _primal
from fastlin._gram import Gram
from fastlin._primal_cd import Search
from fastlin._problem import Problem
from fastlin._quadratic import Model
from fastlin._transpose import Columns, transposed


def model(seed, columns=12, rows=40, alike=3.0):
    """(G, q = minus the slopes at 0, square of the target) of columns that resemble each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) + alike * rng.normal(size=(rows, 1))
    y = X @ rng.normal(size=columns) + rng.normal(size=rows)
    return X.T @ X / rows, X.T @ y / rows, float(y @ y) / rows


def objective(G, q, whole, l1, l2, w):
    return 0.5 * (whole - 2 * q @ w + w @ G @ w) + l1 * np.abs(w).sum() + 0.5 * l2 * w @ w


def naive(G, q, l1, l2, w, most, changes_stop):
    """The same by a fresh solution after every weight that gets to 0."""
    w = w.copy()
    for _ in range(most):
        some = np.flatnonzero(w)
        if not len(some):
            return w, True
        A = G[np.ix_(some, some)] + l2 * np.eye(len(some))
        step = np.linalg.solve(A, q[some] - l1 * np.sign(w[some])) - w[some]
        with np.errstate(divide="ignore"):
            reach = np.where((step * w[some] < 0) & changes_stop, -w[some] / step, np.inf)
        t = min(1.0, reach.min())
        w[some] = np.where(reach <= t, 0.0, w[some] + t * step)
        if t == 1:
            return w, True
    return w, False


@pytest.mark.parametrize("most", [1, 2, 30])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("l1, positive", [(0.2, False), (2.0, False), (0.1, True), (0.0, True),
                                          (0.0, False)])
def test_steps_are_those_of_fresh_solutions(l1, positive, l2, most):
    left = 0
    for seed in range(20):
        G, q, whole = model(seed)
        w = np.random.default_rng(seed).normal(size=12)
        if positive:
            w = np.abs(w)
        w[::5] = 0.0
        expected, done = naive(G, q, l1, l2, w, most, l1 > 0 or positive)
        some = np.flatnonzero(w)
        v, square = q - G @ w, whole - w @ (2 * q - G @ w)
        before = objective(G, q, whole, l1, l2, w)
        # there are more columns than those of the face
        R = np.linalg.cholesky(G[np.ix_(some, some)] + l2 * np.eye(len(some))).T.copy()
        square, all_done = _primal.to_face_minimum(
            G, some, l1, l2, positive, w, v, square, R, *np.empty((2, 12)), most)
        assert all_done == done
        np.testing.assert_allclose(w, expected, atol=1e-9)
        np.testing.assert_array_equal(w == 0, expected == 0)
        np.testing.assert_allclose(v, q - G @ w, atol=1e-9)
        assert square == pytest.approx(whole - w @ (2 * q - G @ w), abs=1e-9)
        assert objective(G, q, whole, l1, l2, w) < before
        # what is left of the factor is that of the weights that are left
        kept = np.flatnonzero(w)
        np.testing.assert_array_equal(some[: len(kept)], kept)
        U = np.triu(R[: len(kept), : len(kept)])
        np.testing.assert_allclose(U.T @ U, G[np.ix_(kept, kept)] + l2 * np.eye(len(kept)),
                                   atol=1e-9)
        left += len(kept)
    assert left  # not all of them are empty


@pytest.mark.parametrize("per_call", [1, 3 * 12 * 12])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("l1, positive", [(0.2, False), (2.0, False), (0.1, True)])
def test_a_face_that_goes_on_in_further_calls_is_the_same(l1, positive, l2, per_call, monkeypatch):
    """Columns that are left are counted once, and their factor goes with them."""
    longest = 0
    for seed in range(20):
        G, q, whole = model(seed)
        first = np.random.default_rng(seed).normal(size=12)
        first = np.abs(first) if positive else first
        first[::5] = 0.0
        answers = []
        for most in (1e12, per_call):
            monkeypatch.setattr(_gram, "_PER_CALL", most)
            called = []
            with monkeypatch.context() as patch:
                run = _primal.to_face_minimum
                patch.setattr(_primal, "to_face_minimum",
                              lambda *data, run=run, called=called: called.append(1) or run(*data))
                gram = Gram.__new__(Gram)
                gram.matrix = G
                w, v = first.copy(), q - G @ first
                square = whole - first @ (2 * q - G @ first)
                square = gram._to_face_minimum(np.arange(12), l1, l2, positive, w, v, square)
            answers.append((w, v, square))
            assert len(called) == 1 or most == per_call
            longest = max(longest, len(called))
        for one, several in zip(*answers, strict=True):
            np.testing.assert_allclose(several, one, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(v, q - G @ w, atol=1e-9)
        assert square == pytest.approx(whole - w @ (2 * q - G @ w), abs=1e-9)
    assert longest > 1


def test_what_is_no_descent_is_not_taken():
    """A factor of another matrix: nothing changes."""
    G, q, whole = model(3)
    w = np.ones(12)
    v, some = q - G @ w, np.arange(12)
    before = w.copy(), v.copy()
    square, done = _primal.to_face_minimum(
        G, some, 0.1, 0.0, False, w, v, whole, np.full((12, 12), np.nan), *np.empty((2, 12)), 5)
    assert done and square == whole
    np.testing.assert_array_equal(w, before[0])
    np.testing.assert_array_equal(v, before[1])


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_columns_that_depend_on_each_other_have_a_factor(l2):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(30, 6))
    dense = np.c_[dense, dense[:, :3], dense @ rng.normal(size=(6, 2))]
    X = as_rows(sparse.csr_matrix(dense))
    gram = Gram(X, Model(transposed(X), np.empty(0), 1 / 30, False), 1e9)
    some = np.arange(11)
    assert gram.admits(some)
    R = np.triu(gram._factor(some, l2))
    np.testing.assert_allclose(R.T @ R, dense.T @ dense / 30 + l2 * np.eye(11), atol=1e-5)
    assert gram._factor(some[:0], l2) is None


@pytest.mark.parametrize("faces", [1, 3, 100])
def test_the_optimum_is_the_same_however_far_a_face_is_followed(faces, monkeypatch):
    """Few rows of many sparse columns that go together, where faces lose many weights."""
    rng = np.random.default_rng(5)
    dense = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 150)) + 0.3 * rng.normal(size=(60, 150))
    dense *= rng.random((60, 150)) < 0.4
    y = dense @ (rng.normal(size=150) * (rng.random(150) < 0.2)) + rng.normal(size=60)
    p = Problem(X=as_rows(sparse.csr_matrix(dense)), y=y, loss="squared_error",
                weight=np.empty(0), l1=0.01)
    monkeypatch.setattr(_gram, "_MOST_FACES", faces)
    called = []
    run = _primal.to_face_minimum
    monkeypatch.setattr(_primal, "to_face_minimum", lambda *data: called.append(1) or run(*data))
    fit = Search(p, Columns(p.X)).run(p, 1e-10, 100_000)
    assert fit.converged and called
    z = dense @ fit.coef + fit.intercept
    slope = dense.T @ (z - y) / 60
    on = fit.coef != 0
    np.testing.assert_allclose(slope[on], -p.l1 * np.sign(fit.coef[on]), atol=1e-5)
    assert np.abs(slope[~on]).max() <= p.l1 * (1 + 1e-4)
