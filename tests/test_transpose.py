"""The transpose of rows in every layout."""

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import _transpose, as_rows
from fastlin._transpose import transposed

pytestmark = pytest.mark.memory


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("shape", [(40, 12), (8, 72), (2, 12), (34, 6)])
def test_it_is_the_transpose(layout, shape):
    X, dense = layout.make(*shape)
    rows = as_rows(X)
    columns = transposed(rows)
    assert columns.shape == dense.shape[::-1]
    assert (columns.layout, columns.dtype) == (rows.layout, rows.dtype)
    np.testing.assert_array_equal(columns.toarray(), dense.T)
    np.testing.assert_array_equal(transposed(columns).toarray(), dense)


@pytest.mark.parametrize("piece", [1, 7, 100, 1 << 21])
@pytest.mark.parametrize("d", [1, 511, 512, 513, 5000, 100_000])
def test_pieces_and_buckets(monkeypatch, piece, d):
    monkeypatch.setattr(_transpose, "_PIECE", piece)
    X = sparse.random(60, d, min(1.0, 400 / (60 * d)), "csr", random_state=0)
    if d > 1:
        X = X + sparse.csr_matrix(([1.5, 2.5], ([0, 59], [0, d - 1])), X.shape)
    columns = transposed(as_rows(X))
    found, expected = columns.to_csr(), X.T.tocsr()
    assert (found != expected).nnz == 0
    # rows of a column come in order
    assert found.has_sorted_indices
    assert columns.nnz == X.nnz


def test_a_row_of_more_entries_than_a_piece(monkeypatch):
    monkeypatch.setattr(_transpose, "_PIECE", 3)
    dense = np.random.default_rng(0).normal(size=(4, 9))
    dense[1:3] = 0
    np.testing.assert_array_equal(transposed(as_rows(sparse.csr_matrix(dense))).toarray(), dense.T)


def test_nothing_stored():
    columns = transposed(as_rows(sparse.csr_matrix((3, 5))))
    assert columns.shape == (5, 3)
    assert not columns.toarray().any()


def test_ones_stay_without_values():
    X = sparse.csr_matrix((np.random.default_rng(0).random((30, 8)) < 0.3).astype(float))
    columns = transposed(as_rows(X))
    assert columns.layout == "ones"
    assert columns.values is None
