"""The rules that are read off the sources can tell good from bad: each finds what breaks it."""

import house_rules as rules
import pytest

BAD_C = {
    "knows no Python": ["#include <Python.h>", "PyObject *x;", "numpy(x);"],
    "allocates nothing": ["void *p = malloc(3);", "free (p);"],
    "calls no generator of the C library": ["int k = rand();", "srand(1);", "x = random();"],
    "calls no libm but sqrt": ["y = exp(x);", "y = log1pf (x);", "y = powl(x, 2);"],
    "prints nothing and ends nothing": ['printf("x");', "abort();", "fprintf(f, s);"],
    "has no array of variable length": ["double z[n];", "FL_REAL z[k];"],
    "is C11 on every system": ["ssize_t n;", "x = ({ 1; });", "x = a ?: b;", "typeof(x) y;"],
}
GOOD_C = """
/* malloc(3), exp(x), printf and Python are words in a comment; */ // rand() too
#include "fl_common.h"
#define FL_TWICE(x) \\
    ((x) * 2)
static const double TABLE[2] = {1, 2};
static const char *const NAMES[] = {"exp(x)", "PyObject"};
static const struct { int a; } POWERS[1] = {{1}};
typedef struct fl_thing { int64_t n; double x[4]; } fl_thing;
enum fl_kind { FL_A, FL_B };
struct fl_other;
int fl_declared(const double *x, int64_t n);
FL_INLINE double fl_f(double x, int64_t n)
{
    static const int small[2] = {1, 2};
    double z[8] = {0}, expected = fl_exp(x);
    return sqrt(x) + z[n] + expected + small[0];
}
static int own(void) { return 1; }
"""


@pytest.mark.parametrize(
    ("rule", "source"), [(rule, source) for rule, all_ in BAD_C.items() for source in all_]
)
def test_c_rules_find(rule, source):
    assert rules.c_faults(f"void f(void)\n{{\n    {source}\n}}\n", rules.C_PATTERNS[rule])


def test_every_c_rule_is_tried_and_passes_sound_code():
    assert set(BAD_C) == set(rules.C_PATTERNS)
    for rule, pattern in rules.C_PATTERNS.items():
        assert rules.c_faults(GOOD_C, pattern) == [], rule
    assert rules.c_faults(GOOD_C, rules.GNU) == []
    assert rules.c_globals(GOOD_C) == []


@pytest.mark.parametrize(
    "source", ["__attribute__((packed))", "__builtin_clz(x)", "__restrict__ x", "__inline f"]
)
def test_gnu_extensions_are_found(source):
    assert rules.c_faults(source, rules.GNU)


@pytest.mark.parametrize(
    "source",
    [
        "int counter;",
        "int counter = 0;",
        "static int counter;",
        "static double table[4] = {0};",
        "const char *name;",
        "struct state { int n; } shared;",
        "extern int counter;",
        "void f(void)\n{\n    static int calls = 0;\n    calls++;\n}",
        "void f(void)\n{\n    static struct rng shared;\n}",
        "int f(int x)\n{\n    return x;\n}\nint counter;\nint g(void)\n{\n    return 1;\n}",
    ],
)
def test_globals_that_change_are_found(source):
    assert len(rules.c_globals(f"#include <stdint.h>\n{source}\n")) == 1


def test_lengths_of_c_functions():
    text = (
        "static int a(int x)\n{\n    return x;\n}\nint later(void);\nint b(void) {\n    x();\n}\n"
    )
    assert [length for _, length in rules.c_function_lengths(text)] == [4, 3]


BAD_CYTHON = {
    "has no prange": ["from cython.parallel import prange", "for i in prange(n):"],
    "takes no GIL inside a loop": ["with gil:", "with  gil:"],
    "needs no numpy headers": ["cimport numpy as np", "from numpy cimport ndarray"],
    "has no messages": ["raise ValueError('no')", 'raise TypeError(f"no")', "print(x)", "warn(x)"],
    "declares C only in a pxd": ['cdef extern from "x.h":', "cdef  extern int f()"],
}
GOOD_CYTHON = '''
"""Words: with gil, prange, cimport numpy, raise ValueError("no")."""
import numpy as np  # print(x)

cdef inline double f(double x) noexcept nogil:
    return x

cdef int g(int x) except -1:
    return x

cdef inline object room(n):
    return np.empty(n)

def run(const double[::1] x, double[:, ::1] out, int k):
    cdef Py_ssize_t i, n = x.shape[0]
    with nogil:
        for i in range(n):
            out[i, 0] = f(x[i])
    raise MemoryError
'''


@pytest.mark.parametrize(
    ("rule", "source"), [(rule, source) for rule, all_ in BAD_CYTHON.items() for source in all_]
)
def test_cython_rules_find(rule, source):
    assert rules.cython_faults(source, rules.CYTHON_PATTERNS[rule])


