"""n-grams of words by length, beside what Python counts and sorts."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlin import _gram_levels
from fastlin._core import levels as kernels
from fastlin._gram_levels import document_cuts, next_level, numbers_of, placed, word_level

# Few words, so that n-grams come back; some thousand tokens, so that there are several digits.
DOCUMENTS = st.lists(st.lists(st.integers(0, 9) | st.integers(0, 4000), max_size=12), min_size=1,
                     max_size=20)  # fmt: skip


def grams_at(document, n):
    return [tuple(document[i : i + n]) for i in range(len(document) - n + 1)]


@given(DOCUMENTS, st.integers(1, 4), st.integers(1, 5), st.integers(0, 3), st.integers(1, 10),
       st.integers(1, 3), st.randoms())  # fmt: skip
def test_levels(documents, longest, cut, piece_bits, digit_bits, n_jobs, random):
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
    # Rows of numbers, those of the shorter n-grams first.
    for shortest in range(1, longest + 1):
        for first, last in cuts:
            numbers, row_ends = numbers_of(levels, shortest, ends, first, last)
            rows = np.split(numbers, row_ends[:-1])
            for document, row in zip(documents[first:last], rows, strict=True):
                assert [names[k] for k in row] == [
                    gram for n in range(shortest, longest + 1) for gram in grams_at(document, n)
                ]
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
    with pytest.raises(IndexError):
        kernels.split(grams, *np.zeros((4, 1), np.uint32))
