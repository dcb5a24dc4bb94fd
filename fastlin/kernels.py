"""Kernels: similarities K(x, z) = phi(x).phi(z) of vectors, strings and trees.

Each function returns the Gram matrix of all pairs of two sets of samples, for
``kernel="precomputed"``, or is what a learner of `kernel_machines` uses by name. All are symmetric
and positive semi-definite.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ._core.rows import Rows
from ._data import as_rows
from ._params import Boolean, Either, Integer, OneOf, Real
from ._strings import (
    as_strings,
    spectrum_diagonal,
    spectrum_gram,
    subsequence_diagonal,
    subsequence_gram,
)
from ._trees import as_trees, tree_diagonal, tree_gram
from ._vectors import Vectors, dot_products, gaussian, in_strips, in_triangle, polynomial

__all__ = [
    "linear_kernel",
    "polynomial_kernel",
    "rbf_kernel",
    "spectrum_kernel",
    "string_subsequence_kernel",
    "tree_kernel",
]

_CONSTRAINTS = {
    "degree": Integer(0),
    "gamma": Either(Real(0), OneOf(None)),
    "coef0": Real(),
    "length": Integer(1),
    "decay": Real(0, 1, closed="right"),
    "normalize": Boolean(),
    "n_jobs": Either(Integer(), OneOf(None)),
}
# Rows that are normalised at a time
_STRIP = 64
# Sums of products below this have lost their digits.
_SMALLEST = 1e-290


def linear_kernel(X: Any, Y: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
    """Dot products x.z of all pairs of rows.

    Parameters
    ----------
    X : array-like, sparse matrix or Rows of shape (n_samples_X, n_features)
        The rows.
    Y : array-like, sparse matrix or Rows of shape (n_samples_Y, n_features), optional
        The others; X by default.
    n_jobs : int or None, default=None
        Threads; -1 is all cores.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y), dtype float64

    Raises
    ------
    ValueError
        If X or Y is not valid, if their columns differ, or if products overflow.

    References
    ----------
    .. [1] J. Mercer, "Functions of positive and negative type, and their connection with the
       theory of integral equations", Philosophical Transactions of the Royal Society A 209, 1909.

    Examples
    --------
    >>> from fastlin.kernels import linear_kernel
    >>> linear_kernel([[1.0, 2.0], [0.0, 1.0]])
    array([[5., 2.],
           [2., 1.]])
    """
    _check(n_jobs=n_jobs)
    A, B = _pair(X, Y, centred=False)
    return _of_vectors(partial(dot_products, A, B=B), A, B, n_jobs)


def polynomial_kernel(X: Any, Y: Any = None, degree: int = 3, gamma: float | None = None,
                      coef0: float = 1, *, n_jobs: int | None = None) -> np.ndarray:
    """(gamma x.z + coef0)^degree of all pairs of rows.

    With degree 2, gamma 1 and coef0 0 it is the dot product of the maps of (x1, x2) to
    (x1^2, sqrt(2) x1 x2, x2^2); coef0 > 0 adds the products of fewer factors.

    Parameters
    ----------
    X : array-like, sparse matrix or Rows of shape (n_samples_X, n_features)
        The rows.
    Y : array-like, sparse matrix or Rows of shape (n_samples_Y, n_features), optional
        The others; X by default.
    degree : int, default=3
        The power, >= 0.
    gamma : float, optional
        Factor of the dot product, >= 0; 1 / n_features by default.
    coef0 : float, default=1
        What is added to it; the kernel is positive semi-definite for coef0 >= 0.
    n_jobs : int or None, default=None
        Threads; -1 is all cores.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y), dtype float64

    Raises
    ------
    ValueError
        If an argument is not valid, if the columns differ, or if powers overflow.

    References
    ----------
    .. [1] B. E. Boser, I. M. Guyon, V. N. Vapnik, "A training algorithm for optimal margin
       classifiers", COLT 1992.

    Examples
    --------
    >>> from fastlin.kernels import polynomial_kernel
    >>> polynomial_kernel([[1.0, 2.0]], [[3.0, 1.0]], degree=2, gamma=1, coef0=0)
    array([[25.]])
    """
    _check(degree=degree, gamma=gamma, coef0=coef0, n_jobs=n_jobs)
    A, B = _pair(X, Y, centred=False)
    gamma = 1.0 / A.X.shape[1] if gamma is None else gamma
    work = partial(polynomial, A, B=B, degree=degree, gamma=gamma, coef0=coef0)
    return _of_vectors(work, A, B, n_jobs)


def rbf_kernel(X: Any, Y: Any = None, gamma: float | None = None, *,
               n_jobs: int | None = None) -> np.ndarray:
    """The Gaussian kernel exp(-gamma |x - z|^2) of all pairs of rows.

    A Gaussian of standard deviation sigma has gamma = 1 / (2 sigma^2).

    Parameters
    ----------
    X : array-like, sparse matrix or Rows of shape (n_samples_X, n_features)
        The rows.
    Y : array-like, sparse matrix or Rows of shape (n_samples_Y, n_features), optional
        The others; X by default.
    gamma : float, optional
        >= 0; 1 / n_features by default.
    n_jobs : int or None, default=None
        Threads; -1 is all cores.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y), dtype float64
        The diagonal is 1 where Y is not given.

    Raises
    ------
    ValueError
        If an argument is not valid, if the columns differ, or if distances overflow.

    References
    ----------
    .. [1] M. A. Aizerman, E. M. Braverman, L. I. Rozonoer, "Theoretical foundations of the
       potential function method in pattern recognition learning", Automation and Remote Control
       25, 1964.

    Examples
    --------
    >>> from fastlin.kernels import rbf_kernel
    >>> rbf_kernel([[0.0], [1.0]], gamma=0.5).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    _check(gamma=gamma, n_jobs=n_jobs)
    A, B = _pair(X, Y, centred=True)
    gamma = 1.0 / A.X.shape[1] if gamma is None else float(gamma)
    return _of_vectors(partial(gaussian, A, B=B, gamma=gamma), A, B, n_jobs)


