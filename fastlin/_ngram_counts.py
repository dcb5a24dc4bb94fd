"""From documents to rows of counts by a vocabulary, which is learned on the way or given.

Two passes: documents to the numbers of their n-grams, in the order in which the table gave them;
then, once it is known which columns these have, numbers to sorted rows. Threads learn a table each,
which are put into one in between; a column hangs on the name of its n-gram only, so that the matrix
does not depend on the number of threads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._analyzers import TextAnalysis, check_documents
from ._core.documents import DONE, TOO_LARGE
from ._core.ngrams import NgramReader, NgramTable, RowCounter, document_frequencies
from ._parallel import Cancelled, is_cancelled, n_threads, run
from ._params import shown
from ._text_blocks import Share, shares_of, text_blocks
from ._text_rows import CsrArrays, encode_features, joined, refuse
from ._vocabulary import Nodes, Vocabulary, entering, new_table, nodes_of, ordered, word_table

__all__ = ["Frequencies", "count_by", "learn"]


class _Found(NamedTuple):
    """The numbers that some rows have, those of row i up to ends[i], and the table's place."""

    first_row: int
    numbers: np.ndarray
    ends: np.ndarray
    table: int


class Frequencies(NamedTuple):
    """In how many documents an n-gram occurs, and how often in all (None if not asked for)."""

    documents: np.ndarray
    total: np.ndarray | None


