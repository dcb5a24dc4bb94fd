"""Exceptions and warnings that scikit-learn recognises without being a dependency.

scikit-learn's tools catch their own classes: `NotFittedError`, `ConvergenceWarning` and others.
Importing them costs seconds, so fastlin has classes of the same names and bases. Where
``sklearn.exceptions`` is already loaded *at the moment of raising*, what is raised derives from
both, so that ``except fastlin.NotFittedError`` and ``except sklearn.exceptions.NotFittedError``
catch it alike. Looking at import time would be wrong: the user may import scikit-learn later.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator

__all__ = [
    "ConvergenceWarning",
    "DataConversionWarning",
    "FitFailedWarning",
    "InvalidParameterError",
    "NotFittedError",
    "UndefinedMetricWarning",
    "errors_about",
    "exception_class",
    "not_fitted",
    "warn",
    "warn_convergence",
]


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was fitted."""


class InvalidParameterError(ValueError, TypeError):
    """A constructor parameter has a value or a type that is not allowed."""


class ConvergenceWarning(UserWarning):
    """A solver stopped before it reached its tolerance."""


class DataConversionWarning(UserWarning):
    """Data were reshaped on the way in, perhaps not as the caller meant."""


class FitFailedWarning(RuntimeWarning):
    """Some of the models of a search or a cross-validation could not be fitted."""


class UndefinedMetricWarning(UserWarning):
    """A score is not defined for these data."""


_OWN = {
    cls.__name__: cls
    for cls in (
        NotFittedError,
        ConvergenceWarning,
        DataConversionWarning,
        FitFailedWarning,
        UndefinedMetricWarning,
    )
}
# Keyed by the peer's class, so that a reloaded scikit-learn gets classes of its own.
_joint: dict[type, type] = {}


def exception_class(name: str) -> type:
    """Return the class to raise under this name: ours, and scikit-learn's as well if loaded."""
    own = _OWN[name]
    peer = getattr(sys.modules.get("sklearn.exceptions"), name, None)
    if peer is None:
        return own
    if peer not in _joint:
        body = {"__module__": own.__module__, "__doc__": own.__doc__, "__reduce__": _reduce}
        # setdefault: of two threads that get here at once, both must raise the same class.
        _joint.setdefault(peer, type(name, (own, peer), body))
    return _joint[peer]


def _rebuild(name: str, args: tuple, state: dict) -> BaseException:
    """Recreate an exception in another process, where scikit-learn may not be loaded."""
    error = exception_class(name)(*args)
    error.__dict__.update(state)
    return error


def _reduce(self):
    """Pickle by name: a class made at run time cannot be looked up in a module."""
    return _rebuild, (type(self).__name__, self.args, self.__dict__.copy())


def not_fitted(estimator: object, method: str | None = None) -> NotFittedError:
    """Return the error to raise when an estimator is used before it is fitted."""
    before = f"before {method}" if method else "first"
    return exception_class("NotFittedError")(
        f"This {type(estimator).__name__} is not fitted yet; call fit {before}."
    )


def warn(name: str, message: str, stacklevel: int | None = None) -> None:
    """Issue a warning of the named class, or a UserWarning, at the caller's own line.

    Parameters
    ----------
    name : str
        A name known to `exception_class`, or "UserWarning".
    message : str
        What happened and what to do about it.
    stacklevel : int, optional
        As in `warnings.warn`, counted from the caller of this function. By default the first
        frame outside the package, so that the user sees a line of their own code.
    """
    category = UserWarning if name == "UserWarning" else exception_class(name)
    level = _frames_to_user() if stacklevel is None else stacklevel + 1
    warnings.warn(message, category, stacklevel=level)


def warn_convergence(message: str, stacklevel: int | None = None) -> None:
    """Issue a ConvergenceWarning at the caller's own line."""
    warn("ConvergenceWarning", message, None if stacklevel is None else stacklevel + 1)


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _frames_to_user() -> int:
    """Count the frames from `warn` to the first one outside the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


@contextlib.contextmanager
def errors_about(what: str) -> Iterator[None]:
    """Put into words what a ValueError or TypeError is about; its kind stays, its class may not,
    since not every class is made of a message."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{what}: {error}") from None