def string_subsequence_kernel(S: Any, T: Any = None, length: int = 3, decay: float = 0.5,
                              normalize: bool = True, *, n_jobs: int | None = None) -> np.ndarray:
    """Subsequences of `length` symbols that two strings have in common, gaps weighed down.

    ``K(s, t) = sum_u sum_i sum_j decay^(l(i) + l(j))`` over all u of `length` symbols and the
    places i in s and j in t where u is found as a subsequence; l is the length of the stretch from
    the first symbol to the last [1]_. "cat" and "car" share "ca" alone: for length 2 that is
    decay^4.

    Parameters
    ----------
    S : list of n_samples_S str or sequences
        A string of characters, or any sequence of hashable symbols, such as a list of words.
    T : list of n_samples_T str or sequences, optional
        The others; S by default.
    length : int, default=3
        Symbols of a subsequence, >= 1.
    decay : float, default=0.5
        In (0, 1]: how a stretch loses with each symbol of its length.
    normalize : bool, default=True
        Whether to divide by sqrt(K(s, s) K(t, t)), so that length counts for nothing. Strings
        shorter than `length` have K = 0 with all, themselves too.
    n_jobs : int or None, default=None
        Threads; -1 is all cores.

    Returns
    -------
    ndarray of shape (n_samples_S, n_samples_T), dtype float64

    Raises
    ------
    TypeError
        If a sample is neither a string nor a sequence of hashable symbols.
    ValueError
        If an argument is not valid, or if sums overflow, or underflow before they are normalised.

    References
    ----------
    .. [1] H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini, C. Watkins, "Text classification
       using string kernels", JMLR 2, 2002.

    Examples
    --------
    >>> from fastlin.kernels import string_subsequence_kernel
    >>> string_subsequence_kernel(["cat"], ["car"], length=2, decay=0.5, normalize=False)
    array([[0.0625]])
    >>> string_subsequence_kernel([["the", "old", "cat"]], [["the", "cat"]], length=2).round(3)
    array([[0.333]])
    """
    _check(length=length, decay=decay, normalize=normalize, n_jobs=n_jobs)
    parts = as_strings(S) if T is None else as_strings(S, T)
    other = None if T is None else parts[1]
    gram = subsequence_gram(parts[0], other, length, float(decay), n_jobs)
    return _finished(gram, parts, length, normalize, other is None,
                     partial(subsequence_diagonal, length=length, decay=float(decay)))


