"""The source distribution holds all that a build needs, and what it builds installs and works."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from fastlin._core.multi import instruction_sets

ROOT = Path(__file__).resolve().parents[1]
_NEEDED = ("setuptools", "Cython", "pip")

pytestmark = [
    pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="runs in a source tree"),
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, _NEEDED)), reason="needs " + ", ".join(_NEEDED)
    ),
]

# Kinds of files that a build reads or the package holds.
_SOURCES = (".py", ".pyi", ".pyx", ".pxd", ".c", ".h", ".xz", ".typed")
_INSTALLED = (".py", ".pyi", ".xz", ".typed")


def _files(folder, suffixes):
    """Files of the source tree by their path inside it."""
    found = (p for p in (ROOT / folder).rglob("*") if p.is_file())
    return {
        p.relative_to(ROOT).as_posix()
        for p in found
        if p.suffix in suffixes or p.name in suffixes
    }


def _environment(**more):
    """The variables of this process without the switches of the build and the sanitizers."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("FASTLIN_", "PYTHON"))}
    kept.pop("LD_PRELOAD", None)
    return {**kept, "PYTHONWARNINGS": "ignore", **more}


def _run(*command, cwd, env=None):
    """Run a command; its output is shown where it fails."""
    done = subprocess.run(
        command, cwd=cwd, env=env or _environment(), text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """Path of a source distribution, made in a copy of the tree."""
    tree = tmp_path_factory.mktemp("tree") / "fastlin"
    hidden = shutil.ignore_patterns(".*", "__pycache__", "*.so", "*.pyd", "dist", "*.egg-info")

    def ignored(folder, names):
        # translated sources are kept, since they save translating again for nothing
        top = Path(folder) == ROOT / "build"
        return set(hidden(folder, names)) | ({n for n in names if n != "cython"} if top else set())

    shutil.copytree(ROOT, tree, ignore=ignored)
    for translated in (tree / "build").rglob("*.c"):
        translated.touch()
    out = tree.parent / "dist"
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    _run(sys.executable, "-c", code, str(out), cwd=tree)
    (path,) = out.iterdir()
    return path


# Compiled from the source distribution by the tests: those with C files of their own, and a few.
_COMPILED = ("multi", "text", "ngrams", "parse", "cells", "sgd")


def _take_compiled(tree):
    """Take over what an installation from this folder has translated and compiled, so that minutes
    of compiling the same sources once more are saved, but for a few modules."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    translated = sorted((ROOT / "build" / "cython").rglob("*.c"))
    compiled = sorted((ROOT / "build").glob("lib*/**/*" + suffix))
    for path in translated + compiled:
        if path.suffix == ".c" or path.name.removesuffix(suffix) not in _COMPILED:
            target = tree / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)  # now newer than its sources


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Path of a wheel, built from the source distribution and without optimisation."""
    folder = tmp_path_factory.mktemp("wheel")
    # Python 3.11 has it since 3.11.4
    safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, **safely)
    (tree,) = folder.iterdir()
    _take_compiled(tree)
    env = _environment()
    if os.name == "posix":
        # the last -O counts: what is built is all the same here, and takes a tenth of the time
        compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
        script = folder / "cc"
        script.write_text(f'#!/bin/sh\nexec {compiler} "$@" -O0\n')
        script.chmod(0o755)
        env["CC"] = str(script)
    _run(
        sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation",
        "--wheel-dir", str(folder), str(tree), cwd=folder, env=env,
    )  # fmt: skip
    (path,) = folder.glob("*.whl")
    return path


