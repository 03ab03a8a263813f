"""`python -m forecasteval`: the command line."""

import sys

from forecasteval.cli import main

if __name__ == "__main__":  # worker processes import this file, too
    sys.exit(main())
