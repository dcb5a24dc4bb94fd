"""`GridSearchCV`."""

from __future__ import annotations

import copy
import numbers
import time
from typing import Any, ClassVar

import numpy as np

from ._base import Estimator
from ._best import FromBest, estimator_behind
from ._clone import clone, cloned_params
from ._folds import checked_data, is_classifier, splits_of, warn_of_absent_classes
from ._folds_run import run
from ._grid import points_of, results_table
from ._params import Boolean, Callable, Either, HasMethods, Instance, Integer, OneOf, shown
from ._plan import Outcome, Plan
from ._routed import Routed
from ._routing import routing_is_on
from ._scored import PRE_DISPATCH, check_run_options, finish_failures
from ._scoring import Scorers

__all__ = ["GridSearchCV"]

_FOUND = (
    "cv_results_", "n_splits_", "scorer_", "multimetric_", "best_index_", "best_params_",
    "best_score_", "best_estimator_", "refit_time_", "feature_names_in_",
)  # fmt: skip
_SCORES = "(n_samples,) or (n_samples, n_classes)"


class GridSearchCV(Estimator):
    """The best point of a grid of parameters, by cross-validation.

    All folds and all points of the grid train together, in one pass over the data for 16 models at
    a time, where the estimator allows it: those of stochastic gradient descent do. Of a pipeline,
    steps that learn nothing run once on all rows, others once for each fold. Any other estimator is
    fitted fold by fold.

    Parameters
    ----------
    estimator : estimator
        Of fastlin or any other with scikit-learn's interface; it is cloned and stays as it is.
    param_grid : dict or list of dict
        From parameter (``step__parameter`` in a pipeline) to the list of its values; several grids
        are searched one after the other.
    scoring : str, callable, list, tuple, dict or None, default=None
        As in `cross_validate`. With several scores `refit` names the one that decides.
    n_jobs : int or None, default=None
        Threads; -1 is all cores. The result does not depend on it.
    refit : bool, str or callable, default=True
        Whether to fit the best estimator on all rows; with several scores the name of the one that
        decides. A callable takes `cv_results_` and returns `best_index_`.
    cv : int, splitter, iterable or None, default=None
        As in `cross_validate`: 5 folds, stratified for classifiers.
    verbose : int, default=0
        1 prints the number of fits, 2 and more a line for each.
    pre_dispatch : int, str or None, default="2*n_jobs"
        For code written for scikit-learn; another value than the default has no effect and warns.
    error_score : float or "raise", default=nan
        The score of a fit that failed, with a warning; "raise" raises the error.
    return_train_score : bool, default=False
        Whether to score the training parts too.
    memory_limit : int or None, default=None
        Bytes that the weights of models trained together may take; more models than that allows are
        trained in several passes. None is a quarter of the machine's memory.

    Attributes
    ----------
    cv_results_ : dict of str to array
        For each point of the grid: ``params``, ``param_<name>``, ``split<k>_test_score``,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``, ``mean_fit_time``,
        ``std_fit_time``, ``mean_score_time``, ``std_score_time``, and ``..._train_score`` on
        request. With several scores their names take the place of ``score``. Models that train
        together share their time evenly.
    best_estimator_ : estimator
        Fitted on all rows; not with ``refit=False``.
    best_score_ : float
        Its mean score over the test parts; not with a callable `refit`.
    best_params_ : dict
        Its point of the grid.
    best_index_ : int
        Its place in `cv_results_`.
    scorer_ : callable or dict
        The scorer, or several by name.
    n_splits_ : int
        Number of folds.
    refit_time_ : float
        Seconds of the last fit.
    multimetric_ : bool
        Whether there are several scores.
    classes_ : ndarray of shape (n_classes,)
        Those of the best estimator, if it is a classifier.
    n_features_in_ : int
        That of the best estimator.
    feature_names_in_ : ndarray of str, dtype object
        Those of the best estimator, if it has seen any.

    Notes
    -----
    Models of one pass visit the rows in one order, drawn from the `random_state` of the estimator:
    each equals one trained alone on its rows in that order. A lone fit on the rows of a fold draws
    another order, so that its scores differ as they do between two seeds; with ``shuffle=False``
    they are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import GridSearchCV, SGDClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> search = GridSearchCV(SGDClassifier(random_state=0), {"alpha": [1e-4, 1.0, 100.0]})
    >>> search.fit(X, X[:, 0] > 0).best_params_
    {'alpha': 0.0001}
    """

    _constraints: ClassVar = {
        "estimator": HasMethods("fit"),
        "n_jobs": Either(Integer(), OneOf(None)),
        "refit": Either(Boolean(), Instance(str), Callable()),
        "verbose": Either(Integer(0), Boolean()),
        "pre_dispatch": PRE_DISPATCH,
        "error_score": Either(Instance(numbers.Real), OneOf("raise")),
        "return_train_score": Boolean(),
        "memory_limit": Either(Integer(1), OneOf(None)),
    }
    _fitted_attribute = "cv_results_"

    def __init__(self, estimator, param_grid, *, scoring=None, n_jobs=None, refit=True, cv=None,
                 verbose=0, pre_dispatch="2*n_jobs", error_score=np.nan,
                 return_train_score=False, memory_limit=None):
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.memory_limit = memory_limit

    # Searching ------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, **params: Any) -> GridSearchCV:
        """Score all points of the grid and fit the best.

        Parameters
        ----------
        X : array, sparse matrix, Rows, frame or list of n_samples
            The data.
        y : array-like of shape (n_samples,), default=None
            The target.
        **params
            `groups` goes to the splitter, everything else to `fit` of the estimator; what has one
            value for each row is split like y. `sample_weight` goes to the scorers too, as far as
            they take it, unlike that of `params` of `cross_validate`. Under scikit-learn's metadata
            routing its router decides.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter is not valid, or every fit failed.

        Warns
        -----
        UserWarning
            If the training part of a fold lacks a class; the message lists the folds.
        FitFailedWarning
            If some fits failed.
        """
        self._check_params()
        check_run_options(self.verbose, self.pre_dispatch)
        points = points_of(self.param_grid)
        scorers = Scorers(self.estimator, self.scoring, self.error_score)
        if scorers.is_multiple:
            self._check_refit(scorers.by_name)
        X, y = checked_data(X, y)
        arguments = self._routed(scorers, params)
        splits = splits_of(self.cv, self.estimator, X, y, arguments.split)
        if y is not None and is_classifier(self.estimator):
            warn_of_absent_classes(y, splits)
        if self.verbose:
            print(
                f"Fitting {len(splits)} folds for each of {len(points)} candidates: "
                f"{len(splits) * len(points)} fits"
            )
        plan = Plan(
            self.estimator, points, splits, X, y, scorers, arguments.fit, arguments.score,
            train_scores=self.return_train_score, n_jobs=self.n_jobs,
            memory_limit=self.memory_limit, verbose=self.verbose,
        )  # fmt: skip
        outcomes = run(plan)
        finish_failures(outcomes, scorers)
        found = self._found(plan, outcomes)
        if self.refit:
            found.update(self._refit(X, y, arguments.fit, found["best_params_"]))
        # all at once: a search that ends early leaves the results of an earlier one as they were
        for name in _FOUND:
            vars(self).pop(name, None)
        vars(self).update(found)
        return self

    def _routed(self, scorers: Scorers, params: dict[str, Any]) -> Routed:
        """Sort the arguments of `fit`."""
        if routing_is_on():
            from sklearn.utils.metadata_routing import process_routing

            found = process_routing(self, "fit", **params)
            return Routed(found.estimator.fit, found.splitter.split, found.scorer.score)
        params = dict(params)
        split = {"groups": params.pop("groups", None)}
        weight = params.get("sample_weight")
        score = {}
        if weight is not None and scorers.accepts_weight(type(self).__name__):
            score = {"sample_weight": weight}
        return Routed(params, split, score)

    def _check_refit(self, names: Any) -> None:
        """Raise if there are several scores and none of them is to decide."""
        named = isinstance(self.refit, str) and self.refit in names
        if self.refit is not False and not named and not callable(self.refit):
            raise ValueError(
                "For multi-metric scoring, refit must be the name of the score that decides "
                f"({', '.join(map(repr, names))}), a callable or False, got {shown(self.refit)}."
            )

    def _found(self, plan: Plan, outcomes: list[Outcome]) -> dict[str, Any]:
        """Return the attributes that the outcomes give."""
        multiple = plan.scorers.is_multiple or set(outcomes[0].scores) != {"score"}
        if multiple:
            self._check_refit(outcomes[0].scores)
        n_splits = len(plan.splits)
        results = results_table(plan.candidates, n_splits, outcomes, self.return_train_score)
        found = {
            "cv_results_": results,
            "n_splits_": n_splits,
            "scorer_": plan.scorers.public,
            "multimetric_": multiple,
        }
        if self.refit or not multiple:
            metric = self.refit if multiple else "score"
            best = found["best_index_"] = self._best_index(results, metric)
            found["best_params_"] = results["params"][best]
            if not callable(self.refit):
                found["best_score_"] = results[f"mean_test_{metric}"][best]
        return found

    def _best_index(self, results: dict[str, Any], metric: Any) -> int:
        """Return the place of the best point, the first of equals."""
        if not callable(self.refit):
            return results[f"rank_test_{metric}"].argmin()
        best = self.refit(results)
        if not isinstance(best, numbers.Integral):
            raise TypeError(f"refit must return the integer best_index_, got {shown(best)}.")
        if not 0 <= best < len(results["params"]):
            raise IndexError(
                f"refit must return a best_index_ in [0, {len(results['params'])}), got {best}."
            )
        return best

    def _refit(
        self, X: Any, y: Any, fit_params: dict[str, Any], best_params: dict[str, Any]
    ) -> dict[str, Any]:
        """Fit the best estimator on all rows; returns the attributes that this gives."""
        best = clone(self.estimator).set_params(**cloned_params(best_params))
        start = time.perf_counter()
        best.fit(X, *(() if y is None else (y,)), **fit_params)
        found = {"best_estimator_": best, "refit_time_": time.perf_counter() - start}
        if hasattr(best, "feature_names_in_"):
            found["feature_names_in_"] = best.feature_names_in_
        return found

    # Using the best -------------------------------------------------------------------------

    predict = FromBest("the predictions", "ndarray of shape (n_samples,)")
    predict_proba = FromBest("probabilities", "ndarray of shape (n_samples, n_classes)")
    predict_log_proba = FromBest(
        "logarithms of probabilities", "ndarray of shape (n_samples, n_classes)"
    )
    decision_function = FromBest("the decision values", f"ndarray of shape {_SCORES}")
    score_samples = FromBest("the scores of the rows", "ndarray of shape (n_samples,)")
    transform = FromBest("X transformed", "array or sparse matrix with n_samples rows")
    inverse_transform = FromBest("X before it was transformed", "array or sparse matrix")

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score of the best estimator on these data, by `scoring`.

        Parameters
        ----------
        X : array-like, sparse matrix or list of n_samples
            The rows to predict.
        y : array-like of shape (n_samples,), default=None
            Their targets.
        **params
            Arguments of the scorer; only under scikit-learn's metadata routing.

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            Before `fit`.
        AttributeError
            With ``refit=False``.
        """
        if not self.refit:
            estimator_behind(self, "score")
        self._check_fitted("score")
        if params:
            if not routing_is_on():
                raise ValueError(
                    f"score takes {', '.join(params)} only where scikit-learn's metadata routing "
                    "is switched on: sklearn.set_config(enable_metadata_routing=True)."
                )
            from sklearn.utils.metadata_routing import process_routing

            params = process_routing(self, "score", **params).scorer.score
        scorer = self.scorer_
        if self.multimetric_ and not isinstance(self.refit, str):
            raise ValueError(
                f"score needs refit to be the name of one of several scores, got "
                f"{shown(self.refit)}; call one of scorer_."
            )
        if isinstance(scorer, dict):
            scorer = scorer[self.refit]
        targets = () if y is None else (y,)
        score = scorer(self.best_estimator_, X, *targets, **params)
        return score[self.refit] if isinstance(score, dict) else score

    @property
    def classes_(self) -> np.ndarray:
        """The classes of the best estimator."""
        return estimator_behind(self, "classes_").classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns that the best estimator was fitted with."""
        if "best_estimator_" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} has no best_estimator_ yet.")
        return self.best_estimator_.n_features_in_

    # Kind -----------------------------------------------------------------------------------

    @property
    def _estimator_type(self) -> str | None:
        """The kind of the estimator that is searched over."""
        return getattr(self.estimator, "_estimator_type", None)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: those of the estimator, as far as they are about data."""
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = copy.deepcopy(inner.classifier_tags)
        tags.regressor_tags = copy.deepcopy(inner.regressor_tags)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's `MetadataRouter` for this search.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            Who gets what: `fit` of the estimator, the scorers and the splitter.
        """
        from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

        scorers = Scorers(self.estimator, self.scoring, self.error_score)
        router = MetadataRouter(owner=self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_score = MethodMapping().add(caller="score", callee="score")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router.add(estimator=self.estimator, method_mapping=to_fit)
        router.add(
            scorer=scorers,
            method_mapping=to_score.add(caller="fit", callee="score"),
        )
        return router.add(splitter=self.cv, method_mapping=to_split)
