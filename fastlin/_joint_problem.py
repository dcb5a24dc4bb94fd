"""The problem of K outputs whose loss is a joint one: softmax, sparsemax, the multi-class hinge.

    minimise over (W, b)   P = (1/S) sum_i s_i loss(W x_i + b, q_i) + l1 |W|_1 + (l2/2) |W|_2^2

with S = sum_i s_i and losses of the form that `fl_joint_losses.h` gives: q_i is a distribution over
the classes. For any p_i in the simplex, with sum_i s_i (q_i - p_i) = 0 where b is free,

    P >= D = (1/S) sum_i s_i (Omega0(q_i) - Omega(p_i)) - penalty*(V),
    V = (1/S) sum_i s_i (q_i - p_i) x_i^T,

and at the optimum p_i is where the maximum in the loss is taken. The counterpart of `_problem` for
one output. No array of n x K is made here: rows go by in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from ._blocks import room_for
from ._core import joint_blocks as _blocks
from ._core.rows import Rows
from ._isa import ISA
from ._multilabel import Labels
from ._parallel import Cancelled, is_cancelled
from ._problem import LOSS_CODES, Certificate
from ._scores import rows_per_call

__all__ = [
    "Distributions", "JointFit", "JointProblem", "Sums", "feasible", "inverse_of_bend",
    "least_subgradient", "shrunk", "times",
]  # fmt: skip

_NO_WEIGHTS = np.empty(0)
# Numbers in a block of responses: 2 MB.
_BLOCK = 1 << 18
_GROUP = 16
# Classes beyond which the Hessian in the intercepts is taken for diagonal, and only its diagonal is
# kept: for 10,000 classes all of it would be 800 MB.
_MANY_CLASSES = 64


@dataclass(frozen=True)
class Distributions:
    """A distribution over the classes for each row, as lists: the classes of row i are
    classes[first[i]:first[i + 1]], with shares that sum to 1."""

    first: np.ndarray  # int64
    classes: np.ndarray  # int32
    shares: np.ndarray  # float64
    n_classes: int

    @classmethod
    def of_codes(cls, codes: np.ndarray, n_classes: int) -> Distributions:
        """All of each row on one class."""
        n = len(codes)
        return cls(np.arange(n + 1, dtype=np.int64), codes.astype(np.int32), np.ones(n), n_classes)

    @classmethod
    def of_table(cls, table: np.ndarray) -> Distributions:
        """The rows of a dense table, whose entries are not below 0; each is divided by its sum,
        which is above 0."""
        rows, classes = np.nonzero(table)
        first = _starts_of(np.bincount(rows, minlength=len(table)))
        shares = table[rows, classes] / table.sum(axis=1)[rows]
        return cls(first, classes.astype(np.int32), shares, table.shape[1])

    @classmethod
    def of_labels(cls, labels: Labels) -> Distributions:
        """The same share for each label of a row; rows without any have an empty list."""
        K = len(labels.classes)
        each = np.repeat(np.arange(K, dtype=np.int32), np.diff(labels.ends))
        sizes = np.bincount(labels.rows, minlength=labels.n)
        order = np.argsort(labels.rows, kind="stable")
        shares = np.repeat(1.0 / np.maximum(sizes, 1), sizes)
        return cls(_starts_of(sizes), each[order], shares, K)

    def __len__(self) -> int:
        return len(self.first) - 1

    def taken(self, rows: np.ndarray) -> Distributions:
        """Those of some rows."""
        sizes = np.diff(self.first)[rows]
        first = _starts_of(sizes)
        at = np.repeat(self.first[:-1][rows] - first[:-1], sizes) + np.arange(first[-1])
        return Distributions(first, self.classes[at], self.shares[at], self.n_classes)

    def table(self, rows: np.ndarray) -> np.ndarray:
        """Dense ones of some rows."""
        part, out = self.taken(rows), np.zeros((len(rows), self.n_classes))
        at = np.repeat(np.arange(len(rows)), np.diff(part.first))
        np.add.at(out, (at, part.classes), part.shares)
        return out

    def mass(self, weight: np.ndarray) -> np.ndarray:
        """sum_i s_i q_i; no weights: all 1."""
        each = self.shares
        if len(weight):
            each = each * np.repeat(weight, np.diff(self.first))
        return np.bincount(self.classes, each, self.n_classes)


@dataclass(frozen=True)
class Sums:
    """What one pass over the rows adds up at (W, b)."""

    mean_loss: float
    slope: np.ndarray  # d mean loss / d b
    bend: np.ndarray | None  # d^2 mean loss / d b^2 or its diagonal, where it was asked for
    gradient: np.ndarray | None  # d mean loss / d W, packed, where it was asked for


@dataclass(frozen=True)
class JointProblem:
    """What is to be minimised; the arrays are checked and never written to."""

    X: Rows
    target: Distributions
    loss: str  # log_loss, sparsemax or hinge
    l1: float = 0.0
    l2: float = 0.0
    # sample weights, all above 0; empty: all 1
    weight: np.ndarray = field(default_factory=lambda: _NO_WEIGHTS)
    fit_intercept: bool = True
    positive: ClassVar[bool] = False

    @property
    def code(self) -> int:
        """The loss's number in the kernels."""
        return LOSS_CODES[self.loss]

    @property
    def n_classes(self) -> int:
        """K"""
        return self.target.n_classes

    @property
    def width(self) -> int:
        """K rounded up to what there are kernels for."""
        return int(_blocks.width(self.n_classes))

    @property
    def total_weight(self) -> float:
        """S"""
        return float(self.weight.sum()) if len(self.weight) else float(len(self.target))

    def shares_of(self, rows: np.ndarray) -> np.ndarray:
        """s_i / S"""
        if len(self.weight):
            return self.weight[rows] / self.total_weight
        return np.full(len(rows), 1.0 / len(self.target))

    def class_shares(self) -> np.ndarray:
        """(1/S) sum_i s_i q_i"""
        return self.target.mass(self.weight) / self.total_weight

    def first_intercept(self) -> np.ndarray:
        """That of a model without columns, where it has a formula; the least is that of a class
        whose share is no number."""
        if not self.fit_intercept or self.loss != "log_loss":
            return np.zeros(self.n_classes)
        logs = np.log(np.maximum(self.class_shares(), np.finfo(np.float64).tiny))
        return logs - logs.mean()

    # weights as the kernels have them

    def packed(self, coef: np.ndarray) -> np.ndarray:
        """W[group][feature][output] of coef[output][feature]."""
        d = coef.shape[1]
        W = np.zeros(d * self.width)
        for start, view in self.groups(W):
            part = coef[start : start + view.shape[1]]
            view[:, : len(part)] = part.T
        return W

    def unpacked(self, W: np.ndarray) -> np.ndarray:
        """The opposite."""
        d = self.X.shape[1]
        coef = np.empty((self.n_classes, d))
        for start, view in self.groups(W):
            part = coef[start : start + view.shape[1]]
            part[:] = view.T[: len(part)]
        return coef

    def groups(self, W: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """(first output, [feature][output]) of each group of packed weights."""
        d = len(W) // self.width
        for start in range(0, self.width, _GROUP):
            if is_cancelled():
                raise Cancelled
            size = min(_GROUP, self.width - start)
            yield start, W[start * d : (start + size) * d].reshape(d, size)

    # passes over the rows

    def blocks(self) -> Iterator[np.ndarray]:
        """Numbers of the rows, in pieces that let Ctrl-C through."""
        n = len(self.target)
        piece = max(1, min(rows_per_call(self.X, self.width), _BLOCK // self.width))
        for start in range(0, n, piece):
            if is_cancelled():
                raise Cancelled
            yield np.arange(start, min(start + piece, n))

    def evaluated(self, z: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(loss, p) of some rows at responses z."""
        value, p = np.empty(len(rows)), np.empty((len(rows), self.n_classes))
        target = self.target
        _blocks.losses(self.code, z, self.n_classes, rows, target.first, target.classes,
                       target.shares, value, p)
        return value, p

    def responses(self, W: np.ndarray, b: np.ndarray, rows: np.ndarray,
                  room: np.ndarray) -> np.ndarray:
        """W x_i + b of some rows that follow each other, up to the width."""
        K = self.n_classes
        if self.values is None:
            z = np.empty((len(rows), self.width))
            _blocks.respond(ISA, self.X, W, rows, z, room)
        else:
            z = np.zeros((len(rows), self.width))
            np.matmul(self._values_of(rows), next(self.groups(W))[1][:, :K], out=z[:, :K])
        z[:, :K] += b
        return z

    def responses_of_all(self, W: np.ndarray, b: np.ndarray, room: np.ndarray) -> np.ndarray:
        """W x_i + b of all rows."""
        z = np.empty((len(self.target), self.n_classes))
        for rows in self.blocks():
            z[rows] = self.responses(W, b, rows, room)[:, : self.n_classes]
        return z

    def add(self, by: np.ndarray, rows: np.ndarray, W: np.ndarray, room: np.ndarray) -> None:
        """W += sum_i by_i x_i^T over some rows that follow each other; `by` is as wide as
        responses."""
        if self.values is None:
            _blocks.add(ISA, self.X, by, rows, W, room)
            return
        K = self.n_classes
        next(self.groups(W))[1][:, :K] += self._values_of(rows).T @ by[:, :K]

    @cached_property
    def values(self) -> np.ndarray | None:
        """The rows as one array, where products by BLAS are faster than kernels for any layout."""
        X = self.X
        if X.layout != "dense" or X.dtype != np.float64 or self.width > _GROUP:
            return None
        return X.values.reshape(X.shape)

    def _values_of(self, rows: np.ndarray) -> np.ndarray:
        """Those of rows that follow each other, as in `blocks`."""
        return self.values[rows[0] : rows[-1] + 1]

    def added(self, by: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """sum_i by(rows)_i x_i^T, packed; `by` gives numbers up to K."""
        W, room = np.zeros(self.X.shape[1] * self.width), room_for(self.X)
        for rows in self.blocks():
            wide = np.zeros((len(rows), self.width))
            wide[:, : self.n_classes] = by(rows)
            self.add(wide, rows, W, room)
        return W

    def sums(self, W: np.ndarray, b: np.ndarray, with_bend: bool = False,
             with_gradient: bool = False, p_of_rows: np.ndarray | None = None) -> Sums:
        """The mean loss at (W, b) and what else is asked for, in one pass; p goes to
        `p_of_rows`."""
        K, room = self.n_classes, room_for(self.X)
        mean_loss, slope, bend = 0.0, np.zeros(K), None
        if with_bend:
            bend = np.zeros(K if K > _MANY_CLASSES else (K, K))
        gradient = np.zeros(len(W)) if with_gradient else None
        for rows in self.blocks():
            z = self.responses(W, b, rows, room)
            value, p = self.evaluated(z, rows)
            s = self.shares_of(rows)
            mean_loss += float(s @ value)
            if bend is not None:
                bend += self._bend(p, s)
            if p_of_rows is not None:
                p_of_rows[rows] = p
            p -= self.target.table(rows)
            p *= s[:, None]
            slope += p.sum(axis=0)
            if gradient is not None:
                z[:, :K], z[:, K:] = p, 0.0
                self.add(z, rows, gradient, room)
        return Sums(mean_loss, slope, bend, gradient)

    def _bend(self, p: np.ndarray, s: np.ndarray) -> np.ndarray:
        """sum_i s_i times the Hessian of the loss in its responses; of many classes its
        diagonal."""
        by, each = self.bend_parts(p, s)
        if self.n_classes > _MANY_CLASSES:
            return s @ by - each @ (by * by)
        # without waking the threads of BLAS for so little
        return np.diag(s @ by) - np.einsum("ik,il->kl", by * each[:, None], by)

    def bend_parts(self, p: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B, e): s_i times the Hessian of a row's loss is diag(s_i b_i) - e_i b_i b_i^T."""
        if self.loss == "log_loss":
            return p, s
        inside = (p > 0).astype(np.float64)
        return inside, s / inside.sum(axis=1)

    def bent(self, p: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The Hessian of the loss in its responses at p, times a direction: row by row."""
        if self.loss == "log_loss":
            t = along - np.einsum("ik,ik->i", p, along)[:, None]
            t *= p
            return t
        inside = p > 0
        t = np.where(inside, along, 0.0)
        mean = t.sum(axis=1, keepdims=True) / inside.sum(axis=1, keepdims=True)
        return np.where(inside, t - mean, 0.0)

    # both sides

    def penalty(self, W: np.ndarray) -> float:
        """l1 |W|_1 + (l2/2) |W|^2"""
        square = 0.5 * self.l2 * float(W @ W) if self.l2 else 0.0
        return square + (self.l1 * float(np.abs(W).sum()) if self.l1 else 0.0)

    def value(self, coef: np.ndarray, b: np.ndarray) -> float:
        """P at (coef, b)."""
        return self.sums(self.packed(coef), b).mean_loss + self.penalty(coef.ravel())

    def without_weights(self) -> tuple[np.ndarray, float]:
        """(b, P) of a model without columns, the best where that has a formula."""
        b, loss = self.first_intercept(), 0.0
        for rows in self.blocks():
            z = np.zeros((len(rows), self.width))
            z[:, : self.n_classes] = b
            loss += float(self.shares_of(rows) @ self.evaluated(z, rows)[0])
        return b, loss

    def dual_loss(self, p: np.ndarray, rows: np.ndarray) -> float:
        """(1/S) sum_i s_i (Omega0(q_i) - Omega(p_i)) over some rows."""
        target, s = self.target, self.shares_of(rows)
        if self.loss == "log_loss":
            with np.errstate(divide="ignore", invalid="ignore"):
                omega = np.where(p > 0, p * np.log(p), 0.0).sum(axis=1)
            return float(-(s @ omega))
        if self.loss == "hinge":
            own = p[np.arange(len(rows)), target.classes[target.first[rows]]]
            return float(s @ (1.0 - own))
        q = target.table(rows)
        return float(0.5 * (s @ ((q * q).sum(axis=1) - (p * p).sum(axis=1))))

    def dual_side(self, near: Callable[[np.ndarray], np.ndarray], mass: np.ndarray
                  ) -> tuple[np.ndarray, float]:
        """(V, D) at feasible p, near those that `near` gives for some rows, whose mean over all is
        `mass`. Where there is L1 alone and |v| is above it somewhere, D is that of p moved towards
        q; V is not."""
        bounds: list[float] = []
        wanted = self.class_shares()

        def probabilities(rows: np.ndarray) -> np.ndarray:
            p = near(rows)
            return feasible(p, mass, wanted) if self.fit_intercept else p

        def pulls(rows: np.ndarray) -> np.ndarray:
            p = probabilities(rows)
            bounds.append(self.dual_loss(p, rows))
            return (self.target.table(rows) - p) * self.shares_of(rows)[:, None]

        V = self.added(pulls)
        if self.l2:
            excess = shrunk(V, self.l1)
            return V, float(sum(bounds)) - float(excess @ excess) / (2 * self.l2)
        largest = float(np.abs(V).max(initial=0.0))
        if not 0 < self.l1 < largest:
            return V, float(sum(bounds))
        kept, bound = self.l1 / largest, 0.0
        for rows in self.blocks():
            p = kept * probabilities(rows) + (1 - kept) * self.target.table(rows)
            bound += self.dual_loss(p, rows)
        return V, bound

    def mean_loss_of_nothing(self) -> float:
        """The mean loss at W = 0, b = 0, whose size bounds what rounding leaves of P."""
        K = self.n_classes
        if self.loss == "log_loss":
            return float(np.log(K))
        if self.loss == "hinge":
            return 1.0
        return 0.5 * (1.0 - 1.0 / K)

    def certificate(self, objective: float, dual: float) -> Certificate:
        """From P and D."""
        return Certificate.of(objective, dual, self.mean_loss_of_nothing())


@dataclass(frozen=True)
class JointFit:
    """What a solver of several outputs answers."""

    coef: np.ndarray  # (K, d), float64
    intercept: np.ndarray  # (K,)
    n_iter: int
    certificate: Certificate
    converged: bool
    # p of each row, where the solver has it: a warm start
    dual: np.ndarray | None = None


def shrunk(V: np.ndarray, by: float | np.ndarray) -> np.ndarray:
    """V with each entry nearer to 0 by so much."""
    return V - np.clip(V, -by, by) if np.any(by) else V


def least_subgradient(W: np.ndarray, g: np.ndarray, l1: float) -> np.ndarray:
    """That of least length of an objective with so much L1, whose smooth part has the gradient g
    at W."""
    return np.where(W != 0, g + l1 * np.sign(W), shrunk(g, l1)) if l1 else g


def feasible(p: np.ndarray, mass: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Points of the simplex near p whose weighted sum is `wanted`, that of all p being `mass`: what
    classes have too much of goes to those that have too little, in each row."""
    ratio = np.minimum(1.0, wanted / np.maximum(mass, 1e-300))
    short = np.maximum(wanted - mass, 0.0)
    total = short.sum()
    if not total > 0:
        return p
    moved = p * ratio
    moved += (p.sum(axis=1) - moved.sum(axis=1))[:, None] * (short / total)
    return moved


def _starts_of(sizes: np.ndarray) -> np.ndarray:
    """Where lists of these sizes begin, one after the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def inverse_of_bend(bend: np.ndarray) -> np.ndarray:
    """The inverse of a Hessian in the intercepts, which is flat along (1, ..., 1), where no step
    goes: that direction is given a curvature. Of a diagonal a diagonal."""
    K, diagonal = len(bend), bend if bend.ndim == 1 else np.diagonal(bend)
    size = max(float(diagonal.sum()) / K, 1e-12)
    if bend.ndim == 1:
        return 1.0 / np.maximum(diagonal, 1e-8 * size)
    return np.linalg.pinv(bend + size / K, hermitian=True)


def times(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A v, where A may be its diagonal alone."""
    return A * v if A.ndim == 1 else A @ v
