"""From a fitted linear model to the equal estimator of scikit-learn; `to_sklearn` imports this.

Equal means: the same `decision_function`, `predict` and `predict_proba`, up to rounding, and the
same parameters where scikit-learn has them. A loss that scikit-learn lacks is replaced by one with
the same probabilities, which then is only the loss of later calls of its `partial_fit`.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np

from ._sparse_weights import has_sparse_weights

__all__ = ["converted"]

# Losses that scikit-learn's SGDClassifier lacks -> the one whose probabilities are the same; hinge
# has none. Of two classes sparsemax has those of the modified Huber loss.
_CLASSIFIER_LOSSES = {
    "sigmoid_mse": "log_loss",
    "sparsemax": "modified_huber",
    "exponential": "hinge",
    "quantile": "hinge",
}


def converted(model: Any) -> Any:
    """The equal estimator of scikit-learn.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ValueError
        If scikit-learn has no equal.
    ImportError
        If scikit-learn is not installed.
    """
    model._check_fitted("to_sklearn")
    try:
        from sklearn import linear_model
    except ImportError:
        raise ImportError(
            "to_sklearn() needs scikit-learn, which is not installed: pip install scikit-learn."
        ) from None
    if has_sparse_weights(model):
        model = copy.copy(model).densify()
    if "thresholds_" in vars(model):
        return _of_labels(model)
    if "code_" in vars(model) and model._has_code():
        return _one_vs_one(model)
    for kind in type(model).__mro__:
        if kind.__name__ in _CONVERTERS:
            return _CONVERTERS[kind.__name__](model, linear_model)
    raise ValueError(f"scikit-learn has no equal of {type(model).__name__}.")


def _one_vs_one(model: Any) -> Any:
    """One against one, by scikit-learn's wrapper of that name."""
    if model._reduction != "ovo":
        raise ValueError(
            "scikit-learn has no equal of an error-correcting code: its OutputCodeClassifier takes "
            "the nearest row by the Euclidean distance. Use multi_class='ovo' or 'ovr'."
        )
    if not model.code_.any(axis=1).all():
        raise ValueError(
            "scikit-learn has no equal of one against one with classes whose rows all have weight "
            "0; fit the model without their rows."
        )
    from sklearn.base import clone
    from sklearn.multiclass import OneVsOneClassifier

    parts = [converted(_of_column(model, k)) for k in range(len(model.coef_))]
    estimator = OneVsOneClassifier(clone(parts[0]), n_jobs=model.n_jobs)
    estimator.estimators_, estimator.pairwise_indices_ = parts, None
    _give_classes(estimator, model)
    return estimator


def _of_labels(model: Any) -> Any:
    """Several labels per row, by scikit-learn's one-vs-rest."""
    if np.any(model.thresholds_) or len(model.classes_) < 2:
        raise ValueError(
            "scikit-learn has no equal of thresholds_ other than 0, or of a matrix with a single "
            "label; set them to 0, or fit that label alone."
        )
    from sklearn.base import clone
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import LabelBinarizer

    K = len(model.classes_)
    parts = [converted(_of_column(model, k)) for k in range(K)]
    estimator = OneVsRestClassifier(clone(parts[0]), n_jobs=getattr(model, "n_jobs", None))
    estimator.estimators_ = parts
    estimator.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(np.eye(K, dtype=int))
    _give_classes(estimator, model)
    estimator.classes_ = np.arange(K)
    return estimator


def _of_column(model: Any, k: int) -> Any:
    """The model of two classes that one learner of several is."""
    part = copy.copy(model)
    for name in ("code_", "_reduction", "thresholds_"):
        vars(part).pop(name, None)
    part.classes_, part.multi_class, part.class_weight = np.array([0, 1]), "ovr", None
    for name in ("coef_", "intercept_", "n_iter_", "_memories"):
        value = getattr(model, name, None)
        if isinstance(value, (list, np.ndarray)):
            setattr(part, name, value[k : k + 1])
    return part


def _perceptron(model: Any, linear_model: Any) -> Any:
    """Of a perceptron; averaging is not among the parameters of scikit-learn's."""
    if hasattr(model, "_segments"):
        raise ValueError(
            "scikit-learn has no equal of a Perceptron with average='voted'; fit it with "
            "average=True, which predicts much alike."
        )
    return _with_weights(linear_model.Perceptron, model, l1_ratio=model.l1_ratio or 0.0)


