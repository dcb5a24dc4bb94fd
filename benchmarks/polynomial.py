"""Products of columns: sparse and dense rows, listed and hashed, against scikit-learn."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp

from .measure import has_peer, in_turns, ns, print_table, ratio

# Rows, columns, entries of a row, degree
_SPARSE = ((10_000, 1_000, 30, 2), (10_000, 100_000, 30, 2), (1_000, 300, 30, 3))
_DENSE = ((20_000, 20, 2), (5_000, 20, 3))
_HASHED = 2**18


def run(scale: float, rounds: int) -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    rows = []
    for n, d, width, degree in _SPARSE:
        X = sp.random(max(1, int(n * scale)), d, width / d, format="csr", random_state=rng)
        for distinct in (False, True):
            title = f"CSR, {d:,} columns, {width} entries a row, degree {degree}"
            rows.append(_compare(title + ", distinct" * distinct, X, degree, distinct, rounds))
    for n, d, degree in _DENSE:
        X = rng.normal(size=(max(1, int(n * scale)), d))
        rows.append(_compare(f"dense, {d} columns, degree {degree}", X, degree, False, rounds))
    header = ["data", "fastlin (ns/product)", "hashed", "scikit-learn", "scikit-learn / fastlin"]
    print_table(header, rows)


def _compare(title: str, X: object, degree: int, distinct: bool, rounds: int) -> list[str]:
    """A row of the table."""
    import fastlin

    params = {"interaction_only": distinct, "include_bias": False}
    ours = fastlin.PolynomialFeatures(degree, **params).fit(X)
    hashed = fastlin.PolynomialFeatures(degree, **params, n_features=_HASHED).fit(X)
    models = {"fastlin": ours, "hashed": hashed}
    if has_peer("scikit-learn"):
        from sklearn.preprocessing import PolynomialFeatures

        models["scikit-learn"] = PolynomialFeatures(degree, **params).fit(X)
    result = ours.transform(X)
    size = result.nnz if sp.issparse(result) else result.size
    del result
    tasks = {label: partial(model.transform, X) for label, model in models.items()}
    times = in_turns(tasks, rounds)
    cells = [ns(times[label], size) if label in times else "" for label in
             ("fastlin", "hashed", "scikit-learn")]
    last = str(ratio(times["scikit-learn"], times["fastlin"])) if "scikit-learn" in times else ""
    return [title, *cells, last]
