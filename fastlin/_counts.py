"""Counts of naive Bayes: one pass over the rows, smoothed logarithms, and limits at zero.

The rows are visited in the caller's order, and the counts of the next row's class are fetched while
one is added: rows that are read one after the other come by themselves, and the counts of all
classes, most of them in a cache, in time. Where these are more than a cache holds and rows long
enough to be read from all over memory, classes take turns, each with its rows as they come: then
counts of one class are in use at a time. (20 classes, ns an entry: 88 entries a row, 7 MB of counts
1.9, by class 2.9; 518 entries, 200 MB 5.0, by class 3.2.) Counts lie as they are published,
[class][feature]. Most counts of a large vocabulary are 0, and their logarithms are one number per
feature, which is computed once.

Where nothing is smoothed, probabilities of 0 are kept apart from the others: `W` holds the finite
parts and `V` a 1 wherever an entry multiplies the likelihood by 0, so that 0 * log(0) never occurs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import counts as _counts
from ._core.rows import Rows
from ._isa import ISA
from ._parallel import Cancelled, is_cancelled
from ._scores import rows_per_call

__all__ = ["add_counts", "in_the_limit", "largest", "scores", "smallest", "smoothed_logs",
           "smoothed_ratios"]  # fmt: skip

_ONES = np.empty(0)
_AS_THEY_COME = np.empty(0, np.int64)
# Bytes of counts and entries a row beyond which classes take turns
_NEAR_BYTES, _LONG_ROW = 1 << 25, 64
# Logarithms per call of the kernel: about 50 ms.
_NUMBERS_PER_CALL = 1 << 22


def smallest(X: Rows) -> float:
    """The smallest stored value, 0 without any."""
    if X.nnz == 0:
        return 0.0
    if X.values is None:
        return -1.0 if X.layout == "signed" and X.indices.min() < 0 else 1.0
    return float(X.values.min())


def largest(X: Rows) -> float:
    """The largest stored value, 0 without any."""
    return 0.0 if X.nnz == 0 else 1.0 if X.values is None else float(X.values.max())


def _look_for_the_end() -> None:
    """Raise if this work has been given up."""
    if is_cancelled():
        raise Cancelled


def _check_size(array: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse arrays that are not as large as kernels would take them to be."""
    if array.shape != shape:
        raise ValueError(
            f"The state of this model is damaged: an array has the shape {array.shape} in place "
            f"of {shape}; fit the model again."
        )


def _binary(X: Rows, threshold: float | None) -> tuple[bool, float]:
    """How kernels are told of a threshold, in the type of the rows; None leaves values as they
    are."""
    if threshold is None:
        return False, 0.0
    return True, min(float(threshold), float(np.finfo(X.dtype).max))