def test_sdist_holds_every_source(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = _files("fastlin", _SOURCES) | _files("src_c", _SOURCES) | _files("tests", (".py",))
    wanted |= _files("benchmarks", (".py",))
    wanted |= {"LICENSE", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml"}
    assert wanted - names == set()
    assert {"fastlin/py.typed", "fastlin/__init__.pyi", "src_c/fl_common.h"} <= names


def test_sdist_holds_nothing_that_was_built(sdist):
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    built = [
        name
        for name in names
        if name.startswith(("build", "dist", ".")) or name.endswith((".so", ".pyd", ".pyc", ".o"))
    ]
    assert built == []


def test_wheel_holds_modules_stubs_and_data(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert _files("fastlin", _INSTALLED) - names == set()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    modules = {path.removesuffix(".pyx") + suffix for path in _files("fastlin", (".pyx",))}
    assert modules - names == set()
    assert not any(name.endswith((".c", ".h", ".pyx", ".pxd")) for name in names)


HEADERS = sorted(p.name for p in (ROOT / "src_c").glob("*.h") if not p.name.endswith(".inc.h"))


# The compiler of the build, and what else is there.
COMPILERS = [name for name in ("cc", "gcc", "clang") if shutil.which(name)]


@pytest.mark.skipif(os.name != "posix", reason="names the options of gcc and clang")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_c_code_is_strict_c11(tmp_path, compiler):
    # each header alone: what it needs it includes
    sources = [str(path) for path in (ROOT / "src_c").glob("*.c")]
    for header in HEADERS:
        source = tmp_path / f"{header}.c"
        source.write_text(f'#include "{header}"\nint main(void) {{ return 0; }}\n')
        sources.append(str(source))
    _run(
        compiler, "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
        "-fsyntax-only", "-I", str(ROOT / "src_c"), *sources, cwd=tmp_path,
    )  # fmt: skip


_FOURS = """
#include <stdio.h>
#include "fl_packed.h"
#define SHOW(real, type)                                                        \\
    do {                                                                        \\
        real x[217], w[256];                                                    \\
        int32_t j[217];                                                         \\
        for (int k = 0; k < 256; k++) w[k] = (real)(1.0 / (k + 3));             \\
        for (int k = 0; k < 217; k++) {                                         \\
            x[k] = (real)((k - 97.3) / 64), j[k] = k * 29 % 256;                \\
        }                                                                       \\
        for (int size = 0; size < 217; size += size == 23 ? 178 : 1) {          \\
            for (int layout = FL_CSR; layout <= FL_ONES; layout++) {            \\
                struct fl_row row = {layout, size, j, x};                       \\
                fl_axpy_fetching_##type(row, (real)0.1, w, row);                \\
                printf("%a\\n", fl_dot_##type(row, w));                         \\
            }                                                                   \\
        }                                                                       \\
        for (int k = 0; k < 256; k++) printf("%a\\n", (double)w[k]);            \\
    } while (0)
#define ADAPT(real, type, visit_type)                                                        \\
    static void adapt_##type(int optimizer, int lazy, double l1, int layout) {               \\
        const int shift = !lazy && (optimizer == FL_ADAGRAD || optimizer == FL_RMSPROP) ? 1 : 2;\\
        struct fl_adaptive a = {optimizer, 0.9, 0.8, 1e-3, l1, 0.1 * lazy, 0, 0, 0.3, 0};    \\
        real x[23], P[32 << 2] = {0}, sums[FL_PACKED_SUMS] = {0};                            \\
        int32_t j[23];                                                                       \\
        for (int k = 0; k < 23; k++) x[k] = (real)(k % 5 - 2), j[k] = k * 13 % 32;           \\
        for (int size = 0; size <= 23; size++) { /* some values are 0 */                     \\
            struct fl_row row = {layout, size, j + (23 - size), x + (23 - size)};            \\
            const struct fl_packed_later later = {row, row};                                 \\
            a.t = size + 1;                                                                  \\
            const double slope = 0.7 - fl_packed_dot_##type(row, P, shift, row);             \\
            fl_packed_row_##type(&a, 0, row, slope, P, lazy, NULL, sums, later);             \\
        }                                                                                    \\
        for (int k = 0; k < 32 << shift; k++) {                                              \\
            visit_type visit;                                                                \\
            memcpy(&visit, P + k, sizeof visit);                                             \\
            if (shift == 1 || k % 4 < 3) printf("%a\\n", (double)P[k]);                      \\
            else printf("%d\\n", lazy ? (int)visit : 0);                                     \\
        }                                                                                    \\
    }
ADAPT(float, f32, int32_t)
ADAPT(double, f64, double)
int main(void) {
    SHOW(float, f32);
    SHOW(double, f64);
    for (int optimizer = FL_ADAGRAD; optimizer <= FL_ADAM; optimizer++) {
        for (int layout = FL_CSR; layout <= FL_ONES; layout++) {
            for (int penalty = 0; penalty < 3; penalty++) {
                adapt_f32(optimizer, penalty > 0, 0.02 * (penalty > 1), layout);
                adapt_f64(optimizer, penalty > 0, 0.02 * (penalty > 1), layout);
            }
        }
    }
    return 0;
}
"""


@pytest.mark.skipif(os.name != "posix" or not COMPILERS, reason="names the options of gcc")
def test_rows_give_the_same_bits_by_any_instructions(tmp_path):
    (tmp_path / "fours.c").write_text(_FOURS)
    shown, builds = [], {"with": ["-DNDEBUG"], "without": ["-DFL_NO_SSE2"]}
    here = {name for name, _, runs in instruction_sets() if runs}
    if "avx2" in here:
        builds["avx2"] = ["-DFL_ISA_AVX2", "-mavx2"]
    if "avx512" in here:
        builds["avx512"] = ["-DFL_ISA_AVX512", "-mavx512f", "-mavx512dq", "-mavx512vl"]
    for name, switches in builds.items():
        _run(
            COMPILERS[0], "-std=c11", "-O3", "-ffp-contract=off", "-Wall", "-Werror",
            "-Wno-unused-function", *switches, "-I", str(ROOT / "src_c"), "fours.c", "-o", name,
            "-lm", cwd=tmp_path,
        )  # fmt: skip
        shown.append(subprocess.check_output([str(tmp_path / name)], text=True))
    assert len(set(shown)) == 1
    steps = 2 * 2 * 32 * (2 * 2 + 10 * 4)
    assert len(shown[0].split()) == 2 * (2 * 40 + 256) + steps and "nan" not in shown[0]


_TRIAL = """
import sys
import fastlin
assert not {"scipy", "sklearn", "pandas"} & set(sys.modules), "import fastlin is not light"
for name in fastlin.__all__:
    getattr(fastlin, name)
texts, labels = fastlin.datasets.load_sms_spam(return_X_y=True)
X = fastlin.HashingVectorizer(n_features=2**16).transform(texts[:500])
model = fastlin.SGDClassifier(max_iter=5, tol=None, random_state=0).fit(X, labels[:500])
assert model.score(X, labels[:500]) > 0.95
assert "sklearn" not in sys.modules
print(fastlin.__file__)
"""


def test_wheel_installs_and_works(wheel, tmp_path):
    target = tmp_path / "site"
    _run(
        sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", str(target),
        str(wheel), cwd=tmp_path,
    )  # fmt: skip
    env = _environment(PYTHONPATH=str(target))
    where = _run(sys.executable, "-c", _TRIAL, cwd=tmp_path, env=env)
    assert Path(where.strip()).parents[1] == target
    help_text = _run(sys.executable, "-m", "fastlin", "--help", cwd=tmp_path, env=env)
    assert "train" in help_text
