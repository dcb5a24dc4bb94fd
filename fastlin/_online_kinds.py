"""`fit` and `partial_fit` of regressors and of classifiers; `_online` has what both share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._base import r2
from ._grow import grow_memories
from ._labels import labels_of, weights_of
from ._memory import check_room
from ._multilabel import (
    Labels,
    check_warm_start,
    constant_labels,
    keep_labels,
    labels_in_stream,
)
from ._oof import set_out_of_fold
from ._params import ClassWeight, Either, Integer, OneOf
from ._present import narrowed, numbers_among, places_of_present, widen
from ._reductions import (
    CODES,
    JOINT,
    code_for,
    code_in_stream,
    columns_of,
    grown_pairs,
    is_reduced,
    keep_code,
    pairs,
    refuse_growth,
)
from ._stream_fit import StreamClassifierMixin, StreamRegressorMixin
from ._validation import (
    check_target,
    effective_weight,
    encode_known_labels,
    encode_labels,
    listed,
    partial_fit_classes,
)

__all__ = ["OnlineClassifierMixin", "OnlineRegressorMixin", "label_kind", "share_right"]

# What `partial_fit` changes in a classifier.
_LEARNT = (
    "_memories", "_segments", "_reduction", "classes_", "code_", "coef_", "intercept_", "t_",
    "n_iter_", "thresholds_",
)  # fmt: skip


class OnlineRegressorMixin(StreamRegressorMixin):
    """`fit` and `partial_fit` of regressors."""

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None,
            sample_weight: Any = None, callback: Any = None, cv: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            The targets.
        coef_init : array-like of shape (n_features,), optional
            Weights to start from.
        intercept_init : array-like of shape (1,), optional
            Intercept to start from.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions; 0 removes a row.
        callback : callable, optional
            Called after each epoch with its entry of `trace_`; what it raises ends training.
        cv : int, splitter or iterable of (train, test), optional
            Cross-validate as well: `oof_decision_` gets the response to each row by a model that
            has not seen it, `score_cv_` the mean score on the held-out rows.

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
            If `max_iter` ended training, or the best constant would predict better.
        """
        rows, y, weight = self._begin(X, y, sample_weight, reset=True)
        set_out_of_fold(self, rows, y, weight, cv)
        start = self._start([1], rows.shape[1], coef_init, intercept_init)
        self._train(rows, [y], [1], weight, start, None, _r2_of_column, callback)
        self._set_weights()
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Take one step per row, in the given order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights relative to 1, since those of rows to come are not known.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid.
        """
        first = not hasattr(self, "coef_")
        rows, y, weight = self._begin(X, y, sample_weight, reset=first)
        self._continue(rows, [y], [1], weight)
        self._set_weights()
        return self

    def _set_weights(self, found: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Set the public attributes, to weights that are `found` already or those of memory."""
        coef, self.intercept_ = self._weights() if found is None else found
        self.coef_ = coef[0]


