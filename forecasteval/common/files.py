"""Files: finding them by name, regular files only, files that change,
atomic replacement.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from .errors import EvaluationError, InputError, grouped_names, printable
from .text import BYTE_ORDER_MARK, PACKS, UNREADABLE, unpack

SUFFIXES: Final = (".json", ".jsonl", ".csv")
# Of datasets: a question does not fit into the cells of a table.
DATASET_SUFFIXES: Final = tuple(end for end in SUFFIXES if end != ".csv")
TRUTHS_END: Final = ".truths"  # of the stem of a file with the truths of a dataset
NAME_ENDS: Final = "-_.@"  # what ends a dataset's name at the start of a prediction's
_MAX_SHARED: Final = 8_000_000  # bytes of files
P = ParamSpec("P")
T = TypeVar("T")


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise errors of the operating system on reading a file or folder
    as InputError.
    """
    try:
        yield
    except OSError as error:
        raise InputError(
            str(path), f"cannot be read: {error.strerror or error}"
        ) from None


def require_regular(path: Path) -> None:
    """Raise InputError for anything but a regular file: reading a pipe could
    wait for ever.
    """
    with readable(path):
        mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise InputError(str(path), "expected a file", "a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise InputError(
            str(path),
            "expected a regular file",
            "a pipe or device; write what it gives to a file first",
        )


_SPOOLED: Final[set[Path]] = set()


# A name is looked up more than once, and stdin can be read only once.
@cache
def spool_stdin() -> Path:
    """Write what comes from stdin to a file, which is deleted at the end."""
    import atexit
    import sys
    import tempfile

    raw = unpack(sys.stdin.buffer.read(), "stdin")
    text = raw.removeprefix(BYTE_ORDER_MARK).lstrip()
    suffix = ".csv"
    if text.startswith((b"{", b"[")):
        is_lines = text.startswith(b"{") and b"\n{" in text
        suffix = ".json"
        if is_lines:
            suffix = ".jsonl"
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name, f"stdin{suffix}")
    path.write_bytes(raw)
    _SPOOLED.add(path)
    return path


def is_spooled(path: Path) -> bool:
    """Return whether a file is what came from stdin, so that no command can name it."""
    return path in _SPOOLED


def require_folder(path: Path) -> None:
    """Raise InputError if a folder that belongs to `--root` does not exist."""
    if not path.is_dir():
        got = "a file"
        if not path.exists():
            got = "no such folder"
        raise InputError(
            str(path),
            "expected a folder (--root DIR names the one with prediction/ and "
            "dataset/; "
            "the command init makes one)",
            got,
        )


def require_plain(path: Path) -> None:
    """Raise InputError for anything but a regular file, and for names
    of packed files.
    """
    require_regular(path)
    if path.suffix in UNREADABLE:
        raise InputError(
            str(path), f"expected {', '.join(SUFFIXES)}", UNREADABLE[path.suffix]
        )


def read_file(path: Path) -> bytes:
    """Read a file's bytes; InputError if it cannot be read."""
    require_regular(path)
    with readable(path):
        return path.read_bytes()


class FileStamp(NamedTuple):
    """What changes when a file does."""

    st_ctime_ns: int
    st_mtime_ns: int
    st_size: int
    st_dev: int
    st_ino: int


