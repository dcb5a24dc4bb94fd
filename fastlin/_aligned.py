"""Arrays that begin at a line of the cache."""

from __future__ import annotations

import numpy as np

__all__ = ["LINE_BYTES", "aligned_zeros"]

LINE_BYTES = 64
# A huge page, what is worth pages of its own, and what allocators always get anew from the system,
# so that it is zero
_HUGE_PAGE, _WORTH_PAGES, _NEW = 1 << 21, 1 << 20, 1 << 25


def aligned_zeros(size: int, dtype: np.dtype) -> np.ndarray:
    """Zeros that begin at a line of the cache; if they are many, at a huge page.

    Memory that is touched first costs a fault per page, in a virtual machine some 2 us: of a fit of
    50 ms that touches 20 MB a fifth. numpy asks for huge pages, but none is made of one that lies
    within its memory only in part; what is not touched of this memory costs nothing."""
    n_bytes = size * dtype.itemsize
    if n_bytes < _WORTH_PAGES:
        raw, unit = np.zeros(n_bytes + LINE_BYTES, np.uint8), LINE_BYTES
    else:
        whole, unit = -(-n_bytes // _HUGE_PAGE) * _HUGE_PAGE, _HUGE_PAGE
        make = np.zeros if n_bytes > _NEW else np.empty
        raw = make(whole + _HUGE_PAGE, np.uint8)
    first = -raw.ctypes.data % unit
    zeros = raw[first : first + n_bytes]
    if _WORTH_PAGES <= n_bytes <= _NEW:
        zeros[:] = 0
    return zeros.view(dtype)
