"""What README.md and CONTRIBUTING.md say is true: examples run, tables and links match the code."""

import contextlib
import io
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastlin
import fastlin.model_selection
from fastlin._core import losses as kernels
from fastlin._sgd import LOSSES

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")

pytestmark = pytest.mark.skipif(
    not (ROOT / "README.md").exists(), reason="runs in a source tree"
)


def _text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def _blocks(name, language):
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", _text(name), re.DOTALL | re.MULTILINE)


def _section(name, title):
    """The text under a heading, up to the next of its level."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", _text(name), re.DOTALL | re.MULTILINE)[1]


def _table(text):
    """Cells of the rows of the first table, without its head."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    return cells[2:]


# Examples ---------------------------------------------------------------------------------------


def test_python_example_prints_what_it_says():
    (code,) = _blocks("README.md", "python")
    promised = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert output.getvalue().splitlines() == promised != []


@pytest.mark.skipif(os.name != "posix" or shutil.which("sh") is None, reason="needs a shell")
def test_shell_example_runs(tmp_path):
    block = next(block for block in _blocks("README.md", "sh") if "fastlin inspect" in block)
    run = f'"{sys.executable}"'
    script = f'set -e\npython() {{ {run} "$@"; }}\nfastlin() {{ {run} -m fastlin "$@"; }}\n' + block
    env = {**os.environ, "PYTHONPATH": str(Path(fastlin.__file__).parents[1])}
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=env, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    accuracy = float(re.search(r"^mean +([\d.]+)", done.stdout, re.MULTILINE)[1])
    assert accuracy >= 0.98
    assert done.stdout.splitlines()[-1].startswith("spam\t")


def test_ci_runs_the_test_command_of_the_readme():
    command = re.search(r"<!-- ci: test -->\n```sh\n(.*?)\n```", _text("README.md"))[1]
    assert command.endswith("pytest")
    assert "\n" not in command


# Tables -----------------------------------------------------------------------------------------


def test_every_public_name_is_in_the_table_of_names():
    rows = _table(_section("README.md", "What there is"))
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row[0])]
    assert sorted(names) == sorted(fastlin.__all__)


def _evaluate(formula, m, e):
    names = {
        "m": m, "e": e, "max": max, "abs": abs, "exp": math.exp, "log": math.log, "epsilon": 0.1,
        "quantile": 0.5,
    }  # fmt: skip
    return eval(formula, {"__builtins__": {}}, names)


def test_loss_table_is_that_of_the_code():
    rows = _table(_section("README.md", "Losses"))
    assert [row[0].strip("`") for row in rows] == list(LOSSES)
    for name, formula, kind, joint, probabilities in rows:
        loss = LOSSES[name.strip("`")]
        assert (kind == "margin") == loss.is_margin and kind in ("margin", "target")
        assert (joint != "-") == loss.is_joint
        can = hasattr(fastlin.SGDClassifier(loss=loss.name), "predict_proba")
        assert (probabilities == "yes") == can and probabilities in ("yes", "-")
        for response in (-3.0, -1.0, -0.4, 0.0, 0.05, 0.7, 1.0, 2.5):
            for y in (-1.0, 1.0):
                value, slope = np.empty(1), np.empty(1)
                point = np.array([response]), np.array([y])
                kernels.evaluate(loss.code, loss.default, *point, value, slope)
                expected = _evaluate(formula.strip("`"), y * response, y - response)
                assert value[0] == pytest.approx(expected, rel=1e-14, abs=1e-15), (name, response)


def test_migration_table_names_what_exists():
    sklearn = pytest.importorskip("sklearn")
    rows = _table(_section("README.md", "Coming from scikit-learn"))
    assert len(rows) > 5
    for theirs, ours in rows:
        module = None
        for path in re.findall(r"`([\w.]+)`", theirs):
            if path.startswith("sklearn."):
                module, _, path = path.rpartition(".")
            loaded = pytest.importorskip(module)
            assert hasattr(loaded, path), f"{module}.{path}"
        for name in re.findall(r"`fastlin\.(\w+)", ours):
            assert name in fastlin.__all__, name
    assert sklearn.__version__.startswith("1.9")


def test_topics_name_what_exists():
    for _, here in _table(_section("README.md", "From the lectures")):
        for code in re.findall(r"`([^`]+)`", here):
            call = re.match(r"(\w+)(\(.*\))?$", code)
            if re.match(r"\w+=", code) or code.startswith('"'):
                continue  # a parameter or a value of one
            known = {*fastlin.__all__, *fastlin.model_selection.__all__}
            assert call and call[1] in known, code
            if call[2]:
                eval(code, {call[1]: getattr(fastlin, call[1])})._check_params()


# Links and the directory tree ---------------------------------------------------------------------


def _anchors(name):
    titles = re.findall(r"^#+ (.*)$", _text(name), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)]+)\)", _text(name)):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        assert (ROOT / path).exists(), target
        if anchor:
            assert anchor in _anchors(path or name), target


def _paths_of_tree(text):
    """Files of a drawn tree: two spaces of indentation per folder, {a,b} for several endings."""
    found, folders = [], []
    for line in text.splitlines():
        entry = re.match(r"( *)([^\s]+)", line)
        depth = len(entry[1]) // 2
        del folders[depth:]
        name = entry[2]
        if name.endswith("/"):
            folders.append(name)
            continue
        several = re.match(r"(.*)\{(.*)\}$", name)
        names = [several[1] + end for end in several[2].split(",")] if several else [name]
        found += ["".join(folders) + each for each in names]
    return found


def test_directory_tree_is_complete():
    (tree,) = (block for block in _blocks("CONTRIBUTING.md", "text") if "src_c/" in block)
    drawn = _paths_of_tree(tree)
    assert len(drawn) == len(set(drawn))
    there = {
        path.relative_to(ROOT).as_posix()
        for folder in ("src_c", "fastlin")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd", ".html")
    }
    assert {path for path in drawn if path.startswith(("src_c/", "fastlin/"))} == there
    assert [path for path in drawn if not (ROOT / path).exists()] == []
