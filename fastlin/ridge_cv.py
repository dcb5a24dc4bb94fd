"""`RidgeCV`: the strength of the penalty by leave-one-out, for all strengths at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._answers import answered
from ._docs import attributes, parameters
from ._exact import ExactEstimator
from ._exceptions import warn_convergence
from ._folds import Splits, splits_by
from ._leave_one_out import left_out
from ._linear import LinearRegressorMixin
from ._params import ArrayLike, Boolean, Either, OneOf, Real
from ._problem import Problem
from ._row_slices import rows_taken
from ._scoring import Scorers
from .ridge import Ridge

__all__ = ["RidgeCV"]

# The tolerance of Ridge, which a factorisation is far below
_TOL = 1e-4


class RidgeCV(LinearRegressorMixin, ExactEstimator):
    __doc__ = f"""Ridge regression whose penalty is chosen by cross-validation.

    By default each row is predicted by the model trained without it, exactly and for all alphas,
    from one factorisation of the smaller of the Gram matrices of columns and of rows. Weights are
    repetitions: of a row of weight above 1 the model is trained without one unit, where
    scikit-learn leaves out the whole row. With `cv` the models of all folds are solved for.

    Parameters
    ----------
    alphas : float or array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Strengths to try, > 0.
    {parameters("fit_intercept")}
    scoring : str, callable or None, default=None
        What the best alpha has the largest value of, over all rows held out one by one, or its mean
        over the folds of `cv`. None is minus the weighted mean squared error, and R^2 with `cv`.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out; anything else as in `cross_validate`.
    gcv_mode : {{"auto", "svd", "eigen"}} or None, default=None
        Accepted for scikit-learn's sake: it names a way to the same numbers.
    store_cv_results : bool, default=False
        Whether to keep `cv_results_`; for leave-one-out only.
    alpha_per_target : bool, default=False
        Accepted for scikit-learn's sake; True is refused, since there is one target.

    Attributes
    ----------
    alpha_ : float
        The best strength; the first of those that are equally good.
    best_score_ : float
        Its score.
    cv_results_ : ndarray of shape (n_samples, n_alphas)
        Squared errors of the rows held out, or with `scoring` the answers to them; if
        `store_cv_results`.
    coef_ : ndarray of shape (n_features,)
        Weights of the best strength on all rows, of the dtype of the rows.
    intercept_ : float
        The intercept.
    n_iter_ : int
        Iterations of the last fit.
    objective_ : float
        What is minimised, over ``2 sum(s)``.
    duality_gap_ : float
        Distance to the optimum, at most: as a share of `objective_`.
    {attributes("coef_", "intercept_", "classes_", "n_iter_", "t_", "trace_")}

    References
    ----------
    .. [1] G. H. Golub, M. Heath, G. Wahba, "Generalized cross-validation as a method for choosing a
       good ridge parameter", Technometrics 21, 1979.
    .. [2] R. Rifkin, R. Lippert, "Notes on regularized least squares", MIT, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import RidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 20))
    >>> y = X[:, 0] + rng.normal(size=30)
    >>> model = RidgeCV(alphas=[0.01, 1.0, 10.0, 100.0]).fit(X, y)
    >>> model.alpha_
    100.0
    """

    _constraints: ClassVar = {
        "alphas": Either(Real(0, closed="right"), ArrayLike()),
        "gcv_mode": OneOf(None, "auto", "svd", "eigen"),
        "store_cv_results": Boolean(),
        "alpha_per_target": Boolean(),
    }

    def __init__(self, alphas=(0.1, 1.0, 10.0), *, fit_intercept=True, scoring=None, cv=None,
                 gcv_mode=None, store_cv_results=False, alpha_per_target=False):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    def _check_together(self) -> None:
        if self.alpha_per_target:
            raise ValueError("alpha_per_target=True is not available: there is one target; fit one "
                             "RidgeCV for each.")
        if self.store_cv_results and self.cv is not None:
            raise ValueError("store_cv_results=True needs cv=None: folds leave no result for each "
                             "row.")

    def _grid(self) -> np.ndarray:
        """The alphas."""
        values = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        good = values.ndim == 1 and len(values) and np.isfinite(values).all()
        if not good or values.min() <= 0:
            raise ValueError(f"alphas must hold numbers > 0, at least one, got {self.alphas!r}.")
        return values

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        """Choose alpha, and fit with it on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions, in training and in scores; 0 removes a row. Of a row
            whose weight is above 1 one repetition is left out at a time.
        groups : array-like of shape (n_samples,), optional
            What `cv` may not tear apart, for a splitter that asks for it (`GroupKFold`).

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid, the message says which and where; if
            leave-one-out would factorise too large a matrix.

        Warns
        -----
        ConvergenceWarning
            If rounding kept the model from its optimum; the message states the gap.
        """
        rows, y, weight = self._begin(X, y, sample_weight)
        alphas = self._grid()
        if self.cv is None:
            self._fit_leave_one_out(rows, y, weight, alphas)
        else:
            splits = splits_by(self.cv, self, rows, y, groups)
            self._fit_folds(rows, y, weight, alphas, splits)
        return self

    def _fit_leave_one_out(self, rows: Any, y: np.ndarray, weight: np.ndarray | None,
                           alphas: np.ndarray) -> None:
        """From one factorisation."""
        kept = np.flatnonzero(np.ones(len(y)) if weight is None else weight)
        whole = len(kept) == len(y)
        problem = Problem(
            X=rows if whole else rows_taken(rows, kept), y=y[kept], loss="squared_error",
            weight=np.empty(0) if weight is None else weight[kept],
            fit_intercept=self.fit_intercept,
        )  # fmt: skip
        strengths = alphas / problem.total_weight
        way = left_out(problem, strengths)
        errors = way.residuals(strengths, by_units=True)
        scores = self._scores(errors, problem)
        best = int(np.argmax(scores))
        self.alpha_, self.best_score_ = float(alphas[best]), float(scores[best])
        if self.store_cv_results:
            results = errors**2 if self.scoring is None else problem.y[:, None] - errors
            # rows of no weight are in no model: nothing is known of them
            self.cv_results_ = np.full((len(y), len(alphas)), np.nan)
            self.cv_results_[kept] = results
        fit = way.fit(strengths[best], _TOL)
        self._publish([fit], rows.dtype, [0], 1)
        if not fit.converged:
            warn_convergence(
                "RidgeCV found a model with a duality gap of "
                f"{fit.certificate.relative_gap:.1e} of the objective > {_TOL:g}: rounding errors "
                "may spoil it, and the scores of all alphas. Scale the columns of X, or raise "
                "alphas."
            )

    def _scores(self, errors: np.ndarray, problem: Problem) -> np.ndarray:
        """A score for each alpha; a single row has none, and then the first is as good as any."""
        if len(problem.y) < 2:
            return np.zeros(errors.shape[1])
        if self.scoring is None:
            return -problem.weighted(np.ones(len(errors))) @ errors**2
        scorers = Scorers(self, self.scoring, "raise")
        params = {"sample_weight": problem.weight} if len(problem.weight) else {}
        answers = (problem.y[:, None] - errors).T
        return np.array([
            scorers(answered(self, np.ascontiguousarray(z)), None, problem.y, params)["score"]
            for z in answers
        ])

    def _fit_folds(self, rows: Any, y: np.ndarray, weight: np.ndarray | None,
                   alphas: np.ndarray, splits: Splits) -> None:
        """By the mean score over folds."""
        from .model_selection import GridSearchCV

        weights = {} if weight is None else {"sample_weight": weight}
        search = GridSearchCV(
            Ridge(fit_intercept=self.fit_intercept), {"alpha": alphas.tolist()},
            scoring=self.scoring, cv=splits, error_score="raise",
        ).fit(rows, y, **weights)  # fmt: skip
        best = search.best_estimator_
        self.alpha_, self.best_score_ = best.alpha, float(search.best_score_)
        self.coef_, self.intercept_, self.n_iter_ = best.coef_, best.intercept_, best.n_iter_
        self.objective_, self.duality_gap_ = best.objective_, best.duality_gap_
