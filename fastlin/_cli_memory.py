"""Whether the weights of a model fit into memory: one large index in a file asks for gigabytes."""

from __future__ import annotations

from typing import Any

from ._cli_terminal import UsageError
from ._memory import available_memory, spelt_size
from ._parallel import n_threads

__all__ = ["refuse_too_large_model"]

def refuse_too_large_model(
    learner: Any, n_columns: int, n_classes: int, n_folds: int, name: str, remedy: str
) -> None:
    """Raise before training takes more memory than there is.

    Parameters
    ----------
    learner : estimator
        With float64 data: its weights and `coef_`, the sums of averaging, what of L1 is paid.
    n_columns, n_classes : int
        2 classes, or the 0 of regression, have one vector of weights.
    n_folds : int
        Models that are to be trained; `n_jobs` of them at a time.
    name, remedy : str
        The file's name, and what else to do about it.
    """
    averages = getattr(learner, "average", False)
    vectors = 2 + bool(averages) + (getattr(learner, "penalty", None) in ("l1", "elasticnet"))
    at_once = min(n_threads(getattr(learner, "n_jobs", None)), max(n_folds, 1))
    outputs = n_classes if n_classes > 2 else 1
    one, free = 8 * n_columns * outputs * at_once, available_memory()
    needed = one * vectors
    if free is None or needed <= free:
        return
    helps = averages and needed - one <= free
    averaging = ", or say --no-average" if helps else ""
    raise UsageError(
        f"{name} has {n_columns:,} columns: training needs {spelt_size(needed)} of memory, of "
        f"which {spelt_size(free)} are available; {remedy}{averaging}."
    )
