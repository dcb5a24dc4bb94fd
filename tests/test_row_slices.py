"""Rows and columns gathered from matrices in every layout."""

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy.sparse import csr_array

from fastlin import _row_slices as slices
from fastlin import as_rows

RNG = np.random.default_rng(0)
CHOICES = [np.array([5, 3, 3, 39]), np.arange(7, 20), np.arange(0), RNG.permutation(40)]


def same(found, expected, layout):
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.layout == layout


@pytest.mark.parametrize("block", [3, 1 << 15])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_what_is_gathered_is_what_was_there(layout, block, monkeypatch):
    monkeypatch.setattr(slices, "_BLOCK", block)
    X, dense = layout.make()
    rows = as_rows(X)
    for chosen in CHOICES:
        same(slices.rows_taken(rows, chosen), dense[chosen], rows.layout)
        ascending = np.unique(chosen)
        same(slices.rows_in_single(rows, ascending), dense[ascending].astype(np.float32),
             rows.layout)
    for columns in (np.array([0, 4, 11]), np.arange(12), np.arange(0, 12, 2)):
        same(slices.columns_taken(rows, columns), dense[:, columns], rows.layout)


@pytest.mark.parametrize("sparse", [False, True])
def test_values_too_large_for_single_precision_stay(sparse):
    X = np.ones((4, 3)) * [1e300, 2.0, 3.0]
    rows = as_rows(csr_array(X) if sparse else X)
    found = slices.rows_in_single(rows, np.array([0, 2]))
    np.testing.assert_array_equal(found.toarray(), X[[0, 2]])
    assert found.dtype == np.float64
