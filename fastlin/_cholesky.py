"""Solving with a symmetric positive matrix whose columns may be of very different lengths."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._centred import Centred, blocks
from ._lapack import factored, lapack

__all__ = ["cholesky", "rough_inverse"]

_EPS = float(np.finfo(np.float64).eps)


def cholesky(matrix: np.ndarray, l2: float) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """(how to solve with matrix + l2 I, its reciprocal condition number when scaled).

    The matrix is overwritten. A row of zeros solves to 0. Where it is singular up to rounding, its
    eigenvalues serve.
    """
    from scipy.linalg import eigh
    from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

    diagonal = np.einsum("ii->i", matrix)  # a view, which may be written to
    diagonal += l2
    size = np.sqrt(np.maximum(diagonal, 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    matrix *= scale[:, None]
    matrix *= scale
    diagonal[:] = 1.0
    norm = float(np.abs(matrix).sum(axis=0).max())
    factor, refused = factored(dpotrf, matrix)
    rcond = 0.0 if refused else float(dpocon(factor, norm, uplo="L")[0])
    if rcond <= len(matrix) * _EPS:
        values, vectors = lapack(eigh, matrix)
        kept = values > len(values) * _EPS * values[-1]
        inverse = np.where(kept, 1.0, 0.0) / np.where(kept, values, 1.0)
        factors = (vectors * inverse, vectors.T)
        return lambda g: _scaled(scale, factors[0] @ (factors[1] @ _scaled(scale, g))), rcond

    def solve(g: np.ndarray) -> np.ndarray:
        """(matrix + l2 I)^-1 g, of a vector or of columns"""
        solved = dpotrs(factor, _scaled(scale, g), lower=1)[0]
        return _scaled(scale, solved.reshape(g.shape))

    return solve, rcond


def rough_inverse(rows: Centred, l2: float) -> Callable[[np.ndarray], np.ndarray] | None:
    """About (A^T A + l2 I)^-1, by a factor in single precision at half the price, or None where it
    can't be made: A holds the rows of `Centred.dense`."""
    from scipy.linalg import cho_factor, cho_solve

    d = rows.X.shape[1]
    scale = 1.0 / np.sqrt(rows.spread**2 + l2)
    matrix = np.zeros((d, d), np.float32)
    for _, block in blocks(rows.X, rows.share, rows.centre):
        block *= scale
        part = block.astype(np.float32)
        matrix += part.T @ part
    matrix[np.diag_indices(d)] += (l2 * scale * scale).astype(np.float32)
    try:
        factor = lapack(cho_factor, matrix, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError:
        return None

    def inverse(r: np.ndarray) -> np.ndarray:
        """The product; r is scaled, lest it be too small or too large."""
        part = scale * r
        size = float(np.abs(part).max(initial=0.0)) or 1.0
        found = cho_solve(factor, (part / size).astype(np.float32), check_finite=False)
        return size * scale * found

    return inverse


def _scaled(scale: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Rows of g by their scales."""
    return (scale * g.T).T
