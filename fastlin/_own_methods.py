"""Methods of public classes under the names of these classes.

Python's messages of wrong calls, such as "SGDClassifier.fit() missing 1 required positional
argument: 'y'", name a function as its definition does. Most stand in private mixins, which users
know nothing of, so public classes get copies of what they inherit; code and closure are shared.
"""

from __future__ import annotations

import sys
from types import FunctionType

__all__ = ["give_own_methods"]


def give_own_methods(cls: type) -> None:
    """Put copies of inherited public methods into a public class."""
    is_ours = cls.__module__.startswith(f"{__package__}.")
    if not is_ours or cls.__name__ not in getattr(sys.modules.get(__package__), "_HOMES", {}):
        return
    seen = set(vars(cls))
    for base in cls.__mro__[1:]:
        for name, value in vars(base).items():
            if name in seen:
                continue
            seen.add(name)
            # what wraps another function takes any arguments, and the other one complains
            if type(value) is FunctionType and name[0] != "_" and not hasattr(value, "__wrapped__"):
                setattr(cls, name, _named(value, f"{cls.__qualname__}.{name}"))


def _named(function: FunctionType, name: str) -> FunctionType:
    """A function under another name."""
    copy = FunctionType(function.__code__, function.__globals__, function.__name__,
                        function.__defaults__, function.__closure__)
    copy.__kwdefaults__, copy.__doc__ = function.__kwdefaults__, function.__doc__
    copy.__annotations__, copy.__module__ = function.__annotations__, function.__module__
    copy.__qualname__ = name
    return copy
