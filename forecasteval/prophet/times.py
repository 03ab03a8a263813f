"""Times of forecasts and of closing, as people and programs write them."""

from __future__ import annotations

import contextlib
import math
import re
from argparse import ArgumentTypeError
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.common.patterns import lazy
from forecasteval.common.records import is_null

from .cells import parse_id

NO_TIME: Final = "that is no time"
NO_ZONE: Final = "without time zone, read as UTC"
_DAY: Final = 86_400 - 1e-6  # seconds
_MAX_LENGTH: Final = 64  # of a text that is read as a time
# Within the years 2 and 9998, so that any zone has the time.
_FIRST, _LAST = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (2, 9999))
_DATE_LENGTH: Final = 10  # at most, of a date alone in ISO 8601
_DAY_DIGITS: Final = lazy(r"(?:19|20|21)\d{6}")
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTH: Final = r"(?P<month>[A-Za-z]{3,9})\.?"
_REST: Final = r"(?P<rest>(?:,?[T\s].*)?)"
_PATTERNS: Final = (
    lazy(rf"(?P<year>\d{{4}})([/.-])(?P<month>\d\d?)\2(?P<day>\d\d?){_REST}"),
    lazy(
        rf"(?:[A-Za-z]+,?\s)?(?P<day>\d\d?)[\s-]{_MONTH},?[\s-](?P<year>\d{{4}}){_REST}"
    ),
    lazy(
        rf"(?:[A-Za-z]+,\s)?{_MONTH}\s(?P<day>\d\d?)(?:st|nd|rd|th)?,?\s(?P<year>\d{{4}}){_REST}"
    ),
)
_TWO_READINGS: Final = lazy(r"(\d\d?)[/.-](\d\d?)[/.-](\d{4})(?!\d)")
_CLOCK: Final = lazy(r"(\d\d?)(:\d\d(?::\d\d(?:\.\d+)?)?)\s?([AaPp])\.?[Mm]\.?")
# The beginning of 9:30, as spreadsheets write it.
_SHORT_HOUR: Final = lazy(r"(?<=\d[ T])(?=\d:)")
_UTC: Final = lazy(r"\s*(?:UTC|GMT|Z)\Z")
_NUMBER: Final = lazy(r"(\d{10}|\d{13})(\.\d*)?")


@lru_cache(maxsize=1 << 16)
def parse_moment(text: str, is_end: bool = False) -> tuple[float, str]:
    """Parse a time as seconds since 1970, nan if it is none; say what is odd about it.

    It is one of ISO 8601, or with the year first or the month by its name, or seconds
    (10 digits) or milliseconds (13 digits) since 1970. A date alone is the beginning of
    its day (UTC), or the end if it `is_end`.

    >>> parse_moment("5 Jan 1970 9:00 UTC"), parse_moment("0000367200000")
    ((378000.0, ''), (367200.0, ''))
    """
    bare = text.strip()
    if len(bare) > _MAX_LENGTH:
        return math.nan, NO_TIME
    if number := _NUMBER.fullmatch(bare):
        is_in_milliseconds = len(number[1]) == 13
        return float(bare) / 1000**is_in_milliseconds, ""
    # Python reads 1671121512345 as a day of the year 1671, and digits that are
    # not of ASCII.
    if not bare.isascii() or (bare.isdecimal() and not _DAY_DIGITS.fullmatch(bare)):
        return math.nan, NO_TIME

    iso = _UTC.sub("", bare)
    has_zone = iso != bare
    moment = _parse_iso(iso)
    if moment is None:
        iso = _write_iso(iso)
        moment = _parse_iso(iso)
    if moment is None:
        return math.nan, NO_TIME

    has_zone = has_zone or moment.tzinfo is not None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = moment.timestamp()
    if not _FIRST <= seconds <= _LAST:
        return math.nan, NO_TIME
    is_date = len(iso) <= _DATE_LENGTH
    if is_date:
        return seconds + _DAY * is_end, ""
    if not has_zone:
        return seconds, NO_ZONE
    return seconds, ""


def _parse_iso(text: str) -> datetime | None:
    with contextlib.suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def _write_iso(text: str) -> str:
    """Write a time in ISO 8601 that has its year in front, or its month by name."""
    matches = (pattern.fullmatch(text) for pattern in _PATTERNS)
    match = next(filter(None, matches), None)
    if match is None:
        return _SHORT_HOUR.sub("0", text)
    month = match["month"]
    if not month.isdecimal():
        # Of no month the place is -1, and its number 0.
        month = str((_MONTHS.find(month[:3].casefold()) + 4) // 4)
    day = "-".join([match["year"], month.zfill(2), match["day"].zfill(2)])
    clock = _CLOCK.sub(_write_24_hours, match["rest"].lstrip(", \tT"))
    return _SHORT_HOUR.sub("0", f"{day} {clock}".strip())


def _write_24_hours(match: re.Match[str]) -> str:
    hour = int(match[1])
    if not 1 <= hour <= 12:
        return match[0]
    is_afternoon = match[3] in "Pp"
    return f"{hour % 12 + 12 * is_afternoon:02}{match[2]}"


def advise_time(text: str) -> str:
    """Say what to write for a text that is no time."""
    match = _TWO_READINGS.match(text)
    if not match:
        return ": write it as 2025-01-31T18:00:00Z"
    first, second = match[1].zfill(2), match[2].zfill(2)
    return (
        f": it has two readings, write {match[3]}-{first}-{second} or "
        f"{match[3]}-{second}-{first}"
    )


def parse_time(value: object, is_end: bool = False) -> tuple[float, str]:
    """Parse a time of a record, which may have none, as `parse_moment`."""
    if isinstance(value, str) and value:
        return parse_moment(value, is_end)
    if value == "" or is_null(value):
        return math.nan, ""
    return parse_moment(parse_id(value), is_end)


def format_time(seconds: float) -> str | None:
    """Write a time in ISO 8601, UTC; None for nan and infinity."""
    moment = to_datetime(seconds)
    return None if moment is None else moment.isoformat()


def to_datetime(seconds: float) -> datetime | None:
    """Convert seconds since 1970; None for nan and infinity."""
    if not math.isfinite(seconds):
        return None
    return datetime.fromtimestamp(seconds, UTC)


# --- Times before closing ---

HOUR: Final = 3600.0
_UNITS: Final = {"h": HOUR, "d": 24 * HOUR}
_HORIZON: Final = lazy(r"([0-9]{1,5}(?:\.[0-9]{1,3})?)([hd])")


def parse_horizons(text: str) -> str:
    """Return horizons as they are written in signatures, each once;
    ArgumentTypeError for others.

    >>> parse_horizons("7d, 24H,1d")
    '7d,24h'
    """
    horizons = dict[float, str]()
    for part in text.split(","):
        written = part.strip().lower()
        if not _HORIZON.fullmatch(written):
            got = printable(part.strip(), 40) or "''"
            raise ArgumentTypeError(
                f"expected hours or days, as 24h or 7d,24h,1h, got {got}"
            )
        horizons.setdefault(to_seconds(written), written)
    return ",".join(horizons.values())


def to_seconds(horizon: str) -> float:
    """Convert a horizon as `parse_horizons` writes it."""
    return float(horizon[:-1]) * _UNITS[horizon[-1]]
