"""What the first step of a stored model takes, as far as it tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._analyzers import TextAnalysis
from ._delegation import passes
from .categories import OneHotEncoder
from .column_transformer import ColumnTransformer
from .hashing import HashingEncoder
from .pipeline import Pipeline

__all__ = ["column_kinds", "first_step"]


def first_step(model: Any) -> Any:
    """Return what the data meet first in a model: itself, or a step of a pipeline."""
    while isinstance(model, Pipeline):
        model = next((step for _, step in model.steps if not passes(step)), None)
    return model


def column_kinds(step: Any, names: Sequence[str]) -> dict[str, str]:
    """Return the columns that a step takes, and what their cells are to it: "number", "text", or
    "typed", a value of a type that a file without types does not tell.

    Parameters
    ----------
    step : estimator or "passthrough"
        Fitted; of a `ColumnTransformer` only the columns that it hands on are taken.
    names : sequence of str
        The names of its columns.
    """
    step = first_step(step)
    if isinstance(step, ColumnTransformer):
        kinds: dict[str, str] = {}
        for _, part, places in step.transformers_:
            for name, kind in column_kinds(part, [names[j] for j in places]).items():
                # what another step says of a column, an encoder takes it for
                known = kinds.get(name, "typed")
                kinds[name] = kind if known == "typed" else known if kind == "typed" else max(
                    known, kind, key=("text", "number").index)
        return kinds
    if isinstance(step, OneHotEncoder):
        return dict(zip(names, map(_kind_of, step.categories_), strict=True))
    if isinstance(step, HashingEncoder):
        # 3 and 3.0 are one category, "3.0" is another
        return dict.fromkeys(names, "typed")
    return dict.fromkeys(names, "text" if isinstance(step, TextAnalysis) else "number")


def _kind_of(categories: np.ndarray) -> str:
    """What the cells of a column with these categories are."""
    if categories.dtype.kind in "iuf" and np.isfinite(categories).all():
        return "number"
    return "text" if all(isinstance(value, str) for value in categories) else "typed"
