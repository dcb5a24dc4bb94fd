"""The rules of the house, as far as reading the sources can tell: which layer may do what, how long
files and functions may be, and what a user can look up."""

import ast
import inspect
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fastlin

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "src_c").exists(), reason="runs in a source tree")

C_FILES = sorted((ROOT / "src_c").glob("*.[ch]"))
CORE = sorted((ROOT / "fastlin" / "_core").glob("*.pyx"))
CONTRACTS = sorted((ROOT / "fastlin" / "_core").glob("*.pxd"))
PYTHON = sorted((ROOT / "fastlin").rglob("*.py"))
STUBS = sorted((ROOT / "fastlin").rglob("*.pyi"))
TESTS = sorted((ROOT / "tests").glob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))


def name(path):
    return path.name


def c_code(path):
    """A C source without its comments and strings."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", " ", text)
    return re.sub(r'"(\\.|[^"\\])*"', '""', text)


def cython_code(path):
    """A Cython source without its comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'""".*?"""', '""', text, flags=re.DOTALL)
    return re.sub(r"#[^\n]*", "", text)


def calls(tree):
    """Names of the functions that a Python source calls: `f` and the last part of `a.b.f`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            target = node.func
            yield target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def imports(tree):
    """Modules that a Python source imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


# C


def test_there_is_something_to_read():
    assert len(C_FILES) > 8
    assert len(CORE) > 4
    assert len(PYTHON) > 20


@pytest.mark.parametrize("path", C_FILES, ids=name)
@pytest.mark.parametrize(
    ("rule", "pattern"),
    [
        ("knows no Python", r"Python\.h|\bPy[A-Z_]\w*|numpy"),
        ("allocates nothing", r"\b(malloc|calloc|realloc|free|alloca|strdup)\s*\("),
        ("calls no generator of the C library", r"\b(s?rand|random|drand48|rand_r)\s*\("),
        (
            "calls no libm but sqrt",
            r"\b(exp|exp2|expm1|log|log2|log10|log1p|pow|tanh|sin|cos|fma)f?\s*\(",
        ),
        ("prints nothing and ends nothing", r"\b(printf|fprintf|puts|exit|abort)\s*\("),
        ("keeps no state", r"\bstatic\s+(?!inline\b|const\b)(?![^;{=]*\()[^;]*[;=]"),
        (
            "has no array of variable length",
            r"\b(?:int|double|float|char|u?int\d+_t)\s+\w+\[[a-z]\w*\]\s*[;=]",
        ),
    ],
    ids=lambda value: value if " " in value else "",
)
def test_c(path, rule, pattern):
    found = [match.group(0) for match in re.finditer(pattern, c_code(path))]
    assert not found, f"{path.name} breaks the rule '{rule}': {found[:3]}"


@pytest.mark.parametrize("path", [path for path in C_FILES if path.name != "fl_common.h"], ids=name)
def test_gnu_extensions_stand_in_one_file(path):
    assert not re.search(
        r"__attribute__|__builtin_|__restrict__|__forceinline|_MSC_VER|typeof", c_code(path)
    )


@pytest.mark.parametrize("path", [path for path in C_FILES if path.suffix == ".h"], ids=name)
def test_every_header_says_what_it_is(path):
    assert path.read_text(encoding="utf-8").startswith("/* ")


# Cython


@pytest.mark.parametrize("path", CORE, ids=name)
@pytest.mark.parametrize(
    ("rule", "pattern"),
    [
        ("no prange", r"\bprange\b|cython\.parallel"),
        ("takes no GIL inside a loop", r"\bwith gil\b"),
        ("needs no numpy headers", r"\bcimport numpy\b"),
        ("no messages", r"\braise\s+\w+\s*\(\s*f?[\"']|\bwarn\s*\(|\bprint\s*\("),
        ("declares C only in a pxd", r"\bcdef extern\b"),
    ],
    ids=lambda value: value if " " in value else "",
)
def test_cython(path, rule, pattern):
    code = cython_code(path)
    if path.name == "rows.pyx" and rule == "no messages":
        # the one class that a user meets says how it is made
        code = code.replace('raise TypeError("Rows are made by fastlin.as_rows(X).")', "")
    found = re.findall(pattern, code)
    assert not found, f"{path.name} breaks the rule '{rule}': {found[:3]}"


@pytest.mark.parametrize("path", CORE, ids=name)
def test_kernels_have_no_defaults(path):
    for signature in re.findall(r"^def (\w+\([^)]*\))", cython_code(path), flags=re.MULTILINE):
        assert "=" not in signature, f"{path.name}: {signature}"


