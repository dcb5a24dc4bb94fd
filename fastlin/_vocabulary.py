"""Vocabularies: from n-grams to columns, and back to their names.

The compiled table knows an n-gram as a number that stands for the n-gram without its last unit, and
that unit (src_c/fl_vocabulary.h). What is kept of a vocabulary is the names, one behind the other,
since these are what a model file should hold; tables are built from them when they are needed.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ._analyzers import byte_classes
from ._core.documents import TOO_LARGE
from ._core.levels import add_sizes, place_level, stable_order, write_depths
from ._core.names import (
    order_of_keys,
    write_characters,
    write_name_ends,
    write_names,
    write_word_keys,
)
from ._core.ngrams import NgramReader, NgramTable
from ._merged_names import Words, merged_words
from ._parallel import run
from ._text_rows import refuse

__all__ = [
    "Nodes", "Vocabulary", "entered", "entering", "named", "new_table", "nodes_of", "ordered",
    "word_table", "words_in_order",
]  # fmt: skip

# Names that a thread writes at a time.
_PIECE = 1 << 17

# Documents from which on an n-gram is one of those that text has most of.
_OFTEN = 4

_making = threading.Lock()


def new_table() -> NgramTable:
    """Return an empty table; a secret decides on the places, so that no text can crowd them."""
    return NgramTable(int.from_bytes(os.urandom(8), "little"))


def entering(table: NgramTable, kind: int) -> NgramReader:
    """Return a reader that gives numbers to n-grams, of which none is looked for in text."""
    return NgramReader(table, None, byte_classes(False), byte_classes(False), kind, 1, 1, 1, True)


def word_table(words: Iterable[str] | None) -> NgramTable | None:
    """Return a table of words, or None for none."""
    if not words:
        return None
    table = new_table()
    entering(table, 0).add_features([word.encode("utf-8", "surrogatepass") for word in words])
    return table


class Nodes(NamedTuple):
    """What numbers stand for: see `NgramTable.copy`."""

    is_word: np.ndarray
    before: np.ndarray
    last: np.ndarray
    arena: np.ndarray


def nodes_of(table: NgramTable, arena: np.ndarray | None = None) -> Nodes:
    """Return what the numbers of a table stand for, words in an arena that may be given."""
    n = table.n_numbers
    nodes = Nodes(
        np.empty(n, np.uint8), np.empty(n, np.uint32), np.empty(n, np.uint32),
        np.zeros(table.arena_used + 8, np.uint8) if arena is None else arena,
    )
    table.copy(*nodes)
    return nodes


class Vocabulary:
    """The n-grams of the columns.

    Parameters
    ----------
    names : uint8 array
        The n-grams in UTF-8, lone surrogates included, in the order of their columns.
    ends : int64 array
        Where each ends.
    tables : list of (NgramTable, int32 array), optional
        Tables that have them all together, and the columns of their numbers, -1 for none.
    nodes : (Nodes, int32 array, array), optional
        What numbers stand for that have them all, words before others; their columns; in how many
        documents each is.
    """

    def __init__(self, names, ends, tables=(), nodes=None):
        self.names, self.ends = names, ends
        self.tables: list[tuple[NgramTable, np.ndarray]] = list(tables)
        self._nodes: tuple[Nodes, np.ndarray, np.ndarray] | None = nodes
        self._strings: list[str] | None = None
        self._mapping: dict[str, int] | None = None

    @classmethod
    def of(cls, terms: Sequence[str]) -> Vocabulary:
        """Return the vocabulary of n-grams that are given."""
        encoded = [term.encode("utf-8", "surrogatepass") for term in terms]
        ends = np.cumsum([len(term) for term in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends)

    def __len__(self) -> int:
        return len(self.ends)

    def _pieces(self) -> list[bytes]:
        """Return the names in UTF-8."""
        raw = self.names.tobytes()
        ends = self.ends.tolist()
        return [raw[a:b] for a, b in zip([0, *ends], ends, strict=False)]

    def strings(self) -> list[str]:
        """Return the n-grams in the order of their columns."""
        if self._strings is None:
            self._strings = [piece.decode("utf-8", "surrogatepass") for piece in self._pieces()]
        return self._strings

    def mapping(self) -> dict[str, int]:
        """Return the columns by n-gram."""
        if self._mapping is None:
            self._mapping = {term: column for column, term in enumerate(self.strings())}
        return self._mapping

    def table(self, kind: int, is_whole: bool) -> tuple[NgramTable, np.ndarray]:
        """Return a table that has the n-grams, and the column of each of its numbers; it is made
        when it is first asked for, since `fit_transform` does without.

        `kind` is that of the units; `is_whole` says that an n-gram is one word, spaces included.
        """
        # Several threads may ask for it at once, and a table that learns is not to be shared.
        with _making:
            if self._nodes is not None:
                nodes, columns = _with_column(*self._nodes)
                table = new_table()
                n_words = np.count_nonzero(nodes.is_word)
                table.reserve(n_words, len(columns) - n_words)
                by_number = np.empty(len(columns), np.int32)
                by_number[_entered_nodes(table, nodes, kind)] = columns
                self.tables, self._nodes = [(table, by_number)], None
            if not self.tables:
                self.tables = [self._entered(kind, is_whole)]
            while len(self.tables) > 1:
                self.tables[-2:] = [_joined(*self.tables[-2:], kind)]
        return self.tables[0]

    def _entered(self, kind: int, is_whole: bool) -> tuple[NgramTable, np.ndarray]:
        """Return a new table that has the n-grams, and the columns of its numbers."""
        table = new_table()
        reader = entering(table, kind)
        numbers = [reader.enter(piece, is_whole) for piece in self._pieces()]
        columns = np.full(table.n_numbers + 1, -1, np.int32)
        # An n-gram of nothing has the number -1, and no text has it.
        columns[numbers] = np.arange(len(numbers))
        return table, columns[:-1]


def _joined(
    one: tuple[NgramTable, np.ndarray], other: tuple[NgramTable, np.ndarray], kind: int
) -> tuple[NgramTable, np.ndarray]:
    """Enter the n-grams of another table in one; returns that and the columns of its numbers."""
    table, columns = one
    numbers = entered(table, other[0], kind)
    joined = np.full(table.n_numbers, -1, np.int32)
    joined[: len(columns)] = columns
    has_column = other[1] >= 0
    joined[numbers[has_column]] = other[1][has_column]
    return table, joined


def entered(table: NgramTable, other: NgramTable, kind: int) -> np.ndarray:
    """Enter the n-grams of another table; returns the new number of each of its numbers."""
    return _entered_nodes(table, nodes_of(other), kind)


def _with_column(
    nodes: Nodes, columns: np.ndarray, documents: np.ndarray
) -> tuple[Nodes, np.ndarray]:
    """Return the words, and of other n-grams those that have a column and what they begin with;
    those that many documents have first, so that the columns of most that text has lie together.
    """
    needed = nodes.is_word.astype(bool) | (columns >= 0)
    # Those that begin others have lower numbers: each round leads to shorter ones.
    level = np.flatnonzero(needed & (nodes.is_word == 0))
    while len(level):
        before = nodes.before[level]
        level = before[(nodes.is_word[before] == 0) & ~needed[before]]
        needed[before] = True
    # What an n-gram begins with is in as many documents, and so comes before it here too.
    rarity = np.where(nodes.is_word, 0, 2) + (documents < _OFTEN)
    order = np.concatenate([np.flatnonzero(needed & (rarity == k)) for k in range(4)])
    place = np.empty(len(needed), np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    is_word, before, last = nodes.is_word[order], nodes.before[order], nodes.last[order]
    grams = slice(np.count_nonzero(is_word), None)
    before[grams], last[grams] = place[before[grams]], place[last[grams]]
    return Nodes(is_word, before, last, nodes.arena), columns[order]


def _entered_nodes(table: NgramTable, nodes: Nodes, kind: int) -> np.ndarray:
    """Enter n-grams in a table; returns the new number of each."""
    numbers = np.empty(len(nodes.last), np.uint32)
    reader = entering(table, kind)
    done = 0
    while done < len(numbers):
        done = reader.merge(
            nodes.arena, nodes.is_word, nodes.before, nodes.last, numbers, done
        )
        if done < 0:
            refuse(TOO_LARGE, 0)
    return numbers


def ordered(
    nodes: Nodes, wanted: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the numbers that are wanted, of words or of n-grams of characters, in their order, and
    the names of these: their bytes, and where each ends.

    In the order of code points, which is that of bytes in UTF-8, an n-gram of characters stands
    right before those that it begins: it comes at the place of the one without its last character,
    plus what stands between.
    """
    if nodes.is_word.any():
        features, _ = _ordered_words(nodes, wanted)
        return features, named(nodes, features, n_jobs)
    depth = np.empty(len(wanted), np.int32)
    write_depths(nodes.is_word, nodes.before, depth)
    needed = np.array(wanted)
    levels = _levels(nodes, depth, needed)
    position = np.zeros(len(wanted), np.uint32)
    for k, level in enumerate(levels):
        order = _order(position[nodes.before[level]] if k else None, nodes.last[level])
        levels[k] = level = level[order]
        if k + 1 < len(levels):
            position[level] = np.arange(len(level), dtype=np.uint32)
    size, free = wanted.astype(np.int64), np.zeros(len(wanted), np.int64)
    for level in levels[:0:-1]:
        add_sizes(level, nodes.before, size)
    features = np.empty(np.count_nonzero(wanted), np.int64)
    for k, level in enumerate(levels):
        place_level(level, nodes.before, k == 0, wanted.view(np.uint8), size, free, features)
    return features, _characters_named(nodes, features, depth)


