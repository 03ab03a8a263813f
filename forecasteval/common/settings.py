"""`forecasteval.toml`: options that every command has in its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from .errors import InputError, printable
from .files import read_file
from .patterns import lazy
from .text import decode_utf8

SETTINGS_FILE: Final = "forecasteval.toml"
_KEY: Final = lazy(r"""[ \t\["']*([^ \t="'\]]+)""")


class FolderSettings(NamedTuple):
    """The words of a command line by option, the mistakes by line, and the
    line of each key.
    """

    path: Path
    words: dict[str, list[str]]
    mistakes: list[InputError]
    lines: dict[str, int]

    def place(self, error: InputError) -> InputError:
        """Return an error about an option with file and line, if the file
        has the option.
        """
        key = flag_of(error).removeprefix("--")
        if f"--{key}" not in self.words:
            return error
        return InputError(self.locate(key), error.expected, error.got)

    def locate(self, key: str) -> str:
        """Return the place of a key: file and line, if it stands at the
        beginning of one.
        """
        line = ""
        if key in self.lines:
            line = f": line {self.lines[key]}"
        return f"{self.path}{line}: {printable(key, 40)}"


def flag_of(error: InputError) -> str:
    """Return the option that an error is about: `relative_sigma` →
    `--relative-sigma`.
    """
    return f"--{error.where.strip('-').replace('_', '-')}"


def read_settings(
    path: Path, find_problem: Callable[[str, object], str]
) -> FolderSettings:
    """Read a settings file as words of a command line; nothing if there is none.

    `gamma = [0, 1]` → `{"--gamma": ["--gamma=0", "--gamma=1"]}`. `find_problem` says
    what is wrong with the value of a key, "" for nothing.
    """
    settings = FolderSettings(path, {}, [], {})
    if not path.is_file():
        return settings
    # Here: its patterns take milliseconds to compile, and most folders have no file
    import tomllib

    try:
        text = decode_utf8(read_file(path), str(path))
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        settings.mistakes.append(InputError(str(path), f"not TOML: {error}"))
        return settings
    except InputError as error:
        settings.mistakes.append(error)
        return settings
    for number, line in enumerate(text.split("\n"), 1):
        if match := _KEY.match(line):
            settings.lines.setdefault(match[1], number)
    for key, value in values.items():
        if problem := find_problem(key, value):
            settings.mistakes.append(InputError(settings.locate(key), problem))
        else:
            values_of_key = value if isinstance(value, list) else [value]
            settings.words[f"--{key}"] = [
                _format_word(key, each) for each in values_of_key
            ]
    return settings


def _format_word(key: str, value: object) -> str:
    """Format a setting as the word of a command line."""
    if value is True:
        return f"--{key}"
    if value is False:
        return f"--no-{key}"
    return f"--{key}={value}"
