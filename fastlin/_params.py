"""The constructor parameters of estimators: their constraints, and the check of them all.

An estimator class declares ``_constraints``, a dict from parameter name to constraint, merged
with those of its bases. Constraints see one parameter at a time; rules between two
(``l1_ratio`` only with ``elasticnet``) stand in the estimator. The general constraints come from
`_constraints` and are to be imported from here; those of seeds, class weights and dtypes stand
here.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping

import numpy as np

from ._constraints import (
    ArrayLike,
    Boolean,
    Callable,
    Constraint,
    Either,
    HasMethods,
    Instance,
    Integer,
    OneOf,
    Real,
    is_bool,
    is_nan,
    shown,
)
from ._signature import init_parameters

__all__ = [
    "ArrayLike",
    "Boolean",
    "Callable",
    "ClassWeight",
    "Constraint",
    "Either",
    "FloatType",
    "HasMethods",
    "Instance",
    "Integer",
    "NumberType",
    "OneOf",
    "RandomState",
    "Real",
    "check_params",
    "constraints_of",
    "is_bool",
    "is_nan",
    "shown",
    "unconstrained",
]


class RandomState(Constraint):
    """A seed: what `_random.spawn_seed` takes."""

    rule = "None, an integer >= 0, or a numpy Generator, RandomState or SeedSequence"

    def accepts(self, value):
        if value is None or is_bool(value):
            return value is None
        if isinstance(value, numbers.Integral):
            return bool(value >= 0)
        # Looked up late, since numpy loads numpy.random on first use.
        random = np.random
        return isinstance(value, (random.Generator, random.RandomState, random.SeedSequence))

    def good_values(self):
        random = np.random
        return [
            None,
            0,
            2**32 - 1,
            2**70,
            np.int64(3),
            random.default_rng(0),
            random.RandomState(0),
            random.SeedSequence(0),
        ]

    def bad_values(self):
        return [-1, 1.5, 0.0, "seed", True, [1, 2], np.random, math.nan]


class ClassWeight(Constraint):
    """None, "balanced", or a dict from class label to a number >= 0."""

    rule = "None, 'balanced' or a dict from class label to a number >= 0"

    def accepts(self, value):
        if isinstance(value, Mapping):
            return all(map(Real(0).accepts, value.values()))
        return value is None or isinstance(value, str) and value == "balanced"

    def good_values(self):
        return [None, "balanced", {0: 1, 1: 2.5}, {"a": np.float32(0.5), "b": 0}]

    def bad_values(self):
        return [
            "auto",
            1,
            True,
            [1, 2],
            {0: -1.0},
            {0: math.nan},
            {0: math.inf},
            {0: "a"},
            {0: None},
        ]


class FloatType(Constraint):
    """float64 or float32, in any way that numpy understands."""

    rule = "float64 or float32"

    def accepts(self, value):
        """Say whether a value is allowed."""
        try:
            return value is not None and np.dtype(value) in (np.float64, np.float32)
        except TypeError:
            return False

    def good_values(self):
        """Return examples that must be accepted."""
        return [np.float64, np.float32, "float32", float, np.dtype("f8")]

    def bad_values(self):
        """Return examples that must be refused."""
        return [None, int, np.int64, "float16", np.complex128, "no such type", 1]


class NumberType(Constraint):
    """A dtype of numbers that are not complex and that sparse matrices can hold."""

    rule = "a numeric dtype other than float16"

    def accepts(self, value):
        """Say whether a value is allowed."""
        try:
            dtype = None if value is None else np.dtype(value)
            return dtype is not None and dtype.kind in "biuf" and dtype != np.float16
        except TypeError:
            return False

    def good_values(self):
        """Return examples that must be accepted."""
        return [np.int64, np.float32, "int8", bool, np.dtype("f4")]

    def bad_values(self):
        """Return examples that must be refused."""
        return [None, str, object, complex, "no such type", 3, "U4", np.float16]


def constraints_of(cls: type) -> dict[str, Constraint]:
    """Return the constraints of a class's parameters, those that its bases declare included."""
    merged: dict[str, Constraint] = {}
    for base in reversed(cls.__mro__):
        merged.update(base.__dict__.get("_constraints", {}))
    own = init_parameters(cls)
    return {name: constraint for name, constraint in merged.items() if name in own}


def unconstrained(cls: type) -> list[str]:
    """Return the constructor parameters for which no constraint is declared (for the tests)."""
    declared = constraints_of(cls)
    return [name for name in init_parameters(cls) if name not in declared]


def check_params(estimator: object) -> None:
    """Check every constructor parameter of an estimator against its constraint.

    A parameter that a user's subclass added without declaring a constraint is left to it.

    Raises
    ------
    InvalidParameterError
        A ValueError and a TypeError; it names the parameter, the rule and the value.
    """
    declared = constraints_of(type(estimator))
    for name in init_parameters(type(estimator)):
        if name in declared:
            declared[name].check(name, getattr(estimator, name))
