"""From documents to rows of counts by a vocabulary, which is learned on the way or given.

Words that are learned are brought in order, then the n-grams of them, length by length
(_gram_levels.py). Otherwise there are two passes: documents to the numbers of their n-grams, in the
order in which the table gave them; then, once it is known which columns these have, numbers to
sorted rows. By a vocabulary that is known, too: where a block is counted before the next is read,
rows and columns drive the table out of the cache, and both passes take longer. Threads learn a
table each; where they bring its n-grams in order, their lists are made one in between. A column
hangs on the name of its n-gram only, so that the matrix does not depend on the number of threads.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._analyzers import TextAnalysis, check_documents
from ._core.documents import DONE, TOO_LARGE, Block
from ._core.levels import write_tokens
from ._core.ngrams import NgramReader, NgramTable, document_frequencies
from ._count_rows import Counting, Found, counted, sources_of
from ._gram_levels import Level, document_cuts, next_level, occurrences, placed, word_level
from ._merged_names import MergedNames, Names
from ._parallel import Cancelled, feed, is_cancelled, n_threads, run
from ._params import shown
from ._text_blocks import NumberedBlock, numbered, text_blocks
from ._text_rows import CsrArrays, encode_features, features_of, refuse
from ._vocabulary import (
    Nodes,
    Vocabulary,
    entered,
    named,
    new_table,
    nodes_of,
    ordered,
    word_table,
    words_in_order,
)

__all__ = ["Frequencies", "count_by", "learn"]

# Tokens whose documents are counted at a time: their entries lie in the second cache.
_COUNTED_TOKENS = 1 << 15


class _Part(NamedTuple):
    """The n-grams of a table in order: their numbers and names, in how many documents each is, and
    how often in all (None if not asked for)."""

    features: np.ndarray
    names: Names
    documents: np.ndarray
    total: np.ndarray | None


class Frequencies(NamedTuple):
    """In how many documents an n-gram occurs, and how often in all (None if not asked for)."""

    documents: np.ndarray
    total: np.ndarray | None


def learn(
    analysis: TextAnalysis, X: Any, n_jobs: int | None, with_totals: bool,
    choose: Callable[[Frequencies, int], np.ndarray], keeps_all: bool, dtype: Any,
) -> tuple[Vocabulary, CsrArrays, np.ndarray]:
    """Learn a vocabulary and count by it.

    Parameters
    ----------
    analysis, X
        How documents become n-grams, and the documents.
    n_jobs : int or None
    with_totals : bool
        Whether `choose` needs them.
    choose : callable
        Called with the frequencies of n-grams and the number of documents; returns which n-grams
        are kept. Called twice `with_totals`: the first time to see which come into question (with
        totals of None), then with those, in order.
    keeps_all : bool
        Whether few are left out by how many documents have them, so that threads may order theirs
        before it is known which.
    dtype : dtype
        What counts are returned in; no integers narrower than int32.

    Returns
    -------
    vocabulary, rows, frequencies : Vocabulary, CsrArrays, ndarray
        The last in how many documents each n-gram occurs.
    """
    standard = analysis._is_standard()
    tables = [new_table() for _ in range(n_threads(n_jobs) if standard else 1)]
    of_words = standard and analysis.analyzer == "word"
    found = _read(analysis, X, tables, learns=True, only_words=of_words)
    choice = functools.partial(choose, n_rows=sum(len(part.ends) for part in found))
    if of_words:
        return _by_levels(found, tables, analysis.ngram_range, with_totals, choice, n_jobs, dtype)
    if len(tables) > 1 and keeps_all:
        return _by_lists(found, tables, with_totals, choice, n_jobs, dtype)
    kind = analysis._units()[2]
    return _by_numbers(found, tables, kind, with_totals, choice, n_jobs, dtype)


def _by_levels(
    found: list[Found], tables: list[NgramTable], ngram_range: tuple[int, int], with_totals: bool,
    choose: Callable, n_jobs: int | None, dtype: Any,
) -> tuple[Vocabulary, CsrArrays, np.ndarray]:
    """Learn as `learn` does, given the words of documents: n-grams come in order, length by
    length."""
    words, tokens, ends = _tokens(found, tables, n_jobs)
    shortest, longest = ngram_range
    levels = [word_level(tokens, ends, len(words.last), n_jobs)]
    while len(levels) < longest and len(levels[-1]):
        n = len(levels) + 1
        levels.append(next_level(levels[-1], len(words.last), tokens, ends, n, n_jobs))
        if sum(map(len, levels)) > np.iinfo(np.int32).max:
            refuse(TOO_LARGE, 0)
    nodes, found_in = _nodes(words, levels, n_jobs)
    long_enough = slice(sum(map(len, levels[: shortest - 1])), None)
    # each is in some document
    _refuse_none(found_in[long_enough][:1])
    wanted = np.zeros(len(found_in), bool)
    wanted[long_enough] = choose(Frequencies(found_in[long_enough], None))
    features, columns, documents = placed(levels, nodes.before, wanted, n_jobs)
    if with_totals:
        total = np.concatenate([level.total for level in levels])[features]
        kept = choose(Frequencies(documents, total))
        if not kept.all():
            wanted[features[~kept]] = False
            features, columns, documents = placed(levels, nodes.before, wanted, n_jobs)
    most = sum(occurrences(ends, n) for n in range(shortest, len(levels) + 1))
    counting = Counting(len(features), dtype, len(ends), most)
    sources = sources_of(levels, shortest, columns)
    tasks = [
        functools.partial(counting.take, k, sources, ends, *cut, cut[0])
        for k, cut in enumerate(document_cuts(ends, _COUNTED_TOKENS))
    ]
    names, *_ = run([functools.partial(named, nodes, features, 1), *tasks], n_jobs)
    vocabulary = Vocabulary(*names, nodes=(nodes, columns, found_in))
    return vocabulary, counting.rows(n_jobs), documents


def _tokens(
    found: list[Found], tables: list[NgramTable], n_jobs: int | None
) -> tuple[Nodes, np.ndarray, np.ndarray]:
    """Return the words of all tables in order, the words of the documents by their places in that
    order, and where each document ends."""
    words, by_table = words_in_order(tables, n_jobs)
    sizes = [int(part.ends[-1]) for part in found]
    begins = np.cumsum([0, *sizes])[:-1]
    n_tokens = sum(sizes)
    if n_tokens >= 2**32:
        raise ValueError(
            f"the documents have {n_tokens} words, and a vocabulary is learned from less than "
            "2**32; use HashingVectorizer, which needs none, or fewer documents."
        )
    tokens = np.empty(n_tokens, np.uint32)

    edges = [len(found) * k // len(tables) for k in range(len(tables) + 1)]
    shares = [slice(*each) for each in itertools.pairwise(edges)]

    def write(k: int) -> None:
        for part, begin in zip(found[shares[k]], begins[shares[k]], strict=True):
            write_tokens(part.numbers, by_table[part.table], tokens[begin:])

    run([functools.partial(write, k) for k in range(len(tables))], n_jobs)
    ends = [part.ends + begin for part, begin in zip(found, begins, strict=True)]
    return words, tokens, np.concatenate(ends)


def _nodes(
    words: Nodes, levels: list[Level], n_jobs: int | None
) -> tuple[Nodes, np.ndarray]:
    """Return what the n-grams of all levels stand for, those of a level behind those below, and in
    how many documents each is."""
    begins = np.cumsum([0, *map(len, levels)]).tolist()
    before, last, found_in = np.empty((3, begins[-1]), np.uint32)

    def begun_by() -> None:
        before[: begins[1]] = words.before
        for k, level in enumerate(levels[1:]):
            np.add(level.before, np.uint32(begins[k]), out=before[begins[k + 1] : begins[k + 2]])

    parts = [words.last, *(level.last for level in levels[1:])]
    run(
        [
            begun_by,
            functools.partial(np.concatenate, parts, out=last),
            functools.partial(np.concatenate, [level.documents for level in levels], out=found_in),
        ],
        n_jobs,
    )
    is_word = np.zeros(begins[-1], np.uint8)
    is_word[: begins[1]] = True
    return Nodes(is_word, before, last, words.arena), found_in


def _by_numbers(
    found: list[Found], tables: list[NgramTable], kind: int, with_totals: bool, choose: Callable,
    n_jobs: int | None, dtype: Any,
) -> tuple[Vocabulary, CsrArrays, np.ndarray]:
    """Learn as `learn` does: enter all in one table, then order what is kept."""
    table = tables[0]
    places = [None, *(entered(table, other, kind) for other in tables[1:])]
    n = table.n_numbers
    by_table = run(
        [functools.partial(_frequencies, found, k, t.n_numbers) for k, t in enumerate(tables)],
        n_jobs,
    )
    documents = _gathered(by_table, places, n)
    wanted = documents > 0
    _refuse_none(wanted)
    wanted[wanted] = choose(Frequencies(documents[wanted], None))
    nodes = nodes_of(table)
    features, names = ordered(nodes, wanted, n_jobs)
    if with_totals:
        totals = [_totals(found, k, t.n_numbers) for k, t in enumerate(tables)]
        total = _gathered(totals, places, n)[features]
        kept = choose(Frequencies(documents[features], total))
        if not kept.all():
            wanted[features[~kept]] = False
            features, names = ordered(nodes, wanted, n_jobs)
    columns = _by_number(n, features, np.arange(len(features), dtype=np.int32))
    by_number = [columns if place is None else columns[place] for place in places]
    rows = counted(found, by_number, len(features), n_jobs, dtype)
    return Vocabulary(*names, [(table, columns)]), rows, documents[features]


def _by_lists(
    found: list[Found], tables: list[NgramTable], with_totals: bool, choose: Callable,
    n_jobs: int | None, dtype: Any,
) -> tuple[Vocabulary, CsrArrays, np.ndarray]:
    """Learn as `learn` does: each thread orders the n-grams of its table, then the lists are made
    one."""
    parts = run(
        [functools.partial(_part, found, k, t, with_totals) for k, t in enumerate(tables)], n_jobs
    )
    whole = MergedNames(
        [part.names for part in parts], [part.documents for part in parts], n_jobs
    )
    if len(whole) > np.iinfo(np.int32).max:
        refuse(TOO_LARGE, 0)
    documents = whole.counts
    _refuse_none(documents)
    kept = choose(Frequencies(documents, None))
    if with_totals:
        total = _gathered([part.total for part in parts], whole.places, len(whole))
        kept[kept] = choose(Frequencies(documents[kept], total[kept]))
    column = np.cumsum(kept, dtype=np.int32) - 1
    if not kept.all():
        column[~kept] = -1
        documents = documents[kept]
    columns = run(
        [
            functools.partial(_by_number, table.n_numbers, part.features, column, place)
            for table, part, place in zip(tables, parts, whole.places, strict=True)
        ],
        n_jobs,
    )
    vocabulary = Vocabulary(*whole.kept(kept), zip(tables, columns, strict=True))
    return vocabulary, counted(found, columns, len(vocabulary), n_jobs, dtype), documents


def count_by(
    analysis: TextAnalysis, X: Any, vocabulary: Vocabulary, n_jobs: Any, dtype: Any
) -> CsrArrays:
    """Count by a vocabulary; n-grams that it lacks are left out."""
    standard = analysis._is_standard()
    table, columns = vocabulary.table(analysis._units()[2] if standard else 0, not standard)
    threads = n_threads(n_jobs) if standard else 1
    found = _read(analysis, X, [table] * threads, learns=False)
    return counted(found, [columns] * threads, len(vocabulary), n_jobs, dtype)


# Documents to numbers


def _reader(
    analysis: TextAnalysis, table: NgramTable, stop_words: NgramTable | None, learns: bool,
    only_words: bool,
) -> NgramReader:
    """Return a reader for one thread."""
    raw, done, kind, least = analysis._units()
    if not analysis._is_standard():
        kind = 0
    shortest, longest = (1, 1) if only_words else analysis.ngram_range
    reader = NgramReader(table, stop_words, raw, done, kind, least, shortest, longest, learns)
    reader.set_word_bits(analysis._unit_bits())
    return reader


def _read(
    analysis: TextAnalysis, X: Any, tables: list[NgramTable], learns: bool,
    only_words: bool = False,
) -> list[Found]:
    """Return the numbers of all documents, a table for each thread, or those of their words
    alone."""
    stop_words = word_table(analysis._compiled_stop_words())
    readers = [
        (k, _reader(analysis, table, stop_words, learns, only_words))
        for k, table in enumerate(tables)
    ]
    taken: dict[int, Found] = {}

    def read(fed: Iterator[NumberedBlock]) -> None:
        place, reader = readers.pop()
        for number, first_row, block in fed:
            taken[number] = _read_block(block, first_row, reader, place)

    if analysis._is_standard():
        feed(numbered(text_blocks(analysis, X, "surrogatepass")), read, len(readers))
    else:
        features = _read_features(analysis, check_documents(X), readers[0][1])
        taken.update(enumerate(features))
    if not taken:
        raise ValueError("X must have at least one document, got none.")
    return [taken[k] for k in range(len(taken))]


def _read_block(block: Block, first_row: int, reader: NgramReader, place: int) -> Found:
    """Find the numbers of a block."""
    reader.load(block)
    ends = np.empty(block.n_documents, np.int64)
    while (status := reader.advance(ends)) != DONE:
        refuse(status, first_row + reader.current)
        if is_cancelled():
            raise Cancelled
    numbers = np.empty(reader.n_found, np.uint32)
    reader.copy(numbers)
    return Found(first_row, numbers, ends, place)


def _read_features(
    analysis: TextAnalysis, documents: Iterator, reader: NgramReader
) -> Iterator[Found]:
    """Find the numbers of what Python analyses, some thousand documents at a time."""
    analyse = analysis._build_text_analyzer()
    ends: list[int] = []
    first_row = row = 0
    for row, document in enumerate(documents):
        features = list(features_of(row, analyse(analysis._decode_row(document, row))))
        for feature in features:
            if not isinstance(feature, str):
                raise TypeError(f"Row {row}: every feature must be str, got {shown(feature)}.")
        refuse(reader.add_features(encode_features(features, row, "surrogatepass")), row)
        ends.append(reader.n_found)
        if len(ends) == 4096:
            yield _taken(reader, ends, first_row)
            ends, first_row = [], row + 1
    if ends:
        yield _taken(reader, ends, first_row)


def _taken(reader: NgramReader, ends: list[int], first_row: int) -> Found:
    """Take what a reader has found."""
    numbers = np.empty(reader.n_found, np.uint32)
    reader.copy(numbers)
    reader.forget()
    return Found(first_row, numbers, np.array(ends, np.int64), 0)


# Numbers to columns


def _refuse_none(documents: np.ndarray) -> None:
    """Raise if no n-gram is in any document."""
    if not documents.any():
        raise ValueError(
            "empty vocabulary: X has no n-gram to count; it may be of stop words or of one-letter "
            "words only (see token_pattern)."
        )


def _part(found: list[Found], place: int, table: NgramTable, with_totals: bool) -> _Part:
    """Order the n-grams of a table."""
    n = table.n_numbers
    documents = _frequencies(found, place, n)
    features, names = ordered(nodes_of(table), documents > 0, 1)
    total = _totals(found, place, n)[features] if with_totals else None
    return _Part(features, names, documents[features].astype(np.int64), total)


def _gathered(by_table: list[Any], places: list[Any], n: int) -> np.ndarray:
    """Add up counts of several tables, each of which has a place once."""
    total = np.zeros(n, np.int64)
    for counts, place in zip(by_table, places, strict=True):
        if place is None:
            total[: len(counts)] += counts
        else:
            total[place] += counts
    return total


def _by_number(
    n: int, features: np.ndarray, columns: np.ndarray, places: np.ndarray | None = None
) -> np.ndarray:
    """Return the columns of the numbers below n, -1 for those that have none; where places are
    given, features have the columns of theirs."""
    by_number = np.full(n, -1, np.int32)
    by_number[features] = columns if places is None else columns[places]
    return by_number


def _frequencies(found: list[Found], place: int, n: int) -> np.ndarray:
    """Return in how many documents each number of a table occurs."""
    seen = np.zeros((n, 2), np.int32)
    seen[:, 0] = -1
    for part in found:
        if part.table == place:
            document_frequencies(part.numbers, part.ends, part.first_row, seen)
    return seen[:, 1]


def _totals(found: list[Found], place: int, n: int) -> np.ndarray:
    """Return how often each number of a table occurs."""
    total = np.zeros(n, np.int64)
    for part in found:
        if part.table == place:
            total += np.bincount(part.numbers, minlength=n)
    return total
