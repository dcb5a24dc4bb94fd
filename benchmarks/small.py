"""Small data with default parameters, as somebody tries it who changes an import: time and score of
every estimator that scikit-learn has under the same name, of transformers and of searches.

Data are scikit-learn's own tables and, from the folder that `--data` names, the texts of
`real_text`. Times are those of `fit`, of nearest neighbours of `fit` and `predict`. Scores are
means over several splits, seeds changing with them, of accuracy or R^2.
"""

from __future__ import annotations

import functools
import importlib
import statistics
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .measure import has_peer, print_table, seconds_per_call
from .real_text import read_texts

__all__ = ["run"]

_TABLES = ("iris", "wine", "breast_cancer", "digits", "diabetes")
# Set -> whether its test set is apart
_TEXTS = {"sms_spam": False, "trec_qc": True, "rt_polarity": False, "newsgroups20": True}
_CLASSIFIERS = (
    "SGDClassifier", "Perceptron", "PassiveAggressiveClassifier", "LogisticRegression",
    "LinearSVC", "RidgeClassifier", "MultinomialNB", "BernoulliNB", "ComplementNB",
    "KNeighborsClassifier", "KernelSVC",
)  # fmt: skip
_REGRESSORS = (
    "SGDRegressor", "PassiveAggressiveRegressor", "LinearSVR", "LinearRegression", "Ridge",
    "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV",
)  # fmt: skip
_PEERS = ("linear_model", "svm", "naive_bayes", "neighbors", "preprocessing", "pipeline",
          "model_selection", "feature_extraction.text", "base")
_OTHER_NAMES = {"KernelSVC": "SVC"}
# Estimators of which scikit-learn's take minutes on 20 Newsgroups, and that are not for text
_NOT_FOR_NEWSGROUPS = ("LogisticRegression", "KNeighborsClassifier")
_NOT_FOR_TEXT = ("KernelSVC",)
_SPLITS = 5
_LEAST_SECONDS = 0.003
_FEW_ROWS = 5


class Split(NamedTuple):
    """Rows to fit on and rows to score."""

    X: Any
    held_out: Any
    y: np.ndarray
    y_held_out: np.ndarray


def run(scale: float, rounds: int, data: str | None = None) -> None:
    """Print the table, slowest in proportion first."""
    if not has_peer("scikit-learn"):
        print("Skipped: scikit-learn is not installed.\n")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [*_tables(rounds), *_tools(rounds), *_texts(data, scale, rounds)]
    rows.sort(key=lambda row: row[2] / row[3])
    print(f"Milliseconds of CPU time, medians of {rounds} rounds in turns; the mean score of "
          f"{_SPLITS} splits (of one where there is a test set).\n")
    header = ["data", "what", "scikit-learn (ms)", "fastlin (ms)", "ratio",
              "scikit-learn's score", "fastlin's score"]
    print_table(header, [
        [title, what, f"{theirs * 1e3:.3g}", f"{ours * 1e3:.3g}", f"{theirs / ours:.2f}",
         *(f"{score:.4f}" for score in scores), *[""] * (2 - len(scores))]
        for title, what, theirs, ours, *scores in rows
    ])


@functools.cache
def _both(name: str) -> tuple[Any, Any]:
    """scikit-learn's and our object of a name."""
    import fastlin

    theirs = _OTHER_NAMES.get(name, name)
    modules = (importlib.import_module(f"sklearn.{module}") for module in _PEERS)
    peer = next(getattr(module, theirs) for module in modules if hasattr(module, theirs))
    return peer, getattr(fastlin, name)


def _made(name: str, seed: int = 0) -> list[Any]:
    """Two estimators with default parameters and the same seed, if they take any."""
    made = [kind() for kind in _both(name)]
    for model in made:
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
    return made


