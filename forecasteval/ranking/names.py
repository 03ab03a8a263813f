"""The parts of a prediction file's name, `DATASET-SYSTEM[@RUN]`, and what `systems.json` says of
systems: their other names, and metadata.

`prediction/systems.json` is an object: the name of a system, as its files have it, and an object of
`name` (to be shown), `aliases` (other names that its files have), `organisation`, `cost` (per
question), `prices` (of a million tokens, from which the cost follows), `owner` (the logins of who
may change its files), `baseline` (true of one that only guesses) and `withdrawn` (datasets and runs
that are no entries), none of which is needed. Other
keys are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, look_of, printable
from forecasteval.common.files import SUFFIXES, belongs_to, read_file
from forecasteval.common.records import group_by, number_text, parse_json, repeated_keys
from forecasteval.common.text import decode_utf8

SYSTEMS_FILE: Final = "systems.json"


class FileName(NamedTuple):
    """`dataset` is "" for a file that was scored without one, `run` for one that names none."""

    dataset: str
    system: str
    run: str


def split_name(stem: str, dataset: str | None = None) -> FileName:
    """Split the parts of a prediction file's stem; `dataset` is the file (or its stem) that it was
    scored with.

    The system is what follows the dataset's stem and one of `-_.@`, and all of the stem where that
    does not begin with the dataset's; the run is what follows the last `@`. Neither is ever empty
    by such a cut: a name that is nothing else is that of its system.

    >>> split_name("250915-deep-x@2", "250915.json")
    FileName(dataset='250915', system='deep-x', run='2')
    >>> split_name("deep-x@a@b")
    FileName(dataset='', system='deep-x@a', run='b')
    >>> split_name("250915@2", "250915.json")
    FileName(dataset='250915', system='250915', run='2')
    >>> split_name("250915-x@", "250915")
    FileName(dataset='250915', system='x@', run='')
    """
    name = Path(dataset or "").name
    known = next((name[: -len(end)] for end in SUFFIXES if name.endswith(end)), name)
    system = stem
    if known and belongs_to(stem, known):
        rest = stem[len(known) :]
        # `250915@2` is a run of the system that has no other name than its dataset's, `250915`
        system = known + rest if rest[:1] in ("", "@") else rest.removeprefix(rest[0]) or stem
    before, _, after = system.rpartition("@")
    return FileName(known, before, after) if before and after else FileName(known, system, "")


def without_run(stem: str, dataset: str | None = None) -> str:
    """Return the stem that all runs of a system on a dataset share: `250915-x` of `250915-x@2`."""
    run = split_name(stem, dataset).run
    return stem.removesuffix(f"@{run}") if run else stem


def show_distinct(names: Sequence[str], limit: int | None = None) -> list[str]:
    r"""`printable` names; names that differ only in Unicode form or invisible characters are shown
    with escapes.

    >>> show_distinct(["caf\u00e9", "cafe\u0301", "b"])
    ['caf\\xe9', 'cafe\\u0301', 'b']
    """
    same = group_by({*names}, look_of)
    return [
        printable(name if len(same[look_of(name)]) == 1 else ascii(name)[1:-1], limit)
        for name in names
    ]


# --- systems.json ---


@dataclass(frozen=True, kw_only=True)
class About:
    """What `systems.json` says of a system besides its aliases."""

    name: str = ""  # to be shown
    organisation: str = ""
    cost: int | float | None = None  # per question, as it is written
    baseline: bool = False  # it guesses, and has no rank


UNKNOWN: Final = About()
PRICES: Final = ("prompt", "completion")  # of a million tokens, in dollars
_KEYS: Final = (
    "name",
    "aliases",
    "organisation",
    "cost",
    "prices",
    "owner",
    "baseline",
    "withdrawn",
)


class Systems(NamedTuple):
    """The metadata by system, the system of each alias, and the mistakes in the file. What has no
    mistake is kept. `prices` of a million tokens of prompts and of replies, by system.
    """

    entries: dict[str, About]
    aliases: dict[str, str]
    mistakes: list[str]
    owners: dict[str, tuple[str, ...]]  # logins by system, without "@"
    withdrawn: dict[str, tuple[str, ...]]  # datasets and runs by system
    prices: dict[str, tuple[float, float]]

    def system_of(self, stem: str, dataset: str | None) -> str:
        """Return the system of a prediction file."""
        own = split_name(stem, dataset).system
        return self.aliases.get(own, own)

    def find_clashes(self, files: Iterable[tuple[str, str | None]]) -> dict[str, str]:
        """Find the systems of which two names have a file, given as its stem and dataset, for one
        dataset. Each with a mistake that names both.
        """
        names: dict[tuple[str, str | None], set[str]] = {}
        for stem, dataset in files:
            own = split_name(stem, dataset).system
            names.setdefault((self.aliases.get(own, own), dataset), set()).add(own)
        return {
            system: f"system {printable(system, 40)}: "
            f"{' and '.join(printable(repr(name), 40) for name in sorted(both))} are one system, "
            f"but both have a file for {printable(dataset or 'no dataset', 60)}"
            for (system, dataset), both in names.items()
            if len(both) > 1
        }

    def without_clashes(self, files: Iterable[tuple[str, str | None]]) -> Systems:
        """Return the same without the aliases of systems with a clash; its mistakes are added."""
        clashes = self.find_clashes(files)
        kept = {name: system for name, system in self.aliases.items() if system not in clashes}
        return self._replace(aliases=kept, mistakes=[*self.mistakes, *clashes.values()])

    def find_taken(self, rows: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Find the display names that are names of other systems, given by `rows` of a system and
        one of its names. Each with a mistake: its row would pass for the other system's.
        """
        holders = {(look_of(text).casefold(), row[0]) for row in rows for text in row}
        return {
            system: f"system {printable(system, 40)}: "
            f"'name' must not be that of another system, got {describe_value(about.name or system)}"
            for system, about in self.entries.items()
            for look in [look_of(about.name or system).casefold()]
            if any(look == other and holder != system for other, holder in holders)
        }

    def find_twins(self, systems: Iterable[str]) -> list[str]:
        """Name systems whose names look alike: `café` in two Unicode forms, `GPT` and `gpt`."""
        groups = group_by(sorted(systems), lambda name: look_of(name).casefold()).values()
        return [
            f"systems with one name in several spellings: {', '.join(show_distinct(names, 40))}"
            for names in groups
            if len(names) > 1
        ]

    @property
    def baselines(self) -> set[str]:
        """Find the systems that only guess."""
        return {system for system, about in self.entries.items() if about.baseline}

    def names_of(self, system: str) -> list[str]:
        """Return all names by which users may call a system."""
        other = [name for name, target in self.aliases.items() if target == system]
        return [system, *other, *filter(None, [self.entries.get(system, UNKNOWN).name])]


