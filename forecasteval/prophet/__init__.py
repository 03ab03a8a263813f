r"""Score and rank probability forecasts of events: `ProphetArenaEvaluator().evaluate_all(forecasts, problems)`.

Prophet Arena ranks forecasters by proper scoring rules, by what their bets would have earned at the market's prices,
and by two models over all forecasters, item response theory and a generalised Bradley–Terry model.

    brier              mean of (p - o)^2 over the options              lower is better; ranks by default
    log, spherical     ln max(p_c, 0.01), p_c / |p|                    higher
    return_0 …         gross payoff of one dollar under CRRA utility   higher
    ece                expected calibration error, 10 bins             lower
    irt_ability        ability in a two-parameter IRT model            higher
    weighted_brier     Brier weighted by the events' discrimination    lower
    bradley_terry      strength, mean 1                                higher

Files: problems `{problem_id, title, options, correct_answer | correct_option_idx, category?, exclusive?, end_date}` in
`dataset/`, forecasts `{problem_id, username, timestamp, prediction | probs, odds?, bids?, weight?}` in `prediction/`
(the form of Good Judgment Open; `bids` is ours and gives the market a mid price), JSON or JSONL; or the Prophet Arena
CSV, a row per forecast with the event in it.

An event is *exclusive* if exactly one of two or more options won and its problem does not say `"exclusive": false`;
only those enter log, spherical, return and Bradley–Terry. Probabilities that do not sum to 1 (by more than 0.001) are
normalised for these four and counted. Nothing is left out unseen: see "excluded" in the results.

Sources: Prophet Arena, "how we score and rank LLMs" (2025); Bo et al., Judgment and Decision Making 12 (2017) 90–103;
Huang, Weng and Lin, JMLR 7 (2006) 85–115; Varadhan and Roland, Scand. J. Stat. 35 (2008) 335–353.
"""

from __future__ import annotations

import importlib
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.benchmark import Benchmark
from forecasteval.common.files import holds_events
from forecasteval.common.records import first_keys
from forecasteval.common.results import Results

if TYPE_CHECKING:
    from .bradley_terry import BradleyTerryFit, fit_bradley_terry
    from .effects import EffectsFit, fit_effects
    from .evaluator import ProphetArenaEvaluator
    from .irt import IrtFit, fit_irt
    from .ranks import rank_agreement
    from .report import format_report, report_blocks
    from .scores import (
        average_return,
        brier_score,
        crra_stake,
        expected_calibration_error,
        log_score,
        spherical_score,
    )

__all__ = [
    "BENCHMARK",
    "BradleyTerryFit",
    "EffectsFit",
    "IrtFit",
    "ProphetArenaEvaluator",
    "average_return",
    "brier_score",
    "crra_stake",
    "expected_calibration_error",
    "fit_bradley_terry",
    "fit_effects",
    "fit_irt",
    "format_report",
    "log_score",
    "rank_agreement",
    "report_blocks",
    "spherical_score",
]

# The rooms of what is public: imported when a name is first asked for, since they need numpy.
_ROOMS: Final = {
    "evaluator": ("ProphetArenaEvaluator",),
    "scores": (
        "average_return", "brier_score", "crra_stake", "expected_calibration_error", "log_score", "spherical_score",
    ),
    "effects": ("EffectsFit", "fit_effects"),
    "irt": ("IrtFit", "fit_irt"),
    "bradley_terry": ("BradleyTerryFit", "fit_bradley_terry"),
    "ranks": ("rank_agreement",),
    "report": ("format_report", "report_blocks"),
}  # fmt: skip


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{room}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def recognises(path: Path, dataset: Path | None) -> bool:
    """Whether a file holds forecasts: a CSV with events does; else its dataset's first records tell, or its own."""
    if path.suffix == ".csv":
        keys = first_keys(path)
        if holds_events(keys) or (dataset is None and "id" not in keys):
            return True
    return any("problem_id" in first_keys(file) for file in (dataset, path) if file)


def is_dataset(path: Path) -> bool:
    """Whether a file of dataset/ holds problems: the forecasts of all its files are ranked together."""
    return "problem_id" in first_keys(path)


def make_evaluator(**options: Any) -> ProphetArenaEvaluator:
    """An evaluator for the command line, of the options that were given."""
    from .evaluator import ProphetArenaEvaluator

    return ProphetArenaEvaluator(**options)


def find_mistakes(path: Path) -> Results:
    """The mistakes in a file of problems, or in a CSV."""
    from .check import check_file

    return check_file(path)


def add_options(parser: ArgumentParser) -> None:
    """The options that a score depends on; None where they were not given."""
    add = parser.add_argument_group("Prophet Arena").add_argument
    add(
        "--gamma",
        dest="gammas",
        metavar="G",
        type=float,
        action="append",
        help="risk aversion of a return; repeatable (0 0.5 1)",
    )
    add("--min-events", metavar="N", type=int, help="forecasters with fewer events are listed apart, unranked (1)")
    add(
        "--max-ask-sum",
        metavar="X",
        type=float,
        help="liquid markets only: an option's two asks sum to X or less",
    )


def add_views(parser: ArgumentParser) -> None:
    """What a report shows."""
    add = parser.add_argument_group("Prophet Arena, report").add_argument
    add("--sort", metavar="METRIC", help="the metric that orders the leaderboard (brier, or adjusted_brier)")
    add("--full", action="store_true", default=None, help="every forecaster and every table")


BENCHMARK: Final = Benchmark(
    "Prophet Arena",
    recognises,
    make_evaluator,
    options=frozenset({"gammas", "min_events", "max_ask_sum", "items"}),
    views=frozenset({"sort", "full", "items"}),
    together=is_dataset,
    check=find_mistakes,
)
