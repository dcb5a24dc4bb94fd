"""Estimators made of named parts: parameters that are set and got by name, and names of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._base import Estimator
from ._delegation import passes
from ._params import shown
from ._signature import init_parameters

__all__ = ["NamedParts", "named_by_class", "output_name", "output_names"]


class NamedParts(Estimator):
    """Parameters of an estimator, one of whose parameters lists its parts.

    The parameter `_parts` holds tuples (name, part, ...).
    """

    _parts: str

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters and, as ``part`` and ``part__parameter``, what it is made of.

        Parameters
        ----------
        deep : bool, default=True
            False gives the parameters of the constructor only.

        Returns
        -------
        dict
            From name to value.
        """
        params = super().get_params(deep)
        if not deep:
            return params
        for name, part, *_ in getattr(self, self._parts):
            params[name] = part
            if hasattr(part, "get_params") and not isinstance(part, type):
                params.update((f"{name}__{key}", v) for key, v in part.get_params().items())
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the constructor, single parts, or their parameters.

        Parameters
        ----------
        **params
            A parameter, a part by its name, or ``part__parameter``; in this order, whatever the
            order in which they are given.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such part or parameter.
        """
        valid = init_parameters(type(self))
        own = {key: v for key, v in params.items() if key.partition("__")[0] in valid}
        given = own.pop(self._parts, getattr(self, self._parts))
        if len(own) + (self._parts in params) < len(params):
            given = self._with_parts_set(
                list(given), {key: v for key, v in params.items() if key not in (*own, self._parts)}
            )
        super().set_params(**own)
        setattr(self, self._parts, given)
        return self

    def _with_parts_set(self, parts: list, params: dict[str, Any]) -> list:
        """Return the parts, some of them replaced, after parameters of others were set."""
        places = {part[0]: place for place, part in enumerate(parts)}
        nested: dict[str, dict[str, Any]] = {}
        kind = type(self).__name__
        for key, value in params.items():
            name, nests, inner = key.partition("__")
            if name not in places:
                valid = [*init_parameters(type(self)), *places]
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {kind}. "
                    f"Valid parameters are: {valid}."
                )
            if nests:
                nested.setdefault(name, {})[inner] = value
            else:
                _, _, *rest = parts[places[name]]
                parts[places[name]] = (name, value, *rest)
        for name, inner in nested.items():
            part = parts[places[name]][1]
            if not hasattr(part, "set_params"):
                raise ValueError(
                    f"Invalid parameter {f'{name}__{next(iter(inner))}'!r} for estimator "
                    f"{kind}: the step {name} is {shown(part)}, which has no parameters."
                )
            part.set_params(**inner)
        return parts


def named_by_class(parts: Sequence[Any]) -> list[str]:
    """Return names for parts: the classes in lower case, with -1, -2, ... where one has several."""
    names = [part if isinstance(part, str) else type(part).__name__.lower() for part in parts]
    times = Counter(names)
    counts: dict[str, int] = {}
    found = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        found.append(name + (f"-{counts[name]}" if times[name] > 1 else ""))
    return found


def output_names(part: Any, names: np.ndarray, width: int) -> list[str]:
    """Return the names of a transformer's columns, made of its class where it has none."""
    if passes(part):
        return names.tolist()
    try:
        own = list(part.get_feature_names_out(names))
    except (AttributeError, ValueError):
        own = []
    if len(own) == width:
        return own
    return [f"{type(part).__name__.lower()}{j}" for j in range(width)]


def output_name(form: Any, transformer: str, column: str) -> str:
    """Return the name of an output column, as `verbose_feature_names_out` says."""
    if isinstance(form, str):
        try:
            return form.format(transformer_name=transformer, feature_name=column)
        except (LookupError, AttributeError, ValueError) as error:
            raise ValueError(
                "verbose_feature_names_out must be a format of {transformer_name} and "
                f"{{feature_name}} alone, got {form!r} ({type(error).__name__}: {error})."
            ) from None
    if not callable(form):
        return f"{transformer}__{column}" if form else column
    name = form(transformer, column)
    if not isinstance(name, str):
        raise TypeError(
            f"verbose_feature_names_out must return strings, but it returned {type(name).__name__}."
        )
    return name
