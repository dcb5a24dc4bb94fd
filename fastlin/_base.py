"""The base of every estimator: scikit-learn's interface, without scikit-learn.

Nothing here inherits from scikit-learn or imports it before scikit-learn itself asks: importing
it would cost several times the import of numpy, even for those who never use it. What its tools
need is an interface: parameters (`get_params`, `set_params`), tags, metadata routing,
`set_output`. Tags and routing must be real objects of scikit-learn's classes (it tests with
isinstance); they are made inside the methods that only scikit-learn calls.

An estimator derives from the mixins of its kind and from `Estimator`, in this order, and declares

``_constraints``
    What each constructor parameter may be (`_params`).
``_tags``
    Where it differs from `_DEFAULT_TAGS`; a tag that hangs on a parameter goes in `_live_tags`.
``_fitted_attribute``
    The attribute that the last line of `fit` sets; None if there is nothing to fit.
"""

from __future__ import annotations

import html
import numbers
import sys
from typing import Any, ClassVar

import numpy as np

from ._exceptions import not_fitted, warn
from ._output import frames_on_request, set_transform_output
from ._own_methods import give_own_methods
from ._params import Constraint, check_params, is_bool, is_nan, shown
from ._routing import ROUTED_METHODS, define_request_setter, metadata_request
from ._signature import REQUIRED, init_parameters
from ._validation import check_feature_names_in, check_sample_weight, check_target

__all__ = [
    "ClassifierMixin",
    "Estimator",
    "RegressorMixin",
    "TransformerMixin",
    "accuracy",
    "r2",
]

_DEFAULT_TAGS = {
    # X
    "two_d_array": True,
    "one_d_array": False,
    "sparse": True,
    "string": False,
    "dict": False,
    "categorical": False,
    "positive_only": False,
    "allow_nan": False,
    "pairwise": False,
    # y
    "target_required": False,
    "multi_output": False,
    # kind
    "multi_class": True,
    "multi_label": False,
    "zero_probabilities": False,
    "poor_score": False,
    "preserves_dtype": ("float64",),
    # behaviour
    "non_deterministic": False,
    "requires_fit": True,
    "no_validation": False,
}
_INPUT_TAGS = (
    "two_d_array",
    "one_d_array",
    "sparse",
    "string",
    "dict",
    "categorical",
    "positive_only",
    "allow_nan",
    "pairwise",
)


