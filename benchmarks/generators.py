"""Seeded data with the shape of well-known problems, which nobody has to download.

`load(name, scale)` makes a data set, or takes it from benchmarks/results where it has been made
before; `scale` multiplies the number of rows.
"""

from __future__ import annotations

import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["DATA", "Data", "load"]

_FOLDER = Path(__file__).parent / "results" / "data"


@dataclass
class Data:
    """X (CSR or dense, float64), y (+-1) and what a reader wants to know of them."""

    name: str
    X: Any
    y: np.ndarray
    title: str

    @property
    def nnz(self) -> int:
        """Stored entries; for dense data all of them."""
        return self.X.nnz if sp.issparse(self.X) else self.X.size

    def describe(self) -> str:
        """Shape, entries and a checksum."""
        n, d = self.X.shape
        return (
            f"{self.title}: {n:,} rows, {d:,} columns, {self.nnz:,} entries, "
            f"checksum {self.checksum():08x}"
        )

    def checksum(self) -> int:
        """CRC-32 of all arrays."""
        parts = (self.X,) if isinstance(self.X, np.ndarray) else (
            self.X.data, self.X.indices, self.X.indptr)
        value = 0
        for part in (*parts, self.y):
            value = zlib.crc32(np.ascontiguousarray(part).view(np.uint8).reshape(-1), value)
        return value


def _zipf_columns(rng: np.random.Generator, size: int, d: int, exponent: float) -> np.ndarray:
    """Columns drawn with probability ~ 1 / (rank + 5)^exponent, frequent ones at random places."""
    cumulative = np.cumsum((np.arange(d) + 5.0) ** -exponent)
    ranks = np.searchsorted(cumulative / cumulative[-1], rng.random(size))
    return rng.permutation(d).astype(np.int32)[np.minimum(ranks, d - 1)]


def _words(rng: np.random.Generator, n: int, d: int, length: int, exponent: float) -> sp.csr_matrix:
    """Rows of unit length that hold log tf-idf of log-normally many words."""
    lengths = np.maximum(3, rng.lognormal(np.log(length), 0.5, n)).astype(np.int64)
    columns = _zipf_columns(rng, int(lengths.sum()), d, exponent)
    rows = np.repeat(np.arange(n, dtype=np.int32), lengths)
    X = sp.csr_matrix((np.ones(len(columns)), (rows, columns)), shape=(n, d))
    X.sum_duplicates()
    in_rows = np.bincount(X.indices, minlength=d)
    inverse = np.log((1.0 + n) / (1.0 + in_rows)) + 1.0
    X.data = (1.0 + np.log(X.data)) * inverse[X.indices]
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.where(norms == 0, 1.0, norms), np.diff(X.indptr))
    return X


def _halves(rng: np.random.Generator, score: np.ndarray, noise: float) -> np.ndarray:
    """+1 above the median score, -1 below, and a share of labels turned round."""
    y = np.where(score > np.median(score), 1.0, -1.0)
    return np.where(rng.random(len(y)) < noise, -y, y)


def _rcv1(n: int) -> tuple[Any, np.ndarray]:
    """Short texts over a common vocabulary."""
    rng = np.random.default_rng(1)
    X = _words(rng, n, 47_000, 95, 1.1)
    w = rng.normal(size=X.shape[1]) * (rng.random(X.shape[1]) < 0.3)
    return X, _halves(rng, X @ w, 0.05)


def _news20(n: int) -> tuple[Any, np.ndarray]:
    """Long texts, most of whose words are rare."""
    rng = np.random.default_rng(2)
    X = _words(rng, n, 1_300_000, 550, 1.0)
    return X, _halves(rng, X @ rng.normal(size=X.shape[1]), 0.03)


def _one_hot(n: int, d: int = 1_000_000, fields: int = 30) -> tuple[Any, np.ndarray]:
    """A log of categories: each of 30 columns has 2 to 330,000 values with log-uniform ranks."""
    rng = np.random.default_rng(3)
    sizes = np.unique(np.round(np.geomspace(2, d / 4, fields)).astype(np.int64))
    sizes = np.resize(sizes[::-1], fields)
    sizes = np.maximum(2, (sizes * (d / sizes.sum())).astype(np.int64))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.empty((n, fields), dtype=np.int32)
    for field, size in enumerate(sizes):
        level = (size ** rng.random(n) - 1).astype(np.int64)
        columns[:, field] = starts[field] + np.minimum(size - 1, level)
    bounds = np.arange(0, n * fields + 1, fields, dtype=np.int32)
    X = sp.csr_matrix((np.ones(n * fields), columns.ravel(), bounds), shape=(n, int(starts[-1])))
    p = 1.0 / (1.0 + np.exp(1.5 - X @ (0.4 * rng.normal(size=X.shape[1]))))
    return X, np.where(rng.random(n) < p, 1.0, -1.0)


def _dense(n: int, d: int = 100) -> tuple[Any, np.ndarray]:
    """Correlated columns of unit variance: ten common factors and noise in equal parts."""
    rng = np.random.default_rng(4)
    common = rng.normal(size=(n, 10)) @ rng.normal(size=(10, d)) / np.sqrt(10)
    X = np.sqrt(0.5) * rng.normal(size=(n, d)) + np.sqrt(0.5) * common
    X /= X.std(axis=0)
    w = rng.normal(size=d) * (rng.random(d) < 0.3)
    return X, _halves(rng, X @ w, 0.1)


# Name -> (title, rows at scale 1, recipe)
DATA = {
    "rcv1": ("rcv1-like", 200_000, _rcv1),
    "one-hot": ("one-hot", 1_000_000, _one_hot),
    "news20": ("news20-like", 20_000, _news20),
    "dense": ("dense", 200_000, _dense),
}


def load(name: str, scale: float = 1.0) -> Data:
    """Make a data set of `DATA`, or read it if it has been made before."""
    title, rows, recipe = DATA[name]
    n = max(100, int(rows * scale))
    path = _FOLDER / f"{name}-{n}.npz"
    if not path.exists():
        print(f"making {name} with {n:,} rows ...", file=sys.stderr, flush=True)
        X, y = recipe(n)
        _store(path, X, y)
    with np.load(path) as stored:
        y = stored["y"]
        if "dense" in stored:
            return Data(name, stored["dense"], y, title)
        indices, indptr = stored["indices"], stored["indptr"]
        data = stored["data"] if "data" in stored else np.ones(len(indices))
        X = sp.csr_matrix((data, indices, indptr), shape=tuple(stored["shape"]))
    return Data(name, X, y, title)


def _store(path: Path, X: Any, y: np.ndarray) -> None:
    """Keep a data set; ones need no values."""
    arrays = {"y": y}
    if sp.issparse(X):
        arrays |= {"indices": X.indices.astype(np.int32), "indptr": X.indptr.astype(np.int32),
                   "shape": np.array(X.shape)}
        if not (X.data == 1).all():
            arrays["data"] = X.data
    else:
        arrays["dense"] = X
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, **arrays)
    unfinished.replace(path)
