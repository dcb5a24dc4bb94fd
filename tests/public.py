"""The public estimators, as lists that tests run over."""

import inspect

import fastlin
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
CLASSIFIERS = [cls for cls in PLAIN if cls._estimator_type == "classifier"]
REGRESSORS = [cls for cls in PLAIN if cls._estimator_type == "regressor"]
LEARNERS = CLASSIFIERS + REGRESSORS
# Those that take one step per row.
ONLINE = [cls for cls in LEARNERS if hasattr(cls, "partial_fit")]


def name(cls):
    return cls.__name__
