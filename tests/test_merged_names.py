"""Lists of names of several threads as one, beside a sorted set of Python."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlin import CountVectorizer, _merged_names
from fastlin._core.names import merge, order_of_keys, write_word_keys
from fastlin._merged_names import MergedNames, Words, merged_words

WORDS = st.lists(st.lists(st.text("ab\u00e9\U0001f600 ", min_size=1), unique=True), min_size=2,
                 max_size=4)


def names_of(words):
    encoded = [word.encode() for word in words]
    ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def words_of(names):
    raw = names[0].tobytes()
    ends = names[1].tolist()
    return [raw[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]


@given(WORDS, st.integers(1, 3), st.integers(1, 3), st.randoms())
def test_merged_names(lists, piece, n_jobs, random):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_merged_names, "_PIECE", piece)
        lists = [sorted(words) for words in lists]
        counts = [np.array([random.randrange(9) for _ in words], np.int64) for words in lists]
        whole = MergedNames([names_of(words) for words in lists], counts, n_jobs)
        wanted = sorted({word for words in lists for word in words})
        assert words_of(whole.names) == wanted
        for words, place in zip(lists, whole.places, strict=True):
            assert [wanted[k] for k in place] == words
        assert whole.counts.tolist() == [
            sum(int(count[words.index(word)]) for words, count in zip(lists, counts, strict=True)
                if word in words)
            for word in wanted
        ]
        which = np.array([random.random() < 0.5 for _ in wanted], bool)
        kept = whole.kept(which)
        assert words_of(kept) == [word for word, is_kept in zip(wanted, which, strict=True)
                                  if is_kept]


@given(st.lists(st.lists(st.text("a\u00e9\0", max_size=12), unique=True), min_size=2, max_size=4),
       st.booleans(), st.integers(1, 3))
def test_merged_words(lists, is_long, n_jobs):
    # Long ones have the same first eight bytes, and some the same next eight.
    encoded = [sorted(("a" * 7 * is_long + word).encode() for word in words) for words in lists]
    names, ends = names_of([word.decode() for words in encoded for word in words])
    starts = np.concatenate([[0], ends])[:-1]
    keys, lengths = np.empty((2, len(ends)), np.uint64), np.diff(ends, prepend=0)
    write_word_keys(names, starts, lengths, *keys)
    parts = keys[0], starts.astype(np.uint32), lengths.astype(np.uint32)
    cuts = np.cumsum([0, *map(len, encoded)])
    shares = [Words(*(part[a:b] for part in parts)) for a, b in itertools.pairwise(cuts)]
    whole, places = merged_words(np.append(names, np.uint8(0)), shares, n_jobs)
    wanted = sorted({word for words in encoded for word in words})
    assert [whole.text(k, names) for k in range(len(whole.keys))] == wanted
    for words, place in zip(encoded, places, strict=True):
        assert [wanted[k] for k in place] == words


@pytest.mark.parametrize("params", [
    {}, {"max_features": 7}, {"max_df": 3}, {"min_df": 2}, {"analyzer": "char_wb"},
    {"ngram_range": (2, 3)},
], ids=str)
def test_threads_learn_the_same(params, monkeypatch):
    # Blocks of one document: each thread learns a part of the words, one of them none.
    monkeypatch.setattr("fastlin._text_blocks._BLOCK_DOCUMENTS", 1)
    texts = ["one two three two", "\u00c9t\u00e9 one", "three four", "one five two", "six", ""]
    params = {"ngram_range": (1, 2), **params}
    one = CountVectorizer(**params).fit(texts)
    for n_jobs in (2, 3, 8):
        several = CountVectorizer(n_jobs=n_jobs, **params)
        # the table that transform needs is made of those of the threads
        for X in (several.fit_transform(texts), several.transform(texts)):
            assert several.vocabulary_ == one.vocabulary_
            assert (X != one.transform(texts)).nnz == 0


@pytest.mark.parametrize("missing", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)])
def test_counts_are_of_both_lists(missing):
    names, place = names_of(["spam"]), np.empty(1, np.int64)
    counts = [None if k in missing else np.empty(2, np.int64) for k in range(3)]
    with pytest.raises(TypeError):
        merge(*names, 0, 1, *names, 0, 1, *counts[:2], place, place, np.empty(9, np.uint8),
              np.empty(2, np.int64), counts[2])  # fmt: skip


@given(st.lists(st.integers(0, 3) | st.integers(0, 2**64 - 1), max_size=60))
def test_keys_are_sorted_stably(keys):
    keys = np.array(keys, np.uint64)
    order = np.empty(len(keys), np.int64)
    order_of_keys(keys, np.empty((2 * len(keys), 2), np.uint64), order)
    assert order.tolist() == np.argsort(keys, kind="stable").tolist()


@pytest.mark.parametrize("room, n_places", [((5, 2), 3), ((6, 1), 3), ((6, 2), 2)])
def test_keys_need_room(room, n_places):
    with pytest.raises(IndexError):
        order_of_keys(np.zeros(3, np.uint64), np.empty(room, np.uint64), np.empty(n_places, int))


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.uint32, np.float32, "f8"])
def test_counts_of_any_type(dtype):
    texts = ["spam spam ham eggs", "", "ham " * 300, "eggs spam ham"]
    expected = [[1, 1, 2], [0, 0, 0], [0, 300, 0], [1, 1, 1]]
    for n_jobs in (1, 2):
        vectorizer = CountVectorizer(dtype=dtype, n_jobs=n_jobs)
        for X in (vectorizer.fit_transform(texts), vectorizer.transform(texts)):
            assert X.dtype == dtype
            assert X.toarray().tolist() == expected
