"""Pictures of searches on their way to an optimum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._params import Either, OneOf, Real, shown
from ._plot_axes import axes_of, line_style

__all__ = ["convergence"]

_LABELS = {"seconds": "seconds", "passes": "passes over the rows"}
# Points of a curve up to which each is marked
_FEW = 40


def convergence(curves: dict[str, Any], *, against: str = "seconds",
                optimum: float | None = None, ax: Any = None) -> Any:
    """Draw how fast solvers come near an optimum.

    Parameters
    ----------
    curves : dict of str to (array-like, array-like) or to fastlin.optim.Minimum
        For each solver seconds (or passes) and, after so many, what is left to gain: gaps, or
        objectives less the optimum, as shares of it. Or what `fastlin.optim.minimize` returns. What
        is 0 is drawn at the smallest number above it.
    against : {"seconds", "passes"}, default="seconds"
        What the horizontal axis counts.
    optimum : float, default=None
        The least objective that is known, for results of `minimize`; by default the least of them.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
        With logarithmic scales.

    Raises
    ------
    TypeError
        If curves are no dict.
    ValueError
        If there is nothing to draw, or a curve's two arrays differ in length.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] L. Bottou, O. Bousquet, "The tradeoffs of large scale learning", NIPS 2007.

    Examples
    --------
    >>> from fastlin import plot
    >>> curves = {"dual_cd": ([0.1, 0.2, 0.4], [1e-2, 1e-4, 1e-7])}
    >>> ax = plot.convergence(curves)  # doctest: +SKIP
    """
    OneOf(*_LABELS).check("against", against)
    Either(Real(), OneOf(None)).check("optimum", optimum)
    if not isinstance(curves, Mapping):
        raise TypeError(f"curves must be a dict of names to curves, got {shown(curves)}.")
    if not curves:
        raise ValueError("curves must hold at least one curve, got none.")
    points = {}
    for name, curve in _relative(curves, against, optimum).items():
        parts = [np.asarray(part, dtype=np.float64).ravel() for part in curve]
        if len(parts) != 2:
            raise ValueError(
                f"curves must hold two arrays each, {against} and gaps, got {len(parts)} for "
                f"{name!r}."
            )
        x, left = points[name] = parts
        if len(x) != len(left) or not len(left):
            raise ValueError(
                f"curves must hold as many {against} as gaps, at least one, got {len(x)} and "
                f"{len(left)} for {name!r}."
            )
        if not (np.isfinite(left).all() and np.isfinite(x).all() and (left >= 0).all()):
            raise ValueError(
                f"curves must hold finite {against} and gaps >= 0, got others for {name!r}."
            )
    ax = axes_of(ax)
    everything = np.concatenate([left for _, left in points.values()])
    least = everything[everything > 0].min(initial=1.0)
    for k, (name, (x, left)) in enumerate(points.items()):
        order = np.argsort(x, kind="stable")
        ax.plot(x[order], np.maximum(left[order], least), **line_style(k),
                marker="o" if len(x) <= _FEW else None, markersize=3, label=name)  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(_LABELS[against])
    ax.set_ylabel("distance to the optimum, relative")
    ax.legend(frameon=False)
    return ax


def _relative(curves: dict[str, Any], against: str, optimum: float | None) -> dict[str, Any]:
    """The curves, with results of searches turned into (seconds or passes, shares)."""
    traces = {
        name: curve.trace for name, curve in curves.items()
        if hasattr(getattr(curve, "trace", None), "objective")
    }
    if not traces:
        if optimum is not None:
            raise ValueError(
                f"optimum must be None where curves are given as shares of it, got "
                f"{shown(optimum)}."
            )
        return curves
    least = min(float(trace.objective.min()) for trace in traces.values())
    best = least if optimum is None else min(float(optimum), least)
    scale = abs(best) or 1.0
    found = dict(curves)
    for name, trace in traces.items():
        x = np.asarray(getattr(trace, against), dtype=np.float64)
        # the start costs steps on rows nothing, which has no place on a logarithmic axis
        kept = x > 0
        found[name] = x[kept], (trace.objective[kept] - best) / scale
    return found