@pytest.mark.parametrize("path", CORE + CONTRACTS, ids=name)
def test_c_functions_say_whether_they_raise(path):
    """Without a word Cython would look for an exception after each call."""
    function = re.compile(r"^cdef (?:inline )?[\w ]+ \**\w+\([^)]*\)[^:]*:", re.MULTILINE)
    for line in function.findall(cython_code(path)):
        returns_object = re.match(r"cdef (inline )?(object|list|dict|tuple|bytes|str) ", line)
        assert "noexcept" in line or " except" in line or returns_object, f"{path.name}: {line}"


WRITTEN = {
    "v", "u", "paid", "V", "b", "moments", "last", "collected", "out", "w", "order", "unshuffled",
    "rng", "value", "slope", "gradient", "gradients", "state",
}  # fmt: skip


@pytest.mark.parametrize("module", ["sgd", "joint", "rows", "losses", "order"])
def test_memoryviews_of_input_are_const(module):
    """What a kernel only reads may be read-only; what it writes is named here."""
    code = cython_code(ROOT / "fastlin" / "_core" / f"{module}.pyx")
    for signature in re.findall(r"^def \w+\(([^)]*)\)", code, flags=re.MULTILINE):
        for argument in signature.split(", "):
            match = re.match(r"\s*(const )?[\w]+\[[:, 1]+\] (\w+)$", argument)
            if match and not match.group(1):
                assert match.group(2) in WRITTEN, f"{module}.pyx: {argument}"


