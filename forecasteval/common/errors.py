"""Errors of one printable line, each with its exit code; foreign text made
safe to print.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from .exit_codes import ExitCode
from .patterns import lazy


class EvaluationError(Exception):
    """Root of every error raised on purpose; its text is one line, safe to print."""

    exit_code = ExitCode.REFUSED

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(EvaluationError):
    """Input that cannot be used.

    `where` names file and record; `expected` is what is valid there, `got`
    the actual value.
    """

    def __init__(self, where: str, expected: str, got: str = "") -> None:
        super().__init__(where, expected, got)
        self.where, self.expected, self.got = where, expected, got

    @property
    def problem(self) -> str:
        """Say what is wrong, without where."""
        if self.got:
            return f"{self.expected}, got {self.got}"
        return self.expected

    def __str__(self) -> str:
        return printable(f"{self.where}: {self.problem}")


class OtherQuestionsError(InputError):
    """A prediction for the questions of another dataset; a nightly run leaves it out
    and reports it.
    """


class PendingError(InputError):
    """No question of a dataset has a truth yet: nothing can be scored, and
    nothing is wrong.
    """

    def __init__(self, where: str, questions: int, hint: str = "") -> None:
        super().__init__(
            where,
            f"no truth yet: {show_count(questions, 'question')}, all pending{hint}",
        )


class VoidError(PendingError):
    """All questions of a dataset are void: nothing can be scored, and
    nothing is wrong.
    """

    def __init__(self, where: str, questions: int) -> None:
        size = show_count(questions, "question")
        InputError.__init__(self, where, f"no question to score: {size}, all void")


class ClashError(InputError):
    """Files that cannot be scored together: `errors` has one by the path of each of
    them; the others still can.
    """

    def __init__(self, errors: Mapping[str, InputError]) -> None:
        first = next(iter(errors.values()))
        super().__init__(first.where, first.expected, first.got)
        self.errors = errors


class LockedError(EvaluationError):
    """Another run uses the same folder."""

    exit_code = ExitCode.LOCKED


@contextlib.contextmanager
def extra_package(package: str, where: str, otherwise: str = "") -> Iterator[None]:
    """Around the import of an optional package: without it, an InputError has the
    command that installs it.

    `otherwise` is what users can do instead.
    """
    try:
        yield
    except ImportError:
        hint = ""
        if otherwise:
            hint = f", or {otherwise}"
        raise InputError(
            where, f"needs {package}: pip install {package}{hint}"
        ) from None


# Control characters, invisible direction marks and lone surrogates: a terminal must
# never see them raw.
UNSAFE_SIGNS: Final = (  # but for those below the blank
    r"\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
)
UNSAFE: Final = lazy(rf"[\x00-\x1f{UNSAFE_SIGNS}]")


def printable(text: object, limit: int | None = None) -> str:
    r"""`text` on one line, unsafe characters as escapes, cut to `limit` characters
    with an ellipsis.

    >>> printable("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    try:
        shown = str(text)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        shown = "a number of too many digits"
    if limit is not None and len(shown) > limit:
        shown = shown[: limit - 1] + "…"
    if shown.isprintable():  # as nothing unsafe is, and which takes a fifth of the time
        return shown
    return UNSAFE.sub(
        lambda match: match[0].encode("unicode_escape").decode("ascii"), shown
    )


# White space, and what is drawn as nothing.
_INVISIBLE: Final = lazy(
    r"[\s\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    r"\U000e0000-\U000e0fff]"
)


def look_of(name: str) -> str:
    """Return what a reader sees of a name: without its Unicode form, blanks and
    invisible characters.
    """
    return _INVISIBLE.sub("", UNSAFE.sub("", unicodedata.normalize("NFKC", name)))


class RecordNotes(defaultdict[str, list[str]]):
    """Notes about records, each with the names of records: `notes["record without
    id"].append("record 7")`.
    """

    def __init__(self) -> None:
        super().__init__(list)

    def lines(self) -> list[str]:
        """Return a line for each note with its `grouped_names`, in the order of their
        first records.
        """
        return [f"{text}: {grouped_names(names)}" for text, names in self.items()]


def show_count(count: int, noun: str) -> str:
    """Count things in words.

    >>> show_count(1, "question"), show_count(0, "event")
    ('1 question', '0 events')
    """
    if count == 1:
        return f"{count} {noun}"
    return f"{count} {noun}s"


def grouped_names(names: Sequence[object], count: int | None = None) -> str:
    """Return how many (`count` if not all are named), and the first
    five: `2 (a, b)`.
    """
    shown = ", ".join(printable(name, 40) for name in names[:5])
    total = len(names) if count is None else count
    return f"{total} ({shown}{', …' if total > 5 else ''})"


def _open_streams() -> None:
    """Open the null device for closed streams (`>&-`): the next file would get their
    number, and with it the output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this
    # Open for as long as we live.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def run_command(program: str, work: Callable[[], int]) -> int:
    """Run `work`, and return its exit code, or that of the error that stopped it. An
    error is printed as one line on stderr.
    """
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal without UTF-8 shows escapes
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return work()
        finally:
            sys.stdout.flush()
    except EvaluationError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return error.exit_code
    except MemoryError:
        print(f"{program}: not enough memory", file=sys.stderr)
        return ExitCode.REFUSED
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except OSError as error:
        if error.filename is not None:  # no error of a stream
            name = printable(error.filename, 200)
            print(
                f"{program}: {name}: cannot be used: {error.strerror}", file=sys.stderr
            )
            return ExitCode.REFUSED
        # Python would try to write the rest once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # `eval.py … | head`
            return ExitCode.DONE
        print(
            f"{program}: the output cannot be written: {error.strerror}",
            file=sys.stderr,
        )
        return ExitCode.FAULT
