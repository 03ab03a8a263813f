"""What was left out and what is odd, by reason, with the names concerned: nothing is left out unseen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import grouped_warning, printable

NAMES_KEPT: Final = 100  # of forecasts; of events all


class Refusal(NamedTuple):
    """Stands where a row of a file gives no problem or no forecast, and tells why."""

    problem_id: str
    username: str
    reason: str


class _Group:
    """How many, and the first of their names in order; of millions not all are held."""

    def __init__(self) -> None:
        self.count = 0
        self.names: list[str] = []

    def add(self, names: Iterable[str], count: int | None, kept: int | None) -> None:
        before = len(self.names)
        self.names.extend(names)
        self.count += len(self.names) - before if count is None else count
        if kept and len(self.names) > 50 * kept:
            self.names = self.first(kept)

    def first(self, kept: int | None) -> list[str]:
        return sorted(self.names)[:kept]


class Notes:
    """Collects exclusions, warnings that name records (`odd`), and warnings that stand for themselves (`lines`)."""

    def __init__(self) -> None:
        self.excluded: dict[tuple[str, str], _Group] = {}
        self.odd: dict[str, _Group] = {}
        self.lines: list[str] = []

    def exclude(self, kind: str, reason: str, names: Iterable[str], count: int | None = None) -> None:
        """Count an "event" or a "forecast" as left out; `count`: how many, if not all are named."""
        kept = None if kind == "event" else NAMES_KEPT
        self.excluded.setdefault((kind, reason), _Group()).add(names, count, kept)

    def warn(self, text: str, names: Iterable[str], count: int | None = None) -> None:
        """Count something odd."""
        self.odd.setdefault(text, _Group()).add(names, count, NAMES_KEPT)

    def summary(self) -> list[dict[str, Any]]:
        """Names in order, so that the order of the input shows nowhere; of forecasts the first hundred."""
        return [
            {
                "what": kind,
                "reason": reason,
                "count": group.count,
                "names": [printable(name, 200) for name in group.first(None if kind == "event" else NAMES_KEPT)],
            }
            for (kind, reason), group in sorted(self.excluded.items())
            if group.count
        ]

    def warnings(self) -> list[str]:
        """A line per kind."""
        grouped = (
            grouped_warning(text, sorted(group.names), group.count)
            for text, group in sorted(self.odd.items())
            if group.count
        )
        return [*grouped, *self.lines]
