"""Pictures of classifiers in the plane: regions and margins, a perceptron's steps, a parabola."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._clone import clone
from ._data import as_rows
from ._exceptions import not_fitted
from ._params import Boolean, Integer, shown
from ._plot_axes import CALLER, MARKERS, as_column, axes_of, colour, like, names_of
from ._validation import check_target, encode_known_labels, encode_labels, listed

__all__ = ["decision_boundary", "perceptron_steps", "quadratic_separation"]

# Room around the data, as a share of their range; points of the grid in each direction
_ROOM, _GRID = 0.08, 240


def decision_boundary(estimator: Any, X: Any, y: Any, *, margin: bool = True,
                      ax: Any = None) -> Any:
    """Draw rows in two dimensions and what a classifier makes of the plane.

    Areas have the colour of the class that is predicted there; solid lines are where it changes.
    Dashed lines bound the margin band, where the response is between -1 and 1; of several classes,
    where the response of a class leads the next one's by 1.

    Parameters
    ----------
    estimator : classifier
        Fitted on two columns; a pipeline, or one with a kernel, will do. Without
        `decision_function` there is no margin to draw.
    X : array, sparse matrix, Rows or frame of shape (n_samples, 2)
        The rows to draw.
    y : array-like of shape (n_samples,)
        Their labels.
    margin : bool, default=True
        Whether to draw the margin band.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If it is no classifier.
    ValueError
        If there are not two columns, or several labels per row.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] C. Cortes, V. N. Vapnik, "Support-vector networks", Machine Learning 20, 1995.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LinearSVC, plot
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = LinearSVC().fit(X, X[:, 0] > 0)
    >>> ax = plot.decision_boundary(model, X, X[:, 0] > 0)  # doctest: +SKIP
    """
    Boolean().check("margin", margin)
    if not hasattr(estimator, "classes_"):
        if hasattr(estimator, "n_features_in_") or not hasattr(estimator, "predict"):
            raise TypeError(f"estimator must be a classifier, got {shown(estimator)}.")
        raise not_fitted(estimator, "decision_boundary")
    points, y = _points(X, y, 2)
    classes = np.asarray(estimator.classes_)
    codes = encode_known_labels(y, classes)
    ax = axes_of(ax)
    names = names_of(X, 2)
    across, up, grid = _grid(points)

    def asked(method: str) -> np.ndarray:
        return getattr(estimator, method)(like(X, names, grid))

    predicted = np.asarray(asked("predict"))
    if predicted.ndim != 1:
        raise ValueError(f"estimator must predict one label per row, got {shown(estimator)}, which "
                         "predicts several; draw one label at a time.")
    region = encode_known_labels(predicted, classes).reshape(across.shape)
    _draw_regions(ax, across, up, region, len(classes))
    response = None
    if hasattr(estimator, "decision_function"):
        response = np.asarray(asked("decision_function"), dtype=np.float64)
    if response is not None and response.shape[1:] in ((), (len(classes),)):
        _draw_lines(ax, across, up, response, margin)
    else:
        # no responses, or one for each pair of classes
        for k in range(len(classes) - 1):
            _line(ax, across, up, region.astype(float), k + 0.5, "solid")
    _draw_points(ax, points, codes, [str(label) for label in classes])
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.legend(loc="best", fontsize="small", framealpha=1)
    return ax


def _points(X: Any, y: Any, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """(rows as a dense array, checked labels)"""
    rows = as_rows(X)
    if rows.shape[1] != columns:
        raise ValueError(f"X must have {columns} columns to be drawn, got {rows.shape[1]}.")
    target = check_target(y, CALLER, n_samples=rows.shape[0])
    return np.array(rows.toarray(), dtype=np.float64), target


def _two_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the two classes of checked labels, their numbers)"""
    classes, codes = encode_labels(y)
    if len(classes) != 2:
        raise ValueError(f"y must hold two classes to be drawn, got {len(classes)}: "
                         f"{listed(classes.tolist())}.")
    return classes, codes


