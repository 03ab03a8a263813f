r"""Score and rank probability forecasts of events:
`ProphetArenaEvaluator().evaluate_all(forecasts, problems)`.

Prophet Arena ranks forecasters by proper scoring rules, by what their bets would have
earned at the market's prices, and by two models over all forecasters, item response
theory and a generalised Bradley–Terry model.

    brier              mean of (p - o)^2 over the options              lower is better
    adjusted_brier     brier on all events, by a model                 lower;
    ranks by default
    log, spherical     ln max(p_c, 0.01), p_c / |p|                    higher
    baseline_score     100 (1 + ln p_c / ln n)                         higher
    peer_score         100 (ln p_c - mean ln p_c of the others)        higher
    return_0 …         gross payoff of one dollar under CRRA utility   higher
    ece, ece_events    expected calibration error, 10 bins             lower
    irt_ability        ability in a two-parameter IRT model            higher
    weighted_brier     Brier weighted by the events' discrimination    lower
    bradley_terry      strength, mean 1                                higher

Files: problems `{problem_id, title, options, correct_answer |
    correct_option_idx, category?,
exclusive?, end_date, series?, weight?, odds?, bids?}` in `dataset/`, forecasts
`{problem_id, username, timestamp, prediction | probs, odds?, bids?}` in `prediction/`
(the form of Good Judgment Open; `bids` is ours and gives the market a mid price), JSON
or JSONL; or a CSV with its events in
it: Prophet Arena's, a row per forecast, or one with a row per option of a forecast.

An event is *exclusive* if exactly one of two or more options won and its problem does
not say `"exclusive": false`; only those enter log, spherical, return and Bradley–Terry.
Probabilities that do not sum to 1 (by more than 0.001) are normalised for these four
and counted. Nothing is left out unseen: see "excluded" in the results.

Sources: Prophet Arena, "how we score and rank LLMs" (2025); Bo et al., Judgment and
    Decision Making
12 (2017) 90–103; Huang, Weng and Lin, JMLR 7 (2006) 85–115; Varadhan and Roland, Scand.
J. Stat. 35 (2008) 335–353.
"""

from __future__ import annotations

import importlib
from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.benchmark import ITEMS, Benchmark, Deadline, Files, Option, Prompt
from forecasteval.common.errors import printable
from forecasteval.common.records import first_keys
from forecasteval.display.results import Results

from .columns import (
    Given,
    holds_events,
    holds_forecasts,
    holds_questions,
    is_answered,
    parse_column,
    read_columns,
)
from .times import parse_horizons

if TYPE_CHECKING:
    from forecasteval.display.submissions import Checked

    from .evaluator import ProphetArenaEvaluator

# By module what is public: imported when a name is first used, since these
# modules need numpy.
_MODULES: Final = {
    "evaluator": ("ProphetArenaEvaluator",),
    "metrics": ("rank_agreement",),
    "models": ("BradleyTerryFit", "EffectsFit", "fit_bradley_terry", "fit_effects"),
    "irt": ("IrtFit", "fit_irt"),
    "scores": (
        "average_return",
        "brier_score",
        "crra_stake",
        "expected_calibration_error",
        "log_score",
        "spherical_score",
    ),
}
__all__ = ["BENCHMARK", *(name for names in _MODULES.values() for name in names)]


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def claims_file(path: Path, dataset: Path | None) -> bool:
    """Return whether a file contains forecasts: a table with events, or a file
    with problem ids.

    If it has a dataset, that decides: a key in one row of a prediction file does not
    change its benchmark.
    """
    if dataset is not None:
        return holds_questions(dataset) or (
            not is_answered(dataset) and holds_events(path)
        )
    is_other_table = path.suffix == ".csv" and "id" not in first_keys(path)
    has_forecasts = holds_events(path) or holds_forecasts(path, read_columns(path))
    return has_forecasts or is_other_table or holds_questions(path)


def make_evaluator(output: Path, **options: Any) -> ProphetArenaEvaluator:
    """Make an evaluator for the command line, of the options that were given."""
    from .evaluator import ProphetArenaEvaluator

    return ProphetArenaEvaluator(**options)


