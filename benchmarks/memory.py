"""Peak memory of the exact solvers above X, in bytes per stored entry, beside what it may be.

Solvers by rows may take 4 bytes per entry, float32 values of float64 data; those by columns, which
need the transpose, 12; either may take some vectors of rows and columns besides, some per class
where there are several. A matrix that is not CSR is converted first: 12 bytes more where it is CSC.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from .generators import load
from .measure import peak, print_table

__all__ = ["BY_COLUMNS", "BY_ROWS", "models", "run", "targets"]

BY_ROWS, BY_COLUMNS = 4, 12
_CLASSES = 4
# Layouts: data set, its share of the rows at scale 1, bytes per entry that the conversion takes
_LAYOUTS = {
    "CSR float64": ("rcv1", 0.1, 0), "CSR float32": ("rcv1", 0.1, 0), "CSC": ("rcv1", 0.1, 12),
    "one-hot Rows": ("one-hot", 0.05, 0), "dense": ("dense", 0.1, 0),
}  # fmt: skip


def targets(X: Any) -> dict[str, np.ndarray]:
    """Two classes, several, and numbers that hang on the columns."""
    rng = np.random.default_rng(0)
    n, d = X.shape
    z = np.asarray(X @ (rng.normal(size=(d, _CLASSES)) * (rng.random((d, _CLASSES)) < 0.3)))
    z /= z.std(axis=0)
    noise = 0.3 * rng.normal(size=(n, _CLASSES))
    number = z[:, 0] + noise[:, 0]
    return {"two": np.where(number > 0, 1, -1), "several": (z + noise).argmax(axis=1),
            "number": number}


def models(alpha: float) -> dict[str, tuple[Any, str, int]]:
    """Name -> (estimator, the target it learns, bytes per entry that it may take); `alpha` is the
    smallest L1 penalty that leaves no weight."""
    import fastlin as fl

    l1 = {"penalty": "l1"}
    net = {"penalty": "elasticnet", "l1_ratio": 0.5}
    rows, columns = BY_ROWS, BY_COLUMNS
    return {
        "LogisticRegression": (fl.LogisticRegression(), "two", rows),
        "LogisticRegression, newton": (fl.LogisticRegression(solver="newton"), "two", rows),
        "LogisticRegression, l1": (fl.LogisticRegression(**l1), "two", columns),
        "LogisticRegression, elasticnet": (fl.LogisticRegression(**net), "two", columns),
        "softmax": (fl.LogisticRegression(), "several", rows),
        "softmax, l1": (fl.LogisticRegression(**l1, C=0.3), "several", columns),
        "softmax, elasticnet": (fl.LogisticRegression(**net), "several", columns),
        "LogisticRegressionCV": (fl.LogisticRegressionCV(Cs=3, cv=3), "two", rows),
        "SparsemaxClassifier": (fl.SparsemaxClassifier(), "several", rows),
        "LinearSVC": (fl.LinearSVC(), "two", rows),
        "LinearSVC, hinge": (fl.LinearSVC(loss="hinge"), "two", rows),
        "LinearSVC, l1": (fl.LinearSVC(**l1), "two", columns),
        "LinearSVC, crammer_singer": (
            fl.LinearSVC(multi_class="crammer_singer"), "several", rows),
        "LinearSVR": (fl.LinearSVR(), "number", rows),
        "LinearSVR, squared": (
            fl.LinearSVR(loss="squared_epsilon_insensitive"), "number", rows),
        "Ridge": (fl.Ridge(), "number", rows),
        "RidgeCV, cv=3": (fl.RidgeCV(cv=3), "number", columns),
        "Lasso": (fl.Lasso(0.1 * alpha), "number", columns),
        "ElasticNet": (fl.ElasticNet(0.1 * alpha), "number", columns),
        "LassoCV": (fl.LassoCV(alphas=5, eps=0.1, cv=3), "number", columns),
        "regularization_path": (_Path(), "number", columns),
    }


class _Path:
    """`regularization_path` as if it were an estimator."""

    def fit(self, X: Any, y: np.ndarray) -> None:
        """Five penalties."""
        from fastlin import regularization_path

        regularization_path(X, y, alphas=5, eps=0.1)


def _as_layout(X: Any, layout: str) -> Any:
    """A matrix of the data sets in a layout."""
    from fastlin import as_rows

    if layout == "CSR float32":
        return X.astype(np.float32)
    return X.tocsc() if layout == "CSC" else as_rows(X) if layout == "one-hot Rows" else X


def run(scale: float, rounds: int) -> None:
    """Print a table per layout; memory needs no second round."""
    for layout, (name, share, extra) in _LAYOUTS.items():
        data = load(name, share * scale)
        n, d = data.X.shape
        y = targets(data.X)
        alpha = float(np.abs(data.X.T @ (y["number"] - y["number"].mean())).max()) / n
        X, vector, table = _as_layout(data.X, layout), 8 * (n + d), []
        print(f"{layout}, {data.describe()}; a vector of the rows and one of the columns: "
              f"{vector / data.nnz:.2f} bytes per entry\n", flush=True)
        for title, (model, kind, most) in models(alpha).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = peak(partial(model.fit, X, y[kind]))
            over = max(0.0, (found - (most + extra) * data.nnz) / vector)
            table.append([title, f"{found / data.nnz:.2f}", most + extra, f"{over:.1f}"])
        print_table(["estimator", "bytes per entry", "bar", "vectors beyond it"], table)
