"""Which layer may do what, as far as reading the sources can tell.

`house_rules.py` reads; that each of its rules can fail shows `test_house_rules.py`.
"""

import inspect
import subprocess
import sys
from pathlib import Path

import house_rules as rules
import pytest
from public import LEARNERS

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "src_c").exists(), reason="runs in a source tree")

C_FILES = sorted((ROOT / "src_c").glob("*.[ch]"))
CORE = sorted((ROOT / "fastlin" / "_core").glob("*.pyx"))
CONTRACTS = sorted((ROOT / "fastlin" / "_core").glob("*.pxd"))
PYTHON = sorted((ROOT / "fastlin").rglob("*.py"))


def name(path):
    return path.name


def read(path):
    return path.read_text(encoding="utf-8")


def rule_name(value):
    return value if isinstance(value, str) else ""


def test_there_is_something_to_read():
    assert len(C_FILES) > 8
    assert len(CORE) > 4
    assert len(PYTHON) > 20
    assert len(LEARNERS) > 4


# C


@pytest.mark.parametrize("rule", rules.C_PATTERNS)
@pytest.mark.parametrize("path", C_FILES, ids=name)
def test_c(path, rule):
    assert rules.c_faults(read(path), rules.C_PATTERNS[rule]) == [], f"{path.name} {rule}: broken"


@pytest.mark.parametrize("path", C_FILES, ids=name)
def test_c_has_no_global_that_changes(path):
    assert rules.c_globals(read(path)) == []


@pytest.mark.parametrize("path", [path for path in C_FILES if path.name != "fl_common.h"], ids=name)
def test_extensions_of_compilers_stand_in_one_file(path):
    assert rules.c_faults(read(path), rules.GNU) == []


def test_that_one_file_is_where_they_are():
    assert rules.c_faults(read(ROOT / "src_c" / "fl_common.h"), rules.GNU)


# Cython


@pytest.mark.parametrize("rule", rules.CYTHON_PATTERNS)
@pytest.mark.parametrize("path", CORE, ids=name)
def test_cython(path, rule):
    text = read(path)
    if path.name == "rows.pyx" and rule == "has no messages":
        # the one class that a user meets says how it is made
        text = text.replace('raise TypeError("Rows are made by fastlin.as_rows(X).")', "")
    found = rules.cython_faults(text, rules.CYTHON_PATTERNS[rule])
    assert found == [], f"{path.name} {rule}: broken"


@pytest.mark.parametrize("path", CORE, ids=name)
def test_kernels_have_no_defaults(path):
    # what users call themselves
    allowed = {
        "scorer.pyx": ["__call__(self, x, data=None)", "predict(self, x, data=None)"],
        "rows.pyx": ["hstack(blocks, dtype=None)", "to_csr(self, copy=False)"],
    }
    found = [line.strip(" :").removeprefix("def ") for line in rules.kernel_defaults(read(path))]
    assert found == allowed.get(path.name, [])


@pytest.mark.parametrize("path", CORE + CONTRACTS, ids=name)
def test_c_functions_say_whether_they_raise(path):
    assert rules.silent_about_exceptions(read(path)) == []