# Python


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_only_parallel_starts_threads(path):
    if path.name == "_parallel.py":
        return
    tree = parse(path)
    modules = {module.partition(".")[0] for module in imports(tree)}
    assert not modules & {"concurrent", "multiprocessing", "_thread", "asyncio", "joblib"}
    starters = {"Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "start_new_thread"}
    assert not starters & set(calls(tree))


# Files between the estimators and the kernels: each knows the kernels of one purpose.
CALLERS = {
    "_columns.py", "_data.py", "_epochs.py", "_learner.py", "_linear.py", "_probability.py",
    "_row_slices.py", "_safety.py", "_scorer.py", "_scores.py", "_sgd.py", "_split.py",
    "_svmlight.py", "_voted.py", "categories.py", "text.py",
}  # fmt: skip
ESTIMATORS = ["sgd.py", "perceptron.py", "passive_aggressive.py", "_online.py"]


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_few_files_call_kernels(path):
    if path.name in CALLERS or path.parent.name == "_core":
        return
    found = {module for module in imports(parse(path)) if "_core" in module.split(".")}
    # the type of the matrix is not a kernel
    assert found <= {"._core.rows", "._core.rows.Rows"}


@pytest.mark.parametrize("file", ["sgd.py", "perceptron.py", "passive_aggressive.py"])
def test_estimators_have_no_loops(file):
    loops = [
        node
        for node in ast.walk(parse(ROOT / "fastlin" / file))
        if isinstance(node, (ast.For, ast.While))
    ]
    assert not loops


@pytest.mark.parametrize("file", ESTIMATORS)
def test_estimators_neither_convert_nor_check_arrays_of_x(file):
    tree = parse(ROOT / "fastlin" / file)
    assert not {"tocsr", "csr_matrix", "csr_array", "ascontiguousarray"} & set(calls(tree))
    assert not [module for module in imports(tree) if module.startswith("scipy")]


def test_only_the_door_makes_rows():
    """And three that build the arrays themselves: some of the rows, rows of ones, and the rows of a
    stored model."""
    makers = ("_data.py", "_prepare.py", "_row_slices.py", "categories.py", "_voted.py")
    for path in PYTHON:
        if path.name not in makers:
            assert "make_rows" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_scipy_and_friends_are_imported_where_they_are_used(path):
    """At the top of no module: `import fastlin` stays cheap, and scikit-learn optional."""
    for node in parse(path).body:
        for module in imports(ast.Module([node], [])):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                assert module.partition(".")[0] not in (
                    "scipy",
                    "sklearn",
                    "pandas",
                    "polars",
                    "pyarrow",
                    "matplotlib",
                )


def test_import_loads_neither_scipy_nor_scikit_learn():
    code = (
        "import sys, fastlin; fastlin.SGDClassifier; fastlin.Perceptron; fastlin.as_rows([[1.0]]);"
        "print([m for m in ('scipy', 'sklearn', 'pandas', 'polars') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_fit_without_sparse_data_loads_no_scipy():
    code = (
        "import sys, numpy, fastlin;"
        "m = fastlin.SGDClassifier(max_iter=3, tol=None, learning_rate='invscaling');"
        "m.fit(numpy.eye(4), [0, 1, 0, 1]).predict(numpy.eye(4));"
        "print([m for m in ('scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# What a user can look up


def test_every_public_name_exists():
    for public in fastlin.__all__:
        assert getattr(fastlin, public) is not None
    assert set(fastlin.__all__) <= set(dir(fastlin))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        fastlin.nothing  # noqa: B018


def public_objects():
    """Public classes and functions, with the methods that a class defines or inherits from us."""
    for public in fastlin.__all__:
        value = getattr(fastlin, public)
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        yield public, value
        if inspect.isclass(value) and not issubclass(value, BaseException):
            for attribute in dir(value):
                member = inspect.getattr_static(value, attribute)
                ours = (getattr(member, "__module__", "") or "fastlin").startswith("fastlin")
                if not attribute.startswith("_") and ours:
                    yield f"{public}.{attribute}", member


PUBLIC = dict(public_objects())
SHOWN = [public for public, value in PUBLIC.items() if not inspect.isdatadescriptor(value)]


@pytest.mark.parametrize("public", SHOWN)
def test_public_docstrings_exist(public):
    value = PUBLIC[public]
    text = inspect.getdoc(value) or ""
    assert text.strip(), f"{public} has no docstring"
    assert len(text.splitlines()[0]) <= 100
    # what scikit-learn asks of each estimator needs no more than a line
    if inspect.isfunction(value) and not public.rpartition(".")[2].startswith("set_"):
        for parameter in inspect.signature(value).parameters.values():
            named = parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            if named and parameter.name not in ("self", "cls"):
                assert re.search(rf"\b{parameter.name}\b", text), f"{public}: {parameter.name}"


@pytest.mark.parametrize("public", [public for public in PUBLIC if public not in SHOWN])
def test_public_properties_are_described(public):
    cls, _, attribute = public.partition(".")
    own = inspect.getdoc(PUBLIC[public]) or ""
    assert own.strip() or re.search(rf"\b{attribute}\b", inspect.getdoc(getattr(fastlin, cls)))


def written_default(line):
    """The value after "default=" in a docstring, as Python reads it; None if there is none."""
    match = re.search(r"default=(.+)$", line)
    if match is None:
        return None
    text = match.group(1).rstrip(".")
    if re.fullmatch(r"\d+\*\*\d+", text):
        return eval(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


ESTIMATOR_CLASSES = [
    value for value in PUBLIC.values() if inspect.isclass(value) and hasattr(value, "get_params")
]


@pytest.mark.parametrize("cls", ESTIMATOR_CLASSES, ids=lambda cls: cls.__name__)
def test_docstrings_describe_each_parameter_with_its_default(cls):
    text = inspect.getdoc(cls)
    assert ">>>" in text, "no example"
    for parameter in inspect.signature(cls).parameters.values():
        described = re.search(rf"^{parameter.name} : (.*)$", text, flags=re.MULTILINE)
        assert described, f"{cls.__name__}: {parameter.name} is not described"
        value, written = parameter.default, written_default(described.group(1))
        if value is inspect.Parameter.empty:
            assert written is None
            continue
        if inspect.isclass(value):
            assert written in (value.__name__, f"{value.__module__}.{value.__name__}")
            continue
        if written == "nan":
            assert math.isnan(value)
            continue
        same = written == value and isinstance(written, bool) == isinstance(value, bool)
        assert same, f"{cls.__name__}: {parameter.name}={value!r}, described as {written!r}"


# Size and style


@pytest.mark.parametrize("path", C_FILES + CORE + CONTRACTS + PYTHON, ids=name)
def test_no_file_is_longer_than_500_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_no_function_is_longer_than_60_lines(path):
    for node in ast.walk(parse(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            start = first.end_lineno if doc else node.lineno
            length = node.end_lineno - start
            assignments = all(isinstance(part, ast.Assign) for part in node.body[doc:])
            assert length <= 60 or assignments, f"{path.name}: {node.name} has {length} lines"


@pytest.mark.parametrize("path", CORE, ids=name)
def test_no_kernel_is_longer_than_100_lines(path):
    lines = cython_code(path).splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(r"(cp?def|def|cdef class) ", line)]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        if "class" not in lines[start]:
            body = [line for line in lines[start:stop] if line.strip()]
            assert len(body) <= 100, f"{path.name}: {lines[start]}"


@pytest.mark.parametrize(
    "path", C_FILES + CORE + CONTRACTS + STUBS + PYTHON + TESTS + BENCHMARKS, ids=name
)
def test_lines_are_short_and_clean(path):
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        assert len(line) <= 100, f"{path.name}:{number} is {len(line)} wide"
        assert line == line.rstrip(), f"{path.name}:{number} ends in blanks"
        assert "\t" not in line, f"{path.name}:{number} has a tab"
    assert text.endswith("\n") or not text


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_every_module_and_function_says_what_it_is_for(path):
    tree = parse(path)
    if path.read_text(encoding="utf-8").strip():
        assert ast.get_docstring(tree), f"{path.name} has no docstring"
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            named = ast.get_docstring(node) or any(
                isinstance(part, ast.Assign) and getattr(part.targets[0], "id", "") == "__doc__"
                for part in node.body
            )
            assert named, f"{path.name}: class {node.name} has no docstring"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            assert ast.get_docstring(node), f"{path.name}: {node.name} has no docstring"
