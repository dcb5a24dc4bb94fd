"""Accuracy and time on real text, beside scikit-learn's learners with the same parameters.

The folder that `--data` names holds a folder for each set with its rows as JSON lines, a `text` and
a `label` each, compressed by xz: `sms_spam/all.jsonl.xz`, `rt_polarity/all.jsonl.xz`, and
`trec_qc` and `newsgroups20` (by date) in `train.jsonl.xz` and `test.jsonl.xz`. The questions of
trec_qc have a second label, `fine`. Sets that are not there are left out.
"""

from __future__ import annotations

import json
import lzma
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .measure import cpu_seconds, print_table

__all__ = ["read_texts", "run"]

# A search may lie so many points of accuracy below scikit-learn's, in the mean over the seeds.
POINTS = 0.5
SEEDS = 10
SEARCHED = ("sms_spam", "trec_qc", "rt_polarity")
GRID = {"learner__alpha": [1e-5, 1e-4]}
WORDS = {"ngram_range": (1, 2), "n_features": 2**18}
# Set, label -> title and the token pattern of its tf-idf; questions are short, so each word counts.
TESTED = {
    ("newsgroups20", "label"): ("20 Newsgroups by date, 20 classes", r"(?u)\b\w\w+\b"),
    ("trec_qc", "label"): ("TREC questions, 6 classes", r"(?u)\b\w+\b"),
    ("trec_qc", "fine"): ("TREC questions, 50 classes", r"(?u)\b\w+\b"),
}
# Class, parameters that are not the defaults, whether scikit-learn has it too
LEARNERS: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("LogisticRegression", {}, True),
    ("SparsemaxClassifier", {}, False),
    ("LinearSVC", {}, True),
    ("LinearSVC", {"multi_class": "crammer_singer"}, True),
    ("SGDClassifier", {"random_state": 0}, True),
    ("RidgeClassifier", {}, True),
    ("MultinomialNB", {}, True),
    ("ComplementNB", {}, True),
)


def run(data: str | None, rounds: int) -> None:
    """Print both tables for the sets in the folder `data`."""
    if data is None:
        print("Skipped: no folder of texts was named (`--data`).\n")
        return
    folder = Path(data)
    print("A search over two strengths in three folds on three quarters of the rows, and the "
          "accuracy of its best model on the others; means over ten splits with the same seeds. "
          "HashingVectorizer of words and pairs, SGDClassifier with its defaults, in "
          "scikit-learn's Pipeline and GridSearchCV on both sides.\n")
    header = ["data", "fastlin", "scikit-learn", "points", "at least", "s", "scikit-learn's s"]
    print_table(header, _quietly(_searches(folder)))
    print("Tf-idf of words with logarithmic counts; accuracy on the test set and CPU seconds of "
          f"`fit` (median of {rounds}).\n")
    header = ["data", "learner", "fastlin", "scikit-learn", "s", "scikit-learn's s"]
    print_table(header, _quietly(_tests(folder, rounds)))


def _quietly(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows made without warnings: of iterations that ran out, on both sides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from rows


def read_texts(folder: Path, name: str, part: str, label: str = "label") -> Any:
    """Texts and labels of a set, or None."""
    path = folder / name / f"{part}.jsonl.xz"
    if not path.exists():
        print(f"no {path}", file=sys.stderr, flush=True)
        return None
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], np.array([str(row[label]) for row in rows])


def _searches(folder: Path) -> Iterator[list[str]]:
    """Rows of the first table."""
    import sklearn.feature_extraction.text
    import sklearn.linear_model
    from sklearn.model_selection import train_test_split

    import fastlin

    sides = {
        "fastlin": (fastlin.HashingVectorizer, fastlin.SGDClassifier),
        "scikit-learn": (
            sklearn.feature_extraction.text.HashingVectorizer,
            sklearn.linear_model.SGDClassifier,
        ),
    }
    for name in SEARCHED:
        found = read_texts(folder, name, "train" if name == "trec_qc" else "all")
        if found is None:
            continue
        texts, labels = found
        scores: dict[str, list[float]] = {side: [] for side in sides}
        seconds = dict.fromkeys(sides, 0.0)
        for seed in range(SEEDS):
            split = train_test_split(texts, labels, random_state=seed, stratify=labels)
            for side, classes in sides.items():
                seconds[side] += cpu_seconds(_search(classes, seed, split, scores[side]))
        ours, theirs = (100 * statistics.mean(scores[side]) for side in sides)
        yield [name, f"{ours:.2f}", f"{theirs:.2f}", f"{ours - theirs:+.2f}", f"-{POINTS}",
               *(f"{s:.1f}" for s in seconds.values())]


def _search(classes: tuple, seed: int, split: list, scores: list[float]) -> Callable[[], None]:
    """A task that searches, and appends the accuracy on the rows left out."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    vectorizer, learner = classes
    train, test, y_train, y_test = split
    steps = [("words", vectorizer(**WORDS)), ("learner", learner(random_state=seed))]

    def task() -> None:
        search = GridSearchCV(Pipeline(steps), GRID, cv=3).fit(train, y_train)
        scores.append(search.score(test, y_test))

    return task


def _tests(folder: Path, rounds: int) -> Iterator[list[str]]:
    """Rows of the second table; both sides get scikit-learn's matrix."""
    import sklearn.linear_model
    import sklearn.naive_bayes
    import sklearn.svm
    from sklearn.feature_extraction.text import TfidfVectorizer

    import fastlin

    peers = (sklearn.linear_model, sklearn.svm, sklearn.naive_bayes)
    for (name, label), (title, pattern) in TESTED.items():
        parts = [read_texts(folder, name, part, label) for part in ("train", "test")]
        if None in parts:
            continue
        (train, y_train), (test, y_test) = parts
        words = TfidfVectorizer(sublinear_tf=True, token_pattern=pattern)
        X_train, X_test = words.fit_transform(train), words.transform(test)
        for learner, params, shared in LEARNERS:
            kinds = [getattr(fastlin, learner)]
            kinds += [getattr(m, learner) for m in peers if shared and hasattr(m, learner)]
            times, scores = [], []
            for kind in kinds:
                model = kind(**params)
                fit = partial(model.fit, X_train, y_train)
                taken = [cpu_seconds(fit) for _ in range(rounds)]
                times.append(f"{statistics.median(taken):.2f}")
                scores.append(f"{model.score(X_test, y_test):.4f}")
            blank = [""] * (2 - len(kinds))
            called = learner + "".join(f", {v}" for k, v in params.items() if k != "random_state")
            yield [title, called, *scores, *blank, *times, *blank]
