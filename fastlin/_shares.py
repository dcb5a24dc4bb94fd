"""Soft labels: a distribution over the classes for each row, in place of one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Shares", "shares_of"]

# By so much the shares of a row may miss 1: float32 and rounded decimals
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Shares:
    """shares[i, k] is the share of class k in row i; each row sums to about 1."""

    table: np.ndarray

    def __len__(self) -> int:
        return len(self.table)


def shares_of(y: Any) -> Shares | None:
    """Soft labels, if y is a matrix of such: fractions that sum to 1 in each row."""
    if isinstance(y, (list, tuple)):
        if not len(y) or not isinstance(y[0], (list, tuple, np.ndarray)):
            return None
    elif len(getattr(y, "shape", ())) != 2 or hasattr(y, "tocsr"):
        return None
    try:
        table = np.asarray(y)
    except ValueError:
        return None  # rows of different lengths
    if table.dtype.kind != "f" or table.ndim != 2 or table.shape[1] < 2 or not len(table):
        return None
    table = table.astype(np.float64)
    sums = table.sum(axis=1)
    # matrices of zeros and ones are labels
    fractions = ((table > 0) & (table < 1)).any()
    if not fractions or not (table >= 0).all() or not (np.abs(sums - 1) <= _ROUNDING).all():
        return None
    return Shares(table)
