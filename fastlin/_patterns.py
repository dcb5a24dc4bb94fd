"""What models that share a pass have in common: which rows they treat alike, and how many of them
go over the rows together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._memory import machine_bytes
from ._parallel import n_threads
from ._params import shown

__all__ = ["parted", "reads", "row_patterns", "rows_to_visit", "without_idle"]

# Up to this many combinations of folds and classes are counted off; more are sorted.
_MOST_KEYS = 1 << 22


def rows_to_visit(members: list[np.ndarray], among: np.ndarray | None,
                  weight: np.ndarray | None) -> np.ndarray:
    """The rows whose order is drawn: those of a mask, by default those that any model trains on,
    but for those of weight 0; all if there are none."""
    mask = np.logical_or.reduce(members) if among is None else among
    visited = np.flatnonzero(mask if weight is None else mask & (weight > 0))
    return visited if len(visited) else np.arange(len(mask))


def row_patterns(memberships: list[np.ndarray], codes: np.ndarray | None, n_classes: int,
                 models: list[Any], n_lanes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(pattern of each row, weights and targets of the lanes by pattern): rows that all models
    treat alike share one. A model has a `fold`, and weights and targets by class number."""
    folds = sorted({model.fold for model in models})
    n_keys = n_classes << len(folds)
    kind = np.int32 if n_keys <= np.iinfo(np.int32).max else np.int64
    key = np.zeros(len(memberships[folds[0]]), kind)
    for bit, fold in enumerate(folds):
        key |= memberships[fold].astype(kind) << bit
    if codes is not None:
        key *= n_classes
        key += codes
    if n_keys <= _MOST_KEYS:
        found = np.flatnonzero(np.bincount(key, minlength=n_keys))
        number = np.full(n_keys, -1, np.int32)
        number[found] = np.arange(len(found), dtype=np.int32)
        pattern = number[key]
    else:
        found, inverse = np.unique(key, return_inverse=True)
        pattern = inverse.astype(np.int32).ravel()
    member, code = np.divmod(found, n_classes)
    weight, target = np.zeros((len(found), n_lanes)), np.ones((len(found), n_lanes))
    for lane, model in enumerate(models):
        inside = (member >> folds.index(model.fold)) & 1
        weight[:, lane] = inside * model.class_weight[code]
        target[:, lane] = model.class_target[code]
    return pattern, weight, target


def without_idle(pattern: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The pattern of each row, -1 where no lane learns from it: such rows are passed over."""
    idle = ~weight.any(axis=1)
    if not idle.any():
        return pattern
    number = np.where(idle, -1, np.arange(len(idle))).astype(np.int32)
    return np.where(pattern >= 0, number[pattern], -1).astype(np.int32)


def reads(tests: list[np.ndarray], n: int, most_runs: int) -> list[tuple[np.ndarray, list]]:
    """(rows to read one after another, runs) of each pass that answers all tests, which are row
    numbers below n. A run (g, first, last) of rising numbers in test g meets its rows on the way.

    Tests of a few runs, as those of folds are, share one pass in the order of memory: where each
    row is in one of four folds, that took 0.07 s, and a pass for each fold 0.17 s (30 entries a
    row, 16 models). Tests in another order are read as they are.
    """
    runs = []
    for g, test in enumerate(tests):
        ends = [*(np.flatnonzero(test[1:] <= test[:-1]) + 1).tolist(), len(test)]
        if len(runs) + len(ends) > most_runs:
            return [(test, [(g, 0, len(test))]) for g, test in enumerate(tests)]
        runs += [(g, first, last) for first, last in zip([0, *ends], ends, strict=False)]
    wanted = np.zeros(n, bool)
    for test in tests:
        wanted[test] = True
    return [(np.flatnonzero(wanted), runs)]


def parted(models: list[Any], widths: list[int], n_columns: int, lane_bytes: Callable[[Any], int],
           n_jobs: int | None, limit: int | None, spare: int = 0) -> list[tuple[list[Any], int]]:
    """(models of one kind, number of lanes) of each pass: as many side by side as there are lanes
    in `widths`, of which a model takes its `width`, memory allows, and leaves work for each
    thread. With `spare` lanes, more than `widths` go, the last pass takes models that would not
    even fill half of one more."""
    whole = isinstance(limit, (int, np.integer)) and not isinstance(limit, bool)
    if limit is not None and not (whole and limit >= 1):
        raise ValueError(
            f"memory_limit must be None or a number of bytes >= 1, got {shown(limit)}."
        )
    kinds: dict[tuple, list[Any]] = {}
    for model in models:
        kinds.setdefault(model.kind, []).append(model)
    threads = min(n_threads(n_jobs), len(models))
    passes = []
    for alike in kinds.values():
        share = max(1, -(-len(alike) * threads // len(models)))
        lanes = alike[0].width
        wanted = -(-len(alike) // share) * lanes
        room = (machine_bytes() // 4 if limit is None else limit) // threads
        one = lane_bytes(alike[0])
        wide = [n for n in widths if n >= lanes]
        fitting = [n for n in wide if n * one <= room]
        if not fitting and limit is not None:
            raise ValueError(
                f"memory_limit must be at least {wide[0] * one * threads} bytes for {n_columns} "
                f"columns, got {limit}; hash the columns to fewer."
            )
        most = (fitting or wide[:1])[-1]
        size = next((n for n in wide if n >= wanted and n <= most), most) // lanes
        starts = list(range(0, len(alike), size))
        left = len(alike) % size * lanes
        if wanted > most and 0 < left <= spare - most and spare * one <= room:
            starts.pop()
            wide.append(spare)
        for start, stop in zip(starts, (*starts[1:], len(alike)), strict=True):
            part = alike[start:stop]
            passes.append((part, next(n for n in wide if n >= len(part) * lanes)))
    return passes
