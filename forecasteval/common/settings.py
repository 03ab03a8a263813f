"""`forecasteval.toml`: options that every command has in its folder."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .errors import InputError, printable
from .files import decode_utf8, read_file

SETTINGS_FILE: Final = "forecasteval.toml"


def read_settings(path: Path, options: Mapping[str, bool]) -> dict[str, list[str]]:
    """Read a settings file as words of a command line, by option.

    `gamma = [0, 1]` → `{"--gamma": ["--gamma=0", "--gamma=1"]}`. `options` are those that it may
    have, and whether they take a list. Raises InputError for any other key.
    """
    if not path.is_file():
        return {}
    try:
        values = tomllib.loads(decode_utf8(read_file(path), str(path)))
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), f"not TOML: {error}") from None
    words = {}
    for key, value in values.items():
        flag = f"--{key}"
        if flag not in options:
            where = f"{path}: {printable(key, 40)}"
            raise InputError(where, "expected the name of an option that a folder can have")
        words[flag] = [
            f"--{'' if each else 'no-'}{key}" if isinstance(each, bool) else f"{flag}={each}"
            for each in (value if isinstance(value, list) and options[flag] else [value])
        ]
    return words
