"""`separability`: the verdict is proved by certificates that these tests check with NumPy alone."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import (
    ConvergenceWarning,
    InvalidParameterError,
    Perceptron,
    as_rows,
    margin,
    mistake_bound,
    separability,
)

RNG = np.random.default_rng(0)
STORAGE = [np.asarray, sparse.csr_array, sparse.csc_matrix, as_rows]


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)


def leads(found, X, y):
    """How far the response of each row's own class is above the others."""
    X, codes = dense(X), np.searchsorted(found.classes_, y)
    z = X @ found.coef_.T + found.intercept_
    if len(found.classes_) == 2:
        return np.where(codes == 1, 1, -1) * z[:, 0]
    own = z[np.arange(len(X)), codes]
    z[np.arange(len(X)), codes] = -np.inf
    return own - z.max(axis=1)


def check_hyperplane(found, X, y):
    """Of norm 1, and with the margin that it claims."""
    assert np.linalg.norm(found.coef_) == pytest.approx(1)
    least = leads(found, X, y).min()
    assert least >= found.margin
    assert least == pytest.approx(found.margin, rel=1e-4, abs=1e-9 * found.size)


def check_weights(found, X, y):
    """They are a combination of the rows of the classes, and as short as they claim: since any
    hyperplane's least lead is at most its mean lead under them, none has a larger margin."""
    X, codes, w = dense(X), np.searchsorted(found.classes_, y), found.weights
    K = len(found.classes_)
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1)
    if K == 2:
        sign = np.where(codes == 1, 1, -1)
        total, v = sign @ w, (sign * w) @ X
    else:
        assert np.all(w[np.arange(len(X)), codes] == 0)
        pull = np.eye(K)[codes] * w.sum(axis=1)[:, None] - w
        total, v = pull.sum(axis=0), pull.T @ X
    if found.fit_intercept:
        np.testing.assert_allclose(total, 0, atol=1e-12)
    assert np.linalg.norm(v) <= found.margin_bound * (1 + 1e-9) + 1e-12 * found.size


def check(X, y, separable, **options):
    """The answer, with both certificates checked."""
    found = separability(X, y, **options)
    assert found.separable is separable
    assert found.margin <= found.margin_bound * (1 + 1e-9)
    check_weights(found, X, y)
    if separable:
        assert found.margin > 0
        check_hyperplane(found, X, y)
        assert found.mistake_bound == mistake_bound(found, X, y) < np.inf
        assert margin(found, X, y) == pytest.approx(found.margin, rel=1e-4)
    else:
        assert found.margin_bound <= options.get("tol", 1e-6) * found.size
        assert found.mistake_bound == np.inf
    return found


def halves(n, d, gap, seed=0):
    """Rows at least `gap` away from a hyperplane that doesn't pass 0, two of them just so far."""
    rng = np.random.default_rng(seed)
    w = np.linalg.qr(rng.normal(size=(d, 1)))[0][:, 0]
    X = rng.normal(size=(n, d))
    s = X @ w
    side = np.where(np.arange(n) % 2 == 0, 1, -1)
    distance = side * (gap + np.abs(s))
    distance[:2] = gap, -gap
    X += np.outer(distance + 0.3 - s, w)
    X[1] = X[0] - 2 * gap * w
    return X, side


@pytest.mark.parametrize("storage", STORAGE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("gap", [1.0, 1e-2, 1e-5])
def test_two_halves(gap, storage):
    X, y = halves(200, 6, gap)
    found = check(storage(X) if storage is not as_rows else X, y, True)
    assert 0.9 * found.margin_bound <= found.margin <= gap * (1 + 1e-6)
    given = separability(storage(X), y)
    assert given.margin == pytest.approx(found.margin, rel=1e-6)


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6])
def test_two_halves_of_which_one_row_is_on_the_other_side(gap):
    X, y = halves(200, 6, 1e-3)
    inside = X[y == 1].mean(axis=0)
    check(np.r_[X, [inside]], np.r_[y, -1], False)
    # the hulls overlap by a gap
    X, y = halves(200, 3, gap)
    check(np.r_[X, X[:1]], np.r_[y, -1], False)