def _by_class(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """The rows class by class, in each as they come."""
    sizes, order = np.bincount(codes, minlength=n_classes), np.empty(len(codes), np.int64)
    _counts.sort_by_class(codes, np.cumsum(sizes) - sizes, order)
    return order


def add_counts(X: Rows, codes: np.ndarray, weight: np.ndarray | None, threshold: float | None,
               class_count: np.ndarray, feature_count: np.ndarray, fresh: bool) -> tuple:
    """(class_count, feature_count) with the rows X of the classes `codes` added to them.

    Fresh counts are added to in place, others where it takes one call of a kernel; for more, which
    Ctrl-C can end halfway, they are copied.
    """
    K, (n, d), piece = len(class_count), X.shape, rows_per_call(X)
    _check_size(feature_count, (K, d))
    class_count = class_count.copy()
    if n > piece and not fresh:
        feature_count = feature_count.copy()
    weight, binary = _ONES if weight is None else weight, _binary(X, threshold)
    in_turns = feature_count.nbytes > _NEAR_BYTES and X.nnz >= _LONG_ROW * n
    order = _by_class(codes, K) if in_turns else _AS_THEY_COME
    for start in range(0, n, piece):
        _look_for_the_end()
        _counts.count(X, *binary, codes, order, weight, feature_count, class_count, start,
                      min(start + piece, n))
    return class_count, feature_count


def _alike(whole: Any, alpha: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Both as contiguous arrays of one shape, which goes with that of the counts."""
    pair = np.broadcast_arrays(*(np.atleast_2d(a).astype(np.float64) for a in (whole, alpha)))
    if np.broadcast_shapes(pair[0].shape, shape) != shape:
        _check_size(pair[0], shape)
    return np.ascontiguousarray(pair[0]), np.ascontiguousarray(pair[1])


def smoothed_logs(counts: np.ndarray, sign: int, whole: Any, alpha: Any,
                  shift: np.ndarray | None = None, factor: float = 1.0) -> np.ndarray:
    """factor (log(whole + sign counts + alpha) - shift) of shape (K, d), stored by features, as
    scores want it: `whole` and `alpha` are numbers or of shape (d,), (K, 1) or (K, d), `shift` of
    shape (K,). The logarithm of 0 is -inf."""
    K, d = counts.shape
    out = np.empty((d, K))
    whole, alpha = _alike(whole, alpha, counts.shape)
    with np.errstate(divide="ignore"):
        log_whole = np.log(whole + alpha)
    shift, piece = np.zeros(K) if shift is None else shift, 1 + _NUMBERS_PER_CALL // K
    for start in range(0, d, piece):
        _look_for_the_end()
        _counts.smoothed_logs(
            ISA, counts, sign, whole, alpha, log_whole, shift, factor, out, start,
            min(start + piece, d),
        )  # fmt: skip
    return out.T


def smoothed_ratios(counts: np.ndarray, rest: np.ndarray, alpha: Any) -> tuple:
    """log(counts + alpha) - log(rest - counts + alpha) of shape (K, d), stored by features, and the
    sums per class of log(rest - counts + alpha) - log(rest + alpha), in one pass; `rest` and
    `alpha` as `whole` and `alpha` above, alpha > 0."""
    K, d = counts.shape
    out, sums, none = np.empty((d, K)), np.zeros(K), np.zeros(K)
    rest, alpha = _alike(rest, alpha, counts.shape)
    log_rest, piece = np.log(rest + alpha), 1 + _NUMBERS_PER_CALL // 2 // K
    ratio, zeros = np.log(alpha) - log_rest, np.zeros_like(alpha)
    for start in range(0, d, piece):
        _look_for_the_end()
        _counts.smoothed_ratios(
            ISA, counts, rest, alpha, log_rest, zeros, ratio, none, out, sums, start,
            min(start + piece, d),
        )  # fmt: skip
    return out.T, sums


def scores(X: Rows, threshold: float | None, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """W x + b of shape (n, K), W of shape (K, d), where x counts as [x > threshold] unless that is
    None. W is best stored by features."""
    n, d = X.shape
    K, binary = len(b), _binary(X, threshold)
    _check_size(W, (K, d))
    V, out, piece = np.ascontiguousarray(W.T), np.empty((n, K)), rows_per_call(X, K)
    for start in range(0, n, piece):
        _look_for_the_end()
        span = slice(start, min(start + piece, n))
        if X.layout != "dense":
            _counts.scores(X, *binary, V, b, out, span.start, span.stop)
            continue
        values = X.values[span]
        if binary[0]:
            values = values > X.dtype.type(binary[1])
        with np.errstate(over="ignore", invalid="ignore"):
            out[span] = np.asarray(values, dtype=np.float64) @ V + b
    return out


def in_the_limit(z: np.ndarray, misses: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """z where likelihoods have factors of 0, `misses` of them: the limit of factors that go to 0.

    A class with such a factor is out. Where misses are negative, factors grow without bound, and
    the classes with the most of them are left. Where no class is left, the prior decides.
    """
    fewest = np.minimum(misses.min(axis=1, keepdims=True), 0.0)
    z = np.where(misses > fewest, -np.inf, z)
    return np.where((z == -np.inf).all(axis=1, keepdims=True), prior, z)
