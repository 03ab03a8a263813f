"""Files of problems and of forecasts, also ForecastBench's resolution sets and forecast sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from forecasteval.common.records import JsonObject, Loaded, as_text, group_by, load_records

from .columns import FLAGS
from .fields import SHARE, Refusal, complement, parse_number

_NO_NUMBER: Final = "resolved to no number in [0, 1]"


def load_problems(path: Path) -> Loaded:
    """Load the problems of a file: its records, or the rows of a resolution set.

    Each question at each of its dates is an event; the dates of a question are a series.
    """
    loaded = load_records(path)
    rows = _read_fields(loaded).get("resolutions")
    if not isinstance(rows, list):
        return loaded
    return replace(loaded, records=list(map(_make_problem, rows)))


def load_forecasts(path: Path, problems: Loaded) -> Loaded:
    """Load the forecasts of a file: its records, or the rows of a forecast set.

    A row without a date, as those of markets are, is about the only date that its question has.
    """
    loaded = load_records(path)
    fields = _read_fields(loaded)
    if not isinstance(fields.get("forecasts"), list):
        return loaded
    dated = group_by(
        (row["problem_id"] for row in problems if isinstance(row, Mapping) and "problem_id" in row),
        lambda name: str(name).rpartition(" ")[0],
    )
    model = as_text(fields.get("model")) or path.stem

    def make(row: object) -> object:
        if not isinstance(row, Mapping):
            return row
        name, p = _name_event(row), row.get("forecast")
        same = dated.get(name.rstrip(), ())
        return {
            "problem_id": same[0] if name.endswith(" ") and len(same) == 1 else name.rstrip(),
            "username": as_text(row.get("user_id")) or model,
            "timestamp": fields.get("forecast_due_date"),
            "prediction": [p, complement(p)],
        }

    return replace(loaded, records=list(map(make, fields["forecasts"])))


def _read_fields(loaded: Loaded) -> dict[str, Any]:
    """Read the fields of an object, which is loaded as pairs."""
    pairs = [row for row in islice(loaded, 20) if isinstance(row, Mapping)]
    return {as_text(row.get("id")): row.get("prediction") for row in pairs}


def _name_event(row: JsonObject) -> str:
    """Name the event of a row by source, id and date, and a pair of questions by directions."""
    parts = (as_text(row.get(key)) for key in ("source", "id", "direction"))  # of a pair lists
    return f"{'/'.join(filter(None, parts))} {as_text(row.get('resolution_date'))[:10]}"


def _make_problem(row: object) -> object:
    if not isinstance(row, Mapping):
        return row
    name, yes = _name_event(row), parse_number(row.get("resolved_to"))
    is_known = FLAGS.get(as_text(row.get("resolved", True)).casefold())
    if is_known and yes not in (0, 1):
        cell = as_text(row.get("resolved_to"))
        return Refusal(SHARE if 0 < yes < 1 else _NO_NUMBER, cell, problem_id=name)
    return {
        "problem_id": name,
        "category": row.get("source"),
        "series": name.rpartition(" ")[0],
        "end_date": row.get("resolution_date"),
        "options": ["Yes", "No"],
        "correct_option_idx": int(yes == 0) if is_known else None,
    }
