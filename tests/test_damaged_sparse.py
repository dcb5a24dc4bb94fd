"""Sparse matrices that are none: every index is checked before a kernel, or scipy, sees it."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from fastlin import SGDClassifier, SGDRegressor, as_rows

pytestmark = pytest.mark.memory


def fails(X, message, kind=ValueError):
    with pytest.raises(kind, match=message):
        as_rows(X)


def csr(indptr, indices, data=None, shape=(3, 4), kind=sparse.csr_array):
    """A CSR matrix that scipy has not looked at."""
    X = kind(shape)
    X.indptr, X.indices = np.asarray(indptr), np.asarray(indices)
    X.data = np.ones(len(X.indices)) if data is None else np.asarray(data)
    return X


DAMAGED = "X is not a valid sparse matrix|(numbers|bounds) of X must be integers"
INVALID = {
    "index too large": ([0, 1, 2, 3], [0, 4, 1]),
    "index far too large": ([0, 1, 2, 3], [0, 2**31 - 1, 1]),
    "index negative": ([0, 1, 2, 3], [0, -1, 1]),
    "index of 64 bits too large": ([0, 1, 2, 3], np.array([0, 2**40, 1])),
    "index that wraps to 0 in 32 bits": ([0, 1, 2, 3], np.array([0, 2**32, 1])),
    "index that wraps to 1 in 32 bits": ([0, 1, 2, 3], np.array([0, 2**32 + 1, 1])),
    "index negative in 64 bits": ([0, 1, 2, 3], np.array([0, -(2**40), 1])),
    "index unsigned and huge": ([0, 1, 2, 3], np.array([0, 2**64 - 1, 1], dtype=np.uint64)),
    "index of a small type, negative": ([0, 1, 2, 3], np.array([0, -1, 1], dtype=np.int8)),
    "index too large in an unsorted row": ([0, 3, 3, 3], [2, 9, 1]),
    "index negative in an unsorted row": ([0, 3, 3, 3], [2, -9, 1]),
    "index too large and last": ([0, 0, 0, 3], [0, 1, 4]),
    "bounds that decrease": ([0, 2, 1, 3], [0, 1, 2]),
    "bounds that end too high": ([0, 1, 2, 99], [0, 1, 2]),
    "bounds that pass the end between": ([0, 99, 2, 3], [0, 1, 2]),
    "bounds that start high": ([1, 1, 2, 3], [0, 1, 2]),
    "bounds that start low": ([-1, 1, 2, 3], [0, 1, 2]),
    "bounds that start very low": ([-(2**40), 1, 2, 3], [0, 1, 2]),
    "bounds negative": ([0, -5, 2, 3], [0, 1, 2]),
    "bounds of unsigned type that wrap": (
        np.array([0, 2**64 - 1, 2, 3], dtype=np.uint64),
        [0, 1, 2],
    ),
    "bounds too few": ([0, 1, 3], [0, 1, 2]),
    "bounds too many": ([0, 1, 2, 3, 3], [0, 1, 2]),
    "no bounds": ([], [0, 1, 2]),
    "values too few": ([0, 1, 2, 3], [0, 1, 2], [1.0, 1.0]),
    "values too many": ([0, 1, 2, 3], [0, 1, 2], [1.0, 1.0, 1.0, 1.0]),
    "values in two dimensions": ([0, 1, 2, 3], [0, 1, 2], [[1.0], [1.0], [1.0]]),
    "indices in two dimensions": ([0, 1, 2, 3], [[0], [1], [2]], [[1.0], [1.0], [1.0]]),
    "bounds in two dimensions": ([[0], [1], [2], [3]], [0, 1, 2]),
    "indices of floating type": ([0, 1, 2, 3], [0.0, 1.5, 2.0]),
    "bounds of floating type": ([0.0, 1.5, 2.0, 3.0], [0, 1, 2]),
    "indices of objects": ([0, 1, 2, 3], np.array([0, "a", 2], dtype=object)),
}


@pytest.mark.parametrize("values", ["ones", "other"])
@pytest.mark.parametrize("parts", INVALID.values(), ids=INVALID)
def test_damaged_csr_is_refused(parts, values):
    X = csr(*parts)
    if values == "other":
        X.data = X.data * 2.5
    fails(X, DAMAGED)
    kept = [np.array(part) for part in (X.indptr, X.indices, X.data)]
    with pytest.raises(ValueError, match="X "):
        SGDClassifier().fit(X, [0, 1, 0])
    for part, before in zip((X.indptr, X.indices, X.data), kept, strict=True):
        np.testing.assert_array_equal(part, before)


@pytest.mark.parametrize("parts", INVALID.values(), ids=INVALID)
def test_damaged_csc_is_refused(parts):
    fails(csr(*parts, shape=(4, 3), kind=sparse.csc_array), DAMAGED)


def test_messages_of_damaged_matrices_say_where():
    fails(csr([0, 1, 2, 3], [0, 7, 1]), "row 1 has column 7, but there are 4 columns")
    fails(csr([0, 1, 2, 3], np.array([0, 2**40, 1])), f"row 1 has column {2**40}, but there are 4")
    fails(csr([0, 2, 1, 3], [0, 1, 2]), "bounds of row 1 are wrong")
    fails(
        csr([0, 1, 2, 3], [0, 7, 1], shape=(4, 3), kind=sparse.csc_array),
        "column 1 has row 7, but there are 4 rows",
    )


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("place", [-1, 3, 10**9, -(10**9), 2**33])
def test_damaged_coo_is_refused(axis, place):
    X = sparse.coo_array(np.eye(3))
    coordinates = [places.astype(np.int64) for places in X.coords]
    coordinates[axis][1] = place
    X.coords = tuple(coordinates)
    fails(X, f"an entry has {('row', 'column')[axis]} {place}, but there are 3")
    X = sparse.coo_array(np.eye(3))
    coordinates = list(X.coords)
    coordinates[axis] = coordinates[axis][:2]
    X.coords = tuple(coordinates)
    fails(X, "X is not a valid sparse matrix")


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [("indices", 0, 10**6), ("indices", 1, -1), ("indptr", 1, -4), ("indptr", 1, 9),
     ("indptr", 2, 10**6), ("indptr", 0, 1)],
)  # fmt: skip
def test_damaged_bsr_is_refused(part, place, value):
    X = sparse.bsr_array(np.eye(4), blocksize=(2, 2))
    getattr(X, part)[place] = value
    fails(X, "X is not a valid sparse matrix: .*block row")
    X = sparse.bsr_array(np.eye(4), blocksize=(2, 2))
    X.data = X.data[:1]
    fails(X, "X is not a valid sparse matrix")


def test_other_damaged_formats_are_refused():
    X = sparse.lil_array(np.eye(4))
    X.rows[2] = [99]
    fails(X, "row 2 has column 99, but there are 4 columns")
    X = sparse.dok_array(np.eye(4))
    X._dict[(7, 99)] = 1.0
    fails(X, "X is not a valid sparse matrix")


integers = st.integers(-3, 12)


@given(
    indptr=st.lists(st.integers(-2, 9), min_size=4, max_size=4),
    indices=st.lists(integers, max_size=8),
    wide=st.booleans(),
    ones=st.booleans(),
)
@example([0, 0, 0, 0], [], False, True)
@example([0, 3, 3, 5], [2, 0, 1, 3, 3], True, False)
def test_csr_is_taken_if_and_only_if_it_is_valid(indptr, indices, wide, ones):
    n, d = 3, 5
    dtype = np.int64 if wide else np.int32
    X = csr(np.array(indptr, dtype), np.array(indices, dtype), shape=(n, d))
    X.data = np.ones(len(indices)) if ones else np.arange(1.0, len(indices) + 1)
    stored = indptr[-1]
    valid = (
        indptr[0] == 0
        and all(a <= b for a, b in zip(indptr, indptr[1:], strict=False))
        and stored <= len(indices)
        and all(0 <= j < d for j in indices[:stored])
    )
    if not valid:
        fails(X, "X is not a valid sparse matrix")
        return
    expected = np.zeros((n, d))
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            expected[i, indices[k]] += X.data[k]
    rows = as_rows(X)
    np.testing.assert_array_equal(rows.toarray(), expected)
    scored = SGDRegressor(max_iter=1, tol=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scored.fit(X, np.arange(3.0))
    np.testing.assert_allclose(scored.predict(X), expected @ scored.coef_ + scored.intercept_)
