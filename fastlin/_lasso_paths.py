"""`path` of `Lasso` and `ElasticNet`, with scikit-learn's signature."""

from __future__ import annotations

from typing import Any

from ._lasso_cv import regularization_path_of
from ._params import ArrayLike, Boolean, Constraint, Either, Integer, OneOf

__all__ = ["enet_path"]

_CONSTRAINTS: dict[str, Constraint] = {
    "n_alphas": Either(Integer(1), OneOf(None)),
    "precompute": Either(Boolean(), OneOf("auto"), ArrayLike()),
    "copy_X": Boolean(),
    "verbose": Either(Boolean(), Integer(0)),
    "return_n_iter": Boolean(),
    "check_input": Boolean(),
}
# What further arguments may be; the first ones change nothing, as those of the estimators
_IDLE: dict[str, Constraint] = {"selection": OneOf("cyclic", "random")}
_FURTHER = ("tol", "max_iter", "sample_weight")


def enet_path(X: Any, y: Any, *, l1_ratio: float = 0.5, eps: float = 1e-3,
              n_alphas: int | None = None, alphas: Any = 100, precompute: Any = "auto",
              Xy: Any = None, copy_X: bool = True, coef_init: Any = None, verbose: Any = False,
              return_n_iter: bool = False, positive: bool = False, check_input: bool = True,
              **params: Any) -> tuple:
    """Solve for many strengths of the penalty, from the largest on, without an intercept.

    The same as `regularization_path` with scikit-learn's signature; `l1_ratio` has scikit-learn's
    default for `Lasso` too. Centre X and y first where there is an intercept, or use
    `regularization_path`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The target.
    l1_ratio : float, default=0.5
        Share of L1 in the penalty, in [0, 1].
    eps : float, default=1e-3
        The smallest alpha of a grid as a share of the largest, in (0, 1).
    n_alphas : int or None, default=None
        An older name of a number of `alphas`.
    alphas : int or array-like of float, default=100
        How many alphas in geometric steps, from the smallest that leaves no weight down; or the
        alphas themselves, >= 0. None is 100.
    precompute : bool, "auto" or array-like, default="auto"
        Accepted for scikit-learn's sake: no Gram matrix is needed here.
    Xy : None, default=None
        Must be None: products go with a Gram matrix.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake: X is never written to.
    coef_init : None, default=None
        Must be None: each search starts from the answer before, and ends at the optimum.
    verbose : bool or int, default=False
        Accepted for scikit-learn's sake: nothing is printed.
    return_n_iter : bool, default=False
        Whether to return the numbers of turns as well.
    positive : bool, default=False
        Whether no weight may be negative.
    check_input : bool, default=True
        Accepted for scikit-learn's sake: input is always checked.
    **params
        `tol`, `max_iter` and `sample_weight` of `regularization_path`; `selection` and
        `random_state` change nothing.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, the largest first.
    coefs : ndarray of shape (n_features, n_alphas)
        The weights.
    dual_gaps : ndarray of shape (n_alphas,)
        How far each objective is above the smallest possible, at most.
    n_iters : ndarray of shape (n_alphas,), dtype int64
        With `return_n_iter` only.

    Raises
    ------
    ValueError
        If an argument is not valid; the message says which and where.
    TypeError
        If `params` has a name that is not known.

    Examples
    --------
    >>> from fastlin import Lasso
    >>> alphas, coefs, gaps = Lasso.path([[1.0], [-1.0]], [1.0, -1.0], l1_ratio=1.0, alphas=[0.5])
    >>> coefs
    array([[0.5]])
    """
    given = {"n_alphas": n_alphas, "precompute": precompute, "copy_X": copy_X, "verbose": verbose,
             "return_n_iter": return_n_iter, "check_input": check_input}
    for name, constraint in _CONSTRAINTS.items():
        constraint.check(name, given[name])
    for name, value in (("Xy", Xy), ("coef_init", coef_init)):
        if value is not None:
            raise ValueError(f"{name} must be None: it would change nothing in the optima that "
                             "path returns.")
    params.pop("random_state", None)
    for name, constraint in _IDLE.items():
        if name in params:
            constraint.check(name, params.pop(name))
    for name in params:
        if name not in _FURTHER:
            raise TypeError(f"path() got an unexpected keyword argument {name!r}.")
    if n_alphas is not None:
        alphas = n_alphas
    options = {"tol": 1e-4, "max_iter": 1000, "sample_weight": None, **params}
    grid, coefs, _, gaps, _, n_iters = regularization_path_of(
        X, y, loss="squared_error", l1_ratio=l1_ratio, alphas=100 if alphas is None else alphas,
        eps=eps, fit_intercept=False, positive=positive, **options,
    )
    return (grid, coefs, gaps, n_iters) if return_n_iter else (grid, coefs, gaps)
