"""Classes whose rows all have weight 0 take no part in the training of a joint learner: it is that
of the other classes alone, as if those rows were not there, and gets its place for them afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._grow import grow_memories
from ._mistakes import grow_votes, starts_of

__all__ = ["narrowed", "numbers_among", "places_of_present", "widen", "widened_responses"]


def places_of_present(n_classes: int, absent: list) -> np.ndarray:
    """Numbers of the classes that take part."""
    return np.setdiff1d(np.arange(n_classes), absent)


def numbers_among(present: np.ndarray, n_classes: int) -> np.ndarray:
    """The number of each class among those that take part; any for the others, whose rows have
    weight 0."""
    return np.searchsorted(present, np.arange(n_classes)) % len(present)


def narrowed(start: Any, present: np.ndarray) -> Any:
    """(W, b) of the classes that take part; of two their difference, as one learner has it."""
    if start is None:
        return None
    W, b = start[0][present], start[1][present]
    return (W[1:] - W[:1], b[1:] - b[:1]) if len(present) == 2 else (W, b)


def widen(estimator: Any, classes: np.ndarray, present: np.ndarray) -> None:
    """Give a trained estimator its outputs for all classes."""
    signed = getattr(estimator, "optimizer", "") == "adam"
    starts = starts_of(estimator._memories)
    estimator._memories = grow_memories(
        estimator._memories, classes[present], classes, True, signed
    )
    if starts:
        grow_votes(estimator, starts, classes[present], classes, True)


def widened_responses(p: np.ndarray, n_classes: int, present: np.ndarray) -> np.ndarray:
    """Responses of the classes that take part, for all."""
    out = np.full((len(p), n_classes), -np.inf)
    out[:, present] = np.stack([-p / 2, p / 2], axis=1) if p.ndim == 1 else p
    return out
