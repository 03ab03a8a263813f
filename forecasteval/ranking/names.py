"""The parts of a prediction file's name, `DATASET-SYSTEM[@RUN]`, and what
`systems.json` says of systems: their other names, and metadata.

`prediction/systems.json` is an object: the name of a system, as its files have it, and
an object of `name` (to be shown), `aliases` (other names that its files have),
`organisation`, `cost` (per question), `prices` (of a million tokens, from which the
cost follows), `owner` (the logins of who may change its files), `baseline` (true of one
that only guesses) and `withdrawn` (datasets and runs that are no entries), none of
which is needed. Other keys are ignored.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, look_of, printable
from forecasteval.common.files import SUFFIXES, belongs_to, read_file
from forecasteval.common.records import group_by, number_text, parse_json, repeated_keys
from forecasteval.common.text import decode_utf8

SYSTEMS_FILE: Final = "systems.json"


class FileName(NamedTuple):
    """`dataset` is "" for a file that was scored without one, `run` for one
    that names none.
    """

    dataset: str
    system: str
    run: str


def split_name(stem: str, dataset: str | None = None) -> FileName:
    """Split the parts of a prediction file's stem; `dataset` is the file (or its stem)
    that it was scored with.

    The system is what follows the dataset's stem and one of `-_.@`, and all of the stem
    where that does not begin with the dataset's; the run is what follows the last `@`.
    Neither is ever empty by such a cut: a name that is nothing else is that
    of its system.

    >>> split_name("250915-deep-x@2", "250915.json")
    FileName(dataset='250915', system='deep-x', run='2')
    >>> split_name("deep-x@a@b")
    FileName(dataset='', system='deep-x@a', run='b')
    >>> split_name("250915@2", "250915.json")
    FileName(dataset='250915', system='250915', run='2')
    >>> split_name("250915-x@", "250915")
    FileName(dataset='250915', system='x@', run='')
    """
    known = _cut_suffix(Path(dataset or "").name)
    system = stem
    if known and belongs_to(stem, known):
        rest = stem[len(known) :]
        # `250915@2` is a run of the system that has no other name than its
        # dataset's, `250915`.
        if rest and rest[0] != "@":
            system = rest[1:] or stem
    before, _, after = system.rpartition("@")
    if before and after:
        return FileName(known, before, after)
    return FileName(known, system, "")


def _cut_suffix(name: str) -> str:
    """Cut the suffix of a file of data: `250915` of `250915.json`."""
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def without_run(stem: str, dataset: str | None = None) -> str:
    """Return the stem that all runs of a system on a dataset share: `250915-x`
    of `250915-x@2`.
    """
    run = split_name(stem, dataset).run
    if not run:
        return stem
    return stem.removesuffix(f"@{run}")


def format_distinct(names: Sequence[str], limit: int | None = None) -> list[str]:
    r"""Make names `printable`; those that differ only in Unicode form or invisible
    characters are shown with escapes.

    >>> format_distinct(["caf\u00e9", "cafe\u0301", "b"])
    ['caf\\xe9', 'cafe\\u0301', 'b']
    """
    counts = Counter(map(look_of, {*names}))
    shown = []
    for name in names:
        if counts[look_of(name)] > 1:
            name = ascii(name)[1:-1]
        shown.append(printable(name, limit))
    return shown


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


class Systems(NamedTuple):
    """The metadata by system, the system of each alias, and the mistakes in the file.
    What has no mistake is kept. `prices` of a million tokens of prompts and of
    replies, by system.
    """

    entries: dict[str, About]
    aliases: dict[str, str]
    mistakes: list[str]
    owners: dict[str, tuple[str, ...]]  # logins by system, without "@"
    withdrawn: dict[str, tuple[str, ...]]  # datasets and runs by system
    prices: dict[str, tuple[float, float]]

    def system_of(self, stem: str, dataset: str | None) -> str:
        """Return the system of a prediction file."""
        name = split_name(stem, dataset).system
        return self.aliases.get(name, name)

    def find_clashes(self, files: Iterable[tuple[str, str | None]]) -> dict[str, str]:
        """Find the systems of which two names have a file, given as its stem and
        dataset, for one dataset. Each with a mistake that names both.
        """
        names: dict[tuple[str, str | None], set[str]] = {}
        for stem, dataset in files:
            name = split_name(stem, dataset).system
            names.setdefault((self.aliases.get(name, name), dataset), set()).add(name)
        clashes = {}
        for (system, dataset), both in names.items():
            if len(both) > 1:
                shown = " and ".join(_quote(name) for name in sorted(both))
                clashes[system] = (
                    f"system {printable(system, 40)}: {shown} are one system, "
                    f"but both have a file for {printable(dataset or 'no dataset', 60)}"
                )
        return clashes

    def without_clashes(self, files: Iterable[tuple[str, str | None]]) -> Systems:
        """Return the same without the aliases of systems with a clash; its
        mistakes are added.
        """
        clashes = self.find_clashes(files)
        aliases = {
            name: system
            for name, system in self.aliases.items()
            if system not in clashes
        }
        return self._replace(
            aliases=aliases, mistakes=[*self.mistakes, *clashes.values()]
        )

    def find_taken(self, rows: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Find the display names that are names of other systems, given by `rows` of a
        system and one of its names. Each with a mistake: its row would pass for the
        other system's.
        """
        holders = {(_fold_look(text), row[0]) for row in rows for text in row}
        taken = {}
        for system, about in self.entries.items():
            shown = about.name or system
            look = _fold_look(shown)
            if any(look == other and holder != system for other, holder in holders):
                taken[system] = (
                    f"system {printable(system, 40)}: "
                    "'name' must not be that of another system, got "
                    f"{describe_value(shown)}"
                )
        return taken

    def find_twins(self, systems: Iterable[str]) -> list[str]:
        """Name systems whose names look alike: `café` in two Unicode forms,
        `GPT` and `gpt`.
        """
        groups = group_by(sorted(systems), _fold_look).values()
        return [
            "systems with one name in several spellings: "
            f"{', '.join(format_distinct(names, 40))}"
            for names in groups
            if len(names) > 1
        ]

    @property
    def baselines(self) -> set[str]:
        """Return the systems that only guess."""
        return {system for system, about in self.entries.items() if about.baseline}

    def names_of(self, system: str) -> list[str]:
        """Return all names by which users may call a system."""
        aliases = [name for name, target in self.aliases.items() if target == system]
        names = [system, *aliases]
        shown = self.entries.get(system, UNKNOWN).name
        if shown:
            names.append(shown)
        return names


