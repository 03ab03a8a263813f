"""The clock of nightly runs."""

from __future__ import annotations

import datetime
import os
import time
from typing import Final

from forecasteval.common.errors import InputError

# Https://reproducible-builds.org/specs/source-date-epoch/
_CLOCK: Final = "SOURCE_DATE_EPOCH"


def now() -> datetime.datetime:
    """Give the time in UTC, or that of SOURCE_DATE_EPOCH; InputError if
    this is no time.
    """
    given = os.environ.get(_CLOCK)
    try:
        seconds = int(given) if given else time.time()
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise InputError(_CLOCK, "expected seconds since 1970", str(given)) from None


def today() -> str:
    """Give the date of `now`."""
    return now().date().isoformat()
