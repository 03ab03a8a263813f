"""Which forecasts are not scored, by forecaster and reason; whom that costs
more than half.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

EXCLUDED: Final = "of an event that is excluded"
UNKNOWN: Final = "unknown problem id"
LATE: Final = "after the event closed"
AMBIGUOUS: Final = "several forecasts without a time that tells them apart"
REPLACED: Final = "a later one of its forecaster counts"
UNTIMED: Final = "without a time where others of its file have one, so late"
FIRST_SEEN_LATE: Final = "first seen after its event had closed or had an outcome"
# Reasons that are no misreading of a file: many of its forecasts may be lost for
# one of them.
HARMLESS: Final = frozenset(
    {EXCLUDED, UNKNOWN, LATE, REPLACED, UNTIMED, FIRST_SEEN_LATE}
)


class Name(NamedTuple):
    """A forecaster of a file, by the name that the file gives."""

    path: str
    username: str


class Lost(NamedTuple):
    """How many forecasts a forecaster has, how many of them it lost, and by reason."""

    name: Name
    total: int
    lost: int
    reasons: Mapping[str, int]

    def loses_most(self, count: int) -> bool:
        return 2 * count > self.total

    def list_main_reasons(self) -> list[str]:
        """List the reasons for which it loses more than half of its forecasts."""
        return [
            reason for reason, count in self.reasons.items() if self.loses_most(count)
        ]


class Losses:
    """The forecasts of a board that are not scored.

    Whatever a forecaster says of one event is one forecast: who revises it loses
    nothing. `paths`: by name of the forecasters that count their file.
    """

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}
        self._events: defaultdict[Name, defaultdict[str, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )

    def add(self, path: str, username: str, reason: str, event: str) -> None:
        self._events[Name(path, username)][reason].add(event)

    def count(self, scored: Mapping[str, set[str]]) -> list[Lost]:
        """Count what each forecaster lost; `scored`: by its name the
        events that it has.
        """
        return [
            self._count(Name(path, username), scored.get(username, set()))
            for username, path in self.paths.items()
        ]

    def _count(self, name: Name, scored: set[str]) -> Lost:
        if name not in self._events:
            return Lost(name, len(scored), 0, {})
        by_reason = self._events[name]
        reasons = {reason: len(events - scored) for reason, events in by_reason.items()}
        lost = set[str]().union(*by_reason.values()) - scored
        return Lost(name, len(lost) + len(scored), len(lost), reasons)


def find_misread(counts: Iterable[Lost]) -> Iterator[tuple[str, str, int, int]]:
    """Find files that lose more than half of their forecasts for one reason, or of
    which more than half of the forecasters do: the file, the reason, how many forecasts
    it costs of how many.
    """
    by_path = defaultdict[str, list[Lost]](list)
    for lost in counts:
        if lost.total:
            by_path[lost.name.path].append(lost)
    for path, forecasters in by_path.items():
        costs = Counter[str]()
        losers = Counter[str]()
        for lost in forecasters:
            costs.update(lost.reasons)
            losers.update(lost.list_main_reasons())
        total = sum(lost.total for lost in forecasters)
        for reason, cost in costs.items():
            is_misread = 2 * cost > total or 2 * losers[reason] > len(forecasters)
            if is_misread and reason not in HARMLESS:
                yield path, reason, cost, total