class Estimator:
    """Parameters, representation, tags, routing and pickling of every estimator."""

    _constraints: ClassVar[dict[str, Constraint]] = {}
    _tags: ClassVar[dict[str, Any]] = {}
    _fitted_attribute: str | None = "n_features_in_"
    _estimator_type: str | None = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        unknown = set(cls.__dict__.get("_tags", ())) - set(_DEFAULT_TAGS)
        if unknown:
            raise TypeError(f"{cls.__name__}._tags has unknown tags: {sorted(unknown)}.")
        for method in ROUTED_METHODS:
            define_request_setter(cls, method)
        give_own_methods(cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of estimators among them, as ``name__parameter``.

        Returns
        -------
        dict
            From name to value.
        """
        params = {}
        for name in init_parameters(type(self)):
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params.update((f"{name}__{key}", v) for key, v in value.get_params().items())
        return params

    def set_params(self, **params: Any) -> Estimator:
        """Set constructor parameters; values are checked when fitting.

        Parameters
        ----------
        **params
            New values by name; ``name__parameter`` sets a parameter of the estimator that is
            held as ``name``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a name is unknown; the message lists the known ones, and no parameter of this
            estimator is changed.
        """
        valid = init_parameters(type(self))
        own: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, nests, inner = key.partition("__")
            if name not in valid:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. "
                    f"Valid parameters are: {list(valid)}."
                )
            if nests:
                nested.setdefault(name, {})[inner] = value
            else:
                own[name] = value
        for name, held_params in nested.items():
            held = own.get(name, getattr(self, name))
            if not hasattr(held, "set_params"):
                raise ValueError(
                    f"Invalid parameter {f'{name}__{next(iter(held_params))}'!r} for estimator "
                    f"{type(self).__name__}: {name} is {shown(held)}, which has no parameters."
                )
            held.set_params(**held_params)
        for name, value in own.items():
            setattr(self, name, value)
        return self

    def _changed_params(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults."""
        return {
            name: getattr(self, name, default)
            for name, default in init_parameters(type(self)).items()
            if not _unchanged(getattr(self, name, default), default)
        }

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={shown(v, 300)}" for name, v in self._changed_params().items())
        return f"{type(self).__name__}({changed})"

    def _repr_html_(self) -> str:
        """Return a small table of the parameters for notebooks, changed ones in bold."""
        changed = self._changed_params()
        rows = []
        for name in init_parameters(type(self)):
            cells = [html.escape(name), html.escape(shown(getattr(self, name)))]
            if name in changed:
                cells = [f"<b>{cell}</b>" for cell in cells]
            rows.append(f"<tr><td>{cells[0]}</td><td>{cells[1]}</td></tr>")
        state = "fitted" if self.__sklearn_is_fitted__() else "not fitted"
        return (
            f"<details><summary><b>{html.escape(type(self).__name__)}</b> ({state})</summary>"
            f"<table>{''.join(rows)}</table></details>"
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether the estimator is fitted, also to scikit-learn's `check_is_fitted`."""
        attribute = self._fitted_attribute
        return attribute is None or attribute in self.__dict__

    def _check_fitted(self, method: str | None = None) -> None:
        """Raise NotFittedError, which names the method, if there is no model yet."""
        attribute = self._fitted_attribute
        if attribute is not None and attribute not in self.__dict__:
            raise not_fitted(self, method)

    def _check_params(self) -> None:
        """Check every constructor parameter; the first line of each `fit`."""
        check_params(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_fastlin_version": _version()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        written, here = state.pop("_fastlin_version", None), _version()
        self.__dict__.update(state)
        if written != here:
            warn(
                "UserWarning",
                f"This {type(self).__name__} was pickled by fastlin {written} and is loaded by "
                f"{here}; fit it again, or keep models with fastlin.save instead of pickle.",
            )

    def _live_tags(self) -> dict[str, Any]:
        """Return tags that hang on the parameters; they override `_tags`."""
        return {}

    def _merged_tags(self) -> dict[str, Any]:
        """Return all tags: defaults, those of each base, those of the instance."""
        merged = dict(_DEFAULT_TAGS)
        for base in reversed(type(self).__mro__):
            merged.update(base.__dict__.get("_tags", {}))
        merged.update(self._live_tags())
        return merged

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's `Tags`; only scikit-learn calls this."""
        from sklearn.utils import (
            ClassifierTags,
            InputTags,
            RegressorTags,
            Tags,
            TargetTags,
            TransformerTags,
        )

        tag, kind = self._merged_tags(), self._estimator_type
        poor = tag["poor_score"]
        # scikit-learn's checks of several labels per row rule out probabilities of exactly 0
        labels = tag["multi_label"] and not tag["zero_probabilities"]
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(
                required=tag["target_required"], multi_output=tag["multi_output"]
            ),
            transformer_tags=TransformerTags(preserves_dtype=list(tag["preserves_dtype"]))
            if hasattr(self, "transform")
            else None,
            classifier_tags=ClassifierTags(
                poor_score=poor, multi_class=tag["multi_class"], multi_label=labels
            )
            if kind == "classifier"
            else None,
            regressor_tags=RegressorTags(poor_score=poor) if kind == "regressor" else None,
            non_deterministic=tag["non_deterministic"],
            requires_fit=tag["requires_fit"],
            no_validation=tag["no_validation"],
            input_tags=InputTags(**{name: tag[name] for name in _INPUT_TAGS}),
        )

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's `MetadataRequest` for this estimator.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
            Which metadata (such as ``sample_weight``) each method asks for.
        """
        return metadata_request(self)


def _version() -> str | None:
    """Return the version of the package, None while it is being imported."""
    return getattr(sys.modules.get(__package__), "__version__", None)


def _unchanged(value: Any, default: Any) -> bool:
    """Say whether a parameter has its default value."""
    if value is default:
        return True
    if is_bool(value) != is_bool(default) or default is REQUIRED:
        return False
    if is_bool(value):
        return bool(value == default)
    if isinstance(value, (numbers.Number, str)) and isinstance(default, (numbers.Number, str)):
        return bool(value == default) or (is_nan(value) and is_nan(default))
    return isinstance(value, tuple) and repr(value) == repr(default)


def accuracy(y: Any, predicted: np.ndarray, sample_weight: np.ndarray | None = None) -> float:
    """Return the weighted share of rows whose labels are all right."""
    y = np.asarray(y)
    if y.size and predicted.size and _is_text(y) != _is_text(predicted):
        # numpy would compare them and find every row wrong.
        raise TypeError(
            f"y holds {y.dtype} labels, but the classes are of "
            f"{'strings' if _is_text(predicted) else 'numbers'}; use labels of one kind."
        )
    right = (y == predicted).reshape(len(y), -1).all(axis=1)
    return float(np.average(right, weights=sample_weight))


def _is_text(labels: np.ndarray) -> bool:
    """Say whether labels are strings."""
    return isinstance(labels.flat[0], (str, bytes))


def r2(y: np.ndarray, predicted: np.ndarray, sample_weight: np.ndarray | None = None) -> float:
    """Return the coefficient of determination, 1 - residual / total sum of squares.

    A constant y gives 1 for a perfect prediction and 0 for any other. Several outputs are
    averaged. One row has no variance: NaN with an UndefinedMetricWarning.
    """
    if len(y) < 2:
        warn("UndefinedMetricWarning", "R^2 is not defined with fewer than two samples.")
        return float("nan")
    y, predicted = np.asarray(y, np.float64), np.asarray(predicted, np.float64)
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    total = weight @ (y - np.average(y, axis=0, weights=weight)) ** 2
    residual = weight @ (y - predicted) ** 2
    # Rounding leaves a tiny total where y is constant, hence the comparison of the extremes.
    counted = y[weight > 0]
    varies = (counted.max(axis=0) > counted.min(axis=0)) & (total > 0)
    ratio = residual / np.where(varies, total, 1.0)
    return float(np.mean(np.where(varies, 1.0 - ratio, residual == 0)))


class ClassifierMixin:
    """What classifiers share."""

    predict: Any
    _estimator_type = "classifier"
    _tags: ClassVar[dict[str, Any]] = {"target_required": True}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of `predict` on these data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to predict.
        y : array-like of shape (n_samples,)
            Their labels; of several per row a matrix of zeros and ones or a list of sets, and a row
            counts as right if it is in all of them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        n = len(predicted)
        if "thresholds_" in vars(self):
            from ._multilabel import indicator_for

            y = indicator_for(self, y, n)
        else:
            y = check_target(y, self, n_samples=n, multi_output=predicted.ndim > 1)
        return accuracy(y, predicted, check_sample_weight(sample_weight, n))


class RegressorMixin:
    """What regressors share."""

    predict: Any
    _estimator_type = "regressor"
    _tags: ClassVar[dict[str, Any]] = {"target_required": True}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination of `predict` on these data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to predict.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions.

        Returns
        -------
        float
            1 for a perfect prediction, 0 for that of the mean, no lower bound.
        """
        predicted = self.predict(X)
        n = len(predicted)
        y = check_target(y, self, numeric=True, n_samples=n, multi_output=predicted.ndim > 1)
        return r2(y, predicted, check_sample_weight(sample_weight, n))


class TransformerMixin:
    """What transformers share."""

    fit: Any
    _check_fitted: Any
    _estimator_type = "transformer"

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for method in ("transform", "fit_transform"):
            if method in cls.__dict__:
                setattr(cls, method, frames_on_request(cls.__dict__[method]))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then transform the same data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,), optional
            The target, where `fit` uses one.
        **fit_params
            Further arguments of `fit`.

        Returns
        -------
        array, sparse matrix or data frame
            What `transform` returns.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def set_output(self, *, transform: str | None = None) -> Any:
        """Choose what `transform` and `fit_transform` return.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            The container; None leaves the choice as it is.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If `transform` is none of these.
        """
        set_transform_output(self, transform)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns; by default those seen by `fit`, else x0, x1, ...

        Returns
        -------
        ndarray of str, dtype object

        Raises
        ------
        NotFittedError
            Before `fit`, where there is something to fit.
        ValueError
            If `input_features` are not as many, or not the same, as those seen by `fit`.
        """
        self._check_fitted("get_feature_names_out")
        return self._feature_names_out(check_feature_names_in(self, input_features))

    def _feature_names_out(self, names: np.ndarray) -> np.ndarray:
        """Map input to output names; one-to-one unless a subclass says otherwise."""
        return names
