"""The record of a voted perceptron's mistakes, as plain data.

A log has an entry per mistake of one learner: which row, at which step, with which coefficient, and
of several outputs which two moved. A segment is what one `fit` or one call of `partial_fit` adds to
a model: {"rows": copies of the mistaken rows, each once, "logs": one log per learner}.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import rows as _rows
from ._core.rows import Rows
from ._grow import grow_memories

__all__ = [
    "chained", "empty_log", "grow_votes", "joined", "segment_of", "starts_of", "stored_rows",
]  # fmt: skip

# In the order of the kernel's arguments.
_LOG = {"which": np.int64, "when": np.int64, "change": np.float64, "pair": np.int32}


def empty_log(size: int, n_outputs: int) -> dict[str, np.ndarray]:
    """Room for that many mistakes, in the order of the kernel's arguments."""
    shape = {"pair": (size if n_outputs > 1 else 0, 2)}
    return {name: np.empty(shape.get(name, size), dtype) for name, dtype in _LOG.items()}


def chained(logs: list[dict[str, np.ndarray]], n_outputs: int) -> dict[str, np.ndarray]:
    """One log of several."""
    logs = [empty_log(0, n_outputs), *logs]
    return {name: np.concatenate([log[name] for log in logs]) for name in _LOG}


def segment_of(X: Rows, logs: list[dict[str, np.ndarray]]) -> dict[str, Any]:
    """Logs whose `which` are rows of X, with a copy of these rows, each once."""
    numbers = np.unique(np.concatenate([log["which"] for log in logs]))
    logs = [{**log, "which": np.searchsorted(numbers, log["which"])} for log in logs]
    return {"rows": _taken(X, numbers), "logs": logs}


def _taken(X: Rows, numbers: np.ndarray) -> dict[str, Any]:
    """Copies of some rows."""
    rows = {"layout": X.layout, "n": len(numbers), "values": None, "indices": None, "indptr": None}
    values, indices = X.values, X.indices
    if indices is None:
        return {**rows, "values": None if values is None else values[numbers]}
    if X.indptr is None:
        starts, sizes = numbers * X.width, np.full(len(numbers), X.width)
    else:
        starts, sizes = X.indptr[numbers], X.indptr[numbers + 1] - X.indptr[numbers]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.repeat(starts - indptr[:-1], sizes) + np.arange(indptr[-1])
    values = None if values is None else values[places]
    return {**rows, "values": values, "indices": indices[places], "indptr": indptr}


