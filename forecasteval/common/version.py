"""The version of this package, which is part of every signature."""

from typing import Final

__version__: Final = "1.5.0"