def _grid(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x of a grid around the points, its y, both as rows)"""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, _ROOM * (high - low), 1.0)
    sides = [np.linspace(a, b, _GRID) for a, b in zip(low - room, high + room, strict=True)]
    across, up = np.meshgrid(*sides)
    return across, up, np.column_stack([across.ravel(), up.ravel()])


def _draw_regions(ax: Any, across: np.ndarray, up: np.ndarray, region: np.ndarray,
                  n_classes: int) -> None:
    """Colour the plane by the class that is predicted."""
    levels = np.arange(n_classes + 1) - 0.5
    colours = [colour(k) for k in range(n_classes)]
    ax.contourf(across, up, region, levels=levels, colors=colours, alpha=0.15)


def _draw_lines(ax: Any, across: np.ndarray, up: np.ndarray, response: np.ndarray,
                margin: bool) -> None:
    """The boundary and the margin band."""
    if response.ndim == 1:
        leads, bounds = [response], (-1.0, 1.0)
    else:
        leads, bounds = [_lead(response, k) for k in range(response.shape[1])], (1.0,)
    for lead in leads:
        plane = lead.reshape(across.shape)
        _line(ax, across, up, plane, 0.0, "solid")
        for bound in bounds if margin else ():
            _line(ax, across, up, plane, bound, "dashed")
    ax.plot([], [], color="black", label="boundary")
    if margin:
        label = "response \u00b11" if response.ndim == 1 else "lead of 1"
        ax.plot([], [], color="black", linestyle="dashed", linewidth=1, label=label)


def _lead(response: np.ndarray, k: int) -> np.ndarray:
    """By how much class k leads the best of the others."""
    return response[:, k] - np.delete(response, k, axis=1).max(axis=1)


def _line(ax: Any, across: np.ndarray, up: np.ndarray, plane: np.ndarray, level: float,
          style: str) -> None:
    """Draw where something has a value, if it does anywhere."""
    if plane.min() < level < plane.max():
        width = 1.5 if style == "solid" else 1.0
        ax.contour(across, up, plane, levels=[level], colors="black", linestyles=style,
                   linewidths=width)  # fmt: skip


def _draw_points(ax: Any, points: np.ndarray, codes: np.ndarray, labels: list[str]) -> None:
    """The rows, by class."""
    for k, label in enumerate(labels):
        of_class = points[codes == k]
        ax.scatter(*of_class.T, s=16, color=colour(k), edgecolors="white",
                   marker=MARKERS[k % len(MARKERS)], linewidths=0.4, label=label, zorder=3)


def perceptron_steps(estimator: Any, X: Any, y: Any, *, max_epochs: int = 10,
                     ax: Any = None) -> Any:
    """Draw the line of an online classifier after each change, the later the darker.

    A fresh copy of the estimator learns one row after another in the given order, until a whole
    turn changes nothing. Rows that changed it are ringed.

    Parameters
    ----------
    estimator : classifier
        Such as `Perceptron`: with `partial_fit`, `coef_` and `intercept_`. It is cloned and stays
        as it is.
    X : array, sparse matrix, Rows or frame of shape (n_samples, 2)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    max_epochs : int, default=10
        Most turns over the rows.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError
        If the estimator has no `partial_fit`.
    ValueError
        If there are not two columns and two classes.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] F. Rosenblatt, "The perceptron: a probabilistic model for information storage and
       organization in the brain", Psychological Review 65, 1958.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import Perceptron, plot
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.5], [-2.0, 0.5]])
    >>> ax = plot.perceptron_steps(Perceptron(), X, [1, 1, 0, 0])  # doctest: +SKIP
    """
    Integer(1).check("max_epochs", max_epochs)
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(f"estimator must have partial_fit, got {shown(estimator)}.")
    points, y = _points(X, y, 2)
    classes, codes = _two_classes(y)
    lines, changed, still = _steps(clone(estimator), points, y, classes, max_epochs)
    ax = axes_of(ax)
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    room = _ROOM * np.maximum([right - left, top - bottom], 1e-12)
    box = (left - room[0], right + room[0], bottom - room[1], top + room[1])
    for k, (w, b) in enumerate(lines):
        last = k == len(lines) - 1
        share = (k + 1) / len(lines)
        ax.plot(*_segment(w, b, box), color="black" if last else str(0.85 - 0.5 * share),
                linewidth=2.0 if last else 0.9, zorder=2 if last else 1,
                label=f"after {len(lines)} changes" if last else None)
    _draw_points(ax, points, codes, [str(label) for label in classes])
    rows = np.unique(changed).astype(np.int64)
    ax.scatter(*points[rows].T, s=70, facecolors="none", edgecolors="black", linewidths=0.8,
               label="changed it", zorder=4)
    ax.set_xlim(box[:2])
    ax.set_ylim(box[2:])
    names = names_of(X, 2)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.set_title("no more changes" if still else f"still changing after {max_epochs} turns",
                 fontsize="medium")
    ax.legend(loc="best", fontsize="small", framealpha=1)
    return ax


def _steps(model: Any, points: np.ndarray, y: np.ndarray, classes: np.ndarray,
           max_epochs: int) -> tuple[list[tuple[np.ndarray, float]], list[int], bool]:
    """(weights and intercept after each change, the rows that made them, whether it stands
    still)"""
    lines: list[tuple[np.ndarray, float]] = []
    changed: list[int] = []
    before = np.zeros(points.shape[1] + 1)
    for _ in range(max_epochs):
        seen = len(changed)
        for i in range(len(points)):
            model.partial_fit(points[i : i + 1], y[i : i + 1], classes=classes)
            now = np.append(np.ravel(model.coef_)[:2], np.ravel(model.intercept_)[0])
            if not np.array_equal(now, before):
                lines.append((now[:2], float(now[2])))
                changed.append(i)
                before = now
        if len(changed) == seen:
            return lines, changed, True
    return lines, changed, False


def _segment(w: np.ndarray, b: float, box: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Two points of the line w.x + b = 0, as far apart as the box is wide; none where w = 0."""
    norm = float(np.linalg.norm(w))
    if norm == 0:
        return np.empty(0), np.empty(0)
    centre = np.array([box[0] + box[1], box[2] + box[3]]) / 2
    foot = centre - (w @ centre + b) / norm**2 * w
    half = np.hypot(box[1] - box[0], box[3] - box[2])
    along = np.array([-w[1], w[0]]) / norm * half
    ends = np.array([foot - along, foot + along])
    return ends[:, 0], ends[:, 1]


