"""`separability`: whether a linear classifier can have every row right, and the proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._data import as_rows
from ._exact import check_size
from ._exceptions import warn_convergence
from ._margin import mistake_bound
from ._params import Boolean, Integer, Real
from ._separate import searched
from ._targets import encode_labels
from ._validation import check_target

__all__ = ["Separability", "separability"]


# What the messages of the checks of y call the caller
_CALLER = type("separability", (), {})()


@dataclass(frozen=True)
class Separability:
    """What `separability` returns: a verdict, and what proves it.

    Attributes
    ----------
    separable : bool or None
        True: the hyperplane has all rows on their sides. False: the weights prove that no
        hyperplane has a margin above `margin_bound`, which is at most ``tol * size``. None: neither
        was found; `margin` and `margin_bound` say what is known.
    margin : float
        That of the hyperplane, as `fastlin.margin` has it; above 0 it is less by what rounding may
        have added. -inf where no hyperplane was found.
    margin_bound : float
        No hyperplane has a larger margin: the length of the combination that `weights` make.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The hyperplane, of norm 1; 0 where none was found. Not the only one: of two classes its
        margin is 90 % of the largest at least, of more a tenth, where the search did not end early.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Its intercepts.
    weights : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Weights >= 0 that sum to 1. Of two classes v = sum_i weights_i y_i x_i with y = +-1 has the
        length `margin_bound`; with an intercept either class has half of the weight, so that
        2 v joins a point of the convex hull of one class with one of the other: v = 0 where they
        meet. Of more classes weights_ik belongs to row i and another class k,
        V = sum_ik weights_ik (e_y - e_k) x_i^T, and with intercepts
        sum_ik weights_ik (e_y - e_k) = 0.
    mistake_bound : float
        Novikoff's bound of the mistakes of a perceptron, by this hyperplane; infinite where it does
        not separate.
    size : float
        The largest distance of a row from the mean of all, or from 0 without intercept.
    n_iter : int
        Iterations of the search.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    fit_intercept : bool
        Whether hyperplanes have an intercept.

    See Also
    --------
    separability : What finds it; its references are those of the proofs.

    Examples
    --------
    >>> from fastlin import separability
    >>> found = separability([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> found.separable, round(found.margin, 9)
    (True, 1.0)
    """

    separable: bool | None
    margin: float
    margin_bound: float
    coef_: np.ndarray
    intercept_: np.ndarray
    weights: np.ndarray
    mistake_bound: float
    size: float
    n_iter: int
    classes_: np.ndarray
    fit_intercept: bool


def separability(X: Any, y: Any, *, fit_intercept: bool = True, tol: float = 1e-6,
                 max_iter: int = 10_000) -> Separability:
    """Find out whether a hyperplane separates the classes, with a certificate either way.

    Two classes are separable if some w and b have ``y_i (w.x_i + b) > 0`` for all rows, y = +-1;
    more classes if some W and b give each row its largest response at its own class. If so, the
    answer is such a hyperplane, nearly the one of the largest margin. If not, there are convex
    combinations of the rows of both classes that meet [1]_, and the answer is their weights. Either
    is checked with little effort, whatever the search did.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Class labels of any type that can be sorted, two or more.
    fit_intercept : bool, default=True
        Whether hyperplanes have an intercept, or go through 0.
    tol : float, default=1e-6
        The verdict is False once no margin above ``tol * size`` is possible and no smaller one was
        found, > 0: in floating point, hulls that touch cannot be told from hulls that don't. Where
        the spreads of columns are very unlike, the same must be so of columns of like spread.
    max_iter : int, default=10000
        Largest number of iterations of the search.

    Returns
    -------
    Separability
        The verdict with its certificates. It is a linear classifier as far as `margin` and
        `mistake_bound` are concerned.

    Raises
    ------
    ValueError
        If X or y is not valid, or holds a single class.

    Warns
    -----
    ConvergenceWarning
        If the search ended without a verdict.

    See Also
    --------
    margin : By how much a given classifier separates rows.

    References
    ----------
    .. [1] P. Gordan, "Ueber die Aufloesung linearer Gleichungen mit reellen Coefficienten",
       Mathematische Annalen 6, 1873.
    .. [2] A. B. J. Novikoff, "On convergence proofs on perceptrons", Symposium on the Mathematical
       Theory of Automata, 1962.

    Examples
    --------
    Exclusive or is not separable, until the product of both inputs is a feature:

    >>> import numpy as np
    >>> from fastlin import separability
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    >>> found = separability(X, y)
    >>> found.separable, found.weights.round(3)
    (False, array([0.25, 0.25, 0.25, 0.25]))
    >>> found = separability(np.c_[X, X[:, 0] * X[:, 1]], y)
    >>> found.separable, found.margin > 0.15
    (True, True)
    """
    Boolean().check("fit_intercept", fit_intercept)
    Real(0, closed="right").check("tol", tol)
    Integer(1).check("max_iter", max_iter)
    rows = as_rows(X, np.float64)
    check_size(rows)
    if y is None:
        raise ValueError("y must hold the label of each row, got None.")
    classes, codes = encode_labels(check_target(y, _CALLER, n_samples=rows.shape[0]))
    if len(classes) < 2:
        raise ValueError(
            f"y must hold two classes or more, got only the class {classes.tolist()[0]!r}: "
            "there is nothing to separate."
        )
    found, size, verdict = searched(rows, codes, len(classes), fit_intercept, float(tol), max_iter)
    answer = Separability(
        verdict, found.margin, found.bound, found.W, found.b, found.weights, np.inf, size,
        found.n_iter, classes, fit_intercept,
    )  # fmt: skip
    if verdict is None:
        warn_convergence(
            f"separability found no verdict in {found.n_iter} iterations: no margin is above "
            f"{found.bound:.1e}, and none above 0 was found; raise max_iter or tol."
        )
    if verdict:
        answer = replace(answer, mistake_bound=mistake_bound(answer, rows, y))
    return answer
