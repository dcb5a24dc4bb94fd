"""The steps of a pipeline before its last: run once for all models that need the same.

A stateless step (its `fit` learns nothing) gives each row what it would give it in any fold, so it
runs once, on all rows. Any other step is fitted on the training rows of each fold, once for all
points of a grid that have the same parameters in these steps; it never sees a row held out.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

from ._delegation import passes
from ._routing import routing_is_on
from .categories import OneHotEncoder
from .pipeline import Pipeline

__all__ = ["Steps", "is_stateless", "steps_key", "steps_of"]


@dataclass
class Steps:
    """A pipeline taken apart.

    Attributes
    ----------
    pipeline : Pipeline
        Ours or scikit-learn's.
    stateless, stateful : list of (name, estimator)
        The steps before the last that do something; no stateless one comes after a stateful one.
    last : (name, estimator)
        The learner.
    fit_params : dict of str to dict
        Arguments of `fit` by step.
    """

    pipeline: Any
    stateless: list[tuple[str, Any]]
    stateful: list[tuple[str, Any]]
    last: tuple[str, Any]
    fit_params: dict[str, dict[str, Any]] = field(default_factory=dict)


def _is_of_sklearn(estimator: Any, module: str, name: str) -> bool:
    """Say whether an estimator is exactly of a class of scikit-learn."""
    cls = getattr(sys.modules.get(f"sklearn.{module}"), name, None)
    return cls is not None and type(estimator) is cls


def is_stateless(step: Any) -> bool:
    """Say whether a transformer learns nothing from the rows that it is fitted on.

    It says so itself, by `_is_stateless` or the tag `requires_fit`, or is a one-hot encoder that
    was given its categories. scikit-learn's FunctionTransformer has the tag, but its function may
    look at all rows that it gets; and what works in place must not be given the caller's rows.
    """
    if getattr(step, "copy", True) is False:
        return False
    own = getattr(step, "_is_stateless", None)
    if own is not None:
        return bool(own() if callable(own) else own)
    if type(step) is OneHotEncoder or _is_of_sklearn(step, "preprocessing", "OneHotEncoder"):
        given = not isinstance(step.categories, str)
        return given and step.min_frequency is None and step.max_categories is None
    if _is_of_sklearn(step, "preprocessing", "FunctionTransformer"):
        return False
    if hasattr(step, "_merged_tags"):
        return not step._merged_tags()["requires_fit"]
    if "sklearn" in sys.modules and hasattr(step, "__sklearn_tags__"):
        return not step.__sklearn_tags__().requires_fit
    return False


def steps_of(estimator: Any, fit_params: dict[str, Any]) -> Steps | None:
    """Return a pipeline taken apart; None for whatever has to be fitted as a whole."""
    if fit_params and routing_is_on():
        return None  # it knows which step asks for what
    if type(estimator) is not Pipeline:
        if not _is_of_sklearn(estimator, "pipeline", "Pipeline") or routing_is_on():
            return None
        unusual = (estimator.memory, getattr(estimator, "transform_input", None))
        if any(value is not None for value in unusual) or estimator.verbose:
            return None
    try:
        steps = [(name, step) for name, step in estimator.steps if not passes(step)]
        names = [name for name, _ in estimator.steps]
    except (TypeError, ValueError):
        return None  # its own fit says what is wrong
    if not steps or passes(estimator.steps[-1][1]) or len(set(names)) < len(names):
        return None
    *transformers, last = steps
    whole = all(hasattr(s, "fit") and hasattr(s, "transform") for _, s in transformers)
    if not whole or not hasattr(last[1], "fit"):
        return None
    by_step: dict[str, dict[str, Any]] = {name: {} for name in names}
    for key, value in fit_params.items():
        name, nests, argument = key.partition("__")
        if not nests or name not in by_step:
            return None
        by_step[name][argument] = value
    n_stateless = 0
    while n_stateless < len(transformers) and is_stateless(transformers[n_stateless][1]):
        n_stateless += 1
    return Steps(
        estimator, transformers[:n_stateless], transformers[n_stateless:], last, by_step
    )


def steps_key(steps: Steps, params: dict[str, Any]) -> tuple:
    """Return what tells points of a grid apart as far as the steps before the last go.

    Values are told apart by identity: those of one grid are the same objects at each of its points.
    """
    last = steps.last[0]
    return tuple(
        (name, id(value))
        for name, value in sorted(params.items())
        if name.partition("__")[0] != last
    )
