"""The typed surface: stubs are complete and true, and user code passes a type checker."""

import ast
import importlib
import inspect
import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

import fastlin

PACKAGE = Path(fastlin.__file__).parent
HERE = Path(__file__).parent
STUBS = sorted((PACKAGE / "_core").glob("*.pyi"))


def _definitions(stub):
    """Public functions, classes and constants of a stub: name -> its node."""
    found = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
    return {name: node for name, node in found.items() if not name.startswith("_")}


def _public(namespace):
    """Names of what a module or class defines itself."""
    return {
        name
        for name, value in vars(namespace).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", namespace.__name__) == namespace.__name__
    }


def _arguments(node):
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def test_every_compiled_module_has_a_stub():
    modules = {m.name.partition(".")[0] for e in (".so", ".pyd") for m in
               (PACKAGE / "_core").glob(f"*{e}")}
    assert modules == {stub.stem for stub in STUBS}


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.stem)
def test_stub_says_what_the_module_has(stub):
    module = importlib.import_module(f"fastlin._core.{stub.stem}")
    stubbed = _definitions(stub)
    assert set(stubbed) == _public(module)
    for name, node in stubbed.items():
        value = getattr(module, name)
        if isinstance(node, ast.FunctionDef):
            assert _arguments(node) == list(inspect.signature(value).parameters), name
        elif isinstance(node, ast.ClassDef):
            members = {
                member.target.id if isinstance(member, ast.AnnAssign) else member.name
                for member in node.body
            }
            public = {member for member in vars(value) if not member.startswith("_")}
            assert {m for m in members if not m.startswith("_")} == public, name


def test_stub_of_the_package_exports_the_public_names():
    imported, assigned = set(), set()
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                # only "import x as x" makes a name public in a stub
                assert alias.asname == alias.name
                imported.add(alias.name)
                if node.module is not None:
                    home = importlib.import_module(f"fastlin.{node.module}")
                    assert getattr(fastlin, alias.name) is getattr(home, alias.name)
        elif isinstance(node, ast.AnnAssign):
            assigned.add(node.target.id)
    assert imported | assigned == set(fastlin.__all__)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Folder of what mypy knows of numpy: reading that again would take most of a run."""
    return tmp_path_factory.mktemp("mypy")


def _mypy(*arguments, cache):
    """(exit code, output) of a run of mypy that finds this fastlin."""
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "MYPYPATH")}
    if str(PACKAGE.parent) not in site.getsitepackages():
        env["MYPYPATH"] = str(PACKAGE.parent)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", os.devnull, "--cache-dir", str(cache),
         *map(str, arguments)],
        env=env, cwd=cache, text=True, check=False, capture_output=True,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_user_code_passes_a_type_checker(cache):
    pytest.importorskip("mypy")
    code, output = _mypy(
        "--follow-imports=silent", "--warn-unused-ignores", "--disallow-untyped-defs",
        "--disallow-any-generics", HERE / "typed_example.py", cache=cache,
    )  # fmt: skip
    assert code == 0, output


def test_stubs_are_sound(cache):
    pytest.importorskip("mypy")
    # by name, since mypy takes no files of site-packages
    modules = [part for stub in STUBS for part in ("-m", f"fastlin._core.{stub.stem}")]
    code, output = _mypy(
        "--strict", "--follow-imports=silent", "-m", "fastlin", *modules, cache=cache
    )
    assert code == 0, output


def test_typed_example_runs():
    example = importlib.import_module("typed_example")
    assert example.responses().shape == (20,)
    assert example.spam_model().predict(["free entry to win a prize"]).shape == (1,)
