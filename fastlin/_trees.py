"""Bracketed trees as numbers, and the Gram matrix of their kernel.

A tree is written "(S (NP (D the) (N man)) (VP (V left)))": a bracket holds a label and then words
or brackets. Its nodes are the brackets; the production at a node is its label and what follows it,
words themselves and brackets by their labels.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from . import _parallel
from ._core import brackets as _brackets
from ._core import gram as _gram
from ._memory import available_memory, spelt_size
from ._params import shown
from ._strings import listed_samples

__all__ = ["Trees", "as_trees", "tree_diagonal", "tree_gram"]

_FAULTS = {
    _brackets.EMPTY: "it is empty",
    _brackets.OUTSIDE: "something stands outside of the brackets",
    _brackets.UNCLOSED: "a bracket is not closed",
    _brackets.BARE: "a bracket holds a label and nothing else",
}
# Bytes per call of the parser: some 50 ms
_BYTES_PER_CALL = 10_000_000
# Pairs of nodes per call of the kernel: some 50 ms
_PAIRS_PER_CALL = 10_000_000
_FIRST_ROOM = 4096


class Trees:
    """Trees one after another: tree i has the nodes ends[i] ... ends[i + 1] - 1, children first.

    `production` numbers the production at each node; `sorted` has the nodes of each tree by
    production, `rank` the place of each in that; the children of node v are
    children[starts[v] : starts[v + 1]]. Nodes of a tree are counted from 0.
    """

    def __init__(self, production: np.ndarray, sizes: np.ndarray, starts: np.ndarray,
                 children: np.ndarray):
        self.sizes, self.production = sizes, production
        self.starts, self.children = starts, children
        self.ends = np.concatenate([[0], np.cumsum(sizes)])
        n, n_productions = len(production), int(production.max(initial=-1)) + 1
        self.sorted, self.rank = np.empty((2, n), np.int32)
        _brackets.by_production(
            production, self.ends, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            np.zeros(max(n_productions + 1, len(sizes)), np.int64), np.empty(n, np.int32),
            self.sorted, self.rank,
        )

    def __len__(self) -> int:
        return len(self.sizes)


def as_trees(*samples: Any) -> tuple[Trees, list[int]]:
    """(the trees of all lists, how many each of these holds), equal productions numbered alike."""
    texts, counts = [], []
    for trees in samples:
        trees = listed_samples(trees, "bracketed trees", "tree")
        for place, text in enumerate(trees):
            if not isinstance(text, str):
                raise TypeError(
                    f"sample {place} must be a bracketed tree as str, got {shown(text)}."
                )
        texts += trees
        counts.append(len(trees))
    return _parsed(texts, counts), counts


def _parsed(texts: list[str], counts: list[int]) -> Trees:
    """The trees, all at once."""
    encoded = [tree.encode("utf-8", "surrogatepass") for tree in texts]
    text, ends = b"".join(encoded), np.cumsum([len(tree) for tree in encoded])
    n_nodes = np.count_nonzero(np.frombuffer(text, np.uint8) == ord("("))
    if n_nodes > np.iinfo(np.int32).max:
        raise ValueError(
            f"samples must have at most {np.iinfo(np.int32).max:,} brackets in all, got "
            f"{n_nodes:,}; take fewer at a time."
        )
    sizes, starts = np.zeros(len(texts), np.int64), np.zeros(n_nodes + 1, np.int64)
    production, children = np.empty((2, n_nodes), np.int32)
    # between two words there is a byte at least
    reader = _brackets.Brackets(text, len(text) // 2 + 1, production, starts, children)
    tree = fault = 0
    while tree < len(texts):
        tree, fault = reader.read(ends, sizes, tree, _BYTES_PER_CALL)
        if fault:
            raise _malformed(texts, counts, tree, _FAULTS[fault])
    return Trees(production, sizes, starts, children)


def _malformed(texts: list[str], counts: list[int], at: int, what: str) -> ValueError:
    """The error that says what is wrong with a tree."""
    place = at if at < counts[0] else at - counts[0]
    return ValueError(
        f"sample {place} must be a bracketed tree such as '(S (NP (N dogs)) (VP (V bark)))', got "
        f"{shown(texts[at])}: {what}."
    )


def tree_gram(trees: Trees, n_rows: int, decay: float, n_jobs: int | None) -> np.ndarray:
    """K of the first n_rows trees with those behind them, or with themselves if there are none."""
    symmetric = n_rows == len(trees)
    out = np.empty((n_rows, n_rows if symmetric else len(trees) - n_rows))
    # pairs of nodes of each row
    pairs = trees.sizes[:n_rows] * float(trees.sizes[n_rows:].sum())
    if symmetric:
        pairs = trees.sizes * np.cumsum(trees.sizes[::-1])[::-1]
    tasks = [
        partial(_fill, trees, trees.ends, 0 if symmetric else n_rows, decay, symmetric, out,
                first, stop)
        for first, stop in _parallel.portions(pairs, n_jobs)
    ]
    _parallel.run(tasks, n_jobs)
    return out


def tree_diagonal(trees: Trees, n_rows: int, decay: float) -> np.ndarray:
    """K of each tree with itself; the first n_rows are samples of their own."""
    found = np.empty(len(trees))
    for i in range(len(trees)):
        out = np.empty((1, 1))
        _fill(trees, trees.ends[i : i + 2], 0, decay, True, out, 0, 1, i - n_rows * (i >= n_rows))
        found[i] = out[0, 0]
    return found


def _fill(trees: Trees, ends: np.ndarray, first_column: int, decay: float, symmetric: bool,
          out: np.ndarray, first: int, stop: int, origin: int = 0) -> None:
    """Rows first ... stop - 1 of the Gram matrix; the first sample of it is number `origin`."""
    place = np.array([first, first if symmetric else 0, 0], np.int64)
    longest = int(trees.sizes.max())
    shift, begin, end = np.empty(longest, np.int64), *np.empty((2, longest), np.int32)
    room, total, left = np.empty(_FIRST_ROOM), np.empty(1), 1
    while left:
        left = _gram.tree_pairs(
            ends, trees.production, trees.sorted, trees.rank, trees.starts, trees.children,
            first_column, decay, symmetric, place, stop, _PAIRS_PER_CALL, shift, begin, end, room,
            total, out,
        )
        if left > 0:
            _check_room(left, origin + int(place[0]), origin + int(place[1]))
            room = np.empty(max(left, 2 * len(room)))
        if _parallel.is_cancelled():
            raise _parallel.Cancelled


def _check_room(needed: int, row: int, column: int) -> None:
    """Raise if two trees have so many nodes alike that what is kept of them doesn't fit."""
    free = available_memory() if needed > 1 << 24 else None
    if free is not None and 8 * needed > free:
        raise ValueError(
            f"The kernel of samples {row} and {column} takes {spelt_size(8 * needed)} of memory "
            f"for {needed:,} pairs of nodes with equal productions, of which {spelt_size(free)} "
            "are available; leave out trees as large as these."
        )
