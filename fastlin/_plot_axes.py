"""Where pictures are drawn, and the colours of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._params import shown

__all__ = [
    "CALLER", "MARKERS", "as_column", "axes_of", "colour", "like", "line_style", "names_of",
]  # fmt: skip

# Told apart by most readers with a colour deficiency, and by their grey (Okabe & Ito 2008)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES = ("solid", "dashed", "dashdot", "dotted")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
# What the messages of the checks of y call the caller
CALLER = type("plot", (), {})()


def colour(k: int) -> str:
    """The colour of class or curve k; after the last comes the first again."""
    return _COLOURS[k % len(_COLOURS)]


def line_style(k: int) -> dict[str, str]:
    """Colour and dashes of curve k of many: the dashes change where colours begin again."""
    return {"color": colour(k), "linestyle": _LINES[k // len(_COLOURS) % len(_LINES)]}


def axes_of(ax: Any) -> Any:
    """Return axes to draw on: those given, or new ones."""
    if ax is not None:
        if not hasattr(ax, "plot"):
            raise TypeError(f"ax must be matplotlib axes or None, got {shown(ax)}.")
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "fastlin.plot draws with matplotlib, which is not installed; get it with "
            "`pip install fastlin[plot]`."
        ) from error
    return pyplot.subplots(layout="constrained")[1]


def as_column(x: Any) -> Any:
    """x of one dimension as a matrix of one column; frames and matrices as they are."""
    return x if getattr(x, "ndim", None) == 2 or hasattr(x, "columns") else np.reshape(x, (-1, 1))


def names_of(X: Any, d: int) -> list[str]:
    """Names of the columns of X: those of a frame, else x1, x2 ..."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        return [str(name) for name in columns]
    return [f"x{j + 1}" for j in range(d)]


def like(X: Any, names: list[str], points: np.ndarray) -> Any:
    """The points as a frame of the kind that X is, so that names of columns match."""
    if not hasattr(X, "columns"):
        return points
    return type(X)({name: points[:, j].copy() for j, name in enumerate(names)})
