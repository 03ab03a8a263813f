"""`python -m forecasteval` is the command `forecasteval`."""

import sys

from eval import main

if __name__ == "__main__":  # the processes of a nightly run import this file, too
    sys.exit(main())
