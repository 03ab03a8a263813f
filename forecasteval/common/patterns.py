"""Patterns that are compiled when they are first used: most commands use few of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "pattern")


class _Lazy:
    """A pattern whose first use compiles it, and puts its methods in their places."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._parts = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._parts)
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return self.__dict__[name]


if TYPE_CHECKING:
    lazy = re.compile
else:
    lazy = _Lazy
