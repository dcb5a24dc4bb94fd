"""The public estimators, as lists that tests run over."""

import inspect

import fastlin
from fastlin import (
    LinearSVC,
    LogisticRegression,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
)
from fastlin._base import Estimator
from fastlin._signature import REQUIRED, init_parameters


def _public(name):
    """The object of a public name; that each of them exists is a test of its own."""
    try:
        return getattr(fastlin, name)
    except ModuleNotFoundError:
        return None


CLASSES = sorted(
    (
        value
        for value in map(_public, fastlin.__all__)
        if inspect.isclass(value) and issubclass(value, Estimator)
    ),
    key=lambda cls: cls.__name__,
)
# Those that need no argument: all but compositions such as Pipeline.
PLAIN = [cls for cls in CLASSES if REQUIRED not in init_parameters(cls).values()]
# Those that count, or keep the rows, with tests of their own; the lists below are of linear models
# with weights.
COUNTING = [cls for cls in PLAIN if cls.__name__.endswith("NB")]
KEEPING = [fastlin.KNeighborsClassifier]
# Those in the space of a kernel, which have none either.
KERNELISED = [cls for cls in PLAIN if cls.__name__.startswith("Kernel")]
CLASSIFIERS = [
    cls for cls in PLAIN
    if cls._estimator_type == "classifier" and cls not in COUNTING + KEEPING + KERNELISED
]
REGRESSORS = [cls for cls in PLAIN if cls._estimator_type == "regressor"]
LEARNERS = CLASSIFIERS + REGRESSORS
# Those that take one step per row.
ONLINE = [cls for cls in LEARNERS if hasattr(cls, "partial_fit")]
ONLINE_CLASSIFIERS = [cls for cls in CLASSIFIERS if cls in ONLINE]
ONLINE_REGRESSORS = [cls for cls in REGRESSORS if cls in ONLINE]


def few_points(cls):
    """A short path for those that search one: what is checked is the same, in a tenth of the
    time."""
    own = init_parameters(cls)
    short = {"alphas": 8} if isinstance(own.get("alphas"), int) else {}
    # scikit-learn's check of `sparsify` has three rows of each class
    return {**short, "Cs": 3, "cv": 3} if isinstance(own.get("Cs"), int) else short


def made(cls, **params):
    """A model with those of the parameters that it has; what ends the training of learners that
    take steps would leave an optimum unfound, and warn of it."""
    own = init_parameters(cls)
    ends = () if cls in ONLINE else ("max_iter", "tol")
    given = {key: value for key, value in params.items() if key in own and key not in ends}
    return cls(**{**few_points(cls), **given})


# Other ways of learning than by default, as (class, parameters): every optimizer, every kind of
# average, every form of several classes. Average from step 500: the check that classes of huge
# weight are predicted looks at data that nothing separates, where the mean of all weights keeps
# the wandering of the first ones. Adaptive steps: AdaGrad's begin large, AdaDelta's paper has 1.
VARIANTS = [
    (Perceptron, {"average": 500}),
    (Perceptron, {"average": "voted"}),
    (Perceptron, {"average": "voted", "multi_class": "ovr"}),
    (Perceptron, {"multi_class": "ovr", "penalty": "l2"}),
    (Perceptron, {"multi_class": "ovo"}),
    (LinearSVC, {"multi_class": "ovo"}),
    (LinearSVC, {"multi_class": "crammer_singer"}),
    (LogisticRegression, {"multi_class": "ovr"}),
    (SGDClassifier, {"loss": "log_loss", "multi_class": "ecoc"}),
    (PassiveAggressiveClassifier, {"multi_class": "joint"}),
    (PassiveAggressiveClassifier, {"average": True}),
    (PassiveAggressiveRegressor, {"average": True}),
    (SGDClassifier, {"average": True}),
    (SGDClassifier, {"penalty": "l1"}),
    (SGDClassifier, {"loss": "log_loss", "multi_class": "joint"}),
    (SGDClassifier, {"loss": "sparsemax", "multi_class": "joint"}),
    (SGDClassifier, {"loss": "hinge", "multi_class": "joint", "average": True}),
    (SGDClassifier, {"loss": "modified_huber"}),
    (SGDClassifier, {"loss": "log_loss", "batch_size": 4}),
    (SGDRegressor, {"average": True, "penalty": "elasticnet"}),
    *[
        (cls, {"optimizer": optimizer, "eta0": eta0})
        for cls in (SGDClassifier, SGDRegressor)
        for optimizer, eta0 in (
            ("adagrad", 0.5), ("adadelta", 1.0), ("rmsprop", 0.01), ("adam", 0.01),
        )
    ],
]  # fmt: skip


def name(cls):
    return cls.__name__
