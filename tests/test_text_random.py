"""Vectorisers with random parameters on small random corpora, against scikit-learn's."""

import numpy as np
import pytest

import fastlin

text = pytest.importorskip("sklearn.feature_extraction.text")

WORDS = (
    "a I the The THE cat cats Cat dog über Über straße STRASSE été ete naïve İstanbul ǆ ﬁne x1 1 "
    "42 3.14 foo_bar _ don't e-mail 日本 東京 ñ n\u0303 привет мир ÅNGSTRÖM é e\u0301 😀 \u200b "
    "ſ K \xa0 \u2028 ½ ² ١٢ ß ΣΑΣ \ud800"
).split(" ")
GAPS = [" ", "  ", "\n", "\t", ", ", ". ", "-", "'", "\x0b", "\x1c", "\x85", "\u3000"]
CHOICES = {
    "lowercase": (True, False),
    "strip_accents": ("ascii", "unicode", None, str.upper),
    "analyzer": ("word", "char", "char_wb"),
    "ngram_range": ((1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3)),
    "stop_words": ("english", ["the", "a", "cat"], None, ["Über"]),
    "token_pattern": (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"(?u)(\w)\w+", r"\w+(?:-\w+)?", r"[^\s]+",
                      "[a-z]+", r"(\w+)'?"),
    "binary": (True, False),
    "preprocessor": (str.title, None, None, None),
    "tokenizer": (str.split, None, None, None),
    "dtype": (np.float32, np.float64),
}  # fmt: skip
COUNTED = {
    "min_df": (1, 2, 3, 0.0, 0.1, 0.3, 0.5, 1.0),
    "max_df": (1, 2, 3, 5, 0.2, 0.5, 0.7, 1.0),
    "max_features": (1, 2, 3, 5, 10),
    "vocabulary": (["cat", "dog", "the cat"], {"cat": 1, "dog": 0}, {"cat", "the", "x1"},
                   ["ca", "at"], None, None, None, None),
}  # fmt: skip
HASHED = {"n_features": (1, 2, 7, 64, 2**20), "alternate_sign": (True, False)}
WEIGHTED = {"use_idf": (True, False), "smooth_idf": (True, False), "sublinear_tf": (True, False)}
NORM = {"norm": ("l1", "l2", None)}
KINDS = {
    "CountVectorizer": CHOICES | COUNTED,
    "TfidfVectorizer": CHOICES | COUNTED | WEIGHTED | NORM,
    "HashingVectorizer": CHOICES | HASHED | NORM,
}


def corpus(rng):
    def gap():
        return GAPS[rng.integers(len(GAPS))] if rng.random() < 0.3 else " "

    return [
        "".join(WORDS[k] + gap() for k in rng.integers(0, len(WORDS), rng.integers(0, 12)))
        for _ in range(rng.integers(1, 9))
    ]


def outcome(cls, params, documents, others):
    """(names, the matrices of fit_transform and of transform), or None for an error."""
    try:
        vectorizer = cls(**params)
        matrices = vectorizer.fit_transform(documents), vectorizer.transform(others)
    except ValueError:
        return None
    named = hasattr(vectorizer, "vocabulary_")
    return vectorizer.get_feature_names_out().tolist() if named else [], *matrices


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(0, 400, 40))
@pytest.mark.parametrize("name", KINDS)
def test_random_parameters(name, start):
    n_answers = 0
    for seed in range(start, start + 40):
        rng = np.random.default_rng(seed)
        params = {
            key: values[rng.integers(len(values))]
            for key, values in KINDS[name].items() if rng.random() < 0.4
        }  # fmt: skip
        if params.get("vocabulary") is not None:
            # a term that no document has is then an error here
            params.pop("smooth_idf", None)
        documents, others = corpus(rng), corpus(rng)
        ours = outcome(getattr(fastlin, name), params, documents, others)
        theirs = outcome(getattr(text, name), params, documents, others)
        assert (ours is None) == (theirs is None), (seed, params, ours)
        if ours is None:
            continue
        n_answers += 1
        assert ours[0] == theirs[0], (seed, params)
        for mine, other in zip(ours[1:], theirs[1:], strict=True):
            assert mine.dtype == other.dtype
            np.testing.assert_allclose(mine.toarray(), other.toarray(), rtol=1e-5, atol=1e-6,
                                       err_msg=f"{seed}: {params}")  # fmt: skip
    assert n_answers > 20
