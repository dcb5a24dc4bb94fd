"""The command `demo`: what fastlin does, on two small real data sets that come with it."""

from __future__ import annotations

import math
import time
from argparse import Namespace
from typing import Any

import numpy as np

from ._cli_encoder import ColumnEncoder
from ._cli_inspect import strongest
from ._cli_terminal import Progress, table_lines
from .datasets import load_mushrooms, load_sms_spam
from .model_selection import StratifiedKFold, cross_val_score
from .perceptron import Perceptron
from .sgd import SGDClassifier

__all__ = ["demo", "numpy_sgd"]

_ALPHA = 3e-6
_EPOCHS = 20
_TOP = 8


def numpy_sgd(X: Any, y: np.ndarray, alpha: float, epochs: int, seed: int | None) -> tuple:
    """Logistic regression by stochastic gradient descent as one writes it with NumPy.

    The same steps as those of ``SGDClassifier(loss="log_loss", penalty="l2", alpha=alpha)``: one
    row after the other in random order, the step 1 / (alpha (t0 + t)), and w kept as scale * v so
    that a step touches no other weights than those of its row.

    Parameters
    ----------
    X : csr_matrix of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,)
        Their labels, -1 or 1.
    alpha : float
        Strength of the L2 penalty.
    epochs : int
        Passes over the rows.
    seed : int or None
        Seed of the order; None keeps that of the rows.

    Returns
    -------
    w : ndarray of shape (n_features,)
    b : float
    """
    rng = np.random.default_rng(seed)
    indptr, indices, data = X.indptr.tolist(), X.indices, X.data
    labels = y.tolist()
    v, scale, b = np.zeros(X.shape[1]), 1.0, 0.0
    t, t0 = 0, alpha**-0.75
    for _ in range(epochs):
        for i in range(len(labels)) if seed is None else rng.permutation(len(labels)).tolist():
            columns = indices[indptr[i] : indptr[i + 1]]
            values = data[indptr[i] : indptr[i + 1]]
            step = 1.0 / (alpha * (t0 + t))
            margin = labels[i] * (scale * (v[columns] @ values) + b)
            # The derivative of log(1 + e^-m), written so that nothing overflows.
            slope = -labels[i] * (1.0 / (1.0 + math.exp(margin)) if margin < 700.0 else 0.0)
            scale *= 1.0 - step * alpha
            v[columns] -= step * slope / scale * values
            b -= step * slope
            t += 1
    return scale * v, b


def _accuracies(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Return the accuracy of each of five folds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(model, X, y, cv=folds, error_score="raise")


def _show_features(model: Any, encoder: ColumnEncoder) -> None:
    """Print the strongest features of both classes side by side."""
    sides = []
    for label, weights in zip(model.classes_[::-1], (model.coef_[0], -model.coef_[0]), strict=True):
        found = strongest(weights, encoder.name_of, _TOP)
        lines = table_lines([(f"{weight:+.1f}", name) for name, weight in found])
        sides.append([f"speaks for {label}:", *lines])
    for line in table_lines(list(zip(*sides, strict=True)), gap="     "):
        print(f"  {line}")


def _show_times(X: Any, y: np.ndarray, progress: Progress) -> None:
    """Print how long the same epochs take here and in plain NumPy, and what comes out."""
    # float64 and without averaging on both sides, so that both do the same work.
    model = SGDClassifier(
        "log_loss", alpha=_ALPHA, max_iter=_EPOCHS, tol=None, shuffle=True, random_state=0
    )
    start = time.process_time()
    model.fit(X, y)
    ours = time.process_time() - start
    progress.say("training the same in plain NumPy, some seconds")
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    start = time.process_time()
    w, b = numpy_sgd(X, signs, _ALPHA, _EPOCHS, seed=0)
    theirs = time.process_time() - start
    progress.clear()
    right = float(np.mean(((X @ w + b) > 0) == (signs > 0)))
    rows = [
        ("fastlin", f"{ours:7.3f} s", f"accuracy on these rows {model.score(X, y):.4f}"),
        ("plain NumPy", f"{theirs:7.3f} s", f"accuracy on these rows {right:.4f}"),
    ]
    print(f"\n  {_EPOCHS} passes over all {X.shape[0]:,} rows, one step per row (processor time):")
    for line in table_lines(rows):
        print(f"    {line}")
    print(f"    the same steps, {theirs / ours:.0f} times as fast")


def _spam(progress: Progress) -> None:
    """Learn to tell spam from other text messages."""
    messages, y = load_sms_spam(return_X_y=True)
    print(f"Spam in text messages: {len(y):,} of them, {np.sum(y == 'spam'):,} are spam.")
    print("Each word and each pair of neighbouring words is hashed to one of 262,144 columns.\n")
    encoder = ColumnEncoder(text="text", ngram_range=(1, 2))
    start = time.process_time()
    X = encoder.fit_transform(messages)
    seconds = time.process_time() - start
    progress.say("cross-validating")
    model = SGDClassifier(
        "log_loss", alpha=_ALPHA, average=True, max_iter=_EPOCHS, tol=None, random_state=0
    )
    scores = _accuracies(model, X, y)
    progress.clear()
    print(f"  messages to a matrix of {X.nnz:,} entries: {seconds:.3f} s")
    print(f"  accuracy on messages it has not seen (5 folds): {scores.mean():.4f}")
    print(f"  always saying {'ham'!r} would be:                   {np.mean(y == 'ham'):.4f}\n")
    model.fit(X, y)
    size = np.abs(model.coef_[0])
    encoder.explain(messages, np.argsort(-size)[:200].tolist())
    _show_features(model, encoder)
    _show_times(X, y, progress)


def _mushrooms(progress: Progress) -> None:
    """Learn to tell poisonous from edible mushrooms."""
    data, y = load_mushrooms(return_X_y=True)
    names = load_mushrooms().feature_names
    print(f"Mushrooms: {len(y):,} of them, {np.sum(y == 'poisonous'):,} are poisonous.")
    print(f"Each of the {len(names)} features (odor, colour, ...) becomes one column per value.\n")
    encoder = ColumnEncoder(categorical="all")
    X = encoder.fit_transform({name: data[:, j].tolist() for j, name in enumerate(names)})
    progress.say("cross-validating")
    options = {"average": True, "max_iter": _EPOCHS, "tol": None, "random_state": 0}
    model = SGDClassifier("log_loss", alpha=_ALPHA, **options)
    logistic = _accuracies(model, X, y).mean()
    perceptron = _accuracies(Perceptron(**options), X, y).mean()
    progress.clear()
    print("  accuracy on mushrooms it has not seen (5 folds):")
    print(f"    logistic regression by SGD:  {logistic:.4f}")
    print(f"    averaged perceptron:         {perceptron:.4f}\n")
    _show_features(model.fit(X, y), encoder)
    _show_times(X, y, progress)


_FAREWELL = """\
Your own data: fastlin cv DATA --label COL --text COL   (or --categorical COL,... or --numeric ...)
               fastlin train DATA MODEL --label COL --text COL, then fastlin predict and inspect
In Python:     from fastlin import HashingVectorizer, SGDClassifier, make_pipeline
               make_pipeline(HashingVectorizer(), SGDClassifier()).fit(texts, labels)"""


def demo(args: Namespace) -> int:
    """Run `fastlin demo`."""
    with Progress() as progress:
        for number, part in enumerate((_spam, _mushrooms), 1):
            print(f"{number}. ", end="")
            part(progress)
            print()
    print(_FAREWELL)
    return 0
