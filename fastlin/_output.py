"""``set_output``: transformers that return data frames on request.

The choice is kept as scikit-learn keeps it (``_sklearn_output_config``, which its `clone`
copies), and its global ``transform_output`` setting counts where scikit-learn is loaded. Frame
libraries are imported only after the user has asked for their frames by name.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ._params import OneOf

__all__ = ["frames_on_request", "output_container", "set_transform_output"]

_CONTAINERS = OneOf("default", "pandas", "polars")


def set_transform_output(estimator: Any, transform: str | None) -> None:
    """Remember the container that `transform` shall return; None leaves it unchanged."""
    if transform is None:
        return
    _CONTAINERS.check("transform", transform)
    # A new dict, since a shallow copy of the estimator shares the old one.
    kept = getattr(estimator, "_sklearn_output_config", {})
    estimator._sklearn_output_config = {**kept, "transform": transform}


def output_container(estimator: Any) -> str:
    """Return "default", "pandas" or "polars": the estimator's own choice, else the global one."""
    own = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    if own is not None:
        return own
    sklearn = sys.modules.get("sklearn")
    get_config = getattr(sklearn, "get_config", None)
    return "default" if get_config is None else get_config()["transform_output"]


def frames_on_request(transform: Callable) -> Callable:
    """Wrap `transform` or `fit_transform` so that it returns the container asked for."""

    @functools.wraps(transform)
    def wrapped(self, X, *args, **kwargs):
        result = transform(self, X, *args, **kwargs)
        container = output_container(self)
        return result if container == "default" else _to_frame(self, result, X, container)

    return wrapped


def _to_frame(estimator: Any, result: Any, X: Any, container: str) -> Any:
    """Put a dense result into a data frame with the estimator's output names."""
    name = type(estimator).__name__
    _CONTAINERS.check("transform_output", container)
    library = _frame_library(container)
    if isinstance(result, library.DataFrame):
        return result
    dense = isinstance(result, np.ndarray)
    if not dense:
        raise ValueError(
            f"{name} returns sparse data, which {container} frames cannot hold; call "
            "set_output(transform='default') or ask the transformer for dense output."
        )
    columns = estimator.get_feature_names_out()
    if container == "polars":
        return library.DataFrame(result, schema=list(columns), orient="row")
    index = X.index if isinstance(X, (library.DataFrame, library.Series)) else None
    # A copy, because a transformer may return a view of what the caller passed.
    return library.DataFrame(result, index=index, columns=columns, copy=True)


def _frame_library(container: str) -> Any:
    """Import the library whose frames the user asked for."""
    try:
        return importlib.import_module(container)
    except ImportError as error:
        raise ImportError(
            f"set_output(transform={container!r}) needs {container}, which is not installed."
        ) from error