def test_the_verdict_is_that_of_linear_programming():
    from scipy.optimize import linprog

    verdicts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(4, 14), rng.integers(1, 7)
        X, y = rng.integers(-2, 3, size=(n, d)).astype(float), rng.integers(0, 2, n)
        y[:2] = 0, 1
        free = bool(seed % 2)
        A = np.c_[X, np.ones(n)] if free else X
        A = A * np.where(y == 1, -1, 1)[:, None]
        exact = linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(n), bounds=(None, None))
        check(X, y, exact.status == 0, fit_intercept=free)
        verdicts.append(exact.status == 0)
    assert 5 < sum(verdicts) < 35


def test_several_classes_by_linear_programming():
    from scipy.optimize import linprog

    verdicts = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, d, K = rng.integers(5, 12), rng.integers(1, 5), 3
        X, y = rng.integers(-3, 4, size=(n, d)).astype(float), rng.integers(0, K, n)
        y[:K] = range(K)
        rows = [
            np.outer(np.eye(K)[k] - np.eye(K)[c], np.append(x, float(seed % 2))).ravel()
            for x, c in zip(X, y, strict=True) for k in range(K) if k != c
        ]
        exact = linprog(np.zeros(K * (d + 1)), A_ub=np.array(rows), b_ub=-np.ones(len(rows)),
                        bounds=(None, None))
        check(X, y, exact.status == 0, fit_intercept=bool(seed % 2))
        verdicts.append(exact.status == 0)
    assert 5 < sum(verdicts) < 25


def test_several_classes_of_text():
    """More columns than rows; then one row with two labels."""
    X = sparse.random_array((150, 400), density=0.05, rng=np.random.default_rng(1), format="csr")
    y = np.arange(150) % 4
    check(X, y, True)
    check(sparse.vstack([X, X[[0]]]), np.append(y, 3), False)


def test_classes_that_only_all_together_are_not_separable():
    """Each pair is; linear programming found that four responses can't tell all of them."""
    X = np.array([[0.0, 2], [-3, -2], [0, 3], [2, 3], [3, -3], [2, -2], [-1, -1], [1, 3]])
    y = np.arange(8) % 4
    for one in range(4):
        for other in range(one):
            pair = (y == one) | (y == other)
            check(X[pair], y[pair], True)
    check(X, y, False)


def test_a_ring():
    """Four classes of a quarter each are separable, eight runs of four classes not."""
    angle = np.arange(16) * np.pi / 8 + 0.1
    ring = np.c_[np.cos(angle), np.sin(angle)]
    check(ring, np.arange(16) // 4, True)
    check(ring, np.arange(16) // 2 % 4, False)


def test_exclusive_or_and_what_makes_it_separable():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    check(X, y, False)
    check(np.c_[X, X[:, 0] * X[:, 1]], y, True)


def test_degenerate_rows():
    # without intercept a row of zeros is on no side
    X = np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, -1.0]])
    check(X, [0, 1, 0], False, fit_intercept=False)
    check(X, [0, 1, 0], True)
    # one point with both labels; all rows the same; all on a line
    check(np.array([[1.0, 2], [3, 4], [1, 2]]), [0, 1, 1], False)
    check(np.full((4, 2), 7.0), [0, 1, 0, 1], False)
    line = np.outer(np.arange(6.0), [1, 2]) + 5
    check(line, [0, 0, 0, 1, 1, 1], True)
    check(line, [0, 1, 1, 0, 0, 0], False)
    # a constant column, an empty one, and numbers far from 0
    X, y = halves(50, 3, 0.5)
    check(np.c_[X, np.ones(50), np.zeros(50)], y, True)
    check(X + 1e6, y, True)
    check(X * 1e-30, y, True)
    check(X * 1e30, y, True)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("far", [1e11, 1e12, 1e13])
def test_columns_so_far_that_products_have_no_digits(far, n_classes):
    """What meets is known from differences, which are exact, and is checked on them here."""
    rng = np.random.default_rng(0)
    near = np.round(rng.normal(size=(120, 3)) * 64) / 64
    y = rng.integers(0, n_classes, len(near))
    rows = far + near
    found = separability(rows, y)
    assert found.separable is False
    off = rows - far
    assert np.array_equal(off, near)
    if n_classes == 2:
        hulls = [found.weights[y == k] @ off[y == k] / found.weights[y == k].sum() for k in (0, 1)]
        assert np.linalg.norm(hulls[0] - hulls[1]) / 2 <= 1.01e-6 * found.size
    else:
        pull = -found.weights
        pull[np.arange(len(y)), y] += found.weights.sum(axis=1)
        assert np.abs(pull.sum(axis=0)).max() < 1e-12
        assert np.linalg.norm(pull.T @ off) <= 1.01e-6 * found.size
    apart = rows + 8 * y[:, None]
    assert separability(apart, y).separable is True


