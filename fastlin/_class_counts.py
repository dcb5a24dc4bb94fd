"""How many rows of each class there are among some: one read, without a copy of their classes."""

from __future__ import annotations

import numpy as np

from ._core import counts as _counts

__all__ = ["members_per_class", "rows_per_class"]


def members_per_class(codes: np.ndarray, member: np.ndarray, n_classes: int) -> np.ndarray:
    """Counts of the rows that a mask names; `codes` are the int32 numbers of all rows' classes."""
    counts = np.zeros(n_classes, np.int64)
    _counts.members_per_class(codes, member.view(np.uint8), counts)
    return counts


def rows_per_class(codes: np.ndarray, rows: np.ndarray, n_classes: int) -> np.ndarray:
    """Counts of the rows that are given by their int64 numbers."""
    counts = np.zeros(n_classes, np.int64)
    _counts.rows_per_class(codes, rows, counts)
    return counts
