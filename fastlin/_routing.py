"""Metadata routing: which of scikit-learn's tools may pass sample weights to which method.

scikit-learn asks `get_metadata_routing` for an object of its own class, and only when the user
has switched routing on. What was requested is kept as ``_metadata_request``, the name that its
`clone` copies.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ._delegation import passes
from ._signature import metadata_names

__all__ = [
    "ROUTED_METHODS",
    "columns_router",
    "define_request_setter",
    "metadata_request",
    "pipeline_router",
    "routing_is_on",
]

ROUTED_METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "transform",
    "inverse_transform",
)


def routing_is_on() -> bool:
    """Say whether scikit-learn is loaded and the user has switched its metadata routing on."""
    get_config = getattr(sys.modules.get("sklearn"), "get_config", None)
    return get_config is not None and bool(get_config()["enable_metadata_routing"])


def metadata_request(estimator: Any) -> Any:
    """Return a MetadataRequest of scikit-learn: a copy of that kept, or one that asks nothing."""
    from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

    if hasattr(estimator, "_metadata_request"):
        return get_routing_for_object(estimator._metadata_request)
    request = MetadataRequest(owner=estimator)
    for method in ROUTED_METHODS:
        for name in metadata_names(type(estimator), method):
            getattr(request, method).add_request(param=name, alias=None)
    return request


def _change_request(estimator: Any, method: str, names: list[str], requests: dict) -> None:
    """Keep what the user asks to be passed to a method."""
    from sklearn import get_config
    from sklearn.utils.metadata_routing import UNCHANGED

    setter = f"set_{method}_request"
    if not get_config()["enable_metadata_routing"]:
        raise RuntimeError(
            f"{setter} needs metadata routing; call "
            "sklearn.set_config(enable_metadata_routing=True) first."
        )
    unknown = sorted(set(requests) - set(names))
    if unknown:
        raise TypeError(
            f"{setter} takes {', '.join(names) or 'nothing'}; got {', '.join(unknown)}."
        )
    routing = metadata_request(estimator)
    for name, alias in requests.items():
        if alias != UNCHANGED:
            getattr(routing, method).add_request(param=name, alias=alias)
    estimator._metadata_request = routing


def define_request_setter(cls: type, method: str) -> None:
    """Define ``set_{method}_request`` on a class if its method, or that of a base, takes any."""
    names, setter_name = metadata_names(cls, method), f"set_{method}_request"
    if not names and not hasattr(cls, setter_name):
        return

    def setter(self, **requests):
        _change_request(self, method, names, requests)
        return self

    setter.__name__, setter.__qualname__ = setter_name, f"{cls.__qualname__}.{setter_name}"
    setter.__doc__ = f"""Say which metadata scikit-learn's tools shall pass to `{method}`.

        Parameters
        ----------
        {", ".join(names)} : bool, None or str
            True: pass it; False: do not; None: raise if the user gives it; a string: the name
            under which the user gives it. What is left out keeps its setting.

        Returns
        -------
        self

        Raises
        ------
        RuntimeError
            If metadata routing is not switched on in scikit-learn.
        """
    setattr(cls, setter_name, setter)


def columns_router(owner: Any, parts: Iterable[tuple[str, Any]]) -> Any:
    """Return the MetadataRouter of transformers that each get columns of their own."""
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

    router = MetadataRouter(owner=owner)
    for name, part in parts:
        if not passes(part) and hasattr(part, "fit"):
            mapping = MethodMapping().add(caller="fit", callee="fit")
            mapping.add(caller="fit_transform", callee="fit")
            mapping.add(caller="transform", callee="transform")
            router.add(**{name: part}, method_mapping=mapping)
    return router


def pipeline_router(owner: Any, steps: Iterable[tuple[str, Any]], last: str) -> Any:
    """Return the MetadataRouter of steps that run one after the other: what each method of the
    whole calls of each step, the last of which is called `last`."""
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

    router = MetadataRouter(owner=owner)
    for name, step in steps:
        if passes(step):
            continue
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="fit_transform", callee="fit")
        for method in ROUTED_METHODS[2:]:
            as_it_is = name == last or method == "inverse_transform"
            mapping.add(caller=method, callee=method if as_it_is else "transform")
        router.add(**{name: step}, method_mapping=mapping)
    return router
