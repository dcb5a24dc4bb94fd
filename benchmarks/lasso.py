"""Time to the optimum with L1 penalties, paths of them, and the transpose that they need."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .exact import LOOSE_TO_TIGHT, Problem, Solver, compare
from .generators import load
from .measure import has_peer, in_turns, ns, print_table, ratio

__all__ = ["run"]

# Shares of the smallest penalty that leaves no weight
SHARES = (3, 20, 100)
OURS = (0.3, 0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
# Rows of the texts, as a share of what the generator makes
TEXTS = 0.5
# How many times faster than the best peer we want to be
BARS = {"lasso": 1.5, "lasso, wide": 1.0, "log loss": 1.5, "path": 2.0}
PATH = {"alphas": 100, "eps": 1e-2}


def _regression(X: Any) -> np.ndarray:
    """Targets that a fiftieth of the columns explains, and half as much noise."""
    rng = np.random.default_rng(5)
    z = X @ (rng.normal(size=X.shape[1]) * (rng.random(X.shape[1]) < 0.02))
    return z + rng.normal(size=len(z)) * z.std() / 2


def _wide() -> tuple[np.ndarray, np.ndarray]:
    """72 rows of 7,129 correlated columns of unit variance, as of gene expressions."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(72, 10)) @ rng.normal(size=(10, 7129)) / np.sqrt(10)
    X += rng.normal(size=X.shape)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.sign(X[:, :20].sum(axis=1) + rng.normal(size=72))


def _objective(X: Any, y: np.ndarray, loss: str, alpha: float, w: np.ndarray) -> float:
    """Mean loss plus penalty, in double."""
    w = np.asarray(w, dtype=np.float64).ravel()
    z = X @ w
    losses = np.logaddexp(0.0, -y * z) if loss == "log loss" else 0.5 * (y - z) ** 2
    return float(losses.mean() + alpha * np.abs(w).sum())


def _ours(X: Any, y: np.ndarray, loss: str, alpha: float) -> Solver:
    """fastlin's estimators."""
    from fastlin import Lasso, LogisticRegression

    def fit(tol: float) -> np.ndarray:
        more = {"fit_intercept": False, "tol": tol, "max_iter": 100_000}
        if loss == "log loss":
            return LogisticRegression(C=1 / (alpha * len(y)), l1_ratio=1.0, **more).fit(X, y).coef_
        return Lasso(alpha, **more).fit(X, y).coef_

    return Solver(fit, OURS)


def _fit(make: Callable[..., Any], X: Any, y: np.ndarray, tol: float) -> np.ndarray:
    """The weights at a tolerance."""
    return np.asarray(make(tol=tol).fit(X, y).coef_)


def _peers(X: Any, y: np.ndarray, loss: str, alpha: float) -> Iterator[tuple[str, Any]]:
    """(name, what makes an estimator of a tolerance) of whoever is there."""
    part, C = functools.partial, 1 / (alpha * len(y))
    logistic = loss == "log loss"
    if has_peer("scikit-learn"):
        from sklearn.linear_model import Lasso, LogisticRegression

        yield "scikit-learn", part(
            LogisticRegression, C=C, l1_ratio=1.0, solver="liblinear", fit_intercept=False,
            max_iter=1000,
        ) if logistic else part(Lasso, alpha, fit_intercept=False, max_iter=100_000)
    if has_peer("celer"):
        import celer

        yield "celer", part(celer.LogisticRegression, C=C, fit_intercept=False) if logistic else (
            part(celer.Lasso, alpha, fit_intercept=False))
    if has_peer("skglm"):
        import skglm

        # its logistic regression has no tolerance without an intercept of its own
        yield "skglm", part(
            skglm.SparseLogisticRegression, alpha, fit_intercept=False
        ) if logistic else part(skglm.Lasso, alpha, fit_intercept=False)
    if has_peer("snapML") and logistic:
        import snapml

        yield "snapML", part(
            snapml.LogisticRegression, penalty="l1", dual=False, regularizer=1 / C, max_iter=1000,
            fit_intercept=False)


