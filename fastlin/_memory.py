"""How much memory this machine has."""

from __future__ import annotations

import os

__all__ = ["machine_bytes"]


def machine_bytes() -> int:
    """All memory of the machine, or 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 << 30