def learn(
    analysis: TextAnalysis, X: Any, n_jobs: int | None, with_totals: bool,
    choose: Callable[[Frequencies, int], np.ndarray],
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
        Called with the frequencies of n-grams in order and the number of documents; returns which
        n-grams are kept. Called twice `with_totals`: the first time to see which come into question
        (with totals of None), then with those in order.

    Returns
    -------
    vocabulary, rows, frequencies : Vocabulary, CsrArrays, ndarray
        The last in how many documents each n-gram occurs.
    """
    tables = [new_table() for _ in range(n_threads(n_jobs) if analysis._is_standard() else 1)]
    found = _read(analysis, X, tables, learns=True)
    n_rows = sum(len(part.ends) for part in found)
    if n_rows == 0:
        raise ValueError("X must have at least one document, got none.")
    places = [None, *(_merged(analysis, tables[0], other) for other in tables[1:])]
    n = tables[0].n_numbers
    by_table = run(
        [functools.partial(_frequencies, found, k, t.n_numbers) for k, t in enumerate(tables)],
        n_jobs,
    )
    documents = _gathered(by_table, places, n)
    wanted = documents > 0
    if not wanted.any():
        raise ValueError(
            "empty vocabulary: X has no n-gram to count; it may be of stop words or of one-letter "
            "words only (see token_pattern)."
        )
    wanted[wanted] = choose(Frequencies(documents[wanted], None), n_rows)
    nodes = nodes_of(tables[0])
    features, vocabulary = ordered(nodes, wanted, n_jobs)
    if with_totals:
        totals = [_totals(found, k, table.n_numbers) for k, table in enumerate(tables)]
        total = _gathered(totals, places, n)[features]
        kept = choose(Frequencies(documents[features], total), n_rows)
        if not kept.all():
            wanted[features[~kept]] = False
            features, vocabulary = ordered(nodes, wanted, n_jobs)
    columns = np.full(n, -1, np.int32)
    columns[features] = np.arange(len(features), dtype=np.int32)
    vocabulary = Vocabulary(vocabulary.names, vocabulary.ends, tables[0], columns)
    by_number = [columns if place is None else columns[place] for place in places]
    return vocabulary, _counted(found, by_number, len(features), n_jobs), documents[features]


def count_by(analysis: TextAnalysis, X: Any, vocabulary: Vocabulary, n_jobs: Any) -> CsrArrays:
    """Count by a vocabulary; n-grams that it lacks are left out."""
    standard = analysis._is_standard()
    table, columns = vocabulary.table(analysis._units()[2] if standard else 0, not standard)
    readers = n_threads(n_jobs) if standard else 1
    found = _read(analysis, X, [table] * readers, learns=False)
    if not found:
        raise ValueError("X must have at least one document, got none.")
    return _counted(found, [columns] * readers, len(vocabulary), n_jobs)


# Documents to numbers


def _reader(
    analysis: TextAnalysis, table: NgramTable, stop_words: NgramTable | None, learns: bool
) -> NgramReader:
    """Return a reader for one thread."""
    raw, done, kind, least = analysis._units()
    if not analysis._is_standard():
        kind = 0
    shortest, longest = analysis.ngram_range
    reader = NgramReader(table, stop_words, raw, done, kind, least, shortest, longest, learns)
    reader.set_word_bits(analysis._unit_bits())
    return reader


def _read(analysis: TextAnalysis, X: Any, tables: list[NgramTable], learns: bool) -> list[_Found]:
    """Find the numbers of all documents, a table for each thread."""
    stop_words = word_table(analysis._compiled_stop_words())
    readers = [_reader(analysis, table, stop_words, learns) for table in tables]
    if not analysis._is_standard():
        return list(_read_features(analysis, check_documents(X), readers[0]))
    found: list[_Found] = []
    for shares in shares_of(text_blocks(analysis, X, "surrogatepass"), len(readers)):
        tasks = [
            functools.partial(_read_share, share, readers[k], k) for k, share in enumerate(shares)
        ]
        found += run(tasks, len(readers))
    return found


def _read_share(share: Share, reader: NgramReader, place: int) -> _Found:
    """Find the numbers of what a thread got."""
    numbers, ends = [], []
    row, n_numbers = share.first_row, 0
    for block in share.blocks:
        reader.load(block)
        block_ends = np.empty(block.n_documents, np.int64)
        while (status := reader.advance(block_ends)) != DONE:
            refuse(status, row + reader.current)
            if is_cancelled():
                raise Cancelled
        numbers.append(np.empty(reader.n_found, np.uint32))
        reader.copy(numbers[-1])
        ends.append(block_ends + n_numbers)
        n_numbers += reader.n_found
        row += block.n_documents
    return _Found(share.first_row, np.concatenate(numbers), np.concatenate(ends), place)


def _read_features(
    analysis: TextAnalysis, documents: Iterator, reader: NgramReader
) -> Iterator[_Found]:
    """Find the numbers of what Python analyses, some thousand documents at a time."""
    analyse = analysis._build_text_analyzer()
    ends: list[int] = []
    first_row = row = 0
    for row, document in enumerate(documents):
        features = analyse(analysis._decode_row(document, row))
        if not isinstance(features, (str, bytes)):
            features = list(features)
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


def _taken(reader: NgramReader, ends: list[int], first_row: int) -> _Found:
    """Take what a reader has found."""
    numbers = np.empty(reader.n_found, np.uint32)
    reader.copy(numbers)
    reader.forget()
    return _Found(first_row, numbers, np.array(ends, np.int64), 0)


# Several tables as one


def _merged(analysis: TextAnalysis, table: NgramTable, other: NgramTable) -> np.ndarray:
    """Enter the n-grams of another table; returns the new number of each of its numbers."""
    nodes: Nodes = nodes_of(other)
    numbers = np.empty(len(nodes.last), np.uint32)
    reader = entering(table, analysis._units()[2])
    done = 0
    while done < len(numbers):
        done = reader.merge(
            nodes.arena, nodes.is_word, nodes.before, nodes.last, numbers, done
        )
        if done < 0:
            refuse(TOO_LARGE, 0)
    return numbers


def _gathered(by_table: list[np.ndarray], places: list[Any], n: int) -> np.ndarray:
    """Add up counts by number of several tables."""
    total = np.zeros(n, np.int64)
    for counts, place in zip(by_table, places, strict=True):
        # A table gives a number once, so that no place is met twice.
        if place is None:
            total[: len(counts)] += counts
        else:
            total[place] += counts
    return total


def _frequencies(found: list[_Found], place: int, n: int) -> np.ndarray:
    """Return in how many documents each number of a table occurs."""
    seen = np.zeros((n, 2), np.int32)
    seen[:, 0] = -1
    for part in found:
        if part.table == place:
            document_frequencies(part.numbers, part.ends, part.first_row, seen)
    return seen[:, 1]


def _totals(found: list[_Found], place: int, n: int) -> np.ndarray:
    """Return how often each number of a table occurs."""
    total = np.zeros(n, np.int64)
    for part in found:
        if part.table == place:
            total += np.bincount(part.numbers, minlength=n)
    return total


# Numbers to rows


def _counted(
    found: list[_Found], columns: list[np.ndarray], n_columns: int, n_jobs: int | None
) -> CsrArrays:
    """Count the columns of all rows."""
    tasks = [
        functools.partial(_count_part, part, columns[part.table], n_columns) for part in found
    ]
    return joined(run(tasks, n_jobs), n_jobs)


def _count_part(part: _Found, columns: np.ndarray, n_columns: int) -> CsrArrays:
    """Count the columns of some rows."""
    counter = RowCounter(n_columns)
    indptr = np.zeros(len(part.ends) + 1, np.int64)
    indices = np.empty(len(part.numbers), np.int32)
    counts = np.empty(len(part.numbers), np.int32)
    # A kernel takes the address of the first column, also where no row has any.
    columns = columns if len(columns) else np.full(1, -1, np.int32)
    rest = (part.numbers, part.ends, columns, indptr[1:], indices, counts)
    while (status := counter.count(*rest)) != DONE:
        refuse(status, part.first_row + counter.n_rows)
        if is_cancelled():
            raise Cancelled
    for array in (indices, counts):
        array.resize(counter.nnz, refcheck=False)
    return CsrArrays(indptr, indices, counts)
