"""What estimators that solve a convex problem exactly have in common.

The flow of one `fit`: parameters are checked; X becomes `Rows`, y codes or numbers, class weights
fold into sample weights, rows of weight 0 go; each output becomes a `Problem` (`_problem`), which a
solver (`_solve`) takes to its optimum, in threads where there are several; the answers become
`coef_`, `intercept_` and the certificate.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from . import _parallel
from ._answered import check_finite, last_weights
from ._base import Estimator
from ._core.rows import Rows
from ._data import rows_of
from ._dual_kept import keep_duals, kept_dual
from ._exceptions import warn_convergence
from ._joint_fit import fit_joint
from ._joint_problem import Distributions, JointFit
from ._labels import labels_of, weights_of
from ._multilabel import Labels, check_warm_start, constant_labels, keep_labels, target_of
from ._params import Boolean, ClassWeight, Either, Integer, OneOf, RandomState, Real
from ._problem import Certificate, Fit, Problem
from ._progress import show_optima
from ._random import spawn_seed
from ._reductions import JOINT, code_for, columns_of, is_reduced, keep_code
from ._row_slices import rows_taken
from ._scores import longest_square
from ._sgd import LOSSES
from ._soft_labels import Shares
from ._solve import is_little, solve, solve_all
from ._validation import check_sample_weight

__all__ = [
    "ExactClassifierMixin", "ExactEstimator", "ExactRegressorMixin", "check_size", "check_squares",
]  # fmt: skip

_NO_WEIGHTS = np.empty(0)
# Squares of sums over rows of targets up to this size are far from overflow.
_MOST_TARGET = 1e100
_MOST_SQUARE = 1e200


class ExactEstimator(Estimator):
    """Shared parameters' meaning; subclasses give the constructor and `_terms`."""

    _constraints: ClassVar = {
        "fit_intercept": Boolean(),
        "max_iter": Integer(1),
        "tol": Real(0, closed="right"),
        "verbose": Either(Integer(0), Boolean()),
        "random_state": RandomState(),
        "n_jobs": Either(Integer(), OneOf(None)),
        "warm_start": Boolean(),
        "class_weight": ClassWeight(),
    }
    _fitted_attribute = "coef_"

    def _terms(self, total_weight: float) -> dict[str, Any]:
        """loss, loss_parameter, l1, l2, positive of the problem, from the parameters."""
        raise TypeError(f"{type(self).__name__} has no objective.")

    def _check_together(self) -> None:
        """Rules between two parameters."""

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> tuple:
        """(rows, checked target, weights or None)"""
        self._check_params()
        self._check_together()
        rows = rows_of(self, X, True, measured=True)
        y = self._read_target(y, rows.shape[0])
        if self._estimator_type == "regressor":
            check_squares(y)
        check_size(rows)
        return rows, y, check_sample_weight(sample_weight, rows.shape[0])

    def _read_target(self, y: Any, n_samples: int) -> Any:
        """A checked target."""
        return target_of(self, y, n_samples, numeric=self._estimator_type == "regressor")

    def _solve_all(self, rows: Rows, targets: list[np.ndarray], weight: np.ndarray | None,
                   places: list[int] | None = None, n_outputs: int = 1) -> None:
        """Solve for each target and publish the answers at their places among the outputs."""
        places = [0] if places is None else places
        if weight is None:
            weight = _NO_WEIGHTS
        else:
            kept = np.flatnonzero(weight)
            if len(kept) < len(weight):
                rows, weight = rows_taken(rows, kept), weight[kept]
                targets = [y[kept] for y in targets]
        total = float(weight.sum()) if len(weight) else float(rows.shape[0])
        terms = self._terms(total)
        starts = self._starts(places, n_outputs, rows.shape[1])
        seeds = spawn_seed(getattr(self, "random_state", None), len(targets))
        problems = [
            Problem(X=rows, y=y, weight=weight, fit_intercept=self.fit_intercept, **terms)
            for y in targets
        ]
        fits = self._fits(problems, seeds, starts)
        self._publish(fits, rows.dtype, places, n_outputs)
        self._warn(fits)

    def _fits(self, problems: list[Problem], seeds: list[np.ndarray],
              starts: list[Fit | None]) -> list[Fit]:
        """The optima of problems that differ in their targets."""
        return solve_all(
            problems, getattr(self, "solver", "auto"), float(self.tol), self._max_iter(), seeds,
            starts, getattr(self, "n_jobs", None),
        )

    def _solve(self, problem: Problem, seed: np.ndarray, start: Fit | None) -> Fit:
        """The optimum of one problem."""
        solver = getattr(self, "solver", "auto")
        return solve(problem, solver, float(self.tol), self._max_iter(), seed, start)

    def _max_iter(self) -> int:
        """Largest number of iterations, where None is a parameter's default."""
        return self.max_iter

    def _starts(self, places: list[int], n_outputs: int, d: int) -> list[Fit | None]:
        """What solvers start from: the last answers with warm_start, else nothing."""
        last = last_weights(self, n_outputs, d)
        if last is None:
            return [None] * len(places)
        coef, intercept = last
        nothing = Certificate(np.inf, np.inf, np.inf)
        return [
            Fit(coef[k], float(intercept[k]), 0, nothing, False,
                kept_dual(self, at, len(places)))
            if np.isfinite(intercept[k]) else None
            for at, k in enumerate(places)
        ]  # fmt: skip

    def _publish(self, fits: list[Fit], dtype: np.dtype, places: list[int],
                 n_outputs: int) -> None:
        """Set the public attributes, as scikit-learn shapes those of a regressor."""
        (fit,) = fits
        check_finite(fit.coef, fit.intercept, dtype, True)
        self.coef_, self.intercept_ = fit.coef.astype(dtype), fit.intercept
        keep_duals(self, [fit.dual])
        self.n_iter_ = fit.n_iter
        self.objective_, self.duality_gap_ = (
            fit.certificate.objective, fit.certificate.relative_gap,
        )

    def _warn(self, fits: list[Fit] | list[JointFit]) -> None:
        """A ConvergenceWarning with the gap reached, if a solver was stopped; on request a line
        about each answer."""
        if getattr(self, "verbose", 0):
            show_optima(fits)
        for fit in fits:
            self._check_certificate(fit.certificate)
        stopped = [fit for fit in fits if not self._is_reached(fit)]
        if stopped:
            worst = max(stopped, key=lambda fit: fit.certificate.relative_gap)
            gap, tol = worst.certificate.relative_gap, float(self.tol)
            # without an optimum a gap may be small and mean nothing
            beyond = f" > tol={tol:g}" if gap > tol else ""
            warn_convergence(
                f"{type(self).__name__} stopped after {worst.n_iter} iterations with a duality gap "
                f"of {gap:.{_digits(gap, tol)}e} of the objective{beyond}; " + self._advice(worst)
            )

    def _is_reached(self, fit: Any) -> bool:
        """Whether an answer is as good as `tol` asks for: the gap published counts, even where a
        solver has stopped for a gap that rounding makes uncertain."""
        return fit.converged and fit.certificate.relative_gap <= float(self.tol)

    def _check_certificate(self, certificate: Certificate) -> None:
        """Refuse an answer whose objective is no number."""
        if not np.isfinite(certificate.objective) or np.isnan(certificate.relative_gap):
            name = "C" if hasattr(self, "C") else "alpha"
            raise ValueError(
                f"{name} must be a number for which the objective does not overflow with these "
                f"rows and weights, got {getattr(self, name, np.nan):g}; bring {name}, "
                "sample_weight or the columns of X nearer to 1."
            )

    def _advice(self, fit: Fit | JointFit) -> str:
        """What helps where a fit was stopped."""
        if fit.n_iter >= self._max_iter():
            return f"raise max_iter or tol{self._easier()}."
        if self._is_free():
            return (
                "further steps gain no more: classes that a plane separates have no optimum "
                "without a penalty. Set a penalty, or lower tol to search longer."
            )
        return (
            "further steps gain no more than rounding errors. Scale the columns of X, or raise tol"
            f"{self._easier()}."
        )

    def _is_free(self) -> bool:
        """Whether a parameter that could set a penalty sets none."""
        return hasattr(self, "C") and not any(
            self._terms(1.0).get(name, 0.0) for name in ("l1", "l2")
        )

    def _easier(self) -> str:
        """What else would make the problem easier."""
        if self._is_free():
            return ", or set a penalty"
        return ", or lower C" if hasattr(self, "C") else ", or raise alpha"