def _sgd_classifier(model: Any, linear_model: Any) -> Any:
    """Of an SGD classifier: softmax models are LogisticRegression's."""
    if model._is_joint(len(model.classes_)):
        if model.loss == "sparsemax":
            raise ValueError(
                "scikit-learn has no sparsemax probabilities of more than two classes; use "
                "multi_class='ovr' or loss='log_loss'."
            )
        if model.loss == "log_loss":
            return _softmax(model, linear_model)
    loss = _CLASSIFIER_LOSSES.get(model.loss, model.loss)
    return _with_weights(linear_model.SGDClassifier, model, loss=loss)


def _softmax(model: Any, linear_model: Any) -> Any:
    """A multinomial LogisticRegression. Its C would be 1 / (alpha n), but n is no longer known."""
    shared = ("fit_intercept", "class_weight", "warm_start", "verbose", "n_jobs", "max_iter")
    parameters = {name: getattr(model, name) for name in shared}
    estimator = linear_model.LogisticRegression(
        **parameters, random_state=_random_state(model.random_state)
    )
    _give_weights(estimator, model)
    estimator.n_iter_ = np.array([model.n_iter_], dtype=np.int32)
    return estimator


def _sgd_regressor(model: Any, linear_model: Any) -> Any:
    """Of an SGD regressor; the quantile loss has an estimator of its own."""
    if model.loss != "quantile":
        return _with_weights(linear_model.SGDRegressor, model)
    share = {"l1": 1.0, "elasticnet": model.l1_ratio}.get(model.penalty, 0.0)
    estimator = linear_model.QuantileRegressor(
        quantile=model.quantile, alpha=model.alpha * share, fit_intercept=model.fit_intercept
    )
    _give_weights(estimator, model)
    estimator.intercept_, estimator.n_iter_ = float(model.intercept_[0]), model.n_iter_
    return estimator


def _passive_aggressive(model: Any, linear_model: Any) -> Any:
    """The classes of that name leave scikit-learn; their rule is a schedule of its SGD."""
    rule = "pa2" if model.loss.startswith("squared") else "pa1"
    steps = {
        "penalty": None,
        "learning_rate": rule,
        "eta0": min(float(model.C), sys.float_info.max),
        "loss": "hinge" if hasattr(model, "classes_") else "epsilon_insensitive",
    }
    kind = "SGDClassifier" if hasattr(model, "classes_") else "SGDRegressor"
    return _with_weights(getattr(linear_model, kind), model, **steps)


# What names a way to the optimum, whose legal values differ
_WAYS = ("solver", "dual", "penalty", "random_state", "cv")


def _logistic(model: Any, linear_model: Any) -> Any:
    """Of logistic regression: of several classes by scikit-learn's one-vs-rest, since its own class
    has a softmax."""
    if len(model.classes_) == 2 or model._is_joint(len(model.classes_)):
        return _one_logistic(model, linear_model)
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import LabelBinarizer

    estimator = OneVsRestClassifier(_one_logistic(model, linear_model, 0), n_jobs=model.n_jobs)
    estimator.estimators_ = [
        _one_logistic(model, linear_model, k) for k in range(len(model.classes_))
    ]
    estimator.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(model.classes_)
    _give_classes(estimator, model)
    return estimator


def _give_classes(estimator: Any, model: Any) -> None:
    """Copy labels and columns to a wrapper of binary learners."""
    estimator.classes_ = model.classes_.copy()
    estimator.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        estimator.feature_names_in_ = model.feature_names_in_.copy()


def _one_logistic(model: Any, linear_model: Any, k: int | None = None) -> Any:
    """Of two classes, or of class k against the rest."""
    ratio, C = model._strength()
    estimator = linear_model.LogisticRegression(
        C=C, l1_ratio=ratio, solver="saga" if ratio else "lbfgs", tol=model.tol,
        fit_intercept=model.fit_intercept, max_iter=model.max_iter,
        class_weight=model.class_weight if k is None else None,
        random_state=_random_state(model.random_state),
    )  # fmt: skip
    _give_weights(estimator, model)
    estimator.n_iter_ = np.array(model.n_iter_, dtype=np.int32)
    if k is not None:
        estimator.classes_ = np.array([0, 1])
        for name in ("coef_", "intercept_", "n_iter_"):
            setattr(estimator, name, getattr(estimator, name)[k : k + 1])
    return estimator


