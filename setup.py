"""Build of the extension modules; everything else about the project stands in pyproject.toml.

Environment switches, each off unless set to 1:

    FASTLIN_DEBUG     -O1 -g and the FL_ASSERT checks of fl_common.h
    FASTLIN_SANITIZE  address and undefined-behaviour sanitizers (gcc, clang); implies FASTLIN_DEBUG
    FASTLIN_COVERAGE  gcov counters, which also see the C headers
"""

import os
import platform
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

# Extension module -> the C files compiled into it (headers are found by the include path).
MODULES = {
    "rows": [],
    "order": [],
    "columns": [],
    "beside": [],
    "losses": [],
    "blocks": [],
    "transpose": [],
    "primal_cd": [],
    "homotopy": [],
    "newton": [],
    "sgd": [],
    "dual_cd": [],
    "multi": ["fl_dispatch.c"],
    "joint": [],
    "joint_blocks": [],
    "joint_dual": [],
    "joint_primal": [],
    "voted": [],
    "respond": [],
    "scorer": [],
    "documents": [],
    "text": ["fl_text.c", "fl_text_dispatch.c"],
    "ngrams": ["fl_ngrams.c", "fl_ngrams_text.c"],
    "names": [],
    "levels": [],
    "parse": ["fl_svmlight.c", "fl_svmlight_dispatch.c"],
    "encode": [],
    "hashed": [],
    "strings": [],
    "cells": ["fl_delimited.c"],
    "counts": [],
    "polynomial": [],
    "neighbors": [],
    "gram": [],
    "brackets": [],
    "kernel_dual": [],
}


# Instruction set -> flags of gcc and clang, flags of MSVC; what add_kernels names is compiled for
# each.
# Where nobody looks at the exceptions of the floating-point unit, a comparison needs no branch; no
# result depends on that.
_LANE_FLAGS = ["-fno-trapping-math"]
ISAS = {
    "base": (_LANE_FLAGS, []),
    "avx2": ([*_LANE_FLAGS, "-mavx2"], ["/arch:AVX2"]),
    "avx512": ([*_LANE_FLAGS, "-mavx512f", "-mavx512dq", "-mavx512vl"], ["/arch:AVX512"]),
}
# Instruction set -> the further flags of what reads text: fl_text.c is compiled once more for each
# of these, fl_svmlight.c for the last.
TEXT_FLAGS = {
    "avx2": [],
    "avx512": ["-mavx512bw", "-mavx512vbmi2", "-mbmi2", "-mpopcnt"],
}
# Element type -> macros
TYPES = {"f32": [], "f64": [("FL_MULTI_DOUBLE", "1")]}


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
    # -g0 undoes the -g of Python's own flags, which costs a third of the time of a build; lines of
    # the source, -g1, are all that a report of the sanitizers needs.
    debug_info = "-g1" if SANITIZE else "-g" if DEBUG else "-g0"
    compile_args += ["-O1" if DEBUG else "-O3", debug_info]
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


def is_x86_64():
    """Whether the code is for this kind of processor, and for no other in the same file."""
    architectures = os.environ.get("ARCHFLAGS", "").split("-arch")[1:] or [platform.machine()]
    return all(a.strip().lower() in ("x86_64", "amd64") for a in architectures)


class BuildExt(build_ext):
    """`build_ext` that chooses its flags once the compiler is known."""

    def build_extensions(self):
        self.parallel = self.parallel or os.cpu_count()
        kind = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        compile_args, link_args = compiler_flags(kind)
        for extension in self.extensions:
            extension.extra_compile_args += compile_args
            extension.extra_link_args += link_args
            if extension.name.endswith(".multi"):
                self.add_kernels(extension, kind)
            if extension.name.endswith(".text"):
                for isa in TEXT_FLAGS:
                    table = ("FL_TEXT_TABLE", f"fl_text_{isa}")
                    self.add_text_kernels(extension, kind, "fl_text.c", isa, table)
            if extension.name.endswith(".parse"):
                parser = ("FL_SVM_PARSE", "fl_svm_parse_avx512")
                self.add_text_kernels(extension, kind, "fl_svmlight.c", "avx512", parser)
        super().build_extensions()

    def add_kernels(self, extension, kind):
        """Compile fl_gram.c and fl_packed.c per instruction set and fl_multi.c per type of it, too,
        and say which sets there are."""
        for isa, (unix_flags, msvc_flags) in ISAS.items():
            flags = msvc_flags if kind == "msvc" else unix_flags
            if isa != "base" and not (is_x86_64() and self.can_compile(flags)):
                continue
            extension.define_macros.append((f"FL_WITH_{isa.upper()}", "1"))
            tables = [
                (f"fl_{name}.c", isa, [(f"FL_{name.upper()}_TABLE", f"fl_{name}_{isa}")])
                for name in ("gram", "packed")
            ]
            for type_name, type_macros in TYPES.items():
                name = f"{isa}_{type_name}"
                names = [("FL_MULTI_TABLE", f"fl_multi_{name}"),
                         ("FL_EXACT_TABLE", f"fl_exact_{name}")]
                if type_name == "f64":
                    names += [("FL_LOGS", f"fl_logs_{isa}"),
                              ("FL_LOGISTIC_TABLE", f"fl_logistic_{isa}")]
                macros = [*names, *type_macros]
                tables.append(("fl_multi.c", name, macros))
            for source, folder, macros in tables:
                macros = [
                    *macros,
                    (f"FL_ISA_{isa.upper()}", "1"),
                    *([("FL_HAS_SSE2", "1")] if is_x86_64() else []),
                ]
                self.add_object(extension, source, folder, macros, flags)

    def add_text_kernels(self, extension, kind, source, isa, named):
        """Compile a C file that reads text for an instruction set, and say that there is one."""
        flags = ISAS[isa][1] if kind == "msvc" else [*ISAS[isa][0], *TEXT_FLAGS[isa]]
        if is_x86_64() and self.can_compile(flags):
            extension.define_macros.append((f"FL_WITH_{isa.upper()}", "1"))
            folder = f"{Path(source).stem}_{isa}"
            self.add_object(extension, source, folder, [named], flags)

    def add_object(self, extension, source, folder, macros, flags):
        """Compile a C file with macros and flags of its own into an extension."""
        extension.extra_objects += self.compiler.compile(
            [f"src_c/{source}"],
            output_dir=os.path.join(self.build_temp, folder),
            macros=[*macros, *([("FL_DEBUG", "1")] if DEBUG else [])],
            include_dirs=["src_c"],
            extra_postargs=[*extension.extra_compile_args, *flags],
            depends=extension.depends,
        )

    def can_compile(self, flags):
        """Whether the compiler knows these flags."""
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "flags.c")
            Path(source).write_text("int nothing;\n", encoding="utf-8")
            try:
                self.compiler.compile([source], output_dir=folder, extra_postargs=flags)
            except CompileError:
                return False
        return True


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
