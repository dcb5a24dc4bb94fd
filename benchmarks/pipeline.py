"""From texts to a model: HashingVectorizer and SGDClassifier in a pipeline, beside scikit-learn's.

Each runs in a fresh process, since one that has run before keeps the memory that it got.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
from typing import Any

import numpy as np

from .measure import cpu_seconds, has_peer, print_table, ratio
from .text import documents

__all__ = ["run"]

_MEGABYTES = 20


def _labelled(megabytes: float) -> tuple[list[str], np.ndarray]:
    """Texts, and labels that hang on the words in them."""
    texts = documents(megabytes)
    scores = np.array([sum(len(word) % 3 - 1 for word in text.split()) for text in texts])
    return texts, (scores > np.median(scores)).astype(int)


def _fit(ours: bool, megabytes: float) -> tuple[float, float, float]:
    """CPU seconds of a fit, growth of the peak resident size in MB, and training accuracy."""
    import resource

    if ours:
        from fastlin import HashingVectorizer, SGDClassifier, make_pipeline
    else:
        from sklearn.feature_extraction.text import HashingVectorizer
        from sklearn.linear_model import SGDClassifier
        from sklearn.pipeline import make_pipeline
    unit = 1e6 if sys.platform == "darwin" else 1e3
    texts, y = _labelled(megabytes)
    model = make_pipeline(
        HashingVectorizer(ngram_range=(1, 2)),
        SGDClassifier(loss="log_loss", alpha=1e-5, max_iter=5, tol=None, random_state=0),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = cpu_seconds(lambda: model.fit(texts, y))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return seconds, (after - before) / unit, float(np.mean(model.predict(texts) == y))


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    sides = {"fastlin": True} | ({"scikit-learn": False} if has_peer("scikit-learn") else {})
    found: dict[str, list[Any]] = {side: [] for side in sides}
    fresh = multiprocessing.get_context("spawn")
    for _ in range(min(rounds, 3)):
        for side, ours in sides.items():
            with fresh.Pool(1) as pool:
                found[side].append(pool.apply(_fit, (ours, _MEGABYTES * scale)))
    print(f"{_MEGABYTES * scale:g} MB of text, words and pairs of words, 5 epochs of logistic SGD; "
          "memory is the growth of the peak resident size during `fit`.\n")
    first = [result[0] for result in found["fastlin"]]
    print_table(
        ("side", "CPU s", "peak MB", "training accuracy", "times ours"),
        [
            [side, *(f"{statistics.median(column):.{digits}f}"
                     for column, digits in zip(zip(*results, strict=True), (2, 0, 4), strict=True)),
             ratio([result[0] for result in results], first)]
            for side, results in found.items()
        ],
    )
