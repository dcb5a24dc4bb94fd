"""Which models of a search are trained together in one call, by kind and by memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._exact_pass import fits_exactly_together
from ._folds import is_classifier
from ._memory import machine_bytes
from ._plan import Plan

__all__ = ["batches"]

# Models that share a pass over the data
_PASS = 16


def batches(jobs: list[Any], X: Any, keep: bool) -> Iterator[list[Any]]:
    """Yield jobs of one kind, as many at a time as memory allows; models that are not to be kept
    go with their pass, but for exact ones."""
    of_kind: dict[Any, list[Any]] = {}
    for job in jobs:
        learner = job.made()
        kind = learner._estimator_type, fits_exactly_together(learner)
        of_kind.setdefault(kind, []).append(job)
    for (_, are_exact), alike in of_kind.items():
        size = _batch_size(alike[0].group.plan, X, keep or are_exact) or len(alike)
        for start in range(0, len(alike), size):
            yield alike[start : start + size]


def _batch_size(plan: Plan, X: Any, keep: bool) -> int | None:
    """Return how many models memory holds; None if X does not tell its columns."""
    if len(getattr(X, "shape", ())) != 2:
        return None
    one = 8 * max(1, X.shape[0])  # which rows are its own, and what they are
    if keep:
        K = len(np.unique(plan.y)) if is_classifier(plan.estimator) else 1
        # an estimator keeps its weights, and what training would go on from
        one += 24 * X.shape[1] * (K if K > 2 else 1)
    limit = machine_bytes() // 4 if plan.memory_limit is None else plan.memory_limit
    return max(_PASS, limit // one // _PASS * _PASS)
