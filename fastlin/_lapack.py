"""LAPACK's routines and BLAS's product of matrices of any size, with an eye on Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._parallel import aside

__all__ = ["factored", "lapack", "matmul", "reflected"]

# Rows and columns from which a routine may take more than a tenth of a second
_LONG = 700
# The same for the multiplications of a product
_LONG_PRODUCT = 1e9


def lapack(routine: Callable[..., Any], matrix: np.ndarray, **options: Any) -> Any:
    """`routine(matrix, check_finite=False, **options)`; where it takes long, Ctrl-C is seen."""
    if min(matrix.shape) < _LONG:
        return routine(matrix, check_finite=False, **options)
    return aside(routine, matrix, check_finite=False, **options)


def factored(potrf: Callable[..., Any], matrix: np.ndarray,
             **options: Any) -> tuple[np.ndarray, int]:
    """(lower Cholesky factor, whether there is none, as a number) by a routine of LAPACK itself:
    around it scipy's checks take longer than the factor of a small matrix. Where it takes long,
    Ctrl-C is seen."""
    if len(matrix) < _LONG:
        return potrf(matrix, lower=1, clean=0, **options)
    return aside(potrf, matrix, lower=1, clean=0, **options)


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b; where it takes long, Ctrl-C is seen."""
    if a.size * b.shape[1] < _LONG_PRODUCT:
        return a @ b
    return aside(np.matmul, a, b)


def reflected(side: str, trans: str, reflections: np.ndarray, tau: np.ndarray,
              matrix: np.ndarray) -> np.ndarray:
    """Q (trans "N") or Q^T ("T") of LAPACK's geqrf times a matrix (side "L"), or the matrix times
    it ("R"); where it takes long, Ctrl-C is seen."""
    from scipy.linalg.lapack import dormqr

    given = side, trans, reflections, tau, matrix, 64 * max(matrix.shape)
    short = matrix.size * len(tau) < _LONG_PRODUCT
    out: np.ndarray = (dormqr(*given) if short else aside(dormqr, *given))[0]
    return out
