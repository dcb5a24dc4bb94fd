"""What hashed text should be: a slow reference, scikit-learn's answer, and the comparison."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from fastlin._analyzers import STANDARD_PATTERN


def murmur3(data: bytes) -> int:
    """MurmurHash3 x86_32 with seed 0 as a signed number, written from its definition."""
    def mixed(k):
        k = k * 0xCC9E2D51 & 0xFFFFFFFF
        k = (k << 15 | k >> 17) & 0xFFFFFFFF
        return k * 0x1B873593 & 0xFFFFFFFF

    h, whole = 0, len(data) // 4 * 4
    for i in range(0, whole, 4):
        h ^= mixed(int.from_bytes(data[i : i + 4], "little"))
        h = (h << 13 | h >> 19) & 0xFFFFFFFF
        h = (h * 5 + 0xE6546B64) & 0xFFFFFFFF
    if len(data) > whole:
        h ^= mixed(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ h >> shift) * factor & 0xFFFFFFFF
    return h - 2**32 if h >= 2**31 else h


def reference(documents, ngram_range=(1, 1), n_features=2**20, binary=False, norm="l2",
              alternate_sign=True, lowercase=True):
    """Counts by a dict, norms by NumPy."""
    indptr, indices, data = [0], [], []
    for document in documents:
        words = re.findall(STANDARD_PATTERN, document.lower() if lowercase else document)
        counts = Counter()
        for n in range(ngram_range[0], ngram_range[1] + 1):
            for i in range(len(words) - n + 1):
                h = murmur3(" ".join(words[i : i + n]).encode())
                counts[abs(h) % n_features] += -1 if alternate_sign and h < 0 else 1
        row = {c: 1 if binary else v for c, v in sorted(counts.items()) if binary or v}
        values = np.array([*row.values()], float)
        if norm and row:
            values /= np.abs(values).sum() if norm == "l1" else np.sqrt((values**2).sum())
        indices += row
        data += values.tolist()
        indptr.append(len(indices))
    return csr_matrix((data, indices, indptr), shape=(len(documents), n_features))


def assert_same(X, expected):
    """Same bits, same index types, nothing stored where signs cancelled."""
    assert X.shape == expected.shape
    assert X.dtype == expected.dtype
    assert X.indices.dtype == X.indptr.dtype == np.int32
    np.testing.assert_array_equal(X.indptr, expected.indptr)
    np.testing.assert_array_equal(X.indices, expected.indices)
    assert X.data.tobytes() == expected.data.tobytes()


def peer(documents, **params):
    """What scikit-learn makes of it, without the zeros that it stores."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    X = text.HashingVectorizer(**params).transform(documents)
    X.eliminate_zeros()
    return X


def random_documents(n, seed=0, longest=300):
    rng = np.random.default_rng(seed)
    words = np.array(["".join(rng.choice(list("abcXYZ_019"), k)) for k in rng.integers(1, 20, 500)])
    gaps = np.array([" ", "  ", ", ", ".\n", "-", "\t", "\x00", "!?! "])
    return [
        "".join(w + g for w, g in zip(rng.choice(words, k), rng.choice(gaps, k), strict=True))
        for k in rng.integers(0, longest, n)
    ]
