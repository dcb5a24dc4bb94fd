"""Build of the extension modules; everything else about the project stands in pyproject.toml.

Environment switches, each off unless set to 1:

    FASTLIN_DEBUG     -O1 -g and the FL_ASSERT checks of fl_common.h
    FASTLIN_SANITIZE  address and undefined-behaviour sanitizers (gcc, clang); implies FASTLIN_DEBUG
    FASTLIN_COVERAGE  gcov counters, which also see the C headers
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Extension module -> the C files compiled into it (headers are found by the include path).
MODULES = {
    "rows": [],
    "order": [],
    "columns": [],
    "losses": [],
    "sgd": [],
    "joint": [],
    "voted": [],
    "respond": [],
    "scorer": [],
    "text": ["fl_text.c"],
    "parse": ["fl_svmlight.c"],
    "encode": [],
}


def _is_on(name):
    return os.environ.get(name, "0") not in ("", "0")


DEBUG = _is_on("FASTLIN_DEBUG") or _is_on("FASTLIN_SANITIZE")
SANITIZE = _is_on("FASTLIN_SANITIZE")
COVERAGE = _is_on("FASTLIN_COVERAGE")


def compiler_flags(kind):
    """Compile and link flags for one kind of compiler ("msvc" or "unix")."""
    if kind == "msvc":
        return ["/std:c11", "/Od" if DEBUG else "/O2", "/fp:precise"], []
    # No fused multiply-add and no fast-math: the kernels give the same bits on every machine.
    compile_args = ["-std=c11", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra"]
    # Without errno sqrt is one instruction, and runs in vector registers.
    compile_args += ["-fno-math-errno"]
    # -g0 undoes the -g of Python's own flags, which costs a third of the time of a build.
    compile_args += ["-O1", "-g"] if DEBUG else ["-O3", "-g0"]
    # What Cython itself writes sets off these two.
    compile_args += ["-Wno-unused-function", "-Wno-unused-parameter"]
    link_args = []
    if SANITIZE:
        sanitizers = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer"]
        compile_args += sanitizers + ["-fno-sanitize-recover=undefined"]
        link_args += sanitizers
    if COVERAGE:
        compile_args += ["--coverage"]
        link_args += ["--coverage"]
    return compile_args, link_args


class BuildExt(build_ext):
    """`build_ext` that chooses its flags once the compiler is known."""

    def build_extensions(self):
        self.parallel = self.parallel or os.cpu_count()
        kind = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        compile_args, link_args = compiler_flags(kind)
        for extension in self.extensions:
            extension.extra_compile_args += compile_args
            extension.extra_link_args += link_args
        super().build_extensions()


def extensions():
    headers = sorted(path.as_posix() for path in Path("src_c").glob("*.h"))
    macros = [("FL_DEBUG", "1")] if DEBUG else []
    return [
        Extension(
            f"fastlin._core.{name}",
            [f"fastlin/_core/{name}.pyx"] + [f"src_c/{source}" for source in sources],
            include_dirs=["src_c"],
            define_macros=macros,
            depends=headers,
        )
        for name, sources in MODULES.items()
    ]


setup(
    cmdclass={"build_ext": BuildExt},
    ext_modules=cythonize(
        extensions(),
        build_dir="build/cython",
        annotate=DEBUG,
        compiler_directives={
            "language_level": "3",
            "boundscheck": False,
            "wraparound": False,
            "initializedcheck": False,
            "cdivision": True,
            "freethreading_compatible": True,
        },
    ),
)