# What kernels write to, by module; all else that they take may be read-only.
WRITTEN = {
    "columns": {"counts", "indices", "values", "place"},
    "dual_cd": {"squares", "k", "out", "a", "logit", "u", "resting", "pause", "bracket"},
    "cells": {"text", "row_begins", "row_lines", "cells", "out", "codes"},
    "counts": {"ends", "order", "counts", "mass", "out", "sums"},
    "beside": {"sizes", "places", "indices", "values"},
    "encode": {"codes"},
    "hashed": {"out", "keys", "row_ends", "indices", "values"},
    "brackets": {
        "production", "starts", "children", "sizes", "begins", "order", "ordered", "rank",
    },
    "gram": {"out", "place", "room", "total", "shift", "first", "last"},
    "homotopy": {"L", "places", "sign", "w", "v", "active", "d", "u", "a", "r"},
    "joint": {
        "b", "V", "u", "paid", "moments", "packed", "last", "collected", "value", "gradient", "out",
        "sums", "w",
    },
    "joint_blocks": {"z", "W", "room", "value", "p"},
    "joint_dual": {"state", "s", "U", "W", "resting", "room"},
    "joint_primal": {"out", "t", "bend", "size", "w", "m", "b"},
    "kernel_dual": {
        "a", "e", "rise", "fall", "stamp", "logit", "f", "late", "b", "out",
    },
    "levels": {
        "tokens", "seen", "counts", "free", "grams", "out", "ids", "before", "last", "documents",
        "total", "size", "features", "columns", "placed", "depth", "begins", "order",
    },
    "losses": {"value", "slope", "out"},
    "blocks": {"out"},
    "multi": {
        "lanes", "v", "u", "paid", "sizes", "squares", "out", "w", "state", "room", "sums", "heads",
    },
    "neighbors": {
        "columns", "values", "entries", "room", "out", "candidates", "distance", "number",
    },
    "newton": {"z", "out"},
    "names": {
        "first", "second", "room", "order", "out", "ends", "a_place", "b_place", "names", "counts",
        "whole", "whole_keys", "whole_starts", "whole_lengths",
    },
    "ngrams": {
        "is_word", "before", "last", "arena", "ends", "numbers", "indices", "seen", "data",
    },
    "order": {"order", "unshuffled", "rng", "out"},
    # the arrays that the parser fills
    "parse": {
        "values", "columns", "labels", "row_ends", "row_lines", "label_ends", "query_ids", "hard",
    },
    "polynomial": {
        "numbers", "keys", "entries", "room", "narrow", "wide", "values", "table", "sums",
        "columns", "ends",
    },
    "primal_cd": {
        "mean", "curvature", "w", "r", "out", "h", "G", "places", "values", "v", "W",
        "objective", "gap", "turns", "R", "d", "u", "rows", "seen",
    },
    "respond": {"out"},
    "rows": {"out", "in_order", "place", "keys"},
    "sgd": {"v", "u", "owed", "paid", "gradients", "w"},
    "strings": {"codes"},
    "text": {"indptr", "indices", "data", "memory"},
    "transpose": {"ends", "heads", "rows", "values", "entry", "buffer"},
    "voted": {
        "b", "V", "row_numbers", "when", "change", "pair", "starts", "owner", "value", "out", "r",
        "votes", "z", "top",
    },
}  # fmt: skip


@pytest.mark.parametrize("path", CORE, ids=name)
def test_memoryviews_of_input_are_const(path):
    assert rules.writable_views(read(path), WRITTEN.get(path.stem, ())) == []


# Python


@pytest.mark.parametrize("path", [path for path in PYTHON if path.name != "_parallel.py"], ids=name)
def test_only_parallel_starts_threads(path):
    assert rules.starts_threads(read(path)) == set()


def test_parallel_does():
    assert rules.starts_threads(read(ROOT / "fastlin" / "_parallel.py"))