@pytest.mark.parametrize("storage", [np.array, sparse.csr_matrix])
def test_columns_far_from_zero(storage):
    """The distance from the mean comes from differences."""
    found = separability(storage([[1e8], [1e8 + 1]]), [0, 1])
    assert found.separable and found.size == 0.5
    assert found.margin == pytest.approx(0.5, rel=1e-5)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    apart = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).max())
    # a few entries beside a column of times
    wide = sparse.random(40, 60, density=0.02, random_state=0).toarray()
    wide[:, 0] = 1.7e9 + 100 * X[:, 0]
    mean = wide.mean(axis=0)
    for rows, size in ((X + 1e8, apart), (wide, np.linalg.norm(wide - mean, axis=1).max())):
        found = separability(storage(rows), X[:, 0] > 0.1)
        assert found.separable and found.size == pytest.approx(size, rel=1e-3)
    assert not separability(storage(X + 1e6), rng.integers(0, 2, 40)).separable


@pytest.mark.parametrize("storage", [np.array, sparse.csr_matrix])
def test_large_columns_hide_no_small_ones(storage):
    """Factors of columns change no verdict; the certificates are of the columns as they are."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(120, 5))
    responses = Z @ rng.normal(size=(5, 3))
    for codes in (responses[:, 0] > 0, responses.argmax(axis=1)):
        for factors in (np.array([1e8, 1, 1, 1, 1]), 10.0 ** np.array([8, -8, 3, -2, 0])):
            check(storage(Z * factors), codes, True)
            other = np.where(rng.random(120) < 0.1, 0, codes)
            check(storage(Z * factors), other, False)


def test_hulls_that_touch():
    """At a single point: no margin is positive."""
    X = np.array([[0.0, 0], [0, 2], [0, 1], [3, 1]])
    check(X, [0, 0, 1, 1], False)


def test_opposite_sides_of_zero():
    X = np.array([[1.0], [2.0]])
    check(X, [0, 1], True)
    check(X, [0, 1], False, fit_intercept=False)
    check(np.array([[-1.0], [2.0]]), [0, 1], True, fit_intercept=False)


def test_a_perceptron_makes_no_more_mistakes():
    X, y = halves(60, 3, 0.3, seed=4)
    found = check(X, y, True)
    w, mistakes = np.zeros(4), 0
    for _ in range(1000):
        before = mistakes
        for x, sign in zip(np.c_[X, np.ones(60)], y, strict=True):
            if sign * (w @ x) <= 0:
                w, mistakes = w + sign * x, mistakes + 1
        if mistakes == before:
            break
    assert 0 < mistakes <= found.mistake_bound
    assert Perceptron(max_iter=1000, tol=None).fit(X, y).score(X, y) == 1


def test_no_verdict_is_said():
    X, y = halves(400, 6, 1e-3)
    X = np.tile(X, (1, 150)) * RNG.normal(size=900)
    with pytest.warns(ConvergenceWarning, match="found no verdict in"):
        found = separability(X[:399], y[:399] * np.where(RNG.random(399) < 0.3, -1, 1), max_iter=1)
    assert found.separable is None
    assert found.margin <= 0 < found.margin_bound


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: separability(X, [1] * 4), "two classes or more, got only the class"),
        (lambda X, y: separability(X, y[:3]), "rows|samples"),
        (lambda X, y: separability(X, None), "y must"),
        (lambda X, y: separability(X[:0], []), "0 sample"),
        (lambda X, y: separability(X * np.nan, y), "NaN"),
        (lambda X, y: separability(X, y, tol=0), "tol must be"),
        (lambda X, y: separability(X, y, max_iter=0), "max_iter must be"),
        (lambda X, y: separability(X, y, fit_intercept=3), "fit_intercept must be"),
        (lambda X, y: separability(X, [7] * 4), "got only the class 7:"),
        (lambda X, y: separability(X, np.ones((4, 2))), "separability takes one"),
        (lambda X, y: separability(X, [0.5, 1.5, 2.0, 3.0]), "Unknown label type"),
        (lambda X, y: separability(X * 1e-200, y), "underflow"),
    ],
)
def test_wrong_input(call, message):
    with pytest.raises((ValueError, InvalidParameterError), match=message):
        call(RNG.normal(size=(4, 2)), [0, 1, 0, 1])
