"""One-hot coding in plain Python."""

import numpy as np


def same(a, b):
    """Equality of labels in which NaN equals NaN."""
    return a is b or a == b or (a != a and b != b)  # noqa: PLR0124


def naive(X, X_new, names=None):
    """Feature names and one-hot columns of X_new for the categories of X."""
    columns, labels = [], []
    for j in range(len(X[0])):
        seen = []
        for row in X:
            if not any(same(row[j], value) for value in seen):
                seen.append(row[j])
        nan = [v for v in seen if v is not None and v != v]  # noqa: PLR0124
        missing = [v for v in seen if v is None] + nan
        seen = sorted(v for v in seen if v is not None and v == v) + missing  # noqa: PLR0124
        columns += [[float(same(row[j], value)) for row in X_new] for value in seen]
        labels += [f"{names[j] if names else f'x{j}'}_{value}" for value in seen]
    return labels, np.array(columns).T
