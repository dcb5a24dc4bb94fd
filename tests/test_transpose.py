"""The transpose of rows in every layout."""

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import _transpose, as_rows
from fastlin._parallel import Cancelled
from fastlin._transpose import Columns, transposed

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


@pytest.mark.parametrize("bits", [5, 7, 31], ids=["one column", "two columns", "all bits"])
@pytest.mark.parametrize("piece", [1, 7, 100, 1 << 21])
@pytest.mark.parametrize("d", [1, 511, 512, 513, 5000, 100_000])
def test_pieces_groups_and_buckets(monkeypatch, piece, d, bits):
    """Columns that are too many for so few bits go by buckets."""
    monkeypatch.setattr(_transpose, "_PIECE", piece)
    monkeypatch.setattr(_transpose, "_BITS", bits)
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


def test_groups_are_sorted_in_pieces(monkeypatch):
    """A call takes some entries, not some groups, which hold a share of all: threads can stop."""
    calls, gather = [], _transpose._transpose.gather

    def noted(ends, first, bits, rows, values, entry, buffer, heads, start, stop):
        calls.append((start, stop, ends[first[stop]] - ends[first[start]]))
        gather(ends, first, bits, rows, values, entry, buffer, heads, start, stop)

    monkeypatch.setattr(_transpose._transpose, "gather", noted)
    monkeypatch.setattr(_transpose, "_PIECE", 100)
    X = sparse.random(60, 500, 0.2, "csr", random_state=0)
    assert (transposed(as_rows(X)).to_csr() != X.T.tocsr()).nnz == 0
    starts, stops, entries = zip(*calls, strict=True)
    assert starts[0] == 0 and starts[1:] == stops[:-1]
    assert sum(entries) == X.nnz and max(entries) <= 100 + X.nnz // 128 + 60


def test_nothing_stored():
    columns = transposed(as_rows(sparse.csr_matrix((3, 5))))
    assert columns.shape == (5, 3)
    assert not columns.toarray().any()


def test_ones_stay_without_values():
    X = sparse.csr_matrix((np.random.default_rng(0).random((30, 8)) < 0.3).astype(float))
    columns = transposed(as_rows(X))
    assert columns.layout == "ones"
    assert columns.values is None


def is_whole(columns):
    return columns._missing is None


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("piece", [5, 1 << 21])
def test_columns_one_after_the_other(monkeypatch, layout, piece):
    monkeypatch.setattr(_transpose, "_PIECE", piece)
    monkeypatch.setattr(_transpose, "_LEAST_PIECE", 1)
    X, dense = layout.make(40, 12)
    rows, asked = as_rows(X), np.zeros(12, bool)
    columns = Columns(rows)
    for some in ([3], [3, 7], [], [0, 7]):
        columns.need(np.array(some, dtype=np.int64))
        asked[some] = True
        if rows.layout == "dense":
            asked[:] = True
        assert is_whole(columns) == (rows.layout == "dense")
        np.testing.assert_array_equal(columns.rows.toarray()[asked], dense.T[asked])
        if rows.layout == "csr":
            assert not columns.rows.toarray()[~asked].any()
    columns.need_all()
    assert is_whole(columns)
    np.testing.assert_array_equal(columns.rows.toarray(), dense.T)
    columns.need(np.arange(12))
    np.testing.assert_array_equal(columns.rows.toarray(), dense.T)


def test_many_columns_or_many_times_are_all():
    dense = np.random.default_rng(0).normal(size=(30, 40))
    columns = Columns(as_rows(sparse.csr_matrix(dense)))
    columns.need(np.arange(33))
    assert is_whole(columns)
    columns = Columns(as_rows(sparse.csr_matrix(dense)))
    for j in range(_transpose._FEW_TIMES):
        columns.need(np.array([j]))
        columns.need(np.array([j]))
        assert not is_whole(columns)
    columns.need(np.array([39]))
    assert is_whole(columns)
    np.testing.assert_array_equal(columns.rows.toarray(), dense.T)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_they_hold_no_others_in_whatever_order_they_join(layout):
    X, dense = layout.make(40, 60)
    rows, asked = as_rows(X), np.zeros(60, bool)
    if rows.layout == "dense":
        return
    size = np.diff(transposed(rows).indptr)
    columns, rng = Columns(rows), np.random.default_rng(0)
    assert columns.sizes.max(initial=0) == size.max()
    for few in rng.permutation(60)[:45].reshape(9, 5):
        columns.need(few)
        asked[few] = True
        held = columns.rows
        assert held.nnz == size[asked].sum()
        assert held.nnz <= len(held.indices) <= held.nnz + rows.nnz // _transpose._SPARE
        assert held.values is None or len(held.values) == len(held.indices)
        np.testing.assert_array_equal(held.toarray()[asked], dense.T[asked])
        assert not held.toarray()[~asked].any()


@pytest.mark.parametrize("everything", [False, True])
def test_what_was_cut_off_is_written_when_it_is_needed_again(monkeypatch, everything):
    monkeypatch.setattr(_transpose, "_PIECE", 10)
    monkeypatch.setattr(_transpose, "_LEAST_PIECE", 1)
    dense = np.random.default_rng(0).normal(size=(30, 20))
    columns, looks = Columns(as_rows(sparse.csr_matrix(dense))), iter([False, True])
    columns.need(np.array([4, 11]))
    with monkeypatch.context() as cut:
        cut.setattr(_transpose, "is_cancelled", lambda: next(looks))
        with pytest.raises(Cancelled):
            columns.need(np.arange(20 if everything else 8))
    assert not is_whole(columns)
    for some in ([2, 4, 7, 15], [0, 6, 11]):
        columns.need(np.array(some))
        held = columns.rows
        # all rows have an entry; others of the columns may still be as they were left
        for j in some:
            run = slice(held.indptr[j], held.indptr[j + 1])
            np.testing.assert_array_equal(held.indices[run], np.arange(30))
            np.testing.assert_array_equal(held.values[run], dense[:, j])


def test_rows_longer_than_what_is_looked_through_at_once():
    dense = np.random.default_rng(0).normal(size=(3, 700))
    columns = Columns(as_rows(sparse.csr_matrix(dense)))
    some = np.array([0, 255, 256, 257, 511, 512, 699])
    columns.need(some)
    np.testing.assert_array_equal(columns.rows.toarray()[some], dense.T[some])