def stamp_of(path: Path) -> FileStamp | None:
    """Return a value that changes when the file does; None if there is no file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return FileStamp(*(getattr(status, name) for name in FileStamp._fields))


# --- Reading each file once ---


class _SharedReads:
    """What was read of unchanged files lately, of `_MAX_SHARED` bytes in sum."""

    def __init__(self) -> None:
        self._results: dict[Hashable, Any] = {}  # the one that was used last comes last
        self._bytes = 0

    def get(self, key: Hashable, size: int, read: Callable[[], T]) -> T:
        """Return what was read under a key, or read it now."""
        if key in self._results:
            _, result = self._results.pop(key)
        else:
            result = read()
            self._bytes += size
        self._results[key] = size, result
        while self._bytes > _MAX_SHARED:
            old_size, _ = self._results.pop(next(iter(self._results)))
            self._bytes -= old_size
        return result  # type: ignore[no-any-return]


_shared_reads: _SharedReads | None = None


@contextlib.contextmanager
def share_reads() -> Iterator[None]:
    """Read each file once where it is needed for the entry book and for its score."""
    global _shared_reads
    _shared_reads = _SharedReads()
    try:
        yield
    finally:
        _shared_reads = None


def is_shared(
    read: Callable[Concatenate[Path, P], T],
) -> Callable[Concatenate[Path, P], T]:
    """Let `share_reads` share what a function reads of a file. Nobody may
    change the result.
    """

    @wraps(read)
    def read_shared(path: Path, /, *args: P.args, **options: P.kwargs) -> T:
        if _shared_reads is not None:
            stamp = stamp_of(path)
            if stamp is not None and stamp.st_size <= _MAX_SHARED:
                key = read, path, stamp, args, tuple(options.items())
                return _shared_reads.get(
                    key, stamp.st_size, lambda: read(path, *args, **options)
                )
        return read(path, *args, **options)

    return read_shared


def hash_file(path: Path) -> str:
    """sha256 of a file's bytes; InputError if it cannot be read."""
    require_regular(path)
    with readable(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def join_checksums(checksums: Sequence[str]) -> str:
    """Return the checksum of a single file, or one of the checksums of several."""
    if len(checksums) == 1:
        return checksums[0]
    return hashlib.sha256(" ".join(checksums).encode()).hexdigest()


def _only(paths: Sequence[Path], where: Path, expected: str) -> Path | None:
    """Return the only path, None without one; InputError if there are several."""
    if len(paths) > 1:
        raise InputError(
            str(where), expected, " and ".join(path.name for path in paths)
        )
    return next(iter(paths), None)


def is_path(name: str) -> bool:
    """Return whether a name has a separator, so that it is a path."""
    return os.sep in name or "/" in name


def locate(name: str, folder: Path) -> Path:
    """Return the path that a name is, or that it has in a folder."""
    return Path(name) if is_path(name) else folder / name


def find_file(name: str, folder: Path) -> Path:
    """Find the JSON, JSONL or CSV file that `name` means, with or without extension.

    A name with a separator is a path, any other is looked up in `folder`. Raises
    InputError: no such file (the nearest names that exist), or two files with one stem.
    """
    base = locate(name, folder)
    ends = [end + pack for pack in ("", *PACKS) for end in SUFFIXES]
    paths = [base, *(base.parent / (base.name + end) for end in ends)]
    matches = [path for path in paths if os.path.isfile(path)]
    if base in matches:
        return base
    if only := _only(matches, base, "expected one file"):
        return only
    if os.path.exists(base):
        require_plain(base)  # raises an error that says what it is
    names = os.listdir(base.parent) if os.path.isdir(base.parent) else []
    candidates = sorted(
        name for name in names if name.endswith(SUFFIXES) and name[0] != "."
    )
    import difflib  # here: it costs more than all the rest of the start-up

    for name in sorted(names):
        if name.startswith(base.name) and Path(name).suffix in UNREADABLE:
            require_plain(base.parent / name)
    near = difflib.get_close_matches(base.name, candidates, n=3, cutoff=0.4)
    hint = ""
    if near:
        hint = f"; there is {', '.join(near)}"
    elif candidates:
        hint = f"; known: {grouped_names(candidates)}"
    raise InputError(printable(base, 200), f"no such file{hint}")


def belongs_to(stem: str, dataset: str) -> bool:
    """Return whether a prediction's stem begins with a dataset's, as a whole name."""
    return stem == dataset or (
        stem.startswith(dataset) and stem[len(dataset)] in NAME_ENDS
    )


def find_dataset(
    prediction: Path,
    folder: Path,
    has_questions: Callable[[Path], bool] = lambda path: False,
) -> Path | None:
    """Find the dataset of a prediction: the longest-named file in `folder` that fits.
    Its stem is the prediction's, or a prefix of it up to `-`, `_`, `.` or `@`.

    None if there is none, and for a file that `has_questions`; InputError if two fit
    equally well, or if the folder exists and cannot be read.
    """
    if has_questions(prediction):
        return None
    stem = prediction.stem
    if not folder.exists():
        return None
    with readable(folder):
        names = sorted(os.listdir(folder))
    longest: list[Path] = []
    for path in (
        folder / name for name in names if stem.startswith(name.partition(".")[0])
    ):
        is_dataset = path.suffix in DATASET_SUFFIXES and not path.stem.endswith(
            TRUTHS_END
        )
        if not is_dataset or not belongs_to(stem, path.stem):
            continue
        if longest and len(path.stem) > len(longest[0].stem):
            longest = []
        if not longest or len(path.stem) == len(longest[0].stem):
            longest.append(path)
    return _only(longest, folder, "expected one dataset")


def find_own_dataset(
    path: Path,
    root: Path,
    is_root_named: bool = True,
    has_questions: Callable[[Path], bool] = lambda path: False,
) -> Path | None:
    """Find the dataset of a prediction file. Unless a root was named, that of the board
    in whose `prediction/` the file lies comes first.
    """
    board = _board_of(path)
    if board is not None and not is_root_named and not _is_same_folder(board, root):
        dataset = find_dataset(path, board / "dataset", has_questions)
        if dataset is not None:
            return dataset
    return find_dataset(path, root / "dataset", has_questions)


def describe_choice(path: Path, dataset: Path, root: Path) -> str:
    """Say which dataset of a prediction file was used, if its board and the root have
    two of one name that differ; else "".
    """
    board = _board_of(path)
    if board is None or _is_same_folder(board, root):
        return ""
    in_board, in_root = (folder / "dataset" / dataset.name for folder in (board, root))
    with contextlib.suppress(OSError):  # what is not there differs from nothing
        if in_board.read_bytes() != in_root.read_bytes():
            other = in_root if dataset.parent == in_board.parent else in_board
            return f"{path}: the dataset is {dataset}; {other} differs"
    return ""


def _board_of(path: Path) -> Path | None:
    """Return the folder in whose `prediction/` a file lies."""
    folder = Path(os.path.abspath(path)).parent
    return folder.parent if folder.name == "prediction" else None


def _is_same_folder(a: Path, b: Path) -> bool:
    return os.path.realpath(a) == os.path.realpath(b)


def find_truths(dataset: Path) -> Path | None:
    """Find the file with truths beside a dataset; InputError if there are several."""
    names = [dataset.with_name(f"{dataset.stem}{TRUTHS_END}{end}") for end in SUFFIXES]
    matches = [path for path in names if path.exists()]
    return _only(
        matches, dataset.parent, f"expected one file of truths for {dataset.name}"
    )


def temporary_name(folder: Path) -> Path:
    """Return a name for a file until it is complete. The next run deletes files that a
    killed run has left.
    """
    return folder / f".{os.getpid()}-{os.urandom(4).hex()}.tmp"


def write_atomic(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write text, its pieces, or bytes as a whole. A kill leaves the old file or the
    new one, never a torn one.

    Raises EvaluationError if the folder is read-only or the disk is full; the old file
    is then intact.
    """
    temporary = temporary_name(path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = content.encode()
        pieces = [content] if isinstance(content, bytes) else map(str.encode, content)
        with temporary.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise EvaluationError(
            f"{path}: cannot be written: {error.strerror or error}"
        ) from None
    finally:
        with contextlib.suppress(OSError):  # it is gone if all went well
            temporary.unlink()