def test_every_cython_rule_is_tried_and_passes_sound_code():
    assert set(BAD_CYTHON) == set(rules.CYTHON_PATTERNS)
    for rule, pattern in rules.CYTHON_PATTERNS.items():
        assert rules.cython_faults(GOOD_CYTHON, pattern) == [], rule
    assert rules.kernel_defaults(GOOD_CYTHON) == []
    assert rules.silent_about_exceptions(GOOD_CYTHON) == []
    assert rules.writable_views(GOOD_CYTHON, {"out"}) == []
    assert [length for _, length in rules.kernel_lengths(GOOD_CYTHON)] == [2, 2, 2, 6]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x, k=1):\n    pass",
        "    def f(self,\n          k=None):",
        "cdef int f(int k=3) nogil:",
    ],
)
def test_defaults_of_kernels_are_found(source):
    assert rules.kernel_defaults(source)


@pytest.mark.parametrize(
    "source",
    [
        "cdef double f(double x):\n    return x",
        "cdef inline int f(int x) nogil:\n    return x",
        "cdef double f(double x,\n              double y) nogil:\n    return x",
        "    cdef int f(self, int x):\n        return x",
        "cdef double *f(double *x) nogil\n",
    ],
)
def test_silence_about_exceptions_is_found(source):
    assert rules.silent_about_exceptions(f"{source}\n\nimport x\n")


def test_views_that_are_needlessly_writable_are_found():
    text = "def run(double[::1] x, const int[::1] y, real[:, ::1] W, double[::1] out):\n    pass"
    assert rules.writable_views(text, {"out"}) == ["x", "W"]


@pytest.mark.parametrize(
    "source",
    [
        "import threading\nthreading.Thread(target=f).start()",
        "from concurrent.futures import ThreadPoolExecutor",
        "def f():\n    import multiprocessing as m",
        "import asyncio",
        "from joblib import Parallel",
        "import threading\nthreading.Timer(1, f)",
    ],
)
def test_threads_are_found(source):
    assert rules.starts_threads(source)
    assert not rules.starts_threads("import threading\nlock = threading.Lock()")


def test_kernels_are_found():
    assert rules.kernels("from ._core import sgd")
    assert rules.kernels("def f():\n    from ._core.rows import scores")
    assert rules.kernels("import fastlin._core.sgd")
    assert rules.kernels("from fastlin._core.sgd import run")
    assert not rules.kernels("from ._core.rows import Rows\nfrom .sgd import run")


def test_loops_are_found():
    assert rules.loops(
        "def f(X):\n    for x in X:\n        pass\n    while True:\n        pass"
    ) == [2, 4]
    assert rules.loops("names = [name for name in names]") == []


@pytest.mark.parametrize(
    "source",
    [
        "X = np.asarray(X)",
        "y = np.ascontiguousarray(X, dtype=float)",
        "X = X.tocsr()",
        "values = X.data.astype(np.float32)",
        "np.isfinite(X.data).all()",
        "sparse.csr_matrix(X)",
        "X.copy().sum_duplicates()",
    ],
)
def test_conversions_of_x_are_found(source):
    assert rules.conversions_of_x(source) == [1]
    assert (
        rules.conversions_of_x("y = np.asarray(y)\nrows = rows_of(self, X)\nw.astype(X.dtype)")
        == []
    )


def test_imports_at_the_top_are_found():
    text = (
        "import numpy\nif True:\n    from scipy import sparse\nclass A:\n    import pandas.core\n"
    )
    assert rules.imports_at_the_top(text) == {"numpy", "scipy", "pandas"}
    assert rules.imports_at_the_top("def f():\n    import scipy") == set()


def test_lengths_of_functions():
    text = '''
def f():
    """One
    two."""
    return 1

def g():
    return (
        1
    )
'''
    assert dict(rules.function_lengths(text)) == {"f": 2, "g": 4}


def test_untidy_lines_are_found():
    text = "x" * 101 + "\ny \n\tz\nlast"
    assert [number for number, _ in rules.untidy_lines(text)] == [1, 2, 3, 4]
    assert rules.untidy_lines("x" * 100 + "\n") == rules.untidy_lines("") == []


def test_what_is_not_described_is_found():
    assert rules.undescribed("x = 1\ndef f():\n    pass\nclass A:\n    y = 2\n") == [
        "the module", "A", "f",
    ]  # fmt: skip
    assert rules.undescribed('"""M."""\nclass A:\n    __doc__ = "a"\ndef _f():\n    "f"\n') == []


def test_repeated_names_are_found():
    twice = """
def test_a():
    pass
@mark
def test_a():
    pass
class B:
    pass
class B:
    pass
"""
    once = """
class A:
    @property
    def x(self):
        pass
    @x.setter
    def x(self, value):
        pass
"""
    assert rules.repeated_names(twice) == ["B", "test_a"]
    assert rules.repeated_names(once) == []
