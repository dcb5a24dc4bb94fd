"""What a fast learner is trained on beside its reference, and how the two are compared."""

import numpy as np
import reference
from layouts import LAYOUTS

from fastlin import as_rows
from fastlin._learner import make_learner
from fastlin._sgd import LOSSES, MARGIN_LOSSES

NAMES = [layout.name for layout in LAYOUTS]
NO_WEIGHT = np.empty(0)


def labels(dense, seed=1):
    """+-1 that a linear function nearly tells."""
    rng = np.random.default_rng(seed)
    z = dense @ rng.normal(size=dense.shape[1]) + 0.3 * rng.normal(size=len(dense))
    return np.where(z > np.median(z), 1.0, -1.0)


def targets(dense, seed=1):
    rng = np.random.default_rng(seed)
    return dense @ rng.normal(size=dense.shape[1]) + 0.5 + 0.1 * rng.normal(size=len(dense))


def target_of(loss, dense):
    return labels(dense) if loss in MARGIN_LOSSES else targets(dense)


def epochs(n, n_epochs=3, seed=2):
    """Orders with repetitions and omissions: as drawn with replacement."""
    return list(np.random.default_rng(seed).integers(0, n, size=(n_epochs, n)))


# What may differ between two runs of SGD: name -> arguments of both make_rule and the reference.
CONFIGS = {loss: {"loss": loss, "learning_rate": "constant", "eta0": 0.05} for loss in LOSSES}
CONFIGS |= {
    "optimal": {"loss": "log_loss", "learning_rate": "optimal", "alpha": 1e-2, "penalty": "l2"},
    "optimal without penalty": {"loss": "hinge", "learning_rate": "optimal"},
    "invscaling 0.5": {"loss": "hinge", "learning_rate": "invscaling", "eta0": 0.3},
    "invscaling 0.25": {
        "loss": "log_loss",
        "learning_rate": "invscaling",
        "eta0": 0.3,
        "power_t": 0.25,
    },
    "invscaling 0.7": {
        "loss": "squared_error",
        "learning_rate": "invscaling",
        "eta0": 0.3,
        "power_t": 0.7,
    },
    "l2": {"loss": "squared_error", "penalty": "l2", "alpha": 0.1, "eta0": 0.05},
    "l2 that shrinks to nothing": {"loss": "hinge", "penalty": "l2", "alpha": 9.0, "eta0": 0.2},
    "l2 that folds": {
        "loss": "hinge",
        "penalty": "l2",
        "alpha": 6.0,
        "eta0": 0.16,
        "average": True,
    },
    "l1": {"loss": "log_loss", "penalty": "l1", "alpha": 0.02, "eta0": 0.1},
    "elastic net": {
        "loss": "squared_hinge",
        "penalty": "elasticnet",
        "alpha": 0.1,
        "l1_ratio": 0.4,
        "eta0": 0.03,
        "average": 20,
    },
    "average": {"loss": "log_loss", "eta0": 0.2, "average": True},
    "average from step 31": {"loss": "hinge", "eta0": 0.1, "average": 31},
    "average with l2": {
        "loss": "squared_error",
        "penalty": "l2",
        "alpha": 0.2,
        "eta0": 0.1,
        "average": 5,
    },
    "average with l1": {
        "loss": "squared_error",
        "penalty": "l1",
        "alpha": 0.1,
        "eta0": 0.1,
        "average": True,
    },
    "batches": {
        "loss": "log_loss",
        "eta0": 0.5,
        "batch_size": 7,
        "penalty": "elasticnet",
        "alpha": 0.05,
        "l1_ratio": 0.3,
        "average": True,
    },
    "one batch": {"loss": "squared_error", "eta0": 0.1, "batch_size": 1000},
    "no intercept": {"loss": "squared_hinge", "eta0": 0.1, "fit_intercept": False},
    "long steps": {"loss": "squared_error", "eta0": 1e6},
    "long steps in batches": {"loss": "exponential", "eta0": 10.0, "batch_size": 3},
    "long steps, squared hinge": {"loss": "squared_hinge", "eta0": 1e4},
    "long steps, exponential": {"loss": "exponential", "eta0": 50.0},
    "long steps, epsilon": {"loss": "squared_epsilon_insensitive", "eta0": 1e3},
}


def reference_arguments(config):
    """The same configuration for the reference."""
    config = {
        "learning_rate": "constant",
        "eta0": 1.0,
        "power_t": 0.5,
        "alpha": 0.0,
        "penalty": None,
        "average": 0,
        **config,
    }
    alpha = config["alpha"] if config["penalty"] else 1e-4
    share = {"l1": 1.0, "l2": 0.0, None: 0.0}.get(config["penalty"], config.get("l1_ratio"))
    strength = config["alpha"] if config["penalty"] else 0.0
    return {
        "loss": config["loss"],
        "eta": reference.schedule(
            config["learning_rate"], config["eta0"], config["power_t"], alpha
        ),
        "l1": strength * share,
        "l2": strength * (1 - share),
        "fit_intercept": config.get("fit_intercept", True),
        "average_from": int(config["average"]),
        "batch_size": config.get("batch_size", 1),
    }


def assert_close(got, expected, dtype):
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    expected = np.asarray(expected)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * scale)


def trained(X, y, orders, rule, weight=NO_WEIGHT, n_outputs=1, puts_off=False):
    rows = as_rows(X)
    learner = make_learner(rows.shape[1], rows.dtype, rule, n_outputs)
    for order in orders:
        if puts_off:
            learner.put_off(rows)
        learner.last_loss = learner.visit(rows, y, weight, order, order[3:])
    learner.settle(rows)
    return learner
