"""Pictures of data, models, losses and searches; each function takes the axes to draw on.

They need matplotlib, which ``pip install fastlin[plot]`` brings along. Estimators may be those of
fastlin or of scikit-learn.
"""

from ._plot_boundaries import decision_boundary, perceptron_steps, quadratic_separation
from ._plot_functions import fitted_curves, loss_zoo, probability_curves
from ._plot_penalties import lp_balls, regularization_path, sparsity
from ._plot_scores import cv_curve, learning_curve
from ._plot_traces import convergence

__all__ = [
    "convergence", "cv_curve", "decision_boundary", "fitted_curves", "learning_curve", "loss_zoo",
    "lp_balls", "perceptron_steps", "probability_curves", "quadratic_separation",
    "regularization_path", "sparsity",
]  # fmt: skip