class OnlineClassifierMixin(StreamClassifierMixin):
    """`fit` and `partial_fit` of classifiers."""

    _tags: ClassVar = {"multi_label": True}
    _constraints: ClassVar = {
        "n_jobs": Either(Integer(), OneOf(None)),
        "multi_class": Either(OneOf(*JOINT), CODES),
        "class_weight": ClassWeight(),
    }

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None,
            sample_weight: Any = None, callback: Any = None, cv: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            Class labels of any type that can be sorted. Or several labels per row, each a problem
            of its own, whatever `multi_class` says: a matrix of zeros and ones of shape (n_samples,
            n_labels), dense or sparse, or a list with a set of labels for each row. Keys of
            class_weight then are 0 and 1: lacking a label, and having it.
        coef_init : array-like of shape (n_outputs, n_features), optional
            Weights to start from; n_outputs is 1 for two classes, and the number of columns of a
            code.
        intercept_init : array-like of shape (n_outputs,), optional
            Intercepts to start from.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions; 0 removes a row. Class weights multiply them.
        callback : callable, optional
            Called after each epoch of each learner with its entry of `trace_`; what it raises ends
            training.
        cv : int, splitter or iterable of (train, test), optional
            Cross-validate as well: `oof_decision_` gets the response to each row by a model that
            has not seen it, `score_cv_` the mean score on the held-out rows.

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
            If `max_iter` ended training, or the best constant would predict better.
        """
        rows, y, sample_weight = self._begin(X, y, sample_weight, reset=True)
        several = isinstance(y, Labels)
        set_out_of_fold(self, rows, y.indicator() if several and cv is not None else y,
                        sample_weight, cv)
        if several:
            self._fit_labels(rows, y, sample_weight, coef_init, intercept_init, callback)
            return self
        classes, codes = labels_of(self, y)
        if self._fits_side_by_side(rows, classes, codes, sample_weight, coef_init, intercept_init,
                                   callback):
            return self
        weight, absent = weights_of(self, classes, codes, sample_weight)
        code = code_for(self, len(classes), absent)
        present = None
        if absent and self._is_joint(len(classes)):
            present = places_of_present(len(classes), absent)
        if present is None:
            targets, groups = self._targets(classes, codes, code)
            start = self._start(groups, rows.shape[1], coef_init, intercept_init)
        else:
            (first,) = self._start([len(classes)], rows.shape[1], coef_init, intercept_init)
            start = [narrowed(first, present)]
            codes = numbers_among(present, len(classes))[codes]
            targets, groups = self._targets(classes[present], codes, None)
        self._train(rows, targets, groups, weight, start, codes, share_right, callback)
        if present is not None:
            widen(self, classes, present)
        self.classes_ = classes
        keep_code(self, code)
        self._set_weights(() if is_reduced(self, len(classes)) else absent)
        return self

    def _fits_side_by_side(self, rows: Any, classes: np.ndarray, codes: np.ndarray,
                           sample_weight: Any, coef_init: Any, intercept_init: Any,
                           callback: Any) -> bool:
        """Fit a model per class in one pass over the rows, if that is faster than one by one."""
        from ._onepass import fit_side_by_side, fits_side_by_side

        if not fits_side_by_side(self, len(rows), len(classes)):
            return False
        groups = [1] * len(classes)
        start = self._start(groups, rows.shape[1], coef_init, intercept_init)
        check_room(rows.shape[1], len(classes), rows.dtype.itemsize, self._rule())
        fit_side_by_side(self, rows, classes, codes, sample_weight, start, callback)
        keep_code(self, None)
        return True

    def _fit_labels(self, rows: Any, labels: Labels, weight: np.ndarray | None, coef_init: Any,
                    intercept_init: Any, callback: Any) -> None:
        """Fit to several labels per row, each with a learner."""
        check_warm_start(self, labels)
        fixed = constant_labels(self, labels, weight)
        columns, groups = labels.columns(self.class_weight), [1] * len(labels.classes)
        start = self._start(groups, rows.shape[1], coef_init, intercept_init)
        self._train(rows, columns, groups, weight, start, None, share_right, callback)
        keep_code(self, None)
        self._set_weights(())
        keep_labels(self, labels, fixed)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None,
                    grow: bool = False) -> Any:
        """Take one step per row, in the given order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, or several labels per row, as in `fit`.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever come; needed in the first call, unless y is a matrix.
        sample_weight : array-like of shape (n_samples,), optional
            Weights relative to 1, since those of rows to come are not known.
        grow : bool, default=False
            Whether labels that were not announced become new classes, whose weights begin at zero;
            otherwise they are an error. Not for error-correcting codes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid, `classes` is missing or changes, or
            class_weight is "balanced", which needs all rows at once.
        """
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight must be a dict or None in partial_fit, got 'balanced', which needs "
                "all rows at once; pass the weights of the classes as a dict."
            )
        first = not hasattr(self, "coef_")
        rows, target, sample_weight = self._begin(X, y, sample_weight, reset=first)
        learnt = {name: vars(self)[name] for name in _LEARNT if name in vars(self)}
        try:
            y = labels_in_stream(self, y, target, classes, grow)
            if isinstance(y, Labels):
                self._continue_labels(rows, y, sample_weight)
                return self
            known = self._grow(y, classes) if grow else partial_fit_classes(self, classes)
            if len(known) < 2:
                raise ValueError(
                    f"classes must hold at least two classes, got {listed(known.tolist())}."
                )
            codes = encode_known_labels(y, known)
            weight = effective_weight(self.class_weight, known, codes, sample_weight)
            code = code_in_stream(self, len(known), codes, known)
            self._continue(rows, *self._targets(known, codes, code), weight)
            self.classes_ = known
            keep_code(self, code)
            self._set_weights(())
        except BaseException:
            # whatever went wrong, Ctrl-C included, the model stays the one before this call
            for name in _LEARNT:
                vars(self).pop(name, None)
            vars(self).update(learnt)
            raise
        return self

    def _continue_labels(self, rows: Any, labels: Labels, weight: np.ndarray | None) -> None:
        """One pass over rows that have several labels each."""
        columns, thresholds = labels.columns(self.class_weight), vars(self).get("thresholds_")
        self._continue(rows, columns, [1] * len(columns), weight)
        keep_code(self, None)
        self._set_weights(())
        keep_labels(self, labels, np.zeros(len(columns), int))
        self.thresholds_ = self.thresholds_ if thresholds is None else thresholds

    def _grow(self, y: np.ndarray, classes: Any) -> np.ndarray:
        """The classes known so far, announced now, and found in y; memories follow them."""
        refuse_growth(self)
        old = getattr(self, "classes_", None)
        found = [encode_labels(y)[0]] + ([] if old is None else [old])
        if classes is not None:
            found.append(encode_labels(check_target(classes, self))[0])
        if len({label_kind(labels) for labels in found}) > 1:
            raise TypeError(
                "y must hold labels of one kind, all strings, all numbers or all booleans; it and "
                f"the classes known so far are of dtypes {', '.join(str(f.dtype) for f in found)}."
            )
        known = encode_labels(np.concatenate(found))[0]
        if old is not None and len(known) > len(old) and is_reduced(self, len(known)):
            old_code, places = vars(self).get("code_", pairs(2)), np.searchsorted(known, old)
            self._memories = grown_pairs(self._memories, old_code, places, len(known), None)
        elif old is not None and len(known) > len(old):
            joint, signed = self._is_joint(len(known)), getattr(self, "optimizer", "") == "adam"
            self._memories = grow_memories(self._memories, old, known, joint, signed)
        return known

    def _is_joint(self, n_classes: int) -> bool:
        """Whether all classes are trained together, by the loss's joint form."""
        return n_classes > 2 and self.multi_class in JOINT

    def _loss_of_columns(self) -> tuple[int, float]:
        """The loss that decoding sums, and its parameter."""
        rule = self._rule()
        return rule["loss"], rule["loss_parameter"]

    def _targets(self, classes: np.ndarray, codes: np.ndarray,
                 code: np.ndarray | None) -> tuple[list, list[int]]:
        """Targets of the learners, and how many outputs each has: class numbers for a joint loss,
        else +-1 for two classes, for each class against the rest, or for each column of a code."""
        if code is not None and len(classes) > 2:
            return list(columns_of(code, codes)), [1] * code.shape[1]
        if self._is_joint(len(classes)):
            return [codes.astype(np.float64)], [len(classes)]
        positive = [1] if len(classes) == 2 else range(len(classes))
        return [np.where(codes == k, 1.0, -1.0) for k in positive], [1] * len(positive)

    def _set_weights(self, absent: Any,
                     found: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Set the public attributes, to weights that are `found` already or those of memory;
        classes that no row stood for can't be predicted."""
        self.coef_, self.intercept_ = self._weights() if found is None else found
        for k in absent:
            self.coef_[k], self.intercept_[k] = 0.0, -np.inf


def label_kind(labels: np.ndarray) -> str:
    """Strings (and other objects), booleans or numbers."""
    return {"b": "boolean", **dict.fromkeys("OUST", "text")}.get(labels.dtype.kind, "number")


def share_right(y: np.ndarray, p: np.ndarray, weight: np.ndarray | None) -> float:
    """Share of rows whose response is right: in sign, or as the largest of several."""
    right = (p[:, 0] > 0) == (y > 0) if p.shape[1] == 1 else p.argmax(axis=1) == y
    return float(np.average(right, weights=weight))


def _r2_of_column(y: np.ndarray, p: np.ndarray, weight: np.ndarray | None) -> float:
    """R^2 of the one output."""
    return r2(y, p[:, 0], weight)