def _times(tasks: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Median CPU seconds of a call of each task, in turns."""
    for task in tasks:
        task()
    taken: list[list[float]] = [[] for _ in tasks]
    for _ in range(rounds):
        for times, task in zip(taken, tasks, strict=True):
            times.append(seconds_per_call(task, _LEAST_SECONDS))
    return [statistics.median(times) for times in taken]


def _fits(title: str, name: str, splits: list[Split], rounds: int) -> list[Any]:
    """A row of the table: fits on the first split, scores on all."""
    first = splits[0]
    if name == "KNeighborsClassifier":  # whose fit may leave all work for later
        tasks = [functools.partial(_fit_and_predict, model, first) for model in _made(name)]
    else:
        tasks = [functools.partial(model.fit, first.X, first.y) for model in _made(name)]
    scores = [
        [model.fit(X, y).score(held_out, y_held_out) for model in _made(name, seed)]
        for seed, (X, held_out, y, y_held_out) in enumerate(splits)
    ]
    return [title, name, *_times(tasks, rounds), *np.mean(scores, axis=0)]


def _fit_and_predict(model: Any, split: Split) -> None:
    """Both, of the rows held out."""
    model.fit(split.X, split.y).predict(split.held_out)


def _tables(rounds: int) -> Iterator[list[Any]]:
    """Rows of numeric tables, and of what else fitted models do with a few rows."""
    import sklearn.datasets
    from sklearn.model_selection import train_test_split

    for name in _TABLES:
        table = getattr(sklearn.datasets, f"load_{name}")()
        X, y, regression = table.data, table.target, name == "diabetes"
        splits = [
            Split(*train_test_split(X, y, random_state=seed, stratify=None if regression else y))
            for seed in range(_SPLITS)
        ]
        for estimator in _REGRESSORS if regression else _CLASSIFIERS:
            yield _fits(name, estimator, splits, rounds)
            if name in ("iris", "diabetes"):
                yield from _answers(name, estimator, splits[0], rounds)


def _answers(title: str, name: str, split: Split, rounds: int) -> Iterator[list[Any]]:
    """Rows of predictions and scores of a few rows."""
    few, y = split.held_out[:_FEW_ROWS], split.y_held_out[:_FEW_ROWS]
    models = [model.fit(split.X, split.y) for model in _made(name)]
    for method, given in (("predict", (few,)), ("predict_proba", (few,)), ("score", (few, y))):
        if all(hasattr(model, method) for model in models):
            tasks = [functools.partial(getattr(model, method), *given) for model in models]
            yield [title, f"{name}, {method} of {_FEW_ROWS} rows", *_times(tasks, rounds)]


def _tools(rounds: int) -> Iterator[list[Any]]:
    """Rows of what works on estimators, and of transformers of tables."""
    import sklearn.datasets

    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    learners = ("LogisticRegression", "SGDClassifier", "RidgeClassifier", "LinearSVC")
    for name in learners:
        models = _made(name)
        pairs = zip(_both("cross_val_score"), models, strict=True)
        tasks = [functools.partial(scores, model, X, y) for scores, model in pairs]
        theirs = [float(np.mean(task())) for task in tasks]
        yield ["breast_cancer", f"cross_val_score of {name}", *_times(tasks, rounds), *theirs]
        grid = {"alpha": [1e-4, 1e-3]} if hasattr(models[0], "alpha") else {"C": [0.1, 1.0]}
        searches = [kind(model, grid) for kind, model in
                    zip(_both("GridSearchCV"), models, strict=True)]
        tasks = [functools.partial(search.fit, X, y) for search in searches]
        times = _times(tasks, rounds)
        yield ["breast_cancer", f"GridSearchCV of {name}", *times,
               *(search.best_score_ for search in searches)]
    from sklearn.base import clone

    tasks = [functools.partial(clone, model) for model in _made("SGDClassifier")]
    yield ["", "clone of SGDClassifier", *_times(tasks, rounds)]
    pipes = [
        make(clone(transformer), clone(model)) for make, transformer, model in
        zip(_both("make_pipeline"), _made("PolynomialFeatures"), _made("Ridge"), strict=True)
    ]
    X, y = sklearn.datasets.load_diabetes(return_X_y=True)
    tasks = [functools.partial(pipe.fit, X, y) for pipe in pipes]
    times = _times(tasks, rounds)
    yield ["diabetes", "Pipeline of PolynomialFeatures and Ridge", *times,
           *(pipe.score(X, y) for pipe in pipes)]
    tasks = [functools.partial(made.fit_transform, X) for made in _made("PolynomialFeatures")]
    yield ["diabetes", "PolynomialFeatures", *_times(tasks, rounds)]
    words = np.array(["red", "green", "blue"], dtype=object)[(X[:, :6] * 1e4).astype(int) % 3]
    tasks = [functools.partial(made.fit_transform, words) for made in _made("OneHotEncoder")]
    yield ["442 rows of 6 words", "OneHotEncoder", *_times(tasks, rounds)]


def _texts(data: str | None, scale: float, rounds: int) -> Iterator[list[Any]]:
    """Rows of texts: tf-idf with default parameters, then classifiers on scikit-learn's matrix."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import train_test_split

    for name, apart in _TEXTS.items() if data is not None else ():
        parts = [read_texts(Path(data), name, part) for part in
                 (("train", "test") if apart else ("all",))]
        if None in parts:
            continue
        if apart:
            (train, y), (test, y_test) = parts
        else:
            train, test, y, y_test = train_test_split(*parts[0], random_state=0)
        most = int(scale * len(train))
        train, y = train[:most], y[:most]
        large = name == "newsgroups20"
        if not large:
            for vectorizer in ("CountVectorizer", "TfidfVectorizer"):
                tasks = [functools.partial(made.fit_transform, train) for made in _made(vectorizer)]
                yield [name, vectorizer, *_times(tasks, 1)]
        words = TfidfVectorizer()
        split = Split(words.fit_transform(train), words.transform(test), y, y_test)
        left_out = _NOT_FOR_TEXT + (_NOT_FOR_NEWSGROUPS if large else ())
        for estimator in _CLASSIFIERS:
            if estimator not in left_out:
                yield _fits(name, estimator, [split], 1 if large else min(rounds, 3))
