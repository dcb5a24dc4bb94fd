"""Pictures of functions of one number: fits, probabilities, losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._data import as_rows
from ._exceptions import not_fitted
from ._params import Integer, OneOf, Real, shown
from ._plot_axes import CALLER, as_column, axes_of, colour, like, names_of
from ._sgd import LOSSES, MARGIN_LOSSES, TARGET_LOSSES, loss_values
from ._validation import check_target

__all__ = ["fitted_curves", "loss_zoo", "probability_curves"]

_STYLES = ("solid", "dashed", "dotted", "dashdot")
_SYMBOLS = {"epsilon": "\u03b5", "quantile": "q"}


def _models(estimators: Any, method: str) -> dict[str, Any]:
    """Estimators by their names, of one or of a dict of them; all have the method."""
    found = estimators if isinstance(estimators, dict) else {type(estimators).__name__: estimators}
    if not found:
        raise ValueError("estimators must hold at least one estimator, got none.")
    for model in found.values():
        if not hasattr(model, method):
            raise TypeError(f"estimators must have {method}, got {shown(model)}.")
    return found


def fitted_curves(estimators: Any, x: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw data of one column and what one or more regressors predict, such as a regularised fit
    beside one that is not.

    Parameters
    ----------
    estimators : regressor or dict of str to regressor
        Fitted on one column: a pipeline of polynomial features and a linear model, say.
    x : array-like of shape (n_samples,) or (n_samples, 1)
        The data; a frame of one column names the axis.
    y : array-like of shape (n_samples,)
        The targets.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
        Its vertical range is that of the data and a third more, whatever the curves do.

    Raises
    ------
    TypeError
        If an estimator has no `predict`.
    ValueError
        If x is not one column, or there is no estimator.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] A. E. Hoerl, R. W. Kennard, "Ridge regression: biased estimation for nonorthogonal
       problems", Technometrics 12, 1970.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import Ridge, plot
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> ax = plot.fitted_curves(Ridge().fit(x, x[:, 0]), x, x[:, 0])  # doctest: +SKIP
    """
    models = _models(estimators, "predict")
    column = as_column(x)
    rows = as_rows(column)
    if rows.shape[1] != 1:
        raise ValueError(f"x must be one column to be drawn, got {rows.shape[1]}.")
    target = check_target(y, CALLER, numeric=True, n_samples=rows.shape[0])
    ax = axes_of(ax)
    points = rows.toarray()[:, 0]
    ax.scatter(points, target, s=14, color="0.5", label="data", zorder=1)
    t = np.linspace(points.min(), points.max(), 1001)
    name = names_of(column, 1)[0] if hasattr(column, "columns") else "x"
    asked = like(column, [name], t[:, None])
    for k, (label, model) in enumerate(models.items()):
        ax.plot(t, np.ravel(model.predict(asked)), color=colour(k),
                linestyle=_STYLES[k % len(_STYLES)], label=label, zorder=2)  # fmt: skip
    low, high = target.min(), target.max()
    room = (high - low) / 6 or 1.0
    ax.set_ylim(low - room, high + room)
    ax.set_xlabel(name)
    ax.set_ylabel("y")
    ax.legend(loc="best", fontsize="small")
    return ax


