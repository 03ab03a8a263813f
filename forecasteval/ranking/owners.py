"""Which prediction files a person may change: those of systems that `systems.json`
registers to them.
"""

from __future__ import annotations

from pathlib import Path

from forecasteval.common.files import SUFFIXES, find_dataset

from .names import SYSTEMS_FILE, Systems, read_systems


def find_foreign(path: Path, root: Path, target: Path, login: str) -> str:
    """Say why a person may not add, change or remove a file of `root`; "" if they may.

    Owners and datasets are those of the folder `target`. All runs and aliases of a
    system are its owners'; a system without an owner is nobody's.
    """
    is_prediction = path.parent.resolve() == (root / "prediction").resolve()
    if not is_prediction or path.suffix not in SUFFIXES or path.name == SYSTEMS_FILE:
        return "is no prediction file"
    if path.is_symlink():
        return "is a link"
    dataset = find_dataset(path, target / "dataset")
    if dataset is None:
        return "begins with the name of no dataset"
    systems = read_systems(target / "prediction")
    return find_stranger(systems.system_of(path.stem, dataset.name), systems, login)


def find_stranger(system: str, systems: Systems, login: str) -> str:
    """Say whose a system is, unless it is this person's; logins have no case."""
    owners = systems.owners.get(system, ())
    if login.removeprefix("@").casefold() in map(str.casefold, owners):
        return ""
    if not system:
        return "has a forecast without a username"
    if systems.mistakes and not owners:
        return "the registration file has a mistake; the maintainers see it in the log"
    return f"system {system!r} is registered to {', '.join(owners) or 'nobody'}"
