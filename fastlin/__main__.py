"""``python -m fastlin`` is the same as the command ``fastlin``."""

import sys

try:
    from .cli import main
except ImportError as error:
    print(f"fastlin: error: {error}", file=sys.stderr)
    sys.exit(2)

if __name__ == "__main__":
    sys.exit(main())