# Files between the estimators and the kernels: each knows the kernels of one purpose.
CALLERS = {
    "_blocks.py", "_cells.py", "_centred.py", "_class_counts.py", "_columns.py", "_count_rows.py",
    "_counts.py",
    "_data.py", "_delimited.py", "_dual_cd.py", "_gram_levels.py",
    "_dual_lanes.py", "_dual_newton.py", "_epochs.py", "_gram.py", "_homotopy.py",
    "_isa.py",
    "_category_hashes.py", "_column_scales.py", "_far_columns.py", "_hstack.py", "_indicators.py",
    "_joint_dual.py", "_joint_dual_newton.py", "_joint_model.py",
    "_joint_problem.py",
    "_kernel_dual.py", "_kernel_perceptron.py", "_lane_losses.py", "_lanes.py", "_learner.py",
    "_linear.py",
    "_merged_names.py", "_mistakes.py", "_neighbors.py", "_ngram_counts.py", "_polynomial.py",
    "_prepare.py",
    "_primal_cd.py", "_probability.py", "_problem.py", "_prox_grad.py",
    "_quadratic.py",
    "_reductions.py", "_row_centre.py", "_row_slices.py", "_safety.py", "_scorer.py",
    "_scores.py", "_sgd.py", "_shared_newton.py", "_split.py", "_square_newton.py", "_strings.py",
    "_svmlight.py", "_sweeps.py", "_text_blocks.py",
    "_text_rows.py", "_transpose.py", "_trees.py", "_vectors.py", "_vocabulary.py", "_voted.py",
    "text.py", "tfidf.py",
}  # fmt: skip
LEARNER_FILES = sorted({Path(inspect.getsourcefile(cls)) for cls in LEARNERS})


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_few_files_call_kernels(path):
    if path.name not in CALLERS and path.parent.name != "_core":
        assert rules.kernels(read(path)) == set()


def test_those_few_do():
    callers = {path.name for path in PYTHON if rules.kernels(read(path))}
    assert callers == CALLERS


@pytest.mark.parametrize("path", LEARNER_FILES, ids=name)
def test_learners_have_no_loops_and_call_no_kernel(path):
    assert rules.loops(read(path)) == []
    assert rules.kernels(read(path)) == set()


# Who converts X or looks into its values: the door; the door of categories, which are no numbers,
# and the inverse of their encoding; what writes a matrix to a file, and what takes rows or columns
# of one.
CONVERTERS = {
    "_data.py", "_prepare.py", "_columns.py", "categories.py", "_svmlight_writer.py",
    "_splitters.py", "_table_columns.py",
}  # fmt: skip


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_only_the_door_converts_or_checks_x(path):
    if path.name not in CONVERTERS:
        assert rules.conversions_of_x(read(path)) == []


def test_the_door_does():
    assert rules.conversions_of_x(read(ROOT / "fastlin" / "_data.py"))


def test_only_the_door_makes_rows():
    """And those that build the arrays themselves: rows cut from others, rows of ones, the rows of a
    stored model, the columns, and products of columns."""
    makers = {path.name for path in PYTHON if "make_rows" in read(path)}
    known = {"_column_scales.py", "_data.py", "_far_columns.py", "_prepare.py", "_row_slices.py",
             "_hstack.py", "_indicators.py", "_mistakes.py", "_transpose.py",
             "_polynomial.py"}  # fmt: skip
    assert makers <= known


OPTIONAL = {"scipy", "sklearn", "pandas", "polars", "pyarrow", "matplotlib"}


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_scipy_and_friends_are_imported_where_they_are_used(path):
    """At the top of no module: `import fastlin` stays cheap, and scikit-learn optional."""
    assert rules.imports_at_the_top(read(path)) & OPTIONAL == set()


def loaded_by(code):
    """Optional modules that are in memory after some code, run by a fresh interpreter."""
    code += f"; import sys; print(*sorted({OPTIONAL!r} & set(sys.modules)))"
    # elsewhere, since Python would find uncompiled sources in the current folder first
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parent,
    )  # fmt: skip
    return done.stdout.split()


def test_import_loads_numpy_only():
    assert loaded_by("import fastlin") == []
    assert loaded_by("import fastlin; fastlin.SGDClassifier; fastlin.as_rows([[1.0]])") == []
    assert loaded_by("import scipy.sparse") == ["scipy"]


def test_a_fit_without_sparse_data_loads_no_scipy():
    code = (
        "import numpy, fastlin;"
        "m = fastlin.SGDClassifier(max_iter=3, tol=None, learning_rate='invscaling');"
        "m.fit(numpy.eye(4), [0, 1, 0, 1]).predict(numpy.eye(4))"
    )
    assert loaded_by(code) == []
