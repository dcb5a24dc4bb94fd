"""The command `inspect`: what a model is, and the features that weigh most."""

from __future__ import annotations

import contextlib
import os
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np

from ._cli_encoder import ColumnEncoder
from ._cli_terminal import printable, spelt, table_lines, writing_stdout
from ._sparse_weights import dense_weights
from ._targets import listed
from .persist import load
from .pipeline import Pipeline

__all__ = ["inspect", "strongest"]

# Parameters worth naming even if they have their default.
_TELLING = ("loss", "penalty", "alpha", "C", "max_iter", "average")
_MOST_NAMES = 12


def strongest(
    weights: np.ndarray, name_of: Callable[[int], tuple[str, int]], top: int
) -> list[tuple[str, float]]:
    """Return the names and weights of the features that speak most for an output.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Weights; negative ones speak against it and are left out.
    name_of : callable
        From a column to its name and the sign of what it stands for.
    top : int
        How many to return at most.
    """
    # A sign may turn a column round, so candidates are chosen by size.
    order = np.argsort(-np.abs(weights), kind="stable")
    found: list[tuple[str, float]] = []
    for column in order:
        if len(found) >= top or weights[column] == 0:
            break
        name, sign = name_of(int(column))
        weight = float(weights[column]) * sign
        if weight > 0:
            found.append((name, weight))
    return found


def feature_namer(model: Any) -> Callable[[int], tuple[str, int]]:
    """Return what names the columns that a model's learner sees."""
    if isinstance(model, Pipeline) and isinstance(model.steps[0][1], ColumnEncoder):
        return model.steps[0][1].name_of
    learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
    names = getattr(learner, "feature_names_in_", None)
    if isinstance(model, Pipeline):
        # A step that hashes has no names.
        with contextlib.suppress(AttributeError, ValueError):
            names = model[:-1].get_feature_names_out()
    if names is not None:
        return lambda column: (str(names[column]), 1)
    return lambda column: (f"feature {column}", 1)


def _outputs(learner: Any) -> list[tuple[str, np.ndarray, str]]:
    """Return for each class, or direction, its title, its weights, and their sign as shown."""
    coef = dense_weights(learner)
    classes = getattr(learner, "classes_", None)
    if classes is None:
        return [("raise the prediction", coef[0], "+"), ("lower it", -coef[0], "-")]
    titles = [f"for {spelt(label)}" for label in classes]
    if "code_" in vars(learner) and len(classes) > 2:
        titles = [_sides(signs, classes) for signs in learner.code_.T]
    elif len(coef) == 1:
        return [(titles[1], coef[0], "+"), (titles[0], -coef[0], "+")]
    return [(title, weights, "+") for title, weights in zip(titles, coef, strict=True)]


def _sides(signs: np.ndarray, classes: np.ndarray) -> str:
    """Say which classes a column of a code sets against which."""
    sides = [", ".join(spelt(label) for label in classes[signs == side]) for side in (1, -1)]
    return f"for {sides[0]} against {sides[1]}"


def feature_lines(model: Any, top: int) -> list[str]:
    """Return the strongest features of every output as lines of text."""
    learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
    name_of, lines = feature_namer(model), []
    for title, weights, sign in _outputs(learner):
        lines.append(printable(title))
        found = strongest(weights, name_of, top)
        rows = [(f"{sign}{weight:.4g}", printable(name)) for name, weight in found]
        lines += ["  " + line for line in table_lines(rows)] if rows else ["  none"]
    return lines


def _columns_line(encoder: ColumnEncoder) -> str:
    """Say what a table model learns from."""
    parts = []
    if encoder.numeric_:
        parts.append(f"numbers {listed(encoder.numeric_, _MOST_NAMES, spelt)}")
    if encoder.categorical_:
        parts.append(f"categories {listed(encoder.categorical_, _MOST_NAMES, spelt)}")
    if encoder.text is not None:
        shortest, longest = encoder.ngram_range
        lengths = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
        parts.append(
            f"text {encoder.text} ({lengths}-grams hashed to {encoder.n_features:,} columns)"
        )
    return "; ".join(parts)


def _brief(value: Any) -> str:
    """Write a parameter; floats with a few digits."""
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def summary(model: Any) -> list[tuple[str, str]]:
    """Return what is to be said of a model, as pairs of a heading and a text."""
    learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
    rows = [("learner", type(learner).__name__)]
    parameters = learner.get_params(deep=False)
    changed = learner._changed_params()
    told = [name for name in parameters if name in changed or name in _TELLING]
    words = [f"{name}={_brief(parameters[name])}" for name in told]
    rows.append(("parameters", ", ".join(words) or "none"))
    if isinstance(model, Pipeline):
        first = model.steps[0][1]
        if isinstance(first, ColumnEncoder):
            rows.append(("learns from", _columns_line(first)))
            if first.label is not None:
                rows.append(("predicts", first.label))
        else:
            rows.append(("steps", ", ".join(type(step).__name__ for _, step in model.steps)))
    if hasattr(learner, "duality_gap_"):
        gap = np.max(learner.duality_gap_)
        rows.append(("optimum", f"reached to a relative duality gap of {gap:.2g}"))
    if hasattr(learner, "classes_"):
        rows.append(("classes", listed(learner.classes_.tolist(), _MOST_NAMES, spelt)))
    if hasattr(learner, "coef_"):
        coef = dense_weights(learner)
        used = np.count_nonzero(coef.any(axis=0))
        # Columns of svmlight are called by their index; files that count from 1 have no 0.
        is_numbered = learner is model and getattr(model, "feature_names_in_", None) is None
        size = f"{coef.shape[1]:,}"
        size = f"indices up to {coef.shape[1] - 1:,}" if is_numbered else size
        rows.append(("features", f"{size}, of which {used:,} have a weight"))
        rows.append(("intercept", ", ".join(f"{b:.4g}" for b in np.ravel(learner.intercept_)[:12])))
    return rows


def inspect(args: Namespace) -> int:
    """Run `fastlin inspect`."""
    model = load(args.model)
    with writing_stdout():
        print(f"{printable(args.model)} ({os.path.getsize(args.model):,} bytes)")
        for line in table_lines([(name, printable(text)) for name, text in summary(model)]):
            print(f"  {line}")
        learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
        if args.top and hasattr(learner, "coef_"):
            print("\nstrongest features")
            print("\n".join(feature_lines(model, args.top)))
    return 0
