"""`ProphetArenaEvaluator`: forecasts and problems in, results out; in Python or of a file."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from forecasteval import __version__
from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import RecordFile, number_text
from forecasteval.common.report import Results

from .categories import category_results, make_cells
from .csv_files import read_csv
from .details import problem_table, reliability_table, return_curves
from .events import Events, read_problems
from .forecasts import Forecasts, read_forecasts
from .models import fit_models
from .notes import Notes
from .ranks import agreement_tables
from .report import report_blocks
from .score_table import Scores, mean_metrics, score_forecasts, stack_rows
from .scores import BINS, check_gamma
from .standings import add_ranks, make_ranking, make_records, measure

GAMMAS: Final = (0.0, 0.5, 1.0)  # the seed's figure


class ProphetArenaEvaluator:
    """Scores and ranks probability forecasts; one evaluator serves any number of files.

    gammas: risk aversions of the returns, each in [0, 1]. bootstrap: resamples of the events for the intervals (0:
    none), drawn from `seed`. min_events: forecasters with fewer are "unranked", listed apart. repeats: of several
    forecasts of a forecaster for an event the "last" counts (those of one time are averaged), or their "mean". late:
    forecasts after closing are kept and counted, or dropped. bins: of the calibration. response: the IRT model
    explains 1 - Brier ("brier"), or whether the forecast was "correct": 1 if the most probable option won (ties
    share); the share of options on the right side of 1/2 for an event that is not exclusive. prior: of Bradley–Terry.
    """

    def __init__(
        self,
        gammas: Iterable[float] = GAMMAS,
        bootstrap: int = 1000,
        seed: int = 0,
        min_events: int = 1,
        repeats: str = "last",
        late: str = "keep",
        bins: int = BINS,
        response: str = "brier",
        prior: float = 1.0,
    ) -> None:
        if not isinstance(gammas, Iterable):
            raise InputError("gammas", "must be a list of numbers", printable(repr(gammas), 60))
        self.gammas = tuple(dict.fromkeys(check_gamma(gamma) for gamma in gammas))
        for name, value, lowest in (
            ("bootstrap", bootstrap, 0), ("seed", seed, 0), ("min_events", min_events, 1), ("bins", bins, 1)
        ):  # fmt: skip
            if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
                raise InputError(name, f"must be an integer >= {lowest}", printable(repr(value), 60))
        for name, choice, choices in (
            ("repeats", repeats, ("last", "mean")), ("late", late, ("keep", "drop")),
            ("response", response, ("brier", "correct")),
        ):  # fmt: skip
            if choice not in choices:
                raise InputError(name, f"must be {' or '.join(choices)}", printable(repr(choice), 60))
        if not number_text(prior) or prior <= 0:
            raise InputError("prior", "must be a positive number", printable(repr(prior), 60))
        self.bootstrap, self.seed, self.min_events, self.bins = bootstrap, seed, min_events, bins
        self.repeats, self.late, self.response, self.prior = repeats, late, response, float(prior)
        self.means = mean_metrics(self.gammas)
        self.metrics = (*self.means, "ece", "irt_ability", "weighted_brier", "bradley_terry")

    def evaluate_all(self, forecasts: Iterable[Any], problems: Iterable[Any], where: str = "forecasts") -> Results:
        """Score the forecasts of the problems; the docstring of `forecasteval.prophet` tells their fields.

        Plain Python values, None where a metric does not apply, the same for any order of the input. Keys:
        forecasters: by name n_events, n_exclusive, n_priced (the denominators), every metric, `<metric>_rank`, for
            means `<metric>_interval` (95 %) and `<metric>_beats_next`, the probability of beating who is next by it,
            irt_ability_se and irt_ability_interval; unranked: those with fewer than min_events, without ranks
        ranking: rank, name, score (Brier), interval and n of each, best first
        baselines: the same as forecasters for "market" and "crowd", without models (`baselines`)
        problems: by id difficulty, discrimination, n_forecasts, n_options, exclusive
        rank_correlation: overall and by_category, "spearman" and "kendall" of any two metrics; by_category
        reliability: bins per forecaster; return_curve: running means by closing time
        n_events, n_forecasts, event_classes, doubtful_events (id: forecasts), excluded (what, reason, count, names),
        fits, warnings, signature

        The weights of forecasts count in every mean, not in the two models. The intervals of the weighted Brier take
        the discriminations as given. `where` names the data in errors. Raises InputError if no forecast can be
        scored; anything less is counted in "excluded".
        """
        with _no_collector():
            return self._evaluate(forecasts, problems, where, Notes())

    def evaluate_file(self, path: Path, datasets: Sequence[Path] = ()) -> Results:
        """The results of one file: a CSV by itself, JSON or JSONL against the problems of its dataset.

        Raises InputError: a file that cannot be read, forecasts without a dataset or with several, nothing that can
        be scored.
        """
        if len(datasets) > 1:
            raise InputError("--dataset", "several need RxnOptBench questions", "Prophet Arena")
        dataset = datasets[0] if datasets else None
        with _no_collector():
            notes = Notes()
            if path.suffix == ".csv":
                if dataset:
                    raise InputError(str(path), "a CSV holds its own events", f"the dataset {dataset.name}")
                problems, forecasts, checksum = read_csv(path, notes)
                results = self._evaluate(forecasts, problems, str(path), notes)
            else:
                if dataset is None:
                    raise InputError(
                        str(path), "expected a dataset of problems for it (a file in dataset/ whose name begins like "
                        "this one's, or --dataset)", "none",
                    )  # fmt: skip
                asked, said = RecordFile(dataset), RecordFile(path)
                results = self._evaluate(said, asked, str(path), notes)
                results["signature"]["dataset_sha256"] = asked.sha256
                checksum = said.sha256
        results["signature"]["prediction_sha256"] = checksum
        files = {"name": path.stem, "prediction": path.name, "dataset": dataset.name if dataset else None}
        return Results({**files, **results}, report_blocks)

    def settings(self) -> dict[str, Any]:
        """The part of a signature that does not depend on the data."""
        return {
            "evaluator": f"Prophet Arena {__version__}",
            "gammas": list(self.gammas), "bootstrap": self.bootstrap, "seed": self.seed,
            "min_events": self.min_events, "repeats": self.repeats, "late": self.late, "bins": self.bins,
            "response": self.response, "prior": self.prior,
        }  # fmt: skip

    def _evaluate(self, forecasts: Iterable[Any], problems: Iterable[Any], where: str, notes: Notes) -> Results:
        """`evaluate_all`; `notes` may hold what was noted while a file was read."""
        events, numbers = read_problems(problems, notes)
        data = read_forecasts(forecasts, events, numbers, self.repeats, self.late, notes)
        if data is None:
            reasons = "; ".join(f"{entry['reason']}: {entry['count']}" for entry in notes.summary())
            raise InputError(where, "expected forecasts that fit the problems", reasons or "none")
        present = np.unique(data.event)
        absent = np.delete(np.arange(len(events.ids)), present)
        notes.exclude("event", "no forecast that counts", *(events.ids[at] for at in absent))
        data = data._replace(event=np.searchsorted(present, data.event))
        return Results(self._results(events.subset(present), data, notes), report_blocks)

    def _results(self, events: Events, data: Forecasts, notes: Notes) -> dict[str, Any]:
        names, returns = data.names, self.means[3:]
        cells = make_cells(events, data)
        scores = score_forecasts(events, data, self.gammas, cells.cell, len(cells.category), self.bins)
        doubtful = _note_sums(events, data, scores, notes)
        rows = stack_rows(events, data, scores, cells.forecaster, self.gammas, self.bins)
        models = fit_models(events, data, scores, self.response, self.prior, notes)
        measures = measure(rows, models, self.bootstrap, self.seed)
        records = make_records(measures, self.metrics, returns, models.irt)
        ranked = [at for at in range(rows.forecasters) if measures.counts["brier"][at] >= self.min_events]
        add_ranks(records, ranked, measures, self.metrics)
        forecasters = {names[at]: records[at] for at in ranked}
        by_category, category_agreement = category_results(cells, data, scores, set(ranked))
        return {
            "benchmark": "Prophet Arena",
            "n_events": len(events.ids),
            "n_forecasts": len(data.event),
            "event_classes": events.classes(),
            "doubtful_events": doubtful,
            "ranking": make_ranking(forecasters),
            "forecasters": forecasters,
            "unranked": {name: records[at] for at, name in enumerate(names) if name not in forecasters},
            "baselines": {"market": records[-2], "crowd": records[-1]},
            "problems": problem_table(events, data, models.irt),
            "rank_correlation": {
                "overall": agreement_tables({metric: measures.table[metric][ranked] for metric in self.metrics}),
                "by_category": category_agreement,
            },
            "by_category": by_category,
            "reliability": {name: reliability_table(rows.bins[:, at]) for at, name in enumerate(names)},
            "return_curve": return_curves(events, data, scores, returns),
            "excluded": notes.summary(),
            "fits": models.fits,
            "warnings": notes.warnings(),
            "signature": {**self.settings(), "data_sha256": _hash_data(events, data)},
        }


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    """Nothing here makes cycles, and walking millions of records again and again costs more than scoring them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _note_sums(events: Events, data: Forecasts, scores: Scores, notes: Notes) -> dict[str, int]:
    """Note late forecasts and sums of probabilities that are not 1; the doubtful events and how often they are."""
    ids = events.ids
    notes.warn("forecast after its event closed, kept", *data.labels(data.time > events.closed[data.event], ids))
    four = "log, spherical, return and Bradley–Terry"
    notes.exclude("forecast", f"from {four}: its probabilities sum to 0", *data.labels(scores.empty, ids))
    normalised = data.labels(scores.normalised, ids)
    notes.warn(f"probabilities that do not sum to 1, normalised for {four}", *normalised)
    found = zip(*np.unique(data.event[scores.doubtful], return_counts=True), strict=True)
    doubtful = {ids[at]: int(count) for at, count in found}
    notes.warn(
        "doubtful event, probabilities of its exclusive options sum to less than 0.8 or more than 1.25",
        *(f"{name} in {count}" for name, count in doubtful.items()),
    )
    return doubtful


def _hash_data(events: Events, data: Forecasts) -> str:
    """sha256 of all that the results depend on."""
    sha = hashlib.sha256(json.dumps([events.ids, events.category, data.names]).encode())
    columns = (events.offsets, events.outcome, events.exclusive, events.closed, data.event, data.forecaster)
    for column in (*columns, data.weight, data.p, data.q, data.mid):
        sha.update(np.nan_to_num(column, nan=-1.0).tobytes())
    return sha.hexdigest()
