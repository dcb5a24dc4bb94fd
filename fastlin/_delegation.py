"""Methods that a pipeline has only if its steps have them."""

from __future__ import annotations

from typing import Any

from ._params import shown

__all__ = ["Delegated", "from_last", "passes"]


def passes(step: Any) -> bool:
    """Say whether a step leaves the data as they are."""
    return step is None or isinstance(step, str) and step == "passthrough"


class Delegated:
    """A method that a pipeline has only if its steps have one of the same name."""

    def __init__(self, function: Any):
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, pipeline: Any, owner: type | None = None) -> Any:
        if pipeline is None:
            return self._function
        name = self._name
        # Only the last step predicts; every step takes part in a transformation.
        if name in ("inverse_transform", "transform", "fit_transform"):
            concerned = [step for _, step in pipeline.steps if not passes(step)]
        else:
            concerned = [pipeline._final]
        for step in concerned:
            # what can be transformed can be fitted and transformed, in two steps if need be
            if not (hasattr(step, name) or name == "fit_transform" and hasattr(step, "transform")):
                raise AttributeError(
                    f"This Pipeline has no {name}, because its step {shown(step)} has none."
                )
        return self._function.__get__(pipeline, owner)


def from_last(name: str, what: str, shape: str) -> Any:
    """Return a method that transforms X and calls a method of the last step."""

    def method(self, X, **params):
        return getattr(self._final, name)(self._transformed(X, name), **params)

    method.__name__, method.__qualname__ = name, f"Pipeline.{name}"
    method.__doc__ = f"""Transform X and return {what} of the last step.

        Parameters
        ----------
        X : iterable
            What the first step takes.
        **params
            Further arguments of the last step's `{name}`.

        Returns
        -------
        ndarray of shape {shape}

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
    return Delegated(method)
