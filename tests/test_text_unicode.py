"""Text that is not ASCII: words and lowering are Python's own, in C as in Python."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_reference import assert_same, peer, reference

from fastlin._analyzers import byte_classes, lowered_characters, word_bits
from fastlin._core.documents import Block, lowered_utf8
from fastlin._core.text import TextHasher
from fastlin.text import HashingVectorizer

HOSTILE = [
    "İstanbul DİYARBAKIR ıI",  # dotted I lowers to two code points, the second no word character
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ.ΣΑ",  # sigma lowers by its place in the word
    "straße STRASSE ẞ",
    "e\u0301te\u0301 été cafe\u0301s",  # combining marks part words
    "𝐀𝐁𝐂 𐐀𐐁 𝟘𝟙 😀ab😀",  # beyond the first plane
    "٣٤٥ १२३ ೪೫ ²³ ½¼ Ⅷ",  # digits and numerals of other scripts
    "naïve_café __ _a a_ ˮxˮ",
    "日本語のテキスト 中文文本 한국어 문장",
    "ǅ ǆ Ǆǅ K\u212a \u2126hm",  # titlecase letters, Kelvin, Ohm
    "a\u00adb c\u200dd e\u200bf \ufeffgh",  # soft hyphen, joiners, byte order mark
    "\u2120 \u2121 \u33c7 \u1d2c\u1d2e xy",  # decompose to capitals after lowering
    "\x85ab\u2028cd\xa0ef\x1fgh",
    "ﬁne ﬂag ŉ ǰx ΐ",
]

TABLES = (byte_classes(True), byte_classes(False))


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("params", [
    {}, {"ngram_range": (1, 2)}, {"lowercase": False}, {"strip_accents": "ascii"},
    {"strip_accents": "unicode", "ngram_range": (1, 2)},
    {"strip_accents": "ascii", "analyzer": "char"},
    {"analyzer": "char_wb", "ngram_range": (2, 3)}, {"token_pattern": r"\w+"},
], ids=str)
def test_hostile_texts_equal_scikit_learn(text, params):
    documents = [text, f"plain {text} words", text * 9, "nothing but ASCII"]
    assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))


def test_characters_that_lower_one_by_one():
    table = lowered_characters()
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    known = [c for c, entry in zip(every, table.tolist(), strict=False) if entry]
    # All but surrogates, the capital sigma and the dotted capital I.
    assert 0x10000 - len(known) == 2048 + 2
    assert lowered_utf8("".join(known), table) == "".join(known).lower().encode()
    for one in (known[200:300], known[300:600]):
        text = "".join(one)
        assert lowered_utf8(text, table) == text.lower().encode()
    assert lowered_utf8("", table) == b""
    for other in ("\u03a3", "\u0130", "\ud800", "\U0001f600", "\U00010400"):
        for text in (other, f"\u00c9{other}", f"{other}\u00c9"):
            assert lowered_utf8(text, table) is None


@given(st.lists(st.text(max_size=120), min_size=1, max_size=3),
       st.sampled_from([{}, {"ngram_range": (1, 3)}, {"lowercase": False, "n_features": 11}]))
@settings(max_examples=60, deadline=None)
def test_any_text_equals_the_definition(documents, params):
    assert_same(HashingVectorizer(**params).transform(documents), reference(documents, **params))


@given(st.lists(st.sampled_from("aB9_ .-é𝐀Σİßǅ日\u0301٣ \u200d"), min_size=50, max_size=400),
       st.sampled_from([{}, {"ngram_range": (1, 2)}]))
@settings(max_examples=40, deadline=None)
def test_mixtures_equal_the_definition(characters, params):
    documents = ["".join(characters)]
    assert_same(HashingVectorizer(**params).transform(documents), reference(documents, **params))


def test_every_code_point():
    bits = word_bits()
    codes = np.arange(sys.maxunicode + 1, dtype=np.uint64)
    found = bits[codes >> 6] >> (codes & 63) & 1
    expected = [chr(c).isalnum() or c == ord("_") for c in range(sys.maxunicode + 1)]
    np.testing.assert_array_equal(found, np.array(expected))
    # Each between two letters, in one document: a word of three, or two that are too short.
    planes = (range(0x10000), range(0x10000, 0x110000, 7))
    documents = ["".join(f"a{chr(c)}b " for c in codes if not 0xD800 <= c < 0xE000)
                 for codes in planes]
    params = {"lowercase": False, "alternate_sign": False, "norm": None}
    X = HashingVectorizer(**params).transform(documents)
    n_words = [len(re.findall(r"\b\w\w+\b", document)) for document in documents]
    assert X.sum(axis=1).ravel().tolist()[0] == n_words
    assert_same(X, peer(documents, **params))


def test_ascii_table():
    for lowercase in (False, True):
        table = byte_classes(lowercase)
        for code in range(128):
            character = chr(code)
            kept = character.lower() if lowercase else character
            is_word = character.isalnum() or character == "_"
            assert table[code] == (ord(kept) if is_word else 0)
        assert (table[128:] == 1).all()


@pytest.mark.parametrize("params", [{}, {"lowercase": False}, {"ngram_range": (1, 2)}])
def test_a_lone_surrogate_parts_words(params):
    documents = ["ab\ud800cd ef", "\udfff", "xy"]
    assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))


@pytest.mark.parametrize("params", [{"analyzer": "char"}, {"tokenizer": str.split}])
def test_a_lone_surrogate_in_a_feature_is_refused(params):
    with pytest.raises(ValueError, match="row 1"):
        HashingVectorizer(**params).transform(["ab", "c\ud800"])


@pytest.mark.parametrize("raw", [
    b"ab\xff\xfecd ef", b"ab\xc3", b"\x80\x80ab", b"ab\xe2\x82", b"ab\xf0\x9f\x98",
    b"\xf7\xbf\xbf\xbfab", b"\xff" * 100 + b" ab",
])
def test_bytes_that_are_not_utf8_are_never_read_past(raw):
    # Python never sends such bytes to the kernel; it must hold its bounds all the same.
    hasher = TextHasher(*TABLES, 0, 2, None, 2**20, 1, 1, False, False, 0, False, 0)
    hasher.set_word_bits(word_bits())
    hasher.load(Block([bytes(bytearray(raw))]))
    indptr, indices, data = np.zeros(2, np.int64), np.empty(64, np.int32), np.empty(64)
    assert hasher.advance(indptr, indices, data) == 0
    assert hasher.n_rows == 1
    assert 0 <= hasher.nnz <= 3


def test_the_kernel_takes_only_what_it_was_prepared_for():
    hasher = TextHasher(*TABLES, 0, 2, None, 16, 1, 1, False, False, 0, False, 0)
    with pytest.raises(ValueError):
        hasher.load(Block([b"bytes before set_word_bits"]))
    with pytest.raises(ValueError):
        hasher.load(Block(["é"]))
    with pytest.raises(ValueError):
        hasher.set_word_bits(word_bits()[:-1].copy())
    for bad in ((0, 1, 1), (2**31, 1, 1), (16, 0, 1), (16, 2, 1)):
        with pytest.raises(ValueError):
            TextHasher(*TABLES, 0, 2, None, *bad, False, False, 0, False, 0)
