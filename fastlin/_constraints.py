"""Constraints: what a parameter may be, as objects.

One object does three things, so that they cannot drift apart: it checks a value, it writes the
message, and it yields good and bad examples for the tests. A table of lambdas and a table of
messages beside it would be shorter, but would not test themselves.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._exceptions import InvalidParameterError

__all__ = [
    "ArrayLike",
    "Boolean",
    "Callable",
    "Constraint",
    "Either",
    "HasMethods",
    "Instance",
    "Integer",
    "OneOf",
    "Real",
    "is_bool",
    "is_nan",
    "shown",
]


def shown(value: Any, most: int = 80) -> str:
    """Write a value for a message: short, and numpy scalars as plain numbers."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item()
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 20]}... ({type(value).__name__})"


def _listed(words: Iterable[str]) -> str:
    """Join words as in "a, b or c"."""
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last


def is_bool(value: Any) -> bool:
    """Say whether a value is a Python or a numpy boolean."""
    return isinstance(value, (bool, np.bool_))


class Constraint(ABC):
    """What one parameter may be.

    Subclasses give `rule`, `accepts` and the two lists of examples, documented here only.
    """

    @property
    @abstractmethod
    def rule(self) -> str:
        """The words after "must be"."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Say whether a value is allowed."""

    @abstractmethod
    def good_values(self) -> list[Any]:
        """Return examples that must be accepted."""

    @abstractmethod
    def bad_values(self) -> list[Any]:
        """Return examples that must be refused."""

    def check(self, name: str, value: Any) -> None:
        """Raise InvalidParameterError, which names the parameter and the rule, if not allowed."""
        if not self.accepts(value):
            raise InvalidParameterError(f"{name} must be {self.rule}, got {shown(value)}.")

    def __repr__(self) -> str:
        return f"<{self.rule}>"


class Real(Constraint):
    """A real number in an interval; never a boolean, never NaN.

    Parameters
    ----------
    min, max : float, optional
        Ends of the interval; None leaves that side open.
    closed : {"both", "left", "right", "neither"}
        Which ends belong to the interval.
    finite : bool
        Whether infinity is refused.
    """

    _noun = "a number"
    _type: type = numbers.Real

    def __init__(self, min=None, max=None, closed="both", finite=True):
        if closed not in ("both", "left", "right", "neither"):
            raise ValueError(
                f"closed must be 'both', 'left', 'right' or 'neither', got {closed!r}."
            )
        self.min, self.max, self.finite = min, max, finite
        self.min_in = closed in ("both", "left")
        self.max_in = closed in ("both", "right")

    @property
    def rule(self):
        lower = f"{'>=' if self.min_in else '>'} {self.min}"
        upper = f"{'<=' if self.max_in else '<'} {self.max}"
        if self.min is None and self.max is None:
            return self._noun
        if self.max is None:
            return f"{self._noun} {lower}"
        if self.min is None:
            return f"{self._noun} {upper}"
        ends = "[" if self.min_in else "(", "]" if self.max_in else ")"
        return f"{self._noun} in {ends[0]}{self.min}, {self.max}{ends[1]}"

    def accepts(self, value):
        if is_bool(value) or not isinstance(value, self._type) or is_nan(value):
            return False
        if self.finite and not _is_finite(value):
            return False
        above = self.min is None or value > self.min or (self.min_in and value == self.min)
        below = self.max is None or value < self.max or (self.max_in and value == self.max)
        return bool(above and below)

    def check(self, name, value):
        """Raise InvalidParameterError if not allowed; for infinity, say that it is that."""
        number = isinstance(value, numbers.Real) and not is_nan(value)
        if self.finite and number and not _is_finite(value):
            finite = self.rule.replace("a number", "a finite number", 1)
            raise InvalidParameterError(f"{name} must be {finite}, got {shown(value)}.")
        super().check(name, value)

    def _inside(self) -> list[float]:
        """Return numbers of the interval, its closed ends included."""
        low = self.min if self.min is not None else (self.max - 8 if self.max is not None else -4)
        high = self.max if self.max is not None else low + 8
        ends = [
            end
            for end, is_in in ((self.min, self.min_in), (self.max, self.max_in))
            if end is not None and is_in
        ]
        return [low + (high - low) * share for share in (0.25, 0.5)] + ends

    def good_values(self):
        inside = self._inside()
        good = inside + [np.float64(inside[0]), np.float32(inside[1])]
        return good if self.finite or self.max is not None else good + [math.inf]

    def bad_values(self):
        bad = [
            math.nan,
            np.float64("nan"),
            "a",
            None,
            True,
            np.bool_(False),
            1j,
            [1.0],
            np.array([0.5]),
        ]
        if self.finite or self.max is not None:
            bad.append(math.inf)
        if self.finite or self.min is not None:
            bad.append(-math.inf)
        if self.finite:
            bad.append(10**400)
        if self.min is not None:
            bad += [self.min - 1] + ([] if self.min_in else [self.min])
        if self.max is not None:
            bad += [self.max + 1] + ([] if self.max_in else [self.max])
        return bad


def is_nan(value: Any) -> bool:
    """Say whether an object is NaN or NaT: what differs from itself."""
    try:
        differs = value != value  # noqa: PLR0124
    except ArithmeticError:
        # A signalling NaN of the decimal module.
        return True
    return isinstance(differs, (bool, np.bool_)) and bool(differs)


