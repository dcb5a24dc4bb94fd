"""Several classes by a code of binary problems: one against one, and error-correcting codes.

A code is a matrix M of K classes x m columns with entries -1, 0 and +1 (Allwein, Schapire & Singer
2000, "Reducing multiclass to binary: a unifying approach for margin classifiers", JMLR 1). Column s
is a binary problem: rows of class k have the target M[k, s], and take no part where it is 0. A row
x gets the m responses f(x) of these learners, and the class whose row of the code is nearest:

    hamming   sum_s (1 - sign(M[k, s] f_s(x))) / 2, in which an entry of 0 counts 1/2
    loss      sum_s L(M[k, s] f_s(x)) for the loss L that the learners minimise
    votes     one vote for each problem that k wins; the sums of the responses break ties

The last is for one against one, as in scikit-learn. Scores are what is small, negated, so that the
largest wins. A class that no row stands for has a row of zeros, and the score -infinity.

The targets of a column are made when its learner is trained and forgotten thereafter: one against
one of 100 classes has 4,950 columns.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ._core import losses as _losses
from ._params import Either, Instance, Integer, OneOf
from ._targets import listed

__all__ = [
    "CODES", "JOINT", "Column", "OutputCode", "code_for", "code_in_stream", "columns_of", "decoded",
    "grown_pairs", "is_reduced", "keep_code", "pairs", "refuse_growth",
]  # fmt: skip

# Words for the joint form of a loss; the latter two are scikit-learn's.
JOINT = ("joint", "multinomial", "crammer_singer")
# Columns of a random code for K classes, as in the paper
_COLUMNS = {"dense": 10, "sparse": 15}
_SIGNS = {
    "dense": np.array([-1, 1], dtype=np.int8),
    "sparse": np.array([-1, 0, 0, 1], dtype=np.int8),
}
_MOST_COLUMNS = 10_000
_MOST_EXHAUSTIVE = 11
# The best of so many draws is taken, or of fewer where multiplications get more than so many.
_MOST_DRAWS, _MOST_WORK = 200, 2e7
# Rows that are decoded at a time
_BLOCK = 1 << 14
# Responses and losses beyond these make no difference, and sums of them do not overflow.
_MOST_RESPONSE, _MOST_LOSS = 1e150, 1e300


@dataclass(frozen=True, slots=True)
class OutputCode:
    """An error-correcting code for several classes, as the parameter `multi_class` of a classifier.

    Each of its columns sets some classes against others, and the class whose row is nearest to the
    responses of all these binary learners is predicted [1]_. With two classes there is nothing to
    encode, and nothing changes.

    Parameters
    ----------
    kind : {"dense", "sparse", "exhaustive"}, default="dense"
        "dense" draws all signs at random; "sparse" leaves each class out of half of the columns;
        "exhaustive" has all 2^(K-1) - 1 ways of parting K classes in two, for up to 11 classes. Of
        many draws the one is taken whose least Hamming distance between two rows is largest; no
        column comes twice, nor with its signs reversed.
    size : int or None, default=None
        Most columns of a random code: a few classes have fewer that differ, and then all of them
        are taken. None is ``ceil(10 log2 K)`` for dense and ``ceil(15 log2 K)`` for sparse codes.
    decoding : {"loss", "hamming"}, default="loss"
        What is near: a small sum of the learner's own loss over the columns, or few columns whose
        sign is wrong.
    random_state : int, default=0
        Seed of the draws. The same seed and number of classes give the same code, whatever the
        rows are.

    Raises
    ------
    InvalidParameterError
        If a parameter is not valid; a ValueError and a TypeError.

    References
    ----------
    .. [1] E. L. Allwein, R. E. Schapire, Y. Singer, "Reducing multiclass to binary: a unifying
       approach for margin classifiers", JMLR 1, 2000.
    .. [2] T. G. Dietterich, G. Bakiri, "Solving multiclass learning problems via error-correcting
       output codes", JAIR 2, 1995.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LogisticRegression, OutputCode
    >>> OutputCode("exhaustive").code(3)
    array([[-1, -1, -1],
           [ 1, -1,  1],
           [-1,  1,  1]], dtype=int8)
    >>> X = np.repeat(np.eye(4), 5, axis=0)
    >>> model = LogisticRegression(multi_class=OutputCode("sparse", size=12))
    >>> model.fit(X, np.repeat(list("abcd"), 5)).code_.shape
    (4, 12)
    """

    kind: str = "dense"
    size: int | None = None
    decoding: str = "loss"
    random_state: int = 0

    def __post_init__(self):
        OneOf("dense", "sparse", "exhaustive").check("kind", self.kind)
        Either(Integer(1, _MOST_COLUMNS), OneOf(None)).check("size", self.size)
        OneOf("loss", "hamming").check("decoding", self.decoding)
        Integer(0).check("random_state", self.random_state)
        if self.kind == "exhaustive" and self.size is not None:
            raise ValueError(
                f"size must be None for kind 'exhaustive', got {self.size!r}: such a code has all "
                "columns that there are. Use kind='dense'."
            )

    def _asdict(self) -> dict[str, Any]:
        """The parameters, for files."""
        return asdict(self)

    def code(self, n_classes: int) -> np.ndarray:
        """Return the code for a number of classes.

        Parameters
        ----------
        n_classes : int
            Number of classes, >= 2.

        Returns
        -------
        ndarray of shape (n_classes, n_columns), dtype int8
            Entries -1, 0 and +1; a row per class.

        Raises
        ------
        ValueError
            If these are too many classes for an exhaustive code, or for `size` columns.
        """
        Integer(2).check("n_classes", n_classes)
        K, sparse = int(n_classes), self.kind == "sparse"
        if K == 2:
            return pairs(2)
        if self.kind == "exhaustive":
            if K > _MOST_EXHAUSTIVE:
                raise ValueError(
                    f"kind 'exhaustive' has 2^(K-1) - 1 columns and takes at most "
                    f"{_MOST_EXHAUSTIVE} classes, got {K}; use OutputCode(kind='dense')."
                )
            return _all_columns(K, False)
        least = math.ceil(math.log2(K))
        if self.size is not None and self.size < least:
            raise ValueError(
                f"size must be at least {least} to tell {K} classes apart, got {self.size}; raise "
                "it, or leave it at None."
            )
        wanted = math.ceil(_COLUMNS[self.kind] * math.log2(K)) if self.size is None else self.size
        there = (3**K - 2 ** (K + 1) + 1) // 2 if sparse else 2 ** (K - 1) - 1
        if wanted >= there:
            return _all_columns(K, sparse)
        return _best_draw(K, int(wanted), self.kind, np.random.default_rng(int(self.random_state)))


class _CodeGiven(Instance):
    """An `OutputCode`."""

    def good_values(self):
        return [OutputCode(), OutputCode("sparse", 5, "hamming", 3), OutputCode("exhaustive")]


# What `multi_class` may be beside the words that a class has of its own
CODES = Either(OneOf("ovr", "ovo", "ecoc"), _CodeGiven(OutputCode))


def pairs(n_classes: int) -> np.ndarray:
    """The code of one against one: a column for each pair of classes, the second one positive."""
    first, second = np.triu_indices(n_classes, 1)
    code = np.zeros((n_classes, len(first)), dtype=np.int8)
    places = np.arange(len(first))
    code[first, places], code[second, places] = -1, 1
    return code


def _all_columns(K: int, sparse: bool) -> np.ndarray:
    """All columns that have both signs and differ, signs reversed or not."""
    digits, base = [-1, 0, 1] if sparse else [-1, 1], 3 if sparse else 2
    numbers = np.arange(base**K)
    columns = np.array(digits, dtype=np.int8)[numbers // base ** np.arange(K)[:, None] % base]
    both = (columns.min(axis=0) < 0) & (columns.max(axis=0) > 0)
    # of two that are each other's negative, the one that begins with -1
    return np.ascontiguousarray(columns[:, both & (_first_signs(columns.T) < 0)])


def _first_signs(columns: np.ndarray) -> np.ndarray:
    """The first entry other than 0 of each row of an array of columns."""
    return columns[np.arange(len(columns)), (columns != 0).argmax(axis=1)]


def _best_draw(K: int, size: int, kind: str, random: np.random.Generator) -> np.ndarray:
    """The best of many random codes."""
    n_draws = int(np.clip(_MOST_WORK / (float(K) * K * size), 1, _MOST_DRAWS))
    draws = (_drawn(K, size, kind, random, np.empty((0, K), np.int8)) for _ in range(n_draws))
    best = max(draws, key=_separation)
    if _separation(best)[0]:
        return best
    # the classes' numbers in binary digits tell any two of them apart
    digits = np.arange(K) >> np.arange(math.ceil(math.log2(K)))[:, None] & 1
    return _drawn(K, size, kind, random, (2 * digits - 1).astype(np.int8))


def _drawn(K: int, size: int, kind: str, random: np.random.Generator,
           given: np.ndarray) -> np.ndarray:
    """A random code whose columns differ and have both signs; the given ones are among them."""
    found: dict[bytes, np.ndarray] = {}
    block = given
    while len(found) < size:
        block = block[(block.min(axis=1, initial=1) < 0) & (block.max(axis=1, initial=-1) > 0)]
        alike = block * _first_signs(block)[:, None]
        for key, column in zip(alike, block, strict=True):
            found.setdefault(key.tobytes(), column)
        block = _SIGNS[kind][random.integers(0, len(_SIGNS[kind]), (size, K))]
    return np.array(list(found.values())[:size]).T.copy()


def _separation(code: np.ndarray) -> tuple[bool, float]:
    """(whether some column tells any two classes apart, least Hamming distance of two rows)"""
    M = code.astype(np.float64)
    agreement, shared = M @ M.T, np.abs(M) @ np.abs(M).T
    above = np.triu_indices(len(M), 1)
    opposed = (shared - agreement)[above].min() / 2
    return bool(opposed > 0), float(M.shape[1] - agreement[above].max()) / 2


@dataclass(frozen=True)
class Column:
    """A binary problem of a code."""

    codes: np.ndarray
    signs: np.ndarray

    def part(self, weight: np.ndarray | None) -> tuple:
        """(targets of +-1, weights or None, mask of the rows that take part); those of other rows
        don't count."""
        member = (self.signs != 0)[self.codes]
        y = np.where(self.signs > 0, 1.0, -1.0)[self.codes]
        return y, None if weight is None else np.where(member, weight, 0.0), member


