"""Which argument of a search goes to whom: to `fit`, to the splitter, to the scorers.

By default `groups` goes to the splitter and everything else to `fit`. Where the user has switched
scikit-learn's metadata routing on, its own router decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ._routing import routing_is_on
from ._scoring import Scorers

__all__ = ["Routed", "routed"]


class Routed(NamedTuple):
    """Arguments by receiver."""

    fit: dict[str, Any]
    split: dict[str, Any]
    score: dict[str, Any]


def routed(
    caller: str, estimator: Any, cv: Any, scorers: Scorers | None, params: Any, groups: Any
) -> Routed:
    """Sort the arguments of one of the functions of `model_selection`.

    Raises
    ------
    ValueError
        Under routing, if `groups` is not among `params`, or somebody is given what he did not ask
        for.
    """
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise ValueError(f"params must be a dict from argument to value, got {params!r}.")
    if not routing_is_on():
        return Routed(dict(params), {"groups": groups}, {})
    if groups is not None:
        raise ValueError(
            "groups can't be passed where metadata routing is switched on; use "
            "params={'groups': groups}."
        )
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

    router = MetadataRouter(owner=caller)
    router.add(splitter=cv, method_mapping=_from_fit(MethodMapping, "split"))
    router.add(estimator=estimator, method_mapping=_from_fit(MethodMapping, "fit"))
    if scorers is not None:
        router.add(scorer=scorers, method_mapping=_from_fit(MethodMapping, "score"))
    found = process_routing(router, "fit", **params)
    score = {} if scorers is None else found["scorer"]["score"]
    return Routed(dict(found["estimator"]["fit"]), dict(found["splitter"]["split"]), dict(score))


def _from_fit(mapping: Any, callee: str) -> Any:
    """Return what says that `fit` of the caller calls a method."""
    return mapping().add(caller="fit", callee=callee)
