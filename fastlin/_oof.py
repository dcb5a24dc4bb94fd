"""The honest score that comes with a model: what `fit(..., cv=5)` adds."""

from __future__ import annotations

from typing import Any

__all__ = ["set_out_of_fold"]

_SET = ("oof_decision_", "score_cv_")


def set_out_of_fold(estimator: Any, X: Any, y: Any, sample_weight: Any, cv: Any) -> None:
    """Set `oof_decision_` and `score_cv_` by cross-validation of clones.

    Parameters
    ----------
    estimator : estimator
        About to be fitted on the same data. Its clones begin without weights.
    X : Rows
        The data.
    y : ndarray of shape (n_samples,)
        The target.
    sample_weight : ndarray of shape (n_samples,) or None
        Used to train and to score.
    cv : int, splitter, iterable or None
        As in `cross_validate`, but each row must be tested once. None removes what an earlier call
        has set.
    """
    for name in _SET:
        vars(estimator).pop(name, None)
    if cv is None:
        return
    from ._clone import clone
    from ._cross_val import held_out
    from ._folds import is_classifier, splits_of
    from ._scored import scores_of
    from ._scoring import Scorers

    fresh = clone(estimator)
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    answers, outcomes = held_out(
        fresh,
        X,
        y,
        splits_of(cv, fresh, X, y, {}),
        "decision_function" if is_classifier(fresh) else "predict",
        scorers=Scorers(fresh, None, "raise"),
        fit_params=weight,
        score_params=weight,
        n_jobs=getattr(fresh, "n_jobs", None),
    )
    estimator.oof_decision_ = answers
    estimator.score_cv_ = float(scores_of(outcomes)["score"].mean())