def columns_of(code: np.ndarray, codes: np.ndarray) -> list[Column]:
    """The binary problems of a code for rows with these class numbers."""
    return [Column(codes, signs) for signs in code.T]


def _reduction_of(estimator: Any) -> Any:
    """ "ovo", an OutputCode, or None for anything else that `multi_class` may be."""
    given = getattr(estimator, "multi_class", "ovr")
    if isinstance(given, OutputCode):
        return given
    return {"ovo": "ovo", "ecoc": OutputCode()}.get(given) if isinstance(given, str) else None


def is_reduced(estimator: Any, n_classes: int = 3) -> bool:
    """Whether so many classes are reduced to the columns of a code."""
    return n_classes > 2 and _reduction_of(estimator) is not None


def code_for(estimator: Any, n_classes: int, absent: Any = ()) -> np.ndarray | None:
    """The code that `multi_class` asks for, or None; absent classes have rows of zeros."""
    code = _fresh_code(estimator, n_classes, absent)
    if n_classes > 2 and getattr(estimator, "warm_start", False) and hasattr(estimator, "coef_"):
        old = vars(estimator).get("code_")
        same = code is old if code is None or old is None else np.array_equal(code, old)
        if not same:
            raise ValueError(
                "warm_start goes on from what another multi_class, or other classes with weight 0, "
                "have learnt; fit with warm_start=False."
            )
    return code


