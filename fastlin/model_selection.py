"""Splitting data, scores by cross-validation and search for parameters, as in scikit-learn.

Splitters stand in `_splitters`, scores in `_scoring` and `_metrics`, the fits in `_folds_run`.
"""

from __future__ import annotations

from ._cross_val import cross_val_predict, cross_val_score, cross_validate
from ._curves import learning_curve, validation_curve
from ._left_out import leave_one_out
from ._search import GridSearchCV
from ._splitters import KFold, LeaveOneOut, StratifiedKFold, train_test_split
from ._thresholds import tune_thresholds

__all__ = [
    "GridSearchCV",
    "KFold",
    "LeaveOneOut",
    "StratifiedKFold",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "learning_curve",
    "leave_one_out",
    "train_test_split",
    "tune_thresholds",
    "validation_curve",
]