def _is_finite(value) -> bool:
    """Say whether a number fits in a double."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


class Integer(Real):
    """An integer in a closed interval; never a boolean, never a float.

    Parameters
    ----------
    min, max : int, optional
        Ends of the interval, both allowed; None leaves that side open.
    """

    _noun = "an integer"
    _type = numbers.Integral

    def __init__(self, min=None, max=None):
        super().__init__(min, max, "both", finite=False)

    def good_values(self):
        low = self.min if self.min is not None else (self.max - 8 if self.max is not None else -4)
        high = self.max if self.max is not None else low + 8
        return [low, high, (low + high) // 2, np.int64(low), np.int32(high)]

    def bad_values(self):
        fraction = (self.min if self.min is not None else -4) + 0.5
        bad = [
            math.nan,
            math.inf,
            fraction,
            np.float64(fraction),
            float(self.good_values()[0]),
            "1",
            None,
            True,
            np.bool_(True),
            [1],
        ]
        bad += [] if self.min is None else [self.min - 1]
        return bad if self.max is None else bad + [self.max + 1]


class Boolean(Constraint):
    """True or False; never a number."""

    rule = "True or False"

    def accepts(self, value):
        return is_bool(value)

    def good_values(self):
        return [True, False, np.bool_(True)]

    def bad_values(self):
        return [0, 1, 1.0, "True", None, [True]]


class OneOf(Constraint):
    """One of the values listed: strings, None, booleans or integers.

    Parameters
    ----------
    *values : str, None, bool or int
        The values allowed. 1 and True are different.
    """

    def __init__(self, *values):
        self.values = values

    @property
    def rule(self):
        words = [repr(value) for value in self.values]
        return words[0] if len(words) == 1 else f"one of {_listed(words)}"

    def accepts(self, value):
        return any(_same(value, allowed) for allowed in self.values)

    def good_values(self):
        return list(self.values)

    def bad_values(self):
        bad = [
            "no such word",
            "",
            b"l2",
            0.5,
            math.nan,
            1234567,
            ["l2"],
            {},
            np.array(["l2", "l1"]),
        ]
        bad += [
            value.upper() for value in self.values if isinstance(value, str) and value.islower()
        ]
        return bad + [value for value in (None, True) if not self.accepts(value)]


def _same(value: Any, allowed: Any) -> bool:
    """Compare without the surprises of ==: 1 is not True, an array equals nothing."""
    if allowed is None or isinstance(allowed, bool):
        return value is allowed or (is_bool(value) and is_bool(allowed) and value == allowed)
    if isinstance(allowed, str):
        return isinstance(value, str) and value == allowed
    return isinstance(value, numbers.Integral) and not is_bool(value) and value == allowed


class Instance(Constraint):
    """An object of one of the given classes.

    Parameters
    ----------
    *types : type
        The classes allowed.
    """

    def __init__(self, *types):
        self.types = types

    @property
    def rule(self):
        return "an instance of " + _listed(cls.__name__ for cls in self.types)

    def accepts(self, value):
        return isinstance(value, self.types)

    def good_values(self):
        return [cls.__new__(cls) for cls in self.types]

    def bad_values(self):
        stranger = type("Stranger", (), {})
        return [stranger(), *[cls for cls in self.types if not isinstance(cls, self.types)]]


class HasMethods(Constraint):
    """An object with the given methods, such as another estimator.

    Parameters
    ----------
    *methods : str
        Names of the methods it must have.
    """

    def __init__(self, *methods):
        self.methods = methods

    @property
    def rule(self):
        *head, last = self.methods
        return "an object with " + (f"{', '.join(head)} and {last}" if head else last)

    def accepts(self, value):
        """Say whether a value is allowed; a class is not an object of that class."""
        return not isinstance(value, type) and all(
            callable(getattr(value, method, None)) for method in self.methods
        )

    def good_values(self):
        return [type("Example", (), {method: lambda self: None for method in self.methods})()]

    def bad_values(self):
        return [None, "fit", 1, type(self.good_values()[0])]


class Callable(Constraint):
    """Something that can be called."""

    rule = "a callable"

    def accepts(self, value):
        return callable(value)

    def good_values(self):
        return [len, lambda: None]

    def bad_values(self):
        return [None, 1, "len", []]


class ArrayLike(Constraint):
    """A list, tuple or array; optionally with a constraint on every element.

    Parameters
    ----------
    element : Constraint, optional
        What each element must be.
    """

    def __init__(self, element=None):
        self.element = element

    @property
    def rule(self):
        if self.element is None:
            return "an array-like"
        return f"an array-like whose elements are each {self.element.rule}"

    def accepts(self, value):
        if not isinstance(value, (list, tuple)) and not hasattr(value, "__array__"):
            return False
        try:
            array = np.asarray(value)
        except ValueError:
            # Rows of different lengths.
            return False
        if array.ndim == 0 or self.element is None:
            return array.ndim > 0
        return all(map(self.element.accepts, array.flat))

    def good_values(self):
        good = [1, 2] if self.element is None else self.element.good_values()[:2]
        return [list(good), tuple(good), np.array(good)]

    def bad_values(self):
        bad = [None, 1.5, "abc", {}, {1, 2}, len, np.float64(2), [[1, 2], [3]]]
        return bad if self.element is None else bad + [[v] for v in self.element.bad_values()[:2]]


class Either(Constraint):
    """What any of the given constraints allows.

    Parameters
    ----------
    *choices : Constraint
        The constraints; the message names them in this order.
    """

    def __init__(self, *choices):
        self.choices = choices

    @property
    def rule(self):
        return ", or ".join(choice.rule for choice in self.choices)

    def accepts(self, value):
        return any(choice.accepts(value) for choice in self.choices)

    def good_values(self):
        return [value for choice in self.choices for value in choice.good_values()]

    def bad_values(self):
        """Return what one choice refuses and no other allows."""
        bad = [value for choice in self.choices for value in choice.bad_values()]
        return [value for value in bad if not self.accepts(value)]
