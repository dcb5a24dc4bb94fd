"""From texts to a model: HashingVectorizer and SGDClassifier in a pipeline, beside scikit-learn's
and Vowpal Wabbit.

Each runs in a fresh process, since one that has run before keeps the memory that it got. Vowpal
Wabbit reads a file of words that are lowered and parted by spaces already; writing it is not timed.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .measure import has_peer, print_table, ratio
from .text import documents

__all__ = ["run"]

_MEGABYTES = 20
_EPOCHS = 5
_TEXT: dict[str, Any] = {"ngram_range": (1, 2)}
_LEARNER: dict[str, Any] = {"loss": "log_loss", "alpha": 1e-5, "max_iter": _EPOCHS, "tol": None}
# Side -> what is needed for it, parameters of the vectorizer.
_SIDES: dict[str, tuple[str | None, dict[str, Any]]] = {
    "fastlin": (None, {}),
    "fastlin, float32": (None, {"dtype": np.float32}),
    "fastlin, fast hash, float32": (None, {"hash": "fast", "dtype": np.float32}),
    "scikit-learn": ("sklearn", {}),
    "scikit-learn, float32": ("sklearn", {"dtype": np.float32}),
    "Vowpal Wabbit": ("vowpalwabbit", {}),
}

# Fits to some rows, and the labels that it predicts for others.
_Model = tuple[Callable[[list[str], np.ndarray], Any], Callable[[list[str]], np.ndarray]]


def _labelled(megabytes: float) -> tuple[list[str], np.ndarray]:
    """Texts, and labels that hang on the words in them."""
    texts = documents(megabytes)
    scores = np.array([sum(len(word) % 3 - 1 for word in text.split()) for text in texts])
    return texts, (scores > np.median(scores)).astype(int)


def _pipeline(ours: bool, params: dict[str, Any], seed: int) -> _Model:
    """A pipeline of ours or of scikit-learn."""
    if ours:
        from fastlin import HashingVectorizer, SGDClassifier, make_pipeline
    else:
        from sklearn.feature_extraction.text import HashingVectorizer
        from sklearn.linear_model import SGDClassifier
        from sklearn.pipeline import make_pipeline
    model = make_pipeline(
        HashingVectorizer(**_TEXT, **params), SGDClassifier(**_LEARNER, random_state=seed)
    )
    # What a first call imports is not part of the work.
    model.fit(["spam and ham", "eggs"], [0, 1])
    return model.fit, model.predict


def _words(text: str) -> str:
    """A text as Vowpal Wabbit is given it."""
    return "| " + " ".join(re.findall(r"\b\w\w+\b", text.lower()))


def _vowpal_wabbit(folder: Path, texts: list[str], y: np.ndarray) -> _Model:
    """Its learner on the words of the texts, which are written to a file here."""
    import vowpalwabbit

    path = folder / "train"
    path.write_text("".join(f"{2 * label - 1} {_words(text)}\n"
                            for text, label in zip(texts, y, strict=True)))
    learned = []

    def fit(texts: list[str], y: np.ndarray) -> None:
        learned.append(vowpalwabbit.Workspace(
            f"--quiet --ngram 2 -b 20 --loss_function logistic --passes {_EPOCHS} -c -k "
            f"--holdout_off -d {path}"))

    def predict(texts: list[str]) -> np.ndarray:
        return np.array([learned[0].predict(_words(text)) > 0 for text in texts])

    return fit, predict


def _fit(side: str, megabytes: float, seed: int) -> tuple[float, float, float]:
    """CPU seconds of a fit, growth of the peak resident size in MB, and the accuracy on the last
    fifth of the texts, which is held out."""
    import resource

    unit = 1e6 if sys.platform == "darwin" else 1e3
    texts, y = _labelled(megabytes)
    n = len(texts) * 4 // 5
    with tempfile.TemporaryDirectory() as folder:
        module, params = _SIDES[side]
        if module == "vowpalwabbit":
            fit, predict = _vowpal_wabbit(Path(folder), texts[:n], y[:n])
        else:
            fit, predict = _pipeline(module is None, params, seed)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # not `cpu_seconds`, which finds memory first
        start = time.process_time()
        fit(texts[:n], y[:n])
        seconds = time.process_time() - start
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        accuracy = float(np.mean(predict(texts[n:]) == y[n:]))
    return seconds, (after - before) / unit, accuracy


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    sides = [side for side, (module, _) in _SIDES.items()
             if (has_peer("scikit-learn") if module == "sklearn"
                 else module is None or importlib.util.find_spec(module))]
    found: dict[str, list[Any]] = {side: [] for side in sides}
    fresh = multiprocessing.get_context("spawn")
    for seed in range(min(rounds, 3)):
        for side in sides:
            with fresh.Pool(1) as pool:
                found[side].append(pool.apply(_fit, (side, _MEGABYTES * scale, seed)))
    print(f"{_MEGABYTES * scale:g} MB of text, four fifths of it learned from: words and pairs "
          f"of words, {_EPOCHS} epochs of logistic SGD, another seed in each round; memory is "
          "the growth of the peak resident size during `fit`.\n")
    first = [result[0] for result in found["fastlin"]]
    print_table(
        ("side", "CPU s", "peak MB", "accuracy held out", "times fastlin"),
        [
            [side, *(f"{statistics.median(column):.{digits}f}"
                     for column, digits in zip(zip(*results, strict=True), (2, 0, 4), strict=True)),
             ratio([result[0] for result in results], first)]
            for side, results in found.items()
        ],
    )
