"""`LogisticRegressionCV`: the strength of the penalty by cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._clone import clone
from ._docs import attributes, parameters
from ._folds import Splits, splits_by
from ._labels import check_all_know
from ._lasso_cv import check_count
from ._params import ArrayLike, Boolean, Either, Integer
from .logistic import LogisticRegression

__all__ = ["LogisticRegressionCV"]

# scikit-learn's range, where the number of values is given
_DECADES = (-4.0, 4.0)


class LogisticRegressionCV(LogisticRegression):
    __doc__ = f"""Logistic regression whose penalty is chosen by cross-validation.

    For each C and each `l1_ratio` a model is solved for on every fold's training rows, and scored
    on the rows held out; the best point is then solved for on all rows. With an L2 penalty the
    models of two classes go through the data together, up to 24 at a time; more classes are a
    softmax.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        Inverse strengths to try; a number means so many between 1e-4 and 1e4, evenly in their
        logarithms.
    l1_ratios : array-like of float, default=(0.0,)
        Shares of L1 to try, in [0, 1].
    {parameters("fit_intercept")}
    cv : int, splitter, iterable or None, default=None
        As in `cross_validate`: 5 stratified folds.
    scoring : str, callable or None, default=None
        What the best point has the largest mean of; None is the accuracy.
    tol : float, default=1e-4
        Largest duality gap of each model relative to its objective, > 0.
    max_iter : int, default=1000
        Largest number of iterations of each model.
    solver : str, default="auto"
        As in `LogisticRegression`.
    {parameters("class_weight", "n_jobs")}
    verbose : int, default=0
        Above 0 a line about the optimum of each class goes to standard error after the last fit.
    refit : bool, default=True
        Whether the weights are those of a fit on all rows; otherwise they are the means over the
        folds of those of the best point.
    {parameters("random_state", random_state=0)}

    Attributes
    ----------
    {attributes("code_", "thresholds_", "n_iter_", "t_", "trace_")}
    C_ : float
        The best inverse strength.
    l1_ratio_ : float
        The best share of L1.
    Cs_ : ndarray of shape (n_cs,)
        What was tried.
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        What was tried.
    scores_ : ndarray of shape (n_folds, n_l1_ratios, n_cs)
        Scores on the rows held out.
    n_iter_ : ndarray of shape (1,) or (n_classes,), dtype int32
        Iterations of the last fit.
    objective_, duality_gap_ : ndarray of shape (1,) or (n_classes,)
        As in `LogisticRegression`, of the last fit.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LogisticRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 100))
    >>> y = X[:, 0] + rng.normal(size=200) > 0
    >>> model = LogisticRegressionCV(Cs=[0.001, 0.01, 0.1, 1.0]).fit(X, y)
    >>> model.C_ < 1
    True
    >>> model.scores_.shape
    (5, 1, 4)
    """

    _tags: ClassVar = {"multi_label": False}
    _constraints: ClassVar = {
        "Cs": Either(Integer(1), ArrayLike()),
        "l1_ratios": ArrayLike(),
        "refit": Boolean(),
    }

    def __init__(self, *, Cs=10, l1_ratios=(0.0,), fit_intercept=True, cv=None, scoring=None,
                 tol=1e-4, max_iter=1000, solver="auto", class_weight=None, n_jobs=None,
                 verbose=0, refit=True, random_state=0):
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.random_state = random_state

    def _is_joint(self, n_classes: int) -> bool:
        return n_classes > 2

    def _check_together(self) -> None:
        """Rules between two parameters."""

    def _strength(self) -> tuple[float, float]:
        """l1_ratio and C that were found, or any before."""
        return getattr(self, "l1_ratio_", 0.0), getattr(self, "C_", 1.0)

    def _grid(self, name: str) -> np.ndarray:
        """The values of Cs or l1_ratios."""
        given = getattr(self, name)
        if name == "Cs" and np.ndim(given) == 0:
            check_count("Cs", given)
            return np.logspace(*_DECADES, int(given))
        values = np.asarray(given, dtype=np.float64)
        within = values > 0 if name == "Cs" else (values >= 0) & (values <= 1)
        if values.ndim != 1 or not len(values) or not within.all():
            rule = "numbers > 0" if name == "Cs" else "numbers in [0, 1]"
            raise ValueError(f"{name} must hold {rule}, at least one, got {given!r}.")
        return values

    def _one(self, **point: Any) -> LogisticRegression:
        """The model of one point of the grid."""
        return LogisticRegression(
            tol=self.tol, fit_intercept=self.fit_intercept, class_weight=self.class_weight,
            random_state=self.random_state, solver=self.solver, max_iter=self.max_iter,
            n_jobs=self.n_jobs, **point,
        )  # fmt: skip

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        """Search, and fit the best model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            Class labels of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions, in training and in scores; 0 removes a row.
        groups : array-like of shape (n_samples,), optional
            What `cv` may not tear apart, for a splitter that asks for it (`GroupKFold`).

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid; the message says which and where.
        """
        from .model_selection import GridSearchCV

        rows, y, weight = self._begin(X, y, sample_weight)
        Cs, ratios = self._grid("Cs"), self._grid("l1_ratios")
        weights = {} if weight is None else {"sample_weight": weight}
        splits = splits_by(self.cv, self, rows, y, groups)
        search = GridSearchCV(
            self._one(), {"l1_ratio": ratios.tolist(), "C": Cs.tolist()}, scoring=self.scoring,
            n_jobs=self.n_jobs, refit=False, cv=splits, error_score="raise",
        ).fit(rows, y, **weights)  # fmt: skip
        results, n_folds = search.cv_results_, search.n_splits_
        scores = np.array([results[f"split{k}_test_score"] for k in range(n_folds)])
        points = results["params"]
        place = {(r, C): k for k, (r, C) in enumerate((p["l1_ratio"], p["C"]) for p in points)}
        at = [[place[r, C] for C in Cs.tolist()] for r in ratios.tolist()]
        self.Cs_, self.l1_ratios_, self.scores_ = Cs, ratios, scores[:, at]
        best = np.unravel_index(self.scores_.mean(axis=0).argmax(), (len(ratios), len(Cs)))
        self.l1_ratio_, self.C_ = float(ratios[best[0]]), float(Cs[best[1]])
        self._refit(rows, y, weights, splits)
        return self

    def _refit(self, rows: Any, y: np.ndarray, weights: dict[str, np.ndarray],
               splits: Splits) -> None:
        """The weights of the best point."""
        best = self._one(C=self.C_, l1_ratio=self.l1_ratio_, verbose=self.verbose)
        models = [clone(best).fit(rows, y, **weights)] if self.refit else self._of_folds(
            best, rows, y, weights, splits
        )
        self.classes_ = np.unique(y)
        check_all_know(models, self.classes_)
        self.coef_ = np.mean([m.coef_ for m in models], axis=0, dtype=rows.dtype)
        self.intercept_ = np.mean([m.intercept_ for m in models], axis=0)
        self.n_iter_ = np.max([m.n_iter_ for m in models], axis=0)
        self.objective_ = np.max([m.objective_ for m in models], axis=0)
        self.duality_gap_ = np.max([m.duality_gap_ for m in models], axis=0)

    def _of_folds(self, best: LogisticRegression, rows: Any, y: np.ndarray,
                  weights: dict[str, np.ndarray], splits: Splits) -> list[LogisticRegression]:
        """The best point on the training rows of each fold."""
        from .model_selection import cross_validate

        done = cross_validate(
            best, rows, y, cv=splits, n_jobs=self.n_jobs, params=weights, return_estimator=True,
            error_score="raise",
        )  # fmt: skip
        return done["estimator"]
