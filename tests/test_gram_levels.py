"""n-grams of words by length, beside what Python counts and sorts."""

from __future__ import annotations

import itertools
from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlin import _gram_levels
from fastlin._core import levels as kernels
from fastlin._core.documents import DONE, PAUSED, CountedRows
from fastlin._core.ngrams import RowCounter
from fastlin._count_rows import sources_of
from fastlin._gram_levels import document_cuts, next_level, occurrences, placed, word_level
from fastlin._parallel import Cancelled

# Few words, so that n-grams come back; some thousand tokens, so that there are several digits.
DOCUMENTS = st.lists(st.lists(st.integers(0, 9) | st.integers(0, 4000), max_size=12), min_size=1,
                     max_size=20)  # fmt: skip


def grams_at(document, n):
    return [tuple(document[i : i + n]) for i in range(len(document) - n + 1)]


def counted(counter, sources, ends, first, last):
    """Rows as lists of pairs of a column and its count."""
    rows = CountedRows()
    rows.begin(last - first)
    counter.load(sources, ends, first, last)
    assert counter.count(rows) == DONE
    indices, counts = np.empty(rows.nnz, np.int32), np.empty(rows.nnz)
    counter.write(rows, indices, counts)
    return [list(zip(indices[a:b].tolist(), counts[a:b].tolist(), strict=True))
            for a, b in itertools.pairwise(rows.ends.tolist())]  # fmt: skip


def check_rows(levels, shortest, names, has_column, documents, ends, cuts):
    """Compare rows of the n-grams that have a column with what Python counts."""
    columns = np.where(has_column, np.cumsum(has_column) - 1, -1).astype(np.int32)
    kept = [names[k] for k in np.flatnonzero(has_column)]
    counter, sources = RowCounter(len(names)), sources_of(levels, shortest, columns)
    for first, last in cuts:
        rows = counted(counter, sources, ends, first, last)
        for document, row in zip(documents[first:last], rows, strict=True):
            expected = Counter(
                gram for n in range(shortest, len(levels) + 1) for gram in grams_at(document, n)
            )
            assert {kept[k]: count for k, count in row} == {
                gram: count for gram, count in expected.items() if gram in kept
            }
            assert [k for k, _ in row] == sorted({k for k, _ in row})


@given(DOCUMENTS, st.integers(1, 4), st.integers(1, 5), st.integers(0, 3), st.integers(1, 10),
       st.integers(1, 3), st.booleans(), st.randoms())  # fmt: skip
def test_levels(documents, longest, cut, piece_bits, digit_bits, n_jobs, begins_pages, random):
    # All words occur, as they do where a table has them of the documents.
    words = sorted(set(chain.from_iterable(documents)))
    documents = [[words.index(word) for word in document] for document in documents]
    if not words:
        return
    tokens = np.array(list(chain.from_iterable(documents)), np.uint32)
    ends = np.cumsum([len(document) for document in documents], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_gram_levels, "_CUT", cut)
        patch.setattr(_gram_levels, "_PIECE_BITS", piece_bits)
        patch.setattr(_gram_levels, "DIGIT_BITS", digit_bits)
        patch.setattr(_gram_levels, "_BYTES_PER_TASK", 100)
        if begins_pages:
            patch.setattr(_gram_levels, "_MANY_BYTES", 0)
        levels = [word_level(tokens, ends, len(words), n_jobs)]
        for n in range(2, longest + 1):
            levels.append(next_level(levels[-1], len(words), tokens, ends, n, n_jobs))
        cuts = document_cuts(ends)
    assert [first for first, _ in cuts] + [len(documents)] == [0, *(last for _, last in cuts)]
    names: list[tuple[int, ...]] = []
    before = []
    for n, level in enumerate(levels, 1):
        found = [gram for document in documents for gram in grams_at(document, n)]
        below, ours = len(names), sorted(set(found))
        if n > 1:
            before.append(level.before + np.uint32(below - len(levels[n - 2])))
            of_level = names[below - len(levels[n - 2]) :]
            ours_here = [(*of_level[b], last) for b, last in
                         zip(level.before.tolist(), level.last.tolist(), strict=True)]  # fmt: skip
            assert ours_here == ours
        else:
            before.append(level.before)
            assert level.last.tolist() == list(range(len(words)))
        names += ours
        in_documents = Counter(chain.from_iterable({*grams_at(d, n)} for d in documents))
        totals = Counter(found)
        assert level.documents.tolist() == [in_documents[gram] for gram in ours]
        assert level.total.tolist() == [totals[gram] for gram in ours]
        assert occurrences(ends, n) == len(found)
    has_column = np.array([random.random() < 0.8 for _ in names], bool)
    for shortest in range(1, longest + 1):
        check_rows(levels, shortest, names, has_column, documents, ends, cuts)
    wanted = np.array([random.random() < 0.5 for _ in names], bool)
    features, columns, counts = placed(levels, np.concatenate(before), wanted, n_jobs)
    chosen = sorted(name for name, is_wanted in zip(names, wanted, strict=True) if is_wanted)
    assert [names[k] for k in features] == chosen
    assert columns.tolist() == [
        chosen.index(name) if is_wanted else -1
        for name, is_wanted in zip(names, wanted, strict=True)
    ]
    documents_of = np.concatenate([level.documents for level in levels])
    assert counts.tolist() == documents_of[features].tolist()


