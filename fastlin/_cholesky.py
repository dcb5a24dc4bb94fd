"""Solving with a symmetric positive matrix whose columns may be of very different lengths."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["cholesky"]

_EPS = float(np.finfo(np.float64).eps)


def cholesky(matrix: np.ndarray, l2: float) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """(how to solve with matrix + l2 I, its reciprocal condition number when scaled).

    The matrix is overwritten. A row of zeros solves to 0. Where it is singular up to rounding, its
    eigenvalues serve.
    """
    from scipy.linalg import cho_factor, cho_solve, eigh
    from scipy.linalg.lapack import dpocon

    matrix[np.diag_indices_from(matrix)] += l2
    size = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    matrix *= scale[:, None]
    matrix *= scale
    matrix[np.diag_indices_from(matrix)] = 1.0
    norm = float(np.abs(matrix).sum(axis=0).max())
    rcond = 0.0
    try:
        factor = cho_factor(matrix, lower=True, check_finite=False)
        rcond = float(dpocon(factor[0], norm, uplo="L")[0])
    except np.linalg.LinAlgError:
        pass
    if rcond <= len(matrix) * _EPS:
        values, vectors = eigh(matrix, check_finite=False)
        kept = values > len(values) * _EPS * values[-1]
        inverse = np.where(kept, 1.0, 0.0) / np.where(kept, values, 1.0)
        factors = (vectors * inverse, vectors.T)
        return lambda g: _scaled(scale, factors[0] @ (factors[1] @ _scaled(scale, g))), rcond

    def solve(g: np.ndarray) -> np.ndarray:
        """(matrix + l2 I)^-1 g, of a vector or of columns"""
        return _scaled(scale, cho_solve(factor, _scaled(scale, g), check_finite=False))

    return solve, rcond


def _scaled(scale: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Rows of g by their scales."""
    return (scale * g.T).T