NO_SYSTEMS: Final = Systems({}, {}, [], {}, {}, {})


def read_systems(folder: Path) -> Systems:
    """Read what is known of the systems whose predictions are in `folder`; nothing if
    there is no such file.
    """
    path = folder / SYSTEMS_FILE
    if not os.path.lexists(path):
        return NO_SYSTEMS
    try:
        value = parse_json(decode_utf8(read_file(path), SYSTEMS_FILE), SYSTEMS_FILE)
        if not isinstance(value, dict):
            raise InputError(
                SYSTEMS_FILE, "expected an object of systems", describe_value(value)
            )
    except InputError as error:
        return NO_SYSTEMS._replace(mistakes=[printable(error.problem)])
    mistakes = [f"system {name}: given twice" for name in repeated_keys(value)]
    read = {name: _read_entry(name, entry, mistakes) for name, entry in value.items()}
    aliases = _find_aliases(read, mistakes)
    owners: dict[str, tuple[str, ...]] = {}
    withdrawn: dict[str, tuple[str, ...]] = {}
    prices: dict[str, tuple[float, float]] = {}
    entries: dict[str, About] = {}
    for name, entry in read.items():
        if "owner" in entry:
            logins = _as_list(entry["owner"])
            owners[name] = tuple(login.strip().removeprefix("@") for login in logins)
        if "withdrawn" in entry:
            withdrawn[name] = tuple(entry["withdrawn"])
        if "prices" in entry:
            prompt, completion = (float(entry["prices"][kind]) for kind in PRICES)
            prices[name] = prompt, completion
        about = {key: entry[key] for key in _ABOUT if key in entry}
        if about:
            entries[name] = About(**about)
    return Systems(entries, aliases, mistakes, owners, withdrawn, prices)


def _find_aliases(
    read: Mapping[str, Mapping[str, Any]], mistakes: list[str]
) -> dict[str, str]:
    """Find the system of each alias, the first that has it."""
    systems = {name: name for name in read}
    for system, entry in read.items():
        for alias in entry.get("aliases", ()):
            if systems.setdefault(alias, system) != system:
                mistakes.append(
                    f"system {printable(system, 40)}: the alias {_quote(alias)} is "
                    "another system"
                )
    return {alias: system for alias, system in systems.items() if alias not in read}


def _read_entry(name: str, entry: object, mistakes: list[str]) -> dict[str, Any]:
    """Read the known keys of a system; those with a mistake are left out."""
    where = f"system {printable(name, 40) or repr(name)}"
    if not isinstance(entry, dict):
        mistakes.append(f"{where}: expected an object, got {describe_value(entry)}")
        return {}
    mistakes += [
        f"{where}: '{printable(key, 40)}' is given twice"
        for key in repeated_keys(entry)
    ]
    known = {}
    for key, (is_valid, expected) in _RULES.items():
        if key not in entry:
            continue
        if is_valid(entry[key]):
            known[key] = entry[key]
        else:
            got = describe_value(entry[key])
            mistakes.append(f"{where}: '{key}' must be {expected}, got {got}")
    return known


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_amount(value: object) -> bool:
    text = number_text(value)
    return bool(text) and float(text) >= 0


def _are_names(value: object) -> bool:
    """Return whether a value is a list of names; `@` is none."""
    if not isinstance(value, list):
        return False
    return all(isinstance(name, str) and name.strip(" @") for name in value)


def _are_logins(value: object) -> bool:
    logins = _as_list(value)
    return bool(logins) and _are_names(logins)


def _are_prices(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return value.keys() == {*PRICES} and all(map(_is_amount, value.values()))


# By key whether a value is valid, and what it must be.
_RULES: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "name": (_is_text, "text"),
    "aliases": (_are_names, "a list of names"),
    "organisation": (_is_text, "text"),
    "cost": (_is_amount, "a number >= 0"),
    "prices": (
        _are_prices,
        'the prices of a million tokens, as {"prompt": 0.15, "completion": 0.6}',
    ),
    "owner": (_are_logins, "a login or a list of logins"),
    "baseline": (_is_flag, "true or false"),
    "withdrawn": (_are_names, "a list of datasets and runs"),
}
# The keys that `About` has
_ABOUT: Final = ("name", "organisation", "cost", "baseline")


def _as_list(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value]


def describe_value(value: object) -> str:
    """Describe a value of the file in a message."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return _quote(value)


def _quote(value: object) -> str:
    return printable(repr(value), 40)


def _fold_look(name: str) -> str:
    """Fold a name as it looks: `café` in two Unicode forms, and `GPT` and
    `gpt`, are equal.
    """
    return look_of(name).casefold()


BOARD: Final = "leaderboard"  # the stem that no result may have
