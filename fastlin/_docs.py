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
        Strength of the penalty, >= 0. The schedule "optimal", where there is one, scales with
        it.""",
    "l1_ratio": """l1_ratio : float or None, default=0.15
        Share of L1 in the elastic net, in [0, 1]; not used by the other penalties.""",
    "fit_intercept": """fit_intercept : bool, default=True
        Whether to fit b; it learns alike for dense and sparse rows.""",
    "max_iter": """max_iter : int, default=1000
        Largest number of epochs (passes over the rows) in `fit`.""",
    "tol": """tol : float or None, default=1e-3
        Training ends when the objective (the mean over the rows of the loss before their own step,
        plus the penalty) has not fallen by more than `tol` for `n_iter_no_change` epochs; with
        `early_stopping`, when the validation score has not risen by that. None runs `max_iter`
        epochs.""",
    "shuffle": """shuffle : bool or "replacement", default=True
        Whether `fit` visits the rows in a new random order each epoch; "replacement" draws as many
        rows with replacement. Rows that hold more than 8 MB are shuffled in blocks of 8 to 64 rows
        and inside the blocks, unless the targets of neighbouring rows resemble each other.""",
    "verbose": """verbose : int, default=0
        Above 0 each epoch is reported on standard error.""",
    "epsilon": """epsilon : float, default=0.1
        Threshold of "huber", "epsilon_insensitive" and "squared_epsilon_insensitive".""",
    "quantile": """quantile : float, default=0.5
        Quantile of the loss "quantile", in (0, 1).""",
    "n_jobs": """n_jobs : int or None, default=None
        Threads over the classes of "ovr"; -1 is all cores. The result does not depend on it.""",
    "random_state": """random_state : int, Generator, RandomState, SeedSequence or None, default=%r
        Seed of the row orders and of the held-out rows; None draws a new one for each `fit`. The
        same seed gives the same bits for any number of threads.""",
    "early_stopping": """early_stopping : bool, default=False
        Whether to hold out `validation_fraction` of the rows, stratified by class where there are
        classes, and to end training when their score (accuracy or R^2) rises no more.""",
    "validation_fraction": """validation_fraction : float, default=0.1
        Share of the rows held out, in (0, 1).""",
    "n_iter_no_change": """n_iter_no_change : int, default=5
        Epochs without improvement before training ends.""",
    "multi_class": """multi_class : {"ovr", "ovo", "ecoc", "joint"} or OutputCode, default=%r
        More than two classes: one against the rest, or together by the joint form of the loss%s;
        one against one ("ovo"), or by an error-correcting code ("ecoc" is ``OutputCode()``).
        "multinomial" and "crammer_singer" are other words for "joint".""",
    "reduction": """multi_class : {"ovr", "ovo", "ecoc"} or OutputCode, default="ovr"
        More than two classes: one against the rest, one against one, or by an error-correcting code
        ("ecoc" is ``OutputCode()``). There are no probabilities but those of "ovr".""",
    "class_weight": """class_weight : dict, "balanced" or None, default=None
        Weights by label, multiplied into the sample weights; "balanced" gives every class the same
        total: n / (n_classes n_k) to each of its n_k rows.""",
    "warm_start": """warm_start : bool, default=False
        Whether `fit` starts from the weights of the previous one, which must have had the same
        classes and columns.""",
    "average": """average : bool or int, default=False
        Whether `coef_` is the mean of the weights after each step, from the first step on or from
        the step of that number.""",
    "batch_size": """batch_size : int, default=1
        Rows per step, >= 1; their gradients are averaged.""",
    "optimizer": """optimizer : {"sgd", "adagrad", "adadelta", "rmsprop", "adam"}, default="sgd"
        Plain steps, or steps that adapt to each coordinate, in the variant for sparse gradients: a
        coordinate whose gradient is 0 is not visited. Their length is `eta0` under the schedule
        "constant" (which "optimal" then means), or as `learning_rate` says; the paper of AdaDelta
        has eta0=1. RMSProp, AdaDelta and Adam need not reach the optimum (Reddi, Kale & Kumar
        2018, "On the convergence of Adam and beyond", ICLR).""",
}

_ATTRIBUTES = {
    "coef_": """coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, of the dtype of the rows; one row for two classes, one per column of `code_`.""",
    "intercept_": """intercept_ : ndarray of shape (1,) or (n_classes,), dtype float64
        Intercepts.""",
    "code_": """code_ : ndarray of shape (n_classes, n_columns), dtype int8
        With ``multi_class="ovo"`` or a code: the binary problems, as columns. A class is on the
        positive side (1), on the negative side (-1) or takes no part (0).""",
    "classes_": """classes_ : ndarray of shape (n_classes,)
        The labels, sorted.""",
    "thresholds_": """thresholds_ : ndarray of shape (n_classes,)
        Only if rows have several labels: those with a response above it are predicted. 0 after
        `fit`; may be set, and `tune_thresholds` does.""",
    "n_iter_": """n_iter_ : int
        Epochs run; the largest number, where there is a learner for each class.""",
    "t_": """t_ : float
        1 + the number of steps taken; rows of weight 0 take none, a batch takes one.""",
    "trace_": """trace_ : list of dict
        An entry per epoch with the keys "epoch", "loss" (mean before each row's step), "objective"
        (loss plus penalty), "seconds" since the start and, with `early_stopping`,
        "validation_score"; of the learner that ran the most epochs.""",
    "n_features_in_": """n_features_in_ : int
        Number of columns of X.""",
    "feature_names_in_": """feature_names_in_ : ndarray of str, dtype object
        Their names, if X was a data frame whose column names are all strings.""",
}


def parameters(*names: str, **values: object) -> str:
    """The paragraphs of the named parameters; `values` fill in what differs between estimators."""
    return "\n    ".join(
        _PARAMETERS[name] % values[name] if name in values else _PARAMETERS[name] for name in names
    )


def attributes(*left_out: str) -> str:
    """The paragraphs of the fitted attributes but for some; where there are no classes, there is no
    code of them, and no threshold."""
    if "classes_" in left_out:
        left_out += ("code_", "thresholds_")
    return "\n    ".join(text for name, text in _ATTRIBUTES.items() if name not in left_out)


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, broken into lines that fit under a parameter."""
    text = ", ".join(f'"{name}"' for name in names)
    return textwrap.fill(text, width=92, subsequent_indent=" " * 8)
