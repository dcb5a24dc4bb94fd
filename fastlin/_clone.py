"""Fresh, unfitted copies of estimators."""

from __future__ import annotations

import copy
from typing import Any

__all__ = ["clone", "cloned_params"]

# What is set on an estimator but is no parameter, and goes with it (scikit-learn's names).
_CARRIED = ("_sklearn_output_config", "_metadata_request")


def clone(estimator: Any) -> Any:
    """Return an estimator with the same parameters that is not fitted.

    Parameters
    ----------
    estimator : estimator
        One of fastlin, or any other with `get_params`. Estimators among its parameters are cloned
        too, everything else is copied.

    Returns
    -------
    estimator
        Of the same class.
    """
    own = getattr(estimator, "__sklearn_clone__", None)
    if own is not None and not isinstance(estimator, type):
        return own()
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        raise TypeError(
            f"estimator must be an instance with get_params, got {type(estimator).__name__}."
        )
    params = {name: _copied(value) for name, value in estimator.get_params(deep=False).items()}
    fresh = type(estimator)(**params)
    for name in _CARRIED:
        if hasattr(estimator, name):
            setattr(fresh, name, copy.deepcopy(getattr(estimator, name)))
    return fresh


def _copied(value: Any) -> Any:
    """Copy a parameter; estimators in it are cloned."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)([_copied(item) for item in value])
    if hasattr(value, "get_params") and not isinstance(value, type):
        return clone(value)
    return copy.deepcopy(value)


def cloned_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters to set: estimators among them cloned, everything else copied."""
    return {name: _copied(value) for name, value in params.items()}