def find_mistakes(given: Given, path: Path) -> Results:
    """Find the mistakes in a file of problems, or in a CSV."""
    from .check import check_file

    return check_file(path, given)


def check_answers(given: Given, files: Files) -> Iterator[Checked]:
    """Say what becomes of each forecast of a file."""
    from .check import check_answers

    return check_answers(files, given)


def list_prompts(
    given: Given, dataset: Path, system: str, market: bool
) -> Iterator[Prompt]:
    """List what a model is asked."""
    from .prompts import list_prompts

    return list_prompts(dataset, system, market, given)


def list_events(given: Given, path: Path) -> frozenset[str]:
    """List the events of a file that needs no dataset."""
    if not holds_events(path):
        return frozenset()
    from .tables import list_events

    return list_events(path, given)


def list_deadlines(given: Given, dataset: Path) -> dict[str, Deadline]:
    """List by id when the events of a dataset close, and whether they
    have an outcome.
    """
    from .entries import list_deadlines

    return list_deadlines(dataset, given)


def hash_forecasts(
    given: Given, path: Path, dataset: Path
) -> dict[str, dict[tuple[str, str], str]]:
    """Hash the forecasts of a file by forecaster, event and own time."""
    from .entries import hash_forecasts

    return hash_forecasts(path, dataset, given)


def parse_metric(text: str) -> str:
    """Return the name of a metric; ArgumentTypeError for any other text."""
    from .metrics import find_metric, make_metrics

    try:
        return find_metric(text).name
    except (StopIteration, ValueError):
        known = ", ".join(metric.name for metric in make_metrics(()))
        expected = f"expected one of {known}, return_GAMMA, got {printable(text, 60)}"
        raise ArgumentTypeError(expected) from None


CONTRACTS: Final = ("yes", "both")
PRICES: Final = ("event", "each")
_LEAST: Final = (
    "forecasters with fewer events are provisional, without ranks "
    "(default: 5, or 20 %% of the events if more)"
)
OPTIONS: Final = (
    Option(
        "--gamma",
        "risk aversion of a return; repeatable (default: 0, 0.5 and 1)",
        float,
        "score",
        "G",
        True,
        "gammas",
    ),
    Option(
        "--contracts",
        "contracts that a return buys: Yes, or both Yes and No (default: yes)",
        CONTRACTS,
    ),
    Option(
        "--prices",
        "price of a return: of the event, or of each forecast (default: event)",
        PRICES,
    ),
    Option(
        "--max-spread",
        "use only events whose asks are all at most X above their bids (default: all "
        "events)",
        float,
        metavar="X",
    ),
    Option(
        "--column",
        "column of a role, if its name does not say so, as probability=pred; "
        "repeatable",
        parse_column,
        "read",
        "ROLE=NAME",
        True,
        "roles",
    ),
    Option("--min-events", _LEAST, int, metavar="N"),
    Option(
        "--late",
        "what to do with forecasts made after their event closed (default: drop)",
        ("keep", "drop"),
    ),
    Option(
        "--horizon",
        "use only forecasts made so long before closing: 24h, or 7d,24h,1h (the first "
        "ranks)",
        parse_horizons,
        metavar="TIME",
    ),
    Option(
        "--sort",
        "metric that orders the leaderboard (default: adjusted_brier)",
        parse_metric,
        "report",
        "METRIC",
    ),
    Option("--full", "show every forecaster and every table", bool, "report"),
    ITEMS._replace(scope="items"),
)
NAME: Final = "Prophet Arena"


def make_benchmark(options: Mapping[str, Any]) -> Benchmark:
    """Make the benchmark whose files are read with options, by their names in Python.

    What is scored, hashed and checked is read by the same columns: else a forecast
    could change and its hash stay.
    """
    given = dict(options.get("roles", ()))
    return Benchmark(
        NAME,
        claims_file,
        make_evaluator,
        OPTIONS,
        partial(find_mistakes, given),
        holds_questions,
        holds_events,
        partial(check_answers, given),
        list_prompts=partial(list_prompts, given),
        list_deadlines=partial(list_deadlines, given),
        hash_forecasts=partial(hash_forecasts, given),
        list_events=partial(list_events, given),
        with_options=make_benchmark,
    )


BENCHMARK: Final = make_benchmark({})