def _problem(title: str, X: Any, y: np.ndarray, loss: str, share: int) -> Problem:
    """One penalty."""
    most = np.abs(X.T @ y).max() / len(y) / (2 if loss == "log loss" else 1)
    alpha = most / share
    peers = {
        name: Solver(functools.partial(_fit, make, X, y), LOOSE_TO_TIGHT[3:])
        for name, make in _peers(X, y, loss, alpha)
    }
    bar = BARS["lasso, wide" if loss == "lasso" and X.shape[1] > 10 * len(y) else loss]
    return Problem((title, loss, f"max/{share}"),
                   functools.partial(_objective, X, y, loss, alpha), peers,
                   _ours(X, y, loss, alpha), bar)


def _paths(cases: list[tuple[str, Any, np.ndarray]], rounds: int) -> list[list]:
    """A row for the path of each problem."""
    from fastlin import regularization_path

    rows = []
    for title, X, y in cases:
        tasks: dict[str, Callable[[], Any]] = {"fastlin": functools.partial(
            regularization_path, X, y, fit_intercept=False, tol=1e-6, max_iter=100_000, **PATH)}
        alphas = np.geomspace(1, PATH["eps"], PATH["alphas"]) * np.abs(X.T @ y).max() / len(y)
        if has_peer("celer"):
            from celer import celer_path

            columns = sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)
            tasks["celer"] = functools.partial(celer_path, columns, y, pb="lasso", alphas=alphas,
                                               tol=1e-6)
        times = in_turns(tasks, rounds)
        peer = times.get("celer")
        rows.append([title, *(f"{np.median(t):.3f}" for t in times.values()),
                     *([] if peer else ["missing"]),
                     str(ratio(peer, times["fastlin"])) if peer else "", BARS["path"]])
    return rows


def _transposes(scale: float, rounds: int) -> list[list]:
    """A row for each of the sparse data sets."""
    from fastlin import as_rows
    from fastlin._transpose import transposed

    rows = []
    for name in ("rcv1", "news20", "one-hot"):
        data = load(name, scale * TEXTS)
        X, given = as_rows(data.X), data.X
        times = in_turns({"ours": lambda X=X: transposed(X), "scipy": given.tocsc}, rounds)
        rows.append([data.title, ns(times["ours"], data.nnz), ns(times["scipy"], data.nnz),
                     str(ratio(times["scipy"], times["ours"]))])
    return rows


def run(scale: float, rounds: int) -> None:
    """Print the tables."""
    data = load("rcv1", scale * TEXTS)
    targets = _regression(data.X)
    wide, genes = _wide()
    rows = []
    for share in SHARES:
        rows += compare(_problem(data.title, data.X, targets, "lasso", share), rounds)
        rows += compare(_problem("72 x 7129", wide, genes, "lasso", share), rounds)
        rows += compare(_problem(data.title, data.X, data.y, "log loss", share), rounds)
    print(f"- {data.describe()}\n- 72 rows of 7,129 dense columns\n")
    print("Seconds of the cheapest setting that comes so near the optimum, without an intercept, "
          "the transpose included; the ratio is that of the best peer to ours.\n")
    print_table(("data", "loss", "alpha", "within", "best peer", "its time", "fastlin", "ratio",
                 "bar", "confirmed"), rows)
    print("Seconds for a path of 100 lassos down to max/100, each to a gap of 1e-6; celer gets "
          "columns.\n")
    print_table(("data", "fastlin", "celer", "ratio", "bar"),
                _paths([(data.title, data.X, targets), ("72 x 7129", wide, genes)], rounds))
    print("Columns of CSR rows, ns an entry.\n")
    print_table(("data", "fastlin", "scipy", "ratio"), _transposes(scale, rounds))
