"""Lists that are too long for the memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any, Final, TypeVar, overload

from .errors import EvaluationError
from .files import readable

T = TypeVar("T")
LARGE: Final = 16_000_000  # bytes of files from which their items do not stay in memory, where they take ten times that
_BLOCK: Final = 512  # values that are written and read together


def is_large(*paths: Path) -> bool:
    """Whether what is made of files together goes to the disk; InputError if one cannot be read."""
    size = 0
    for path in paths:
        with readable(path):
            size += path.stat().st_size
    return size > LARGE


class Spilled(Sequence[T]):
    """Values in their order, on the disk, in a file without a name that goes with its process.

    What is read is a copy.
    """

    def __init__(self, values: Iterable[T] = ()) -> None:
        import weakref  # here, as below: few files are large, and every command would pay for it
        from array import array
        from tempfile import TemporaryFile

        try:
            self._file = TemporaryFile(prefix="forecasteval-")  # noqa: SIM115 - for as long as this lives
        except OSError as error:
            raise EvaluationError(f"TMPDIR: no temporary file can be made: {error.strerror or error}") from None
        weakref.finalize(self, self._file.close)
        self._ends = array("Q", [0])  # of the values, in bytes
        self.extend(values)

    def append(self, value: T) -> None:
        self.extend((value,))

    def extend(self, values: Iterable[T]) -> None:
        import pickle
        from tempfile import gettempdir

        rest = iter(values)
        while block := [pickle.dumps(value, pickle.HIGHEST_PROTOCOL) for value in islice(rest, _BLOCK)]:
            try:
                self._file.seek(self._ends[-1])
                self._file.write(b"".join(block))
                self._file.flush()
            except OSError as error:
                with contextlib.suppress(OSError):  # what was not written must not be tried again at the end
                    self._file.close()
                raise EvaluationError(f"TMPDIR, {gettempdir()}: cannot be written: {error.strerror}") from None
            self._ends.extend([*accumulate(map(len, block), initial=self._ends[-1])][1:])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[T]:
        for first in range(0, len(self), _BLOCK):
            yield from self._read(first, min(first + _BLOCK, len(self)))

    def _read(self, first: int, end: int) -> list[T]:
        import pickle

        start = self._ends[first]
        self._file.seek(start)
        raw = memoryview(self._file.read(self._ends[end] - start))
        return [pickle.loads(raw[a - start : b - start]) for a, b in pairwise(self._ends[first : end + 1])]

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(len(self))[place]]
        number = range(len(self))[place]
        return self._read(number, number + 1)[0]
