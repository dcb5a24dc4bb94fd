"""The command `python -m benchmarks`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

# Before numpy is imported: one thread per library, and no other kernels than they would choose.
for _library in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
for _name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_name, None)

# Name -> what it measures; the module has the same name.
BENCHMARKS = {
    "sgd": "SGD on sparse rows: logistic loss in float32 and float64, other losses and penalties",
    "averaging": "what averaging and adaptive steps add to a plain epoch",
    "perceptron": "Perceptron on sparse rows",
    "onepass": "folds, grid points and classes in one pass",
    "exact": "time to the optimum of L2 logistic regression and linear SVMs",
    "lasso": "time to the optimum with L1 penalties, paths, and the transpose",
    "bridge": "penalties by any power of the weights",
    "separability": "whether classes are separable",
    "exact_search": "exact logistic models of all folds and strengths in one pass",
    "memory": "peak memory of the exact solvers per stored entry",
    "multiclass": "softmax, Crammer-Singer and one-vs-rest to their optimum",
    "kernels": "kernels: Gram matrices of strings and trees, support vector machines",
    "naive_bayes": "naive Bayes: counts and predictions of 20 classes",
    "polynomial": "products of columns, listed and hashed",
    "neighbors": "nearest neighbours by brute force",
    "ridge": "ridge regression and its leave-one-out",
    "dense": "SGD on dense rows",
    "predict": "predictions of many rows and of one",
    "startup": "import time",
    "small": "small data with default parameters: every estimator, transformers, searches",
    "pipeline": "text to model: time and peak memory",
    "real_text": "accuracy and time on real text",
    "text": "text to rows, by hashes and by vocabularies",
    "files": "svmlight and CSV files",
    "categories": "one-hot and hashed categories: time and peak memory",
    "stream": "epochs over blocks cached on disk, and reading svmlight text",
    "click_log": "fastlin train on a generated log: time and peak memory",
}


def main() -> int:
    """Run the benchmarks that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="what to run; all by default")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (default 1)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each (default 5)")
    parser.add_argument("--list", action="store_true", help="list the benchmarks")
    parser.add_argument("--plot", metavar="FILE", help="picture of suboptimality over time (exact)")
    parser.add_argument("--size", default="300M", help="bytes of the log of click_log (300M)")
    parser.add_argument("--folder", help="where click_log writes (the system's temporary folder)")
    parser.add_argument("--data", metavar="FOLDER", help="texts for real_text and small")
    options = parser.parse_args()
    if options.list:
        for name, purpose in BENCHMARKS.items():
            print(f"{name:14}{purpose}")
        return 0
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}; --list shows them")
    if options.scale <= 0 or options.rounds < 1:
        parser.error("--scale must be above 0 and --rounds at least 1")

    from .measure import machine, missing_peers

    print(machine(), flush=True)
    if missing_peers():
        print(f"\nMissing, so their columns are empty: {', '.join(missing_peers())}.")
    for name in options.names or BENCHMARKS:
        print(f"\n## {BENCHMARKS[name][0].upper()}{BENCHMARKS[name][1:]}\n", flush=True)
        module = importlib.import_module(f".{name}", __package__)
        if name in ("text", "files"):
            print("```", flush=True)
            module.run()
            print("```", flush=True)
        elif name == "click_log":
            module.run(options.size, options.folder)
        elif name == "small":
            module.run(options.scale, options.rounds, options.data)
        elif name == "real_text":
            module.run(options.data, options.rounds)
        elif name == "exact":
            module.run(options.scale, options.rounds, options.plot)
        else:
            module.run(options.scale, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