def _digits(gap: float, tol: float) -> int:
    """Decimals that tell a gap from tol."""
    return next((k for k in range(1, 16) if gap <= tol or float(f"{gap:.{k}e}") > tol), 16)


def check_squares(y: np.ndarray) -> None:
    """Refuse targets so large that squares of errors would overflow."""
    if np.abs(y).max() > _MOST_TARGET:
        raise ValueError(
            f"y must hold numbers whose squares do not overflow, got {np.abs(y).max():g}; "
            "divide y by a constant."
        )


def check_size(rows: Rows) -> None:
    """Refuse values whose squares, or sums of these, overflow."""
    largest = longest_square(rows)
    if not largest <= _MOST_SQUARE:
        raise ValueError(
            f"X holds a row of length {np.sqrt(largest):.2g}: squares of its values overflow. "
            "Scale the columns of X."
        )


class ExactRegressorMixin:
    """`fit` of regressors."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions; 0 removes a row.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid; the message says which and where.

        Warns
        -----
        ConvergenceWarning
            If the search ended before `tol` was reached; the message states the gap and why.
        """
        rows, y, weight = self._begin(X, y, sample_weight)
        self._solve_all(rows, [y], weight)
        return self


class ExactClassifierMixin:
    """`fit` of classifiers: two classes are one problem, more are one against the rest or what
    `multi_class` says."""

    _tags: ClassVar = {"multi_label": True}

    def _is_joint(self, n_classes: int) -> bool:
        """Whether all classes are one problem."""
        return n_classes > 2 and getattr(self, "multi_class", "ovr") in JOINT

    def _joint_loss(self) -> str:
        """The name of the joint form of the loss."""
        return self._terms(1.0)["loss"]

    def _publish(self, fits: list[Fit], dtype: np.dtype, places: list[int],
                 n_outputs: int) -> None:
        """Set the public attributes; classes that no row stands for can't be predicted."""
        for fit in fits:
            check_finite(fit.coef, fit.intercept, dtype, False)
        if n_outputs == len(fits) == 1 and fits[0].coef.dtype == dtype:
            self.coef_ = fits[0].coef[np.newaxis]
        elif n_outputs == len(fits) and _are_rows(fits, fits[0].coef.base, dtype):
            self.coef_ = fits[0].coef.base.reshape(n_outputs, -1)
        else:
            self.coef_ = np.zeros((n_outputs, self.n_features_in_), dtype)
            for k, fit in zip(places, fits, strict=True):
                self.coef_[k] = fit.coef
        self.intercept_ = np.full(n_outputs, -np.inf)
        n_iter = np.zeros(n_outputs, dtype=np.int32)
        self.objective_, self.duality_gap_ = np.zeros(n_outputs), np.zeros(n_outputs)
        for k, fit in zip(places, fits, strict=True):
            self.intercept_[k], n_iter[k] = fit.intercept, fit.n_iter
            self.objective_[k] = fit.certificate.objective
            self.duality_gap_[k] = fit.certificate.relative_gap
        self.n_iter_ = self._counted(n_iter)
        keep_duals(self, [fit.dual for fit in fits])

    def _counted(self, n_iter: np.ndarray) -> Any:
        """What `n_iter_` says of the iterations of each problem."""
        return n_iter

    def _loss_of_columns(self) -> tuple[int, float]:
        """The loss that decoding sums, and its parameter."""
        terms = self._terms(1.0)
        loss = LOSSES[terms["loss"]]
        return loss.code, terms.get("loss_parameter", loss.default)

    def _fit_jointly(self, rows: Rows, classes: np.ndarray, codes: np.ndarray,
                     sample_weight: np.ndarray | None) -> None:
        """Fit all classes as one problem."""
        weight, _ = weights_of(self, classes, codes, sample_weight)
        target = Distributions.of_codes(codes, len(classes))
        fit_joint(self, rows, target, weight)
        self.classes_ = classes
        keep_code(self, None)

    def _fit_labels(self, rows: Rows, labels: Labels, weight: np.ndarray | None) -> None:
        """Fit to several labels per row, each of them a problem."""
        check_warm_start(self, labels)
        fixed = constant_labels(self, labels, weight)
        places, columns = np.flatnonzero(fixed == 0).tolist(), labels.columns(self.class_weight)
        self._solve_columns(rows, [columns[k] for k in places], weight, places, len(columns))
        keep_code(self, None)
        keep_labels(self, labels, fixed)

    def _solve_columns(self, rows: Rows, columns: list, weight: np.ndarray | None,
                       places: list[int], n_outputs: int) -> None:
        """Solve for each column and publish the answers at their places among the outputs."""
        starts = self._starts(places, n_outputs, rows.shape[1])
        seeds = spawn_seed(self.random_state, len(columns))
        tasks = [
            partial(self._solve_column, rows, column, weight, seed, start)
            for column, seed, start in zip(columns, seeds, starts, strict=True)
        ]
        fits = _parallel.run(tasks, getattr(self, "n_jobs", None))
        self._publish(fits, rows.dtype, places, n_outputs)
        self._warn(fits)

    def _solve_column(self, rows: Rows, column: Any, weight: np.ndarray | None,
                      seed: np.ndarray, start: Fit | None) -> Fit:
        """The optimum on the rows that take part in a column."""
        y, weight, member = column.part(weight)
        if weight is not None:
            member = weight > 0
        weight = _NO_WEIGHTS if weight is None else weight
        if member is not None and not member.all():
            kept = np.flatnonzero(member)
            weight = weight[kept] if len(weight) else weight
            rows, y = rows_taken(rows, kept), y[kept]
        total = float(weight.sum()) if len(weight) else float(rows.shape[0])
        problem = Problem(
            X=rows, y=y, weight=weight, fit_intercept=self.fit_intercept, **self._terms(total)
        )
        return self._solve(problem, seed, start)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            Class labels of any type that can be sorted. Or several labels per row, each a problem
            of its own, whatever `multi_class` says: a matrix of zeros and ones of shape (n_samples,
            n_labels), dense or sparse (whole numbers as floats too, so a one-hot matrix), or a list
            with a set of labels for each row. Keys of class_weight then are 0 and 1: lacking a
            label, and having it. Or, for a softmax and for sparsemax, soft labels: fractions of
            shape (n_samples, n_classes) that sum to 1 in each row. The columns of a data frame with
            names are the classes by these names; others are numbered.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions; 0 removes a row. Class weights multiply them.

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
            If the search ended before `tol` was reached; the message states the gap and why.
        """
        from ._exact_pass import fit_classes, fits_exactly_together  # which needs this module

        rows, y, sample_weight = self._begin(X, y, sample_weight)
        if isinstance(y, Labels):
            self._fit_labels(rows, y, sample_weight)
            return self
        if isinstance(y, Shares):
            self._fit_shares(rows, y, sample_weight)
            return self
        classes, codes = labels_of(self, y)
        if self._is_joint(len(classes)):
            self._fit_jointly(rows, classes, codes, sample_weight)
            return self
        several = len(classes) > 2 and not is_little(*rows.shape)
        if several and fits_exactly_together(self):
            fit_classes(self, rows, classes, codes, sample_weight)
            keep_code(self, None)
            return self
        weight, absent = weights_of(self, classes, codes, sample_weight)
        code = code_for(self, len(classes), absent)
        if is_reduced(self, len(classes)):
            columns = columns_of(code, codes)
            self._solve_columns(rows, columns, weight, list(range(len(columns))), len(columns))
            self.classes_ = classes
            keep_code(self, code)
            return self
        keep_code(self, code)
        positive = [1] if len(classes) == 2 else range(len(classes))
        places = [k for k in range(len(positive)) if positive[k] not in absent]
        targets = [np.where(codes == positive[k], 1.0, -1.0) for k in places]
        self._solve_all(rows, targets, weight, places, len(positive))
        self.classes_ = classes
        return self


def _are_rows(fits: list[Fit], whole: np.ndarray | None, dtype: np.dtype) -> bool:
    """Whether the weights of the fits make up a vector in turn: of models that were solved in one
    pass. Copies would take as long as a pass over the rows."""
    if whole is None or whole.dtype != dtype or whole.shape != (len(fits) * fits[0].coef.size,):
        return False
    return all(
        fit.coef.base is whole and fit.coef.ctypes.data == row.ctypes.data
        for fit, row in zip(fits, whole.reshape(len(fits), -1), strict=True)
    )
