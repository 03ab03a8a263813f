"""The single fields of a record: ids, numbers and times, read strictly."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from forecasteval.common.records import number_text

from .notes import Notes

_TIME: Final = re.compile(
    r"""
    (\d{4}-\d\d-\d\d)
    (?: [T\ ] (\d\d:\d\d) (:\d\d)? (?:\.(\d{1,9}))? )?
    \ ? (?: (Z|z|UTC) | ([+-]\d\d) :? (\d\d)? )?
    """,
    re.VERBOSE | re.ASCII,
)


@lru_cache(maxsize=1 << 16)
def parse_time(text: str) -> tuple[float, bool]:
    """Seconds since 1970 of an ISO 8601 time (nan if it is none), and whether it names its time zone (else UTC)."""
    match = _TIME.fullmatch(text.strip())
    if not match:
        return math.nan, True
    day, minute, second, fraction, zulu, hours, minutes = match.groups()
    zone = f"{hours}:{minutes or '00'}" if hours else "+00:00"
    written = f"{day}T{minute or '00:00'}{second or ':00'}.{(fraction or '')[:6]:0<6}{zone}"
    try:
        moment = datetime.fromisoformat(written).astimezone(UTC)  # OverflowError near the years 1 and 9999
        return moment.timestamp(), bool(zulu or hours)
    except (ValueError, OverflowError):
        return math.nan, True


def read_time(value: object, kind: str, name: str, notes: Notes) -> float:
    """nan if there is none; what does not parse is counted, and so is a time without zone, read as UTC."""
    if value is None or value == "":
        return math.nan
    seconds, zoned = parse_time(value) if isinstance(value, str) else (math.nan, True)
    if math.isnan(seconds):
        notes.warn(f"{kind} that is no ISO 8601 time, taken as unknown", name)
    elif not zoned:
        notes.warn(f"{kind} without time zone, read as UTC", name)
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
