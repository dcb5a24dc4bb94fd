"""Peak memory of the exact solvers above X: bytes per stored entry, and some vectors besides."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from fastlin import LinearSVR

# at the end: the installed package comes before its sources
sys.path.append(str(Path(__file__).parents[1]))

from benchmarks import generators
from benchmarks.measure import peak
from benchmarks.memory import models, targets

X = generators._words(np.random.default_rng(0), 6000, 3000, 80, 1.1)
Y = targets(X)
ALPHA = float(np.abs(X.T @ (Y["number"] - Y["number"].mean())).max()) / X.shape[0]
MODELS = models(3 * ALPHA)
# Vectors of the rows and of the columns that a fit may take besides: weights, responses, slopes,
# curvatures, the trail of an extrapolation, and where L1 leaves few columns their products.
VECTORS = 20
# Nine models side by side; products of some hundred columns; four classes
MORE = {"LogisticRegressionCV": 30, "LassoCV": 40, "regularization_path": 32,
        "softmax, l1": 44}


def measured(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:50], y[:50])  # what is loaded on first use
        return peak(lambda: model.fit(X, y))


@pytest.mark.parametrize("name", list(MODELS))
def test_peak_on_sparse_rows(name):
    model, kind, most = MODELS[name]
    found = measured(model, X, Y[kind])
    assert found <= most * X.nnz + MORE.get(name, VECTORS) * 8 * sum(X.shape), found / X.nnz


def test_newton_steps_of_dense_rows_copy_them_in_single_precision():
    dense, _ = generators._dense(5000)
    found = measured(LinearSVR(C=10), dense, targets(dense)["number"])
    assert found <= 4 * dense.size + VECTORS * 8 * sum(dense.shape), found / dense.size
