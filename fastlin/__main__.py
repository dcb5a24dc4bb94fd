"""``python -m fastlin`` is the same as the command ``fastlin``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
