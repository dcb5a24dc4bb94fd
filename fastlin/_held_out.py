"""Leave-one-out of the searches, where an estimator has it in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._plan import Plan
from ._splitters import n_rows

__all__ = ["held_out_answers", "is_leave_one_out"]


def is_leave_one_out(plan: Plan) -> bool:
    """Whether each split tests one row, and trains on all others."""
    n = len(plan.splits)
    if plan.y is None or n_rows(plan.y) != n:
        return False
    total = n * (n - 1) // 2
    # distinct rows that rise and lack one: their sum says which
    return all(
        len(test) == 1 and len(train) == n - 1 and (np.diff(train) > 0).all()
        and int(train.sum()) + int(test[0]) == total
        for train, test in plan.splits
    )


def held_out_answers(learner: Any, X: Any, y: Any, fit_params: dict[str, Any]
                     ) -> np.ndarray | None:
    """The answer to each row of this learner trained without it; None if only fits can tell.

    What is not valid is left to `fit`, which says so.
    """
    if not hasattr(learner, "_held_out") or not set(fit_params) <= {"sample_weight"}:
        return None
    try:
        return learner._held_out(X, y, fit_params.get("sample_weight"))
    except (TypeError, ValueError):
        return None
