"""What is to be fitted and scored, and what became of it: points of a grid x splits of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._clone import clone, cloned_params
from ._folds import Splits
from ._scoring import Scorers
from ._splitters import n_rows, take

__all__ = ["Outcome", "Plan", "rows_of_params"]


@dataclass
class Outcome:
    """What became of one point of the grid on one split."""

    candidate: int
    split: int
    scores: dict[str, float] | None = None
    train_scores: dict[str, float] | None = None
    fit_time: float = 0.0
    score_time: float = 0.0
    failure: Exception | None = None
    estimator: Any = None
    answers: Any = None
    classes: Any = None


@dataclass
class Plan:
    """What is to be fitted on what, and what is to be kept of it.

    Attributes
    ----------
    candidates : list of dict
        Parameters to set, one dict for each point of the grid.
    scorers : Scorers or None
        None leaves scores out.
    method : str or None
        Method whose answers to the test rows are kept.
    keep : bool
        Whether fitted estimators are kept.
    """

    estimator: Any
    candidates: list[dict[str, Any]]
    splits: Splits
    X: Any
    y: Any
    scorers: Scorers | None = None
    fit_params: dict[str, Any] = field(default_factory=dict)
    score_params: dict[str, Any] = field(default_factory=dict)
    train_scores: bool = False
    method: str | None = None
    keep: bool = False
    n_jobs: int | None = None
    memory_limit: int | None = None
    verbose: int = 0

    def made(self, candidate: int) -> Any:
        """Return a fresh estimator with the parameters of a point of the grid."""
        params = cloned_params(self.candidates[candidate])
        estimator = clone(self.estimator)
        return estimator.set_params(**params) if params else estimator

    @property
    def needs_responses_only(self) -> bool:
        """Whether scores are computed from predictions, decisions or probabilities, if at all."""
        return self.scorers is None or self.scorers.need_responses_only()

    @property
    def raises(self) -> bool:
        """Whether a failed fit ends everything."""
        return self.scorers is None or self.scorers.error_score == "raise"


def _is_per_row(value: Any, n: int) -> bool:
    """Say whether an argument of `fit` has one value for each row."""
    if isinstance(value, (list, tuple)) or hasattr(value, "iloc"):
        return len(value) == n
    return len(getattr(value, "shape", ())) > 0 and n_rows(value) == n


def rows_of_params(params: dict[str, Any], rows: np.ndarray, n: int) -> dict[str, Any]:
    """Return arguments with those that have one value for each row cut to some rows."""
    return {
        name: take(np.asarray(value) if isinstance(value, (list, tuple)) else value, rows)
        if _is_per_row(value, n)
        else value
        for name, value in params.items()
    }
