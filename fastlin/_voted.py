"""The voted perceptron (Freund & Schapire 1999): every weight vector that training passed through
votes, with the number of rows that it survived.

No vector is stored. Between two of them lies one mistake, so a model is the sequence of mistakes
and a copy of the rows that they were made on (`_mistakes`). The responses of all vectors to a row
follow from its products with the stored rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import voted as _kernel
from ._core.rows import Rows
from ._data import as_rows, rows_of
from ._learner import JointLearner
from ._mistakes import (
    chained,
    empty_log,
    grow_votes,
    joined,
    segment_of,
    starts_of,
    stored_rows,
)
from ._reductions import grown_pairs, is_reduced, pairs
from ._scores import score_rows

__all__ = ["VotedLearner", "VotedMixin"]

# Products held at a time (32 MB), multiplications per call of a kernel (about 50 ms), and most rows
# that are classified together: enough to pay for a pass over the stored rows.
_PRODUCTS = 1 << 22
_PRODUCTS_PER_CALL = 1 << 25
_MOST_ROWS = 1024
_ALL = np.empty(0, dtype=np.int64)


class VotedLearner(JointLearner):
    """One or K outputs, by the perceptron's steps, each mistake recorded in `log`."""

    def __init__(self, d, dtype, rule, n_outputs=1, memory=None):
        super().__init__(d, dtype, rule, n_outputs, memory)
        nothing = {"V": self.V[:0].copy(), "b": self.b[0].copy()}
        nothing["fit_intercept"] = rule["fit_intercept"]
        self.start = (memory or {}).get("start", nothing)
        self.log: list[dict[str, np.ndarray]] = []
        self._held_out: _Ballots | None = None
        self._counted = 0

    @property
    def memory(self) -> dict[str, Any]:
        """All that a later learner needs to go on, and the record of this one's mistakes, whose
        `which` are row numbers."""
        return {**super().memory, "start": self.start, "log": chained(self.log, self.n_outputs)}

    def start_from(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Begin at given weights of shape (K, d) and intercepts of shape (K,): the first voter."""
        super().start_from(coef, intercept)
        self.start = {**self.start, "V": self.V.copy(), "b": self.b[0].copy()}

    def _run(self, rule, X, y, weight, order, fetch):
        size = len(order)
        log = empty_log(size, self.n_outputs)
        state, n = _kernel.record(
            X, y, weight, order, fetch, rule, self.state, self.b[0], self.V, *log.values()
        )
        if n:
            self.log.append({name: part[:n].copy() for name, part in log.items()})
        return state

    def responses(self, X: Rows, rows: np.ndarray) -> np.ndarray:
        """Votes for the given rows, counted on from the last call, so that asking after every
        epoch costs no more than asking once."""
        if self._held_out is None:
            self._held_out = _Ballots(X, rows, self.start, np.zeros(self.n_outputs, dtype=bool))
        fresh = segment_of(X, [chained(self.log[self._counted :], self.n_outputs)])
        self._counted = len(self.log)
        for segment in joined([fresh]):
            stored = stored_rows(segment, X.shape[1], X.dtype, self.n_outputs)
            _count([self._held_out], X, rows, stored, segment["logs"], self.start["fit_intercept"])
        return self._held_out.shares(self.state["t"])


class _Ballots:
    """The running responses of one learner's weight vectors to the given rows of X (empty `rows`:
    all), and the votes so far. Outputs that are `absent` are never voted for."""

    def __init__(self, X: Rows, rows: np.ndarray, start: dict[str, np.ndarray], absent: np.ndarray):
        n, self.n_outputs = len(rows) or X.shape[0], len(start["b"])
        if len(start["V"]) not in (0, X.shape[1] * self.n_outputs):
            raise ValueError("The first vector of this voted perceptron is damaged; fit it again.")
        if len(start["V"]):
            W = start["V"].astype(X.dtype, copy=False).reshape(-1, self.n_outputs).T
            z = score_rows(X, W, start["b"], rows)
        else:
            z = np.tile(start["b"], (n, 1))
        self.clock = 1  # the first step: w_0 survives those before the first mistake
        if self.n_outputs == 1:
            self.z, self.top, self.votes = z[:, 0].copy(), None, np.zeros(n)
        else:
            z[:, absent] = -np.inf
            self.z, self.top = np.ascontiguousarray(z), z.argmax(axis=1)
            self.votes = np.zeros(z.shape)

    def vote(self, products: np.ndarray, log: dict[str, np.ndarray], fit_intercept: bool,
             start: int, stop: int) -> None:
        """Let the vectors that the log's mistakes end vote for the rows start..stop-1."""
        n, clock = len(log["which"]), self.clock
        piece = max(1, _PRODUCTS_PER_CALL // (stop - start))
        for first in range(0, n, piece):
            last, z, votes = min(first + piece, n), self.z[start:stop], self.votes[start:stop]
            if self.top is None:
                clock = _kernel.vote(
                    products, log["which"], log["when"], log["change"], fit_intercept, first, last,
                    clock, z, votes,
                )
            else:
                clock = _kernel.vote_joint(
                    products, log["which"], log["when"], log["change"], log["pair"],
                    fit_intercept, first, last, clock, z, self.top[start:stop], votes,
                )

    def shares(self, t: float) -> np.ndarray:
        """Votes after step t over their number, of shape (n, n_outputs): in [-1, 1] for one output,
        shares of a whole for several. The last vector votes with what it has survived so far."""
        votes, survived = self.votes.copy(), t + 1 - self.clock
        if self.n_outputs == 1:
            votes += np.where(self.z > 0, survived, -survived)
            return votes[:, None] / max(t, 1.0)
        votes[np.arange(len(votes)), self.top] += survived
        return votes / max(t, 1.0)


def _count(ballots: list[_Ballots], X: Rows, rows: np.ndarray, stored: Rows,
           logs: list[dict[str, np.ndarray]], fit_intercept: bool) -> None:
    """Let a segment's vectors of all learners vote; each product of two rows is taken once."""
    n, n_stored = len(rows) or X.shape[0], stored.shape[0]
    size = max(1, min(n, _MOST_ROWS, _PRODUCTS // n_stored))
    for start in range(0, n, size):
        stop = min(start + size, n)
        products = _products(X, rows, start, stop, stored)
        for ballot, log in zip(ballots, logs, strict=True):
            ballot.vote(products, log, fit_intercept, start, stop)
    for ballot, log in zip(ballots, logs, strict=True):
        if len(log["when"]):
            ballot.clock = int(log["when"][-1])


def _products(X: Rows, rows: np.ndarray, start: int, stop: int, stored: Rows) -> np.ndarray:
    """Inner products of all stored rows with `rows[start:stop]`."""
    n, d = stored.shape
    size = stop - start
    out = np.empty((n, size))
    piece = max(1, int(_PRODUCTS_PER_CALL / (size * (1 + stored.nnz / n))))
    pieces = [(first, min(first + piece, n)) for first in range(0, n, piece)]
    if X.layout == "dense" == stored.layout:
        for first, last in pieces:
            _kernel.dense_products(stored, first, last, X, rows, start, np.empty(0, X.dtype), out)
        return out
    entries = _n_entries(X, rows, start, stop)
    starts = np.zeros(d + 2, dtype=np.int64)
    owner, value = np.empty(entries, dtype=np.int32), np.empty(entries)
    _kernel.postings(X, rows, start, stop, starts, owner, value)
    for first, last in pieces:
        _kernel.products(stored, first, last, starts, owner, value, out)
    return out


def _n_entries(X: Rows, rows: np.ndarray, start: int, stop: int) -> int:
    """Stored entries of `rows[start:stop]`."""
    if X.indptr is None:
        return (stop - start) * (X.shape[1] if X.layout == "dense" else X.width)
    if len(rows) == 0:
        return int(X.indptr[stop] - X.indptr[start])
    chosen = rows[start:stop]
    return int((X.indptr[chosen + 1] - X.indptr[chosen]).sum())


class VotedMixin:
    """What `average="voted"` changes in a classifier trained by steps."""

    def _finish(self, tasks: list) -> None:
        super()._finish(tasks)
        vars(self).pop("_segments", None)
        if self.average == "voted":
            logs = [memory.pop("log") for memory in self._memories]
            self._segments = joined([segment_of(tasks[0].X, logs)])

    def _continue(self, rows: Rows, targets: list, groups: list[int], weight: Any) -> None:
        """One pass over the rows; the votes go on where they stood."""
        segments = vars(self).get("_segments", [])
        if hasattr(self, "_memories"):
            self._refuse_other_votes()
        super()._continue(rows, targets, groups, weight)
        if self.average == "voted":
            logs = [memory.pop("log") for memory in self._memories]
            self._segments = joined([*segments, segment_of(rows, logs)])

    def _grow(self, y: np.ndarray, classes: Any) -> np.ndarray:
        """The classes known so far, announced now, and found in y; the record follows them."""
        old, segments = getattr(self, "classes_", None), vars(self).get("_segments")
        starts = starts_of(getattr(self, "_memories", []))
        known = super()._grow(y, classes)
        if segments is None or len(known) == len(old):
            return known
        joint, places = self._is_joint(len(known)), np.searchsorted(known, old)
        if is_reduced(self, len(known)):
            code = vars(self).get("code_", pairs(2))
            self._segments = [
                {**segment, "logs": grown_pairs(segment["logs"], code, places, len(known),
                                                empty_log(0, 1))}
                for segment in segments
            ]  # fmt: skip
            return known
        grow_votes(self, starts, old, known, joint)
        return known

    def _refuse_other_votes(self) -> None:
        """Raise if what is asked for can't go on from what has been learnt."""
        if hasattr(self, "_segments") != (self.average == "voted"):
            raise ValueError(
                "average can't change to or from 'voted' between calls of partial_fit, got "
                f"{self.average!r}: the mistakes before would be unknown. Call fit, or a new model."
            )
        if self.average == "voted":
            first = next(memory for memory in self._memories if memory is not None)
            fitted = bool(first["start"]["fit_intercept"])
            if fitted != self.fit_intercept:
                raise ValueError(
                    "fit_intercept can't change between calls of partial_fit when average is "
                    f"'voted', got {self.fit_intercept!r} after {fitted!r}; call fit."
                )

    def scorer(self) -> Any:
        """Return a compiled copy of a linear model; votes are none, and are refused."""
        self._check_fitted("scorer")
        if hasattr(self, "_segments"):
            raise ValueError(
                "scorer() needs a linear model, but average='voted' made this one of many voters; "
                "fit it with average=True."
            )
        return super().scorer()

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the responses w.x + b or, for average="voted", the votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            For two classes one column: positive means ``classes_[1]``. Votes are divided by their
            number: they lie in [-1, 1] for two classes and for each class of "ovr", and are shares
            that sum to 1 for the joint rule. Those of a code are decoded like responses.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity.
        """
        self._check_fitted()
        if not hasattr(self, "_segments"):
            return super().decision_function(X)
        rows = rows_of(self, X, reset=False)
        if rows.dtype != self.coef_.dtype:
            rows = as_rows(rows, np.float64)
        starts = [memory["start"] for memory in self._memories]
        absent = np.isneginf(self.intercept_)
        joint = len(starts) == 1 and len(starts[0]["b"]) > 1
        ballots = [_Ballots(rows, _ALL, start, absent) for start in starts]
        for segment in self._segments:
            stored = stored_rows(segment, rows.shape[1], rows.dtype, len(starts[0]["b"]))
            _count(ballots, rows, _ALL, stored, segment["logs"], starts[0]["fit_intercept"])
        shares = np.hstack([
            ballot.shares(memory["state"]["t"])
            for ballot, memory in zip(ballots, self._memories, strict=True)
        ])
        if not joint:
            fixed = np.isinf(self.intercept_)
            shares[:, fixed] = self.intercept_[fixed]
        return self._decoded(shares[:, 0] if shares.shape[1] == 1 else shares)