def probability_curves(estimators: Any, X: Any, column: int = 0, *, ax: Any = None) -> Any:
    """Draw the probabilities of classes as one column goes through its range, all others at their
    means: softmax beside sparsemax, say.

    Parameters
    ----------
    estimators : classifier or dict of str to classifier
        Fitted, with `predict_proba`; colours tell classes apart, dashes the estimators.
    X : array, sparse matrix, Rows or frame of shape (n_samples, n_features)
        Rows, for ranges and means.
    column : int, default=0
        Number of the column.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    NotFittedError
        If an estimator is not fitted.
    TypeError
        If an estimator has no probabilities.
    ValueError
        If there is no such column or no estimator, or the estimators know different classes.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] A. F. T. Martins, R. F. Astudillo, "From softmax to sparsemax: a sparse model of
       attention and multi-label classification", ICML 2016, figure 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LogisticRegression, SparsemaxClassifier, plot
    >>> X = np.random.default_rng(0).normal(size=(60, 1))
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> both = {"softmax": LogisticRegression().fit(X, y),
    ...         "sparsemax": SparsemaxClassifier().fit(X, y)}
    >>> ax = plot.probability_curves(both, X)  # doctest: +SKIP
    """
    models = _models(estimators, "predict_proba")
    for model in models.values():
        if not hasattr(model, "classes_"):
            raise not_fitted(model, "probability_curves")
    rows = as_rows(X)
    Integer(0, rows.shape[1] - 1).check("column", column)
    dense, names = rows.toarray(), names_of(X, rows.shape[1])
    t = np.linspace(dense[:, column].min(), dense[:, column].max(), 501)
    line = np.repeat(dense.mean(axis=0)[None], len(t), axis=0)
    line[:, column] = t
    asked = like(X, names, line)
    classes = [str(label) for label in next(iter(models.values())).classes_]
    ax = axes_of(ax)
    for k, (name, model) in enumerate(models.items()):
        if [str(label) for label in model.classes_] != classes:
            raise ValueError(f"estimators must know the same classes, got others for {name!r}.")
        table = np.asarray(model.predict_proba(asked))
        for c, label in enumerate(classes):
            # the underscore keeps a line out of the legend
            ax.plot(t, table[:, c], color=colour(c),
                    linestyle=_STYLES[k % len(_STYLES)], label=f"_{label}, {name}")  # fmt: skip
    for c, label in enumerate(classes):
        ax.plot([], [], color=colour(c), linewidth=4, label=label)
    for k, name in enumerate(models):
        ax.plot([], [], color="0.3", linestyle=_STYLES[k % len(_STYLES)], label=name)
    ax.set_xlabel(names[column])
    ax.set_ylabel("probability")
    ax.set_ylim(-0.03, 1.03)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def loss_zoo(losses: Sequence[str] | None = None, *, kind: str = "margin",
             width: float = 3.0, ax: Any = None) -> Any:
    """Draw losses, from the table that the learners are compiled from.

    Parameters
    ----------
    losses : sequence of str, default=None
        Names of losses, all of one kind; by default all of `kind`.
    kind : {"margin", "target"}, default="margin"
        Losses of a margin y (w.x + b), beside the zero-one loss, or of an error y - (w.x + b).
    width : float, default=3.0
        How far the horizontal axis goes from 0, > 0.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a name is not one of a loss of that kind.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2009,
       figures 10.4 and 10.5.

    Examples
    --------
    >>> from fastlin import plot
    >>> ax = plot.loss_zoo(["hinge", "log_loss"])  # doctest: +SKIP
    """
    OneOf("margin", "target").check("kind", kind)
    Real(0, closed="neither").check("width", width)
    known = MARGIN_LOSSES if kind == "margin" else TARGET_LOSSES
    names = list(known) if losses is None else list(losses)
    for name in names:
        OneOf(*known).check("losses", name)
    if not names:
        raise ValueError("losses must hold at least one name, got none.")
    ax = axes_of(ax)
    t = np.linspace(-width, width, 1201)
    y = np.ones_like(t) if kind == "margin" else np.zeros_like(t)
    if kind == "margin":
        ax.step(t, (t <= 0).astype(float), color="0.6", linewidth=2.5, label="zero-one")
    for k, name in enumerate(names):
        row = LOSSES[name]
        # the response of an error e at y = 0 is -e
        values = loss_values(name, t if kind == "margin" else -t, y)
        symbol = _SYMBOLS.get(row.parameter)
        given = f", {symbol} = {row.default:g}" if symbol else ""
        # where losses are the same, dashes on top show what is beneath
        ax.plot(t, values, color=colour(k), linestyle=_STYLES[k % len(_STYLES)],
                label=name + given, zorder=2 + len(names) - k)  # fmt: skip
    ax.set_ylim(-0.1, 4.6 if kind == "margin" else 6.5)
    ax.set_xlabel("margin y (w.x + b)" if kind == "margin" else "error y - (w.x + b)")
    ax.set_ylabel("loss")
    place = "upper right" if kind == "margin" else "upper center"
    ax.legend(loc=place, fontsize="small").set_zorder(100)
    return ax
