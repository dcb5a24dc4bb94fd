"""Paragraphs of docstrings that several estimators share, so that each is written once."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

__all__ = ["attributes", "parameters", "quoted"]

_PARAMETERS = {
    "penalty": """penalty : {"l2", "l1", "elasticnet"} or None, default=%r
        The penalty ``alpha * (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)``; "l2" and "l1" fix
        `l1_ratio` to 0 and 1. The intercept is never penalised.""",
    "alpha": """alpha : float, default=1e-4
        Strength of the penalty, >= 0. Also the scale of the schedule "optimal".""",
    "l1_ratio": """l1_ratio : float or None, default=0.15
        Share of L1 in the elastic net, in [0, 1]; not used by the other penalties.""",
    "fit_intercept": """fit_intercept : bool, default=True
        Whether to fit b; it learns alike for dense and sparse rows.""",
    "max_iter": """max_iter : int, default=1000
        Most passes over the rows in `fit`.""",
    "tol": """tol : float or None, default=1e-3
        Training ends when the objective (the mean loss of each row before its step, plus the
        penalty), or the validation score, has not improved by `tol` for `n_iter_no_change` epochs.
        None runs `max_iter` epochs.""",
    "shuffle": """shuffle : bool or "replacement", default=True
        Whether `fit` visits the rows in a new random order each epoch; "replacement" draws them
        with replacement. Data larger than a cache are shuffled in blocks of 64 rows and inside
        the blocks, unless the targets of neighbouring rows resemble each other.""",
    "verbose": """verbose : int, default=0
        Above 0 each epoch is reported on standard error.""",
    "epsilon": """epsilon : float, default=0.1
        Threshold of "huber", "epsilon_insensitive" and "squared_epsilon_insensitive".""",
    "quantile": """quantile : float, default=0.5
        Quantile of the loss "quantile", in (0, 1).""",
    "n_jobs": """n_jobs : int or None, default=None
        Threads over the classes of "ovr"; -1 is all cores. The result does not depend on it.""",
    "random_state": """random_state : int, Generator, RandomState, SeedSequence or None, default=%r
        Seed of the orders and splits. The same seed gives the same bits for any `n_jobs`.""",
    "early_stopping": """early_stopping : bool, default=False
        Whether to hold out `validation_fraction` of the rows, stratified by class where there are
        classes, and to end training by their score.""",
    "validation_fraction": """validation_fraction : float, default=0.1
        Share of the rows held out, in (0, 1).""",
    "n_iter_no_change": """n_iter_no_change : int, default=5
        Epochs without improvement before training ends.""",
    "multi_class": """multi_class : {"ovr", "joint"}, default=%r
        More than two classes: one against the rest, or together by the joint form of the loss%s.
        "multinomial" and "crammer_singer" are other words for "joint".""",
    "class_weight": """class_weight : dict, "balanced" or None, default=None
        Weights by label, multiplied into the sample weights; "balanced" is n / (n_classes n_k).""",
    "warm_start": """warm_start : bool, default=False
        Whether `fit` starts from the weights of the previous one.""",
    "average": """average : bool or int, default=False
        Whether `coef_` is the mean of the weights after each step; a number is the first step
        that counts.""",
    "batch_size": """batch_size : int, default=1
        Rows per step; their gradients are averaged.""",
    "optimizer": """optimizer : {"sgd", "adagrad", "adadelta", "rmsprop", "adam"}, default="sgd"
        Plain steps, or steps that adapt to each coordinate, in the variant for sparse gradients: a
        coordinate whose gradient is 0 is not visited. Their length is `eta0` under the schedule
        "constant" (which "optimal" then means), or as `learning_rate` says; the paper of AdaDelta
        has eta0=1. RMSProp, AdaDelta and Adam need not reach the optimum (Reddi, Kale & Kumar
        2018, "On the convergence of Adam and beyond", ICLR).""",
}

_ATTRIBUTES = {
    "coef_": """coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, of the dtype of the rows; one row for two classes.""",
    "intercept_": """intercept_ : ndarray of shape (1,) or (n_classes,), dtype float64
        Intercepts.""",
    "classes_": """classes_ : ndarray of shape (n_classes,)
        The labels, sorted.""",
    "n_iter_": """n_iter_ : int
        Epochs run; of the learner that ran the most, where there are several.""",
    "t_": """t_ : float
        1 + the number of steps taken.""",
    "trace_": """trace_ : list of dict
        Per epoch: loss, objective, seconds, and the validation score if there is one; of the
        learner that ran the most.""",
    "n_features_in_": """n_features_in_ : int
        Columns seen by `fit`.""",
    "feature_names_in_": """feature_names_in_ : ndarray of str
        Their names, where X was a data frame.""",
}


def parameters(*names: str, **values: object) -> str:
    """The paragraphs of the named parameters; `values` fill in what differs between estimators."""
    return "\n    ".join(
        _PARAMETERS[name] % values[name] if name in values else _PARAMETERS[name] for name in names
    )


def attributes(*left_out: str) -> str:
    """The paragraphs of the fitted attributes but for some."""
    return "\n    ".join(text for name, text in _ATTRIBUTES.items() if name not in left_out)


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, broken into lines that fit under a parameter."""
    text = ", ".join(f'"{name}"' for name in names)
    return textwrap.fill(text, width=92, subsequent_indent=" " * 8)
