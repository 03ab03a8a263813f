"""What decides whether a forecast is late: when its event closes, and what it says."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from forecasteval.benchmark import Deadline
from forecasteval.common.records import as_text

from .cells import NO_OUTCOME, parse_id
from .columns import Given
from .events import read_problems
from .tables import load_forecasts, load_problems
from .times import to_datetime

# What scores depend on. The own time of a forecast is part of its key.
_FIELDS: Final = ("prediction", "probs", "odds", "bids", "run")


def list_deadlines(dataset: Path, given: Given) -> dict[str, Deadline]:
    """List by id when the events of a dataset close, and whether they
    have an outcome.
    """
    deadlines = {}
    for problem in read_problems(load_problems(dataset, given)):
        has_outcome = problem.fault != NO_OUTCOME
        deadlines[problem.id] = Deadline(to_datetime(problem.closed), has_outcome)
    return deadlines


def hash_forecasts(
    path: Path, dataset: Path, given: Given
) -> dict[str, dict[tuple[str, str], str]]:
    """Hash the forecasts of a file by forecaster, event and own time.

    Several of one event and time are hashed together, in any order.
    """
    texts: defaultdict[str, defaultdict[tuple[str, str], list[str]]]
    texts = defaultdict(lambda: defaultdict(list))
    for row in load_forecasts(path, load_problems(dataset, given), given):
        if isinstance(row, Mapping):
            values = [as_text(row.get(name)) for name in _FIELDS]
            texts[parse_id(row.get("username"))][name_forecast(row)].append(
                repr(values)
            )
    return {
        forecaster: _hash_all(of_forecaster)
        for forecaster, of_forecaster in texts.items()
    }


def name_forecast(row: Mapping[str, object]) -> tuple[str, str]:
    """Name a forecast by its event and its own time, as they are written."""
    return parse_id(row.get("problem_id")), as_text(row.get("timestamp"))


def _hash_all(texts: Mapping[tuple[str, str], list[str]]) -> dict[tuple[str, str], str]:
    """Hash the texts of each key, in any order."""
    hashes = {}
    for key, values in texts.items():
        text = repr(sorted(values)).encode("utf-8", "surrogatepass")
        # 16 bytes: of fewer, two forecasts with one hash can be searched for.
        hashes[key] = hashlib.blake2b(text, digest_size=16).hexdigest()
    return hashes
