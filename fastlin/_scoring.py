"""Scorers: functions of (fitted estimator, X, y), alone or several by name.

scikit-learn's scorers are taken as they are. The names of `_metrics.METRICS` need no
scikit-learn, and since they ask for predictions, decision values or probabilities only, they can
be computed from responses that are there already.
"""

from __future__ import annotations

import inspect
import numbers
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._exceptions import warn
from ._labels import fractions
from ._metrics import METRICS, OF_NUMBERS, score_labels, score_shares
from ._multilabel import is_multilabel
from ._params import shown
from ._routing import routing_is_on
from ._targets import listed
from ._validation import check_sample_weight

__all__ = ["Scorers"]


class EstimatorScore:
    """The estimator's own `score`."""

    def __init__(self, estimator: Any):
        if not hasattr(estimator, "score"):
            raise TypeError(f"{shown(estimator)} has no score: pass scoring.")
        self.estimator = estimator

    def __call__(self, estimator: Any, X: Any, y: Any = None, **params: Any) -> Any:
        return estimator.score(X, **params) if y is None else estimator.score(X, y, **params)

    def __repr__(self) -> str:
        return f"{type(self.estimator).__name__}.score"

    def _accept_sample_weight(self) -> bool:
        """Say whether the score can be weighted."""
        return "sample_weight" in inspect.signature(self.estimator.score).parameters

    def get_metadata_routing(self) -> Any:
        """Return what the estimator asks for; only scikit-learn calls this."""
        from sklearn.utils.metadata_routing import get_routing_for_object

        return get_routing_for_object(self.estimator)