def _fresh_code(estimator: Any, n_classes: int, absent: Any = ()) -> np.ndarray | None:
    """The code that `multi_class` asks for, whatever came before."""
    reduction = _reduction_of(estimator)
    if reduction is None:
        return None
    present = np.setdiff1d(np.arange(n_classes), absent)
    part = pairs(len(present)) if reduction == "ovo" else reduction.code(len(present))
    code = np.zeros((n_classes, part.shape[1]), dtype=np.int8)
    code[present] = part
    return code


def code_in_stream(estimator: Any, n_classes: int, codes: np.ndarray, known: Any
                   ) -> np.ndarray | None:
    """The code of `partial_fit`: that of the first call."""
    old = vars(estimator).get("code_")
    if hasattr(estimator, "coef_") and n_classes > 2:
        if vars(estimator).get("_reduction") != _reduction_of(estimator):
            raise ValueError(
                "multi_class can't change while training goes on from what was learnt; use fit."
            )
    if old is None or len(old) != n_classes:
        return _fresh_code(estimator, n_classes)
    lost = np.setdiff1d(codes, np.flatnonzero(old.any(axis=1)))
    if len(lost):
        raise ValueError(
            f"y holds the class {listed(known[lost[:1]].tolist())}, whose rows all had weight 0 in "
            "fit, so that code_ has zeros for it; call fit with rows of that class."
        )
    return old


