"""All pictures of `fastlin.plot`, from real data: `python -m benchmarks.gallery FOLDER [name ...]`.

The data are those that come with fastlin and with scikit-learn. Pictures are written as PNG files
of few colours, small enough for a README.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before numpy is imported: threads would wait for each other on so few columns.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

WIDTH, HEIGHT, DOTS = 4.8, 3.6, 130
# Colours of a file
_PALETTE = 48


def _iris(*columns: int) -> tuple[Any, np.ndarray]:
    """Columns of iris, as a frame with short names, and the species."""
    import pandas
    from sklearn.datasets import load_iris

    data = load_iris()
    names = [name.replace(" (cm)", ", cm") for name in data.feature_names]
    frame = pandas.DataFrame(data.data, columns=names).iloc[:, list(columns)]
    return frame, data.target_names[data.target]


def _mushrooms() -> tuple[Any, np.ndarray]:
    """Five attributes of mushrooms that don't separate them, as one-hot rows."""
    from fastlin import OneHotEncoder
    from fastlin.datasets import load_mushrooms

    X, y = load_mushrooms(return_X_y=True)
    return OneHotEncoder().fit_transform(X[:, [0, 1, 2, 7, 10]]), y


def _diabetes() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Diabetes, in units of standard deviations."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    X, y = data.data, data.target
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std(), data.feature_names


def decision_boundary(axes: Any) -> None:
    """A support vector machine and its margin band."""
    from fastlin import LinearSVC, plot

    X, y = _iris(2, 3)
    kept = y != "setosa"
    model = LinearSVC(loss="hinge", C=1.0).fit(X[kept], y[kept])
    plot.decision_boundary(model, X[kept], y[kept], ax=axes[0])
    axes[0].set_title("linear SVM on iris")


def several_classes(axes: Any) -> None:
    """A softmax with three classes."""
    from fastlin import LogisticRegression, plot

    X, y = _iris(2, 3)
    plot.decision_boundary(LogisticRegression(C=10).fit(X, y), X, y, ax=axes[0])
    axes[0].set_title("softmax on iris")


def perceptron_steps(axes: Any) -> None:
    """A perceptron's lines after each mistake."""
    from fastlin import Perceptron, plot

    X, y = _iris(0, 2)
    kept = y != "virginica"
    order = np.random.default_rng(1).permutation(int(kept.sum()))
    plot.perceptron_steps(Perceptron(), X[kept].iloc[order], y[kept][order], ax=axes[0])
    axes[0].set_title("perceptron on iris: no more mistakes")


def quadratic_separation(axes: Any) -> None:
    """The middle one of three species by one measurement."""
    from fastlin import LogisticRegression, plot

    X, y = _iris(2)
    X = (X - X.mean()).set_axis(["petal length less its mean, cm"], axis=1)
    y = np.where(y == "versicolor", "versicolor", "others")
    plot.quadratic_separation(LogisticRegression(C=1e4), X, y, ax=axes[0])
    axes[0].set_ylabel("its square, cm\u00b2")
    axes[0].set_title("a line on the parabola, two thresholds")


def regularized_fits(axes: Any) -> None:
    """A polynomial of degree 15 with a penalty and without one."""
    import pandas
    from sklearn.datasets import load_diabetes
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    from fastlin import LinearRegression, Ridge, plot

    data = load_diabetes(scaled=False)
    rows = slice(None, None, 12)
    x = pandas.DataFrame({"body mass index, kg/m\u00b2": data.data[rows, 2]})
    y = data.target[rows]

    def fitted(model: Any) -> Any:
        terms = PolynomialFeatures(15, include_bias=False)
        return make_pipeline(StandardScaler(), terms, StandardScaler(), model).fit(x, y)

    models = {"no penalty": fitted(LinearRegression()), "ridge, alpha 1": fitted(Ridge(alpha=1.0))}
    plot.fitted_curves(models, x, y, ax=axes[0])
    axes[0].set_ylabel("progression after a year, score")
    axes[0].set_title("polynomials of degree 15, 37 patients")


def softmax_sparsemax(axes: Any) -> None:
    """Probabilities that can and can't be 0."""
    from fastlin import LogisticRegression, SparsemaxClassifier, plot

    X, y = _iris(2)
    models = {"softmax": LogisticRegression(C=10).fit(X, y),
              "sparsemax": SparsemaxClassifier(C=10).fit(X, y)}
    plot.probability_curves(models, X, ax=axes[0])
    axes[0].set_title("softmax beside sparsemax, iris")


def regularization_path(axes: Any) -> None:
    """The lasso's weights as its penalty falls."""
    from fastlin import plot, regularization_path

    X, y, names = _diabetes()
    plot.regularization_path(regularization_path(X, y), names=names, ax=axes[0])
    axes[0].set_ylabel("weight, sd of y per sd of a column")
    axes[0].set_title("lasso on diabetes")


def lp_balls(axes: Any) -> None:
    """Unit balls of penalties."""
    from fastlin import plot

    plot.lp_balls([0.5, 1, 1.5, 2, np.inf], ax=axes[0])
    axes[0].set_title("unit balls of $|w|_p$")


