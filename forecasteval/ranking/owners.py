"""Which prediction files a person may change: those of systems that `systems.json` registers to
them.
"""

from __future__ import annotations

from pathlib import Path

from forecasteval.common.files import SUFFIXES, find_dataset

from .names import SYSTEMS_FILE, Systems, read_systems


def find_foreign(path: Path, root: Path, login: str) -> str:
    """Say why a person may not add, change or remove a file; "" if they may.

    All runs and aliases of a system are its owner's; a system without an owner is nobody's.
    """
    folder = root / "prediction"
    is_prediction = path.parent.resolve() == folder.resolve() and path.suffix in SUFFIXES
    if not is_prediction or path.name == SYSTEMS_FILE:
        return "is no prediction file"
    if path.is_symlink():
        return "is a link"
    dataset = find_dataset(path, root / "dataset")
    if dataset is None:
        return "begins with the name of no dataset"
    systems = read_systems(folder)
    return find_stranger(systems.system_of(path.stem, dataset.name), systems, login)


def find_stranger(system: str, systems: Systems, login: str) -> str:
    """Say whose a system is, unless it is this person's; logins have no case."""
    owner = systems.owners.get(system, "")
    if owner and owner.casefold() == login.casefold():
        return ""
    return f"system {system!r} is registered to {owner or 'nobody'}"
