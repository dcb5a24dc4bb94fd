"""Arrays that begin at a line of the cache."""

from __future__ import annotations

import numpy as np

__all__ = ["LINE_BYTES", "aligned_zeros"]

LINE_BYTES = 64


def aligned_zeros(size: int, dtype: np.dtype) -> np.ndarray:
    """Zeros that begin at a line of the cache."""
    raw = np.zeros(size * dtype.itemsize + LINE_BYTES, np.uint8)
    first = -raw.ctypes.data % LINE_BYTES
    return raw[first : first + size * dtype.itemsize].view(dtype)