def joined(segments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same sequence in fewer segments, none of them empty: each more than twice as long as the
    next, so that a row is copied at most once per doubling of the sequence."""
    segments = [segment for segment in segments if segment["rows"]["n"]]
    while len(segments) > 1 and segments[-2]["rows"]["n"] < 2 * segments[-1]["rows"]["n"]:
        a, b = segments[-2:]
        logs = []
        for first, second in zip(a["logs"], b["logs"], strict=True):
            second = {**second, "which": second["which"] + a["rows"]["n"]}
            logs.append({name: np.concatenate([first[name], second[name]]) for name in _LOG})
        segments = [*segments[:-2], {"rows": _stacked(a["rows"], b["rows"]), "logs": logs}]
    return segments


def _stacked(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """The rows of b below those of a; of unequal layouts they become CSR."""
    if a["layout"] != b["layout"]:
        a, b = _as_csr(a), _as_csr(b)
    both = {"layout": a["layout"], "n": a["n"] + b["n"]}
    for name in ("values", "indices"):
        both[name] = None if a[name] is None else np.concatenate([a[name], b[name]])
    both["indptr"] = None
    if a["indptr"] is not None:
        both["indptr"] = np.concatenate([a["indptr"], b["indptr"][1:] + a["indptr"][-1]])
    return both


def _as_csr(rows: dict[str, Any]) -> dict[str, Any]:
    """Stored rows of any layout as CSR; ones and signs become float32, which `concatenate` widens
    to the type of the other part."""
    if rows["layout"] == "csr":
        return rows
    if rows["layout"] == "dense":
        numbers, indices = np.nonzero(rows["values"])
        indptr = np.searchsorted(numbers, np.arange(rows["n"] + 1)).astype(np.int64)
        values, indices = rows["values"][numbers, indices], indices.astype(np.int32)
        return {**rows, "layout": "csr", "values": values, "indices": indices, "indptr": indptr}
    indices = rows["indices"]
    values = np.where(indices < 0, -1, 1).astype(np.float32)
    return {**rows, "layout": "csr", "values": values, "indices": _columns(rows)}


def _columns(rows: dict[str, Any]) -> np.ndarray:
    """Column numbers of stored rows; a sign is kept in them only where the layout says so."""
    indices = rows["indices"]
    return np.where(indices < 0, ~indices, indices) if rows["layout"] == "signed" else indices


def stored_rows(segment: dict[str, Any], d: int, dtype: Any, n_outputs: int) -> Rows:
    """The rows of a segment, with values of the given type.

    The kernels trust them and the logs; a model may have come from a file, so they are looked at.
    """
    rows, n = segment["rows"], segment["rows"]["n"]
    sound = all(_is_sound_log(log, n, n_outputs) for log in segment["logs"])
    if not (sound and _are_sound_rows(rows, d)):
        raise ValueError("The mistakes that this voted perceptron keeps are damaged; fit it again.")
    values = None if rows["values"] is None else np.ascontiguousarray(rows["values"], dtype)
    return _rows.make_rows(rows["layout"], n, d, values, rows["indices"], rows["indptr"], dtype)


def _is_sound_log(log: dict[str, np.ndarray], n: int, n_outputs: int) -> bool:
    """Whether a log speaks of rows and outputs that there are."""
    size = len(log["which"])
    return (
        len(log["when"]) == len(log["change"]) == size
        and log["pair"].shape == ((size if n_outputs > 1 else 0), 2)
        and _within(log["which"], n)
        and _within(log["pair"], n_outputs)
    )


def _are_sound_rows(rows: dict[str, Any], d: int) -> bool:
    """Whether stored rows hold together."""
    n, values, indices = rows["n"], rows["values"], rows["indices"]
    if rows["layout"] == "dense":
        return values.shape == (n, d)
    return (
        len(rows["indptr"]) == n + 1
        and _rows.first_bad_row(rows["indptr"], len(indices)) < 0
        and _within(_columns(rows), d)
        and (rows["layout"] != "csr" or len(values) == len(indices))
    )


def _within(numbers: np.ndarray, bound: int) -> bool:
    """Whether all numbers lie in [0, bound)."""
    return numbers.size == 0 or bool(numbers.min() >= 0 and numbers.max() < bound)


def starts_of(memories: list[dict[str, Any] | None]) -> list[dict[str, Any]]:
    """The first voters of learners, as memories for `grow_memories`; none of learners that don't
    vote."""
    return [_as_memory(memory["start"]) for memory in memories if memory and "start" in memory]


def _as_memory(start: dict[str, Any]) -> dict[str, Any]:
    """A first voter as the memory of a learner."""
    nothing, b = start["V"][:0], np.zeros((4, len(start["b"])))
    b[0] = start["b"]
    arrays = {"V": start["V"], "u": nothing, "paid": nothing, "last": nothing, "b": b}
    return {**arrays, "moments": nothing.reshape(0, 0), "state": {}, "start": start}


def grow_votes(estimator: Any, starts: list[dict[str, Any]], old: np.ndarray, new: np.ndarray,
               joint: bool) -> None:
    """Let the first voters and the records follow memories that hold the classes `old` among those
    of `new` now."""
    memories = estimator._memories
    for k, start in enumerate(grow_memories(starts, old, new, joint, signed=False)):
        if start is not None:
            first = {**start["start"], "V": start["V"], "b": start["b"][0]}
            memories[k] = {**memories[k], "start": first}
    places = np.searchsorted(new, old)
    estimator._segments = [
        {**segment, "logs": _grown_logs(segment["logs"], places, len(new), joint)}
        for segment in estimator._segments
    ]


def _grown_logs(logs: list[dict[str, np.ndarray]], places: np.ndarray, n_classes: int,
                 joint: bool) -> list[dict[str, np.ndarray]]:
    """The records of learners for K classes as those for more, the old ones standing at `places`;
    `grow_memories` says what becomes of two."""
    if joint and len(places) == 2:
        (log,) = logs
        pair = np.tile(places.astype(np.int32), (len(log["which"]), 1))
        return [{**log, "change": log["change"] / 2, "pair": pair}]
    if joint:
        return [{**logs[0], "pair": places[logs[0]["pair"]].astype(np.int32)}]
    if len(places) == 2:
        logs = [{**logs[0], "change": -logs[0]["change"]}, logs[0]]
    grown = [empty_log(0, 1) for _ in range(n_classes)]
    for place, log in zip(places, logs, strict=True):
        grown[place] = log
    return grown