class NamedScore:
    """A score of `METRICS`."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        method, score = METRICS[self.name]
        if self.name not in OF_NUMBERS and is_multilabel(y):
            table = fractions(y)
            if table is not None:
                return score_shares(self.name, estimator, X, table, sample_weight)
            return score_labels(self.name, estimator, X, y, sample_weight)
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, len(y))
        if method == "predict":
            y, predicted = np.asarray(y), estimator.predict(X)
            if self.name not in OF_NUMBERS and (_is_continuous(y) or _is_continuous(predicted)):
                raise ValueError(
                    f"scoring={self.name!r} compares classes, but "
                    f"{'y' if _is_continuous(y) else shown(estimator) + '.predict'} has numbers "
                    "that are not whole; pass scoring='r2', or a classifier."
                )
            return score(y, predicted, sample_weight)
        if hasattr(estimator, method):
            answers = getattr(estimator, method)(X)
        elif method == "decision_function" and hasattr(estimator, "predict_proba"):
            answers = estimator.predict_proba(X)
            answers = answers[:, 1] if answers.shape[1] == 2 else answers
        else:
            raise TypeError(
                f"scoring={self.name!r} needs {method}, which {shown(estimator)} lacks."
            )
        return score(y, answers, estimator.classes_, sample_weight)

    def __repr__(self) -> str:
        return f"NamedScore({self.name!r})"

    def _accept_sample_weight(self) -> bool:
        """Say that the score can be weighted."""
        return True


def _is_continuous(values: np.ndarray) -> bool:
    """Whether values are numbers that are not whole, which stand for no class."""
    return values.dtype.kind == "f" and bool((values != np.trunc(values)).any())


def _scorer(estimator: Any, scoring: Any) -> Callable:
    """Return one scorer."""
    if scoring is None:
        return EstimatorScore(estimator)
    if callable(scoring):
        return scoring
    metrics = sys.modules.get("sklearn.metrics")
    if isinstance(scoring, str):
        # under routing a scorer has to be able to ask for weights, which those of scikit-learn are
        if scoring in METRICS and not (metrics is not None and routing_is_on()):
            return NamedScore(scoring)
        if metrics is not None and scoring in metrics.get_scorer_names():
            return metrics.get_scorer(scoring)
    raise ValueError(
        f"scoring must be None, a function of (estimator, X, y), or one of {listed([*METRICS], 99)}"
        f", got {shown(scoring)}; for scikit-learn's other names import sklearn.metrics first."
    )


def _named(estimator: Any, scoring: Any) -> dict[str, Callable]:
    """Return several scorers by name."""
    if isinstance(scoring, Mapping):
        pairs = list(scoring.items())
    else:
        pairs = [(name, name) for name in scoring]
        if len({name for name, _ in pairs if isinstance(name, str)}) < len(pairs):
            raise ValueError(
                f"scoring must be a list of different names, got {shown(scoring)}; functions go "
                "into a dict from name to function."
            )
    if not pairs:
        raise ValueError("scoring must not be empty; pass None for the estimator's own score.")
    wrong = [name for name, _ in pairs if not isinstance(name, str)]
    if wrong:
        raise ValueError(f"scoring must be a dict whose keys are strings, got {shown(wrong[0])}.")
    return {name: _scorer(estimator, one) for name, one in pairs}


class Scorers:
    """What `scoring` stands for.

    Attributes
    ----------
    by_name : dict of str to callable
        One scorer goes by the name "score".
    is_multiple : bool
        Whether names were given. A function may still return a dict of scores.
    """

    def __init__(self, estimator: Any, scoring: Any, error_score: Any):
        if error_score != "raise" and not isinstance(error_score, numbers.Real):
            raise ValueError(f"error_score must be a number or 'raise', got {shown(error_score)}.")
        self.error_score = error_score
        self.is_multiple = isinstance(scoring, (Mapping, list, tuple, set))
        if self.is_multiple:
            self.by_name = _named(estimator, scoring)
        else:
            self.by_name = {"score": _scorer(estimator, scoring)}

    @property
    def public(self) -> Any:
        """The scorer, or the dict of several."""
        return self.by_name if self.is_multiple else self.by_name["score"]

    def may_return_several(self) -> bool:
        """Say whether only a call can tell the names of the scores."""
        return not self.is_multiple and not self.need_responses_only()

    def need_responses_only(self) -> bool:
        """Say whether all scores are computed from predictions, decisions or probabilities."""
        return all(isinstance(one, (EstimatorScore, NamedScore)) for one in self.by_name.values())

    def ask_methods_only(self) -> bool:
        """Say whether no scorer is a user's function, which may look at more of an estimator."""
        metrics = sys.modules.get("sklearn.metrics._scorer")
        known = (EstimatorScore, NamedScore, *filter(None, [getattr(metrics, "_BaseScorer", None)]))
        return all(isinstance(one, known) for one in self.by_name.values())

    def accepts_weight(self, owner: str) -> bool:
        """Say whether some scorer takes sample_weight; warn of those that do not."""
        accepting = False
        for name, one in self.by_name.items():
            ask = getattr(one, "_accept_sample_weight", None)
            accepts = ask() if ask else "sample_weight" in inspect.signature(one).parameters
            accepting |= accepts
            if not accepts:
                what = f"{name}={one}" if self.is_multiple else one
                warn(
                    "UserWarning",
                    f"The scoring {what} does not support sample_weight: {owner} trains with "
                    "weights and scores without.",
                )
        return accepting

    def __call__(self, estimator: Any, X: Any, y: Any, params: dict[str, Any]) -> dict[str, float]:
        """Return the scores by name; a failure is `error_score` and a warning, or raised."""
        scores: dict[str, float] = {}
        for name, own in self._params_by_name(params).items():
            scorer = self.by_name[name]
            try:
                value = scorer(estimator, X, **own) if y is None else scorer(estimator, X, y, **own)
            except Exception as error:
                if self.error_score == "raise":
                    raise
                warn(
                    "UserWarning",
                    f"Scoring failed with {type(error).__name__}: {error} The score is set to "
                    f"{self.error_score!r}; error_score='raise' shows where.",
                )
                value = float(self.error_score)
            if isinstance(value, dict) and not self.is_multiple:
                return {key: _number(one, key) for key, one in value.items()}
            scores[name] = _number(value, scorer)
        return scores

    def _params_by_name(self, params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the arguments of each scorer."""
        if not params:
            return {name: {} for name in self.by_name}
        if routing_is_on():
            if not self.is_multiple:
                return {"score": params}
            from sklearn.utils.metadata_routing import process_routing

            routed = process_routing(self, "score", **params)
            return {name: routed[name]["score"] for name in self.by_name}
        own = {}
        for name, one in self.by_name.items():
            ask = getattr(one, "_accept_sample_weight", None)
            own[name] = params if ask is None or ask() else {}
        return own

    def get_metadata_routing(self) -> Any:
        """Return what the scorers ask for; only scikit-learn calls this."""
        from sklearn.utils.metadata_routing import (
            MetadataRouter,
            MethodMapping,
            get_routing_for_object,
        )

        if not self.is_multiple:
            return get_routing_for_object(self.by_name["score"])
        mapping = MethodMapping().add(caller="score", callee="score")
        return MetadataRouter(owner="scoring").add(method_mapping=mapping, **self.by_name)


def _number(value: Any, scorer: Any) -> float:
    """Return a score as a number."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not isinstance(value, numbers.Number):
        raise ValueError(
            f"scoring must return a number, got {shown(value)} ({type(value).__name__}) from "
            f"{scorer}."
        )
    return value.item() if hasattr(value, "item") else value