def sparsity(axes: Any) -> None:
    """Weights that are left as p falls."""
    from fastlin import BridgeRegressor, plot

    X, y, _ = _diabetes()
    rng = np.random.default_rng(0)
    X = np.hstack([X, rng.permuted(X, axis=0), rng.permuted(X, axis=0)])
    ps = [np.inf, 2, 1.5, 1, 0.5, 0]
    models = [BridgeRegressor(p=p, alpha=0.01, max_iter=20_000).fit(X, y) for p in ps]
    plot.sparsity(ps, models, ax=axes[0])
    axes[0].set_title("diabetes and 20 shuffled columns")


def loss_zoo(axes: Any) -> None:
    """All losses of the table."""
    from fastlin import plot

    plot.loss_zoo(ax=axes[0])
    plot.loss_zoo(kind="target", ax=axes[1])


def convergence(axes: Any) -> None:
    """Nine methods on one objective, against passes and seconds."""
    from fastlin import plot
    from fastlin.optim import METHODS, minimize

    X, y = _mushrooms()
    given = {"alpha": 1e-3, "random_state": 0, "tol": 1e-8}
    for name in METHODS:  # what is loaded on first use
        minimize("log_loss", X[:50], y[:50], method=name, max_iter=2, **given)
    found = {
        name: minimize("log_loss", X, y, method=name, max_iter=200, **given) for name in METHODS
    }
    plot.convergence(found, against="passes", ax=axes[0])
    plot.convergence(found, ax=axes[1])
    axes[0].set_title("logistic regression, 8,124 mushrooms")
    axes[1].set_title("the same in seconds")
    axes[1].get_legend().remove()


def learning_curve(axes: Any) -> None:
    """How much more text would help."""
    from fastlin import HashingVectorizer, SGDClassifier, plot
    from fastlin.datasets import load_sms_spam

    texts, labels = load_sms_spam(return_X_y=True)
    X = HashingVectorizer(n_features=2**18).transform(texts)
    model = SGDClassifier(loss="log_loss", alpha=1e-5, random_state=0)
    sizes = np.geomspace(0.02, 1.0, 8)
    plot.learning_curve(model, X, labels, train_sizes=sizes, cv=5, ax=axes[0])
    axes[0].set_xscale("log")
    axes[0].set_title("spam in text messages")


def cv_curve(axes: Any) -> None:
    """The strength of a penalty by cross-validation."""
    from fastlin import GridSearchCV, HashingVectorizer, SGDClassifier, plot
    from fastlin.datasets import load_sms_spam

    texts, labels = load_sms_spam(return_X_y=True)
    X = HashingVectorizer(n_features=2**18).transform(texts)
    model = SGDClassifier(loss="log_loss", random_state=0)
    grid = {"alpha": np.geomspace(1e-7, 1e-2, 11)}
    search = GridSearchCV(model, grid, cv=5, return_train_score=True).fit(X, labels)
    plot.cv_curve(search, ax=axes[0])
    axes[0].set_title("spam in text messages")


# Name -> what draws it, and on how many axes
PICTURES: dict[str, tuple[Callable[[Any], None], int]] = {
    "decision_boundary": (decision_boundary, 1),
    "several_classes": (several_classes, 1),
    "perceptron_steps": (perceptron_steps, 1),
    "quadratic_separation": (quadratic_separation, 1),
    "regularized_fits": (regularized_fits, 1),
    "softmax_sparsemax": (softmax_sparsemax, 1),
    "regularization_path": (regularization_path, 1),
    "lp_balls": (lp_balls, 1),
    "sparsity": (sparsity, 1),
    "loss_zoo": (loss_zoo, 2),
    "convergence": (convergence, 2),
    "learning_curve": (learning_curve, 1),
    "cv_curve": (cv_curve, 1),
}


def save(name: str, folder: Path) -> Path:
    """Draw a picture into a file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from PIL import Image

    draw, n_axes = PICTURES[name]
    figure, axes = pyplot.subplots(
        1, n_axes, figsize=(WIDTH * n_axes, HEIGHT), layout="constrained", squeeze=False
    )
    draw(axes[0])
    file = folder / f"{name}.png"
    figure.savefig(file, dpi=DOTS)
    pyplot.close(figure)
    with Image.open(file) as image:
        few = image.convert("RGB").quantize(_PALETTE, dither=Image.Dither.NONE)
    few.save(file, optimize=True)
    return file


def main() -> int:
    """Draw what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gallery", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; made if need be")
    parser.add_argument("names", nargs="*", metavar="name", help="pictures; all by default")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PICTURES]
    if unknown:
        parser.error(f"no such picture: {', '.join(unknown)}; there are {', '.join(PICTURES)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or PICTURES:
        start = time.perf_counter()
        file = save(name, options.folder)
        seconds = time.perf_counter() - start
        print(f"{file}  {file.stat().st_size / 1000:.0f} kB  {seconds:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
