"""What constructors and methods take, read from their signatures once."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["REQUIRED", "init_parameters", "metadata_names"]


class _Required:
    """Stands for the default of a parameter that has none."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED = _Required()


def init_parameters(cls: type) -> dict[str, Any]:
    """Return constructor parameters and their defaults (`REQUIRED` if none), read once."""
    cached = cls.__dict__.get("_init_parameters")
    if cached is not None:
        return cached
    init = cls.__init__
    signature = inspect.signature(init).parameters if inspect.isfunction(init) else {}
    found = {}
    for parameter in list(signature.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(
                f"{cls.__name__}.__init__ must name every parameter; found {parameter}."
            )
        missing = parameter.default is parameter.empty
        found[parameter.name] = REQUIRED if missing else parameter.default
    cls._init_parameters = found
    return found


def metadata_names(cls: type, method: str) -> list[str]:
    """Return the named arguments of a method that are neither data nor target."""
    function = inspect.unwrap(getattr(cls, method, None) or (lambda: None))
    # Reading the code object costs a hundredth of inspect.signature, at import of every class.
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return [name for name in names if name not in ("X", "y")]
