"""Hessians of K outputs put together of pairs of classes, by the difference of their responses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._blocks import rmatvec
from ._centred import gram
from ._core.rows import Rows

__all__ = ["joined_pairs", "pair"]


def pair(X: Rows, weight: np.ndarray, centre: np.ndarray, with_b: bool) -> np.ndarray:
    """sum_i weight_i x x^T for the rows x = (x_i - centre, 1), or without the 1."""
    part = gram(X, weight, centre)
    if not with_b:
        return part
    d, total = len(centre), float(weight.sum())
    out = np.empty((d + 1, d + 1))
    out[:d, :d] = part
    out[d, :d] = out[:d, d] = rmatvec(X, weight) - total * centre
    out[d, d] = total
    return out


def joined_pairs(K: int, size: int, l2: float, d: int,
                 part_of: Callable[[int, int], np.ndarray | None]) -> np.ndarray:
    """H[k, :, l, :] of the sum over pairs of classes of what `part_of` says that their difference
    bends (None for nothing), and of the penalty on the first d of `size` coordinates."""
    H = np.zeros((K, size, K, size))
    place = np.arange(d)
    for k in range(K):
        for other in range(k):
            part = part_of(k, other)
            if part is not None:
                H[k, :, k] += part
                H[other, :, other] += part
                H[k, :, other] = H[other, :, k] = -part
        H[k, place, k, place] += l2
    return H
