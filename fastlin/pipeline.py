"""Pipelines: transformers and a final estimator as one estimator, without scikit-learn.

scikit-learn's own `Pipeline` takes estimators of fastlin as they are and is the one to use where
scikit-learn is installed anyway. This one has the same interface and serves text models: it
needs numpy and scipy only, and `fastlin.save` can store it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._delegation import Delegated, from_last, passes
from ._exceptions import not_fitted
from ._named_parts import NamedParts, named_by_class
from ._output import set_transform_output
from ._params import shown
from ._routing import pipeline_router, routing_is_on

__all__ = ["Pipeline", "make_pipeline"]


class _Steps(dict):
    """Steps by name, as items and as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no step {name!r}; the steps are {list(self)}") from None


class Pipeline(NamedParts):
    """Transformers that run one after the other, and a final estimator.

    Parameters
    ----------
    steps : list of (str, estimator)
        Names and estimators. All but the last need `transform`; the last may be any estimator.
        "passthrough" or None in place of an estimator does nothing.

    Attributes
    ----------
    named_steps : dict
        The steps by name; they can be reached as attributes too.
    classes_ : ndarray of shape (n_classes,)
        That of the last step, if it has any.
    n_features_in_ : int
        That of the first step, if it has any.
    feature_names_in_ : ndarray of str, dtype object
        That of the first step, if it has any.

    See Also
    --------
    make_pipeline : Makes up the names.

    Notes
    -----
    Steps are fitted in place. Unlike that of scikit-learn, the class caches nothing (`memory`)
    and prints nothing (`verbose`).

    Examples
    --------
    >>> from fastlin import HashingVectorizer, Pipeline, SGDClassifier
    >>> model = Pipeline([("hash", HashingVectorizer()), ("sgd", SGDClassifier(random_state=0))])
    >>> texts = ["win a prize now", "see you at lunch"] * 10
    >>> model.fit(texts, ["spam", "ham"] * 10).predict(["a prize for you to win"]).tolist()
    ['spam']
    """

    _fitted_attribute = None
    _parts = "steps"

    def __init__(self, steps):
        self.steps = steps

    def _check_params(self) -> None:
        """Check names and kinds of the steps."""
        if not isinstance(self.steps, (list, tuple)) or not self.steps:
            raise ValueError(
                f"steps must be a list of at least one (name, estimator), got {shown(self.steps)}."
            )
        seen = set()
        for place, step in enumerate(self.steps):
            if not isinstance(step, (list, tuple)) or len(step) != 2:
                raise ValueError(f"steps must hold pairs (name, estimator), got {shown(step)}.")
            name, estimator = step
            if not isinstance(name, str) or "__" in name or name in ("", "steps") or name in seen:
                raise ValueError(
                    "steps must have different names without '__' that are not 'steps', got "
                    f"{shown(name)}."
                )
            seen.add(name)
            self._check_step(name, estimator, is_last=place == len(self.steps) - 1)

    def _check_step(self, name: str, step: Any, is_last: bool) -> None:
        """Raise TypeError if a step cannot stand at its place."""
        if passes(step):
            return
        if isinstance(step, type):
            raise TypeError(f"The step {name} is the class {step.__name__}; pass an instance.")
        if not hasattr(step, "fit"):
            raise TypeError(f"The step {name} must have fit, got {shown(step)}.")
        if not is_last and not hasattr(step, "transform"):
            raise TypeError(
                f"The step {name} is not the last and must have transform, got {shown(step)}."
            )

    # Steps ----------------------------------------------------------------------------------

    @property
    def named_steps(self) -> dict[str, Any]:
        """The steps by name."""
        return _Steps(self.steps)

    @property
    def _final(self) -> Any:
        """The last step; None if it does nothing."""
        step = self.steps[-1][1]
        return None if passes(step) else step

    def _transformers(self) -> Iterator[tuple[str, Any]]:
        """Yield the steps before the last that do something."""
        for name, step in self.steps[:-1]:
            if not passes(step):
                yield name, step

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, key: int | str | slice) -> Any:
        """Return a step by place or name, or a pipeline of some of them."""
        if isinstance(key, slice):
            if key.step not in (1, None):
                raise ValueError(f"A slice of a Pipeline must have the step 1, got {key.step!r}.")
            return type(self)(self.steps[key])
        if isinstance(key, str):
            return self.named_steps[key]
        return self.steps[key][1]

    @property
    def classes_(self) -> np.ndarray:
        """The classes of the last step."""
        return self._final.classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns that the first step was fitted with."""
        return self.steps[0][1].n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The column names that the first step was fitted with."""
        return self.steps[0][1].feature_names_in_

    # Kind -----------------------------------------------------------------------------------

    @property
    def _estimator_type(self) -> str | None:
        """The kind of the last step."""
        return getattr(self._final, "_estimator_type", None) if self.steps else None

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: those of the last step, with the input of the first."""
        from sklearn.utils import get_tags

        steps = [step for _, step in self.steps if not passes(step)]
        if not steps or not hasattr(steps[-1], "__sklearn_tags__"):
            return super().__sklearn_tags__()
        tags = copy.deepcopy(get_tags(steps[-1]))
        if hasattr(steps[0], "__sklearn_tags__"):
            tags.input_tags = copy.deepcopy(get_tags(steps[0]).input_tags)
        # what the first lets pass may stop at another
        nan = [hasattr(s, "__sklearn_tags__") and get_tags(s).input_tags.allow_nan for s in steps]
        tags.input_tags.allow_nan = all(nan)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether the last step that does something is fitted."""
        for _, step in reversed(self.steps):
            if not passes(step):
                is_fitted = getattr(step, "__sklearn_is_fitted__", None)
                return (
                    any(n.endswith("_") for n in vars(step)) if is_fitted is None else is_fitted()
                )
        return True

    def _check_fitted(self, method: str | None = None) -> None:
        """Raise NotFittedError if the last step is not fitted."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self, method)

    # Fitting --------------------------------------------------------------------------------

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's `MetadataRouter`: which metadata goes to which step.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        return pipeline_router(self, self.steps, self.steps[-1][0])

    def _routed(self, params: dict[str, Any], method: str) -> dict[str, dict[str, Any]]:
        """Sort arguments by step: ``step__argument``, or as scikit-learn's metadata routing says
        where it is on."""
        routed: dict[str, dict[str, Any]] = {name: {} for name, _ in self.steps}
        if params and routing_is_on():
            from sklearn.utils.metadata_routing import process_routing

            callee = "score" if method == "score" else "fit"
            found = process_routing(self, method, **params)
            return {name: dict(found.get(name, {}).get(callee, {})) for name in routed}
        for key, value in params.items():
            name, nests, argument = key.partition("__")
            if not nests:
                last = self.steps[-1][0]
                raise ValueError(
                    f"Pipeline.fit does not take {key}; say which step it is for, as in "
                    f"{last}__{key}."
                )
            if name not in routed:
                raise ValueError(f"{key} is for no step; the steps are {list(routed)}.")
            routed[name][argument] = value
        return routed

    def _fit_transformers(self, X: Any, y: Any, routed: dict[str, dict[str, Any]]) -> Any:
        """Fit all steps but the last, each on what those before made of X."""
        for name, step in self._transformers():
            X = _fitted_transform(step, X, y, routed[name])
        return X

    def fit(self, X: Any, y: Any = None, **params: Any) -> Pipeline:
        """Fit the steps, each on what those before it made of X.

        Parameters
        ----------
        X : iterable
            What the first step takes.
        y : array-like of shape (n_samples,), default=None
            The target.
        **params
            Arguments of the steps' own `fit` as ``step__argument``, such as
            ``sgdclassifier__sample_weight``; where scikit-learn's metadata routing is switched on,
            arguments that the steps ask for, such as ``sample_weight``.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the steps are not what they should be, or an argument names none of them.
        """
        self._check_params()
        routed = self._routed(params, "fit")
        X = self._fit_transformers(X, y, routed)
        if self._final is not None:
            self._final.fit(X, y, **routed[self.steps[-1][0]])
        return self

    @Delegated
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the steps and return what they make of X.

        Parameters
        ----------
        X, y, **params
            As for `fit`.

        Returns
        -------
        array or sparse matrix
            What the last step returns.
        """
        self._check_params()
        routed = self._routed(params, "fit_transform")
        X = self._fit_transformers(X, y, routed)
        if self._final is None:
            return X
        return _fitted_transform(self._final, X, y, routed[self.steps[-1][0]])

    # Using ----------------------------------------------------------------------------------

    def _transformed(self, X: Any, method: str) -> Any:
        """Return what the steps before the last make of X."""
        self._check_fitted(method)
        for _, step in self._transformers():
            X = step.transform(X)
        return X

    predict = from_last("predict", "the prediction", "(n_samples,)")
    predict_proba = from_last("predict_proba", "probabilities", "(n_samples, n_classes)")
    predict_log_proba = from_last(
        "predict_log_proba", "logarithms of probabilities", "(n_samples, n_classes)"
    )
    decision_function = from_last(
        "decision_function", "the decision values", "(n_samples,) or (n_samples, n_classes)"
    )

    @Delegated
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Transform X and return the score of the last step.

        Parameters
        ----------
        X : iterable
            What the first step takes.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
        """
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        if weight and routing_is_on():
            weight = self._routed(weight, "score")[self.steps[-1][0]]
        return self._final.score(self._transformed(X, "score"), y, **weight)

    @Delegated
    def transform(self, X: Any) -> Any:
        """Return what all steps make of X.

        Parameters
        ----------
        X : iterable
            What the first step takes.

        Returns
        -------
        array or sparse matrix
        """
        X = self._transformed(X, "transform")
        return X if self._final is None else self._final.transform(X)

    @Delegated
    def inverse_transform(self, X: Any) -> Any:
        """Undo the steps, the last first.

        Parameters
        ----------
        X : array-like or sparse matrix
            What `transform` returned.

        Returns
        -------
        array or sparse matrix
        """
        self._check_fitted("inverse_transform")
        for _, step in reversed(self.steps):
            if not passes(step):
                X = step.inverse_transform(X)
        return X

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that the last step makes.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input columns.

        Returns
        -------
        ndarray of str, dtype object
        """
        names = input_features
        for _, step in self.steps:
            if not passes(step):
                names = step.get_feature_names_out(names)
        return names

    def set_output(self, *, transform: str | None = None) -> Pipeline:
        """Choose what `transform` returns, in every step.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            The container; None leaves the choice as it is.

        Returns
        -------
        self
        """
        set_transform_output(self, transform)
        for _, step in self.steps:
            if not passes(step) and hasattr(step, "set_output"):
                step.set_output(transform=transform)
        return self


def _fitted_transform(step: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Fit a transformer and return what it makes of X."""
    if hasattr(step, "fit_transform"):
        return step.fit_transform(X, y, **params)
    return step.fit(X, y, **params).transform(X)


def make_pipeline(*steps: Any) -> Pipeline:
    """Make a `Pipeline` whose steps are named after their classes.

    Parameters
    ----------
    *steps : estimators
        Names are the classes in lower case; several of one class get the suffixes -1, -2, ...

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> import fastlin
    >>> model = fastlin.make_pipeline(fastlin.HashingVectorizer(), fastlin.SGDClassifier())
    >>> list(model.named_steps)
    ['hashingvectorizer', 'sgdclassifier']
    """
    return Pipeline(list(zip(named_by_class(steps), steps, strict=True)))
