"""What all that scores models by cross-validation shares: from arguments to outcomes and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._exceptions import warn
from ._folds import checked_data, is_classifier, splits_of, warn_of_absent_classes
from ._folds_run import run
from ._params import Boolean, Either, Instance, Integer, OneOf
from ._plan import Outcome, Plan
from ._routed import routed
from ._scoring import Scorers

__all__ = ["PRE_DISPATCH", "check_run_options", "finish_failures", "run_scored", "scores_of"]

PRE_DISPATCH = Either(Integer(1), Instance(str), OneOf(None))


def check_run_options(verbose: Any, pre_dispatch: Any, default: str = "2*n_jobs") -> None:
    """Check the two, and say that the latter has no effect if it was set."""
    Either(Integer(0), Boolean()).check("verbose", verbose)
    PRE_DISPATCH.check("pre_dispatch", pre_dispatch)
    if pre_dispatch != default:
        warn(
            "UserWarning",
            f"pre_dispatch={pre_dispatch!r} has no effect: threads share the data, so no copies of "
            "it wait for them.",
        )


def run_scored(
    caller: str,
    estimator: Any,
    X: Any,
    y: Any,
    candidates: list[dict[str, Any]],
    groups: Any,
    scorers: Scorers,
    cv: Any,
    n_jobs: int | None,
    verbose: int,
    params: dict[str, Any] | None,
    pre_dispatch: Any,
    **more: Any,
) -> tuple[Plan, list[Outcome]]:
    """Fit and score points of a grid, as one of the functions of `model_selection`."""
    check_run_options(verbose, pre_dispatch)
    X, y = checked_data(X, y)
    arguments = routed(caller, estimator, cv, scorers, params, groups)
    splits = splits_of(cv, estimator, X, y, arguments.split)
    if y is not None and is_classifier(estimator):
        warn_of_absent_classes(y, splits)
    plan = Plan(
        estimator, candidates, splits, X, y, scorers, arguments.fit, arguments.score,
        n_jobs=n_jobs, verbose=verbose, **more,
    )  # fmt: skip
    outcomes = run(plan)
    finish_failures(outcomes, scorers)
    return plan, outcomes


def finish_failures(outcomes: list[Outcome], scorers: Scorers) -> None:
    """Give failed fits their score, with one warning; raise if there are no others."""
    failures = [outcome for outcome in outcomes if outcome.failure is not None]
    if not failures:
        return
    first = failures[0].failure
    text = f"{len(failures)} of {len(outcomes)} fits failed, the first with: {first}"
    if len(failures) == len(outcomes):
        raise ValueError(text) from first
    value = float(scorers.error_score)
    names = next(outcome.scores for outcome in outcomes if outcome.failure is None)
    for outcome in failures:
        outcome.scores = dict.fromkeys(names, value)
        outcome.train_scores = dict.fromkeys(names, value)
    warn("FitFailedWarning", f"{text.rstrip('.')}. Their scores are {value!r}.")


def scores_of(outcomes: list[Outcome], train: bool = False) -> dict[str, np.ndarray]:
    """Return the scores of all outcomes by name."""
    found = [outcome.train_scores if train else outcome.scores for outcome in outcomes]
    names = found[0]
    odd = next((scores for scores in found if set(scores) != set(names)), None)
    if odd is not None:
        raise ValueError(
            f"scoring must give the same scores each time, got {sorted(names)} and {sorted(odd)}."
        )
    return {name: np.array([scores[name] for scores in found], np.float64) for name in names}
