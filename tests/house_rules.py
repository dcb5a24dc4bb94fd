"""The rules of the house as functions from the text of a source to what breaks them.

`test_layers.py` and `test_style.py` apply them to our sources, `test_house_rules.py` to bad ones.
"""

import ast
import re

# C

C_PATTERNS = {
    "knows no Python": r"Python\.h|\bPy[A-Z_]\w*|numpy",
    "allocates nothing": r"\b(?:malloc|calloc|realloc|free|alloca|strdup)\s*\(",
    "calls no generator of the C library": r"\b(?:s?rand|s?random|drand48|rand_r|arc4random)\s*\(",
    "calls no libm but sqrt": r"\b(?:exp|exp2|expm1|log|log2|log10|log1p|pow|tanh|cosh|sinh|sin|"
    r"cos|tan|atan|atan2|erf|cbrt|hypot|fma|lgamma|tgamma)[fl]?\s*\(",
    "prints nothing and ends nothing": r"\b(?:v?s?n?f?printf|f?puts|putchar|exit|_Exit|abort)\s*\(",
    "has no array of variable length": r"\b(?:int|double|float|char|FL_REAL|u?int\d+_t)\s+"
    r"\w+\[[a-z]\w*\]\s*[;=]",
    "is C11 on every system": r"\bssize_t\b|\(\{|\b__?asm\b|\?:|\btypeof\b|__auto_type",
}
GNU = r"__attribute__|__builtin_|__restrict|__inline|__forceinline|__declspec|_MSC_VER|__GNUC__"


def c_code(text):
    """C without comments and the contents of strings."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", " ", text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def c_faults(text, pattern):
    """What of a C source matches a pattern."""
    return [match.group(0).strip() for match in re.finditer(pattern, c_code(text))]


def _without_directives(text):
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", c_code(text), flags=re.MULTILINE)


def c_globals(text):
    """Variables of a C source that outlive a call and can change."""
    text = _without_directives(text)
    depth, top, inside = 0, [], []
    for character in text:
        depth -= character == "}"
        (inside if depth else top).append(character)
        depth += character == "{"
    found = [
        declaration.strip()
        for declaration in re.findall(r"\bstatic\b(?!\s+const\b)[^;{]*", "".join(inside))
    ]
    # functions go, with their bodies; types, prototypes and constants may stay
    outside = re.sub(r"[^;{}]*\([^;{}]*\)\s*\{\s*\}", " ", "".join(top))
    for declaration in map(str.strip, outside.split(";")):
        is_type = re.fullmatch(r"(?:struct|union|enum)(?:\s+\w+)?(?:\s*\{\s*\})?", declaration)
        before = re.sub(r"=.*", "", declaration, flags=re.DOTALL)
        is_function = "(" in before or declaration.startswith("typedef")
        is_constant = re.search(r"\bconst\b[^*]*$", before)
        if declaration and not (is_type or is_function or is_constant):
            found.append(declaration)
    return found


def c_function_lengths(text):
    """(first line, number of lines) of each function of a C source."""
    lines, start = c_code(text).splitlines(), None
    for number, line in enumerate(lines):
        if start is None and re.match(r"\w.*\(", line) and not line.rstrip().endswith(";"):
            start = number
        elif start is not None and line.startswith("}"):
            yield lines[start], number - start + 1
            start = None
        elif start is not None and line.rstrip().endswith(";") and not line.startswith(" "):
            start = None


# Cython

CYTHON_PATTERNS = {
    "has no prange": r"\bprange\b|\bcython\.parallel\b",
    "takes no GIL inside a loop": r"\bwith\s+gil\b",
    "needs no numpy headers": r"\bcimport\s+numpy\b|\bfrom\s+numpy\s+cimport\b",
    "has no messages": r"\braise\s+\w+\s*\(\s*f?[\"']|\bwarn\s*\(|\bprint\s*\(",
    "declares C only in a pxd": r"\bcdef\s+extern\b",
}


def cython_code(text):
    """Cython without comments and docstrings."""
    text = re.sub(r'""".*?"""', '""', text, flags=re.DOTALL)
    return re.sub(r"#[^\n]*", "", text)


def cython_faults(text, pattern):
    """What of a Cython source matches a pattern."""
    return [match.group(0) for match in re.finditer(pattern, cython_code(text))]


def _signatures(text):
    return re.findall(r"^ *(?:cp?def|def)\b[^\n(=]*\([^)]*\)[^:\n]*:", cython_code(text), re.M)


def kernel_defaults(text):
    """Functions of a Cython source with a default."""
    return [signature for signature in _signatures(text) if "=" in signature]


def silent_about_exceptions(text):
    """C functions of a Cython source that say neither `noexcept` nor `except`.

    Cython would look for an exception after each call. Those that return an object pass exceptions
    on as Python does.
    """
    function = re.compile(r"^ *cp?def (?!class\b|extern\b)[^\n(=]*\([^)]*\)[^\n]*$", re.M)
    objects = r" *cp?def (?:inline )?(?:(?:object|list|dict|tuple|bytes|str) )?\w+\("
    return [
        line
        for line in function.findall(cython_code(text))
        if not re.search(r"\bnoexcept\b|\bexcept\b", line) and not re.match(objects, line)
    ]


def writable_views(text, written):
    """Memoryviews that a Cython source takes, is not said to write to, and yet not const."""
    found = []
    for signature in _signatures(text):
        for argument in re.split(r",\s*(?![^\[]*\])", signature.partition("(")[2]):
            match = re.match(r"\s*(const\s+)?\w+\[[:, 1]+\] (\w+)\)?", argument)
            if match and not match.group(1) and match.group(2) not in written:
                found.append(match.group(2))
    return found


def kernel_lengths(text):
    """(first line, lines that are not empty) of each function of a Cython source."""
    lines = cython_code(text).splitlines()
    starts = [
        number
        for number, line in enumerate(lines)
        if re.match(r" *(?:cp?def|def|cdef class) [^=]*(?:\(|:$)", line)
    ]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start], sum(bool(line.strip()) for line in lines[start:stop])


# Python


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


def starts_threads(text):
    """Ways to threads and processes in a Python source."""
    tree = ast.parse(text)
    modules = {module.partition(".")[0] for module in imports(tree)}
    starters = {"Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "start_new_thread"}
    return (modules & {"concurrent", "multiprocessing", "_thread", "asyncio", "joblib"}) | (
        starters & set(calls(tree))
    )


def kernels(text):
    """Compiled modules that a Python source imports; the type `Rows` is no kernel."""
    found = {module for module in imports(ast.parse(text)) if "_core" in module.split(".")}
    # `from ._core.rows import Rows` names the module as well
    names = {module for module in found if module.count(".") > 1} - {"._core.rows"}
    only_rows = names <= {"._core.rows.Rows"} and found <= {"._core.rows", "._core.rows.Rows"}
    return set() if only_rows else found


def loops(text):
    """Lines of a Python source with a loop that is a statement."""
    found = (ast.For, ast.AsyncFor, ast.While)
    return [node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, found)]


_OF_THE_ARGUMENT = {
    "asarray", "array", "ascontiguousarray", "asfortranarray", "asanyarray", "require", "isfinite",
    "isnan", "csr_matrix", "csr_array", "csc_matrix", "csc_array",
}  # fmt: skip
_OF_THE_OBJECT = {
    "astype", "tocsr", "tocsc", "tocoo", "toarray", "todense", "sum_duplicates", "sort_indices",
}  # fmt: skip


def _is_x(node):
    """Whether an expression is X or a part of it, such as X.data."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == "X"


