"""Bracketed trees as numbers, and the Gram matrix of their kernel.

A tree is written "(S (NP (D the) (N man)) (VP (V left)))": a bracket holds a label and then words
or brackets. Its nodes are the brackets; the production at a node is its label and what follows it,
words themselves and brackets by their labels.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

from . import _parallel
from ._core import gram as _gram
from ._params import shown

__all__ = ["Trees", "as_trees", "tree_diagonal", "tree_gram"]

_TOKEN = re.compile(r"[()]|[^\s()]+")
# Pairs of nodes per call of the kernel: some 50 ms
_PAIRS_PER_CALL = 10_000_000
_FIRST_ROOM = 4096
_TASKS = 4


class Trees:
    """Trees one after another: tree i has the nodes ends[i] ... ends[i + 1] - 1, children first."""

    def __init__(self, productions: list[np.ndarray], children: list[list[list[int]]]):
        self.sizes = np.array([len(p) for p in productions], np.int64)
        self.ends = np.concatenate([[0], np.cumsum(self.sizes)])
        self.production = np.concatenate(productions)
        self.sorted = np.empty(len(self.production), np.int32)
        self.rank = np.empty(len(self.production), np.int32)
        for i, production in enumerate(productions):
            own = slice(self.ends[i], self.ends[i + 1])
            order = np.argsort(production, kind="stable")
            self.sorted[own] = order
            self.rank[own][order] = np.arange(len(order))
        nodes = [node for tree in children for node in tree]
        self.starts = np.concatenate([[0], np.cumsum([len(node) for node in nodes])])
        flat = [child for node in nodes for child in node]
        # the kernel asks where they begin, also if there are none
        self.children = np.array([*flat, 0], np.int32)

    def __len__(self) -> int:
        return len(self.sizes)


def as_trees(*samples: Any) -> tuple[Trees, list[int]]:
    """(the trees of all lists, how many each of these holds), equal productions numbered alike."""
    numbers: dict[tuple, int] = {}
    productions, children, counts = [], [], []
    for trees in samples:
        if isinstance(trees, (str, bytes)) or not hasattr(trees, "__iter__"):
            raise TypeError(
                f"samples must be a list of bracketed trees, got {shown(trees)}; put a single tree "
                "in a list."
            )
        before = len(productions)
        for place, text in enumerate(trees):
            own, below = _parsed(text, place, numbers)
            productions.append(np.array(own, np.int32))
            children.append(below)
        counts.append(len(productions) - before)
        if not counts[-1]:
            raise ValueError("0 sample(s) while a minimum of 1 is required.")
    return Trees(productions, children), counts


def _parsed(text: Any, place: int, numbers: dict[tuple, int]) -> tuple[list, list]:
    """(production of each node, its children), in the order in which brackets close."""
    if not isinstance(text, str):
        raise TypeError(f"sample {place} must be a bracketed tree as str, got {shown(text)}.")
    productions: list[int] = []
    children: list[list[int]] = []
    # of each open bracket its label, right side and children
    open_nodes: list[tuple[list[str], list, list[int]]] = []
    complete = False
    for token in _TOKEN.findall(text):
        if complete or not (open_nodes or token == "("):
            raise _malformed(place, text, f"{token!r} stands outside of the brackets")
        if token == "(":
            open_nodes.append(([], [], []))
        elif token != ")":
            label, right, _ = open_nodes[-1]
            if label or right:
                right.append(token)
            else:
                label.append(token)
        else:
            label, right, below = open_nodes.pop()
            if not right:
                raise _malformed(place, text, f"'({''.join(label)})' has a label and nothing else")
            # words are str, labels of brackets are in a tuple
            name = (label[0] if label else "", *right)
            productions.append(numbers.setdefault(name, len(numbers)))
            children.append(below)
            if open_nodes:
                open_nodes[-1][1].append((name[0],))
                open_nodes[-1][2].append(len(productions) - 1)
            complete = not open_nodes
    if not complete:
        raise _malformed(place, text, "a bracket is not closed" if open_nodes else "it is empty")
    return productions, children


def _malformed(place: int, text: str, what: str) -> ValueError:
    """The error that says what is wrong with a tree."""
    return ValueError(
        f"sample {place} must be a bracketed tree such as '(S (NP (N dogs)) (VP (V bark)))', got "
        f"{shown(text)}: {what}."
    )


def tree_gram(trees: Trees, n_rows: int, decay: float, n_jobs: int | None) -> np.ndarray:
    """K of the first n_rows trees with those behind them, or with themselves if there are none."""
    symmetric = n_rows == len(trees)
    out = np.empty((n_rows, n_rows if symmetric else len(trees) - n_rows))
    step = max(1, -(-n_rows // (_parallel.n_threads(n_jobs) * _TASKS)))
    tasks = [
        partial(_fill, trees, trees.ends, 0 if symmetric else n_rows, decay, symmetric, out,
                first, min(first + step, n_rows))
        for first in range(0, n_rows, step)
    ]
    _parallel.run(tasks, n_jobs)
    if symmetric:
        rows, columns = np.tril_indices(n_rows, -1)
        out[rows, columns] = out[columns, rows]
    return out


def tree_diagonal(trees: Trees, decay: float) -> np.ndarray:
    """K of each tree with itself."""
    found = np.empty(len(trees))
    for i in range(len(trees)):
        out = np.empty((1, 1))
        _fill(trees, trees.ends[i : i + 2], 0, decay, True, out, 0, 1)
        found[i] = out[0, 0]
    return found


def _fill(trees: Trees, ends: np.ndarray, first_column: int, decay: float, symmetric: bool,
          out: np.ndarray, first: int, stop: int) -> None:
    """Rows first ... stop - 1 of the Gram matrix."""
    place = np.array([first, first if symmetric else 0], np.int64)
    longest = int(trees.sizes.max())
    shift, begin, end = np.empty(longest, np.int64), *np.empty((2, longest), np.int32)
    room, left = np.empty(_FIRST_ROOM), 1
    while left:
        left = _gram.tree_pairs(
            ends, trees.production, trees.sorted, trees.rank, trees.starts, trees.children,
            first_column, decay, symmetric, place, stop, _PAIRS_PER_CALL, shift, begin, end, room,
            out,
        )
        if left > 0:
            room = np.empty(max(left, 2 * len(room)))
        if _parallel.is_cancelled():
            raise _parallel.Cancelled
