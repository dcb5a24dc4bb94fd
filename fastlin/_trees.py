"""Bracketed trees as numbers, and the Gram matrix of their kernel.

A tree is written "(S (NP (D the) (N man)) (VP (V left)))": a bracket holds a label and then words
or brackets. Its nodes are the brackets; the production at a node is its label and what follows it,
words themselves and brackets by their labels.
"""

from __future__ import annotations

import itertools
import re
from functools import partial
from typing import Any

import numpy as np

from . import _parallel
from ._core import encode as _encode
from ._core import gram as _gram
from ._params import shown
from ._strings import listed_samples

__all__ = ["Trees", "as_trees", "tree_diagonal", "tree_gram"]

_TOKEN = re.compile(r"[()]|[^\s()]+")
# Numbers of tokens; those of words follow.
_OPEN, _CLOSE, _NO_LABEL = 0, 1, 2
# Pairs of nodes per call of the kernel: some 50 ms
_PAIRS_PER_CALL = 10_000_000
_FIRST_ROOM = 4096
_TASKS = 4


class Trees:
    """Trees one after another: tree i has the nodes ends[i] ... ends[i + 1] - 1, children first.

    `production` numbers the production at each node; `sorted` has the nodes of each tree by
    production, `rank` the place of each in that; the children of node v are
    children[starts[v] : starts[v + 1]]. Nodes of a tree are counted from 0.
    """

    def __init__(self, production: np.ndarray, sizes: np.ndarray, parents: np.ndarray):
        self.sizes, self.production = sizes, production
        self.ends = np.concatenate([[0], np.cumsum(sizes)])
        first = np.repeat(self.ends[:-1], sizes)
        nodes = np.arange(len(production))
        order = np.lexsort((production, first))
        self.sorted = (order - first).astype(np.int32)
        self.rank = np.empty(len(nodes), np.int32)
        self.rank[order] = nodes - first
        inner = np.flatnonzero(parents >= 0)
        inner = inner[np.argsort(parents[inner], kind="stable")]
        counts = np.bincount(parents[inner], minlength=len(nodes))
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        # one more, since the kernel asks where they begin, also if there are none
        self.children = np.append(inner - first[inner], 0).astype(np.int32)

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
    """The trees, all at once: what belongs to a bracket stands, among all that is as deep, between
    the opening and the closing one."""
    found = [_TOKEN.findall(text) for text in texts]
    sizes = np.array([len(tokens) for tokens in found], np.int64)
    codes = np.empty(int(sizes.sum()), np.int32)
    tokens = np.fromiter(itertools.chain.from_iterable(found), object, len(codes))
    _encode.number_objects(tokens, {"(": _OPEN, ")": _CLOSE, "": _NO_LABEL}, codes)
    opens, closes = np.flatnonzero(codes == _OPEN), np.flatnonzero(codes == _CLOSE)
    depth = np.cumsum((codes == _OPEN).astype(np.int64) - (codes == _CLOSE))
    _check_brackets(texts, counts, sizes, codes, depth)
    tree = np.repeat(np.arange(len(texts)), sizes)
    labels = np.where(codes[opens + 1] > _CLOSE, codes[opens + 1], _NO_LABEL)
    words = np.flatnonzero(codes > _CLOSE)
    words = words[codes[words - 1] != _OPEN]
    # of each depth the brackets, each followed by its words and the labels of brackets within it
    place = np.concatenate([opens, words, opens])
    level = np.concatenate([depth[opens], depth[words], depth[opens] - 1])
    value = np.concatenate([labels, codes[words], -1 - labels]).astype(np.int32)
    kind = np.repeat([0, 1, 2], [len(opens), len(words), len(opens)])
    number = np.concatenate([np.arange(len(opens)), words, np.arange(len(opens))])
    order = np.lexsort((place, level))
    order = order[level[order] > 0]
    value, kind, number = value[order], kind[order], number[order]
    heads = np.flatnonzero(kind == 0)
    stops = np.append(heads[1:], len(kind))
    bare = np.flatnonzero(stops - heads == 1)
    if len(bare):
        at = int(tree[opens[number[heads[bare]]]].min())
        raise _malformed(texts, counts, at, "a bracket holds a label and nothing else")
    production = _numbered(value, heads, stops)
    # closing brackets, ordered alike, are those of the same nodes; they close children first
    ended = closes[np.lexsort((closes, depth[closes]))]
    turn = np.empty(len(heads), np.int64)
    turn[np.argsort(ended)] = np.arange(len(heads))
    by_opening = np.empty(len(heads), np.int64)
    by_opening[number[heads]] = turn
    parents = np.full(len(heads), -1, np.int64)
    owner = np.repeat(turn, stops - heads)
    within = kind == 2
    parents[by_opening[number[within]]] = owner[within]
    in_turn = np.empty(len(heads), np.int32)
    in_turn[turn] = production
    return Trees(in_turn, np.bincount(tree[opens], minlength=len(texts)), parents)


def _numbered(value: np.ndarray, heads: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """A number for each stretch of values, the same for equal ones."""
    raw, numbers = value.tobytes(), {}
    pairs = zip((4 * heads).tolist(), (4 * stops).tolist(), strict=True)
    parts = np.fromiter((raw[begin:end] for begin, end in pairs), object, len(heads))
    codes = np.empty(len(parts), np.int32)
    _encode.number_objects(parts, numbers, codes)
    return codes


def _check_brackets(texts: list[str], counts: list[int], sizes: np.ndarray, codes: np.ndarray,
                    depth: np.ndarray) -> None:
    """Refuse the first tree whose brackets don't match, or that does not begin and end with one."""
    ends = np.cumsum(sizes)
    if (sizes == 0).any():
        raise _malformed(texts, counts, int((sizes == 0).argmax()), "it is empty")
    before = np.concatenate([[0], depth[ends[:-1] - 1]])
    inside = depth - np.repeat(before, sizes)
    last = np.zeros(len(codes), bool)
    last[ends - 1] = True
    outside = (inside < 1) & ~(last & (inside == 0) & (codes == _CLOSE))
    unclosed = last & (inside > 0)
    wrong = np.flatnonzero(outside | unclosed)
    if len(wrong):
        at = int(np.searchsorted(ends, wrong[0], side="right"))
        what = "a bracket is not closed" if unclosed[wrong[0]] else (
            "something stands outside of the brackets")
        raise _malformed(texts, counts, at, what)


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