def spectrum_kernel(S: Any, T: Any = None, length: int = 3,
                    normalize: bool = True) -> np.ndarray:
    """Words of `length` consecutive symbols that two strings have in common.

    K(s, t) is the sum over all such words of how often s has it times how often t has it [1]_.

    Parameters
    ----------
    S : list of n_samples_S str or sequences
        A string of characters, or any sequence of hashable symbols.
    T : list of n_samples_T str or sequences, optional
        The others; S by default.
    length : int, default=3
        Symbols of a word, >= 1.
    normalize : bool, default=True
        Whether to divide by sqrt(K(s, s) K(t, t)). Strings shorter than `length` have K = 0 with
        all, themselves too.

    Returns
    -------
    ndarray of shape (n_samples_S, n_samples_T), dtype float64

    Raises
    ------
    TypeError
        If a sample is neither a string nor a sequence of hashable symbols.
    ValueError
        If an argument is not valid.

    References
    ----------
    .. [1] C. Leslie, E. Eskin, W. S. Noble, "The spectrum kernel: a string kernel for SVM protein
       classification", Pacific Symposium on Biocomputing 7, 2002.

    Examples
    --------
    >>> from fastlin.kernels import spectrum_kernel
    >>> spectrum_kernel(["banana"], ["bandana"], length=2, normalize=False)
    array([[7.]])
    """
    _check(length=length, normalize=normalize)
    parts = as_strings(S) if T is None else as_strings(S, T)
    gram = spectrum_gram(parts[0], None if T is None else parts[1], length)
    return _finished(gram, parts, length, normalize, T is None,
                     partial(spectrum_diagonal, length=length))


def tree_kernel(S: Any, T: Any = None, decay: float = 0.5, normalize: bool = True, *,
                n_jobs: int | None = None) -> np.ndarray:
    """Fragments that two parse trees have in common.

    A fragment is a connected part of a tree that has, at each of its nodes, all children or none:
    ``K(s, t) = sum_f decay^size(f) count_f(s) count_f(t)`` over all fragments f, size being the
    number of productions [1]_.

    Parameters
    ----------
    S : list of n_samples_S str
        Trees in brackets, such as "(S (NP (D the) (N dog)) (VP (V barks)))": a label, then words
        or trees.
    T : list of n_samples_T str, optional
        The others; S by default.
    decay : float, default=0.5
        In (0, 1]: the weight of each production of a fragment.
    normalize : bool, default=True
        Whether to divide by sqrt(K(s, s) K(t, t)).
    n_jobs : int or None, default=None
        Threads; -1 is all cores.

    Returns
    -------
    ndarray of shape (n_samples_S, n_samples_T), dtype float64

    Raises
    ------
    TypeError
        If a sample is no string.
    ValueError
        If an argument is not valid, brackets don't match, sums overflow (the number of
        fragments grows with 2 to the size of a tree), or if two trees have more pairs of nodes with
        equal productions than fit into memory.

    References
    ----------
    .. [1] M. Collins, N. Duffy, "New ranking algorithms for parsing and tagging: kernels over
       discrete structures, and the voted perceptron", ACL 2002.

    Examples
    --------
    >>> from fastlin.kernels import tree_kernel
    >>> trees = ["(NP (D the) (N dog))", "(NP (D the) (N cat))"]
    >>> tree_kernel(trees, decay=1.0, normalize=False)
    array([[6., 3.],
           [3., 6.]])
    """
    _check(decay=decay, normalize=normalize, n_jobs=n_jobs)
    trees, counts = as_trees(S) if T is None else as_trees(S, T)
    gram = tree_gram(trees, counts[0], float(decay), n_jobs)
    if normalize and T is None:
        gram = _normalized_by_diagonal(gram)
    elif normalize:
        own = _finite(tree_diagonal(trees, counts[0], float(decay)))
        gram = _normalized(gram, own[: counts[0]], own[-counts[-1] :])
    return _finite(gram)


