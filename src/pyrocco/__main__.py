"""``python -m pyrocco`` is the command line."""

import sys

from pyrocco.cli import main

if __name__ == "__main__":
    sys.exit(main())
