"""`Rows.hstack`: every pair of layouts side by side, against numpy."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from fastlin import Rows, as_rows
from fastlin._data import compact_rows

N = 40
_rng = np.random.default_rng(0)


def blocks():
    """Matrices by the layout that they get alone."""
    dense = _rng.normal(size=(N, 3)) * (_rng.random((N, 3)) < 0.5)
    csr = sparse.random(N, 20, 0.2, format="csr", random_state=0)
    ones = sparse.random(N, 20, 0.2, format="csr", random_state=1)
    ones.data[:] = 1
    signs = ones.copy()
    signs.data[::2] = -1
    places = np.sort(np.argsort(_rng.random((N, 9)), axis=1)[:, :2], axis=1).ravel()
    regular = sparse.csr_matrix((np.ones(2 * N), places, np.arange(0, 2 * N + 1, 2)), (N, 9))
    zeros = csr.copy()
    zeros.data[::3] = 0
    return {
        "dense": dense, "dense float32": dense.astype(np.float32), "csr": csr, "csc": csr.tocsc(),
        "csr float32": csr.astype(np.float32), "stored zeros": zeros, "ones": ones,
        "regular": as_rows(regular), "signed": compact_rows(signs), "signs": signs,
        "empty": sparse.csr_matrix((N, 4)),
    }  # fmt: skip


BLOCKS = blocks()


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


@pytest.mark.parametrize("names", list(itertools.product(BLOCKS, repeat=2)), ids="+".join)
def test_any_two(names):
    given = [BLOCKS[name] for name in (*names, names[0])]
    before = [dense(X).copy() for X in given]
    rows = Rows.hstack(given)
    np.testing.assert_array_equal(rows.toarray(), np.hstack(before))
    assert rows.dtype == np.result_type(*[X.dtype for X in given])
    for X, old in zip(given, before, strict=True):
        assert (dense(X) == old).all()
    if rows.layout == "csr":
        assert (rows.values != 0).all() and rows.to_csr().has_canonical_format


def test_the_smallest_layout_that_holds_all():
    def layout(*names):
        rows = Rows.hstack([BLOCKS[name] for name in names])
        return rows.layout, rows.width

    assert layout("regular", "regular") == ("ones", 4)
    assert layout("regular", "ones") == ("ones", -1)
    assert layout("signed", "regular", "signs") == ("signed", -1)
    assert layout("dense", "dense float32") == ("dense", -1)
    assert layout("dense", "regular") == layout("ones", "csr") == ("csr", -1)
    assert Rows.hstack([BLOCKS["regular"]] * 2).nbytes == 4 * 4 * N
    assert Rows.hstack([BLOCKS["dense"], BLOCKS["ones"]], np.float32).dtype == np.float32
    alone = as_rows(BLOCKS["regular"])
    assert Rows.hstack([alone]) is alone


def test_many_pieces():
    X = sparse.random(30_000, 50, 0.3, format="csr", random_state=0)
    rows = Rows.hstack([X, X.toarray()[:, :2], X])
    expected = sparse.hstack([X, X[:, :2], X], format="csr")
    assert (rows.to_csr() != expected).nnz == 0


def test_a_model_takes_them():
    from fastlin import Perceptron

    y = _rng.integers(0, 2, N)
    for names in (("regular", "regular"), ("signed", "ones"), ("dense", "regular")):
        rows = Rows.hstack([BLOCKS[name] for name in names])
        models = [
            Perceptron(max_iter=3, tol=None, random_state=0).fit(X, y)
            for X in (rows, rows.to_csr())
        ]
        assert np.array_equal(models[0].coef_, models[1].coef_)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], ValueError, "blocks must hold at least one matrix, got none"),
        (np.eye(2), TypeError, "blocks must be a list of matrices"),
        ([np.eye(2), np.eye(3)], ValueError, r"but blocks\[0\] has 2 and blocks\[1\] 3"),
        ([np.eye(2), [[1.0], [np.nan]]], ValueError, r"blocks\[1\]: Input X contains NaN"),
        ([np.eye(2), [["a"], ["b"]]], ValueError, r"blocks\[1\]: X must hold numbers"),
        ([[1, 2]], ValueError, r"blocks\[0\]: Expected 2D array"),
        ([sparse.csr_matrix((2, 2**30))] * 2, ValueError, "have 2147483648 columns together"),
    ],
)  # fmt: skip
def test_refusals(given, error, message):
    with pytest.raises(error, match=message):
        Rows.hstack(given)