def conversions_of_x(text):
    """Lines of a Python source that convert X or look whether its values are finite."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(
            node.func, "id", "")  # fmt: skip
        by_function = name in _OF_THE_ARGUMENT and node.args and _is_x(node.args[0])
        by_method = name in _OF_THE_OBJECT and _is_x(getattr(node.func, "value", None))
        if by_function or by_method:
            found.append(node.lineno)
    return found


def imports_at_the_top(text):
    """Top modules that a Python source imports when it is imported itself."""
    found = set()
    waiting = list(ast.parse(text).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {module.partition(".")[0] for module in imports(ast.Module([node], []))}
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]
    return found


# Size and style


def function_lengths(text):
    """(name, lines without the docstring) of each function of a Python source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            is_doc = (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            )
            doc = first.end_lineno - first.lineno + 1 if is_doc else 0
            yield node.name, node.end_lineno - node.lineno + 1 - doc


def untidy_lines(text, width=100):
    """(number, fault) of the lines of any source."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > width:
            found.append((number, f"{len(line)} wide"))
        if line != line.rstrip():
            found.append((number, "ends in blanks"))
        if "\t" in line:
            found.append((number, "has a tab"))
    if text and not text.endswith("\n"):
        found.append((len(text.splitlines()), "does not end"))
    return found


def undescribed(text):
    """The module, classes and functions of a Python source that do not say what they are for."""
    tree = ast.parse(text)
    found = [] if not text.strip() or ast.get_docstring(tree) else ["the module"]
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            assigned = [
                getattr(part.targets[0], "id", "")
                for part in node.body
                if isinstance(part, ast.Assign)
            ]
            if not ast.get_docstring(node) and "__doc__" not in assigned:
                found.append(node.name)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            found += [] if ast.get_docstring(node) else [node.name]
    return found


def repeated_names(text):
    """Functions and classes that a Python source defines twice in one place: the first is lost."""
    found = []
    for scope in ast.walk(ast.parse(text)):
        if isinstance(scope, (ast.Module, ast.ClassDef)):
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            names = [
                node.name
                for node in scope.body
                # a setter bears the name of its property
                if isinstance(node, kinds)
                and not node.decorator_list
                or isinstance(node, kinds)
                and node.name.startswith("test")
            ]
            found += sorted({name for name in names if names.count(name) > 1})
    return found
