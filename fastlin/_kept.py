"""The arrays in a learner's memory, which may come from a file: checked before they are used."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["kept_array", "kept_weights"]


def kept_array(
    memory: dict[str, Any], name: str, shape: tuple[int, ...], wanted: bool, dtype: Any = np.float64
) -> np.ndarray:
    """An array of the memory, checked, since it may come from a file; zeros if there is none, or if
    it has come into use just now. An array that is not wanted may be empty."""
    kept = memory.get(name)
    empty = (*shape[:-1], 0)
    if kept is None:
        return np.zeros(shape if wanted else empty, dtype)
    fits = isinstance(kept, np.ndarray) and kept.dtype == dtype and kept.flags.c_contiguous
    if not fits or kept.shape not in (shape, empty):
        raise ValueError(
            f"The state of training is damaged: {name!r} must be an array of shape {shape} and "
            f"dtype {np.dtype(dtype)}; fit the model again."
        )
    return np.zeros(shape, dtype) if wanted and kept.shape == empty else kept


def kept_weights(memory: dict[str, Any], name: str, size: int, dtype: Any) -> np.ndarray:
    """The weights of the memory, whose number and type are those of all else; fresh ones are
    zeros."""
    if not memory:
        return np.zeros(size, dtype)
    weights = memory.get(name)
    kinds = (np.dtype(np.float32), np.dtype(np.float64))
    good = isinstance(weights, np.ndarray) and weights.ndim == 1 and weights.dtype in kinds
    if not good or len(weights) == 0:
        raise ValueError(
            f"The state of training is damaged: {name!r} must be a vector of weights; fit the "
            "model again."
        )
    return weights
