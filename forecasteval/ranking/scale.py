"""The scale of a benchmark's scores: their bounds, and which end is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from forecasteval.common.forms import Key
from forecasteval.common.records import JsonObject

Interval = tuple[float, float]
Level = Key  # a number, or "" where a benchmark has no levels


class Scale(NamedTuple):
    """The bounds of a benchmark's scores, infinite where there are none, and which
    end is better.
    """

    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True

    @property
    def sign(self) -> int:
        return 1 if self.higher_is_better else -1

    @property
    def best(self) -> str:
        """Return which end is better: "high" or "low"."""
        return "high" if self.higher_is_better else "low"

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def worst(self) -> float:
        return self.low if self.higher_is_better else self.high

    def to_unit(self, scores: Any) -> Any:
        """Turn a score, or an array of them, into ones in [0, 1], higher is better; nan
        without bounds.
        """
        if math.isinf(self.width):
            return math.nan
        return (
            scores - self.low if self.higher_is_better else self.high - scores
        ) / self.width

    def describe(self) -> dict[str, Any]:
        """Name the scale in the keys of a result or a table. There are none for the
        usual one, [0, 1], higher is better.
        """
        if self == Scale():
            return {}
        bounds = [
            None if math.isinf(bound) else bound for bound in (self.low, self.high)
        ]
        return {"score_bounds": bounds, "higher_is_better": self.higher_is_better}


def read_scale(values: JsonObject) -> Scale:
    """Read the scale that a result was described with (`Scale.describe`)."""
    low, high = values.get("score_bounds") or (0.0, 1.0)
    better = values.get("higher_is_better") is not False
    return Scale(
        -math.inf if low is None else low, math.inf if high is None else high, better
    )


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """What has a scale, as JSON has it: `Scale.describe`; None for both of
    the usual one.
    """

    score_bounds: list[float | None] | None = None
    higher_is_better: bool | None = None

    @property
    def scale(self) -> Scale:
        return read_scale(vars(self))
