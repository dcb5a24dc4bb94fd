"""Splitting rows at random, stratified by class where there are classes."""

from __future__ import annotations

import numpy as np

from ._core import order as _order

__all__ = ["split_rows"]


def split_rows(
    rows: np.ndarray, fraction: float, codes: np.ndarray | None, seed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(rows to train on, rows held out), both sorted.

    Parameters
    ----------
    rows : ndarray of int64
        The rows to split.
    fraction : float
        Share of each class, or of all rows, to hold out; at least one row stays on either side.
    codes : ndarray of int or None
        Class of every row of the data; a class with one row stays in training.
    seed : ndarray of four uint64
        State of the generator.
    """
    groups = [rows] if codes is None else [rows[codes[rows] == k] for k in np.unique(codes[rows])]
    held_out = []
    for group in groups:
        shuffled = group.copy()
        _order.shuffle_all(shuffled, seed)
        held_out.append(shuffled[: int(round(fraction * len(shuffled)))])
    test = np.sort(np.concatenate(held_out))
    if len(test) == 0 or len(test) == len(rows):
        raise ValueError(
            f"validation_fraction={fraction!r} of {len(rows)} rows leaves no rows to "
            f"{'validate' if len(test) == 0 else 'train'} on; change it or set "
            "early_stopping=False."
        )
    return np.setdiff1d(rows, test, assume_unique=True), test