def _order(first: np.ndarray | None, second: np.ndarray) -> np.ndarray:
    """Return what sorts by two keys, or by the second alone."""
    order = np.arange(len(second))
    for keys in (second,) if first is None else (second, first):
        n_keys = int(keys.max(initial=0)) + 1
        if n_keys > 4 * len(keys) + 1024:
            # Few n-grams of many characters: the counters alone would take longer.
            order = order[np.argsort(keys[order], kind="stable")]
            continue
        before, order = order, np.empty_like(order)
        stable_order(keys, before, np.zeros(n_keys + 1, np.int64), order)
    return order


def _levels(nodes: Nodes, depth: np.ndarray, needed: np.ndarray) -> list[np.ndarray]:
    """Return the numbers by length of their n-grams: those needed, which then include all that
    they begin with."""
    longest = int(depth.max(initial=0))
    if longest <= 16:
        # No n-gram is of no unit.
        levels = [np.flatnonzero(depth == k) for k in range(1, longest + 1)]
    else:
        by_depth = np.argsort(depth, kind="stable")
        levels = np.split(by_depth, np.cumsum(np.bincount(depth))[:-1])[1:]
    # Where all are needed, nothing is to be looked for.
    for k in range(-1 if needed.all() else len(levels) - 1, -1, -1):
        levels[k] = level = levels[k][needed[levels[k]]]
        if k:
            needed[nodes.before[level]] = True
    while levels and not len(levels[-1]):
        levels.pop()
    return levels


