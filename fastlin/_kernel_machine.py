"""What learners with a kernel have in common: samples of any kind, classes, support vectors, and
the responses sum_i dual_coef_i K(x_i, x) + b."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from . import _parallel
from ._base import ClassifierMixin, Estimator
from ._exceptions import warn_convergence
from ._gram_rows import GramRows
from ._kernel_dual import KernelFit, solve_kernel
from ._labels import labels_of, weights_of
from ._params import (
    Callable,
    ClassWeight,
    Either,
    Instance,
    Integer,
    OneOf,
    RandomState,
    Real,
)
from ._problem import Problem
from ._random import spawn_seed
from ._similarity import NAMES, samples_of, scale_of, similarity_of
from ._validation import check_sample_weight, check_target

__all__ = ["DualMachine", "KernelMachine"]

# Rows of the Gram matrix that are always made at once
_FEW_ROWS = 1000
# Numbers of a block of the Gram matrix in predictions, and samples of a list in one
_BLOCK, _SAMPLES = 1 << 22, 4096
_NO_WEIGHTS = np.empty(0)


class KernelMachine(ClassifierMixin, Estimator):
    """Shared parameters' meaning, `fit` and predictions; subclasses learn."""

    _constraints: ClassVar = {
        "kernel": Either(OneOf(*NAMES), Callable()),
        "degree": Integer(0),
        "gamma": Either(OneOf("scale", "auto"), Real(0)),
        "coef0": Real(),
        "kernel_params": Either(Instance(dict), OneOf(None)),
        "cache_size": Real(0, closed="right"),
        "class_weight": ClassWeight(),
        "random_state": RandomState(),
        "n_jobs": Either(Integer(), OneOf(None)),
        "max_iter": Integer(1),
    }
    _fitted_attribute = "dual_coef_"
    # whether all rows of the Gram matrix are needed
    _needs_all: ClassVar[bool] = False
    # (gram, codes, weight, n_outputs, numbers of the outputs to learn) to the dual coefficients of
    # all samples and the intercepts: each learner has its own
    _learn: Any
    kernel: Any
    kernel_params: Any
    gamma: Any
    cache_size: float
    n_jobs: int | None

    def _live_tags(self) -> dict[str, Any]:
        lists = self.kernel in ("string", "spectrum", "tree")
        return {
            "pairwise": self.kernel == "precomputed", "two_d_array": not lists,
            "one_d_array": lists, "string": lists, "sparse": not lists,
        }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of samples
            The rows. For the kernels "string" and "spectrum" a list of str or of sequences of
            hashable symbols, for "tree" of trees in brackets, for "precomputed" the square Gram
            matrix, for a callable whatever it takes.
        y : array-like of shape (n_samples,)
            Class labels of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions; 0 removes a sample. Class weights multiply them.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid, or if fewer than two classes are left;
            the message says which and where.

        Warns
        -----
        ConvergenceWarning
            If the search ended before `tol` was reached.
        """
        self._check_params()
        samples = samples_of(self, X, True)
        n = samples.shape[0] if hasattr(samples, "shape") else len(samples)
        y = check_target(y, self, n_samples=n)
        weight = check_sample_weight(sample_weight, n)
        classes, codes = labels_of(self, y)
        gamma = scale_of(self.gamma, samples, weight)
        weight, absent = weights_of(self, classes, codes, weight)
        n_outputs = 1 if len(classes) == 2 else len(classes)
        places = [k for k in range(n_outputs) if n_outputs == 1 or k not in absent]
        similarity = similarity_of(self, gamma)
        held = similarity.hold(samples)
        kept = np.arange(n) if weight is None else np.flatnonzero(weight)
        gram = self._gram_rows(similarity, held, kept, len(places))
        weight = np.ones(len(kept)) if weight is None else weight[kept]
        coef, b = self._learn(gram, codes[kept], weight, n_outputs, places)
        self._publish(similarity, held, kept, coef, codes)
        self.intercept_, self.gamma_, self.classes_ = b, gamma, classes
        return self

    def _gram_rows(self, similarity: Any, held: Any, kept: np.ndarray, n_problems: int) -> GramRows:
        """The Gram matrix: at once where it has room, and where most of its rows will be needed or
        cost twice as much one by one."""
        n_bytes, whole = int(self.cache_size * 1e6), len(kept) == similarity.count(held)
        if self.kernel == "precomputed":
            matrix = similarity.gram(held)
            return GramRows(similarity, None, n_bytes,
                            matrix if whole else np.ascontiguousarray(matrix[np.ix_(kept, kept)]))
        if not whole:
            held = similarity.taken(held, kept)
        n = len(kept)
        wanted = self._needs_all or similarity.is_dear or n_problems > 1 or n <= _FEW_ROWS
        if wanted and 8 * n * n <= n_bytes:
            return GramRows(similarity, held, n_bytes, similarity.gram(held))
        return GramRows(similarity, held, n_bytes)

    def _publish(self, similarity: Any, held: Any, kept: np.ndarray, coef: np.ndarray,
                 codes: np.ndarray) -> None:
        """Set the support vectors and what belongs to them."""
        if not np.isfinite(coef).all():
            raise ValueError(
                "Floating-point overflow: no finite coefficients were found. Scale the samples, or "
                "lower degree."
            )
        used = np.flatnonzero(coef.any(axis=0))
        self.support_ = kept[used].astype(np.int32)
        self.dual_coef_ = np.ascontiguousarray(coef[:, used])
        self.n_support_ = np.bincount(codes[self.support_], minlength=int(codes.max()) + 1)
        self.support_vectors_ = similarity.given(
            held if self.kernel == "precomputed" else similarity.taken(held, kept[used])
        )
        if hasattr(self, "n_features_in_") and isinstance(self.support_vectors_, list):
            # of a fit before, on a matrix
            del self.n_features_in_
            vars(self).pop("feature_names_in_", None)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the responses.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of samples
            As in `fit`; for the kernel "precomputed" K of the samples with those of `fit`, of shape
            (n_samples, n_samples_fit).

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            One number per sample for two classes, positive for ``classes_[1]``; else one for each
            class.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity.
        """
        self._check_fitted("decision_function")
        samples = samples_of(self, X, False)
        similarity = similarity_of(self, self.gamma_)
        support = None
        if self.kernel != "precomputed" and len(self.support_):
            support = similarity.hold(self._support_samples())
        held = similarity.hold(samples)
        n, m = similarity.count(held), len(self.support_)
        out = np.empty((n, len(self.dual_coef_)))
        step = max(1, min(_BLOCK // max(1, m), n if hasattr(held, "X") else _SAMPLES))
        for first in range(0, n, step):
            rows = np.arange(first, min(first + step, n))
            out[rows] = self._responses(similarity, held, rows, support)
        return out[:, 0] if out.shape[1] == 1 else out

    def _responses(self, similarity: Any, held: Any, rows: np.ndarray, support: Any) -> np.ndarray:
        """Those of some samples."""
        if self.kernel == "precomputed":
            return held[rows][:, self.support_] @ self.dual_coef_.T + self.intercept_
        if support is None:
            return np.tile(self.intercept_, (len(rows), 1))
        return similarity.block(held, rows, support) @ self.dual_coef_.T + self.intercept_

    @property
    def coef_(self) -> np.ndarray:
        """The weights of a linear kernel, of shape (n_outputs, n_features); other kernels have
        none."""
        if self.kernel != "linear":
            raise AttributeError(f"coef_ is there for kernel='linear' only, not {self.kernel!r}.")
        return np.ascontiguousarray(self.dual_coef_ @ self.support_vectors_)

    def _support_samples(self) -> Any:
        """The support vectors, as the kernel takes them."""
        from ._data import as_rows

        found = self.support_vectors_
        return found if callable(self.kernel) or isinstance(found, list) else as_rows(found)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest response; the first one wins a tie.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of samples
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,), dtype of the labels

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity.
        """
        z = self.decision_function(X)
        return self.classes_.take(z > 0 if z.ndim == 1 else z.argmax(axis=1))


class DualMachine(KernelMachine):
    """Machines that solve a convex problem: one for two classes, else each class against the
    rest."""

    _constraints: ClassVar = {
        "C": Real(0, closed="right"),
        "tol": Real(0, closed="right"),
    }
    # () to the name of the loss
    _loss: Any
    C: float
    tol: float
    max_iter: int
    random_state: Any

    def _learn(self, gram: GramRows, codes: np.ndarray, weight: np.ndarray, n_outputs: int,
               places: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """The optimum of each problem."""
        positive = [1] if n_outputs == 1 else places
        seeds = spawn_seed(self.random_state, len(places))
        tasks = [
            partial(self._solve, gram, np.where(codes == k, 1.0, -1.0), weight, seed)
            for k, seed in zip(positive, seeds, strict=True)
        ]
        # rows that are made on the way belong to one fit at a time
        fits = _parallel.run(tasks, self.n_jobs if gram.is_whole else None)
        coef, b = np.zeros((n_outputs, gram.n)), np.full(n_outputs, -np.inf)
        n_iter = np.zeros(n_outputs, np.int32)
        self.objective_, self.duality_gap_ = np.zeros(n_outputs), np.zeros(n_outputs)
        for k, fit in zip(places, fits, strict=True):
            coef[k], b[k], n_iter[k] = fit.v, fit.intercept, fit.n_iter
            self.objective_[k] = fit.certificate.objective
            self.duality_gap_[k] = fit.certificate.relative_gap
        self.n_iter_ = n_iter
        self._warn(fits)
        return coef, b

    def _solve(self, gram: GramRows, y: np.ndarray, weight: np.ndarray,
               seed: np.ndarray) -> KernelFit:
        """The optimum of one problem."""
        even = bool((weight == weight[0]).all() and weight[0] == 1)
        problem = Problem(
            X=None,  # type: ignore[arg-type]  # what the loss asks for are responses
            y=y, loss=self._loss(), loss_parameter=1.0 if self._loss() != "log_loss" else 0.0,
            l2=1.0 / (float(self.C) * float(weight.sum())), weight=_NO_WEIGHTS if even else weight,
        )
        n_bytes = int(self.cache_size * 1e6)
        return solve_kernel(problem, gram, n_bytes, float(self.tol), self.max_iter, seed)

    def _warn(self, fits: list[KernelFit]) -> None:
        """A ConvergenceWarning with the gap reached, if a search was ended."""
        stopped = [fit for fit in fits if not fit.converged]
        if stopped:
            worst = max(stopped, key=lambda fit: fit.certificate.relative_gap)
            if worst.n_iter >= self.max_iter:
                advice = "raise max_iter or tol, or lower C"
            else:
                advice = ("no step gains more: lower C, or see whether the kernel is positive "
                          "semi-definite")
            warn_convergence(
                f"{type(self).__name__} stopped after {worst.n_iter} passes with a duality gap of "
                f"{worst.certificate.relative_gap:.1e} of the objective > tol={float(self.tol):g}; "
                f"{advice}."
            )
