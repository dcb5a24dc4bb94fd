"""Vocabularies: from n-grams to numbers, in the order that scikit-learn gives them."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ._analyzers import byte_classes
from ._core.ngrams import NgramReader, NgramTable

__all__ = ["word_table"]


def new_table() -> NgramTable:
    """Return an empty table; a secret decides on the places, so that no text can crowd them."""
    return NgramTable(int.from_bytes(os.urandom(8), "little"))


def word_table(words: Iterable[str] | None) -> NgramTable | None:
    """Return a table of words, or None for none."""
    if not words:
        return None
    table = new_table()
    reader = NgramReader(table, None, byte_classes(False), byte_classes(False), 0, 1, 1, 1, True)
    reader.add_features([word.encode("utf-8", "surrogatepass") for word in words])
    return table