def quadratic_separation(estimator: Any, x: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw data of one dimension on the parabola (x, x^2), where a line may separate what no
    threshold can.

    Parameters
    ----------
    estimator : classifier
        Not fitted; a clone is fitted on the columns x and x^2.
    x : array-like of shape (n_samples,) or (n_samples, 1)
        The data; a frame of one column names the axis.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
        Dotted lines mark where the prediction changes along the parabola; the data also stand at
        the bottom, as they came.

    Raises
    ------
    ValueError
        If x is not one column, or there are not two classes.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] T. M. Cover, "Geometrical and statistical properties of systems of linear inequalities
       with applications in pattern recognition", IEEE Transactions on Electronic Computers 14,
       1965.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import Perceptron, plot
    >>> x = np.array([-3.0, -2.0, -0.5, 0.0, 1.0, 2.5])
    >>> ax = plot.quadratic_separation(Perceptron(), x, abs(x) < 1.5)  # doctest: +SKIP
    """
    column = as_column(x)
    points, y = _points(column, y, 1)
    classes, codes = _two_classes(y)
    parabola = np.column_stack([points, points**2])
    model = clone(estimator).fit(parabola, y)
    name = names_of(column, 1)[0] if hasattr(column, "columns") else "x"
    ax = axes_of(ax)
    across, up, grid = _grid(parabola)
    region = encode_known_labels(np.asarray(model.predict(grid)), classes)
    _draw_regions(ax, across, up, region.reshape(across.shape), 2)
    if hasattr(model, "decision_function"):
        plane = np.asarray(model.decision_function(grid)).reshape(across.shape)
        _line(ax, across, up, plane, 0.0, "solid")
        ax.plot([], [], color="black", label="boundary")
    t = np.linspace(across.min(), across.max(), 2001)
    ax.plot(t, t * t, color="0.6", linewidth=1, zorder=1)
    told = encode_known_labels(
        np.asarray(model.predict(np.column_stack([t, t * t]))), classes
    )
    for place in np.flatnonzero(np.diff(told)):
        ax.axvline((t[place] + t[place + 1]) / 2, color="black", linestyle=":", linewidth=1)
    _draw_points(ax, parabola, codes, [str(label) for label in classes])
    for k in (0, 1):
        at = points[codes == k, 0]
        ax.scatter(at, np.full(len(at), up.min()), marker="|", s=60, color=colour(k),
                   clip_on=False, linewidths=1)  # fmt: skip
    ax.set_ylim(up.min(), up.max())
    ax.set_xlabel(name)
    ax.set_ylabel(f"({name})\u00b2" if name != "x" else "x\u00b2")
    ax.legend(loc="best", fontsize="small", framealpha=1)
    return ax
