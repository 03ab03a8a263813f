"""`ProphetArenaEvaluator`: forecasts and problems in, results out; in
Python or of files.
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from forecasteval.benchmark import Evaluator, Files, Late
from forecasteval.common.errors import (
    ClashError,
    InputError,
    PendingError,
    printable,
)
from forecasteval.common.files import join_checksums
from forecasteval.common.records import (
    JsonObject,
    Loaded,
    number_text,
)
from forecasteval.common.version import __version__
from forecasteval.display.results import Results

from . import details
from .estimates import measure
from .events import Events, choose_problems, make_events
from .fields import DataNotes, show_exclusion
from .forecasts import (
    BASELINES,
    Forecasts,
    choose_forecasts,
    read_forecasts,
    required_events,
)
from .horizons import summarise_horizon
from .metrics import agreement_tables, make_metrics
from .models import PRIOR, Models, check_prior, fit_models
from .page import KEPT, make_page
from .prices import keep_events, limit_spread, settle_prices
from .ranks import add_ranks, choose_default_metric, make_records
from .report import explain, list_rows, report_blocks
from .score_table import (
    ForecastScores,
    odd_sums,
    score_forecasts,
    sum_bins,
    with_baselines,
)
from .scores import check_gamma
from .tables import load_beside, load_tables, require_columns
from .times import parse_horizons

if TYPE_CHECKING:
    from forecasteval.display.html import Page

NAME: Final = "Prophet Arena"
GAMMAS: Final = (0.0, 0.5, 1.0)  # the seed's figure
_FOUR: Final = "log, spherical, return and Bradley–Terry"


class Choice(NamedTuple):
    """Which forecasts and events count, and what is paid; the options of
    the evaluator.
    """

    late: str
    prices: str = "event"
    horizons: Sequence[str] = ()
    max_spread: float | None = None


@dataclass(eq=False)
class ForecastData:
    """Problems and sources of forecasts (files, or records in memory), read when
    they are scored.

    where: what errors name.
    owners: by forecaster the file that has the name.
    """

    where: str
    problems: Loaded
    sources: Sequence[Loaded]
    notes: DataNotes = field(default_factory=DataNotes)
    owners: dict[str, str] = field(default_factory=dict)
    late: Late | None = None
    at_horizons: dict[str, tuple[Events, Forecasts]] = field(default_factory=dict)
    shown: ForecastScores | None = None  # for a page

    def collect(self, choice: Choice) -> tuple[Events, Forecasts]:
        """Collect the forecasts that count, paid by their events, and the events
        that have any.

        With several horizons these are the forecasts of the first; those of all go to
        `at_horizons`. InputError if none counts; ClashError for files most of whose
        forecasts cannot be scored.
        """
        notes = self.notes
        problems, places = choose_problems(self.problems, notes)
        events = make_events(problems, notes)
        # Nothing else may hold what was read: of millions two copies are enough.
        files = self.sources, events, places, notes, self.owners, self.late
        data = [read_forecasts(*files)]
        self.sources = [replace(source, records=()) for source in self.sources]
        if choice.horizons:
            self._require_times()
        for horizon in choice.horizons:
            quiet = DataNotes()  # what is left out of the board is noted below
            quiet.losses.paths = notes.losses.paths
            there = choose_forecasts(data[0], events, "drop", quiet, horizon)
            if there is not None:
                self.at_horizons[horizon] = _settle(events, there, choice, quiet)
        first = "".join(choice.horizons[:1])
        forecasts = choose_forecasts(data.pop(), events, choice.late, notes, first)
        if not len(events.ids) and notes.pending["event"]:
            reasons = "; ".join(["", *notes.warnings()])
            raise PendingError(self.where, notes.pending["event"], reasons)
        if forecasts is None:
            raise self._explain_nothing()
        losses = notes.losses.count(forecasts.events_by_name(events.ids))
        if useless := notes.find_useless(losses):
            raise ClashError(useless)
        notes.warn_of_losses(losses)
        events, forecasts = _settle(events, forecasts, choice, notes)
        if not len(events.ids):
            raise self._explain_nothing()
        return events, forecasts

    def _explain_nothing(self) -> InputError:
        """Say why nothing can be scored."""
        reasons = (
            "; ".join(map(show_exclusion, self.notes.excluded())) or "there is none"
        )
        return InputError(self.where, f"no forecast can be scored: {reasons}")

    def _require_times(self) -> None:
        """Refuse the files without any time, of which nobody knows what
        was said when.
        """
        expected = "expected forecasts with times, which a horizon needs"
        if self.notes.untimed:
            raise ClashError(
                {
                    path: InputError(path, expected, "none has one")
                    for path in self.notes.untimed
                }
            )
        if self.late is None or not self.late.first_seen:
            self.notes.lines.append(
                "horizons go by the times in the files, which nobody verifies"
            )

    def messages(self) -> list[str]:
        return [
            text for file in (self.problems, *self.sources) for text in file.warnings
        ]

    def checksums(self) -> dict[str, str]:
        files = [file.sha256 for file in self.sources]
        if not all(files):
            return {}
        checksums = {"prediction_sha256": join_checksums(files)}
        # A table with both has one checksum, that of its forecasts.
        if self.problems.sha256:
            checksums["dataset_sha256"] = self.problems.sha256
        return checksums


def _settle(
    events: Events, forecasts: Forecasts, choice: Choice, notes: DataNotes
) -> tuple[Events, Forecasts]:
    """Keep the events that have forecasts, and settle their prices."""
    has_forecasts = np.bincount(forecasts.event, minlength=len(events.ids)) > 0
    notes.exclude("event", "no forecast that counts", events.ids[~has_forecasts])
    events, forecasts = keep_events(events, forecasts, has_forecasts)
    events, forecasts = settle_prices(events, forecasts, choice.prices == "each", notes)
    if choice.max_spread is None:
        return events, forecasts
    return limit_spread(events, forecasts, choice.max_spread, notes)


def _require(name: str, value: object, expected: str, is_good: bool) -> None:
    if not is_good:
        raise InputError(name, f"must be {expected}", printable(repr(value), 60))


def _require_one(name: str, value: object, *known: str) -> None:
    _require(name, value, " or ".join(known), value in known)


def _check_spread(spread: object) -> float | None:
    """Check a difference of prices; None is none."""
    if spread is None:
        return None
    is_good = number_text(spread) and 0 <= float(spread) <= 1  # type: ignore[arg-type]
    _require("max_spread", spread, "a number in [0, 1]", bool(is_good))
    return float(spread)  # type: ignore[arg-type]


def _check_horizon(horizon: object) -> str:
    """Check horizons in the form of `parse_horizons`; "" is none."""
    if not horizon:
        return ""
    try:
        return parse_horizons(str(horizon))
    except ArgumentTypeError as error:
        raise InputError("horizon", str(error)) from None


@dataclass(eq=False)
class ProphetArenaEvaluator(Evaluator[ForecastData, tuple[ForecastScores, Models]]):
    """Scores and ranks probability forecasts; one evaluator serves any number of files.

    gammas: risk aversions of the returns, each in [0, 1]. min_events: forecasters
        with fewer are
    "provisional", listed apart without ranks; None: the larger of 5 and 20 % of the
    events. late: forecasts after closing are dropped, or kept and counted. response:
    what IRT explains, 1 - Brier or whether the winner had the largest probability
    ("correct"). prior: of Bradley–Terry. items: results hold a row per forecast.
    contracts: returns buy Yes contracts ("yes"), or of every option the better of Yes
    and No ("both"); without bids No costs 1 - ask, which is counted.
    prices: returns are paid at the price of the "event", or "each" forecast at
        its own. horizon:
    only forecasts so long before closing count, as "24h" or "7d"; of several,
    "7d,24h,1h", the board is that of the first, and results have scores of all.
    max_spread: only events count of which each option has a bid at most so far below
    its ask. roles: of files, pairs of a role and the name of its column.
    """

    benchmark = NAME
    report = staticmethod(report_blocks)
    explain = staticmethod(explain)
    rows = staticmethod(list_rows)

    gammas: Iterable[float] = GAMMAS
    min_events: int | None = None
    late: str = "drop"
    response: str = "brier"
    prior: float = PRIOR
    items: bool = False
    contracts: str = "yes"
    prices: str = "event"
    horizon: str = ""
    max_spread: float | None = None
    roles: Iterable[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        _require(
            "gammas",
            self.gammas,
            "a list of numbers",
            isinstance(self.gammas, Iterable),
        )
        least = self.min_events
        is_good = least is None or (type(least) is int and least >= 1)
        _require("min_events", least, "an integer >= 1", is_good)
        self.roles = tuple(self.roles)
        _require_one("late", self.late, "keep", "drop")
        _require_one("response", self.response, "brier", "correct")
        _require_one("contracts", self.contracts, "yes", "both")
        _require_one("prices", self.prices, "event", "each")
        self.horizon = _check_horizon(self.horizon)
        self.max_spread = _check_spread(self.max_spread)
        self.prior = check_prior(self.prior)
        self.gammas = tuple(dict.fromkeys(map(check_gamma, self.gammas)))
        self.metrics = make_metrics(self.gammas, self.contracts)

    def evaluate_all(
        self, forecasts: Iterable[object], problems: Iterable[object]
    ) -> Results:
        """Score the forecasts of the problems; the docstring of `forecasteval.prophet`
        describes their fields.

        Plain Python values, None where a metric does not apply, the same for any order
        of the input; docs/python.md explains the main keys. The weights of events count
        in every mean, not in the models. Raises InputError if no forecast can be
        scored; anything less is counted in "excluded".
        """
        return self.evaluate(
            ForecastData(
                "forecasts",
                Loaded("problems", [*problems], unit="problem"),
                [Loaded("forecasts", [*forecasts], unit="forecast")],
            )
        )

    def read(self, files: Files) -> ForecastData:
        """Read the forecasts of one file, or of several as one set, and what came true:
        from their dataset, or from themselves.
        """
        paths, datasets = sorted(files.predictions), files.datasets
        where = str(files.path)
        if len(datasets) > 1:
            raise InputError("--dataset", "several need RxnOptBench questions", NAME)
        given = dict(self.roles)
        if not datasets:
            board = load_tables(paths, given, files.any_form)
        else:
            board = load_beside(paths, datasets[0], given, files.any_form)
        if files.any_form:
            require_columns(given, [board.problems, *board.forecasts])
        return ForecastData(
            where,
            board.problems,
            board.forecasts,
            board.notes,
            owners=dict(files.owners),
            late=files.late,
        )

    def settings(self) -> dict[str, object]:
        """Return the part of a signature that does not depend on the data."""
        options: dict[str, object] = {
            "min_events": self.min_events,
            "late": self.late,
            "response": self.response,
            "contracts": self.contracts,
            "prior": self.prior,
        }
        if self.roles:
            options["column"] = ",".join("=".join(pair) for pair in self.roles)
        if self.gammas != GAMMAS:  # reports show text only
            options["gamma"] = ",".join(f"{gamma:g}" for gamma in self.gammas)
        if self.prices != "event":
            options["prices"] = self.prices
        if self.horizon:
            options["horizon"] = self.horizon
        if self.max_spread is not None:
            options["max_spread"] = self.max_spread
        return {
            "evaluator": f"Prophet Arena {__version__}",
            "gammas": list(self.gammas),
            **options,
        }

    def score(self, data: ForecastData) -> tuple[ForecastScores, Models]:
        """Score the forecasts that count, of the events that have any; InputError if
        there are none.
        """
        horizons = list(filter(None, self.horizon.split(",")))
        choice = Choice(self.late, self.prices, horizons, self.max_spread)
        events, forecasts = data.collect(choice)
        forecasts = with_baselines(events, forecasts)
        everything = score_forecasts(events, forecasts, self.metrics)
        scored, *_ = everything.split()
        if self.contracts == "both":
            bets = scored.runs
            lacks_bids = bets.priced & np.isnan(bets.bid[bets.starts])
            mask = lacks_bids & events.exclusive[bets.event]
            text = "no bids: No costs 1 - ask, an approximation"
            bets.note(data.notes, "", text, mask, events.ids)
        if len(scored.forecasts.event) <= KEPT:
            data.shown = everything
        return everything, fit_models(scored, self.prior, self.response, data.notes)

    def summarise(
        self, scores: tuple[ForecastScores, Models], data: ForecastData
    ) -> dict[str, object]:
        """Make every forecaster's record, and what all forecasts say of
        events and metrics.
        """
        everything, models = scores
        scored, *_ = everything.split()
        events, names, notes = scored.events, scored.forecasts.names, data.notes
        doubtful = _note_sums(scored, notes)
        rows = everything.forecasts.forecaster, len(everything.forecasts.names)
        bins = sum_bins(everything, *rows)
        event_bins = sum_bins(everything, *rows, by_event=True)
        measures = measure(everything, bins, event_bins, models)
        records = make_records(measures, everything, bins)
        _note_runs(dict(zip(names, records, strict=False)), notes)
        least = required_events(self.min_events, len(events.ids))
        unranked: Mapping[str, int] = {}
        if data.late is not None:
            unranked = dict(data.late.unranked)
        ranked = [
            at
            for at, name in enumerate(names)
            if records[at]["n_events"] >= least and name not in unranked
        ]
        add_ranks(records, ranked, measures, self.metrics)
        # The last records are the baselines'
        named = dict(zip(names, records, strict=False))
        forecasters = {names[at]: records[at] for at in ranked}
        provisional = {name: named[name] for name in named if name not in forecasters}
        by, why = choose_default_metric([records[at] for at in ranked], len(events.ids))
        values = {
            metric.name: measures[metric.name, ""].values[ranked]
            for metric in self.metrics
        }
        ranking = _make_ranking(forecasters, provisional, data.owners, unranked)
        baselines = dict(zip(BASELINES, records[-len(BASELINES) :], strict=True))
        standings: details.Standings = {
            "ranked_by": {"metric": by, "why": why},
            "ranking": ranking,
            "forecasters": forecasters,
            "provisional": provisional,
            "baselines": baselines,
        }
        checksums = details.question_checksums(events)
        board: details.Board = {
            **details.count_events(scored, notes.pending, least, doubtful),
            **standings,
            **details.make_tables(everything, models, bins, ranked),
            "rank_correlation": {"overall": agreement_tables(values)},
            "excluded": notes.excluded(),
            "fits": models.fits,
            "warnings": notes.warnings(),
            "signature": details.hash_board(scored, checksums),
        }
        more: dict[str, object] = {}
        if data.at_horizons:
            more["horizons"] = [
                summarise_horizon(horizon, *there, self.metrics)
                for horizon, there in data.at_horizons.items()
            ]
        if self.items:
            more["items"] = details.make_items(scored, checksums)
        return {**board, **more}

    def page(self, results: Any, data: ForecastData) -> Page:
        return make_page(results, data.shown)


def _make_ranking(
    forecasters: Mapping[str, object],
    provisional: JsonObject,
    files: Mapping[str, str],
    unranked: Mapping[str, int],
) -> list[dict[str, object]]:
    """Make the rows for a leaderboard of many files: those with a rank, then the
    others by name.
    """
    metric = "adjusted_brier"
    rows: list[dict[str, Any]] = []
    for name, record in {**forecasters, **provisional}.items():
        row = {
            "name": name,
            "metric": metric,
            "score": record[metric],
            "n": record["n_events"],
        }
        for key in ("rank", "interval", "rank_interval"):
            row[key] = record.get(f"{metric}_{key}")
        row["file"] = files[name]
        if name in provisional:
            row["provisional"] = True
        if name in unranked:
            row["removed"] = unranked[name]
        rows.append(row)
    return sorted(rows, key=lambda row: (row["rank"] or math.inf, row["name"]))


def _note_runs(records: Mapping[str, JsonObject], notes: DataNotes) -> None:
    """Note who has several runs, and whose runs lack events that
    others of them have.
    """
    counts, lacking = list[str](), list[str]()
    for name, row in records.items():
        if row.get("n_runs", 1) > 1:
            counts.append(f"{name}, {row['n_runs']}")
            if row["missing_runs"]:
                lacking.append(f"{name}, {row['missing_runs']}")
    notes.warn(
        "forecasters of several runs, whose scores are means of the runs'", counts
    )
    notes.warn(
        "forecasters with events that not every run of theirs forecasts", lacking
    )


def _note_sums(scored: ForecastScores, notes: DataNotes) -> dict[str, int]:
    """Note sums of probabilities that are not 1; the doubtful events and how
    often they are.
    """
    ids, forecasts = scored.events.ids, scored.runs
    normalised, odd, empty = odd_sums(scored.events, forecasts)
    text = f"probabilities that sum to 0, counted as uniform for {_FOUR}"
    forecasts.note(notes, "", text, empty, ids)
    text = f"probabilities that do not sum to 1, normalised for {_FOUR}"
    forecasts.note(notes, "", text, normalised, ids)
    which, counts = np.unique(forecasts.event[odd], return_counts=True)
    doubtful = dict(zip(ids[which], counts.tolist(), strict=True))
    text = (
        "doubtful event, probabilities of its exclusive options sum to less than "
        "0.8 or more"
    )
    named = [f"{name} in {count}" for name, count in doubtful.items()]
    notes.warn(f"{text} than 1.25", named)
    return doubtful
