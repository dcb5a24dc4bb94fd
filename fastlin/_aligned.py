"""Arrays that begin at a line of the cache, or at a huge page."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

__all__ = ["LINE_BYTES", "aligned_zeros", "huge_empty", "huge_zeros"]

LINE_BYTES = 64
# A huge page, what is worth pages of its own, and what allocators always get anew from the system,
# so that it is zero
_HUGE_PAGE, _WORTH_PAGES, _NEW = 1 << 21, 1 << 20, 1 << 25


def aligned_zeros(size: int, dtype: np.dtype) -> np.ndarray:
    """Zeros that begin at a line of the cache."""
    return _at_unit(np.zeros, LINE_BYTES, size * dtype.itemsize).view(dtype)


def huge_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Memory that begins at a huge page if it is much, and ends with one; parts of it have a vector
    of just its size as their base.

    Memory that is touched first costs a fault per page, in a virtual machine some 2 us: of a fit of
    50 ms that touches 20 MB a fifth. numpy asks for huge pages, but none is made of one that lies
    within its memory only in part."""
    n_bytes = math.prod(shape) * dtype.itemsize
    if n_bytes < _HUGE_PAGE:  # what is around it would be more than it is
        return np.empty(math.prod(shape), dtype).reshape(shape)
    # the base of an array would be handed on, other memory is not
    return np.frombuffer(memoryview(_at_unit(np.empty, _HUGE_PAGE, n_bytes)), dtype).reshape(shape)


def huge_zeros(size: int, dtype: np.dtype) -> np.ndarray:
    """`aligned_zeros` that begin at a huge page if they are many, and end with one."""
    n_bytes = size * dtype.itemsize
    if n_bytes < _WORTH_PAGES:
        return aligned_zeros(size, dtype)
    if n_bytes > _NEW:
        return _at_unit(np.zeros, _HUGE_PAGE, n_bytes).view(dtype)
    # of memory that is not new, only what is used is to be set
    zeros = _at_unit(np.empty, _HUGE_PAGE, n_bytes).view(dtype)
    zeros[:] = 0
    return zeros


def _at_unit(make: Callable[..., np.ndarray], unit: int, n_bytes: int) -> np.ndarray:
    """So many bytes that begin at a multiple of the unit, with whole ones behind them."""
    raw = make((-(-n_bytes // unit) + 1) * unit, np.uint8)
    first = -raw.ctypes.data % unit
    return raw[first : first + n_bytes]
