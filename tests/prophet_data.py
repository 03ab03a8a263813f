"""What the tests of the prophet wing share: the sample, small good records, CSV rows, short ways to
call.
"""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

import make_prophet_sample
from forecasteval.display.results import Results
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from forecasteval.prophet.models import BradleyTerryFit, fit_bradley_terry

ROOT: Final = Path(__file__).resolve().parent.parent
PREDICTION, DATASET = make_prophet_sample.PREDICTION, make_prophet_sample.DATASET
SAMPLE: Final = make_prophet_sample.sample()
Row = dict[str, Any]

GOOD_PROBLEM: Final = {
    "problem_id": 1,
    "options": ["A", "B"],
    "correct_answer": "A",
    "end_date": "2025-07-01T00:00Z",
}
GOOD: Final = [
    {"problem_id": 1, "username": name, "prediction": [0.5, 0.5]} for name in ("ada", "bob")
]


def evaluate(forecasts: list[Any], problems: list[Any], **options: Any) -> Results:
    return ProphetArenaEvaluator(**{"min_events": 1, **options}).evaluate_all(forecasts, problems)


def evaluate_csv(path: Path, **options: Any) -> Row:
    return ProphetArenaEvaluator(min_events=1, **options).evaluate_file(path)


@cache
def sample_results() -> Results:
    """Those of the sample; not to be changed."""
    problems, forecasts = SAMPLE
    return evaluate(forecasts, problems)


def bradley_terry(p: Any, prior: float = 0.0) -> BradleyTerryFit:
    """p[event][forecaster], nan where one is absent."""
    table = np.asarray(p, dtype=float)
    j, i = np.nonzero(~np.isnan(table))
    return fit_bradley_terry(i, j, table[j, i], prior)


def write_csv(path: Path, rows: list[Row]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def csv_row(
    event: str, name: str, p: Row, outcome: Row, info: Row | None = None, **change: Any
) -> Row:
    market = (
        {option: {"yes_ask": "60", "yes_bid": 50.0} for option in outcome} if info is None else info
    )
    said = {
        "probabilities": [{"market": option, "probability": value} for option, value in p.items()]
    }
    return {
        "event_ticker": event, "predictor_name": name, "submission_id": "s", "category": "Sports",
        "close_time": "2025-07-04 12:35:32.691495+00:00", "market_info": repr(market),
        "market_outcome": json.dumps(outcome), "prediction": json.dumps(said), **change,
    }  # fmt: skip
