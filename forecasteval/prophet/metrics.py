"""The metrics of a board, each declared once: its name, title, formula, direction and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from .arrays import Floats
from .scores import average_return, brier_score, log_score, spherical_score


class Metric(NamedTuple):
    """A number by which forecasters are ranked.

    `formula` scores forecasts from p, prices, outcomes and offsets; the metric is the mean of these scores. None: a
    model's estimate, or one number for all probabilities together. `scope` says which forecasts the formula takes:
    "all", those of "exclusive" events, or those that are "priced", too. `bounds` are the least and the largest value,
    `gamma` is the risk aversion of a return.
    """

    name: str
    title: str
    higher_is_better: bool
    bounds: tuple[float, float]
    scope: str = "all"
    formula: Callable[..., Floats] | None = None
    gamma: float | None = None

    @property
    def sign(self) -> float:
        """What turns values so that larger is better."""
        return 1.0 if self.higher_is_better else -1.0


def _brier(p: Floats, _: Floats, outcome: Floats, offsets: Any) -> Floats:
    return brier_score(p, outcome, offsets)


def _log(p: Floats, _: Floats, outcome: Floats, offsets: Any) -> Floats:
    return log_score(p, outcome, offsets)


def _spherical(p: Floats, _: Floats, outcome: Floats, offsets: Any) -> Floats:
    return spherical_score(p, outcome, offsets)


def _return(gamma: float, p: Floats, q: Floats, outcome: Floats, offsets: Any) -> Floats:
    return average_return(p, q, outcome, gamma, offsets)


def return_name(gamma: float) -> str:
    """The name of a return: return_0.5."""
    return f"return_{gamma:.12g}"


_INFINITE: Final = (-math.inf, math.inf)
BRIER: Final = Metric("brier", "Brier", False, (0, 1), "all", _brier)
ADJUSTED: Final = Metric("adjusted_brier", "Adjusted Brier", False, _INFINITE)
MODELS: Final = (
    Metric("ece", "ECE", False, (0, 1)),
    Metric("irt_ability", "IRT ability", True, _INFINITE),
    Metric("weighted_brier", "Weighted Brier", False, (0, 1)),
    Metric("bradley_terry", "Bradley-Terry", True, (0, math.inf)),
)


def _return_metric(gamma: float) -> Metric:
    title, formula = f"Return {gamma:.12g}", partial(_return, gamma)
    return Metric(return_name(gamma), title, True, (0, math.inf), "priced", formula, gamma)


def make_metrics(gammas: Sequence[float]) -> tuple[Metric, ...]:
    """All metrics of a board, in the order of its columns."""
    return (
        BRIER,
        ADJUSTED,
        Metric("log", "Log", True, (math.log(0.01), 0), "exclusive", _log),
        Metric("spherical", "Spherical", True, (0, 1), "exclusive", _spherical),
        *map(_return_metric, gammas),
        *MODELS,
    )


_FIXED: Final = {metric.name: metric for metric in make_metrics(())}


def find_metric(name: str) -> Metric:
    """The metric of a name, as results hold it."""
    if name in _FIXED:
        return _FIXED[name]
    return Metric(name, "Return " + name.removeprefix("return_"), True, (0, math.inf), "priced")
