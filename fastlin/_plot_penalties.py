"""Pictures of penalties: paths, unit balls, and how many weights are left."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._exceptions import not_fitted
from ._params import Integer, Real, shown
from ._plot_axes import axes_of, colour, line_style
from ._sparse_weights import dense_weights

__all__ = ["lp_balls", "regularization_path", "sparsity"]

_ANGLES = np.linspace(0.0, 2 * np.pi, 721)


def regularization_path(path: Any, *, ax: Any = None, most: int = 20,
                        names: Sequence[str] | None = None) -> Any:
    """Draw weights over the strength of a penalty.

    Parameters
    ----------
    path : RegularizationPath
        What `fastlin.regularization_path` returns.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.
    most : int, default=20
        Largest number of weights to draw: those that become largest.
    names : sequence of str, default=None
        Names of the columns, for the labels of lines; with them there is a legend.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, "Least angle regression", Annals of
       Statistics 32, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import plot, regularization_path
    >>> X = np.random.default_rng(0).normal(size=(50, 5))
    >>> path = regularization_path(X, X[:, 0] - X[:, 1], alphas=20)
    >>> ax = plot.regularization_path(path)  # doctest: +SKIP
    """
    Integer(1).check("most", most)
    if not (hasattr(path, "alphas") and hasattr(path, "coefs")):
        raise TypeError(f"path must come from regularization_path, got {shown(path)}.")
    alphas, coefs = np.asarray(path.alphas), np.asarray(path.coefs)
    if names is not None and len(names) != len(coefs):
        raise ValueError(f"names must be as many as columns, got {len(names)} for {len(coefs)}.")
    ax = axes_of(ax)
    size = np.abs(coefs).max(axis=1)
    for k, j in enumerate(np.argsort(-size, kind="stable")[:most]):
        if size[j] > 0:
            ax.plot(alphas, coefs[j], **line_style(k),
                    label=f"column {j}" if names is None else str(names[j]))  # fmt: skip
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("alpha")
    ax.set_ylabel("weight")
    if names is not None:
        ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def lp_balls(ps: Sequence[float] = (0.5, 1, 2, 4, np.inf), *, ax: Any = None) -> Any:
    """Draw the unit balls of the penalties |w|_p of two weights: ``|w1|^p + |w2|^p <= 1``.

    For p <= 1 they have corners on the axes, where a weight is 0; for p < 1 they are not convex.

    Parameters
    ----------
    ps : sequence of float, default=(0.5, 1, 2, 4, inf)
        Which p, >= 0: 0 counts weights other than 0, so that its ball are the axes; inf takes the
        larger of the two.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no p, or one below 0.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] I. E. Frank, J. H. Friedman, "A statistical view of some chemometrics regression
       tools", Technometrics 35, 1993.
    .. [2] R. Tibshirani, "Regression shrinkage and selection via the lasso", JRSS B 58, 1996,
       figure 2.

    Examples
    --------
    >>> from fastlin import plot
    >>> ax = plot.lp_balls([0.5, 1, 2])  # doctest: +SKIP
    """
    ps = _checked_ps(ps)
    ax = axes_of(ax)
    for k, p in enumerate(ps):
        x, y = _circle(p)
        ax.plot(x, y, color=colour(k), label=f"p = {_named(p)}")
    ax.set_aspect("equal")
    ax.axhline(0, color="0.85", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.85", linewidth=0.8, zorder=0)
    ax.set_xlabel("weight 1")
    ax.set_ylabel("weight 2")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _checked_ps(ps: Any) -> list[float]:
    """The p of several penalties."""
    found = list(ps) if isinstance(ps, (Sequence, np.ndarray)) else [ps]
    for p in found:
        Real(0, finite=False).check("ps", p)
    if not found:
        raise ValueError("ps must hold at least one number >= 0, got none.")
    return [float(p) for p in found]


def _named(p: float) -> str:
    """p as a label."""
    return "\u221e" if np.isinf(p) else f"{p:g}"


def _circle(p: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the norm is 1; of p = 0 the axes, which no norm bounds."""
    if p == 0:
        return np.array([-1.0, 1.0, np.nan, 0.0, 0.0]), np.array([0.0, 0.0, np.nan, -1.0, 1.0])
    cos, sin = np.cos(_ANGLES), np.sin(_ANGLES)
    # rounding must not keep a corner off its axis
    cos, sin = (np.where(np.abs(v) < 1e-12, 0.0, v) for v in (cos, sin))
    large, small = np.maximum(abs(cos), abs(sin)), np.minimum(abs(cos), abs(sin))
    radius = 1.0 / large
    if not np.isinf(p):
        # over the larger one first: powers of small numbers underflow
        radius = np.exp(-np.log1p((small / large) ** p) / p) / large
    return radius * cos, radius * sin


def sparsity(ps: Sequence[float], models: Sequence[Any], *, ax: Any = None) -> Any:
    """Draw how many weights are other than 0 as the p of a penalty falls.

    Parameters
    ----------
    ps : sequence of float
        The p of each penalty, >= 0; inf is allowed.
    models : sequence of estimators or of int
        For each p a fitted estimator with `coef_`, or how many of its weights are other than 0.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
        With the penalties side by side, the largest p first.

    Raises
    ------
    NotFittedError
        If an estimator is not fitted.
    ValueError
        If there are not as many models as p, or none.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] I. E. Frank, J. H. Friedman, "A statistical view of some chemometrics regression
       tools", Technometrics 35, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import Lasso, Ridge, plot
    >>> X = np.random.default_rng(0).normal(size=(50, 5))
    >>> models = [Ridge().fit(X, X[:, 0]), Lasso(alpha=0.1).fit(X, X[:, 0])]
    >>> ax = plot.sparsity([2, 1], models)  # doctest: +SKIP
    """
    ps, models = _checked_ps(ps), list(models)
    if len(ps) != len(models):
        raise ValueError(
            f"models must be as many as ps, got {len(models)} for {len(ps)} penalties."
        )
    order = sorted(range(len(ps)), key=lambda k: -ps[k])
    counted = [_left(models[k]) for k in order]
    ax = axes_of(ax)
    heights = [count for count, _ in counted]
    ax.bar(range(len(order)), heights, color=colour(0), width=0.6)
    totals = {total for _, total in counted if total}
    if len(totals) == 1:
        ax.axhline(totals.pop(), color="0.5", linestyle=":", linewidth=1, label="all weights")
        ax.legend(frameon=False, loc="upper right")
    for place, height in enumerate(heights):
        ax.annotate(str(height), (place, height), xytext=(0, 2), textcoords="offset points",
                    ha="center", va="bottom", fontsize="small")  # fmt: skip
    ax.set_xticks(range(len(order)), [_named(ps[k]) for k in order])
    ax.margins(y=0.2)
    ax.set_xlabel("p of the penalty")
    ax.set_ylabel("weights other than 0")
    return ax


def _left(model: Any) -> tuple[int, int]:
    """(how many weights of a model are other than 0, of how many, 0 if that is not known)"""
    if isinstance(model, numbers.Integral):
        Integer(0).check("models", model)
        return int(model), 0
    if not hasattr(model, "coef_"):
        if hasattr(model, "fit"):
            raise not_fitted(model, "sparsity")
        raise TypeError(f"models must be fitted estimators with coef_ or integers, got "
                        f"{shown(model)}.")
    coef = dense_weights(model)
    return int(np.count_nonzero(coef)), coef.size
