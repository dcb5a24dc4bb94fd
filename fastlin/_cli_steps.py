"""What the first step of a stored model takes, as far as it tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def column_kinds(step: Any, names: Sequence[str]) -> dict[str, bool]:
    """Return the columns that a step takes, and whether their cells are numbers to it.

    Parameters
    ----------
    step : estimator or "passthrough"
        Fitted; of a `ColumnTransformer` only the columns that it hands on are taken.
    names : sequence of str
        The names of its columns.
    """
    step = first_step(step)
    if isinstance(step, ColumnTransformer):
        kinds: dict[str, bool] = {}
        for _, part, places in step.transformers_:
            for name, is_number in column_kinds(part, [names[j] for j in places]).items():
                kinds[name] = kinds.get(name, False) or is_number
        return kinds
    if isinstance(step, OneHotEncoder):
        numbers = [categories.dtype.kind in "iuf" for categories in step.categories_]
        return dict(zip(names, numbers, strict=True))
    # Texts stay texts, and to the hash a number is the same as its text.
    return dict.fromkeys(names, not isinstance(step, (TextAnalysis, HashingEncoder)))
