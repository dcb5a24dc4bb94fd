"""Constraints: each accepts its good examples, refuses its bad ones, and says the rule."""

import math
import threading
from fractions import Fraction

import numpy as np
import pytest

from fastlin._exceptions import InvalidParameterError
from fastlin._params import (
    ArrayLike,
    Boolean,
    Callable,
    ClassWeight,
    Either,
    HasMethods,
    Instance,
    Integer,
    OneOf,
    RandomState,
    Real,
    check_params,
    constraints_of,
    shown,
    unconstrained,
)
from fastlin._signature import REQUIRED, init_parameters

CONSTRAINTS = [
    Real(),
    Real(0),
    Real(0, closed="neither"),
    Real(0, 1),
    Real(0, 1, closed="left"),
    Real(0, 1, closed="right"),
    Real(max=0, closed="neither"),
    Real(0, closed="neither", finite=False),
    Real(max=3, finite=False),
    Integer(),
    Integer(1),
    Integer(max=-1),
    Integer(2, 5),
    Boolean(),
    OneOf("l2", "l1", "elasticnet", None),
    OneOf("auto"),
    OneOf("auto", True, 3),
    Instance(threading.Event),
    Instance(dict, list),
    HasMethods("fit", "predict"),
    Callable(),
    ArrayLike(),
    ArrayLike(Real(0)),
    ArrayLike(Integer(1)),
    RandomState(),
    ClassWeight(),
    Either(OneOf("scale", "auto"), Real(0, closed="neither")),
    Either(OneOf(None), Callable()),
    Either(Boolean(), Integer(0)),
    Either(OneOf(None), Integer(1), Instance(dict)),
]


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=repr)
def test_examples_are_what_they_claim_to_be(constraint):
    good, bad = constraint.good_values(), constraint.bad_values()
    assert good
    assert len(bad) >= 2
    for value in good:
        assert constraint.check("parameter", value) is None
    for value in bad:
        with pytest.raises(InvalidParameterError, match=r"^parameter must be .*, got .*\.$"):
            constraint.check("parameter", value)


def test_errors_are_value_and_type_errors():
    assert issubclass(InvalidParameterError, ValueError)
    assert issubclass(InvalidParameterError, TypeError)


MESSAGES = [
    (Real(0), -0.1, "alpha must be a number >= 0, got -0.1."),
    (Real(0), np.float64(-0.1), "alpha must be a number >= 0, got -0.1."),
    (Real(0), math.nan, "alpha must be a number >= 0, got nan."),
    (Real(0), math.inf, "alpha must be a finite number >= 0, got inf."),
    (Real(0), True, "alpha must be a number >= 0, got True."),
    (Real(0), np.bool_(True), "alpha must be a number >= 0, got True."),
    (Real(0), "1", "alpha must be a number >= 0, got '1'."),
    (Real(), None, "alpha must be a number, got None."),
    (Real(0, closed="neither"), 0, "alpha must be a number > 0, got 0."),
    (Real(max=1), 2.5, "alpha must be a number <= 1, got 2.5."),
    (Real(max=1, closed="left"), 1, "alpha must be a number < 1, got 1."),
    (Real(0, 1), 1.5, "alpha must be a number in [0, 1], got 1.5."),
    (Real(0, 1, closed="left"), 1.0, "alpha must be a number in [0, 1), got 1.0."),
    (Real(0, 1, closed="right"), 0, "alpha must be a number in (0, 1], got 0."),
    (Integer(1), 0, "alpha must be an integer >= 1, got 0."),
    (Integer(1), 2.0, "alpha must be an integer >= 1, got 2.0."),
    (Integer(1), math.inf, "alpha must be an integer >= 1, got inf."),
    (Integer(1), False, "alpha must be an integer >= 1, got False."),
    (Integer(2, 5), 6, "alpha must be an integer in [2, 5], got 6."),
    (Boolean(), 1, "alpha must be True or False, got 1."),
    (
        OneOf("l2", "l1", "elasticnet", None),
        "l3",
        "alpha must be one of 'l2', 'l1', 'elasticnet' or None, got 'l3'.",
    ),
    (OneOf("auto"), 1, "alpha must be 'auto', got 1."),
    (Instance(dict), [], "alpha must be an instance of dict, got []."),
    (Instance(dict, list), 1, "alpha must be an instance of dict or list, got 1."),
    (HasMethods("fit", "predict"), 1, "alpha must be an object with fit and predict, got 1."),
    (Callable(), "len", "alpha must be a callable, got 'len'."),
    (ArrayLike(), 1, "alpha must be an array-like, got 1."),
    (
        ArrayLike(Real(0)),
        [1, -2],
        "alpha must be an array-like whose elements are each a number >= 0, got [1, -2].",
    ),
    (
        RandomState(),
        -1,
        "alpha must be None, an integer >= 0, or a numpy Generator, RandomState or "
        "SeedSequence, got -1.",
    ),
    (
        ClassWeight(),
        {0: -1},
        "alpha must be None, 'balanced' or a dict from class label to a number >= 0, got {0: -1}.",
    ),
    (
        Either(OneOf("scale", "auto"), Real(0, closed="neither")),
        0,
        "alpha must be one of 'scale' or 'auto', or a number > 0, got 0.",
    ),
    (
        Real(0),
        np.zeros(3),
        "alpha must be a number >= 0, got an array of shape (3,) and dtype float64.",
    ),
]