def keep_code(estimator: Any, code: np.ndarray | None) -> None:
    """Set `code_` beside the weights of its columns, or remove that of an earlier fit, and what a
    fit to several labels per row has left."""
    for name in ("code_", "_reduction", "thresholds_"):
        vars(estimator).pop(name, None)
    if code is not None:
        estimator.code_, estimator._reduction = code, _reduction_of(estimator)


def refuse_growth(estimator: Any) -> None:
    """Raise where a code can't take in new classes."""
    if isinstance(_reduction_of(estimator), OutputCode):
        raise ValueError(
            "grow must be False for an error-correcting code, which is drawn for the classes of "
            "the first call, got True; pass all of them as classes, or use multi_class 'ovr' or "
            "'ovo'."
        )


def grown_pairs(items: list, code: np.ndarray, places: np.ndarray, n_classes: int,
                fresh: Any) -> list:
    """What belongs to the columns of a code of pairs, as it belongs to those of more classes; the
    old ones stand at `places`, and new columns get `fresh`."""
    wide = pairs(n_classes)
    number = {(int(c.argmin()), int(c.argmax())): k for k, c in enumerate(wide.T)}
    grown = [fresh] * wide.shape[1]
    for item, column in zip(items, code.T, strict=True):
        grown[number[int(places[column.argmin()]), int(places[column.argmax()])]] = item
    return grown


def decoded(estimator: Any, z: np.ndarray) -> np.ndarray:
    """The scores of the classes, of shape (n_samples, n_classes), from the responses of the
    columns' learners."""
    code, z = estimator.code_, z[:, None] if z.ndim == 1 else z
    if code.shape != (len(estimator.classes_), z.shape[1]):
        raise ValueError(
            f"code_ of this {type(estimator).__name__} has the shape {code.shape} for "
            f"{len(estimator.classes_)} classes and {z.shape[1]} learners: fit it again."
        )
    reduction, loss, parameter = estimator._reduction, *estimator._loss_of_columns()
    out = np.empty((len(z), len(code)))
    for start in range(0, len(z), _BLOCK):
        part = np.clip(z[start : start + _BLOCK], -_MOST_RESPONSE, _MOST_RESPONSE)
        if reduction == "ovo":
            scores = _votes(code, part)
        elif reduction.decoding == "hamming":
            scores = _nearness(code, part, _signs_wrong, 0.5)
        else:
            nothing = _losses_of(loss, parameter, np.zeros(1))[0][0]
            scores = _nearness(code, part, lambda f: _losses_of(loss, parameter, f), nothing)
        out[start : start + _BLOCK] = scores.T
    out[:, ~code.any(axis=1)] = -np.inf
    return out


def _signs_wrong(f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(1 where responses are not positive, 1 where they are)"""
    return (f <= 0).astype(np.float64), (f > 0).astype(np.float64)


def _losses_of(loss: int, parameter: float, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The losses of responses for the targets +1 and -1."""
    values = []
    for y in (1.0, -1.0):
        value, slope = np.empty(len(f)), np.empty(len(f))
        _losses.evaluate(loss, parameter, f, np.full(len(f), y), value, slope)
        values.append(np.minimum(value, _MOST_LOSS))
    return values[0], values[1]


def _nearness(code: np.ndarray, z: np.ndarray, distances: Any, nothing: float) -> np.ndarray:
    """Minus the sum of distances for each class and row; an entry of 0 counts `nothing`.

    Column by column, so that the sum of a row does not hang on the others."""
    total = np.zeros((len(code), len(z)))
    total += nothing * (code == 0).sum(axis=1, keepdims=True)
    for signs, f in zip(code.T, np.ascontiguousarray(z.T), strict=True):
        positive, negative = distances(f)
        total[signs > 0] += positive
        total[signs < 0] += negative
    return -total


def _votes(code: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Votes of each class and row; the sums of the responses, brought into (-1/3, 1/3), break
    ties."""
    votes, sums = np.zeros((len(code), len(z))), np.zeros((len(code), len(z)))
    for signs, f in zip(code.T, np.ascontiguousarray(z.T), strict=True):
        won = f > 0
        votes[signs > 0] += won
        votes[signs < 0] += ~won
        sums[signs > 0] += f
        sums[signs < 0] -= f
    return votes + sums / (3 * (np.abs(sums) + 1))
