"""Entries whose files got another name: they go on if their system is
still the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from forecasteval.nightly.entry_book import AnswerHashes, Entry, current_hashes


class EntryName(NamedTuple):
    """The name of an entry: the stem of its file, and its author in it."""

    stem: str
    author: str


class Renames(NamedTuple):
    """What is known of entries that are gone, by the entries that may be theirs.

    former: the entry of the same system that had the same answers.
    others: an entry of another system with the same answers, if the present one is new.
    """

    former: dict[EntryName, EntryName]
    others: dict[EntryName, EntryName]


def find_renamed(
    gone: Mapping[EntryName, Entry],
    present: Mapping[EntryName, Entry],
    system_of: Mapping[str, str],
    night: int,
) -> Renames:
    """Find the present entries that go on with those that are gone.

    Each entry that is gone goes on once: of two runs with the same answers one is
    removed. system_of: by the stem of a file.
    """
    renames = Renames({}, {})
    left = {**gone}
    for name, entry in present.items():
        matches = []
        same_system = []
        for former, former_entry in left.items():
            if former.author != name.author:
                continue
            if not _may_go_on(entry, former_entry, name, night):
                continue
            matches.append(former)
            # A forecaster has a name of their own, whatever the file is called.
            if name.author or system_of[former.stem] == system_of[name.stem]:
                same_system.append(former)
        if same_system:
            renames.former[name] = same_system[0]
            del left[same_system[0]]
        elif matches and _first_night(entry) == night:
            renames.others[name] = matches[0]
    return renames


def _may_go_on(entry: Entry, former: Entry, name: EntryName, night: int) -> bool:
    """Return whether an entry may be the former one, which is gone,
    under a new name.
    """
    hashes = current_hashes(entry)
    if not hashes:
        return False
    # When a file of version 3.2.0 went is not recorded: only tonight is known.
    last_night = night
    is_recorded = not current_hashes(former)
    if is_recorded:
        last_night = _last_night(former)
    # An entry that was there beside the other one is no new name of it.
    if _first_night(entry) < last_night:
        return False
    return name.author != "" or _last_hashes(former) == hashes


def _first_night(entry: Entry) -> int:
    return min((states[0].night for states in entry.values()), default=0)


def _last_night(entry: Entry) -> int:
    return max(states[-1].night for states in entry.values())


def _last_hashes(entry: Entry) -> AnswerHashes:
    """Return the answers that an entry had before it went."""
    hashes = {}
    last_night = _last_night(entry)
    for key, states in entry.items():
        if states[-1].answer_hash:
            hashes[key] = states[-1].answer_hash
        elif states[-1].night == last_night and len(states) > 1:
            hashes[key] = states[-2].answer_hash
    return hashes