@pytest.mark.parametrize(("constraint", "value", "message"), MESSAGES)
def test_messages_are_exact(constraint, value, message):
    with pytest.raises(InvalidParameterError) as caught:
        constraint.check("alpha", value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("constraint", "value", "allowed"),
    [
        (Real(0), np.float16(0.5), True),
        (Real(0), Fraction(1, 3), True),
        (Real(0), np.uint8(3), True),
        (Real(0), -0.0, True),
        (Real(0), 5e-324, True),
        (Real(0, closed="neither"), 5e-324, True),
        (Real(0, 1), np.nextafter(1, 2), False),
        (Real(0), 10**400, False),
        (Real(0), np.float32("inf"), False),
        (Real(0, finite=False), math.inf, True),
        (Real(finite=False), -math.inf, True),
        (Real(0), np.array(1.0), False),
        (Integer(0), 10**400, True),
        (Integer(0), np.uint64(2**64 - 1), True),
        (OneOf(True, "auto"), 1, False),
        (OneOf(True, "auto"), np.bool_(True), True),
        (OneOf(1), True, False),
        (OneOf(1), np.int8(1), True),
        (OneOf("a"), np.str_("a"), True),
        (OneOf(None), 0, False),
        (OneOf("a", "b"), np.array(["a", "b"]), False),
        (ArrayLike(), [], True),
        (ArrayLike(), np.zeros((2, 2)), True),
        (ArrayLike(), "abc", False),
        (ArrayLike(Integer(1)), [1, 2.5], False),
        (HasMethods("append"), list, False),
        (RandomState(), np.uint64(2**64 - 1), True),
        (RandomState(), np.bool_(False), False),
        (ClassWeight(), {}, True),
        (ClassWeight(), np.array([1, 2]), False),
    ],
)
def test_edges(constraint, value, allowed):
    assert constraint.accepts(value) is allowed


def test_real_refuses_an_unknown_closed():
    with pytest.raises(ValueError, match="closed must be .* got 'open'"):
        Real(0, closed="open")


def test_long_values_are_cut():
    text = shown("x" * 1000)
    assert len(text) < 100
    assert text.endswith("... (str)")
    assert shown([1, 2]) == "[1, 2]"
    assert shown(np.float32(0.5)) == "0.5"


class Base:
    _constraints = {"alpha": Real(0), "kind": OneOf("a", "b")}

    def __init__(self, alpha=1.0, kind="a"):
        self.alpha = alpha
        self.kind = kind


class Derived(Base):
    _constraints = {"alpha": Real(1), "n": Integer(1)}

    def __init__(self, n, alpha=2.0, *, kind="b"):
        super().__init__(alpha, kind)
        self.n = n


class Incomplete(Derived):
    def __init__(self, n, extra=0):
        super().__init__(n)
        self.extra = extra


def test_constructor_parameters_are_read_once():
    assert init_parameters(Base) == {"alpha": 1.0, "kind": "a"}
    assert init_parameters(Derived) == {"n": REQUIRED, "alpha": 2.0, "kind": "b"}
    assert init_parameters(Derived) is init_parameters(Derived)
    assert init_parameters(type("Bare", (), {})) == {}
    assert repr(REQUIRED) == "<required>"


def test_constructors_name_every_parameter():
    class Star:
        def __init__(self, *args):
            pass

    class Keywords:
        def __init__(self, **options):
            pass

    for cls in (Star, Keywords):
        with pytest.raises(TypeError, match="must name every parameter"):
            init_parameters(cls)


def test_constraints_are_inherited_and_overridden():
    assert set(constraints_of(Derived)) == {"alpha", "kind", "n"}
    check_params(Base(alpha=0.5))
    with pytest.raises(InvalidParameterError, match=r"^alpha must be a number >= 1, got 0.5\.$"):
        check_params(Derived(1, alpha=0.5))
    with pytest.raises(InvalidParameterError, match="^kind must be one of 'a' or 'b', got 'c'"):
        check_params(Derived(1, kind="c"))


def test_a_parameter_without_a_constraint_is_found():
    assert unconstrained(Base) == []
    assert unconstrained(Incomplete) == ["extra"]
    check_params(Incomplete(1, extra="anything"))
