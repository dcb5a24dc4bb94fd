"""The kernels that learners take by name: samples on their way in, and blocks of Gram matrices.

A `Similarity` holds samples in a form of its own and answers for blocks of their Gram matrix. Rows
of numbers come through the door of all learners; strings, trees and what a callable takes are
lists.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar

import numpy as np

from . import kernels
from ._blocks import column_squares, rmatvec
from ._core.rows import Rows
from ._data import rows_of
from ._params import shown
from ._vectors import Vectors, dot_products, gaussian, in_triangle, polynomial

__all__ = ["NAMES", "Similarity", "samples_of", "scale_of", "similarity_of", "takes_rows"]

# Samples whose kernel with themselves is asked for at a time
_FEW = 16
_NO_VARIANCE = 1e-28


class Similarity:
    """A kernel of samples in lists; `function(S, T)` returns their Gram matrix, and T = None means
    S."""

    # rows that are worth making together; 0: any number
    together: ClassVar[int] = 8
    # whether a whole Gram matrix costs half of its rows one by one
    is_dear: ClassVar[bool] = True

    def __init__(self, function: Callable[..., Any], name: str, n_jobs: int | None = None):
        self.function, self.name, self.n_jobs = function, name, n_jobs

    def hold(self, samples: Any) -> Any:
        """The samples, as the other methods take them."""
        return samples

    def given(self, samples: Any) -> Any:
        """What `support_vectors_` shows, and `hold` takes: what the caller may change is copied."""
        if not isinstance(samples, list):
            return samples
        return [copy(one) if isinstance(one, (list, np.ndarray)) else one for one in samples]

    def count(self, samples: Any) -> int:
        """How many there are."""
        return samples.shape[0] if hasattr(samples, "shape") else len(samples)

    def taken(self, samples: Any, rows: np.ndarray) -> Any:
        """Some of the samples."""
        return samples[rows] if hasattr(samples, "shape") else [samples[i] for i in rows]

    def block(self, A: Any, rows: np.ndarray, B: Any,
              out: np.ndarray | None = None) -> np.ndarray:
        """K of some of the samples A with all samples B, where `out` may be the room for it."""
        return self._checked(self.function(self.taken(A, rows), B), len(rows), self.count(B))

    def gram(self, samples: Any) -> np.ndarray:
        """K of all pairs."""
        n = self.count(samples)
        return _symmetric(self._checked(self.function(samples, None), n, n), self.name)

    def diagonal(self, samples: Any) -> np.ndarray:
        """K of each sample with itself."""
        numbers = np.arange(self.count(samples))
        parts = [numbers[k : k + _FEW] for k in range(0, len(numbers), _FEW)]
        return np.concatenate([
            np.diagonal(self.block(some, np.arange(len(part)), some))
            for part in parts for some in [self.taken(samples, part)]
        ])  # fmt: skip

    def _checked(self, found: Any, n: int, m: int) -> np.ndarray:
        """A Gram matrix that a function returned."""
        try:
            if np.iscomplexobj(found):
                raise TypeError("complex ones are none of them")
            gram = np.ascontiguousarray(found, np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"kernel {self.name} must return real numbers: {error}.") from None
        if gram.shape != (n, m):
            raise ValueError(
                f"kernel {self.name} must return one number for each pair of samples, an array of "
                f"shape {(n, m)}, got one of shape {gram.shape}."
            )
        if not np.isfinite(gram).all():
            raise ValueError(f"kernel {self.name} must return finite numbers, got NaN or infinity.")
        return gram


class _OfVectors(Similarity):
    """linear, poly and rbf"""

    together, is_dear = 0, False

    def __init__(self, name: str, gamma: float, degree: int, coef0: float, n_jobs: int | None):
        super().__init__(self._block, repr(name), n_jobs)
        self.gamma, self.degree, self.coef0, self.kind = gamma, degree, coef0, name
        self.centre: np.ndarray | None = None
        self.is_first = True

    def hold(self, samples: Rows) -> Vectors:
        """Rows in double; the first that come are the centre of all."""
        if self.is_first and self.kind == "rbf" and samples.layout == "dense":
            self.centre = samples.values.reshape(samples.shape).mean(axis=0)
        self.is_first = False
        return Vectors(samples, self.centre)

    def given(self, samples: Vectors) -> Any:
        """An array or a CSR matrix."""
        X = samples.X
        # the caller's arrays may change while the model lives
        return X.values.reshape(X.shape).copy() if X.layout == "dense" else X.to_csr(copy=True)

    def count(self, samples: Vectors) -> int:
        """How many there are."""
        return len(samples)

    def taken(self, samples: Vectors, rows: np.ndarray) -> Vectors:
        """Some of the samples."""
        return samples.taken(rows)

    def _block(self, A: Vectors, rows: Any, B: Vectors, out: np.ndarray | None = None,
               begin: int = 0) -> np.ndarray:
        """K of some rows of A with those of B from one on."""
        if self.kind == "linear":
            return dot_products(A, rows, B, out, begin)
        if self.kind == "poly":
            return polynomial(A, rows, B, self.degree, self.gamma, self.coef0, begin)
        return gaussian(A, rows, B, self.gamma, out, begin)

    def block(self, A: Vectors, rows: np.ndarray, B: Vectors,
              out: np.ndarray | None = None) -> np.ndarray:
        """K of some of the samples A with all samples B, where `out` may be the room for it."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._checked(self._block(A, rows, B, out), len(rows), len(B))

    def gram(self, samples: Vectors) -> np.ndarray:
        """K of all pairs."""
        n = len(samples)
        samples.measure()  # before threads ask for it at once

        def block(rows: slice, begin: int) -> np.ndarray:
            with np.errstate(over="ignore", invalid="ignore"):
                found = self._block(samples, rows, samples, begin=begin)
            return self._checked(found, rows.stop - rows.start, n - begin)

        return in_triangle(block, n, self.n_jobs)

    def diagonal(self, samples: Vectors) -> np.ndarray:
        """K of each sample with itself."""
        if self.kind == "rbf":
            return np.ones(len(samples))
        if self.kind == "linear":
            return samples.squares
        with np.errstate(over="ignore", invalid="ignore"):
            powers = (self.gamma * samples.squares + self.coef0) ** self.degree
        return self._checked(powers[None], 1, len(samples))[0]