def test_pages_are_begun_in_parts(monkeypatch):
    monkeypatch.setattr(_gram_levels, "_MANY_BYTES", 1000)
    monkeypatch.setattr(_gram_levels, "_BYTES_PER_TASK", 300)
    begun = []
    monkeypatch.setattr(_gram_levels, "begin_pages", begun.append)
    array = np.zeros((251, 4), np.uint8)
    for n_jobs, n_parts in ((2, 3), (3, 3), (5, 5)):
        begun.clear()
        for task in _gram_levels._page_tasks(array, n_jobs):
            task()
        assert len(begun) == n_parts
        for part in begun:
            part += 1
        assert (array == 1).all()
        array[:] = 0
    assert _gram_levels._page_tasks(array, 1) == []
    assert _gram_levels._page_tasks(array[:249], 2) == []


@pytest.mark.parametrize("n_grams, threads, shares", [
    ([1, 1, 1, 7, 0, 5, 5], 2, [[0, 1, 2, 3], [5, 6]]),
    ([9, 0, 1, 1, 1], 2, [[0], [2, 3, 4]]),
    ([4, 4, 4, 4], 3, [[0, 1], [2], [3]]),
    ([0, 3], 3, [[1], [], []]),
    ([0, 0], 2, [[], []]),
])  # fmt: skip
def test_threads_share_n_grams_and_not_pieces(n_grams, threads, shares):
    n_grams = np.array(n_grams)
    found = _gram_levels._shares(n_grams, np.cumsum(n_grams) - n_grams, threads)
    assert [pieces.tolist() for pieces in found] == shares


def test_a_share_of_pieces_can_be_cancelled(monkeypatch):
    monkeypatch.setattr(_gram_levels, "_PIECE_BITS", 0)
    done = []
    monkeypatch.setattr(_gram_levels, "split", lambda *args: done.append(args))
    monkeypatch.setattr(_gram_levels, "is_cancelled", lambda: len(done) == 2)
    tokens, ends = np.arange(9, dtype=np.uint32), np.array([9])
    words = word_level(tokens, ends, 9, 1)
    with pytest.raises(Cancelled):
        next_level(words, 9, tokens, ends, 2, 1)
    assert len(done) == 2


def test_a_long_document_is_counted_in_pieces():
    rng = np.random.default_rng(0)
    ends = np.array([5, 2_600_000, 2_600_003])
    numbers = rng.integers(0, 1000, (2, ends[-1]), dtype=np.uint32)
    columns = rng.permutation(2000).reshape(2, 1000).astype(np.int32)
    columns[:, ::7] = -1
    counter, rows = RowCounter(2000), CountedRows()
    rows.begin(3)
    counter.load([(numbers[0], columns[0], 1), (numbers[1], columns[1], 3)], ends, 0, 3)
    calls = 1
    while (status := counter.count(rows)) != DONE:
        assert status == PAUSED
        calls += 1
    # 5.2 million n-grams, a million at a time
    assert calls == 6
    indices, counts = np.empty(rows.nnz, np.int32), np.empty(rows.nnz, np.int64)
    counter.write(rows, indices, counts)
    for row, (a, b) in enumerate(itertools.pairwise([0, *ends.tolist()])):
        found = np.concatenate([columns[0, numbers[0, a:b]], columns[1, numbers[1, a : b - 2]]])
        here = slice(*rows.ends[row : row + 2])
        wanted = np.unique(found[found >= 0], return_counts=True)
        np.testing.assert_array_equal(indices[here], wanted[0])
        np.testing.assert_array_equal(counts[here], wanted[1])


def test_kernels_refuse_what_lies_beyond_the_end():
    tokens, ends = np.zeros(4, np.uint32), np.array([2, 5])
    counts = np.zeros(1, np.int64)
    for first, last in ((0, 3), (-1, 1), (1, 0), (0, 2)):
        with pytest.raises(IndexError):
            kernels.count_pieces(tokens, ends, first, last, 2, 0, counts)
        with pytest.raises(IndexError):
            kernels.count_words(tokens, ends, first, last, np.zeros((1, 3), np.uint32))
    kernels.count_pieces(tokens, ends, 0, 1, 2, 0, counts)
    assert counts.tolist() == [1]
    grams = np.zeros((2, 4), np.uint32)
    with pytest.raises(ValueError):
        kernels.sort_digit(grams, grams[:1], True, 0, 1)
    with pytest.raises(ValueError):
        kernels.sort_digit(grams, grams.copy(), True, 0, 11)
    counter, columns = RowCounter(1), np.zeros(1, np.int32)
    for first, last in ((0, 3), (-1, 1), (1, 0), (0, 2)):
        with pytest.raises(IndexError):
            counter.load([(tokens, columns, 1)], ends, first, last)
    counter.load([(tokens, columns, 1)], ends, 0, 1)
    rows = CountedRows()
    with pytest.raises(IndexError):
        counter.count(rows)
    rows.begin(1)
    assert counter.count(rows) == DONE
    for indices, counts in ((columns, np.empty(0)), (columns[:0], np.empty(1))):
        with pytest.raises(IndexError):
            counter.write(rows, indices, counts)
    with pytest.raises(IndexError):
        kernels.split(grams, *np.zeros((4, 1), np.uint32))
