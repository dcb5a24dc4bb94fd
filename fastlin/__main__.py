"""``python -m fastlin`` is the same as the command ``fastlin``."""

import sys

try:
    from .cli import main
except KeyboardInterrupt:
    print("fastlin: interrupted", file=sys.stderr)
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())
