"""`python -m forecasteval` and the installed script `forecasteval`: the command line of eval.py."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def main() -> int:
    """Run the eval.py beside this package.

    It is loaded by its path. By its name, Python would find the eval.py of the folder in which a
    user works, if there is one.
    """
    spec = spec_from_file_location(
        "forecasteval_command_line", Path(__file__).resolve().parent.parent / "eval.py"
    )
    assert spec  # as the path ends in .py
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return int(module.main())


if __name__ == "__main__":  # worker processes import this file, too
    sys.exit(main())
