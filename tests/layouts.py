"""One list of the ways in which a matrix can be stored. Every solver test runs over it, so that
storage never changes a model.

A layout takes a dense float64 matrix and gives back the same matrix as something that a user might
pass as X. Which matrices it can hold is its `base`: any, binary (0 and 1), fixed (as many ones in
each row), whole (small whole numbers) or signs (-1, 0, 1).
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from fastlin._core import rows as _rows


@dataclass(frozen=True)
class Layout:
    name: str
    base: str
    build: Callable[[np.ndarray], Any]
    dtype: type = np.float64
    kind: str = "csr"  # that of the Rows it becomes

    def make(self, n=40, d=12, seed=0, scale=1.0):
        """(X as a user would pass it, the same as a dense float64 array)"""
        dense = BASES[self.base](np.random.default_rng(seed), n, d) * scale
        dense = dense.astype(self.dtype).astype(np.float64)
        return self.build(dense), dense


def any_values(rng, n, d):
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    X[[0, n // 2, n - 1]] = 0
    return X


def binary(rng, n, d):
    X = (rng.random((n, d)) < 0.4).astype(float)
    X[n // 2] = 0
    return X


def fixed(rng, n, d):
    X = np.zeros((n, d))
    for row in X:
        row[rng.choice(d, 3, replace=False)] = 1
    return X


def whole(rng, n, d):
    return rng.integers(-3, 4, size=(n, d)) * (rng.random((n, d)) < 0.6).astype(float)


def signs(rng, n, d):
    return rng.integers(-1, 2, size=(n, d)).astype(float)


BASES = {f.__name__: f for f in (any_values, binary, fixed, whole, signs)}


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def memory_mapped(X):
    with tempfile.TemporaryFile() as file:
        X.tofile(file)
        file.flush()
        return np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)


def with_indices(indices_dtype, indptr_dtype):
    def build(X):
        X = sparse.csr_array(X)
        # set afterwards: the constructor would choose its own types
        X.indices, X.indptr = X.indices.astype(indices_dtype), X.indptr.astype(indptr_dtype)
        return X

    return build


def unsorted(X):
    X = sparse.csr_array(X)
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[row], X.data[row] = X.indices[row][::-1].copy(), X.data[row][::-1].copy()
    X.has_sorted_indices = False
    return X


def duplicates(X):
    """Each entry as the sum of two, exactly."""
    X = sparse.csr_array(X)
    half = X.data / 2
    return sparse.csr_array(
        (np.column_stack([half, half]).ravel(), np.repeat(X.indices, 2), 2 * X.indptr),
        shape=X.shape,
    )


def explicit_zeros(X):
    n, d = X.shape
    return sparse.csr_array(
        (X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=X.shape
    )


def spare_room(X):
    """CSR whose arrays are longer than its last row's end, with rubbish behind it."""
    X = sparse.csr_array(X)
    X.indices = np.concatenate([X.indices, np.array([2**30, -5], dtype=np.int32)])
    X.data = np.concatenate([X.data, [np.nan, np.inf]])
    return X


def read_only_csr(X):
    X = sparse.csr_array(X)
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    return X


def signed_rows(X):
    """As hashing with signs gives: there is no public way to ask for it yet."""
    X = sparse.csr_array(X)
    indices = np.where(X.data < 0, ~X.indices, X.indices).astype(np.int32)
    return _rows.make_rows("signed", *X.shape, None, indices, X.indptr.astype(np.int64), np.float64)


LAYOUTS = [
    Layout("dense C order", "any_values", np.ascontiguousarray, kind="dense"),
    Layout("dense Fortran order", "any_values", np.asfortranarray, kind="dense"),
    Layout("dense strided", "any_values", lambda X: np.repeat(X, 2, axis=1)[:, ::2], kind="dense"),
    Layout("dense big-endian", "any_values", lambda X: X.astype(">f8"), kind="dense"),
    Layout("dense read-only", "any_values", read_only, kind="dense"),
    Layout("dense memory-mapped", "any_values", memory_mapped, kind="dense"),
    Layout("dense int8", "whole", lambda X: X.astype(np.int8), kind="dense"),
    Layout("dense bool", "binary", lambda X: X.astype(bool), kind="dense"),
    Layout("dense objects", "whole", lambda X: X.astype(int).astype(object), kind="dense"),
    Layout("lists", "any_values", lambda X: X.tolist(), kind="dense"),
    Layout("dense float32", "any_values", lambda X: X.astype(np.float32), np.float32, "dense"),
    Layout("csr", "any_values", sparse.csr_array),
    Layout("csr matrix", "any_values", sparse.csr_matrix),
    Layout("csr read-only", "any_values", read_only_csr),
    Layout("csr int64", "any_values", with_indices(np.int64, np.int64)),
    Layout("csr indices int64, indptr int32", "any_values", with_indices(np.int64, np.int32)),
    Layout("csr indices int32, indptr int64", "any_values", with_indices(np.int32, np.int64)),
    Layout("csr unsigned", "any_values", with_indices(np.uint64, np.uint32)),
    Layout("csr int16", "any_values", with_indices(np.int16, np.int16)),
    Layout("csr unsorted", "any_values", unsorted),
    Layout("csr duplicate entries", "any_values", duplicates),
    Layout("csr explicit zeros", "any_values", explicit_zeros),
    Layout("csr spare room", "any_values", spare_room),
    Layout("csr int values", "whole", lambda X: sparse.csr_array(X.astype(np.int32))),
    Layout(
        "csr float32", "any_values", lambda X: sparse.csr_array(X.astype(np.float32)), np.float32
    ),
    Layout("csc", "any_values", sparse.csc_array),
    Layout("coo", "any_values", sparse.coo_array),
    Layout("lil", "any_values", sparse.lil_array),
    Layout("dok", "any_values", sparse.dok_array),
    Layout("dia", "any_values", sparse.dia_array),
    Layout("bsr", "any_values", lambda X: sparse.bsr_array(X, blocksize=(2, 3))),
    Layout("ones", "binary", sparse.csr_array, kind="ones"),
    Layout("ones, fixed width", "fixed", sparse.csr_array, kind="ones"),
    Layout("ones unsorted", "binary", unsorted, kind="ones"),
    Layout("ones bool", "binary", lambda X: sparse.csr_array(X.astype(bool)), kind="ones"),
    Layout(
        "ones float32",
        "fixed",
        lambda X: sparse.csr_array(X.astype(np.float32)),
        np.float32,
        "ones",
    ),
    Layout("signed", "signs", signed_rows, kind="signed"),
]