NO_SYSTEMS: Final = Systems({}, {}, [], {}, {}, {})


def read_systems(folder: Path) -> Systems:
    """Read what is known of the systems whose predictions are in `folder`; nothing if there is no
    such file.
    """
    path = folder / SYSTEMS_FILE
    if not os.path.lexists(path):
        return NO_SYSTEMS
    try:
        value = parse_json(decode_utf8(read_file(path), SYSTEMS_FILE), SYSTEMS_FILE)
        if not isinstance(value, dict):
            raise InputError(SYSTEMS_FILE, "expected an object of systems", describe_value(value))
    except InputError as error:
        return NO_SYSTEMS._replace(mistakes=[printable(error.problem)])
    mistakes = [f"system {name}: given twice" for name in repeated_keys(value)]
    read = {name: _read_entry(name, entry, mistakes) for name, entry in value.items()}
    aliases = {name: name for name in value}
    for system, entry in read.items():
        for name in entry.pop("aliases", ()):
            if aliases.setdefault(name, system) != system:
                mistakes.append(
                    f"system {printable(system, 40)}: "
                    f"the alias {printable(repr(name), 40)} is another system"
                )
    aliases = {name: system for name, system in aliases.items() if name not in value}
    owners = {
        name: tuple(login.strip().removeprefix("@") for login in _as_list(entry.pop("owner")))
        for name, entry in read.items()
        if "owner" in entry
    }
    withdrawn = {
        name: tuple(entry.pop("withdrawn")) for name, entry in read.items() if "withdrawn" in entry
    }
    prices = {
        name: (float(given["prompt"]), float(given["completion"]))
        for name, entry in read.items()
        if (given := entry.pop("prices", None))
    }
    entries = {name: About(**entry) for name, entry in read.items() if entry}
    return Systems(entries, aliases, mistakes, owners, withdrawn, prices)


def _read_entry(name: str, entry: object, mistakes: list[str]) -> dict[str, Any]:
    """Read the known keys of a system; those with a mistake are left out."""
    where = f"system {printable(name, 40) or repr(name)}"
    if not isinstance(entry, dict):
        mistakes.append(f"{where}: expected an object, got {describe_value(entry)}")
        return {}
    mistakes += [f"{where}: '{printable(key, 40)}' is given twice" for key in repeated_keys(entry)]
    known = {}
    for key in (key for key in _KEYS if key in entry):
        if expected := _find_problem(key, entry[key]):
            mistakes.append(
                f"{where}: '{key}' must be {expected}, got {describe_value(entry[key])}"
            )
        else:
            known[key] = entry[key]
    return known


def _find_problem(key: str, value: object) -> str:
    """Say what the value of a key must be; "" for a valid value."""
    if key in ("aliases", "owner", "withdrawn"):
        names = [name for name in _as_list(value) if isinstance(name, str) and name.strip(" @")]
        if key == "owner":
            return "" if names and names == _as_list(value) else "a login or a list of logins"
        expected = "a list of datasets and runs" if key == "withdrawn" else "a list of names"
        return "" if names == value else expected
    if key == "cost":
        return "" if _is_amount(value) else "a number >= 0"
    if key == "prices":
        given = value if isinstance(value, dict) else {}
        if given.keys() == {*PRICES} and all(map(_is_amount, given.values())):
            return ""
        return 'the prices of a million tokens, as {"prompt": 0.15, "completion": 0.6}'
    if key == "baseline":
        return "" if isinstance(value, bool) else "true or false"
    return "" if isinstance(value, str) and value.strip() else "text"


def _is_amount(value: object) -> bool:
    text = number_text(value)
    return bool(text) and float(text) >= 0


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def describe_value(value: object) -> str:
    """Describe a value of the file in a message."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return printable(repr(value), 40)


BOARD: Final = "leaderboard"  # the stem that no result may have