def _check(**arguments: Any) -> None:
    """Check arguments against their constraints."""
    for name, value in arguments.items():
        _CONSTRAINTS[name].check(name, value)


def _pair(X: Any, Y: Any, centred: bool) -> tuple[Vectors, Vectors]:
    """Two sets of rows with the same columns; one and the same, if there is no second."""
    rows: Rows = as_rows(X, np.float64)
    others = rows if Y is None else as_rows(Y, np.float64)
    if rows.shape[1] != others.shape[1]:
        raise ValueError(f"X has {rows.shape[1]} columns, but Y has {others.shape[1]}.")
    both_dense = rows.layout == others.layout == "dense"
    centre = others.values.reshape(others.shape).mean(axis=0) if centred and both_dense else None
    first = Vectors(rows, centre)
    return first, first if Y is None else Vectors(others, centre)


def _of_vectors(work: Callable[..., np.ndarray], A: Vectors, B: Vectors,
                n_jobs: int | None) -> np.ndarray:
    """The Gram matrix; exactly symmetric, where it is one of the same rows."""
    for each in (A, B):
        each.measure()  # before threads ask for it at once

    def block(rows: slice, begin: int = 0) -> np.ndarray:
        """Some rows of it, from a column on."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(work(rows=rows, begin=begin))

    if A is B:
        return in_triangle(block, len(A), n_jobs)
    return in_strips(block, len(A), len(B), n_jobs)


def _finished(gram: np.ndarray, parts: list, length: int, normalize: bool, symmetric: bool,
              diagonal: Callable[[Any], np.ndarray]) -> np.ndarray:
    """A Gram matrix of strings, normalised on request."""
    if not normalize:
        return _finite(gram)
    own = [np.diagonal(gram)] if symmetric else [_finite(diagonal(part)) for part in parts]
    for values, part in zip(own, parts, strict=True):
        if (values[part.order][part.lengths >= length] < _SMALLEST).any():
            raise ValueError(
                "The kernel underflows: a string of enough symbols has none in common with itself. "
                "Raise decay, or choose a smaller length."
            )
    return _finite(_normalized_by_diagonal(gram) if symmetric else _normalized(gram, *own))


def _normalized(gram: np.ndarray, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """K(s, t) / sqrt(K(s, s) K(t, t)), written over K; 0 where K(s, s) or K(t, t) is 0."""
    left, right = (np.sqrt(np.where(values > 0, values, 1.0)) for values in (own, others))
    roots = np.empty((min(_STRIP, len(gram)), len(right)))
    for first in range(0, len(gram), _STRIP):
        strip = gram[first : first + _STRIP]
        strip /= np.outer(left[first : first + _STRIP], right, out=roots[: len(strip)])
    return gram


def _normalized_by_diagonal(gram: np.ndarray) -> np.ndarray:
    """The same of a symmetric matrix; it stays symmetric, with a diagonal of 1 and 0."""
    own = _finite(np.diagonal(gram))
    found = _normalized(gram, own, own)
    found[np.diag_indices_from(found)] = own > 0
    return found


def _finite(gram: np.ndarray) -> np.ndarray:
    """The same, unless numbers have overflowed."""
    if not np.isfinite(gram).all():
        raise ValueError(
            "The kernel overflows: values of the samples are too large, or trees too large for "
            "this decay. Scale the columns, or lower decay, gamma or degree."
        )
    return gram
