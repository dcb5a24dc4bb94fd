"""The examples in docstrings run and print what they say."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import fastlin


def modules():
    """All modules of the package but the compiled ones, which have no examples of their own."""
    yield fastlin
    for info in pkgutil.walk_packages(fastlin.__path__, "fastlin."):
        if "._core" not in info.name and not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def examples():
    """(name, doctest) for every docstring with an example."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in modules():
        for test in finder.find(module, module.__name__, module=module):
            if test.examples:
                yield pytest.param(test, id=test.name)


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("test", list(examples()))
def test_example(test, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append, clear_globs=False)
    assert runner.failures == 0, "".join(said)
    assert runner.tries > 0


def test_every_public_class_and_function_has_an_example():
    with_examples = {param.values[0].name.rpartition(".")[2] for param in examples()}
    for name in fastlin.__all__:
        value = getattr(fastlin, name)
        if inspect.isclass(value) and issubclass(value, BaseException):
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            assert name in with_examples or name == "Rows", f"{name} has no example"
