"""Methods that a search has only if its best estimator has them."""

from __future__ import annotations

from typing import Any

__all__ = ["FromBest", "estimator_behind"]


def estimator_behind(search: Any, name: str) -> Any:
    """Return the fitted best estimator, or before `fit` the one to be searched over.

    Raises
    ------
    AttributeError
        If the search does not refit, or the estimator has no such attribute.
    """
    if not search.refit:
        raise AttributeError(
            f"This {type(search).__name__} was made with refit=False, so it has no {name}; "
            "set refit=True, or fit an estimator with best_params_."
        )
    behind = vars(search).get("best_estimator_", search.estimator)
    getattr(behind, name)  # raises what the estimator says
    return behind


class FromBest:
    """A method that calls the one of the same name of the best estimator."""

    def __init__(self, what: str, returns: str):
        self._what, self._returns = what, returns

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self.__doc__ = f"""Return {self._what} of the best estimator.

        Parameters
        ----------
        X : array-like, sparse matrix or list of n_samples
            What the estimator takes.

        Returns
        -------
        {self._returns}

        Raises
        ------
        NotFittedError
            Before `fit`.
        AttributeError
            With ``refit=False``, or if the estimator has no such method.
        """

    def __get__(self, search: Any, owner: type | None = None) -> Any:
        if search is None:
            return self
        name = self._name
        estimator_behind(search, name)

        def method(X: Any) -> Any:
            """Call the best estimator."""
            search._check_fitted(name)
            return getattr(search.best_estimator_, name)(X)

        method.__name__, method.__doc__ = name, self.__doc__
        return method
