"""Compiled kernels: every loop over samples. No defaults, no messages, no checks of user input."""

from importlib import machinery
from pathlib import Path


def _require_compiled(folder: Path) -> None:
    """Raise if this is a source tree whose modules are not compiled for this Python."""
    compiled = {
        path.name.partition(".")[0]
        for path in folder.iterdir()
        if path.name.endswith(tuple(machinery.EXTENSION_SUFFIXES))
    }
    missing = sorted({path.stem for path in folder.glob("*.pyx")} - compiled)
    if missing:
        root = folder.parents[1]
        raise ImportError(
            f"Python found the sources of fastlin in {root}, which are not compiled for it "
            f"({', '.join(missing)}). To use an installed fastlin, start Python in another folder; "
            "to use these sources, compile them there: python setup.py build_ext --inplace"
        )


_require_compiled(Path(__file__).parent)
