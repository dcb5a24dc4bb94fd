"""fastlin: linear learners for large sparse data, with scikit-learn's interface.

Everything here loads on first use: `import fastlin` costs little more than numpy.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that holds it.
_HOMES = {
    "Rows": "_data",
    "as_rows": "_data",
    "SGDClassifier": "sgd",
    "SGDRegressor": "sgd",
    "BridgeRegressor": "bridge",
    "BridgeClassifier": "bridge",
    "Lasso": "lasso",
    "ElasticNet": "lasso",
    "LassoCV": "lasso",
    "ElasticNetCV": "lasso",
    "RegularizationPath": "lasso",
    "regularization_path": "lasso",
    "OutputCode": "_reductions",
    "Perceptron": "perceptron",
    "PassiveAggressiveClassifier": "passive_aggressive",
    "PassiveAggressiveRegressor": "passive_aggressive",
    "LinearRegression": "linear_regression",
    "Ridge": "ridge",
    "RidgeCV": "ridge_cv",
    "RidgeClassifier": "ridge",
    "LinearSVC": "svm",
    "LinearSVR": "svm",
    "LogisticRegression": "logistic",
    "LogisticRegressionCV": "logistic_cv",
    "SparsemaxClassifier": "sparsemax",
    "MultinomialNB": "naive_bayes",
    "BernoulliNB": "naive_bayes",
    "ComplementNB": "naive_bayes",
    "KernelPerceptron": "kernel_machines",
    "KernelSVC": "kernel_machines",
    "KernelLogisticRegression": "kernel_machines",
    "Separability": "_separability",
    "separability": "_separability",
    "margin": "_margin",
    "mistake_bound": "_margin",
    "HashingVectorizer": "text",
    "OneHotEncoder": "categories",
    "HashingEncoder": "hashing",
    "ColumnTransformer": "column_transformer",
    "make_column_transformer": "column_transformer",
    "PolynomialFeatures": "polynomial",
    "KNeighborsClassifier": "neighbors",
    "GridSearchCV": "model_selection",
    "cross_validate": "model_selection",
    "cross_val_score": "model_selection",
    "cross_val_predict": "model_selection",
    "learning_curve": "model_selection",
    "leave_one_out": "model_selection",
    "validation_curve": "model_selection",
    "KFold": "model_selection",
    "StratifiedKFold": "model_selection",
    "LeaveOneOut": "model_selection",
    "train_test_split": "model_selection",
    "tune_thresholds": "model_selection",
    "load_svmlight_file": "io",
    "dump_svmlight_file": "io",
    "Pipeline": "pipeline",
    "make_pipeline": "pipeline",
    "save": "persist",
    "load": "persist",
    "ConvergenceWarning": "_exceptions",
    "DataConversionWarning": "_exceptions",
    "FitFailedWarning": "_exceptions",
    "InvalidParameterError": "_exceptions",
    "NotFittedError": "_exceptions",
}
_MODULES = ("datasets", "kernels", "model_selection", "optim", "plot")

__all__ = [*_HOMES, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
