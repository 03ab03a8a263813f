"""The single fields of a record: ids, numbers and times, read strictly."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import lru_cache

from forecasteval.common.records import number_text

from .notes import Notes


@lru_cache(maxsize=1 << 16)
def parse_time(text: str) -> tuple[float, bool]:
    """Seconds since 1970 of an ISO 8601 time (nan if it is none), and whether it names its time zone (else UTC)."""
    try:
        moment = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
        zoned = moment.tzinfo is not None or text.rstrip().endswith(" UTC")
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).timestamp(), zoned  # OverflowError near the years 1 and 9999
    except (ValueError, OverflowError):
        return math.nan, True


def read_time(value: object, kind: str, name: str, notes: Notes) -> float:
    """nan if there is none; what does not parse is counted, and so is a time without zone, read as UTC."""
    if value is None or value == "":
        return math.nan
    seconds, zoned = parse_time(value) if isinstance(value, str) else (math.nan, True)
    if math.isnan(seconds):
        notes.warn(f"{kind} that is no ISO 8601 time, taken as unknown", [name])
    elif not zoned:
        notes.warn(f"{kind} without time zone, read as UTC", [name])
    return seconds


def format_time(seconds: float) -> str | None:
    """The time in ISO 8601, UTC; None for nan."""
    return None if math.isnan(seconds) else datetime.fromtimestamp(seconds, UTC).isoformat()


def read_id(value: object) -> str:
    """An id or a name as text: 7 and "7" are one; "" if it is neither text nor a number."""
    return value if isinstance(value, str) else number_text(value)


def read_number(value: object) -> float:
    """A number or the plain text of one; nan for anything else, blanks and booleans among it."""
    if isinstance(value, str):
        if "_" in value:  # float("0_5") is 5.0
            return math.nan
        try:
            return float(value)
        except ValueError:
            return math.nan
    text = number_text(value)
    return float(text) if text and len(text) < 400 else math.nan


def usable_weight(weight: float) -> bool:
    """Whether a number can weigh an event; beyond these sums of weights overflow."""
    return 1e-100 < weight < 1e100
