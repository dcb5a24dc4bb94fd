"""Data and a learner on which searches and cross-validation are tried."""

import numpy as np

from fastlin import SGDClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
Y = (X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.5 * RNG.normal(size=120) > 0).astype(int)
NAMES = np.array(["c", "a", "b"])[(X[:, :3] + 0.3 * RNG.normal(size=(120, 3))).argmax(axis=1)]
TARGET = X @ [1.0, -2.0, 0.5, 0.0, 0.0] + 0.1 * RNG.normal(size=120)
STEPS = {"learning_rate": "invscaling", "eta0": 0.2, "max_iter": 5, "tol": None}
# Rows in their own order, so that models of one pass are those that are trained alone.
SGD = SGDClassifier(loss="log_loss", shuffle=False, **STEPS)
ALPHAS = {"alpha": [1e-4, 1e-2, 1.0]}