def _ordered_words(nodes: Nodes, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers that are wanted, all of words, in the order of these, and the numbers of
    the first eight bytes of each."""
    words = np.flatnonzero(wanted)
    starts, lengths = nodes.last[words].astype(np.int64), nodes.before[words].astype(np.int64)
    keys = np.empty((2, len(words)), np.uint64)
    write_word_keys(nodes.arena, starts, lengths, *keys)
    order = np.empty(len(words), np.int64)
    order_of_keys(keys[0], np.empty((2 * len(words), 2), np.uint64), order)
    # Few begin with the first eight bytes of another.
    first = keys[0][order]
    tied = _tied(first)
    members = order[tied]
    order[tied] = members[np.lexsort(keys[::-1, members])]
    second = keys[1][order]
    same = (first[1:] == first[:-1]) & (second[1:] == second[:-1])
    # Those that are told apart by later bytes only are few.
    edges = np.flatnonzero(np.diff(np.r_[False, same, False].astype(np.int8)))
    for begin, end in zip(edges[::2].tolist(), (edges[1::2] + 1).tolist(), strict=True):
        tied = order[begin:end]
        texts = [
            nodes.arena[a : a + n].tobytes()
            for a, n in zip(starts[tied].tolist(), lengths[tied].tolist(), strict=True)
        ]
        order[begin:end] = tied[sorted(range(len(tied)), key=texts.__getitem__)]
    return words[order], first


def words_in_order(
    tables: list[NgramTable], n_jobs: int | None
) -> tuple[Nodes, list[np.ndarray]]:
    """Return the words of tables that have nothing else, in order, and by the numbers of each table
    their places there. Threads order the words of a table each; then the lists are made one."""
    begins = np.cumsum([0, *(table.arena_used for table in tables)])
    if begins[-1] >= np.iinfo(np.uint32).max:
        refuse(TOO_LARGE, 0)
    arena = np.zeros(begins[-1] + 8, np.uint8)
    lists, ranks = zip(
        *run(
            [
                functools.partial(_words_in_order, table, arena, begin)
                for table, begin in zip(tables, begins[:-1], strict=True)
            ],
            n_jobs,
        ),
        strict=True,
    )
    if len(tables) == 1:
        whole, by_table = lists[0], list(ranks)
    else:
        whole, places = merged_words(arena, lists, n_jobs)
        by_table = [place[rank] for place, rank in zip(places, ranks, strict=True)]
    if len(whole.keys) >= np.iinfo(np.int32).max:
        refuse(TOO_LARGE, 0)
    return Nodes(np.ones(len(whole.keys), np.uint8), whole.lengths, whole.starts, arena), by_table


def _words_in_order(
    table: NgramTable, arena: np.ndarray, begin: int
) -> tuple[Words, np.ndarray]:
    """Return the words of a table, which has nothing else, in order, and their places by number;
    they are written to an arena from `begin` on."""
    is_word, lengths, starts = nodes_of(table, arena[begin:])[:3]
    starts += np.uint32(begin)
    order, keys = _ordered_words(Nodes(is_word, lengths, starts, arena), is_word)
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return Words(keys, starts[order], lengths[order]), rank


def _tied(values: np.ndarray) -> np.ndarray:
    """Return which of the values, which are in order, are equal to a neighbour."""
    tied = np.zeros(len(values), bool)
    tied[1:] = values[1:] == values[:-1]
    tied[:-1] |= tied[1:]
    return tied


def _characters_named(
    nodes: Nodes, features: np.ndarray, depth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of n-grams of characters, one behind the other, and where each ends; `depth`
    is of how many each is."""
    ends = np.cumsum(depth[features], dtype=np.int64)
    codes = np.empty(ends[-1] if len(ends) else 0, np.uint32)
    write_characters(nodes.before, nodes.last, features, ends, codes)
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    sizes = 1 + sum((codes >= limit).astype(np.int64) for limit in (0x80, 0x800, 0x10000))
    encoded = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    return encoded, np.cumsum(sizes)[ends - 1]


def named(
    nodes: Nodes, features: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of words and their n-grams, one behind the other, and where each ends."""
    ends = np.empty(len(features), np.int64)
    write_name_ends(nodes.is_word, nodes.before, nodes.last, features, ends)
    names = np.empty(ends[-1] if len(ends) else 0, np.uint8)
    tasks = [
        functools.partial(
            write_names, *nodes, features[k : k + _PIECE], ends[k : k + _PIECE],
            ends[k - 1] if k else 0, names,
        )
        for k in range(0, len(features), _PIECE)
    ]
    run(tasks, n_jobs)
    return names, ends