class _Precomputed(Similarity):
    """Rows of a Gram matrix: in `fit` square, and later with a column for each row of that."""

    def __init__(self, n_jobs: int | None):
        super().__init__(lambda S, T: S, "'precomputed'", n_jobs)

    def hold(self, samples: Rows) -> np.ndarray:
        """The matrix as an array."""
        return samples.values.reshape(samples.shape) if samples.layout == "dense" else (
            samples.toarray())

    def given(self, samples: Any) -> Any:
        """Nothing: there are no vectors."""
        return np.empty((0, 0))

    def gram(self, samples: np.ndarray) -> np.ndarray:
        """K of all pairs."""
        n, m = samples.shape
        if n != m:
            raise ValueError(
                f"X must be a square matrix for kernel 'precomputed', got shape {(n, m)}."
            )
        return _symmetric(samples, self.name)


def _symmetric(gram: np.ndarray, name: str) -> np.ndarray:
    """The same, if it is symmetric up to rounding."""
    size = np.abs(gram).max(initial=0.0)
    if np.abs(gram - gram.T).max(initial=0.0) > 1e-6 * size:
        raise ValueError(f"kernel {name} must be symmetric, but K(x, z) and K(z, x) differ.")
    return np.ascontiguousarray(gram)


_SEQUENCES = {
    "string": (kernels.string_subsequence_kernel, True),
    "spectrum": (kernels.spectrum_kernel, False),
    "tree": (kernels.tree_kernel, True),
}
NAMES = ("linear", "poly", "rbf", "precomputed", *_SEQUENCES)


def similarity_of(estimator: Any, gamma: float) -> Similarity:
    """The kernel that the parameters of an estimator name."""
    kernel, n_jobs = estimator.kernel, estimator.n_jobs
    more = dict(estimator.kernel_params or {})
    if callable(kernel):
        return Similarity(
            lambda S, T: kernel(S, S if T is None else T, **more),
            getattr(kernel, "__name__", shown(kernel)), n_jobs,
        )
    if kernel in _SEQUENCES:
        function, has_threads = _SEQUENCES[kernel]
        if has_threads:
            more.setdefault("n_jobs", n_jobs)
        try:
            function(["(S x)"], None, **more)
        except TypeError as error:
            raise ValueError(f"kernel_params does not suit kernel {kernel!r}: {error}.") from None
        return Similarity(lambda S, T: function(S, T, **more), repr(kernel), n_jobs)
    if more:
        raise ValueError(
            f"kernel_params is for kernel 'string', 'spectrum', 'tree' or a callable, got "
            f"{shown(more)} for {kernel!r}; use gamma, degree and coef0."
        )
    if kernel == "precomputed":
        return _Precomputed(n_jobs)
    return _OfVectors(kernel, gamma, estimator.degree, float(estimator.coef0), n_jobs)


def takes_rows(estimator: Any, X: Any) -> bool:
    """Whether X is a matrix, and no list of strings, trees or whatever a callable takes."""
    if not callable(estimator.kernel):
        return estimator.kernel not in _SEQUENCES
    shape = getattr(X, "shape", None)
    if shape is not None:
        return len(shape) == 2
    try:
        first = next(iter(X))
    except (TypeError, StopIteration):
        return True
    return not isinstance(first, (str, bytes)) and np.ndim(first) == 1 and all(
        isinstance(value, (int, float, np.number)) for value in first
    )


def samples_of(estimator: Any, X: Any, reset: bool) -> Any:
    """X, checked: `Rows` in double, an array or CSR matrix for a callable, or a list."""
    if not takes_rows(estimator, X):
        if isinstance(X, (str, bytes)) or not hasattr(X, "__iter__"):
            raise TypeError(f"X must be a list of samples, got {shown(X)}.")
        samples = list(X)
        if not samples:
            raise ValueError("0 sample(s) while a minimum of 1 is required.")
        return samples
    rows = rows_of(estimator, X, reset, np.float64)
    if not callable(estimator.kernel):
        return rows
    return rows.values.reshape(rows.shape) if rows.layout == "dense" else rows.to_csr()


def scale_of(gamma: Any, samples: Any, weight: np.ndarray | None) -> float:
    """gamma as a number: "scale" is 1 / (d var(X)), "auto" 1 / d. Weights count as repetitions."""
    if not isinstance(gamma, str):
        return float(gamma)
    if not isinstance(samples, Rows):
        return 1.0
    n, d = samples.shape
    if gamma == "auto":
        return 1.0 / d
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    mean = rmatvec(samples, share)
    # about the means of the columns, lest digits are lost where these are large
    within = _squares_about(samples, share, mean)
    variance = float((within + (mean - mean.mean()) ** 2).mean())
    # what rounding leaves of equal numbers is no variance
    return 1.0 / (d * variance) if variance > _NO_VARIANCE * float((mean * mean).mean()) else 1.0


def _squares_about(X: Rows, share: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """sum_i share_i (x_ij - mean_j)^2 of each column j"""
    if X.layout == "dense":
        return share @ (X.values.reshape(X.shape) - mean) ** 2
    return np.maximum(column_squares(X, share) - mean * mean, 0.0)