def _namesake(model: Any, linear_model: Any) -> Any:
    """Of an estimator that solves the problem of scikit-learn's of that name."""
    from sklearn import svm

    name = type(model).__name__
    kind = getattr(linear_model, name, None) or getattr(svm, name)
    estimator = kind()
    own = estimator.get_params(deep=False)
    given = model.get_params(deep=False)
    estimator.set_params(
        **{name: given[name] for name in given if name in own and name not in _WAYS}
    )
    _give_weights(estimator, model)
    if name == "RidgeClassifier":
        from sklearn.preprocessing import LabelBinarizer

        estimator._label_binarizer = LabelBinarizer(pos_label=1, neg_label=-1).fit(model.classes_)
    for name in ("n_iter_", "alpha_", "l1_ratio_", "alphas_", "mse_path_", "dual_gap_"):
        if hasattr(model, name):
            setattr(estimator, name, copy.copy(getattr(model, name)))
    return estimator


def _naive_bayes(model: Any, linear_model: Any) -> Any:
    """Of a naive Bayes model, with its counts: ready for `partial_fit`."""
    from sklearn import naive_bayes

    if model._follow()["V"] is not None:
        raise ValueError(
            "scikit-learn has no equal of a model with probabilities of 0: its answers are not "
            "numbers; fit with alpha > 0."
        )
    estimator = getattr(naive_bayes, type(model).__name__)(**model.get_params(deep=False))
    _give_weights(estimator, model)
    for name in ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_",
                 "feature_all_"):
        if hasattr(model, name):
            setattr(estimator, name, getattr(model, name).copy())
    return estimator


_CONVERTERS = {
    **dict.fromkeys(("MultinomialNB", "BernoulliNB", "ComplementNB"), _naive_bayes),
    "LogisticRegression": _logistic,
    **dict.fromkeys(
        ("LinearSVC", "LinearSVR", "Lasso", "ElasticNet", "LassoCV", "ElasticNetCV", "Ridge",
         "RidgeCV", "RidgeClassifier", "LinearRegression"),
        _namesake,
    ),
    "Perceptron": _perceptron,
    "SGDClassifier": _sgd_classifier,
    "SGDRegressor": _sgd_regressor,
    "PassiveAggressiveClassifier": _passive_aggressive,
    "PassiveAggressiveRegressor": _passive_aggressive,
}


def _with_weights(kind: type, model: Any, **other: Any) -> Any:
    """An estimator of scikit-learn's SGD family with the parameters that it shares with the model,
    but for `other`, and its weights: ready to predict and for `partial_fit`."""
    estimator = kind()
    own = estimator.get_params(deep=False)
    shared = {name: value for name, value in model.get_params(deep=False).items() if name in own}
    shared["random_state"] = _random_state(model.random_state)
    shared["shuffle"] = bool(model.shuffle)
    estimator.set_params(**{**shared, **other})
    _give_weights(estimator, model)
    estimator.n_iter_, estimator.t_ = model.n_iter_, float(model.t_)
    if estimator.average:
        # scikit-learn goes on from the last weights and keeps the averages beside them
        coef, intercept = model._weights(averaged=False)
        estimator._standard_coef = coef.reshape(model.coef_.shape)
        estimator._standard_intercept = intercept
        estimator._average_coef = estimator.coef_
        estimator._average_intercept = estimator.intercept_
    return estimator


def _give_weights(estimator: Any, model: Any) -> None:
    """Copy what both call by the same name."""
    for name in ("coef_", "intercept_", "classes_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(estimator, name, copy.copy(getattr(model, name)))
    estimator.n_features_in_ = model.n_features_in_


def _random_state(value: Any) -> Any:
    """A seed that scikit-learn takes; it knows none of numpy's newer generators."""
    known = isinstance(value, (int, np.integer, np.random.RandomState))
    return value if known else None
