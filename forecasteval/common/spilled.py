"""Lists that are too long for the memory."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, TypeVar, overload

from .files import readable

T = TypeVar("T")
LARGE: Final = 64_000_000  # bytes of a file from which its items do not stay in memory, where they take five times that
_BLOCK: Final = 512  # values that are written and read together


def is_large(path: Path) -> bool:
    """Whether what is made of a file goes to the disk; InputError if it cannot be read."""
    with readable(path):
        return path.stat().st_size > LARGE


class Spilled(Sequence[T]):
    """Values in their order, on the disk, in a file without a name that goes with its process.

    They are copies, read anew each time, best from the first to the last.
    """

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._file = TemporaryFile(prefix="forecasteval-")  # noqa: SIM115 - for as long as this lives
        weakref.finalize(self, self._file.close)
        self._count = 0
        self.extend(values)

    def extend(self, values: Iterable[T]) -> None:
        rest = iter(values)
        while block := list(islice(rest, _BLOCK)):
            self._file.seek(0, 2)
            pickle.dump(block, self._file, pickle.HIGHEST_PROTOCOL)
            self._count += len(block)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        at, end = 0, self._file.seek(0, 2)
        while at < end:
            self._file.seek(at)
            block = pickle.load(self._file)
            at = self._file.tell()
            yield from block

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(self._count)[place]]
        return next(islice(self, range(self._count)[place], None))
