"""What was left out and what is odd, by reason, with the names concerned: nothing is left out unseen."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from forecasteval.common.errors import grouped_warning, printable

NAMES_KEPT: Final = 100  # of excluded forecasts; of events all


class Refusal(NamedTuple):
    """Stands where a row of a file gives no problem or no forecast, and tells why."""

    problem_id: str
    username: str
    reason: str


class Notes:
    """Collects exclusions, warnings that name records (`odd`), and warnings that stand for themselves (`lines`)."""

    def __init__(self) -> None:
        self.excluded: dict[tuple[str, str], list[str]] = {}
        self.odd: dict[str, list[str]] = {}
        self.lines: list[str] = []

    def exclude(self, kind: str, reason: str, *names: str) -> None:
        """Count an "event" or a "forecast" as left out."""
        if names:
            self.excluded.setdefault((kind, reason), []).extend(names)

    def warn(self, text: str, *names: str) -> None:
        """Count something odd."""
        if names:
            self.odd.setdefault(text, []).extend(names)

    def summary(self) -> list[dict[str, Any]]:
        """Names in order, so that the order of the input shows nowhere; of forecasts the first hundred."""
        return [
            {
                "what": kind,
                "reason": reason,
                "count": len(names),
                "names": [printable(name, 200) for name in sorted(names)[: None if kind == "event" else NAMES_KEPT]],
            }
            for (kind, reason), names in sorted(self.excluded.items())
        ]

    def warnings(self) -> list[str]:
        """A line per kind."""
        return [*(grouped_warning(text, sorted(names)) for text, names in sorted(self.odd.items())), *self.lines]
