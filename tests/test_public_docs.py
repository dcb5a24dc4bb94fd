"""What a user can look up: every public name has a docstring that describes each parameter."""

import ast
import inspect
import math
import re
from operator import attrgetter

import pytest

import fastlin


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


def sections(text):
    """The headings of a docstring."""
    return re.findall(r"^(\S.*)\n-+$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("public", SHOWN)
def test_sections_come_once(public):
    found = sections(inspect.getdoc(PUBLIC[public]))
    assert len(found) == len(set(found))


BEYOND_LINES = [
    *(f"plot.{function}" for function in fastlin.plot.__all__),
    *(f"kernels.{function}" for function in fastlin.kernels.__all__),
    "optim.minimize", "PolynomialFeatures", "KNeighborsClassifier", "KernelPerceptron",
    "KernelSVC", "KernelLogisticRegression", "BridgeRegressor", "BridgeClassifier", "Ridge",
    "separability", "margin", "mistake_bound",
]  # fmt: skip


@pytest.mark.parametrize("public", BEYOND_LINES)
def test_what_goes_beyond_lines_names_its_source(public):
    text = inspect.getdoc(attrgetter(public)(fastlin))
    found = sections(text)
    assert len(found) == len(set(found))
    assert "References" in found
    assert re.search(r"\b(1[789]|20)\d\d\b", text.partition("References")[2])


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
